"""A small ontology with something of everything, and a short way to write down what a document says under it."""

from __future__ import annotations

from datetime import date
from typing import Literal

from ontology.schema import Attribute, EntityType, EnumValue, Ontology, Relation
from ontoloom.names import entity_id
from ontoloom.records import (
    Attributes,
    Claim,
    Document,
    Entity,
    EntityRef,
    Evidence,
    Extraction,
    Failure,
    Mention,
    Quarantined,
    Section,
    Triple,
    Value,
)

NAME = Attribute("name", "string", required=True)


def entity_type(name: str, *attributes: Attribute) -> EntityType:
    return EntityType(name, {a.name: a for a in (NAME, *attributes)})


def relation(name: str, domain: tuple[str, ...], target: tuple[str, ...], *attributes: Attribute) -> Relation:
    return Relation(name, domain, target, attributes={a.name: a for a in attributes})


TYPES = (
    entity_type(
        "Model",
        Attribute("context_length", "integer", unit="tokens"),
        Attribute("training_method", "enum", many=True, values=(EnumValue("DPO"), EnumValue("SFT"))),
        Attribute("hardware.gpu_memory", "number", unit="GB"),
        Attribute("released", "date"),
        Attribute("open", "boolean"),
        Attribute("motto", "text"),
    ),
    entity_type("Organization"),
    entity_type("Benchmark"),
)
RELATIONS = (
    relation(
        "superior_to",
        ("Model",),
        ("Model",),
        Attribute("benchmark", "reference", identifying=True, targets=("Benchmark",)),
        Attribute("score_delta", "number"),
        Attribute("attempts", "integer"),
        Attribute("measured", "date"),
        Attribute("verified", "boolean"),
        Attribute("notes", "string", many=True),
    ),
    relation("developed_by", ("Model", "Benchmark"), ("Organization",)),
    relation("based_on", ("Model",), ("Model",)),
)


def make_ontology(
    version: str = "1.0.0",
    *,
    types: tuple[EntityType, ...] = TYPES,
    relations: tuple[Relation, ...] = RELATIONS,
) -> Ontology:
    return Ontology(
        "examples", version, version.ljust(8, "0"), {t.name: t for t in types}, {r.name: r for r in relations}
    )


ONTOLOGY = make_ontology()


def named(type_name: str, name: str, *aliases: str, key: str | None = None, page: str | None = None) -> Entity:
    """An entity; ``key`` is what its id is made of where it isn't its name."""
    return Entity(entity_id(type_name, key or name), type_name, name, aliases, page)


def ref(entity: Entity) -> EntityRef:
    return EntityRef(entity.id)


def beats(winner: Entity, loser: Entity, *attributes: tuple[str, EntityRef | Value]) -> Triple:
    return link(winner, "superior_to", loser, *attributes)


def link(subject: Entity, name: str, target: Entity, *attributes: tuple[str, EntityRef | Value]) -> Triple:
    pairs: Attributes = tuple(sorted(attributes, key=lambda pair: pair[0]))
    identifying = ("benchmark",) if name == "superior_to" else ()
    return Triple(subject.id, name, ref(target), pairs, identifying)


def literal(subject: Entity, attribute: str, value: Value) -> Triple:
    return Triple(subject.id, attribute, value)


def says(
    document_id: str,
    *parts: Entity | Triple | Evidence | Quarantined | Failure,
    text: str = "",
    kind: Literal["document", "page"] = "document",
    fingerprint: str = "f1",
) -> Extraction:
    """What a document says: each triple without evidence of its own is given the span 0-5."""
    text = text or f"The text of {document_id}."
    document = Document(document_id, f"file:{document_id}", f"Title {document_id}", text, whole(text), kind)
    triples = tuple(p for p in parts if isinstance(p, Triple))
    evidence = tuple(p for p in parts if isinstance(p, Evidence))
    shown = {e.triple for e in evidence}
    return Extraction(
        document,
        tuple(p for p in parts if isinstance(p, Entity)),
        triples,
        evidence + tuple(span(t, document_id) for t in triples if t.id not in shown),
        tuple(p for p in parts if isinstance(p, Quarantined)),
        tuple(p for p in parts if isinstance(p, Failure)),
        fingerprint,
    )


def whole(text: str) -> tuple[Section, ...]:
    return (Section("title", 0, min(3, len(text))), Section("body", min(3, len(text)), len(text)))


def span(
    triple: Triple, document: str, start: int = 0, end: int = 5, *, confidence: float = 0.9, extractor: str = "rules"
) -> Evidence:
    return Evidence(triple.id, document, start, end, extractor, "rule-1", confidence, ONTOLOGY.stamp)


def refused(document: str, start: int = 0, *, code: str = "unknown-relation", word: str = "sings") -> Quarantined:
    claim = Claim(
        Mention("Qwen2", "Model"),
        word,
        Mention("a song"),
        start,
        start + 4,
        "llm",
        "prompt-1",
        0.5,
        (("on", date(2024, 5, 1)), ("with", Mention("a choir", "Organization")), ("times", 2)),
    )
    return Quarantined(document, claim, code, f"'{word}' is no relation", ONTOLOGY.stamp)
