"""One connection to a Ladybug database: queries, transactions, and rows written by whichever way is cheaper.

``UNWIND $rows AS x CREATE …`` costs about a millisecond a statement and 0.02 to 0.05 a row; ``COPY`` costs 40 a table
and some hundreds at the commit, whatever the number of rows, and then next to nothing a row (two cores, ladybug 0.22).
Of what UNWIND costs, most is to make parameters of Python's values, so that all rows are handed over as one string.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

import ladybug
import pyarrow as pa

from graph.record import (
    BOOLEAN,
    DATE,
    INTEGER,
    MAYBE_STRING,
    NUMBER,
    STRING,
    STRINGS,
    TIME,
    Batch,
    Row,
    Table,
    plain_type,
)
from ontoloom.errors import StoreError

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

COPIED = 500
"""Rows of a table that are worth a COPY in a transaction that has one."""
GIVEN = "UNWIND $ids AS x"
"""How queries about given nodes begin."""
SAME = 10
"""Rows from which on a column that is the same in all is handed over once; fewer are alike by chance."""
logger = logging.getLogger(__name__)


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

    def insert(self, batch: Batch, *, size: int = 0) -> None:
        """Writes new rows, about ``size`` of them, table after table."""
        left = self._copy_bytes if size >= self._copy_rows else 0
        many = min(COPIED, self._copy_rows)  # the commit is paid for, so that a table costs 40 ms and no more
        for table, rows in batch:
            bulk = arrow_table(table, rows) if left > 0 and len(rows) >= many else None
            left -= bulk.nbytes if bulk is not None else 0
            if bulk is not None and left >= 0:
                self.copy(table, bulk)
            else:
                self._write(create_statement, table, rows)

    def update(self, table: Table, rows: Sequence[Row]) -> None:
        """Sets every column of nodes that exist."""
        if rows:
            self._write(update_statement, table, rows)

    def _write(self, statement: Callable[[Table, Packed], str], table: Table, rows: Sequence[Row]) -> None:
        packed = pack(list(zip(*rows, strict=True)), column_kinds(table), keys=2 if table.ends else 1)
        shared = {f"c{place}": value for place, value in packed.same.items() if value is not None and value != []}
        self.run(statement(table, packed), rows=packed.rows, **shared)

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
        if query.startswith(GIVEN):
            query, parameters = _join_ids(query, parameters)
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


def quote(name: str) -> str:
    """A name of a table or column as Cypher writes it."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A string as Cypher writes it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def arrow_table(table: Table, rows: Sequence[Row]) -> pa.Table:
    """Rows as COPY takes them."""
    columns = zip(*rows, strict=True)
    kinds = map(plain_type, column_kinds(table))
    arrays = [pa.array(column, ARROW[kind]) for column, kind in zip(columns, kinds, strict=True)]
    return pa.table(arrays, names=field_names(table))


def field_names(table: Table) -> list[str]:
    """Names for the fields of a row that say nothing of its columns, for not every column's name can be a field's."""
    return ["a", "b"] * bool(table.ends) + [f"c{i}" for i in range(len(table.columns))]


def column_kinds(table: Table) -> list[str]:
    """The types of what a row holds."""
    return [STRING, STRING] * bool(table.ends) + [kind for _, kind in table.columns]


