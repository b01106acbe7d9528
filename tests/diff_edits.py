"""Random small ontologies and edits of them, as they are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import lru_cache
from random import Random
from typing import Any

from ontology import Ontology
from ontology.read import compile_ontology

Plain = dict[str, Any]

SPECS: tuple[Plain, ...] = (
    {"type": "integer"},
    {"type": "integer", "min": 1, "max": 9, "required": True},
    {"type": "number", "unit": "GB"},
    {"type": "string"},
    {"type": "string", "unique": True},
    {"type": "string", "pattern": "[a-z]+", "required": True},
    {"type": "string", "many": {"min": 2, "max": 3}},
    {"type": "text"},
    {"type": "enum", "values": {"x": {"synonyms": ["ex"]}, "y": {}, "z": {}}},
    {"type": "enum", "values": ["x", "y"], "many": True},
    {"type": "boolean"},
    {"type": "date"},
    {"type": "quantity", "unit": "GB"},
    {"type": "url"},
)
OWN = {"A": ("a1", "a2"), "B": ("b1", "b2"), "C": ("c1", "code"), "D": ("d1", "code"), "M": ("m1",)}
CARDINALITIES = ("one", "many", "1", "1..*", "0..2", {"objects": "0..2", "subjects": "0..1"}, {"subjects": "1..*"})


def make_ontology(random: Random) -> Plain:
    """An ontology with up to five types below each other and two relations."""
    types: dict[str, Plain] = {"M": {"abstract": True}, **{name: {} for name in "ABCD"}}
    for name, one in types.items():
        chosen = [a for a in OWN[name] if random.random() < 0.7]
        if chosen:
            one["attributes"] = {a: deepcopy(random.choice(SPECS)) for a in chosen}
    for name, above in (("B", "A"), ("C", "AB")):
        if random.random() < 0.6:
            types[name]["is_a"] = random.choice(above)
    if random.random() < 0.4:
        types["D"]["mixins"] = ["M"]
    if random.random() < 0.3:
        types["A"]["disjoint"] = ["D"]
    relations = {"r": make_relation(random), "s": make_relation(random)}
    return {"ontology": "test", "version": "1.0.0", "types": types, "relations": relations}


def make_relation(random: Random) -> Plain:
    relation: Plain = {"domain": some(random, "ABD"), "range": some(random, "ABCD")}
    if random.random() < 0.5:
        relation["cardinality"] = deepcopy(random.choice(CARDINALITIES))
    if random.random() < 0.5:
        relation["attributes"] = {"w": deepcopy(random.choice([s for s in SPECS if "unique" not in s]))}
        if random.random() < 0.5:
            relation["attributes"]["by"] = {"type": "reference", "to": some(random, "ABCD"), "identifying": True}
    return relation


def some(random: Random, names: Iterable[str]) -> list[str]:
    names = list(names)
    return sorted(random.sample(names, random.randint(1, min(2, len(names)))))


# Edits: each changes a copy in one way, or not at all where it does not apply.

Edit = Callable[[Plain, Random], None]


def attributes_of(plain: Plain) -> list[tuple[Plain, str]]:
    owners = [*plain["types"].values(), *plain["relations"].values()]
    return [(one["attributes"], name) for one in owners for name in one.get("attributes", {})]


def one_attribute(change: Callable[[Plain, Random], None]) -> Edit:
    def edit(plain: Plain, random: Random) -> None:
        found = attributes_of(plain)
        if found:
            owner, name = random.choice(found)
            change(owner[name], random)

    return edit


def one_type(change: Callable[[Plain, Random, Plain], None]) -> Edit:
    return lambda plain, random: change(random.choice(list(plain["types"].values())), random, plain)


def one_relation(change: Callable[[Plain, Random], None]) -> Edit:
    def edit(plain: Plain, random: Random) -> None:
        if plain["relations"]:
            change(random.choice(list(plain["relations"].values())), random)

    return edit


def put(key: str, *choices: Any) -> Callable[..., None]:
    """Sets a key to one of the choices; None takes it away."""

    def change(one: Plain, random: Random, _plain: Plain | None = None) -> None:
        value = deepcopy(random.choice(choices))
        if value is None:
            one.pop(key, None)
        else:
            one[key] = value

    return change


def remove_type(plain: Plain, random: Random) -> None:
    gone = random.choice(list(plain["types"]))
    del plain["types"][gone]
    for one in plain["types"].values():
        for key in ("is_a", "mixins", "disjoint"):
            if gone in one.get(key, ()):
                del one[key]
    for relation in plain["relations"].values():
        for key in ("domain", "range"):
            relation[key] = [t for t in relation[key] if t != gone] or [next(iter(plain["types"]))]
        for attribute in relation.get("attributes", {}).values():
            if "to" in attribute:
                attribute["to"] = [t for t in attribute["to"] if t != gone] or [next(iter(plain["types"]))]


def add_type(plain: Plain, random: Random) -> None:
    above = random.choice([None, *plain["types"]])
    plain["types"]["N"] = {"is_a": above} if above else {"attributes": {"n1": deepcopy(random.choice(SPECS))}}
    if random.random() < 0.5 and plain["relations"]:
        random.choice(list(plain["relations"].values()))[random.choice(["domain", "range"])].append("N")


def move_above(plain: Plain, random: Random) -> None:
    """A new abstract type takes an attribute over from two types that have the same."""
    types = plain["types"]
    if {"C", "D"} <= types.keys() and all("code" in types[n].get("attributes", {}) for n in "CD"):
        types["N"] = {"abstract": True, "attributes": {"code": types["C"]["attributes"].pop("code")}}
        types["D"]["attributes"].pop("code")
        for name in "CD":
            types[name].setdefault("mixins", []).append("N")
            if not types[name]["attributes"]:
                del types[name]["attributes"]
        if random.random() < 0.5:
            types["N"]["disjoint"] = ["A"]


def rename_attribute(plain: Plain, random: Random) -> None:
    found = attributes_of(plain)
    if found:
        owner, name = random.choice(found)
        owner[f"{name}_new"] = owner.pop(name)


def remove_attribute(plain: Plain, random: Random) -> None:
    owners = [one for one in (*plain["types"].values(), *plain["relations"].values()) if one.get("attributes")]
    if owners:
        owner = random.choice(owners)
        del owner["attributes"][random.choice(list(owner["attributes"]))]
        if not owner["attributes"]:
            del owner["attributes"]


def add_attribute(plain: Plain, random: Random) -> None:
    owner = random.choice([*plain["types"].values(), *plain["relations"].values()])
    name = random.choice(["fresh", "r", "s", "a1", "w"])
    owner.setdefault("attributes", {})[name] = deepcopy(random.choice(SPECS))


def lift_attribute(plain: Plain, random: Random) -> None:
    """From a type to its parent."""
    for one in plain["types"].values():
        above = plain["types"].get(one.get("is_a"))
        if above is not None and one.get("attributes"):
            name = random.choice(list(one["attributes"]))
            above.setdefault("attributes", {})[name] = one["attributes"].pop(name)
            if not one["attributes"]:
                del one["attributes"]
            return


def change_type(attribute: Plain, random: Random) -> None:
    attribute.clear()
    attribute.update(deepcopy(random.choice(SPECS)))


def free_enum(attribute: Plain, random: Random) -> None:
    if attribute["type"] == "enum":
        del attribute["values"]
        attribute["type"] = random.choice(["string", "text"])


def change_values(attribute: Plain, random: Random) -> None:
    if attribute["type"] == "enum":
        attribute["values"] = random.choice([["x", "y"], ["x", "y", "z", "w"], ["z"], {"x": {}, "Y": {}, "z": {}}])


def only(types: Iterable[str], key: str, *choices: Any) -> Callable[..., None]:
    """Sets a key of an attribute that has one of the types of value."""
    change, allowed = put(key, *choices), tuple(types)
    return lambda one, random: change(one, random) if one["type"] in allowed else None


def remove_relation(plain: Plain, _random: Random) -> None:
    plain["relations"].pop("s", None)


def rename_relation(plain: Plain, random: Random) -> None:
    if "r" in plain["relations"]:
        plain["relations"]["r_new"] = plain["relations"].pop("r")


def make_inverse(plain: Plain, random: Random) -> None:
    """One relation becomes the other side of another."""
    if {"r", "s"} <= plain["relations"].keys():
        del plain["relations"]["s"]
        plain["relations"]["r"]["inverse"] = "s"


NUMBERS = ("integer", "number", "quantity")
LABELS = ("description", "synonyms", "label", "examples", "deprecated")
EDITS: dict[str, Edit] = {
    "version": put("version", "1.0.1", "1.1.0", "2.0.0"),
    "name": put("ontology", "other"),
    "description": put("description", "About things."),
    "type-add": add_type,
    "type-remove": remove_type,
    "type-is_a": one_type(put("is_a", "A", "B", "D", None)),
    "type-mixins": one_type(put("mixins", ["M"], None)),
    "type-abstract": one_type(put("abstract", True, None)),
    "type-disjoint": one_type(put("disjoint", ["A"], ["D"], ["B", "C"], None)),
    "type-keys": one_type(put("keys", ["code"], [["code", "name"]], ["a1"], [["a1", "a2"]], None)),
    "type-description": one_type(put("description", "Something else.", None)),
    "type-synonyms": one_type(put("synonyms", ["thing"], {"en": ["thing"], "zh": ["模型"]}, None)),
    "type-label": one_type(put("label", "thing", {"en": "Thing"}, None)),
    "type-deprecated": one_type(put("deprecated", {"since": "1.0.0"}, None)),
    "type-move-above": move_above,
    "attribute-add": add_attribute,
    "attribute-remove": remove_attribute,
    "attribute-rename": rename_attribute,
    "attribute-lift": lift_attribute,
    "attribute-type": one_attribute(change_type),
    "attribute-free-enum": one_attribute(free_enum),
    "attribute-values": one_attribute(change_values),
    "attribute-many": one_attribute(put("many", True, False, {"min": 2}, {"max": 2}, {"min": 1, "max": 3})),
    "attribute-required": one_attribute(put("required", True, False)),
    "attribute-unique": one_attribute(put("unique", True, False)),
    "attribute-unit": one_attribute(only(NUMBERS, "unit", "GB", "TB", "kg")),
    "attribute-min": one_attribute(only(NUMBERS, "min", 0, 1, 5, None)),
    "attribute-max": one_attribute(only(NUMBERS, "max", 5, 9, 2000, None)),
    "attribute-pattern": one_attribute(only(("string", "text"), "pattern", "[a-z]+", "[A-Za-z0-9 ]+", None)),
    "attribute-default": one_attribute(only(("string",), "default", "ab", None)),
    "attribute-description": one_attribute(put("description", "Else.")),
    "attribute-synonyms": one_attribute(put("synonyms", ["size"], None)),
    "attribute-examples": one_attribute(put("examples", ["5"], None)),
    "attribute-identifying": one_attribute(put("identifying", True, False)),
    "attribute-targets": one_attribute(only(("reference",), "to", ["A"], ["A", "D"], ["B", "C"], "D")),
    "relation-add": lambda plain, random: plain["relations"].update(t=make_relation(random)),
    "relation-remove": remove_relation,
    "relation-rename": rename_relation,
    "relation-make-inverse": make_inverse,
    "relation-domain": one_relation(put("domain", ["A"], ["A", "D"], ["B", "C", "D"], ["D"])),
    "relation-range": one_relation(put("range", ["A"], ["A", "D"], ["B", "C", "D"], ["D"])),
    "relation-cardinality": one_relation(put("cardinality", *CARDINALITIES)),
    "relation-inverse": one_relation(put("inverse", "back", "is_of", None)),
    "relation-symmetric": one_relation(put("symmetric", True, None)),
    "relation-asymmetric": one_relation(put("asymmetric", True, None)),
    "relation-transitive": one_relation(put("transitive", True, None)),
    "relation-acyclic": one_relation(put("acyclic", True, None)),
    "relation-conflict": one_relation(put("conflict", "latest", "most_trusted", "error", None)),
    "relation-synonyms": one_relation(put("synonyms", ["goes to"], None)),
}


def compiled(plain: Plain) -> Ontology | None:
    """The ontology; None where it has an error."""
    return _compiled(json.dumps(plain, ensure_ascii=False))


@lru_cache(maxsize=1000)
def _compiled(text: str) -> Ontology | None:
    return compile_ontology(text, file="ontology.yaml")[0]
