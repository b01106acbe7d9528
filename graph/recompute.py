"""The graph that follows from what documents say, worked out in SQL and compared with the one that a store holds.

It is not what stores run (``graph.derive``), so that the two check each other. Rows spill to a folder: memory stays
bounded.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from graph.encode import plain_attributes
from graph.store import ENTITY_COLUMNS, NAMING_COLUMNS, STATING_COLUMNS, TRIPLE_COLUMNS

Scan = Callable[[], Iterable[pa.RecordBatch]]

TABLES = {"naming": NAMING_COLUMNS, "stating": STATING_COLUMNS}
"""What documents say now, merges applied; the caller fills them with ``add``."""
MEMORY = "512MB"

HOLDING = "{page} IS NULL, {page}, CASE WHEN {page} IS NULL THEN -times END, {said}"
"""The order in which what is said prevails: the first page's word, else what is said most often, then the smallest."""

ENTITIES = f"""
WITH uses AS (
  SELECT entity, name, count(*) AS times, min(document) FILTER (defines) AS page FROM naming GROUP BY entity, name
), chosen AS (
  SELECT entity, name, page FROM uses
  QUALIFY row_number() OVER (PARTITION BY entity ORDER BY {HOLDING.format(page="page", said="name")}) = 1
), spelled AS (
  SELECT entity, name FROM naming UNION SELECT entity, unnest(aliases) FROM naming
), others AS (
  SELECT entity, list(spelled.name ORDER BY spelled.name) FILTER (spelled.name <> chosen.name) AS aliases
  FROM spelled JOIN chosen USING (entity) GROUP BY entity
), named AS (
  SELECT entity, min(type) AS type, list(DISTINCT document ORDER BY document) AS documents FROM naming GROUP BY entity
)
SELECT entity AS id, type, name, coalesce(aliases, []) AS aliases, page, documents
FROM named JOIN chosen USING (entity) JOIN others USING (entity)
"""
ENDS = "subject, subject_type, relation, object, object_type, value"
TRIPLES = f"""
WITH uses AS (
  SELECT triple, kind, attributes, identifying, count(DISTINCT (document, said)) AS times,
    min(document) FILTER (page) AS first_page
  FROM stating GROUP BY triple, kind, attributes, identifying
), chosen AS (
  SELECT triple, kind, attributes, identifying FROM uses
  QUALIFY row_number() OVER (PARTITION BY triple
    ORDER BY {HOLDING.format(page="first_page", said="kind, attributes, identifying")}) = 1
), cited AS (
  SELECT triple, {", ".join(f"any_value({column}) AS {column}" for column in ENDS.split(", "))},
    list(DISTINCT document || ':' || start || '-' || "end" ORDER BY document || ':' || start || '-' || "end")
      AS evidence, max(confidence) AS confidence
  FROM stating GROUP BY triple
)
SELECT triple AS id, {ENDS}, kind, identifying, evidence, confidence,
  CASE WHEN contains(attributes, '{{"date":') THEN plain_attributes(attributes) ELSE attributes END AS attributes
FROM cited JOIN chosen USING (triple)
"""


class Recomputed:
    """A scratch database. Made by ``recomputing``."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        connection.create_function("plain_attributes", plain_attributes, ["VARCHAR"], "VARCHAR")
        for name, schema in TABLES.items():
            self._create(name, schema)

    def add(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Adds rows to one of ``TABLES``."""
        if rows:
            columns = zip(*rows, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, TABLES[table], strict=True)]
            self._insert(table, pa.RecordBatch.from_arrays(arrays, schema=TABLES[table]))

    def other_history(self, table: str, scan: Scan) -> Iterator[str]:
        """Documents of which a scan has other rows than one of ``TABLES``."""
        self._load(f"known_{table}", TABLES[table], scan)
        a, b = table, f"known_{table}"
        yield from self._first(
            f"SELECT document FROM (FROM {a} EXCEPT ALL FROM {b}) "
            f"UNION SELECT document FROM (FROM {b} EXCEPT ALL FROM {a}) ORDER BY document"
        )

    def other_entities(self, scan: Scan) -> Iterator[tuple[str, list[str] | None]]:
        """Ids of entities that differ in a scan, with the columns that do: None for those that follow from nothing.

        Those that are missing differ in ``id``.
        """
        self._load("entities", ENTITY_COLUMNS, scan)
        columns = ("type", "name", "aliases", "page", "documents")
        return self._differences(ENTITIES, "entities", columns)

    def other_triples(self, scan: Scan) -> Iterator[tuple[str, list[str] | None]]:
        """The same of triples, whose scan has the columns ``kind`` and ``identifying`` too."""
        schema = TRIPLE_COLUMNS.append(pa.field("kind", pa.string())).append(pa.field("identifying", pa.string()))
        self._load("triples", schema, scan)
        columns = (*ENDS.split(", "), "kind", "attributes", "identifying", "evidence", "confidence")
        return self._differences(TRIPLES, "triples", columns)

    def loose_triples(self) -> Iterator[str]:
        """Triples of the last scan of which an end is not among the entities of the last scan, or of another type."""
        return self._first(
            "SELECT id FROM triples WHERE NOT EXISTS (FROM entities e WHERE e.id = subject AND e.type = subject_type) "
            "OR (object IS NOT NULL AND NOT EXISTS (FROM entities e WHERE e.id = object AND e.type = object_type)) "
            "ORDER BY id"
        )

    def _differences(self, expected: str, held: str, columns: Sequence[str]) -> Iterator[tuple[str, list[str] | None]]:
        flags = ", ".join(f"CASE WHEN e.{c} IS DISTINCT FROM h.{c} THEN '{c}' END" for c in columns)
        query = (
            f"SELECT coalesce(e.id, h.id) AS id, CASE WHEN e.id IS NULL THEN NULL WHEN h.id IS NULL THEN ['id'] "
            f"ELSE list_filter([{flags}], lambda name: name IS NOT NULL) END AS wrong "
            f"FROM ({expected}) e FULL JOIN {held} h ON e.id = h.id WHERE wrong IS NULL OR len(wrong) > 0 ORDER BY 1"
        )
        yield from self._rows(query)

    def _load(self, table: str, schema: pa.Schema, scan: Scan) -> None:
        self._create(table, schema)
        for batch in scan():
            self._insert(table, batch)

    def _create(self, table: str, schema: pa.Schema) -> None:
        self._connection.register("empty", schema.empty_table())
        self._connection.execute(f"CREATE OR REPLACE TABLE {table} AS FROM empty")
        self._connection.unregister("empty")

    def _insert(self, table: str, batch: pa.RecordBatch) -> None:
        self._connection.register("batch", pa.Table.from_batches([batch]))
        self._connection.execute(f"INSERT INTO {table} BY NAME FROM batch")
        self._connection.unregister("batch")

    def _rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        cursor = self._connection.cursor().execute(query)
        while rows := cursor.fetchmany(1000):
            yield from rows

    def _first(self, query: str) -> Iterator[str]:
        return (row[0] for row in self._rows(query))


@contextmanager
def recomputing() -> Iterator[Recomputed]:
    """An empty scratch database, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="ontoloom-") as folder:
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY,
            "temp_directory": folder,
            "autoinstall_known_extensions": False,
        }
        with duckdb.connect(":memory:", config=config) as connection:
            yield Recomputed(connection)
