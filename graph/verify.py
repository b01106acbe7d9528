"""What every store demands of an extraction before it writes. A breach is a bug of the caller, hence ValueError."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from graph.encode import ENTITY, Statement, statement, value_kind
from ontology.schema import Attribute, Ontology
from ontoloom.records import Entity, EntityRef, Evidence, Extraction, Quarantined, Triple, Value

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Verified:
    """An extraction that holds, with its parts by id: ids are hashes, and worked out once."""

    extraction: Extraction
    entities: Mapping[str, Entity]
    triples: Mapping[str, Triple]
    statements: Mapping[str, Statement]
    evidence: Mapping[str, Evidence]
    quarantined: Mapping[str, Quarantined]


def verify(extractions: Sequence[Extraction], ontology: Ontology) -> list[Verified]:
    """Raises ValueError where an extraction contradicts itself or the ontology.

    Every triple rests on evidence within the document's text, and names entities that the extraction gives; types,
    relations, attributes and the kinds of their values are the ontology's; nothing is said twice in two ways.
    """
    _unique("documents", ((e.document.id, e) for e in extractions))
    verified = []
    for extraction in extractions:
        try:
            verified.append(_verify_one(extraction, ontology))
        except ValueError as error:  # UnicodeEncodeError, for a lone surrogate, is one too
            raise ValueError(f"extraction of {extraction.document.id!r}: {error}") from error
    return verified


def _unique(what: str, items: Iterable[tuple[str, Item]]) -> dict[str, Item]:
    """Items by id, in order; equal ones collapse."""
    found: dict[str, Item] = {}
    for key, item in items:
        first = found.setdefault(key, item)
        _demand(first is item or first == item, "{}: {!r} is given twice, differently", what, key)
    return found


def _verify_one(extraction: Extraction, ontology: Ontology) -> Verified:
    document = extraction.document
    repr(extraction.failures).encode()
    for text in (document.id, document.source, document.title, document.text, document.language):
        text.encode()
    _demand(document.id.strip() != "", "the document has no id")
    entities = _unique("entities", ((e.id, e) for e in extraction.entities))
    for entity in entities.values():
        _verify_entity(entity, ontology)
    triples = _unique("triples", ((t.id, t) for t in extraction.triples))
    for triple in triples.values():
        _verify_triple(triple, entities, ontology)
    evidence = _unique("evidence", ((e.id, e) for e in extraction.evidence))
    _verify_evidence(evidence, triples, extraction)
    quarantined = _unique("quarantined", ((q.id, q) for q in extraction.quarantined))
    for refused in quarantined.values():
        refused.message.encode()
        _demand(refused.document == document.id, "quarantined claim of another document, {!r}", refused.document)
    statements = {key: statement(triple) for key, triple in triples.items()}
    return Verified(extraction, entities, triples, statements, evidence, quarantined)


def _verify_entity(entity: Entity, ontology: Ontology) -> None:
    _demand(entity.id != "", "an entity has no id")
    _demand(entity.type in ontology.types, "{!r} is no type of ontology {}", entity.type, ontology.stamp)
    _demand(all(name.strip() for name in (entity.name, *entity.aliases)), "a name of entity {!r} is blank", entity.id)
    "".join((entity.id, entity.name, *entity.aliases)).encode()


def _verify_evidence(evidence: Mapping[str, Evidence], triples: Mapping[str, Triple], extraction: Extraction) -> None:
    document, length = extraction.document.id, len(extraction.document.text)
    for piece in evidence.values():
        _demand(piece.document == document, "evidence in another document, {!r}", piece.document)
        _demand(piece.triple in triples, "evidence for triple {!r}, which is not given", piece.triple)
        within = 0 <= piece.start < piece.end <= length
        _demand(within, "evidence span {}-{} is not within the text ({} long)", piece.start, piece.end, length)
        _demand(0 <= piece.confidence <= 1, "confidence {} is not between 0 and 1", piece.confidence)
    without = sorted(triples.keys() - {piece.triple for piece in evidence.values()})
    _demand(not without, "no evidence for {}", [triples[t] for t in without[:1]])


def _verify_triple(triple: Triple, entities: Mapping[str, Entity], ontology: Ontology) -> None:
    subject = entities.get(triple.subject)
    if subject is None:
        raise ValueError(f"subject {triple.subject!r} of {triple.relation} is not among the entities")
    attribute = ontology.attribute(subject.type, triple.relation)
    if attribute is not None:
        _demand(not triple.attributes, "{}: the value of an attribute has no attributes", triple.relation)
        _verify_value(triple.object, attribute, entities)
        return
    relation = ontology.relations.get(triple.relation)
    if relation is None:
        raise ValueError(f"{triple.relation!r} is neither a relation nor an attribute of {subject.type}")
    target = entities.get(triple.object.id) if isinstance(triple.object, EntityRef) else None
    if target is None:
        raise ValueError(f"object {triple.object!r} of {triple.relation} is not among the entities")
    legal = subject.type in relation.domain and target.type in relation.range
    _demand(legal, "{} {} {} is not what the ontology allows", subject.type, relation.name, target.type)
    names = [name for name, _ in triple.attributes]
    _demand(names == sorted(names), "{}: attributes are not sorted by name", relation.name)
    for name, value in triple.attributes:
        _demand(name in relation.attributes, "{} has no attribute {!r}", relation.name, name)
        _demand(relation.attributes[name].many or names.count(name) == 1, "{}.{} is given twice", relation.name, name)
        _verify_value(value, relation.attributes[name], entities)


REFERENCE = "reference"
KINDS: Mapping[str, tuple[str, ...]] = {
    "integer": ("integer",),
    "number": ("integer", "number"),
    "boolean": ("boolean",),
    "date": ("date",),
    REFERENCE: (ENTITY,),
}


def _verify_value(value: EntityRef | Value, attribute: Attribute, entities: Mapping[str, Entity]) -> None:
    try:
        kind = value_kind(value)
    except KeyError:
        raise ValueError(f"{attribute.name}: a value cannot be a {type(value).__name__}") from None
    _demand(
        kind in KINDS.get(REFERENCE if attribute.type == REFERENCE else attribute.kind, ("string",)),
        "{}: {!r} is no {}",
        attribute.name,
        value,
        attribute.type,
    )
    if isinstance(value, EntityRef):
        _demand(value.id in entities, "{}: {!r} is not among the entities", attribute.name, value.id)
    elif isinstance(value, float):
        _demand(math.isfinite(value), "{}: {} is not finite", attribute.name, value)
    elif isinstance(value, str):
        value.encode()


def _demand(holds: bool, message: str, *named: object) -> None:
    if not holds:
        raise ValueError(message.format(*named))
