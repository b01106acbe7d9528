"""The rows of the record, and of the view beside it, that a revision brings: what every store writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import count
from typing import Any

from graph import record
from graph.encode import decode_attributes, encode_claim
from graph.record import INTEGER, NUMBER, Batch, Row, Table, plain_type
from graph.revise import Revised, Revision
from graph.said import Ends, Key, Stated
from ontology.schema import Ontology
from ontoloom.records import EntityRef, Value


@dataclass(frozen=True, slots=True)
class Gone:
    """Nodes to delete with all their edges, by the name of their table."""

    documents: Sequence[str]
    entities: Mapping[str, Sequence[str]]
    """By type."""
    triples: Sequence[str]
    names: Sequence[str]


def gone(revision: Revision) -> Gone:
    """The nodes that go."""
    return Gone(
        revision.removed,
        by_type(revision, [entity for entity, r in revision.entities.items() if r.after is None]),
        [triple for triple, r in revision.triples.items() if r.after is None],
        [key for key, (_, now) in revision.names.items() if not now],
    )


def touched(revision: Revision) -> dict[Table, list[str]]:
    """Nodes of which only the documents differ: nothing of their rows changes but ``updated``."""

    def same(revised: Mapping[str, Revised[Any]]) -> list[str]:
        return [key for key, one in revised.items() if one.before is not None and one.before == one.after]

    return {record.ENTITY: same(revision.entities), record.TRIPLE: same(revision.triples)}


def updates(revision: Revision) -> Batch:
    """Rows of nodes that stay and differ, with all their columns."""
    return ((table, rows) for table, rows in _updates(revision) if rows)


def inserts(ontology: Ontology, revision: Revision) -> Batch:
    """Rows of new nodes, then of all edges that come; those of a table are made when it is its turn."""
    return ((table, rows) for table, rows in _inserts(ontology, revision) if rows)


def _updates(revision: Revision) -> Batch:
    entities = [e for e, r in revision.entities.items() if r.before and r.after and r.before != r.after]
    triples = [t for t, r in revision.triples.items() if r.before and r.after and r.before != r.after]
    known = set(revision.known)
    documents = [said for said, one in revision.put.items() if one.extraction.document.id in known]
    yield record.ENTITY, [_entity_row(revision, e) for e in entities]
    yield record.TRIPLE, [_triple_row(revision, t) for t in triples]
    yield record.DOCUMENT, [_document_row(revision, said) for said in documents]
    yield record.NAME, [(key, now) for key, (was, now) in revision.names.items() if was and now]
    for type_name, group in by_type(revision, entities).items():
        yield record.entity_table(type_name), [_view_row(revision, e) for e in group]
    if revision.merge is not None and revision.merge.undone is not None:
        yield record.MERGE, [_merge_row(revision)]


def _inserts(ontology: Ontology, revision: Revision) -> Batch:
    known = set(revision.known)
    documents = [said for said, one in revision.put.items() if one.extraction.document.id not in known]
    entities = [e for e, r in revision.entities.items() if r.before is None]
    triples = [t for t, r in revision.triples.items() if r.before is None]
    yield record.DOCUMENT, [_document_row(revision, said) for said in documents]
    yield record.ENTITY, [_entity_row(revision, e) for e in entities]
    yield record.NAME, [(key, now) for key, (was, now) in revision.names.items() if not was and now]
    yield record.TRIPLE, [_triple_row(revision, t) for t in triples]
    for type_name, group in by_type(revision, entities).items():
        yield record.entity_table(type_name), [_view_row(revision, e) for e in group]
    yield record.NAMES, list(_naming_rows(revision))
    yield record.ABOUT, [(t, end) for t in triples for end in _about(revision.ends[t])]
    yield record.EVIDENCE, list(_evidence_rows(revision))
    yield from _view_edges(ontology, revision)
    yield from _quarantine(revision)
    yield record.PAST, list(_past_rows(revision))
    yield record.CHANGE, [_change_row(revision)]
    if revision.merge is not None and revision.merge.undone is None:
        yield record.MERGE, [_merge_row(revision)]


def replaced_view_edges(revision: Revision) -> dict[tuple[str, str, str], list[str]]:
    """Triples whose edge of the view goes, since they go or say something else: by relation and types of the ends."""
    return by_table(revision, [t for t, r in revision.triples.items() if r.before is not None and r.before != r.after])


def by_table(revision: Revision, triples: Iterable[str]) -> dict[tuple[str, str, str], list[str]]:
    """Triples between entities by the view's table that holds them."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for triple in triples:
        ends = revision.ends[triple]
        if ends.object_type is not None:
            groups.setdefault((ends.relation, ends.subject_type, ends.object_type), []).append(triple)
    return groups


