"""Turns entities and triples into the rows of tables, in an in-memory DuckDB that spills to a folder.

All rows are made by these queries, those of whole tables and the few that a change touches. They read relations that
whoever runs them provides: ``entities`` (``ENTITIES``), ``said`` (``SAID``), ``links`` (``link_columns``) and ``names``
(``NAMES``). Where several values compete for an attribute that holds one, the one with the highest confidence is shown;
of equals the one with the most evidence, then the one with the smallest canonical text.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from graph.tables import Column, Table, companion
from ontology.schema import Attribute, EntityType, Relation
from ontoloom.records import canonical_text

MEMORY = "1GB"
SQL_TYPES = {
    "integer": "BIGINT", "number": "DOUBLE", "quantity": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE",
    "datetime": "TIMESTAMP",
}  # fmt: skip
FORMAT = "FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE 61440"
"""Half as much again is read in a second as with zstd, from twice the bytes: ids and names hardly compress."""
ORDER = {"type": "encode(name), _id", "relation": "encode(subject), encode(object), _id"}
"""How the rows of a file are ordered, so that a filter by name reads few of its row groups."""
logger = logging.getLogger(__name__)

ENTITIES = """id VARCHAR, type VARCHAR, name VARCHAR, aliases VARCHAR[], page VARCHAR, documents VARCHAR[],
  updated BIGINT"""
SAID = """id VARCHAR, subject VARCHAR, subject_type VARCHAR, relation VARCHAR, value VARCHAR, evidence VARCHAR[],
  confidence DOUBLE, updated BIGINT"""
NAMES = "id VARCHAR, name VARCHAR"
VALUE = ("id", "subject", "subject_type", "relation", "value", "evidence", "confidence", "updated")
LINK = {
    **dict.fromkeys(("id", "subject", "subject_type", "object", "object_type"), pa.string()),
    **{"evidence": pa.list_(pa.string()), "confidence": pa.float64(), "updated": pa.int64()},
}
MACROS = """
CREATE MACRO span(citation) AS string_split(citation, ':')[-1];
CREATE MACRO document_of(citation) AS left(citation, length(citation) - length(span(citation)) - 1);
CREATE MACRO documents_of(citations) AS list_sort(list_distinct(list_transform(citations, lambda c: document_of(c))));
CREATE MACRO in_order(citations) AS CASE WHEN len(citations) < 2 THEN citations ELSE list_transform(list_sort(
  list_transform(list_distinct(citations), lambda c: {'document': document_of(c),
    'start': split_part(span(c), '-', 1)::BIGINT, 'end': split_part(span(c), '-', 2)::BIGINT, 'citation': c})),
  lambda p: p.citation) END;
"""
"""Citations are written ``document:start-end``; in order, they are so by number."""


def open_duckdb(spill: Path) -> duckdb.DuckDBPyConnection:
    """An empty database in which the queries can run."""
    connection = duckdb.connect(
        ":memory:",
        config={"memory_limit": MEMORY, "temp_directory": str(spill), "autoinstall_known_extensions": False},
    )
    connection.execute(MACROS)
    return connection


# Types


def type_rows(entity_type: EntityType, table: Table) -> str:
    """A query over ``entities`` and ``said`` for the rows of a type's table."""
    attributes = list(entity_type.attributes.values())
    many = ", ".join(text(a.name) for a in attributes if a.many) or "''"
    parts = [part for a in attributes if a.name != "name" for part in attribute_columns(a)]
    parts.append(f"any_value(evidence) FILTER (shown AND relation = 'name') AS {quoted(companion('name'))}")
    shown = [f"{type_column(c)} AS {quoted(c.stored)}" for c in table.columns]
    if all(c.stored != "_type" for c in table.columns):
        shown.append("entities.type AS _type")
    cited = [quoted(c.citations) for c in table.columns if c.citations and c.name != "name"]
    name = f"coalesce({quoted(companion('name'))}, pivoted._evidence, []) AS {quoted(companion('name'))}"
    return f"""
WITH chosen AS (
  SELECT *, readable AND (relation IN ({many}) OR 1 = row_number() OVER (PARTITION BY subject, relation, readable
    ORDER BY confidence DESC, len(evidence) DESC, encode(value))) AS shown
  FROM ({values(entity_type)})),
pivoted AS (
  SELECT subject, {", ".join(parts)}, in_order(flatten(list(evidence) FILTER (shown))) AS _evidence,
    min(confidence) FILTER (shown) AS _confidence, max(updated) AS _updated, list_sort(list(id)) AS _triples
  FROM chosen GROUP BY subject)
SELECT {", ".join((*shown, name, *cited))}, coalesce(_triples, []) AS _triples
FROM entities LEFT JOIN pivoted ON subject = entities.id WHERE type = {text(entity_type.name)}"""


