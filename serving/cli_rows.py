"""What ``select`` and ``cypher`` share: values for parameters, statements from files, rows in the wanted format."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoloom.errors import InputError, QueryError
from serving import render

if TYPE_CHECKING:
    import pyarrow as pa


class Format(StrEnum):
    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"
    arrow = "arrow"


FormatOption = Annotated[Format, typer.Option("--format", help="How to write the rows; arrow is an IPC stream.")]
OutOption = Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file.", dir_okay=False)]
FileOption = Annotated[
    Path | None, typer.Option("--file", "-f", help="Read the statement from this file.", dir_okay=False)
]
ParameterOption = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", help="A value for $NAME, as NAME=VALUE: JSON, or else a text. May be repeated."),
]
TimeoutOption = Annotated[float, typer.Option(min=0.1, help="Give up after so many seconds.")]
LimitOption = Annotated[int, typer.Option(min=1, help="Write at most so many rows.")]

Sources = Sequence[Mapping[str, Sequence[str]]]
"""For each row the citations of its values, by column."""


def read_parameters(given: Sequence[str] | None) -> dict[str, Any]:
    """``NAME=VALUE`` as values: ``n=5``, ``names=["a", "b"]``, ``of=null``; what is no JSON is a text."""
    found: dict[str, Any] = {}
    for text in given or ():
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise QueryError(f"--param {text}: a value is given as NAME=VALUE", code="parameters")
        if name in found:
            raise QueryError(f"--param {name} is given twice", code="parameters")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def read_statement(given: str | None, file: Path | None, *, usage: str) -> str:
    """The statement: as it was given, from standard input where that is ``-``, or from a file."""
    if given is None and file is None:
        raise QueryError("no statement is given", hint=usage)
    if given is not None and file is not None:
        raise QueryError("a statement is given as an argument or with --file, not both", hint=usage)
    if file is None:
        return sys.stdin.read() if given == "-" else given or ""
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"{file}: cannot be read: {reason}") from None


@contextmanager
def placed_in(file: Path | None) -> Iterator[None]:
    """Errors within a statement from a file name the file."""
    try:
        yield
    except QueryError as error:
        if file is None or not error.line:
            raise
        message = f"{file}:{error.line}:{error.column}: {error.message}"
        raise QueryError(message, code=error.code, hint=error.hint) from None


def refuse_terminal(form: Format, out: Path | None) -> None:
    """Bytes are for files and pipes."""
    if form is Format.parquet and out is None:
        raise QueryError("Parquet goes to a file", hint="name it: --out rows.parquet")
    if form is Format.arrow and out is None and sys.stdout.isatty():
        raise QueryError("an Arrow stream goes to a file or a pipe", hint="name it: --out rows.arrows")


def write_rows(
    rows: pa.Table,
    columns: Sequence[Mapping[str, str]],
    form: Format,
    out: Path | None,
    *,
    truncated: bool,
    sources: Sources | None = None,
) -> None:
    """Writes rows to a file or to standard output. ``columns`` are their names and types."""
    if form in (Format.parquet, Format.arrow):
        write_binary(rows, form, out)
        return
    names, values = [column["name"] for column in columns], rows.to_pylist()
    with render.to_file(out):
        if form is Format.json:
            body = {"columns": columns, "rows": values, "truncated": truncated}
            render.write_json(body | ({} if sources is None else {"sources": sources}))
        elif form is Format.csv:
            write_csv(names, values, sources or ())
        elif sources is not None:
            show_sourced(names, values, sources)
        else:
            render.show_table(names, [[row[name] for name in names] for row in values])
            render.output.print(f"[dim]{len(values)} rows[/]")


def write_binary(rows: pa.Table, form: Format, out: Path | None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    if form is Format.parquet:
        pq.write_table(rows, sink)
    else:
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
    content = sink.getvalue()
    if out is None:
        sys.stdout.buffer.write(content)
        return
    try:
        out.write_bytes(content)
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror}") from None


def write_csv(names: Sequence[str], rows: Sequence[Mapping[str, Any]], sources: Sources) -> None:
    """Several values in a cell, and the sources of a value, are joined by semicolons."""
    cited = [name for name in names if any(name in row for row in sources)]
    writer = csv.writer(sys.stdout)
    writer.writerow([*names, *(f"source of {name}" for name in cited)])
    for index, row in enumerate(rows):
        values = [";".join(map(str, v)) if isinstance(v, list) else render.cell(v) for v in row.values()]
        writer.writerow([*values, *(";".join(sources[index].get(name, ())) for name in cited)])


def show_sourced(names: Sequence[str], rows: Sequence[Mapping[str, Any]], sources: Sources) -> None:
    """Each row as a block: its columns that have a value, one a line, each with where it comes from."""
    for row, cited in zip(rows, sources, strict=True):
        present = [name for name in names if row[name] is not None and row[name] != []]
        lines = [(name, row[name], "  ".join(cited.get(name, ()))) for name in present]
        render.show_table(("column", "value", "where it comes from"), lines)
        render.output.print()
    render.output.print(f"[dim]{len(rows)} rows[/]")
