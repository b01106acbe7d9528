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
DOCUMENT_STATE = "d.id, d.hash, d.fingerprint, d.status, d.kind, d.title, d.failures"
DOCUMENT = "d.id, d.source, d.title, d.text, d.sections, d.kind, d.language"
ENTITY_ROW = "e.id, e.type, e.name, e.aliases, e.page"
TRIPLE_ROW = "t.id, t.subject, t.relation, t.object, t.value, t.kind, t.attributes, t.identifying"
TRIPLE_SCAN = "t.id, t.subject, t.subject_type, t.relation, t.object, t.object_type, t.value, t.attributes, t.updated"
EVIDENCE_ROW = "d.id, v.`start`, v.`end`, v.extractor, v.source, v.confidence, v.ontology_version"
CITATION = "t.id, d.id + ':' + CAST(v.`start` AS STRING) + '-' + CAST(v.`end` AS STRING), v.confidence"


def document_state(row: Sequence[Any]) -> DocumentState:
    document_id, content, fingerprint, status, kind, title, failures = row
    failed = tuple(Failure(*failure) for failure in json.loads(failures))
    return DocumentState(document_id, content, fingerprint, status, kind, title, failed)


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


def gather(edges: pa.Table) -> tuple[pa.Array[Any], pa.Array[Any]]:
    """Of rows (id, value, number): for each id, in order, its distinct values, sorted, and its highest number."""
    distinct = edges.rename_columns(["id", "value", "number"]).group_by(["id", "value"]).aggregate([("number", "max")])
    distinct = distinct.sort_by([("id", "ascending"), ("value", "ascending")])
    ids = distinct["id"].to_numpy()
    starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    lists = pa.ListArray.from_arrays(np.append(starts, len(ids)).tolist(), distinct["value"].combine_chunks())
    return lists, pa.array(np.maximum.reduceat(distinct["number_max"].to_numpy(), starts))


def entity_batches(entities: pa.Table, documents: pa.Table, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """``ENTITY_COLUMNS`` from rows of entities and rows (entity, document, any number)."""
    if not entities.num_rows:
        return iter(())
    entities = entities.rename_columns(["id", "name", "aliases", "page", "updated"]).sort_by("id")
    return _batches(entities.append_column("documents", gather(documents)[0]), ENTITY_COLUMNS, batch_rows)


def triple_batches(triples: pa.Table, citations: pa.Table, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """``TRIPLE_COLUMNS`` from rows of triples and rows (triple, citation, confidence)."""
    if not triples.num_rows:
        return iter(())
    names = ["id", "subject", "subject_type", "relation", "object", "object_type", "value", "attributes", "updated"]
    triples = triples.rename_columns(names).sort_by("id")
    evidence, confidence = gather(citations)
    if pc.any(pc.match_substring(triples["attributes"], '{"date":')).as_py():
        plain = [plain_attributes(str(text)) for text in triples["attributes"].to_pylist()]
        triples = triples.set_column(names.index("attributes"), "attributes", [plain])
    triples = triples.append_column("evidence", evidence).append_column("confidence", confidence)
    return _batches(triples, TRIPLE_COLUMNS, batch_rows)


def _batches(table: pa.Table, schema: pa.Schema, batch_rows: int) -> Iterator[pa.RecordBatch]:
    ordered = table.select(schema.names).cast(schema).combine_chunks()
    return iter(ordered.to_batches(max_chunksize=batch_rows))
