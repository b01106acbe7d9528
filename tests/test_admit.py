from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontology import Ontology
from ontology.admit import Refusal, admit, admit_type
from ontology.read import compile_ontology
from ontoloom.names import entity_id
from ontoloom.records import Entity, EntityRef, Triple, Value

TEXT = """\
ontology: test
version: 1.0.0
types:
  Person: {description: A person.}
  Company:
    attributes:
      founded: {type: date}
      sector: {type: enum, values: {IT: {synonyms: [software]}, food: {}}}
      office: {type: record, fields: {seats: {type: integer, min: 1}}}
  Model:
    attributes:
      context_length: {type: integer, unit: tokens}
  Benchmark: {description: A test.}
relations:
  works_at: {domain: Person, range: Company}
  knows: {domain: Person, range: Person}
  superior_to:
    domain: Model
    range: Model
    attributes:
      score_delta: {type: number}
      benchmark: {type: reference, to: Benchmark, identifying: true, required: true}
      day: {type: date, identifying: true}
      judges: {type: reference, to: Person, many: true}
"""


def compiled() -> Ontology:
    ontology, findings = compile_ontology(TEXT, file="ontology.yaml")
    assert findings == []
    assert ontology is not None
    return ontology


ONTOLOGY = compiled()


def entity(type_name: str, name: str) -> Entity:
    return Entity(entity_id(type_name, name), type_name, name)


BO, ACME, MMLU = entity("Person", "Bo"), entity("Company", "Acme"), entity("Benchmark", "MMLU")
PHI, QWEN = entity("Model", "Phi"), entity("Model", "Qwen")


def test_a_relation_is_admitted() -> None:
    triple = admit(ONTOLOGY, relation="works_at", subject=BO, object=ACME)
    assert triple == Triple(BO.id, "works_at", EntityRef(ACME.id))


@pytest.mark.parametrize(
    ("subject", "relation", "raw", "value"),
    [
        (ACME, "founded", "1990-01-02", date(1990, 1, 2)),
        (ACME, "sector", "IT", "IT"),
        (ACME, "office.seats", "12", 12),
        (PHI, "context_length", "131072", 131072),
        (BO, "name", "Bo  Li", "Bo Li"),
    ],
)
def test_an_attribute_is_admitted_in_canonical_form(subject: Entity, relation: str, raw: Value, value: Value) -> None:
    assert admit(ONTOLOGY, relation=relation, subject=subject, object=raw) == Triple(subject.id, relation, value)


def test_attributes_of_a_relation_are_read_sorted_and_identify() -> None:
    given_attributes: list[tuple[str, Entity | Value]] = [("score_delta", "2.50"), ("benchmark", MMLU)]
    triple = admit(ONTOLOGY, relation="superior_to", subject=PHI, object=QWEN, attributes=given_attributes)
    assert isinstance(triple, Triple)
    assert triple.attributes == (("benchmark", EntityRef(MMLU.id)), ("score_delta", 2.5))
    assert triple.identifying == ("benchmark", "day")
    corrected = admit(
        ONTOLOGY,
        relation="superior_to",
        subject=PHI,
        object=QWEN,
        attributes=[("benchmark", MMLU), ("score_delta", 3)],
    )
    assert isinstance(corrected, Triple)
    assert corrected.id == triple.id


def test_an_attribute_of_a_relation_may_hold_many_values_in_any_order() -> None:
    ada = entity("Person", "Ada")
    said: list[tuple[str, Entity | Value]] = [("judges", BO), ("benchmark", MMLU), ("judges", ada), ("judges", BO)]
    triple = admit(ONTOLOGY, relation="superior_to", subject=PHI, object=QWEN, attributes=said)
    assert isinstance(triple, Triple)
    assert triple.attributes == (
        ("benchmark", EntityRef(MMLU.id)),
        *(("judges", EntityRef(judge)) for judge in sorted([BO.id, ada.id])),
    )
    assert admit(ONTOLOGY, relation="superior_to", subject=PHI, object=QWEN, attributes=said[::-1]) == triple


