"""Publishes what the graph says as plain tables for other tools: Parquet files, a DuckDB file or a PostgreSQL schema.

A table for each type and each relation, as SELECT shows them with their hidden columns, all of one change. Keys are
``_id``; many-valued attributes are arrays; descriptions and units become comments. Whoever reads the target sees what
was published before or what is published now, each whole.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import duckdb
import pyarrow as pa

from graph.catalogue import Catalogue
from graph.guard import parse
from graph.pivot import quoted
from graph.projection import ColumnarProjection
from graph.sandbox import open_sandbox
from graph.select import compile_statement
from graph.store import Store
from graph.tables import Column, Table, describe
from ontology.schema import Ontology
from ontoloom.errors import ProjectionError
from ontoloom.progress import OnProgress, Progress, silent

BATCH_ROWS = 10_000
PUBLICATION = "_publication"
"""The table with one row that says what was published, and when."""

ARROW_TYPES: dict[str, pa.DataType] = {
    "text": pa.string(), "bigint": pa.int64(), "double": pa.float64(), "boolean": pa.bool_(), "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}  # fmt: skip
TYPES = {
    "integer": "bigint", "number": "double", "quantity": "double", "boolean": "boolean", "date": "date",
    "datetime": "timestamp",
}  # fmt: skip
HIDDEN = {
    "_id": "Identifies the row.",
    "_type": "The most specific type of the entity.",
    "_aliases": "Other names.",
    "_page": "The wiki page that describes it.",
    "_subject_id": "_id of the subject.",
    "_subject_type": "Type of the subject.",
    "_object_id": "_id of the object.",
    "_object_type": "Type of the object.",
    "_documents": "Documents that say what the row says.",
    "_evidence": "Where they say it: document:start-end, in code points.",
    "_confidence": "Confidence in the least certain value of the row, 0 to 1.",
    "_updated": "Number of the change that last touched the row.",
}


@dataclass(frozen=True, slots=True)
class PublishedColumn:
    """A column. ``source`` is its name in SELECT, ``type`` one of ARROW_TYPES: that of each value where it has many."""

    name: str
    source: str
    type: str
    many: bool = False
    comment: str = ""

    @property
    def field(self) -> pa.Field[Any]:
        kind = ARROW_TYPES[self.type]
        listed: pa.DataType = pa.list_(kind) if self.many else kind
        return pa.field(self.name, listed, self.name != "_id", described(self.comment))


def described(comment: str) -> dict[bytes | str, bytes | str] | None:
    return {"description": comment} if comment else None


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table with the key ``_id``. ``references``: columns with the table whose ``_id`` they hold."""

    name: str
    comment: str
    columns: tuple[PublishedColumn, ...]
    references: tuple[tuple[str, str], ...] = ()

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([column.field for column in self.columns], described(self.comment))


@dataclass(frozen=True, slots=True)
class Publication:
    """What the tables were made from: an ontology, its version, and the number of the graph's last change."""

    ontology: str
    version: str
    change: int
    time: datetime


@dataclass(frozen=True, slots=True)
class Published:
    """What a publication came to: rows by table, and in one line each what could not be written as it is."""

    target: str
    publication: Publication
    tables: tuple[PublishedTable, ...]
    rows: dict[str, int]
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


ReadTable = Callable[[PublishedTable], Iterator[pa.RecordBatch]]
"""The rows of a table, batch by batch."""


class Target(Protocol):
    """Where tables are written to."""

    @property
    def name(self) -> str:
        """What it is called, without secrets."""

    def write(self, tables: Sequence[PublishedTable], publication: Publication, read: ReadTable) -> list[str]:
        """Writes all tables in the place of those before; gives notes for people. Raises ProjectionError."""


def publish(
    store: Store,
    projection: ColumnarProjection,
    target: Target,
    *,
    dry_run: bool = False,
    on_progress: OnProgress = silent,
) -> Published:
    """Writes the tables of the last change to a target, or only counts their rows in a ``dry_run``.

    Raises ProjectionError where the target cannot be written; it is then as it was.
    """
    started = time.monotonic()
    try:
        found = _publish(store, projection, target, dry_run=dry_run, on_progress=on_progress)
    except duckdb.Error as error:
        if not projection.repair():
            message = f"the tables for SELECT cannot be read: {str(error).splitlines()[0]}"
            raise ProjectionError(message, hint="delete the folder of the tables; it is made anew") from None
        found = _publish(store, projection, target, dry_run=dry_run, on_progress=on_progress)
    tables, publication, rows, notes = found
    return Published(target.name, publication, tables, rows, tuple(notes), time.monotonic() - started)