def _join_ids(query: str, parameters: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The query with its ids as one string, taken apart within."""
    ids = parameters["ids"]
    if not all(ids):  # what is empty would be dropped
        return query, parameters
    sign = next(spare_characters([ids], [STRING]))
    return query.replace("$ids", f"string_split($ids, {literal(sign)})", 1), {**parameters, "ids": sign.join(ids)}


class Signs(NamedTuple):
    """Characters that occur in none of the values that they are put between, or stand for.

    ``line`` stands between rows, ``cut`` between fields and ``item`` between the items of a list; ``void`` stands for
    None and for the empty list, ``empty`` for the empty string.
    """

    line: str
    cut: str
    item: str
    void: str
    empty: str


class Packed(NamedTuple):
    """Rows as one string; and the values of columns that have one value in all of them, by the place in the row."""

    signs: Signs
    rows: str
    same: Mapping[int, Any]


def pack(columns: Sequence[Sequence[Any]], kinds: Sequence[str], *, keys: int = 1) -> Packed:
    """Rows, given by column. The first ``keys`` columns, which nodes are looked up by, are always in the string."""
    signs = Signs(*islice(spare_characters(columns, kinds), len(Signs._fields)))

    def texts(column: Sequence[Any], kind: str) -> Sequence[str]:
        if kind == STRING:
            return column
        if kind in (INTEGER, NUMBER):
            return list(map(str, column))
        if kind == MAYBE_STRING:
            return [signs.void if value is None else value or signs.empty for value in column]
        if kind.endswith("[]"):
            return [signs.item.join(map(_as_text, values)) or signs.void for values in column]
        return [signs.void if value is None else _as_text(value) for value in column]

    settled = len(columns[0]) == 1 or len(columns[0]) >= SAME
    same, varying = {}, []
    for place, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
        written = texts(column, kind)
        alike = place >= keys and settled and written.count(written[0]) == len(written)
        if alike and (written[0] == signs.void or not kind.endswith("[]")):
            same[place] = float(column[0]) if kind == NUMBER else column[0]
        else:
            varying.append(written)
    return Packed(signs, signs.line.join(map(signs.cut.join, zip(*varying, strict=True))), same)


def spare_characters(columns: Sequence[Sequence[Any]], kinds: Sequence[str]) -> Iterator[str]:
    """Characters that are in none of the values: the separators of ASCII first, then some for private use."""
    written: list[str] = []
    for column, kind in zip(columns, kinds, strict=True):
        if kind in (STRING, MAYBE_STRING):
            written += filter(None, column)
        elif kind == STRINGS:
            written += chain.from_iterable(column)
    text = "".join(written)
    private = map(chr, chain(range(27, 32), range(0xE000, 0xF900), range(0xF0000, 0xFFFFE)))
    return (character for character in private if character not in text)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)


def create_statement(table: Table, packed: Packed) -> str:
    """The statement that writes packed ``$rows``."""
    return _create_statement(table, packed.signs, _shared(packed))


def update_statement(table: Table, packed: Packed) -> str:
    """The statement that sets the columns of the nodes in packed ``$rows``."""
    return _update_statement(table, packed.signs, _shared(packed))


Shared = tuple[tuple[int, str], ...]
"""Places of columns that are the same in all rows, and what stands for them in a statement."""


def _shared(packed: Packed) -> Shared:
    def stand_in(place: int, value: Any) -> str:
        return "NULL" if value is None else "[]" if value == [] else f"$c{place}"

    return tuple((place, stand_in(place, value)) for place, value in packed.same.items())


@lru_cache(maxsize=1024)
def _create_statement(table: Table, signs: Signs, shared: Shared) -> str:
    properties = ", ".join(f"{quote(name)}: {value}" for name, value in _fields(table, signs, shared))
    if table.ends is None:
        lines = f"UNWIND string_split($rows, {literal(signs.line)}) AS x"
        return f"{lines} WITH string_split(x, {literal(signs.cut)}) AS f CREATE (:{quote(table.name)} {{{properties}}})"
    left, right = map(quote, table.ends)
    return (
        f"{_keyed_rows(signs, 'ab')} MATCH (a:{left}) WHERE a.id = x.a MATCH (b:{right}) WHERE b.id = x.b "
        f"WITH a, b, x.f AS f CREATE (a)-[:{quote(table.name)} {{{properties}}}]->(b)"
    )


@lru_cache(maxsize=1024)
def _update_statement(table: Table, signs: Signs, shared: Shared) -> str:
    values = ", ".join(f"n.{quote(name)} = {value}" for name, value in _fields(table, signs, shared)[1:])
    key = table.columns[0][1]
    found = "x.a" if key == STRING else f"CAST(x.a AS {key})"
    return f"{_keyed_rows(signs, 'a')} MATCH (n:{quote(table.name)}) WHERE n.id = {found} WITH n, x.f AS f SET {values}"


def _keyed_rows(signs: Signs, names: str) -> str:
    """Rows with their first fields as fields of what UNWIND yields: only by such a key the planner looks up a node.

    By anything else, such as an item of a list, it joins with a scan of the table.
    """
    fields = f"string_split(l, {literal(signs.cut)})"
    keys = ", ".join(f"{name}: {fields}[{place}]" for place, name in enumerate(names, 1))
    lines = f"string_split($rows, {literal(signs.line)})"
    return f"UNWIND list_transform({lines}, l -> {{{keys}, f: {fields}}}) AS x"


def _fields(table: Table, signs: Signs, shared: Shared) -> list[tuple[str, str]]:
    """Names of columns, and the expressions that stand for them: what all rows share, or a field of a packed row."""
    keys, stand_ins = 2 if table.ends else 0, dict(shared)
    found, field = [], keys
    for place, (name, kind) in enumerate(table.columns, keys):
        if place in stand_ins:
            value = stand_ins[place]
            found.append((name, f"CAST([] AS {kind})" if value == "[]" else value))
        else:
            field += 1
            found.append((name, _field(field, kind, signs)))
    return found


def _field(index: int, kind: str, signs: Signs) -> str:
    void, empty = literal(signs.void), literal(signs.empty)
    if kind.endswith("[]"):
        items = f"CAST(string_split(f[{index}], {literal(signs.item)}) AS {kind})"
        return f"CASE WHEN f[{index}] = {void} THEN CAST([] AS {kind}) ELSE {items} END"
    if not kind.endswith("?"):
        return f"f[{index}]" if kind == STRING else f"CAST(f[{index}] AS {kind})"
    value = f"CASE WHEN f[{index}] = {void} THEN NULL WHEN f[{index}] = {empty} THEN '' ELSE f[{index}] END"
    return value if kind == MAYBE_STRING else f"CAST({value} AS {plain_type(kind)})"
