"""Writes whole tables of a columnar projection from what a store holds, or from what it held at a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import duckdb
import pyarrow as pa

from graph.pivot import (
    ENTITIES,
    SAID,
    VALUE,
    insert,
    link_columns,
    links,
    reading,
    relation_rows,
    report_unreadable,
    type_rows,
)
from graph.tables import Table
from ontology.schema import Ontology


class Scans(Protocol):
    """What tables are made from: an open ``graph.store.Store``, or a ``graph.as_of.Past``."""

    def scan_entities(self, entity_type: str | None = None) -> Iterator[pa.RecordBatch]:
        """Entities as ``graph.store.ENTITY_COLUMNS``."""

    def scan_triples(self, relation: str | None = None) -> Iterator[pa.RecordBatch]:
        """Triples as ``graph.store.TRIPLE_COLUMNS``."""


Write = Callable[[Table, str], object]
"""Is given each table with a query for its rows, which holds until the next one."""


def build_types(
    connection: duckdb.DuckDBPyConnection, scans: Scans, ontology: Ontology, tables: Sequence[Table], write: Write
) -> None:
    """Makes the tables of types."""
    connection.execute(f"CREATE TABLE entities ({ENTITIES}); CREATE TABLE said ({SAID})")
    for table in tables:
        for batch in scans.scan_entities(table.name):
            insert(connection, "INSERT INTO entities BY NAME FROM batch", batch)
    for name in sorted({name for table in tables for name in ontology.types[table.name].attributes}):
        for batch in scans.scan_triples(name):
            insert(connection, f"INSERT INTO said SELECT {', '.join(VALUE)} FROM batch WHERE object IS NULL", batch)
    for table in tables:
        report_unreadable(connection, ontology.types[table.name])
        write(table, type_rows(ontology.types[table.name], table))
    connection.execute("DROP TABLE entities; DROP TABLE said")


def build_relations(
    connection: duckdb.DuckDBPyConnection, scans: Scans, ontology: Ontology, tables: Iterable[Table], write: Write
) -> None:
    """Makes the tables of relations, given a table ``names``."""
    for table in tables:
        relation = ontology.relations[table.name]
        with reading(connection, batch=link_columns(relation).empty_table()):
            connection.execute("CREATE TABLE links AS FROM batch")
        for batch in scans.scan_triples(table.name):
            insert(connection, "INSERT INTO links FROM batch", links(relation, batch))
        write(table, relation_rows(relation, table))
        connection.execute("DROP TABLE links")
