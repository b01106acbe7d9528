"""What documents say, as rows of the store's edges: what is stored of some documents, and what extractions bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from graph.derive import Spelling
from graph.encode import Statement
from graph.ladybug_session import Session
from graph.verify import Verified
from ontoloom.records import Evidence


class Stated(NamedTuple):
    """What one document states of a triple, and the spans it rests on, by id.

    ``page`` is the document's id where it is a wiki page.
    """

    statement: Statement
    page: str | None
    evidence: dict[str, Evidence]


@dataclass(frozen=True, slots=True)
class Said:
    """What some documents say of entities and of triples: by id, then by document."""

    entities: dict[str, dict[str, Spelling]] = field(default_factory=dict)
    triples: dict[str, dict[str, Stated]] = field(default_factory=dict)


def read_said(session: Session, kinds: Mapping[str, str]) -> Said:
    """What is stored of some documents, given with their kinds."""
    said = Said()
    for document, entity, name, aliases, defines in session.look_up(
        "UNWIND $ids AS x MATCH (d:_Document) WHERE d.id = x OPTIONAL MATCH (d)-[n:_NAMES]->(e:_Entity) "
        "RETURN x, e.id, n.name, n.aliases, n.defines",
        list(kinds),
    ):
        if entity is not None:
            spelling = Spelling(name, tuple(aliases), document if defines else None)
            said.entities.setdefault(entity, {})[document] = spelling
    for (
        document,
        triple,
        evidence_id,
        *statement,
        start,
        end,
        extractor,
        source,
        confidence,
        version,
    ) in session.look_up(
        "UNWIND $ids AS x MATCH (d:_Document) WHERE d.id = x OPTIONAL MATCH (d)<-[v:_EVIDENCE]-(t:_Triple) "
        "RETURN x, t.id, v.id, v.kind, v.attributes, v.identifying, v.`start`, v.`end`, v.extractor, v.source, "
        "v.confidence, v.ontology_version",
        list(kinds),
    ):
        if triple is not None:
            page = document if kinds[document] == "page" else None
            by_document = said.triples.setdefault(triple, {})
            stated = by_document.setdefault(document, Stated((statement[0], statement[1], statement[2]), page, {}))
            piece = Evidence(triple, document, start, end, extractor, source, confidence, version)
            stated.evidence[evidence_id] = piece
    return said


def extracted_said(extractions: Sequence[Verified]) -> Said:
    """What extractions say."""
    said = Said()
    for one in extractions:
        document = one.extraction.document
        page = document.id if document.kind == "page" else None
        for entity_id, entity in one.entities.items():
            aliases = tuple(sorted(set(entity.aliases)))
            spelling = Spelling(entity.name, aliases, document.id if entity.page == document.id else None)
            said.entities.setdefault(entity_id, {})[document.id] = spelling
        for triple_id, statement in one.statements.items():
            said.triples.setdefault(triple_id, {})[document.id] = Stated(statement, page, {})
        for evidence_id, piece in one.evidence.items():
            said.triples[piece.triple][document.id].evidence[evidence_id] = piece
    return said
