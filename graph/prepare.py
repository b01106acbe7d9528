"""Reads a statement with all that goes with it: values for its parameters, saved views, and the time it is read at."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime

from sqlglot import exp

from graph.bind import Parameters
from graph.expand_views import expand, read_as_of
from graph.guard import parse
from graph.saved_views import NO_VIEWS, Views
from ontoloom.errors import QueryError

AsOf = int | date
"""A change number, or a time (UTC where it names no zone; a date is where the day begins)."""


def reader(
    *, parameters: Parameters = (), views: Views = NO_VIEWS, as_of: AsOf | None = None
) -> Callable[[str], exp.Query]:
    """What ``graph.select.select`` reads a statement with."""

    def amend(query: exp.Query) -> exp.Query:
        query = expand(query, views)
        if as_of is not None:
            read_as_of(query, version(as_of))
        return query

    return lambda sql: parse(sql, parameters=parameters, amend=amend)


def version(as_of: AsOf) -> exp.Version:
    """``AS OF`` as a part of a statement."""
    when: exp.Expr = exp.Literal.number(as_of) if isinstance(as_of, int) else exp.cast(as_text(as_of), "timestamp")
    return exp.Version(this="TIMESTAMP", kind="AS OF", expression=when)


def as_text(time: date) -> exp.Expr:
    if isinstance(time, datetime) and time.tzinfo is not None:
        time = time.astimezone(UTC).replace(tzinfo=None)
    return exp.Literal.string(time.isoformat())


def read_as_of_text(text: str) -> AsOf:
    """A change number or a time as people write it: ``12``, ``2026-11-30``, ``2026-11-30 12:00``."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        message = f"'{text}' is neither the number of a change nor a time"
        raise QueryError(message, code="as-of", hint="write 12, 2026-11-30 or '2026-11-30 12:00'") from None
