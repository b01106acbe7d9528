"""Turns entities and triples into the rows of tables, in an in-memory DuckDB that spills to a folder, into Parquet.

Where several values compete for an attribute that holds one, the one with the highest confidence is shown; of equals
the one with the most evidence, then the one with the smallest canonical text.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from graph.store import Store
from graph.tables import Column, Table, companion
from ontology.schema import Attribute, EntityType, Relation
from ontoloom.records import canonical_text

MEMORY = "1GB"
SQL_TYPES = {"integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE"}
ROW_GROUP = 20_480
logger = logging.getLogger(__name__)

STAGING = """
CREATE TABLE entities (id VARCHAR, name VARCHAR, aliases VARCHAR[], page VARCHAR, documents VARCHAR[], updated BIGINT,
  type VARCHAR);
CREATE TABLE said (id VARCHAR, subject VARCHAR, subject_type VARCHAR, relation VARCHAR, value VARCHAR,
  evidence VARCHAR[], confidence DOUBLE, updated BIGINT);
CREATE MACRO place(citation) AS {
  'document': regexp_extract(citation, '^(.*):[0-9]+-[0-9]+$', 1, 's'),
  'start': TRY_CAST(regexp_extract(citation, ':([0-9]+)-[0-9]+$', 1) AS BIGINT),
  'end': TRY_CAST(regexp_extract(citation, '-([0-9]+)$', 1) AS BIGINT), 'citation': citation};
CREATE MACRO in_order(citations) AS list_transform(
  list_sort(list_transform(list_distinct(citations), lambda c: place(c))), lambda p: p.citation);
CREATE MACRO documents_of(citations) AS list_sort(list_distinct(
  list_transform(citations, lambda c: place(c).document)));
"""


@contextmanager
def staging(spill: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty staging database."""
    connection = duckdb.connect(
        ":memory:",
        config={"memory_limit": MEMORY, "temp_directory": str(spill), "autoinstall_known_extensions": False},
    )
    try:
        connection.execute(STAGING)
        yield connection
    finally:
        connection.close()


def insert(connection: duckdb.DuckDBPyConnection, statement: str, batch: pa.RecordBatch | pa.Table) -> None:
    """Runs an INSERT that reads from ``batch``."""
    connection.register("batch", batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch]))
    try:
        connection.execute(statement)
    finally:
        connection.unregister("batch")


# Types


def stage_type(connection: duckdb.DuckDBPyConnection, store: Store, type_name: str) -> None:
    for batch in store.scan_entities(type_name):
        columns = "id, name, aliases, page, documents, updated"
        insert(connection, f"INSERT INTO entities SELECT {columns}, {text(type_name)} FROM batch", batch)


def stage_attribute(connection: duckdb.DuckDBPyConnection, store: Store, name: str) -> None:
    """The values of an attribute, of all types that have it."""
    columns = "id, subject, subject_type, relation, value, evidence, confidence, updated"
    for batch in store.scan_triples(name):
        insert(connection, f"INSERT INTO said SELECT {columns} FROM batch WHERE object IS NULL", batch)


def write_type(connection: duckdb.DuckDBPyConnection, entity_type: EntityType, table: Table, path: Path) -> int:
    """Writes the table of a type; gives its number of rows."""
    attributes = list(entity_type.attributes.values())
    readable = " ".join(f"WHEN {text(a.name)} THEN {read(a, 'value')} IS NOT NULL" for a in attributes)
    many = ", ".join(text(a.name) for a in attributes if a.many) or "''"
    connection.execute(f"""
CREATE OR REPLACE TABLE rows AS
SELECT said.*, CASE relation {readable} ELSE FALSE END AND (relation <> 'name' OR value = entities.name) AS readable
FROM said JOIN entities ON entities.id = subject
WHERE type = {text(entity_type.name)} AND subject_type = {text(entity_type.name)};
CREATE OR REPLACE TABLE chosen AS
SELECT *, readable AND (relation IN ({many}) OR 1 = row_number() OVER (PARTITION BY subject, relation, readable
  ORDER BY confidence DESC, len(evidence) DESC, encode(value))) AS shown
FROM rows""")
    report_unreadable(connection, entity_type)
    parts = [part for a in attributes if a.name != "name" for part in attribute_columns(a)]
    parts.append(f"any_value(evidence) FILTER (shown AND relation = 'name') AS {quoted(companion('name'))}")
    own = f"""
CREATE OR REPLACE TABLE pivoted AS
SELECT subject, {", ".join(parts)}, in_order(flatten(list(evidence) FILTER (shown))) AS _evidence,
  min(confidence) FILTER (shown) AS _confidence, max(updated) AS _updated, list_sort(list(id)) AS _triples
FROM chosen GROUP BY subject"""
    connection.execute(own)
    shown = ", ".join(f"{type_column(c)} AS {quoted(c.stored)}" for c in table.columns)
    cited = ", ".join(quoted(c.citations) for c in table.columns if c.citations and c.name != "name")
    name = f"coalesce({quoted(companion('name'))}, pivoted._evidence, []) AS {quoted(companion('name'))}"
    return copy(
        connection,
        f"""
SELECT {", ".join(part for part in (shown, name, cited) if part)}, coalesce(_triples, []) AS _triples
FROM entities LEFT JOIN pivoted ON subject = entities.id
WHERE type = {text(entity_type.name)} ORDER BY encode(name), entities.id""",
        path,
    )


def attribute_columns(attribute: Attribute) -> tuple[str, str]:
    """The aggregates that make the column of an attribute, and that of its citations."""
    here = f"FILTER (shown AND relation = {text(attribute.name)})"
    name, cited = quoted(attribute.name), quoted(companion(attribute.name))
    if attribute.many:
        value = read(attribute, "value")
        return (
            f"list({value} ORDER BY {value}) {here} AS {name}",
            f"in_order(flatten(list(evidence) {here})) AS {cited}",
        )
    return f"any_value({read(attribute, 'value')}) {here} AS {name}", f"any_value(evidence) {here} AS {cited}"


