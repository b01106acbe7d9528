"""What a terminal shows: progress, tables, answers; plain text where there is no terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import fields, is_dataclass
from datetime import date
from math import isfinite
from pathlib import Path, PurePath
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from ontoloom.errors import InputError
from ontoloom.progress import OnProgress, Progress

__all__ = [
    "cell", "errors", "escape", "output", "plain", "progress", "show_table", "to_file", "to_json", "write_json",
]  # fmt: skip

WIDE = 100_000
"""Columns of a file or pipe: a row is one line there, however long."""

output = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else WIDE)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


@contextmanager
def progress() -> Iterator[OnProgress]:
    """A callback that draws one line a step on standard error, with the time left where the total is known.

    Without a terminal each step is one line when it is over.
    """
    if not errors.is_terminal:
        with _lines() as callback:
            yield callback
        return
    columns = (
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        _Count(),
        TimeElapsedColumn(),
        _TimeLeft(),
        TextColumn("[dim]{task.fields[detail]}", table_column=None),
    )
    tasks: dict[str, TaskID] = {}
    with Bars(*columns, console=errors, refresh_per_second=8) as bars:

        def callback(now: Progress) -> None:
            for step, task in tasks.items():
                if step != now.step:
                    bars.update(task, detail="")
                    bars.stop_task(task)
            if now.step not in tasks:
                tasks[now.step] = bars.add_task(now.step, total=now.total, detail="")
            task = tasks[now.step]
            bars.start_task(task)
            bars.update(task, completed=now.done, total=now.total, detail=_fitting(now.detail))

        yield callback


@contextmanager
def _lines() -> Iterator[OnProgress]:
    last: list[Progress] = []

    def say() -> None:
        if last:
            now = last[0]
            errors.print(
                f"{now.step}: {now.done}" + (f" of {now.total}" if now.total is not None else ""), markup=False
            )

    def callback(now: Progress) -> None:
        if last and last[0].step != now.step:
            say()
        last[:] = [now]

    yield callback
    say()


def _fitting(detail: str) -> str:
    room = max(0, errors.width - 90)
    line = " ".join(detail.split()).replace("[", "(").replace("]", ")")
    return line if len(line) <= room else line[: max(0, room - 1)] + "…"


class _Count(MofNCompleteColumn):
    """Nothing while neither a total nor a number is known, as in a download of unknown length."""

    def render(self, task: Task) -> Text:
        return super().render(task) if task.total is not None else Text("")


class _TimeLeft(TimeRemainingColumn):
    def render(self, task: Task) -> Text:
        if task.total is None or task.finished:
            return Text("")
        return Text.assemble(super().render(task), " left")


def cell(value: Any) -> str:
    """A value as a person reads it; nothing for null, several values with commas between them."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(cell(item) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {cell(item)}" for name, item in value.items() if item is not None)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return value.isoformat() if isinstance(value, date) else str(value)


@contextmanager
def to_file(path: Path | None) -> Iterator[None]:
    """What is written within goes to a file where one is named, without colours."""
    if path is None:
        yield
        return
    try:
        file = path.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    with file, redirect_stdout(file):
        yield


def show_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> None:
    """A table with cells as they are, no markup read in them; without column names where these are empty."""
    made = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False)
    made.show_header = any(columns)
    for column in columns:
        made.add_column(Text(column), overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell(value)) for value in row))
    output.print(made)


def write_json(value: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(to_json(value, indent=2) + "\n")


def to_json(value: Any, *, indent: int | None = None) -> str:
    return json.dumps(plain(value), ensure_ascii=False, indent=indent)


def plain(value: Any) -> Any:
    """Records, tuples, dates and paths as JSON knows them."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not isfinite(value):
        return None
    return str(value) if isinstance(value, PurePath) else value
