"""What documents said, from the edges of the record: extractions as they were written, whatever was merged since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from graph.encode import ENTITY, decode_attributes, decode_value
from graph.revise import Reads, StoredDocument
from graph.said import Ends, Said, Stated
from graph.store import DocumentState
from ontoloom.records import Document, Entity, EntityRef, Evidence, Extraction, Quarantined, Triple


def restate(
    reads: Reads,
    documents: Sequence[Document],
    states: Mapping[str, DocumentState],
    quarantined: Sequence[Quarantined],
) -> Iterator[Extraction]:
    """Extractions of some documents, by id, given their states and their claims that were refused."""
    said = reads.said_by({d.id: StoredDocument(states[d.id].kind, states[d.id].said) for d in documents})
    types = {entity: typed.type for entity, typed in reads.typed(list(said.entities)).items()}
    ends = reads.ends(list(said.triples))
    entities: dict[str, list[Entity]] = {}
    for held, spellings in said.entities.items():
        for (document_id, entity), spelling in spellings.items():
            named = Entity(entity, types[held], spelling.name, spelling.aliases, spelling.page)
            entities.setdefault(document_id, []).append(named)
    triples = _triples(said, ends)
    refused: dict[str, list[Quarantined]] = {}
    for claim in in_order(quarantined):
        refused.setdefault(claim.document, []).append(claim)
    for document in sorted(documents, key=lambda d: d.id):
        stated = sorted(triples.get(document.id, {}).items())
        yield Extraction(
            document,
            tuple(sorted(entities.get(document.id, ()), key=lambda e: e.id)),
            tuple(triple for _, (triple, _) in stated),
            tuple(piece for _, (_, pieces) in stated for piece in pieces),
            tuple(refused.get(document.id, ())),
            states[document.id].failures,
            states[document.id].fingerprint,
        )


def _triples(said: Said, ends: Mapping[str, Ends]) -> dict[str, dict[str, tuple[Triple, list[Evidence]]]]:
    """By document and by id as said: the triple, with its evidence there."""
    found: dict[str, dict[str, tuple[Triple, list[Evidence]]]] = {}
    for held, by_key in said.triples.items():
        for (document, triple_id), stated in by_key.items():
            pieces = [
                Evidence(triple_id, e.document, e.start, e.end, e.extractor, e.source, e.confidence, e.ontology_version)
                for e in stated.evidence.values()
            ]
            pieces.sort(key=lambda e: (e.start, e.end, e.extractor, e.source))
            found.setdefault(document, {})[triple_id] = as_stated(ends[held], stated), pieces
    return found


def as_stated(ends: Ends, stated: Stated) -> Triple:
    """A triple in the words of a document."""
    kind, attributes, identifying = stated.statement
    subject, target = ends.subject, ends.object
    if stated.said is not None:
        subject, target, attributes = stated.said
    value = EntityRef(target or "") if kind == ENTITY else decode_value(kind, ends.value or "")
    names = tuple(identifying.split(",")) if identifying else ()
    return Triple(subject, ends.relation, value, decode_attributes(attributes), names)


def in_order(quarantined: Iterable[Quarantined]) -> list[Quarantined]:
    """Claims by document and span."""
    return sorted(quarantined, key=lambda q: (q.document, q.claim.start, q.claim.end, q.id))