def by_type(revision: Revision, entities: Iterable[str]) -> dict[str, list[str]]:
    """Entities by the view's table that holds them."""
    groups: dict[str, list[str]] = {}
    for entity in entities:
        groups.setdefault(revision.types[entity].type, []).append(entity)
    return groups


# The view


def _view_row(revision: Revision, entity: str) -> Row:
    naming = revision.entities[entity].after
    assert naming is not None
    return (entity, naming.name, list(naming.aliases), naming.page)


def _view_edges(ontology: Ontology, revision: Revision) -> Batch:
    stated = [t for t, r in revision.triples.items() if r.after is not None and r.before != r.after]
    for (name, subject_type, object_type), triples in by_table(revision, stated).items():
        if name in ontology.relations:  # else it is from an older ontology, and its table too
            table = record.relation_table(ontology.relations[name], subject_type, object_type)
            yield table, [_view_edge(table, revision, triple) for triple in triples]


def _view_edge(table: Table, revision: Revision, triple: str) -> Row:
    ends, after = revision.ends[triple], revision.triples[triple].after
    assert after is not None
    return (ends.subject, ends.object, triple, *_view_values(after[1], table.columns[1:]))


@lru_cache(maxsize=4096)
def _view_values(attributes: str, columns: tuple[tuple[str, str], ...]) -> Row:
    """Attributes as the columns of the view hold them."""
    values: dict[str, list[Any]] = {}
    for name, value in decode_attributes(attributes):
        values.setdefault(name, []).append(value)
    return tuple(_view_value(values.get(name, []), kind) for name, kind in columns)


def _view_value(values: Sequence[EntityRef | Value], kind: str) -> Any:
    """Values as a column holds them; None where one does not fit, for the view is not the record."""
    plain: list[Any] = [value.id if isinstance(value, EntityRef) else value for value in values]
    base = plain_type(kind).removesuffix("[]")
    if base == INTEGER and any(not -(2**63) <= value < 2**63 for value in plain):
        return None
    if base == NUMBER and any(abs(value) > 1e308 for value in plain):
        return None
    if kind.endswith("[]"):
        return plain
    return plain[0] if plain else None


# The record, in the order of its tables' columns


def _document_row(revision: Revision, said: str) -> Row:
    extraction = revision.put[said].extraction
    d = extraction.document
    sections = json.dumps([(s.name, s.start, s.end) for s in d.sections])
    failures = json.dumps([(f.where, f.code, f.message) for f in extraction.failures])
    return (
        d.id, d.source, d.title, d.kind, d.language, d.text, sections, d.hash, extraction.fingerprint,
        extraction.status, failures, said, revision.number,
    )  # fmt: skip


def _entity_row(revision: Revision, entity: str) -> Row:
    naming = revision.entities[entity].after
    assert naming is not None
    return (entity, revision.types[entity].type, naming.name, list(naming.aliases), naming.page, revision.number)


def _triple_row(revision: Revision, triple: str) -> Row:
    statement = revision.triples[triple].after
    assert statement is not None
    return (triple, *revision.ends[triple], *statement, revision.number)


