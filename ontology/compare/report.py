"""A difference of two ontologies as people and programs read it: for a terminal, as JSON, and for a pull request."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from ontology.compare.diff import Difference
from ontology.compare.rules import Change
from ontology.compare.versions import STEPS, Step


class Reach(NamedTuple):
    """How much of what was written a change touches."""

    pages: int
    triples: int


Count = Callable[[Change], Reach | None]
"""Counts what a change touches (see ``Touches``), most of all; None where that is not known."""

TITLES: Mapping[Step, str] = {
    "major": "breaks what was valid",
    "minor": "allows or finds more",
    "patch": "reads otherwise",
    "none": "means nothing to what was written",
}


def _uncounted(_change: Change) -> None:
    return None


def as_text(difference: Difference, *, count: Count = _uncounted) -> str:
    """The difference for a terminal: one aligned line a change, what breaks first. Ends with a line break."""
    lines = [_summary(difference)]
    rows = {id(c): (c.where, c.kind, _reached(c, count), _message(c)) for c in difference.changes}
    widths = [max((_width(row[column]) for row in rows.values()), default=0) for column in range(3)]
    for step, changes in _by_step(difference):
        lines += ["", f"{TITLES[step]}:"]
        for one in changes:
            *cells, message = rows[id(one)]
            padded = (cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True) if width)
            lines.append("  ".join(["", *padded, message]))
    tasks = _tasks(difference)
    return "\n".join([*lines, *([""] if tasks else []), *tasks]) + "\n"


def as_json(difference: Difference, *, count: Count = _uncounted) -> dict[str, Any]:
    """The difference as JSON can hold it. Every change has every key; ``reach`` is null where it was not counted."""
    return {
        "ontology": difference.name,
        "old_version": difference.old_version,
        "new_version": difference.new_version,
        "step": difference.step,
        "least": difference.least,
        "enough": difference.enough,
        "shortfall": difference.shortfall,
        "breaking_changes": len(difference.breaking),
        "again": _again(difference) != [],
        "replay": _lifted(difference),
        "changes": [_change_as_json(change, count) for change in difference.changes],
    }


def as_markdown(difference: Difference, *, count: Count = _uncounted, most: int = 100) -> str:
    """The difference for a pull request: a summary, a table of what breaks, and the rest to unfold.

    A table has ``most`` rows, so that the text fits into a comment, and says how many are left out.
    """
    title = f"### Ontology {_code(difference.name)} {_versions(difference)}"
    parts = [title, _sentences(difference)]
    for step, changes in _by_step(difference):
        table = _table(changes, count, most)
        if step == "major":
            parts.append(table)
        else:
            summary = f"{_number(len(changes), 'change')}: {TITLES[step]}"
            parts.append(f"<details><summary>{summary}</summary>\n\n{table}\n\n</details>")
    tasks = [f"- {_escaped(task)}" for task in _tasks(difference)]
    return "\n\n".join([*parts, *(["\n".join(tasks)] if tasks else [])]) + "\n"


def _change_as_json(change: Change, count: Count) -> dict[str, Any]:
    reach = count(change)
    return {
        "kind": change.kind,
        "where": change.where,
        "breaking": change.breaking,
        "step": change.step,
        "message": change.message,
        "hint": change.hint,
        "touches": _listed(asdict(change.touches)) if change.touches else None,
        "extraction": _listed(asdict(change.extraction)),
        "reach": reach._asdict() if reach is not None else None,
    }


def _listed(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


# What is said in all three


def _by_step(difference: Difference) -> list[tuple[Step, list[Change]]]:
    """Changes by what they demand, the strongest first."""
    grouped = [(step, [change for change in difference.changes if change.step == step]) for step in STEPS[::-1]]
    return [(step, changes) for step, changes in grouped if changes]


def _summary(difference: Difference) -> str:
    if not difference.changes:
        return f"{difference.name} {_versions(difference)}: nothing has changed"
    breaking = len(difference.breaking)
    counted = f"{_number(len(difference.changes), 'change')}, {breaking or 'none'} breaking"
    return f"{difference.name} {_versions(difference)}: {counted}; {_verdict(difference)}"


def _sentences(difference: Difference) -> str:
    if not difference.changes:
        return "Nothing has changed."
    breaking = len(difference.breaking)
    counted = f"{_number(len(difference.changes), 'change')}, {breaking or 'none'} breaking"
    verdict = _verdict(difference)
    return f"**{counted}.** {verdict[0].upper()}{verdict[1:]}."


def _verdict(difference: Difference) -> str:
    if difference.shortfall:
        return difference.shortfall
    if difference.step == "none":
        return "the version need not be raised"
    return f"version {difference.new_version} is enough for a {difference.step} step"


def _versions(difference: Difference) -> str:
    if difference.old_version == difference.new_version:
        return difference.new_version
    return f"{difference.old_version} → {difference.new_version}"


def _tasks(difference: Difference) -> list[str]:
    """What is to be done about documents that were read under the old ontology."""
    again, lifted = _again(difference), _lifted(difference)
    tasks = []
    if again:
        tasks.append(f"Documents are to be read again, as extractors look for other words: {_some(again)}.")
    if lifted:
        codes = ", ".join(f"{code} ({_some(names)})" for code, names in lifted.items())
        tasks.append(f"Claims in quarantine may pass now: {codes}.")
    return tasks


def _again(difference: Difference) -> list[str]:
    """Where extractors look for other words or values."""
    return list(dict.fromkeys(change.where for change in difference.changes if change.extraction.again))


def _lifted(difference: Difference) -> dict[str, list[str]]:
    """Codes of refusals that may be lifted, with the places of the changes that may lift them."""
    lifted: dict[str, dict[str, None]] = {}
    for change in difference.changes:
        for code in change.extraction.codes:
            lifted.setdefault(code, {})[change.where] = None
    return {code: list(lifted[code]) for code in sorted(lifted)}


def _some(names: Sequence[str], *, most: int = 5) -> str:
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def _reached(change: Change, count: Count) -> str:
    reach = count(change)
    return "" if reach is None else f"{_number(reach.pages, 'page')}, {_number(reach.triples, 'triple')}"


def _message(change: Change) -> str:
    return f"{change.message}; {change.hint}" if change.hint else change.message


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _width(text: str) -> int:
    """How many columns of a terminal a text takes: East Asian signs take two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


# Markdown


def _table(changes: Sequence[Change], count: Count, most: int) -> str:
    rows = [(_code(c.where), _code(c.kind), _escaped(_message(c)), *_counted(count(c))) for c in changes[:most]]
    counted = any(row[3] for row in rows)
    head = ["where", "kind", "what", *(["pages", "triples"] if counted else [])]
    lines = [_row(head), _row(["---"] * 3 + ["---:"] * (len(head) - 3)), *(_row(row[: len(head)]) for row in rows)]
    left_out = [f"\n… and {len(changes) - most:,} more."] if len(changes) > most else []
    return "\n".join([*lines, *left_out])


def _counted(reach: Reach | None) -> tuple[str, str]:
    return ("", "") if reach is None else (f"{reach.pages:,}", f"{reach.triples:,}")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    return f"`{text}`" if re.fullmatch(r"[\w.-]+", text) else f"<code>{_escaped(text)}</code>"


def _escaped(text: str) -> str:
    """A text that stays as it is within a table, and calls on nobody: ``@name`` and ``#1`` are no references."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([@#])", r"\1&#8203;", re.sub(r"([\\`*_\[\]|~])", r"\\\1", text))
