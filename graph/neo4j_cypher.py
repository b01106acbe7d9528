"""Runs Cypher of users on a Neo4j server: what the server itself takes for reading only, in read mode, with limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from threading import Thread
from typing import Any

import pyarrow as pa
from neo4j.exceptions import DriverError, Neo4jError
from neo4j.graph import Node, Path, Relationship
from neo4j.time import Date, DateTime, Duration, Time

from graph.cypher_rows import node, path, relationship, to_table
from graph.neo4j_session import Session, explained, is_out_of_memory
from ontoloom.errors import QueryError

GRACE = 5.0
"""Seconds beside the query: to plan it twice, and for the server to notice that it takes too long."""
PLACE = re.compile(r"\s*\(line (\d+), column (\d+) \(offset: \d+\)\)")


def run_cypher(
    session: Session, query: str, parameters: Mapping[str, object], *, max_rows: int, timeout: float
) -> pa.Table:
    """The answer to a query that ``graph.cypher.check`` has let through; at most ``max_rows`` rows.

    ``timeout`` is in seconds. Raises QueryError where the server refuses the query, takes longer, or would write.
    """

    def work() -> pa.Table:
        try:
            kind = session.kind_of(query, parameters, timeout=timeout)
            if kind != "r":
                raise QueryError("only queries that read are run", code="not-read-only")
            names, rows = session.read(query, parameters, max_rows=max_rows, timeout=timeout)
        except (DriverError, Neo4jError) as error:
            raise readable(error, timeout, session.where) from error
        return to_table(names, [list(map(value_of, row)) for row in rows])

    table = answered_within(timeout + GRACE, work)
    if table is None:
        raise _too_long(timeout)
    return table


def answered_within(seconds: float, work: Callable[[], pa.Table]) -> pa.Table | None:
    """What ``work`` comes to; None where it takes longer, and nobody waits for it any more.

    The server ends a query that runs too long, but not one that it still plans, and its driver waits for it.
    """
    done: Future[pa.Table] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001  # it is raised where the result is awaited
            done.set_exception(error)

    Thread(target=run, daemon=True).start()  # a pool would wait for it at the end of the program
    try:
        return done.result(seconds)
    except TimeoutError:
        return None


def _too_long(timeout: float) -> QueryError:
    hint = "narrow it down, or allow more time"
    return QueryError(f"the query took longer than {timeout:g} seconds", code="timeout", hint=hint)


def readable(error: DriverError | Neo4jError, timeout: float, where: str) -> Exception:
    """What the server says in one line, at its place."""
    if is_out_of_memory(error):
        return QueryError("the query needs too much memory", code="memory", hint="narrow it down")
    if not isinstance(error, Neo4jError) or error.is_retryable():
        return explained(error, where)
    code, message = error.code or "", (error.message or "").strip()
    if "TransactionTimedOut" in code or code.endswith("Transaction.Terminated"):
        return _too_long(timeout)
    if code.endswith("AccessMode"):
        return QueryError("only queries that read are run", code="not-read-only")
    first = message.splitlines()[0] if message else code
    place = PLACE.search(message)
    line, column = (int(place[1]), int(place[2])) if place else (0, 0)
    return QueryError(f"the query cannot be run: {PLACE.sub('', first)}", code="execution", line=line, column=column)


def value_of(value: Any) -> Any:
    """A value of the driver as ``graph.cypher_rows`` takes it."""
    if isinstance(value, list):
        return [value_of(item) for item in value]
    if isinstance(value, dict):
        return {name: value_of(item) for name, item in value.items()}
    if isinstance(value, Node):
        return node(value.labels, value_of(dict(value.items())))
    if isinstance(value, Relationship):
        return relationship(value.type, value_of(dict(value.items())))
    if isinstance(value, Path):
        return path(map(value_of, value.nodes), map(value_of, value.relationships))
    if isinstance(value, DateTime | Date | Time):
        return value.to_native()
    return value.iso_format() if isinstance(value, Duration) else value
