"""What documents say of entities and triples, as edges of the record: those that are stored, those to be written.

A merge maps ids as documents *said* them to ids of the graph. Each edge is known by its document and by what that said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graph.derive import Spelling
from graph.encode import Statement, decode_attributes, encode_attributes, statement
from graph.verify import Verified
from ontoloom.names import hash_id
from ontoloom.records import Attributes, EntityRef, Evidence, Triple, canonical_text

Key = tuple[str, str]
"""A document, and the id of the entity or triple as that document said it."""


class AsSaid(NamedTuple):
    """What a document itself said of a triple that a merge has changed."""

    subject: str
    object: str | None
    attributes: str


class Stated(NamedTuple):
    """What one document states of a triple, and the spans it rests on, by the id of the evidence as said.

    ``page`` is the document's id where it is a wiki page. ``said`` is None where no merge plays a part.
    """

    statement: Statement
    page: str | None
    evidence: dict[str, Evidence]
    said: AsSaid | None = None


class Ends(NamedTuple):
    """What never changes of a triple with its id."""

    subject: str
    subject_type: str
    relation: str
    object: str | None
    object_type: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class Said:
    """What some documents say of entities and of triples: by id in the graph, then by document and id as said.

    ``since`` holds the change that brought a stored edge: of a naming by its key, of evidence by its id as said.
    """

    entities: dict[str, dict[Key, Spelling]] = field(default_factory=dict)
    triples: dict[str, dict[Key, Stated]] = field(default_factory=dict)
    since: dict[Key | str, int] = field(default_factory=dict)

    def add_naming(
        self, document: str, entity: str, said: str | None, name: str, aliases: Iterable[str], defines: bool, since: int
    ) -> None:
        """Adds a stored edge of ``_NAMES``."""
        key = (document, said or entity)
        self.entities.setdefault(entity, {})[key] = Spelling(name, tuple(aliases), document if defines else None)
        self.since[key] = since

    def add_stating(self, row: Stating) -> None:
        """Adds a stored edge of ``_EVIDENCE``."""
        key = (row.document, row.said_triple or row.triple)
        said = None
        if row.said_triple is not None:
            said = AsSaid(row.said_subject or "", row.said_object, row.said_attributes or "{}")
        page = row.document if row.page else None
        held = (row.kind, row.attributes, row.identifying)
        stated = self.triples.setdefault(row.triple, {}).setdefault(key, Stated(held, page, {}, said))
        piece = Evidence(
            row.triple, row.document, row.start, row.end, row.extractor, row.source, row.confidence,
            row.ontology_version,
        )  # fmt: skip
        piece_id = row.id if said is None else evidence_id(key[1], piece)
        stated.evidence[piece_id] = piece
        self.since[piece_id] = row.since


class Stating(NamedTuple):
    """An edge of ``_EVIDENCE`` as stores read it; ``page``: its document is a wiki page."""

    document: str
    page: bool
    triple: str
    id: str
    kind: str
    attributes: str
    identifying: str
    start: int
    end: int
    extractor: str
    source: str
    confidence: float
    ontology_version: str
    said_triple: str | None
    said_subject: str | None
    said_object: str | None
    said_attributes: str | None
    since: int


def evidence_id(triple: str, piece: Evidence) -> str:
    """``Evidence.id`` of a piece, were it evidence of that triple."""
    return hash_id(triple, piece.document, str(piece.start), str(piece.end), piece.extractor, piece.source)


def follow(merged: Mapping[str, str]) -> dict[str, str]:
    """Where each merged entity has come to in the end, given what each was merged into."""
    ends: dict[str, str] = {}
    for entity, target in merged.items():
        while target in merged:
            target = merged[target]
        ends[entity] = target
    return ends


def extracted_said(extractions: Sequence[Verified], into: Mapping[str, str]) -> Said:
    """What extractions say, in a graph where entities have come ``into`` others."""
    said = Said()
    for one in extractions:
        document = one.extraction.document
        page = document.id if document.kind == "page" else None
        for entity_id, entity in one.entities.items():
            aliases = tuple(sorted(set(entity.aliases)))
            spelling = Spelling(entity.name, aliases, document.id if entity.page == document.id else None)
            said.entities.setdefault(into.get(entity_id, entity_id), {})[document.id, entity_id] = spelling
        held: dict[str, tuple[str, Stated]] = {}
        for triple_id, triple in one.triples.items():
            mapped, unmapped = map_triple(triple, into)
            held_id = triple_id if unmapped is None else mapped.id
            stated = Stated(one.statements[triple_id] if unmapped is None else statement(mapped), page, {}, unmapped)
            said.triples.setdefault(held_id, {})[document.id, triple_id] = stated
            held[triple_id] = held_id, stated
        for piece_id, piece in one.evidence.items():
            held_id, stated = held[piece.triple]
            stated.evidence[piece_id] = piece if held_id == piece.triple else move(piece, held_id)
    return said


def move(piece: Evidence, triple: str) -> Evidence:
    """The same piece as evidence of another triple."""
    return Evidence(
        triple, piece.document, piece.start, piece.end, piece.extractor, piece.source, piece.confidence,
        piece.ontology_version,
    )  # fmt: skip


def map_triple(triple: Triple, into: Mapping[str, str]) -> tuple[Triple, AsSaid | None]:
    """A triple in a graph where entities have come ``into`` others; and what it was, where that changes it."""
    if not into or not any(entity in into for entity in mentioned(triple)):
        return triple, None
    target = triple.object
    held = Triple(
        into.get(triple.subject, triple.subject),
        triple.relation,
        EntityRef(into.get(target.id, target.id)) if isinstance(target, EntityRef) else target,
        _map_attributes(triple.attributes, into),
        triple.identifying,
    )
    said = AsSaid(
        triple.subject, target.id if isinstance(target, EntityRef) else None, encode_attributes(triple.attributes)
    )
    return held, said


def mentioned(triple: Triple) -> Iterable[str]:
    """The entities that a triple speaks of."""
    yield triple.subject
    for value in (triple.object, *(value for _, value in triple.attributes)):
        if isinstance(value, EntityRef):
            yield value.id


def _map_attributes(attributes: Attributes, into: Mapping[str, str]) -> Attributes:
    return tuple((n, EntityRef(into.get(v.id, v.id)) if isinstance(v, EntityRef) else v) for n, v in attributes)


def remap(old: Said, ends: Mapping[str, Ends], into: Mapping[str, str]) -> tuple[Said, dict[str, Ends]]:
    """What is stored, in a graph where entities have come ``into`` others; with the ends of all its triples."""
    new, new_ends = Said(since=old.since), {}
    for spellings in old.entities.values():
        for key, spelling in spellings.items():
            new.entities.setdefault(into.get(key[1], key[1]), {})[key] = spelling
    for triple, by_key in old.triples.items():
        for key, stated in by_key.items():
            held_id, held_ends, held = _remap_stated(key, stated, ends[triple], into)
            new.triples.setdefault(held_id, {})[key] = held
            new_ends[held_id] = held_ends
    return new, new_ends


def _remap_stated(key: Key, stated: Stated, ends: Ends, into: Mapping[str, str]) -> tuple[str, Ends, Stated]:
    subject, target, attributes = stated.said or AsSaid(ends.subject, ends.object, stated.statement[1])
    kind, _, identifying = stated.statement
    held_subject = into.get(subject, subject)
    held_object = None if target is None else into.get(target, target)
    mapped = _map_attributes(decode_attributes(attributes), into)
    names = identifying.split(",") if identifying else []
    shown = ends.value if held_object is None else canonical_text(EntityRef(held_object))
    keys = [f"{name}={canonical_text(value)}" for name, value in mapped if name in names]
    held_id = hash_id(held_subject, ends.relation, shown or "", *keys)
    held_ends = ends._replace(subject=held_subject, object=held_object)
    shown_attributes = encode_attributes(mapped)
    moved = held_id != key[1] or shown_attributes != attributes
    evidence = {piece_id: move(piece, held_id) for piece_id, piece in stated.evidence.items()}
    said = AsSaid(subject, target, attributes) if moved else None
    return held_id, held_ends, Stated((kind, shown_attributes, identifying), stated.page, evidence, said)
