from __future__ import annotations

from graph.gaps import find_gaps
from ontology.read import compile_ontology
from ontology.schema import Ontology
from ontoloom.records import Claim, Mention, Quarantined, Value

TEXT = """\
ontology: t
version: 1.0.0
types:
  Person: {}
  Company: {}
relations:
  works_at: {domain: Person, range: Company}
"""
BO, AL, ACME = Mention("Bo", "Person"), Mention("Al", "Person"), Mention("Acme", "Company")


def ontology(more: str = "") -> Ontology:
    compiled, findings = compile_ontology(TEXT + more, file="o.yaml")
    assert findings == []
    assert compiled is not None
    return compiled


def refused(
    code: str,
    subject: Mention,
    relation: str,
    target: Mention | Value,
    *attributes: tuple[str, Mention | Value],
    document: str = "a.md",
) -> Quarantined:
    claim = Claim(subject, relation, target, 0, 5, "llm", "x", attributes=attributes)
    return Quarantined(document, claim, code, "refused", "1.0.0+0")


QUARANTINED = [
    refused("unknown-relation", BO, "hired_by", ACME),
    refused("unknown-relation", AL, "hired_by", ACME, document="b.md"),
    refused("unknown-relation", BO, "hired_by", Mention("X", "Firm"), document="b.md"),
    refused("unknown-attribute", BO, "age", "42"),
    refused("unknown-attribute", AL, "age", 41),
    refused("unknown-attribute", ACME, "founded", "1999-01-31"),
    refused("unknown-relation-attribute", BO, "works_at", ACME, ("since", "1999"), ("share", 0.5)),
    refused("unknown-type", BO, "works_at", Mention("X", "Firm")),
    refused("bad-value", BO, "works_at", ACME),
]


def test_words_are_counted_with_what_would_admit_them() -> None:
    found = find_gaps(QUARANTINED, ontology(), examples=1)
    assert [(gap.kind, gap.name, gap.of, gap.count, gap.documents, len(gap.examples)) for gap in found] == [
        ("relation", "hired_by", "", 3, 2, 1),
        ("attribute", "age", "Person", 2, 1, 1),
        ("attribute", "founded", "Company", 1, 1, 1),
        ("relation attribute", "share", "works_at", 1, 1, 1),
        ("relation attribute", "since", "works_at", 1, 1, 1),
        ("type", "Firm", "", 1, 1, 1),
    ]
    assert [gap.patch for gap in found] == [
        "relations:\n  hired_by: {domain: Person, range: Company, description: …}\n",
        "types:\n  Person:\n    attributes:\n      age: {type: integer}\n",
        "types:\n  Company:\n    attributes:\n      founded: {type: date}\n",
        "relations:\n  works_at:\n    attributes:\n      share: {type: number}\n",
        "relations:\n  works_at:\n    attributes:\n      since: {type: integer}\n",
        "types:\n  Firm: {description: …}\n",
    ]


def test_the_patch_of_a_relation_can_be_pasted() -> None:
    (gap, *_) = find_gaps(QUARANTINED, ontology())
    assert "hired_by" in ontology(gap.patch.removeprefix("relations:\n")).relations


def test_what_was_refused_for_another_reason_is_no_gap() -> None:
    assert find_gaps([refused("bad-value", BO, "works_at", ACME)], ontology()) == []
    assert find_gaps([], ontology()) == []
