"""Views that every ontology has: ``information_schema`` says what there is to ask for, ``coverage`` how much is known.

``information_schema`` has the columns of the SQL standard that matter here, and some that only an ontology can fill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from graph.functions import BOOLEAN
from graph.pivot import SQL_TYPES, quoted, text
from graph.scopes import MAIN
from graph.tables import NUMBER, TEXT, TEXTS, Column, Kind, Table
from ontology.schema import Ontology

INFORMATION_SCHEMA = "information_schema"

SQL_TYPES_OF_FAMILIES = {"number": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE"}


def view(name: str, about: str, /, **columns: Kind) -> Table:
    return Table(name, "view", tuple(Column(n, kind, n) for n, kind in columns.items()), about)


TABLES = view(
    f"{INFORMATION_SCHEMA}.tables",
    "Every table that can be read.",
    table_catalog=TEXT,
    table_schema=TEXT,
    table_name=TEXT,
    table_type=TEXT,
    kind=TEXT,
    is_a=TEXT,
    subjects=TEXTS,
    objects=TEXTS,
    description=TEXT,
)
COLUMNS = view(
    f"{INFORMATION_SCHEMA}.columns",
    "Every column of every table, hidden ones included.",
    table_catalog=TEXT,
    table_schema=TEXT,
    table_name=TEXT,
    column_name=TEXT,
    ordinal_position=NUMBER,
    is_nullable=TEXT,
    data_type=TEXT,
    value_type=TEXT,
    many=BOOLEAN,
    unit=TEXT,
    allowed_values=TEXTS,
    refers_to=TEXTS,
    required=BOOLEAN,
    is_hidden=TEXT,
    description=TEXT,
)
COVERAGE = view(
    "coverage",
    "For how many entities of a type, or statements of a relation, something is known.",
    table_name=TEXT,
    attribute=TEXT,
    kind=TEXT,
    entities=NUMBER,
    known=NUMBER,
    unknown=NUMBER,
    share=NUMBER,
)
VIEWS = (COVERAGE, TABLES, COLUMNS)

ALWAYS_KNOWN = ("name", "subject", "object", "_id")


# information_schema


def information_rows(view: Table, ontology: Ontology, tables: Sequence[Table]) -> pa.Table:
    """The rows of one of its views."""
    if view is TABLES:
        rows = [table_row(ontology, table) for table in tables]
    else:
        rows = [row for table in tables for row in column_rows(ontology, table)]
    values = zip(*rows, strict=True)
    arrays = [pa.array(v, arrow_type(c.kind)) for v, c in zip(values, view.columns, strict=True)]
    return pa.Table.from_arrays(arrays, names=[c.stored for c in view.columns])


def arrow_type(kind: Kind) -> pa.DataType:
    types: dict[str, pa.DataType] = {"number": pa.int64(), "boolean": pa.bool_()}
    one = types.get(kind.family, pa.string())
    return pa.list_(one) if kind.many else one


def table_row(ontology: Ontology, table: Table) -> tuple[Any, ...]:
    schema, name = schema_and_name(table)
    relation = ontology.relations.get(table.name) if table.of == "relation" else None
    parent = ontology.types[table.name].parent or None if table.of == "type" else None
    return (
        ontology.name,
        schema,
        name,
        "VIEW" if table.of == "view" else "BASE TABLE",
        table.of,
        parent,
        list(relation.domain) if relation else None,
        list(relation.range) if relation else None,
        table.description or None,
    )


def column_rows(ontology: Ontology, table: Table) -> Iterator[tuple[Any, ...]]:
    schema, name = schema_and_name(table)
    for place, column in enumerate(table.columns, 1):
        attribute = column.kind.attribute
        yield (
            ontology.name,
            schema,
            name,
            column.name,
            place,
            "NO" if column.name in ALWAYS_KNOWN else "YES",
            sql_type(column.kind),
            column.type,
            column.kind.many,
            column.kind.unit or None,
            [v.name for v in attribute.values] if attribute and attribute.values else None,
            list(attribute.targets) if attribute and attribute.targets else None,
            attribute.required if attribute else column.name in ALWAYS_KNOWN,
            "YES" if column.hidden else "NO",
            (attribute.description if attribute else HIDDEN.get(column.name)) or None,
        )


def schema_and_name(table: Table) -> tuple[str, str]:
    schema, _, name = table.name.rpartition(".") if table.of == "view" else ("", "", table.name)
    return schema or MAIN, name


def sql_type(kind: Kind) -> str:
    """The type that the values of a column have in SQL."""
    types = SQL_TYPES if kind.attribute else SQL_TYPES_OF_FAMILIES
    one = types.get(kind.attribute.type if kind.attribute else kind.family, "VARCHAR")
    return f"{one}[]" if kind.many else one


HIDDEN = {
    "_id": "The entity's or statement's own key.",
    "_type": "The most specific type of the entity.",
    "_aliases": "Other names.",
    "_page": "The wiki page that defines it.",
    "_documents": "The documents that the row rests on.",
    "_evidence": "Where its values are said, as document:start-end.",
    "_confidence": "That of its least certain value, from 0 to 1.",
    "_updated": "The number of the change that last touched it.",
    "_subject_id": "The key of the subject.",
    "_subject_type": "The type of the subject.",
    "_object_id": "The key of the object.",
    "_object_type": "The type of the object.",
}


# coverage


def coverage_sql(ontology: Ontology, tables: Sequence[Table], rows: Callable[[Table], str]) -> str:
    """SQL of a FROM item: what is known of each attribute of a table, and of each relation that a type may start."""
    by_name = {(t.of, t.name): t for t in tables}
    parts = [attributes_sql(t, rows(t)) for t in tables if attributes_of(t)]
    for relation in ontology.relations.values():
        links = rows(by_name["relation", relation.name])
        for name in relation.domain:
            types = ", ".join(text(t) for t in ontology.subtypes(name))
            known = f"SELECT count(DISTINCT _subject_id) FROM {links} WHERE _subject_type IN ({types})"
            parts.append(
                f"SELECT {text(name)} AS table_name, {text(relation.name)} AS attribute, 'relation' AS kind, "
                f"count(*) AS entities, ({known}) AS known FROM {rows(by_name['type', name])}"
            )
    listed = "table_name, attribute, kind, entities, known"
    return f"""(SELECT {listed}, entities - known AS unknown, known / nullif(entities, 0) AS share
FROM ({" UNION ALL ".join(parts) or NOTHING}))"""


NOTHING = "SELECT '' AS table_name, '' AS attribute, '' AS kind, 0 AS entities, 0 AS known WHERE FALSE"


def attributes_sql(table: Table, rows: str) -> str:
    """One scan of a table, whose counts become a row for each attribute."""
    stored = attributes_of(table)
    names, counts = ", ".join(text(c.name) for c in stored), ", ".join(f"count({quoted(c.stored)})" for c in stored)
    return (
        f"SELECT {text(table.name)} AS table_name, unnest([{names}]) AS attribute, 'attribute' AS kind, "
        f"count(*) AS entities, unnest([{counts}]) AS known FROM {rows}"
    )


def attributes_of(table: Table) -> list[Column]:
    return [c for c in table.columns if not c.hidden and c.name not in ALWAYS_KNOWN]
