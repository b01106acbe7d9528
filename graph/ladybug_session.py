"""One connection to a Ladybug database: queries, transactions, and rows written by whichever way is cheaper.

``UNWIND $rows AS x CREATE …`` costs about a millisecond a statement and 0.02 to 0.05 a row; ``COPY`` costs 40 a table
and some hundreds at the commit, whatever the number of rows, and then next to nothing a row (two cores, ladybug 0.22).
Of what UNWIND costs, most is to make parameters of Python's values, so that each row is handed over as one string.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import chain, islice
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

MAYBE_STRING = "STRING?"
Row = Sequence[Any]
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Table:
    """A node table, whose first column is its key; or, where it has ``ends``, a relation table between node tables.

    A row of a node table holds its columns; one of a relation table the keys of its two ends, then its columns. A
    column is a name and a Ladybug type; with ``?`` after it, values may be None, and strings empty.
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
        self._threads = os.cpu_count() or 1

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
        self._connection.set_max_threads_for_exec(1)  # more only get in each other's way where rows are few
        try:
            yield
            self._commit()
        except BaseException:
            with suppress(RuntimeError):  # a statement that failed has ended the transaction already
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._connection.set_max_threads_for_exec(self._threads)
            if self._copied:
                self._connection.close()
                self._connection = ladybug.Connection(self._database)
                self._copied = False

    def _commit(self) -> None:
        try:
            self.run("COMMIT")
        except StoreError as error:
            # Ladybug raises where only the checkpoint after a commit failed; the log holds what was committed.
            if "committed successfully" not in str(error.__cause__):
                raise
            logger.warning("%s: %s", self._where, error.__cause__)

    def insert(self, batch: Sequence[tuple[Table, Sequence[Row]]]) -> None:
        """Writes new rows, table after table."""
        bulk = self._worth_copying(batch)
        for index, (table, rows) in enumerate(batch):
            if index in bulk:
                self.copy(table, bulk[index])
            elif rows:
                self._write(create_statement(table), table, rows)

    def _worth_copying(self, batch: Sequence[tuple[Table, Sequence[Row]]]) -> dict[int, pa.Table]:
        """The tables of a large batch that have many rows, by their place in it."""
        if sum(len(rows) for _, rows in batch) < self._copy_rows:
            return {}
        many = max(1, self._copy_rows // 10)
        found = {i: arrow_table(table, rows) for i, (table, rows) in enumerate(batch) if len(rows) >= many}
        return found if sum(table.nbytes for table in found.values()) <= self._copy_bytes else {}

    def update(self, table: Table, rows: Sequence[Row]) -> None:
        """Sets every column of nodes that exist."""
        if rows:
            self._write(update_statement(table), table, rows)

    def _write(self, statement: str, table: Table, rows: Sequence[Row]) -> None:
        keys = "ab" if table.ends else "a"
        items: list[dict[str, Any]] = [dict(zip(keys, row, strict=False)) for row in rows]
        signs: dict[str, str] = {}
        if len(rows[0]) > len(keys):
            signs, packed = pack([row[len(keys) :] for row in rows])
            items = [item | {"f": text} for item, text in zip(items, packed, strict=True)]
        self.run(statement, rows=items, **signs)

    def copy(self, table: Table, rows: pa.Table) -> None:
        """Writes rows by COPY."""
        self._copied = True
        self._connection.set_max_threads_for_exec(self._threads)
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
        if "buffer pool is full" in reason:
            message = f"{where}: there is too little memory for what is written at once"
            raise StoreError(message, hint="write fewer or smaller documents", code="store-memory") from error
        raise StoreError(f"{where}: the database refused a statement: {reason}", code="store-statement") from error


def database_type(kind: str) -> str:
    """The type of a column as Ladybug names it."""
    return kind.removesuffix("?")


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
    arrays = [pa.array(column, ARROW[database_type(kind)]) for column, kind in zip(columns, kinds, strict=True)]
    return pa.table(arrays, names=field_names(table))


def field_names(table: Table) -> list[str]:
    """Names for the fields of a row that say nothing of its columns, for not every column's name can be a field's."""
    return ["a", "b"] * bool(table.ends) + [f"c{i}" for i in range(len(table.columns))]


def pack(rows: Sequence[Row]) -> tuple[dict[str, str], list[str]]:
    """Each row as one string, with the signs that it is put together with: characters that occur in none of the values.

    ``cut`` stands between fields and ``item`` between the items of a list; ``void`` stands for None and for the empty
    list, ``empty`` for the empty string.
    """
    texts = [[value if type(value) is str else _as_text(value) for value in row] for row in rows]
    used: set[str] = set()
    for text in chain.from_iterable(texts):
        used.update(*text if isinstance(text, list) else [text or ""])
    private = chain(range(1, 32), range(0xE000, 0xF900), range(0xF0000, 0xFFFFE))
    cut, item, void, empty = islice((c for c in map(chr, private) if c not in used), 4)

    def field(text: str | list[str] | None) -> str:
        joined = item.join(text) if isinstance(text, list) else text
        return void if joined is None or text == [] else joined or empty

    return {"cut": cut, "item": item, "void": void, "empty": empty}, [cut.join(map(field, row)) for row in texts]


def _as_text(value: Any) -> str | list[str] | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return [str(_as_text(item)) for item in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)


@lru_cache(maxsize=1024)
def create_statement(table: Table) -> str:
    """The statement that writes packed ``$rows``.

    Each MATCH is on a key that is a field of what UNWIND yields; only then does the planner look it up.
    """
    if table.ends is None:
        key, *columns = table.columns
        properties = ", ".join(
            [f"{quote(key[0])}: CAST(x.a AS {key[1]})", *(f"{quote(n)}: {v}" for n, v in _fields(columns))]
        )
        return f"UNWIND $rows AS x WITH x, string_split(x.f, $cut) AS f CREATE (:{quote(table.name)} {{{properties}}})"
    left, right = map(quote, table.ends)
    unpack = "WITH a, b, string_split(x.f, $cut) AS f " if table.columns else ""
    properties = ", ".join(f"{quote(name)}: {value}" for name, value in _fields(table.columns))
    return (
        f"UNWIND $rows AS x MATCH (a:{left}) WHERE a.id = x.a MATCH (b:{right}) WHERE b.id = x.b "
        f"{unpack}CREATE (a)-[:{quote(table.name)} {{{properties}}}]->(b)"
    )


@lru_cache(maxsize=1024)
def update_statement(table: Table) -> str:
    """The statement that sets the columns of the nodes in packed ``$rows``."""
    values = ", ".join(f"n.{quote(name)} = {value}" for name, value in _fields(table.columns[1:]))
    return (
        f"UNWIND $rows AS x MATCH (n:{quote(table.name)}) WHERE n.id = x.a WITH n, string_split(x.f, $cut) AS f "
        f"SET {values}"
    )


def _fields(columns: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names of columns, and the expressions that read them from a packed row."""
    return [(name, _field(index, kind)) for index, (name, kind) in enumerate(columns, start=1)]


def _field(index: int, kind: str) -> str:
    if kind.endswith("[]"):
        items = f"CAST(string_split(f[{index}], $item) AS {kind})"
        return f"CASE WHEN f[{index}] = $void THEN CAST([] AS {kind}) ELSE {items} END"
    if not kind.endswith("?"):
        return f"f[{index}]" if kind == STRING else f"CAST(f[{index}] AS {kind})"
    value = f"CASE WHEN f[{index}] = $void THEN NULL WHEN f[{index}] = $empty THEN '' ELSE f[{index}] END"
    return value if kind == MAYBE_STRING else f"CAST({value} AS {database_type(kind)})"