def values(entity_type: EntityType) -> str:
    """A query for the values of a type's attributes, and whether they can be read as what the attributes hold."""
    attributes = list(entity_type.attributes.values())
    readable = " ".join(f"WHEN {text(a.name)} THEN {read(a, 'value')} IS NOT NULL" for a in attributes)
    names = ", ".join(text(a.name) for a in attributes) or "''"
    return f"""
SELECT said.*, CASE relation {readable or "WHEN '' THEN FALSE"} END AND (relation <> 'name' OR value = entities.name)
  AS readable
FROM said JOIN entities ON entities.id = subject
WHERE type = {text(entity_type.name)} AND subject_type = {text(entity_type.name)} AND relation IN ({names})"""


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
        "_type": "entities.type",
        "_aliases": "entities.aliases",
        "_page": "entities.page",
        "_documents": "entities.documents",
        "_evidence": "coalesce(pivoted._evidence, [])",
        "_updated": "greatest(entities.updated, pivoted._updated)",
    }
    return own.get(column.name, f"pivoted.{quoted(column.name)}")


def report_unreadable(connection: duckdb.DuckDBPyConnection, entity_type: EntityType) -> None:
    """Values that were admitted under another ontology and cannot be read under this one are left out, not lost."""
    if not any(a.type in SQL_TYPES for a in entity_type.attributes.values()):
        return
    found = connection.execute(f"""SELECT relation, count(*), min(value) FROM ({values(entity_type)})
        WHERE NOT readable AND relation <> 'name' GROUP BY relation ORDER BY relation""").fetchall()
    for relation, count, example in found:
        message = "%s.%s: %d values such as %r are not of the attribute's type and are left out of SELECT"
        logger.warning(message, entity_type.name, relation, count, example)


# Relations


def link_columns(relation: Relation) -> pa.Schema:
    """The columns of ``links``: those of a triple, and each attribute as a list of canonical texts."""
    return pa.schema([*LINK.items(), *((name, pa.list_(pa.string())) for name in relation.attributes)])


def links(relation: Relation, triples: pa.RecordBatch | pa.Table) -> pa.Table:
    """Those of the triples (``graph.store.TRIPLE_COLUMNS``) that are links of a relation; references as entity ids."""
    table = triples if isinstance(triples, pa.Table) else pa.Table.from_batches([triples])
    mine = pc.and_(pc.equal(table["relation"], pa.scalar(relation.name)), pc.is_valid(table["object"]))
    table = table.filter(mine)
    rows = [json.loads(row or "{}") for row in table["attributes"].to_pylist()]
    table = table.select(list(LINK))
    for name in relation.attributes:
        texts = pa.array([texts_of(row.get(name)) for row in rows], pa.list_(pa.string()))
        table = table.append_column(name, texts)
    return table.cast(link_columns(relation))


def texts_of(value: Any) -> list[str] | None:
    """The canonical texts of an attribute's value in the JSON of ``graph.store.TRIPLE_COLUMNS``."""
    if value is None:
        return None
    values = value if isinstance(value, list) else [value]
    return [v["@"] if isinstance(v, dict) else canonical_text(v) for v in values]


def relation_rows(relation: Relation, table: Table) -> str:
    """A query over ``links`` and ``names`` for the rows of a relation's table."""
    attributes = list(relation.attributes.values())
    joins = "".join(reference_join(a, place) for place, a in enumerate(attributes) if a.type == "reference")
    own = {
        "subject": "s.name",
        "object": "o.name",
        **{a.name: link_attribute(a, place) for place, a in enumerate(attributes)},
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
    return f"""
SELECT {", ".join(f"{own[c.name]} AS {quoted(c.stored)}" for c in table.columns)}
FROM links JOIN names s ON s.id = links.subject JOIN names o ON o.id = links.object {joins}"""


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
    """Writes the rows of a query to a Parquet file; gives their number."""
    found = connection.execute(f"COPY ({query}) TO {text(str(path))} ({FORMAT})").fetchone()
    assert found is not None
    return int(found[0])


def insert(connection: duckdb.DuckDBPyConnection, statement: str, batch: pa.RecordBatch | pa.Table) -> None:
    """Runs an INSERT that reads from ``batch``."""
    with reading(connection, batch=batch):
        connection.execute(statement)


@contextmanager
def reading(connection: duckdb.DuckDBPyConnection, **tables: pa.RecordBatch | pa.Table) -> Iterator[None]:
    """Lets a connection read Arrow tables by name."""
    for name, table in tables.items():
        connection.register(name, table if isinstance(table, pa.Table) else pa.Table.from_batches([table]))
    try:
        yield
    finally:
        for name in tables:
            connection.unregister(name)


def read(attribute: Attribute, expression: str) -> str:
    """SQL that reads a canonical text as the attribute's type; NULL where it cannot be read so."""
    to = SQL_TYPES.get(attribute.type)
    return f"TRY_CAST({expression} AS {to})" if to else expression


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
