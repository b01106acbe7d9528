"""A small ontology with every type of value, and shorthand to say things in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ontology import Ontology
from ontology.read import compile_ontology
from ontoloom.names import entity_id
from ontoloom.records import Document, Entity, EntityRef, Evidence, Extraction, Section, Triple, Value

ONTOLOGY = """
ontology: things
version: 1.0.0
types:
  Thing:
    attributes:
      size: {type: integer, unit: tokens, min: 0}
      weight: {type: number}
      broken: {type: boolean}
      made: {type: date}
      note: {type: text}
      colour: {type: enum, values: [red, green, blue]}
      tags: {type: enum, many: true, values: [a, b, c, ab, B2]}
      sizes: {type: integer, many: true}
      days: {type: date, many: true}
      words: {type: string, many: true}
      box:
        type: record
        fields:
          width: {type: number}
          labels: {type: string, many: true}
  Maker:
    attributes:
      size: {type: string}
relations:
  made_by: {domain: Thing, range: Maker}
  beats:
    domain: [Thing, Maker]
    range: [Thing, Maker]
    attributes:
      judge: {type: reference, to: Maker, identifying: true}
      margin: {type: number}
      on: {type: date}
"""


def things() -> Ontology:
    ontology, findings = compile_ontology(ONTOLOGY, file="ontology.yaml")
    assert ontology is not None, findings
    return ontology


def thing(name: str, type_name: str = "Thing") -> Entity:
    return Entity(entity_id(type_name, name), type_name, name)


Said = tuple[Entity, str, Value | Entity, Mapping[str, Value | Entity], float]


def say(
    subject: Entity, relation: str, value: Value | Entity, confidence: float = 1.0, /, **attributes: Value | Entity
) -> Said:
    return subject, relation, value, attributes, confidence


def document(name: str, said: Sequence[Said], *, ontology: Ontology, named: Sequence[Entity] = ()) -> Extraction:
    """A document that names the entities and says these things, the n-th one at the characters ``n`` to ``n + 1``."""
    entities = {e.id: e for e in named}
    triples, evidence = [], []
    for place, (subject, relation, value, attributes, confidence) in enumerate(said):
        for part in (subject, value, *attributes.values()):
            if isinstance(part, Entity):
                entities[part.id] = part
        known = ontology.relations.get(relation)
        identifying = tuple(a.name for a in known.attributes.values() if a.identifying) if known else ()
        pairs = tuple(sorted((key, refer(item)) for key, item in attributes.items()))
        triple = Triple(subject.id, relation, refer(value), pairs, identifying)
        triples.append(triple)
        evidence.append(Evidence(triple.id, name, place, place + 1, "test", "rule", confidence, ontology.stamp))
    text = "x" * (len(said) + 1)
    written = Document(name, name, name, text, (Section("body", 0, len(text)),))
    return Extraction(written, tuple(entities.values()), tuple(triples), tuple(evidence))


def refer(value: Value | Entity) -> Value | EntityRef:
    return EntityRef(value.id) if isinstance(value, Entity) else value
