"""An ontology, pages of it, and an example of each kind of change."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from diff_edits import Plain, compiled

from ontology import Ontology
from ontology.compare.diff import Difference, diff
from ontology.compare.rules import Change

BASE: Plain = {
    "ontology": "test",
    "version": "1.2.3",
    "description": "Things.",
    "types": {
        "Thing": {"abstract": True, "attributes": {"code": {"type": "string"}}},
        "Model": {
            "is_a": "Thing",
            "label": {"en": "model"},
            "synonyms": {"en": ["checkpoint"], "zh": ["模型"]},
            "attributes": {
                "size": {"type": "integer", "min": 1, "max": 100, "unit": "GB", "examples": ["7"]},
                "method": {
                    "type": "enum",
                    "many": {"min": 1, "max": 2},
                    "values": {"DPO": {"synonyms": ["direct preference optimization"]}, "SFT": {}},
                },
                "state": {"type": "enum", "values": ["open", "closed"]},
                "city": {"type": "string", "pattern": "[A-Z].*", "default": "Bonn"},
                "day": {"type": "date", "required": True},
                "hardware": {"type": "record", "fields": {"memory": {"type": "number"}}},
            },
        },
        "LanguageModel": {"is_a": "Model"},
        "Person": {"disjoint": ["Firm"], "keys": ["email"], "attributes": {"email": {"type": "string"}}},
        "Firm": {"deprecated": {"since": "1.0.0"}},
    },
    "relations": {
        "based_on": {
            "domain": "Model", "range": "Model", "cardinality": "one", "inverse": "base_of",
            "conflict": "latest",
        },
        "made_by": {
            "domain": "Model", "range": ["Person", "Firm"],
            "cardinality": {"objects": "0..2", "subjects": "0..2"},
        },
        "knows": {"domain": "Person", "range": "Person", "symmetric": True, "transitive": True},
        "leads": {"domain": "Person", "range": "Person", "asymmetric": True, "acyclic": True},
        "beats": {
            "domain": "Model",
            "range": "Model",
            "attributes": {
                "on": {"type": "reference", "to": ["Thing"], "identifying": True},
                "margin": {"type": "number"},
                "seen": {"type": "date", "required": True},
            },
        },
    },
}  # fmt: skip

PAGES: Mapping[str, Plain] = {
    "phi": {
        "type": "Model", "name": "Phi", "size": 7, "method": ["DPO", "SFT"], "state": "open", "city": "Rome",
        "code": "1", "day": "2024-05-01", "based_on": "qwen", "made_by": ["bo", "acme"], "hardware": {"memory": 1},
        "beats": [
            {"target": "qwen", "on": "qwen", "margin": 1, "seen": "2024-05-01"},
            {"target": "qwen", "on": "phi", "margin": 1, "seen": "2024-05-01"},
        ],
    },
    "qwen": {
        "type": "LanguageModel", "name": "Qwen", "size": 90, "method": ["SFT"], "state": "open", "code": "1",
        "day": "2024-05-01", "made_by": "bo",
    },
    "bo": {"type": "Person", "name": "Bo", "knows": "cy", "leads": "cy"},
    "cy": {"type": "Person", "name": "Cy", "leads": "di", "knows": "bo"},
    "di": {"type": "Person", "name": "Di"},
    "acme": {"type": "Firm", "name": "Acme"},
    "gamma": {"type": "Model", "name": "Gamma", "day": "2024-05-01", "base_of": ["lambda"]},
    "lambda": {"type": "Model", "name": "Lambda", "day": "2024-05-01"},
}  # fmt: skip


class Example(NamedTuple):
    """A change of BASE at a path (a key that ends it is set, or removed where the value is None)."""

    kind: str
    where: str
    path: str
    value: Any
    first: tuple[tuple[str, Any], ...] = ()
    """What BASE is changed to before."""
    sql: str = ""
    """A query that is good before and a mistake, or another query, after."""


M, P, L = "types/Model/attributes", "types/Person", "relations"
EXAMPLES = [
    Example("version-changed", "test", "version", "1.3.0"),
    Example("ontology-renamed", "other", "ontology", "other"),
    Example("ontology-described", "test", "description", "Other things."),
    Example("description-changed", "Model", "types/Model/description", "A model."),
    Example("description-changed", "Model.method.DPO", f"{M}/method/values/DPO/description", "New."),
    Example("label-changed", "Model", "types/Model/label", {"de": "model"}),
    Example("examples-changed", "Model.size", f"{M}/size/examples", ["13"]),
    Example("synonym-added", "Model", "types/Model/synonyms", {"en": ["checkpoint", "LLM"], "zh": ["模型"]}),
    Example("synonym-removed", "Model", "types/Model/synonyms", {"en": ["checkpoint"]}),
    Example("deprecated", "Model.size", f"{M}/size/deprecated", {"use": "code"}, ((f"{M}/code", {"type": "string"}),)),
    Example("deprecated", "Person", "types/Person/deprecated", {"since": "1.2.0"}),
    Example("undeprecated", "Firm", "types/Firm/deprecated", None),
    Example("deprecation-changed", "Firm", "types/Firm/deprecated", {"since": "1.0.0", "use": "Person"}),
    Example("type-added", "Place", "types/Place", {}),
    Example("type-removed", "LanguageModel", "types/LanguageModel", None),
    Example("is_a-added", "Person", "types/Person/is_a", "Thing"),
    Example("is_a-removed", "Firm", "types/Firm/mixins", None,
            (("types/Party", {"abstract": True}), ("types/Firm/mixins", ["Party"]))),
    Example("type-abstract", "Model", "types/Model/abstract", True),
    Example("type-concrete", "Thing", "types/Thing/abstract", None),
    Example("disjoint-added", "Firm", "types/Person/disjoint", ["Firm"], (("types/Person/disjoint", None),)),
    Example("disjoint-removed", "Firm", "types/Person/disjoint", None),
    Example("key-added", "Thing.code", "types/Thing/attributes/code/unique", True),
    Example("key-added", "Thing.code", "types/Thing/keys", ["code"]),
    Example("key-added", "Model", "types/Model/keys", [["code", "state"]], ((f"{M}/code", {"type": "string"}),)),
    Example("key-removed", "Person.email", "types/Person/keys", None),
    Example("attribute-added", "Person.age", f"{P}/attributes/age", {"type": "integer"}),
    Example("required-attribute-added", "Person.age", f"{P}/attributes/age", {"type": "integer", "required": True}),
    Example("attribute-removed", "Model.city", f"{M}/city", None, sql="SELECT city FROM Model"),
    Example("attribute-removed", "Model.hardware.memory", f"{M}/hardware", None),
    Example("attribute-type-changed", "Model.size", f"{M}/size/type", "number"),
    Example("attribute-type-widened", "Model.state", f"{M}/state", {"type": "string"}),
    Example("attribute-required", "Model.city", f"{M}/city/required", True),
    Example("attribute-optional", "Model.day", f"{M}/day/required", None),
    Example("attribute-many", "Model.city", f"{M}/city/many", True, sql="SELECT max(city) FROM Model"),
    Example("attribute-many", "beats.margin", f"{L}/beats/attributes/margin/many", True,
            sql="SELECT max(margin) FROM beats"),
    Example("attribute-single", "Model.method", f"{M}/method/many", None),
    Example("fewest-values-raised", "Model.method", f"{M}/method/many", {"min": 2, "max": 2}),
    Example("fewest-values-lowered", "Model.method", f"{M}/method/many", True, ((f"{M}/method/many", {"min": 2}),)),
    Example("most-values-lowered", "Model.method", f"{M}/method/many", {"max": 1}),
    Example("most-values-raised", "Model.method", f"{M}/method/many", True),
    Example("attribute-identifying", "beats.margin", f"{L}/beats/attributes/margin/identifying", True),
    Example("attribute-not-identifying", "beats.on", f"{L}/beats/attributes/on/identifying", None),
    Example("unit-changed", "Model.size", f"{M}/size/unit", "kg", sql="SELECT name FROM Model WHERE size > '1 TB'"),
    Example("unit-changed", "Model.size", f"{M}/size/unit", None, sql="SELECT name FROM Model WHERE size > '1 TB'"),
    Example("minimum-raised", "Model.size", f"{M}/size/min", 10),
    Example("minimum-lowered", "Model.size", f"{M}/size/min", None),
    Example("maximum-lowered", "Model.size", f"{M}/size/max", 80),
    Example("maximum-raised", "Model.size", f"{M}/size/max", 200),
    Example("pattern-added", "Model.code", f"{M}/code/pattern", "[A-Z]", ((f"{M}/code", {"type": "string"}),)),
    Example("pattern-changed", "Model.city", f"{M}/city/pattern", "[A-Z]{2}.*", ((f"{M}/city/default", None),)),
    Example("pattern-removed", "Model.city", f"{M}/city/pattern", None),
    Example("enum-value-added", "Model.method", f"{M}/method/values/RLHF", {}),
    Example(
        "enum-value-removed", "Model.method", f"{M}/method/values/DPO", None,
        sql="SELECT name FROM Model WHERE method = 'DPO'",
    ),
    Example("targets-widened", "beats.on", f"{L}/beats/attributes/on/to", ["Thing", "Firm"]),
    Example("targets-narrowed", "beats.on", f"{L}/beats/attributes/on/to", ["LanguageModel"]),
    Example("default-changed", "Model.city", f"{M}/city/default", None),
    Example("relation-added", "owns", f"{L}/owns", {"domain": "Person", "range": "Model"}),
    Example("relation-removed", "made_by", f"{L}/made_by", None, sql="SELECT subject FROM made_by"),
    Example("domain-widened", "made_by", f"{L}/made_by/domain", ["Model", "Firm"]),
    Example("domain-narrowed", "made_by", f"{L}/made_by/domain", ["LanguageModel"]),
    Example("range-widened", "made_by", f"{L}/made_by/range", ["Person", "Firm", "Model"]),
    Example("range-narrowed", "made_by", f"{L}/made_by/range", ["Person"]),
    Example("fewest-objects-raised", "made_by", f"{L}/made_by/cardinality", {"objects": "1..2", "subjects": "0..2"}),
    Example("fewest-objects-raised", "owns", f"{L}/owns", {"domain": "Person", "range": "Model", "cardinality": "1"}),
    Example("fewest-objects-lowered", "made_by", f"{L}/made_by/cardinality/objects", "0..2",
            ((f"{L}/made_by/cardinality/objects", "1..2"),)),
    Example("most-objects-lowered", "made_by", f"{L}/made_by/cardinality/objects", "one"),
    Example("most-objects-raised", "made_by", f"{L}/made_by/cardinality/objects", "many"),
    Example("fewest-subjects-raised", "made_by", f"{L}/made_by/cardinality/subjects", "1..2"),
    Example("fewest-subjects-lowered", "made_by", f"{L}/made_by/cardinality/subjects", "0..2",
            ((f"{L}/made_by/cardinality/subjects", "1..2"),)),
    Example("most-subjects-lowered", "made_by", f"{L}/made_by/cardinality/subjects", "one"),
    Example("most-subjects-raised", "made_by", f"{L}/made_by/cardinality/subjects", "many"),
    Example("inverse-added", "made_by", f"{L}/made_by/inverse", "maker_of"),
    Example("inverse-removed", "based_on", f"{L}/based_on/inverse", None),
    Example("inverse-changed", "based_on", f"{L}/based_on/inverse", "origin_of"),
    Example("symmetric-added", "beats", f"{L}/beats/symmetric", True),
    Example("symmetric-removed", "knows", f"{L}/knows/symmetric", None),
    Example("asymmetric-added", "knows", f"{L}/knows/asymmetric", True, ((f"{L}/knows/symmetric", None),)),
    Example("asymmetric-removed", "leads", f"{L}/leads/asymmetric", None),
    Example("transitive-added", "leads", f"{L}/leads/transitive", True),
    Example("transitive-removed", "knows", f"{L}/knows/transitive", None),
    Example("acyclic-added", "knows", f"{L}/knows/acyclic", True, ((f"{L}/knows/symmetric", None),)),
    Example("acyclic-removed", "leads", f"{L}/leads/acyclic", None),
    Example("conflict-changed", "based_on", f"{L}/based_on/conflict", "error"),
    Example("conflict-loosened", "based_on", f"{L}/based_on/conflict", "latest",
            ((f"{L}/based_on/conflict", "error"),)),
]  # fmt: skip


def put(plain: Plain, path: str, value: Any) -> None:
    *parts, last = path.split("/")
    for part in parts:
        plain = plain.setdefault(part, {})
    if value is None:
        del plain[last]
    else:
        plain[last] = deepcopy(value)


def ontologies(example: Example) -> tuple[Plain, Ontology, Plain, Ontology]:
    """Before and after an example, as they are written and as they are read."""
    before = deepcopy(BASE)
    for path, value in example.first:
        put(before, path, value)
    after = deepcopy(before)
    put(after, example.path, example.value)
    old, new = compiled(before), compiled(after)
    assert old is not None
    assert new is not None
    return before, old, after, new


def difference(example: Example) -> Difference:
    _, old, _, new = ontologies(example)
    return diff(old, new)


def found(example: Example) -> Change:
    return next(c for c in difference(example).changes if (c.kind, c.where) == (example.kind, example.where))
