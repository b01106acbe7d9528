"""The one transaction in which documents are put and removed, with all that follows from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graph import ladybug_schema as schema
from graph.derive import Naming
from graph.digest import content_hash
from graph.encode import Statement, decode_attributes, encode_claim
from graph.ladybug_revise import (
    Ends,
    Revised,
    Typed,
    extracted_ends,
    read_ends,
    read_types,
    revise_entities,
    revise_triples,
)
from graph.ladybug_said import Said, extracted_said, read_said
from graph.ladybug_session import INTEGER, NUMBER, Row, Session, Table, database_type, quote
from graph.verify import Verified
from ontology.schema import Ontology
from ontoloom.errors import StoreError
from ontoloom.records import EntityRef, Value

LONG_TEXT = 2**20
Batch = list[tuple[Table, Sequence[Row]]]


@dataclass(frozen=True, slots=True)
class Revision:
    """All that one transaction changes.

    ``put`` is by content hash, which the store keeps to tell what it is given again. ``known`` are the documents that
    were there, ``removed`` those that go.
    """

    number: int
    put: Mapping[str, Verified]
    known: Sequence[str]
    removed: Sequence[str]
    said: Said
    types: Mapping[str, Typed]
    entities: Mapping[str, Revised[Naming]]
    triples: Mapping[str, Revised[Statement]]
    ends: Mapping[str, Ends]


def replace(
    session: Session, ontology: Ontology, number: int, *, put: Sequence[Verified] = (), remove: Sequence[str] = ()
) -> bool:
    """Writes change ``number`` in one transaction; False where there was nothing to change.

    Raises StoreError for a document to remove that isn't there, ValueError for an entity that changes its type.
    """
    with session.transaction():
        revision = _revise(session, number, {content_hash(one): one for one in put}, sorted(set(remove)))
        if revision.put or revision.removed:
            _delete(session, revision)
            _update(session, revision)
            _insert(session, ontology, revision)
            _write_long_texts(session, revision)
            return True
    return False


def _revise(session: Session, number: int, put: Mapping[str, Verified], removed: Sequence[str]) -> Revision:
    stored = {
        document: (kind, said)
        for document, kind, said in session.look_up(
            "UNWIND $ids AS x MATCH (d:_Document) WHERE d.id = x RETURN d.id, d.kind, d.said",
            [*(one.extraction.document.id for one in put.values()), *removed],
        )
    }
    for document in removed:
        if document not in stored:
            raise StoreError(f"there is no document '{document}' in the store", code="unknown-document")
    same = {said for _, said in stored.values()}
    put = {said: one for said, one in put.items() if said not in same}
    changed = [*(one.extraction.document.id for one in put.values()), *removed]
    kinds = {document: stored[document][0] for document in changed if document in stored}
    old, new = read_said(session, kinds), extracted_said(list(put.values()))
    types = read_types(session, old, list(put.values()))
    triples = revise_triples(session, old, new)
    given = extracted_ends(list(put.values()), types)
    ends = {t: given[t] for t in triples if t in given} | read_ends(session, [t for t in triples if t not in given])
    entities = revise_entities(session, old, new, types)
    return Revision(number, put, list(kinds), removed, new, types, entities, triples, ends)


# Removing


def _delete(session: Session, revision: Revision) -> None:
    """Removes what the documents said, and what is gone for it."""
    if revision.known:
        of_document = "UNWIND $ids AS x MATCH (d:_Document) WHERE d.id = x OPTIONAL MATCH (d)"
        session.run(f"{of_document}-[r:_NAMES]->(:_Entity) DELETE r", ids=revision.known)
        session.run(f"{of_document}<-[r:_EVIDENCE]-(:_Triple) DELETE r", ids=revision.known)
        session.run(f"{of_document}-[:_REFUSED]->(q:_Quarantined) DETACH DELETE q", ids=revision.known)
    replaced = [t for t, r in revision.triples.items() if r.before is not None and r.before != r.after]
    for (relation, subject_type, object_type), triples in _by_table(revision, replaced).items():
        session.run(
            f"UNWIND $rows AS x MATCH (a:{quote(subject_type)}) WHERE a.id = x.a "
            f"OPTIONAL MATCH (a)-[r:{quote(relation)}]->(:{quote(object_type)}) WHERE r._triple = x.t DELETE r",
            rows=[{"a": revision.ends[t].subject, "t": t} for t in triples],
        )
    _delete_nodes(session, schema.TRIPLE.name, [t for t, r in revision.triples.items() if r.after is None])
    gone = [entity for entity, r in revision.entities.items() if r.after is None]
    for type_name, entities in _by_type(revision, gone).items():
        _delete_nodes(session, type_name, entities)
    _delete_nodes(session, schema.ENTITY.name, gone)
    _delete_nodes(session, schema.DOCUMENT.name, revision.removed)


def _delete_nodes(session: Session, table: str, ids: Sequence[str]) -> None:
    if ids:
        session.run(f"UNWIND $ids AS x MATCH (n:{quote(table)}) WHERE n.id = x DETACH DELETE n", ids=ids)


# Changing in place


def _update(session: Session, revision: Revision) -> None:
    """Changes the rows of documents, entities and triples that stay."""
    known = set(revision.known)
    documents = [_document_row(revision, said) for said, one in revision.put.items() if _id(one) in known]
    session.update(schema.DOCUMENT, documents)
    renamed, touched = _kept(revision.entities)
    session.update(schema.ENTITY, [_entity_row(revision, entity) for entity in renamed])
    _touch(session, schema.ENTITY, touched, revision.number)
    for type_name, entities in _by_type(revision, renamed).items():
        session.update(schema.entity_table(type_name), [_view_row(revision, entity) for entity in entities])
    restated, touched = _kept(revision.triples)
    session.update(schema.TRIPLE, [_triple_row(revision, triple) for triple in restated])
    _touch(session, schema.TRIPLE, touched, revision.number)


def _kept(revised: Mapping[str, Revised[Any]]) -> tuple[list[str], list[str]]:
    """What stays: those that differ themselves, and those of which only the documents do."""
    kept = {key: one for key, one in revised.items() if one.before is not None and one.after is not None}
    different = [key for key, one in kept.items() if one.before != one.after]
    return different, [key for key, one in kept.items() if one.before == one.after]


def _touch(session: Session, table: Table, ids: Sequence[str], number: int) -> None:
    if ids:
        statement = f"UNWIND $ids AS x MATCH (n:{quote(table.name)}) WHERE n.id = x SET n.updated = $number"
        session.run(statement, ids=ids, number=number)


# Adding


def _insert(session: Session, ontology: Ontology, revision: Revision) -> None:
    """Adds what is new, and all that the documents say now."""
    known = set(revision.known)
    documents = [_document_row(revision, said) for said, one in revision.put.items() if _id(one) not in known]
    entities = [e for e, r in revision.entities.items() if r.before is None]
    triples = [t for t, r in revision.triples.items() if r.before is None]
    batch: Batch = [
        (schema.DOCUMENT, documents),
        (schema.ENTITY, [_entity_row(revision, e) for e in entities]),
        (schema.NAME, _revise_names(session, revision)),
        (schema.TRIPLE, [_triple_row(revision, t) for t in triples]),
    ]
    for type_name, group in _by_type(revision, entities).items():
        batch.append((schema.entity_table(type_name), [_view_row(revision, e) for e in group]))
    batch += [
        (schema.NAMES, _naming_rows(revision.said)),
        (schema.ABOUT, [(t, end) for t in triples for end in _about(revision.ends[t])]),
        (schema.EVIDENCE, _evidence_rows(revision.said)),
        *_view_edges(ontology, revision),
        *_quarantine(revision),
        (schema.CHANGE, [_change_row(revision)]),
    ]
    session.insert(batch)


def _revise_names(session: Session, revision: Revision) -> list[Row]:
    """Brings the names up to date that lead to entities already; returns the rows of those that are new."""
    gained: dict[str, set[str]] = {}
    lost: dict[str, set[str]] = {}
    for entity, revised in revision.entities.items():
        before = revised.before.keys() if revised.before else set()
        after = revised.after.keys() if revised.after else set()
        for key in after - before:
            gained.setdefault(key, set()).add(entity)
        for key in before - after:
            lost.setdefault(key, set()).add(entity)
    keys = sorted(gained.keys() | lost.keys())
    stored = dict(session.look_up("UNWIND $ids AS x MATCH (n:_Name) WHERE n.id = x RETURN n.id, n.entities", keys))
    rows = {k: sorted((set(stored.get(k, ())) - lost.get(k, set())) | gained.get(k, set())) for k in keys}
    _delete_nodes(session, schema.NAME.name, [key for key, entities in rows.items() if not entities])
    session.update(schema.NAME, [(key, entities) for key, entities in rows.items() if entities and key in stored])
    return [(key, entities) for key, entities in rows.items() if entities and key not in stored]


def _view_edges(ontology: Ontology, revision: Revision) -> Batch:
    stated = [t for t, r in revision.triples.items() if r.after is not None and r.before != r.after]
    batch: Batch = []
    for (name, subject_type, object_type), triples in _by_table(revision, stated).items():
        if name in ontology.relations:  # else it is from an older ontology, and its table too
            table = schema.relation_table(ontology.relations[name], subject_type, object_type)
            batch.append((table, [_view_edge(table, revision, triple) for triple in triples]))
    return batch


def _view_edge(table: Table, revision: Revision, triple: str) -> Row:
    ends, after = revision.ends[triple], revision.triples[triple].after
    assert after is not None
    values: dict[str, list[Any]] = {}
    for name, value in decode_attributes(after[1]):
        values.setdefault(name, []).append(value)
    columns = [_view_value(values.get(name, []), kind) for name, kind in table.columns[1:]]
    return (ends.subject, ends.object, triple, *columns)


def _view_value(values: Sequence[EntityRef | Value], kind: str) -> Any:
    """Values as a column holds them; None where one does not fit, for the view is not the record."""
    plain: list[Any] = [value.id if isinstance(value, EntityRef) else value for value in values]
    base = database_type(kind).removesuffix("[]")
    if base == INTEGER and any(not -(2**63) <= value < 2**63 for value in plain):
        return None
    if base == NUMBER and any(abs(value) > 1e308 for value in plain):
        return None
    if kind.endswith("[]"):
        return plain
    return plain[0] if plain else None


# Rows, in the order of their tables' columns


def _document_row(revision: Revision, said: str) -> Row:
    extraction = revision.put[said].extraction
    d = extraction.document
    text = d.text if len(d.text) <= LONG_TEXT else ""
    sections = json.dumps([(s.name, s.start, s.end) for s in d.sections])
    failures = json.dumps([(f.where, f.code, f.message) for f in extraction.failures])
    return (
        d.id, d.source, d.title, d.kind, d.language, text, sections, d.hash, extraction.fingerprint,
        extraction.status, failures, said, revision.number,
    )  # fmt: skip


def _entity_row(revision: Revision, entity: str) -> Row:
    naming = revision.entities[entity].after
    assert naming is not None
    return (entity, revision.types[entity].type, naming.name, list(naming.aliases), naming.page, revision.number)


def _view_row(revision: Revision, entity: str) -> Row:
    naming = revision.entities[entity].after
    assert naming is not None
    return (entity, naming.name, list(naming.aliases), naming.page)


def _triple_row(revision: Revision, triple: str) -> Row:
    statement = revision.triples[triple].after
    assert statement is not None
    return (triple, *revision.ends[triple], *statement, revision.number)


def _naming_rows(said: Said) -> list[Row]:
    return [
        (document, entity, spelling.name, list(spelling.aliases), spelling.page is not None)
        for entity, by_document in said.entities.items()
        for document, spelling in by_document.items()
    ]


def _evidence_rows(said: Said) -> list[Row]:
    return [
        (e.triple, e.document, i, e.start, e.end, e.extractor, e.source, e.confidence, e.ontology_version,
         *stated.statement)
        for by_document in said.triples.values()
        for stated in by_document.values()
        for i, e in stated.evidence.items()
    ]  # fmt: skip


def _write_long_texts(session: Session, revision: Revision) -> None:
    """Texts that would be copied too often on the way in rows: one of 50 MB must fit into the buffer pool."""
    for one in revision.put.values():
        if len(one.extraction.document.text) > LONG_TEXT:
            document = one.extraction.document
            session.run("MATCH (d:_Document) WHERE d.id = $id SET d.text = $text", id=document.id, text=document.text)


def _quarantine(revision: Revision) -> Batch:
    refused = {i: q for one in revision.put.values() for i, q in one.quarantined.items()}
    rows = [(i, encode_claim(q.claim), q.code, q.message, q.ontology_version) for i, q in refused.items()]
    return [(schema.QUARANTINED, rows), (schema.REFUSED, [(q.document, i) for i, q in refused.items()])]


def _change_row(revision: Revision) -> Row:
    time = datetime.now(UTC).replace(tzinfo=None)
    documents = sorted({*revision.removed, *map(_id, revision.put.values())})
    return (revision.number, time, documents, sorted(revision.entities), sorted(revision.triples))


def _about(ends: Ends) -> set[str]:
    return {ends.subject} if ends.object is None else {ends.subject, ends.object}


def _by_table(revision: Revision, triples: Iterable[str]) -> dict[tuple[str, str, str], list[str]]:
    """Triples between entities by the view's table that holds them."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for triple in triples:
        ends = revision.ends[triple]
        if ends.object_type is not None:
            groups.setdefault((ends.relation, ends.subject_type, ends.object_type), []).append(triple)
    return groups


def _by_type(revision: Revision, entities: Iterable[str]) -> dict[str, list[str]]:
    """Entities by the view's table that holds them."""
    groups: dict[str, list[str]] = {}
    for entity in entities:
        groups.setdefault(revision.types[entity].type, []).append(entity)
    return groups


def _id(one: Verified) -> str:
    return one.extraction.document.id