def _naming_rows(revision: Revision) -> Iterator[Row]:
    before, since = revision.before.entities, revision.before.since
    for entity, spellings in revision.said.entities.items():
        was = before.get(entity, {})
        for key, spelling in spellings.items():
            document, said = key
            began = since[key] if was.get(key) == spelling else revision.number
            moved = None if said == entity else said
            yield document, entity, spelling.name, list(spelling.aliases), spelling.page is not None, moved, began


def _evidence_rows(revision: Revision) -> Iterator[Row]:
    number, since = revision.number, revision.before.since
    for triple, by_key in revision.said.triples.items():
        was = revision.before.triples.get(triple, {})
        for key, stated in by_key.items():
            said = (None, None, None, None) if stated.said is None else (key[1], *stated.said)
            for piece_id, e in stated.evidence.items():
                began = since[piece_id] if was and _is_stated(was.get(key), stated, piece_id) else number
                shown = piece_id if stated.said is None else e.id
                yield (
                    triple, e.document, shown, e.start, e.end, e.extractor, e.source, e.confidence, e.ontology_version,
                    *stated.statement, *said, began,
                )  # fmt: skip


def _is_stated(by: Stated | None, stated: Stated, piece_id: str) -> bool:
    """Whether one side states a triple as the other does, and rests on the same piece of evidence."""
    return (
        by is not None
        and (by.statement, by.page) == (stated.statement, stated.page)
        and by.evidence.get(piece_id) == stated.evidence[piece_id]
    )


def _past_rows(revision: Revision) -> Iterator[Row]:
    """Edges that were there and are not there any more."""
    serial = count()
    for kind, since, row in (*_past_namings(revision), *_past_statings(revision)):
        number = revision.number
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        yield f"{number}-{next(serial)}", kind, since, number, text


def _past_namings(revision: Revision) -> Iterator[tuple[str, int, list[Any]]]:
    before, said = revision.before, revision.said
    for entity, spellings in before.entities.items():
        now = said.entities.get(entity, {})
        for key, spelling in spellings.items():
            if now.get(key) != spelling:
                defines = spelling.page is not None
                row = [key[0], defines, entity, revision.types[entity].type, spelling.name, list(spelling.aliases)]
                yield "naming", before.since[key], row


def _past_statings(revision: Revision) -> Iterator[tuple[str, int, list[Any]]]:
    before, said = revision.before, revision.said
    for triple, by_key in before.triples.items():
        for key, piece_id, stated in _gone_pieces(by_key, said.triples.get(triple, {})):
            e = stated.evidence[piece_id]
            ends, page = revision.ends[triple], stated.page is not None
            row = [key[0], page, triple, key[1], *ends, *stated.statement, e.start, e.end, e.confidence]
            yield "stating", before.since[piece_id], row


def _gone_pieces(was: Mapping[Key, Stated], now: Mapping[Key, Stated]) -> Iterator[tuple[Key, str, Stated]]:
    for key, stated in was.items():
        for piece_id in stated.evidence:
            if not _is_stated(now.get(key), stated, piece_id):
                yield key, piece_id, stated


def _quarantine(revision: Revision) -> Batch:
    refused = {i: q for one in revision.put.values() for i, q in one.quarantined.items()}
    rows = [(i, encode_claim(q.claim), q.code, q.message, q.ontology_version) for i, q in refused.items()]
    yield record.QUARANTINED, rows
    yield record.REFUSED, [(q.document, i) for i, q in refused.items()]


def _change_row(revision: Revision) -> Row:
    documents = sorted({*revision.removed, *(one.extraction.document.id for one in revision.put.values())})
    now = datetime.now(UTC).replace(tzinfo=None)
    return (revision.number, now, documents, sorted(revision.entities), sorted(revision.triples))


def _merge_row(revision: Revision) -> Row:
    merge = revision.merge
    assert merge is not None
    return (merge.made, merge.entity, merge.into, merge.type, merge.name, merge.reason, merge.undone)


def _about(ends: Ends) -> tuple[str, ...]:
    return (ends.subject,) if ends.object in (None, ends.subject) else (ends.subject, ends.object)
