"""Rows of a Ladybug store as records and as Arrow batches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graph.encode import ENTITY, decode_attributes, decode_claim, decode_value, plain_attributes
from graph.store import ENTITY_COLUMNS, TRIPLE_COLUMNS, DocumentState
from ontoloom.records import Document, Entity, EntityRef, Failure, Quarantined, Section, Triple

CHANGE_ROW = "c.id, c.time, c.documents, c.entities, c.triples"
DOCUMENT_STATE = "d.id, d.hash, d.fingerprint, d.status, d.kind, d.title, d.failures, d.said"
DOCUMENT = "d.id, d.source, d.title, d.text, d.sections, d.kind, d.language"
ENTITY_ROW = "e.id, e.type, e.name, e.aliases, e.page"
ENTITY_SCAN = f"{ENTITY_ROW}, e.updated"
TRIPLE_ROW = "t.id, t.subject, t.relation, t.object, t.value, t.kind, t.attributes, t.identifying"
TRIPLE_SCAN = "t.id, t.subject, t.subject_type, t.relation, t.object, t.object_type, t.value, t.attributes, t.updated"
EVIDENCE_ROW = "d.id, v.`start`, v.`end`, v.extractor, v.source, v.confidence, v.ontology_version"
CITATION = "t.id, d.id + ':' + CAST(v.`start` AS STRING) + '-' + CAST(v.`end` AS STRING), v.confidence"
QUARANTINED = "d.id, q.claim, q.code, q.message, q.ontology_version"
MERGE = "m.entity, m.`into`, m.type, m.name, m.reason, m.id, m.undone"
NAMING_SCAN = "d.id, n.defines, e.id, e.type, n.name, n.aliases"
STATING_SCAN = (
    "d.id, d.kind = 'page', t.id, coalesce(v.said_triple, t.id), t.subject, t.subject_type, t.relation, t.object, "
    "t.object_type, t.value, v.kind, v.attributes, v.identifying, v.`start`, v.`end`, v.confidence"
)


def document_state(row: Sequence[Any]) -> DocumentState:
    document_id, content, fingerprint, status, kind, title, failures, said = row
    failed = tuple(Failure(*failure) for failure in json.loads(failures))
    return DocumentState(document_id, content, fingerprint, status, kind, title, failed, said)


def document(row: Sequence[Any]) -> Document:
    document_id, source, title, text, sections, kind, language = row
    spans = tuple(Section(*section) for section in json.loads(sections))
    return Document(document_id, source, title, text, spans, kind, language)


def entity(row: Sequence[Any]) -> Entity:
    return Entity(row[0], row[1], row[2], tuple(row[3]), row[4])


def triple(row: Sequence[Any]) -> Triple:
    _, subject, relation, target, value, kind, attributes, identifying = row
    found = EntityRef(target) if kind == ENTITY else decode_value(kind, value)
    names = tuple(identifying.split(",")) if identifying else ()
    return Triple(subject, relation, found, decode_attributes(attributes), names)


def quarantined(row: Sequence[Any]) -> Quarantined:
    return Quarantined(row[0], decode_claim(row[1]), *row[2:])


def sort_by_first(table: pa.Table) -> pa.Table:
    """The table in the order of its first column."""
    return table.rename_columns([str(i) for i in range(table.num_columns)]).sort_by("0")


def gather(edges: pa.Table, ids: pa.ChunkedArray[Any]) -> tuple[pa.Array[Any], pa.Array[Any]]:
    """Of rows (id, value, number): for each of ``ids``, its distinct values, sorted, and its highest number.

    An id without rows, which only others than us can have made, has no values and no number.
    """
    edges = edges.rename_columns(["id", "value", "number"])
    edges = edges.filter(pc.is_valid(edges["value"]))
    distinct = edges.group_by(["id", "value"]).aggregate([("number", "max")])
    distinct = distinct.sort_by([("id", "ascending"), ("value", "ascending")])
    known = distinct["id"].to_numpy()
    starts = np.flatnonzero(np.append(True, known[1:] != known[:-1])) if len(known) else np.arange(0)
    numbers = np.maximum.reduceat(distinct["number_max"].to_numpy(), starts).tolist() if len(known) else []
    # Behind the last of them stands what ids without rows get.
    lists = pa.ListArray.from_arrays([*starts.tolist(), len(known), len(known)], distinct["value"].combine_chunks())
    found = pc.index_in(ids.combine_chunks(), pa.array(known[starts], pa.string())).to_numpy(zero_copy_only=False)
    places = np.nan_to_num(found, nan=len(starts)).astype(np.int64)
    return lists.take(places), pa.array([*numbers, None]).take(places)


def entity_batches(entities: pa.Table, documents: pa.Table, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """``ENTITY_COLUMNS`` from rows of entities and rows (entity, document, any number)."""
    if not entities.num_rows:
        return iter(())
    entities = entities.rename_columns(["id", "type", "name", "aliases", "page", "updated"]).sort_by("id")
    named_by, _ = gather(documents, entities["id"])
    return batches_of(
        entities.append_column("documents", named_by).select(ENTITY_COLUMNS.names), ENTITY_COLUMNS, batch_rows
    )


def triple_batches(triples: pa.Table, citations: pa.Table, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """``TRIPLE_COLUMNS`` from rows of triples and rows (triple, citation, confidence)."""
    if not triples.num_rows:
        return iter(())
    names = ["id", "subject", "subject_type", "relation", "object", "object_type", "value", "attributes", "updated"]
    triples = triples.rename_columns(names).sort_by("id")
    evidence, confidence = gather(citations, triples["id"])
    if pc.any(pc.match_substring(triples["attributes"], '{"date":')).as_py():
        plain = [plain_attributes(str(text)) for text in triples["attributes"].to_pylist()]
        triples = triples.set_column(names.index("attributes"), "attributes", [plain])
    triples = triples.append_column("evidence", evidence).append_column("confidence", confidence)
    return batches_of(triples.select(TRIPLE_COLUMNS.names), TRIPLE_COLUMNS, batch_rows)


def batches_of(table: pa.Table, schema: pa.Schema, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """The rows of a table as a schema has them, column by column in its order."""
    if not table.num_rows:
        return iter(())
    return iter(table.rename_columns(schema.names).cast(schema).combine_chunks().to_batches(max_chunksize=batch_rows))