BENCHMARK: tuple[str, Entity | Value] = ("benchmark", MMLU)
CASES: dict[str, tuple[Entity, str, Entity | Value, list[tuple[str, Entity | Value]], str, str]] = {
    "type": (entity("Persom", "Bo"), "works_at", ACME, [], "unknown-type", "did you mean 'Person'?"),
    "type of the object": (BO, "works_at", entity("Firm", "A"), [], "unknown-type", "known: Person, Company"),
    "relation": (BO, "work_at", ACME, [], "unknown-relation", "did you mean 'works_at'?"),
    "attribute": (ACME, "foundet", "1990-01-01", [], "unknown-attribute", "did you mean 'founded'?"),
    "attribute of another type": (BO, "founded", "1990-01-01", [], "unknown-attribute", "one of Company"),
    "record itself": (ACME, "office", "12", [], "unknown-attribute", "did you mean 'office.seats'?"),
    "domain": (PHI, "works_at", ACME, [], "wrong-domain", "from Person to Company"),
    "range": (BO, "works_at", PHI, [], "wrong-range", "from Person to Company"),
    "both ends": (PHI, "works_at", MMLU, [], "wrong-domain", "from Person to Company"),
    "reversed": (ACME, "works_at", BO, [], "reversed", "swap subject and object"),
    "value": (PHI, "context_length", "128K", [], "bad-value", "write 131072"),
    "enum": (ACME, "sector", "software", [], "bad-value", "write IT"),
    "date": (ACME, "founded", "2024-13-45", [], "bad-value", "a day that exists"),
    "range of numbers": (ACME, "office.seats", 0, [], "bad-value", "write at least 1"),
    "value for an entity": (BO, "works_at", "Acme", [], "not-an-entity", "leads to Company"),
    "entity for a value": (ACME, "sector", BO, [], "not-a-literal", "a value of type enum"),
    "attributes of an attribute": (ACME, "sector", "IT", [BENCHMARK], "unknown-relation-attribute", "leave them out"),
    "relation's attribute": (
        PHI, "superior_to", QWEN, [BENCHMARK, ("delta", 1)], "unknown-relation-attribute", "mean 'score_delta'?",
    ),
    "number of a relation": (PHI, "superior_to", QWEN, [BENCHMARK, ("score_delta", "high")], "bad-value", "a number"),
    "twice": (PHI, "superior_to", QWEN, [BENCHMARK, BENCHMARK], "bad-value", "give it once"),
    "missing": (PHI, "superior_to", QWEN, [("score_delta", 1)], "missing-attribute", "'benchmark'"),
    "reference": (PHI, "superior_to", QWEN, [("benchmark", "MMLU")], "not-an-entity", "one of type Benchmark"),
    "reference astray": (PHI, "superior_to", QWEN, [("benchmark", ACME)], "wrong-range", "one of type Benchmark"),
    "entity for a relation's value": (PHI, "superior_to", QWEN, [("day", ACME)], "not-a-literal", "give a value"),
}  # fmt: skip


@pytest.mark.parametrize(("subject", "relation", "object", "attributes", "code", "words"), CASES.values(), ids=CASES)
def test_what_the_ontology_does_not_allow_is_refused(
    subject: Entity,
    relation: str,
    object: Entity | Value,
    attributes: list[tuple[str, Entity | Value]],
    code: str,
    words: str,
) -> None:
    refusal = admit(ONTOLOGY, relation=relation, subject=subject, object=object, attributes=attributes)
    assert isinstance(refusal, Refusal)
    assert refusal.code == code
    assert words in refusal.message
    assert "\n" not in refusal.message


def test_a_type_is_admitted_or_refused() -> None:
    assert admit_type(ONTOLOGY, "Model") is None
    assert admit_type(ONTOLOGY, "model") == Refusal("unknown-type", "there is no type 'model'; did you mean 'Model'?")


ENTITIES = st.builds(entity, st.sampled_from(["Person", "Company", "Model", "Benchmark", "x\ny"]), st.text(max_size=5))
VALUES = st.text(max_size=8) | st.integers() | st.floats() | st.booleans() | st.dates()
NAMES = st.sampled_from(["works_at", "knows", "superior_to", "founded", "office.seats", "benchmark", "day", "a\nb"])


@given(NAMES, ENTITIES, ENTITIES | VALUES, st.lists(st.tuples(NAMES, ENTITIES | VALUES), max_size=3))
def test_what_is_admitted_is_legal(
    relation: str, subject: Entity, object: Entity | Value, attributes: list[tuple[str, Entity | Value]]
) -> None:
    result = admit(ONTOLOGY, relation=relation, subject=subject, object=object, attributes=attributes)
    if isinstance(result, Refusal):
        assert "\n" not in result.message
    elif isinstance(object, Entity):
        assert subject.type in ONTOLOGY.relations[relation].domain
        assert object.type in ONTOLOGY.relations[relation].range
        assert result.object == EntityRef(object.id)
    else:
        assert relation in ONTOLOGY.types[subject.type].attributes
        assert not isinstance(result.object, EntityRef)
