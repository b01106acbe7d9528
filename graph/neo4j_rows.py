"""Rows of a Neo4j store as Arrow batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from graph.encode import plain_attributes
from graph.store import ENTITY_COLUMNS, TRIPLE_COLUMNS

ENTITY_SCAN = "e.id, e.type, e.name, e.aliases, e.page, [(e)<-[:_NAMES]-(d:_Document) | d.id], e.updated"
TRIPLE_SCAN = (
    "t.id, t.subject, t.subject_type, t.relation, t.object, t.object_type, t.value, t.attributes, "
    "[(t)-[v:_EVIDENCE]->(d:_Document) | [d.id, v.start, v.end, v.confidence]], t.updated"
)


def record_batch(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Rows in the order of a schema's columns."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def entity_batch(rows: Sequence[list[Any]]) -> pa.RecordBatch:
    """Rows of ``ENTITY_SCAN`` as ENTITY_COLUMNS."""
    return record_batch([(*row[:5], sorted(set(row[5])), row[6]) for row in rows], ENTITY_COLUMNS)


def triple_batch(rows: Sequence[list[Any]]) -> pa.RecordBatch:
    """Rows of ``TRIPLE_SCAN`` as TRIPLE_COLUMNS."""
    return record_batch([_triple_row(*row) for row in rows], TRIPLE_COLUMNS)


def _triple_row(*row: Any) -> tuple[Any, ...]:
    *ends, attributes, pieces, updated = row
    citations = sorted({f"{document}:{start}-{end}" for document, start, end, _ in pieces})
    # Without evidence, which only others than us can have taken away, there is no confidence.
    confidence = max((piece[3] for piece in pieces), default=None)
    return (*ends, plain_attributes(attributes), citations, confidence, updated)
