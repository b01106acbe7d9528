"""One connection to a Ladybug database: queries, transactions, and rows written by whichever way is cheaper.

``UNWIND $rows AS x CREATE …`` costs about a millisecond a statement and 0.05 to 0.1 a row; ``COPY`` costs 40 a table
and some hundreds at the commit, whatever the number of rows, and then next to nothing a row (two cores, ladybug 0.22).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ladybug
import pyarrow as pa

from ontoloom.errors import StoreError

STRING, STRINGS, INTEGER, NUMBER, BOOLEAN, DATE, TIME = (
    "STRING", "STRING[]", "INT64", "DOUBLE", "BOOL", "DATE", "TIMESTAMP",
)  # fmt: skip
ARROW: dict[str, pa.DataType] = {
    STRING: pa.string(),
    STRINGS: pa.list_(pa.string()),
    INTEGER: pa.int64(),
    NUMBER: pa.float64(),
    BOOLEAN: pa.bool_(),
    DATE: pa.date32(),
    TIME: pa.timestamp("us"),
    "INT64[]": pa.list_(pa.int64()),
    "DOUBLE[]": pa.list_(pa.float64()),
    "BOOL[]": pa.list_(pa.bool_()),
    "DATE[]": pa.list_(pa.date32()),
}

Row = Sequence[Any]
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Table:
    """A node table, whose first column is its key; or, where it has ``ends``, a relation table between node tables.

    A row of a node table holds its columns; one of a relation table the keys of its two ends, then its columns.
    """

    name: str
    columns: tuple[tuple[str, str], ...] = ()
    ends: tuple[str, str] | None = None


class Session:
    """A connection, replaced after each bulk transaction: what COPY reads from Arrow stays in memory while it lives.

    A batch of ``copy_rows`` rows goes through COPY, table by table where they are many, unless it has more than
    ``copy_bytes``: COPY corrupts the process where the buffer pool runs out, while other statements fail and say so.
    """

    def __init__(self, database: ladybug.Database, *, where: str, copy_rows: int, copy_bytes: int) -> None:
        self._database = database
        self._connection = ladybug.Connection(database)
        self._where = where
        self._copy_rows = copy_rows
        self._copy_bytes = copy_bytes
        self._copied = False

    def close(self) -> None:
        self._connection.close()

    def run(self, query: str, **parameters: Any) -> None:
        """Runs a statement for its effect."""
        self._execute(query, parameters).close()

    def rows(self, query: str, **parameters: Any) -> list[list[Any]]:
        """All rows of an answer."""
        with self._execute(query, parameters) as result:
            found: list[list[Any]] = result.get_all()
            return found

    def look_up(self, query: str, ids: Sequence[str]) -> list[list[Any]]:
        """All rows of an answer about nodes given by ``$ids``."""
        return self.rows(query, ids=ids) if ids else []

    def table(self, query: str, **parameters: Any) -> pa.Table:
        """An answer as an Arrow table."""
        with self._execute(query, parameters) as result:
            table: pa.Table = result.get_as_arrow(chunk_size=10_000)
            return table

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written within is there afterwards, or, where anything is raised, nothing of it."""
        self.run("BEGIN TRANSACTION")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            with suppress(RuntimeError):  # a statement that failed has ended the transaction already
                self._connection.execute("ROLLBACK")
            raise
        finally:
            if self._copied:
                self._connection.close()
                self._connection = ladybug.Connection(self._database)
                self._copied = False

    def insert(self, batch: Sequence[tuple[Table, Sequence[Row]]]) -> None:
        """Writes new rows, table after table."""
        bulk = self._worth_copying(batch)
        for index, (table, rows) in enumerate(batch):
            if index in bulk:
                self.copy(table, bulk[index])
            elif rows:
                names = field_names(table)
                self.run(create_statement(table), rows=[dict(zip(names, row, strict=True)) for row in rows])

    def _worth_copying(self, batch: Sequence[tuple[Table, Sequence[Row]]]) -> dict[int, pa.Table]:
        """The tables of a large batch that have many rows, by their place in it."""
        if sum(len(rows) for _, rows in batch) < self._copy_rows:
            return {}
        many = max(1, self._copy_rows // 10)
        found = {i: arrow_table(table, rows) for i, (table, rows) in enumerate(batch) if len(rows) >= many}
        return found if sum(table.nbytes for table in found.values()) <= self._copy_bytes else {}

    def update(self, table: Table, rows: Sequence[Row]) -> None:
        """Sets every column of nodes that exist."""
        names = field_names(table)
        if rows:
            self.run(update_statement(table), rows=[dict(zip(names, row, strict=True)) for row in rows])

    def copy(self, table: Table, rows: pa.Table) -> None:
        """Writes rows by COPY."""
        self._copied = True
        logger.debug("%s: COPY of %d rows into %s", self._where, rows.num_rows, table.name)
        ends = f" (from={literal(table.ends[0])}, to={literal(table.ends[1])})" if table.ends else ""
        # Ladybug finds ``rows`` by its name among the caller's variables; given as a parameter it crashes.
        with _stating(self._where):
            self._connection.execute(f"COPY {quote(table.name)} FROM rows{ends}")

    def _execute(self, query: str, parameters: dict[str, Any]) -> Any:
        with _stating(self._where):
            return self._connection.execute(query, parameters or None)


@contextmanager
def _stating(where: str) -> Iterator[None]:
    """What the database says becomes a StoreError that names the store."""
    try:
        yield
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        raise StoreError(f"{where}: the database refused a statement: {reason}", code="store-statement") from error


def quote(name: str) -> str:
    """A name of a table or column as Cypher writes it."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A string as Cypher writes it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def arrow_table(table: Table, rows: Sequence[Row]) -> pa.Table:
    """Rows as COPY takes them."""
    kinds = [STRING, STRING] * bool(table.ends) + [kind for _, kind in table.columns]
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, ARROW[kind]) for column, kind in zip(columns, kinds, strict=True)]
    return pa.table(arrays, names=field_names(table))


def field_names(table: Table) -> list[str]:
    """Names for the fields of a row that say nothing of its columns, for not every column's name can be a field's."""
    return ["a", "b"] * bool(table.ends) + [f"c{i}" for i in range(len(table.columns))]


@lru_cache(maxsize=1024)
def create_statement(table: Table) -> str:
    """The statement that writes ``$rows``. Two MATCH clauses, each on a key, are what the planner makes look-ups of."""
    properties = ", ".join(f"{quote(name)}: {field(i, kind)}" for i, (name, kind) in enumerate(table.columns))
    if table.ends is None:
        return f"UNWIND $rows AS x CREATE (:{quote(table.name)} {{{properties}}})"
    left, right = map(quote, table.ends)
    return (
        f"UNWIND $rows AS x MATCH (a:{left}) WHERE a.id = x.a MATCH (b:{right}) WHERE b.id = x.b "
        f"CREATE (a)-[:{quote(table.name)} {{{properties}}}]->(b)"
    )


@lru_cache(maxsize=1024)
def update_statement(table: Table) -> str:
    """The statement that sets the columns of the nodes in ``$rows``."""
    columns = enumerate(table.columns[1:], start=1)
    values = ", ".join(f"n.{quote(name)} = {field(i, kind)}" for i, (name, kind) in columns)
    return f"UNWIND $rows AS x MATCH (n:{quote(table.name)}) WHERE n.id = x.c0 SET {values}"


def field(index: int, kind: str) -> str:
    """A field of ``x`` as that kind: what parameters hold is inferred, and an empty list or None says too little."""
    return f"CAST(x.c{index} AS {kind})"
