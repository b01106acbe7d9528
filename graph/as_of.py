"""The graph as it was just after a change: what documents said then, and what followed from it.

The rules are those of ``graph.derive``, here over all entities and triples at once: a page's word holds, of several the
first by id, else what most say, the smallest of equals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing

import duckdb
import pyarrow as pa

from graph.encode import plain_attributes
from graph.pivot import insert, text
from graph.store import ENTITY_COLUMNS, TRIPLE_COLUMNS, Store
from graph.tables import Table

SAID = """
CREATE TABLE namings (document VARCHAR, defines BOOLEAN, entity VARCHAR, type VARCHAR, name VARCHAR,
  aliases VARCHAR[]);
CREATE TABLE statings (document VARCHAR, page BOOLEAN, triple VARCHAR, said VARCHAR, subject VARCHAR,
  subject_type VARCHAR, relation VARCHAR, object VARCHAR, object_type VARCHAR, value VARCHAR, kind VARCHAR,
  attributes VARCHAR, identifying VARCHAR, start BIGINT, "end" BIGINT, confidence DOUBLE);
CREATE TABLE updates (id VARCHAR, number BIGINT);
"""
"""What documents said, and which changes touched an entity or triple."""

DERIVED = """
CREATE TABLE updated AS SELECT id, max(number) AS updated FROM updates GROUP BY id;

CREATE TABLE entities_then AS
WITH spelled AS (
  SELECT entity, name, min(encode(document)) FILTER (defines) AS page, count(*) AS uses
  FROM namings GROUP BY entity, name),
named AS (
  SELECT entity, name, decode(page) AS page FROM spelled
  QUALIFY 1 = row_number() OVER (PARTITION BY entity
    ORDER BY page IS NULL, page, CASE WHEN page IS NULL THEN -uses END, encode(name))),
every AS (
  SELECT entity, name FROM namings UNION SELECT entity, unnest(aliases) FROM namings),
others AS (
  SELECT entity, list(name ORDER BY encode(name)) AS aliases
  FROM every ANTI JOIN named ON named.entity = every.entity AND named.name = every.name GROUP BY entity),
known AS (
  SELECT entity, any_value(type) AS type, list_sort(list_distinct(list(document))) AS documents
  FROM namings GROUP BY entity)
SELECT entity AS id, type, name, coalesce(aliases, []) AS aliases, page, documents, updated
FROM known JOIN named USING (entity) LEFT JOIN others USING (entity) LEFT JOIN updated ON updated.id = entity;

CREATE TABLE triples_then AS
WITH stated AS (
  SELECT triple, kind, attributes, identifying, min(encode(document)) FILTER (page) AS first,
    count(DISTINCT (document, said)) AS uses
  FROM statings GROUP BY triple, kind, attributes, identifying),
holding AS (
  SELECT triple, attributes FROM stated
  QUALIFY 1 = row_number() OVER (PARTITION BY triple ORDER BY first IS NULL, first,
    CASE WHEN first IS NULL THEN -uses END, encode(kind), encode(attributes), encode(identifying))),
known AS (
  SELECT triple, any_value(subject) AS subject, any_value(subject_type) AS subject_type,
    any_value(relation) AS relation, any_value(object) AS object, any_value(object_type) AS object_type,
    any_value(value) AS value, max(confidence) AS confidence,
    list_sort(list_distinct(list(document || ':' || start || '-' || "end"))) AS evidence
  FROM statings GROUP BY triple)
SELECT known.* EXCLUDE triple, triple AS id, attributes, updated
FROM known JOIN holding USING (triple) LEFT JOIN updated ON updated.id = triple;

DROP TABLE namings; DROP TABLE statings; DROP TABLE updates; DROP TABLE updated;
"""
"""What followed from it, as ``graph.store`` has entities and triples."""


class Past:
    """What one table is made from, as it was just after a change (``graph.build_tables.Scans``)."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, store: Store, table: Table, at: int) -> None:
        self._connection = connection
        connection.execute(SAID)
        of_type = table.of == "type"
        only = f"WHERE type = {text(table.name)}" if of_type else ""
        self._keep("namings", store.scan_namings(at), only)
        only = f"object IS NULL AND subject_type = {text(table.name)}" if of_type else f"relation = {text(table.name)}"
        self._keep("statings", store.scan_statings(at), f"WHERE {only}")
        for change in store.changes(0):
            if change.number <= at:
                ids = pa.table({"id": pa.array([*change.entities, *change.triples], pa.string())})
                insert(connection, f"INSERT INTO updates SELECT id, {change.number} FROM batch", ids)
        connection.execute(DERIVED)

    def _keep(self, table: str, batches: Iterable[pa.RecordBatch], only: str) -> None:
        for batch in batches:
            insert(self._connection, f"INSERT INTO {table} BY NAME FROM batch {only}", batch)

    def scan_entities(self, entity_type: str | None = None) -> Iterator[pa.RecordBatch]:
        return self._scan("entities_then", ENTITY_COLUMNS, "type", entity_type)

    def scan_triples(self, relation: str | None = None) -> Iterator[pa.RecordBatch]:
        for batch in self._scan("triples_then", TRIPLE_COLUMNS, "relation", relation):
            place = TRIPLE_COLUMNS.get_field_index("attributes")
            plain = [plain_attributes(str(attributes)) for attributes in batch.column(place).to_pylist()]
            yield batch.set_column(place, "attributes", pa.array(plain, pa.string()))

    def _scan(self, table: str, schema: pa.Schema, column: str, wanted: str | None) -> Iterator[pa.RecordBatch]:
        only = "" if wanted is None else f"WHERE {column} = {text(wanted)}"
        with closing(self._connection.cursor()) as cursor:
            query = f"SELECT {', '.join(schema.names)} FROM {table} {only} ORDER BY id"
            found = cursor.sql(query)
            assert found is not None, "a SELECT gives rows"
            yield from found.to_arrow_reader(10_000)