def type_column(column: Column) -> str:
    own = {
        "name": "entities.name",
        "_id": "entities.id",
        "_aliases": "entities.aliases",
        "_page": "entities.page",
        "_documents": "entities.documents",
        "_evidence": "coalesce(pivoted._evidence, [])",
        "_updated": "greatest(entities.updated, pivoted._updated)",
    }
    return own.get(column.name, f"pivoted.{quoted(column.stored)}")


def report_unreadable(connection: duckdb.DuckDBPyConnection, entity_type: EntityType) -> None:
    """Values that were admitted under another ontology and cannot be read under this one are left out, not lost."""
    found = connection.execute("""SELECT relation, count(*), min(value) FROM chosen
        WHERE NOT readable AND relation <> 'name' GROUP BY relation ORDER BY relation""").fetchall()
    for relation, count, example in found:
        message = "%s.%s: %d values such as %r are not of the attribute's type and are left out of SELECT"
        logger.warning(message, entity_type.name, relation, count, example)


# Relations


def stage_relation(connection: duckdb.DuckDBPyConnection, store: Store, relation: Relation) -> None:
    """The triples of a relation, each attribute as a list of canonical texts; references as entity ids."""
    attributes = list(relation.attributes.values())
    fields = "".join(f", {quoted(a.name)} VARCHAR[]" for a in attributes)
    connection.execute(f"""CREATE OR REPLACE TABLE links (id VARCHAR, subject VARCHAR, subject_type VARCHAR,
        object VARCHAR, object_type VARCHAR, evidence VARCHAR[], confidence DOUBLE, updated BIGINT{fields})""")
    columns = ["id", "subject", "subject_type", "object", "object_type", "evidence", "confidence", "updated"]
    for batch in store.scan_triples(relation.name):
        rows = [json.loads(row or "{}") for row in batch.column("attributes").to_pylist()]
        table = pa.Table.from_batches([batch]).select(columns)
        for attribute in attributes:
            values = pa.array([texts_of(row.get(attribute.name)) for row in rows], pa.list_(pa.string()))
            table = table.append_column(attribute.name, values)
        insert(connection, "INSERT INTO links SELECT * FROM batch WHERE object IS NOT NULL", table)


def texts_of(value: Any) -> list[str] | None:
    """The canonical texts of an attribute's value in the JSON of ``graph.store.TRIPLE_COLUMNS``."""
    if value is None:
        return None
    values = value if isinstance(value, list) else [value]
    return [v["@"] if isinstance(v, dict) else canonical_text(v) for v in values]


def write_relation(
    connection: duckdb.DuckDBPyConnection, relation: Relation, table: Table, types: Iterable[str], path: Path
) -> int:
    """Writes the table of a relation; ``types`` are the Parquet files of the types, where the names are read."""
    connection.execute("CREATE OR REPLACE TABLE names (id VARCHAR, name VARCHAR)")
    for file in types:
        connection.execute(f"INSERT INTO names SELECT _id, name FROM read_parquet({text(file)})")
    attributes = list(relation.attributes.values())
    typed = [f"{link_attribute(a, place)} AS {quoted(a.name)}" for place, a in enumerate(attributes)]
    joins = "".join(reference_join(a, place) for place, a in enumerate(attributes) if a.type == "reference")
    own = {
        "subject": "s.name",
        "object": "o.name",
        "_id": "links.id",
        "_subject_id": "links.subject",
        "_subject_type": "links.subject_type",
        "_object_id": "links.object",
        "_object_type": "links.object_type",
        "_documents": "documents_of(links.evidence)",
        "_evidence": "links.evidence",
        "_confidence": "links.confidence",
        "_updated": "links.updated",
    }
    hidden = [f"{own[c.name]} AS {c.stored}" for c in table.columns if c.hidden]
    parts = ["s.name AS subject", "o.name AS object", *typed, *hidden]
    query = f"""
SELECT {", ".join(parts)} FROM links JOIN names s ON s.id = links.subject JOIN names o ON o.id = links.object {joins}
ORDER BY encode(s.name), encode(o.name), links.id"""
    return copy(connection, query, path)


def link_attribute(attribute: Attribute, place: int) -> str:
    """The typed column of a relation's attribute."""
    column = f"links.{quoted(attribute.name)}"
    if attribute.type == "reference":
        return f"r{place}.shown" if attribute.many else f"r{place}.shown[1]"
    if attribute.many:
        return f"list_sort(list_transform({column}, lambda v: {read(attribute, 'v')}))"
    return read(attribute, f"{column}[1]")


def reference_join(attribute: Attribute, place: int) -> str:
    """The names of the entities that an attribute refers to, as a list for each triple."""
    return f"""
LEFT JOIN (SELECT l.id, list(n.name ORDER BY encode(n.name)) AS shown
  FROM (SELECT id, unnest({quoted(attribute.name)}) AS target FROM links) l JOIN names n ON n.id = l.target
  GROUP BY l.id) r{place} ON r{place}.id = links.id"""


# SQL


def copy(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> int:
    settings = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}"
    found = connection.execute(f"COPY ({query}) TO {text(str(path))} ({settings})").fetchone()
    assert found is not None
    return int(found[0])


def read(attribute: Attribute, expression: str) -> str:
    """SQL that reads a canonical text as the attribute's type; NULL where it cannot be read so."""
    to = SQL_TYPES.get(attribute.type)
    return f"TRY_CAST({expression} AS {to})" if to else expression


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
