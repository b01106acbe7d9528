"""Runs Cypher on a Ladybug database in a process of its own, which can be ended.

Ladybug's timeout does not reach its parser and planner: sixty nested CASEs keep it busy for hours, a thousand nested
lists end the process. So whoever asks is not the process that answers. That one opens the database for reading only;
it sees what was last committed, also where the asking process is the writer.
"""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from graph.cypher_rows import node, path, relationship, to_table
from ontoloom.errors import QueryError

BUFFER_POOL = 256 * 2**20
COMMAND = (sys.executable, "-P", "-m", "graph.ladybug_cypher")
GRACE = 10.0
"""Seconds that the process may take beside the query: to start, and to wait for a writer's checkpoint."""


@dataclass(frozen=True, slots=True)
class Request:
    """``timeout`` is in seconds."""

    path: Path
    query: str
    parameters: Mapping[str, object]
    max_rows: int
    timeout: float


def run_cypher(path: Path, query: str, parameters: Mapping[str, object], *, max_rows: int, timeout: float) -> pa.Table:
    """The answer to a query that ``graph.cypher.check`` has let through; at most ``max_rows`` rows.

    ``timeout`` is in seconds. Raises QueryError where the database refuses the query or takes longer.
    """
    request = Request(path, query, dict(parameters), max_rows, timeout)
    try:
        done = subprocess.run(COMMAND, input=pickle.dumps(request), capture_output=True, timeout=timeout + GRACE)
    except subprocess.TimeoutExpired:
        raise too_long(timeout) from None
    if done.returncode == 0:
        with pa.ipc.open_stream(done.stdout) as reader:
            return reader.read_all()
    if done.returncode == 1 and done.stdout:
        raise readable(json.loads(done.stdout), timeout)
    hint = "make it smaller, with fewer brackets within brackets"
    raise QueryError(f"the database broke down over the query (status {done.returncode})", code="execution", hint=hint)


def too_long(timeout: float) -> QueryError:
    hint = "narrow it down, or allow more time"
    return QueryError(f"the query took longer than {timeout:g} seconds", code="timeout", hint=hint)


def readable(message: str, timeout: float) -> QueryError:
    """The database's message in one line, at its place."""
    first = message.strip().splitlines()[0]
    if first.startswith("Interrupted"):
        return too_long(timeout)
    if "buffer pool is full" in first or "Unable to allocate memory" in first:
        return QueryError("the query needs too much memory", code="memory", hint="narrow it down")
    place = re.search(r" \(line: (\d+), offset: (\d+)\)", first)
    said = re.sub(r"^[A-Z][a-z]+ exception: ", "", first[: place.start()] if place else first)
    line, column = (int(place[1]), int(place[2]) + 1) if place else (0, 0)
    return QueryError(f"the query cannot be run: {said}", code="execution", line=line, column=column)


# In the process of its own


def main() -> int:
    """Reads a Request from standard input; writes an Arrow stream, or the database's message as JSON and status 1."""
    request: Request = pickle.load(sys.stdin.buffer)
    try:
        table = answer(request)
    except RuntimeError as error:
        sys.stdout.write(json.dumps(str(error)))
        return 1
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    sys.stdout.buffer.write(sink.getvalue())
    return 0


def answer(request: Request) -> pa.Table:
    import ladybug

    from graph.ladybug import open_database

    with (
        open_database(request.path, read_only=True, buffer_pool_size=BUFFER_POOL) as database,
        ladybug.Connection(database) as connection,
    ):
        connection.set_query_timeout(int(request.timeout * 1000))
        result: Any = connection.execute(request.query, dict(request.parameters) or None)
        kinds = result.get_column_data_types()
        rows = [list(map(value_of, kinds, row)) for row in islice(result, request.max_rows)]
        return to_table(result.get_column_names(), rows)


def value_of(kind: str, value: Any) -> Any:
    """A value of that Ladybug type as ``graph.cypher_rows`` takes it."""
    if value is None:
        return None
    if kind.endswith("[]"):
        return [value_of(kind[:-2], item) for item in value]
    if kind == "NODE":
        return node([value["_LABEL"]], _properties(value))
    if kind == "REL":
        return relationship(value["_LABEL"], _properties(value))
    if kind == "RECURSIVE_REL":
        nodes = [value_of("NODE", item) for item in value["_NODES"]]
        return path(nodes, [value_of("REL", item) for item in value["_RELS"]])
    return value


def _properties(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name not in ("_ID", "_LABEL", "_SRC", "_DST")}


if __name__ == "__main__":
    sys.exit(main())