def _publish(
    store: Store, projection: ColumnarProjection, target: Target, *, dry_run: bool, on_progress: OnProgress
) -> tuple[tuple[PublishedTable, ...], Publication, dict[str, int], list[str]]:
    change = projection.refresh()
    ontology = store.ontology
    publication = Publication(ontology.name, ontology.stamp, change, datetime.now(UTC).replace(tzinfo=None))
    tables = plan(ontology, Catalogue(store, projection, describe(ontology)).tables)
    rows = dict.fromkeys((t.name for t in tables), 0)

    def read(table: PublishedTable) -> Iterator[pa.RecordBatch]:
        for batch in batches(store, projection, table):
            rows[table.name] += batch.num_rows
            on_progress(Progress("publish", sum(rows.values()), None, table.name))
            yield batch

    if dry_run:
        for table in tables:
            rows[table.name] = count(store, projection, table)
        return tables, publication, rows, []
    return tables, publication, rows, target.write(tables, publication, read)


# What is published


def plan(ontology: Ontology, tables: Sequence[Table]) -> tuple[PublishedTable, ...]:
    """The tables in an order in which each comes after those that it refers to."""
    taken = {PUBLICATION.casefold(): PUBLICATION}
    for table in tables:
        other = taken.setdefault(table.name.casefold(), table.key)
        if other != table.key:
            message = f"the {table.key} and the {other} would be one table to other tools"
            raise ProjectionError(message, hint="rename one of them in the ontology")
    depth = {t: len(ontology.ancestors(t)) for t in ontology.types}
    ordered = sorted(tables, key=lambda t: (t.of == "relation", depth.get(t.name, 0)))
    return tuple(plan_table(ontology, table) for table in ordered)


def plan_table(ontology: Ontology, table: Table) -> PublishedTable:
    names: dict[str, str] = {}
    for column in sorted(table.columns, key=lambda c: c.name != "_id"):
        name = column.name.replace(".", "_")
        clashes = name != column.name and (name in names.values() or any(c.name == name for c in table.columns))
        names[column.name] = column.name if clashes else name
    columns = {c.name: c for c in table.columns}
    published = tuple(plan_column(columns[source], name) for source, name in names.items())
    return PublishedTable(table.name, table.description, published, tuple(references(ontology, table)))


def plan_column(column: Column, name: str) -> PublishedColumn:
    attribute = column.kind.attribute
    if attribute is None:
        kind = {"_confidence": "double", "_updated": "bigint"}.get(column.name, "text")
        return PublishedColumn(name, column.name, kind, column.kind.many, HIDDEN.get(column.name, ""))
    parts = [attribute.description, f"In {attribute.unit}." if attribute.unit else ""]
    parts += [f"One of: {', '.join(v.name for v in attribute.values)}." if attribute.values else ""]
    comment = " ".join(part for part in parts if part)
    return PublishedColumn(name, column.name, TYPES.get(attribute.type, "text"), attribute.many, comment)


def references(ontology: Ontology, table: Table) -> Iterator[tuple[str, str]]:
    """The foreign keys that hold whatever the graph says.

    A row of a type is one of its supertype's too. The ends of a relation are rows of one table where it goes from, or
    to, one type with what is below it.
    """
    if table.of == "type":
        parent = ontology.types[table.name].parent
        if parent:
            yield "_id", parent
        return
    relation = ontology.relations[table.name]
    for column, types in (("_subject_id", relation.domain), ("_object_id", relation.range)):
        widest = ontology.widest(types)
        if widest is not None:
            yield column, widest


# Reading


def batches(store: Store, projection: ColumnarProjection, table: PublishedTable) -> Iterator[pa.RecordBatch]:
    """The rows of a table as SELECT reads them, in a stable order. Raises duckdb.Error."""
    columns = ", ".join(quoted(c.source) for c in table.columns)
    with _running(store, projection, f"SELECT {columns} FROM {quoted(table.name)}") as rows:
        for batch in rows.to_arrow_reader(BATCH_ROWS):
            yield batch.rename_columns([c.name for c in table.columns]).cast(table.schema)


def count(store: Store, projection: ColumnarProjection, table: PublishedTable) -> int:
    with _running(store, projection, f"SELECT count(*) AS n FROM {quoted(table.name)}") as rows:
        (found,) = rows.fetchall()
        return int(found[0])


@contextmanager
def _running(store: Store, projection: ColumnarProjection, sql: str) -> Iterator[duckdb.DuckDBPyRelation]:
    catalogue = Catalogue(store, projection, describe(store.ontology))
    text, _ = compile_statement(parse(sql), catalogue, None)
    with closing(open_sandbox(projection.folder).cursor()) as cursor:
        yield cursor.sql(text)


# Targets


def open_target(address: str, *, schema: str) -> Target:
    """``postgresql://…``, a file ``*.duckdb``, or a folder for Parquet files."""
    if re.match(r"postgres(ql)?://", address):
        from graph.publish_postgres import PostgresTarget

        return PostgresTarget(address, schema)
    if "://" in address:
        message = f"cannot publish to {address.partition('://')[0]}://…"
        raise ProjectionError(message, hint="name a folder, a file.duckdb, or postgresql://HOST/DATABASE")
    from graph.publish_files import DuckDBTarget, ParquetTarget

    return DuckDBTarget(address) if address.endswith((".duckdb", ".db")) else ParquetTarget(address)
