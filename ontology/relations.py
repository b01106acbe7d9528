"""Declarations of relations: ``based_on: {domain: Model, range: Model, cardinality: one}``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from yaml.nodes import MappingNode, ScalarNode

from ontology.attributes import PAGE_KEYS, check_names, read_attributes, read_types
from ontology.findings import did_you_mean, shown
from ontology.labels import LABEL_KEYS, read_labels
from ontology.schema import ANY_NUMBER, CONFLICTS, Attribute, Cardinality, Conflict, EntityType, Relation, with_subtypes
from ontology.shapes import Entries, Entry, read_flag, read_mapping, read_word
from ontology.strict_yaml import Source

FLAGS = ("symmetric", "asymmetric", "transitive", "acyclic")
RELATION_KEYS = ("domain", "range", "cardinality", "inverse", *FLAGS, "conflict", "attributes", *LABEL_KEYS)
CARDINALITY = re.compile(r"(\d{1,6})(?:\.\.(\d{1,6}|\*))?", re.ASCII)
WORDS = {"one": Cardinality(0, 1), "many": ANY_NUMBER}
CONTRADICTIONS = (
    ("symmetric", "asymmetric", "what holds both ways cannot hold one way only"),
    ("symmetric", "acyclic", "what holds both ways is a cycle"),
)


def read_relations(source: Source, related: Entries, types: Mapping[str, EntityType]) -> dict[str, Relation]:
    """The declared relations by name, over types that have what they inherit."""
    check_names(source, [key for key, _ in related.values()], "relation", taken=PAGE_KEYS)
    relations = {name: _read_relation(source, name, related, types) for name in related}
    for name, relation in relations.items():
        if relation.inverse:
            _check_inverse(source, related[name], relation, relations, types)
    return relations


def _read_relation(source: Source, name: str, related: Entries, types: Mapping[str, EntityType]) -> Relation:
    entry = related[name]
    found = read_mapping(source, entry, f"relation '{name}'", known=RELATION_KEYS, required=("domain", "range"))
    attributes: dict[str, Attribute] = {}
    if "attributes" in found:
        attributes = read_attributes(source, found["attributes"], place="relation", types=types)
    objects, subjects = (
        _read_cardinalities(source, found["cardinality"]) if "cardinality" in found else (ANY_NUMBER, ANY_NUMBER)
    )
    flags = {flag: flag in found and read_flag(source, found[flag]) for flag in FLAGS}
    domain = read_types(source, found["domain"], types) if "domain" in found else ()
    relation = Relation(
        name=name,
        domain=domain,
        range=read_types(source, found["range"], types) if "range" in found else (),
        objects=objects,
        subjects=subjects,
        attributes=attributes,
        inverse=(read_word(source, found["inverse"]) or "") if "inverse" in found else "",
        **flags,
        conflict=_read_conflict(source, found, objects) if "conflict" in found else "keep_all",
        **read_labels(source, found, siblings=related, own=name),
    )
    _check_flags(source, found, relation, types)
    return relation


def _read_cardinalities(source: Source, entry: Entry) -> tuple[Cardinality, Cardinality]:
    """How many objects a subject has, which may stand alone, and how many subjects an object."""
    if not isinstance(entry[1], MappingNode):
        return _read_cardinality(source, entry), ANY_NUMBER
    found = read_mapping(source, entry, "'cardinality'", known=("objects", "subjects"))
    objects, subjects = (
        _read_cardinality(source, found[end]) if end in found else ANY_NUMBER for end in ("objects", "subjects")
    )
    return objects, subjects


def _read_cardinality(source: Source, entry: Entry) -> Cardinality:
    word = read_word(source, entry)
    if word is None or word in WORDS:
        return WORDS[word or "many"]
    match = CARDINALITY.fullmatch(word)
    if match is not None:
        least = int(match[1])
        most = least if match[2] is None else None if match[2] == "*" else int(match[2])
        if most is None or 0 < most >= least:
            return Cardinality(least, most)
    fix = "write one, many, or limits such as 0..1, 1..* and 2..5"
    source.error(entry[1], "bad-cardinality", f"{shown(word)} does not say how many there may be", fix)
    return ANY_NUMBER


def _read_conflict(source: Source, found: Entries, objects: Cardinality) -> Conflict:
    key, node = found["conflict"]
    word = read_word(source, (key, node))
    policy = next((policy for policy in CONFLICTS if policy == word), None)
    if word is not None and policy is None:
        message = f"{shown(word)} is no way to settle a conflict"
        source.error(node, "bad-conflict", message, did_you_mean(word, CONFLICTS))
    elif objects.most != 1:
        message = "'conflict' is for relations that lead to one object"
        source.error(key, "misplaced-key", message, "add 'cardinality: one', or remove it")
    return policy or "keep_all"


def _check_flags(source: Source, found: Entries, relation: Relation, types: Mapping[str, EntityType]) -> None:
    """Reports flags that contradict each other, or that could never play a part."""
    stated = [flag for flag in FLAGS if getattr(relation, flag)]
    for one, other, why in CONTRADICTIONS:
        if one in stated and other in stated:
            later = max(found[one], found[other], key=lambda entry: entry[0].start_mark.index)[0]
            message = f"a relation cannot be {one} and {other}: {why}"
            source.error(later, "contradictory-flags", message, "remove one of them")
    if not stated or not relation.domain or not relation.range or source.partial:
        return
    domain, leads = (set(with_subtypes(types, ends)) for ends in (relation.domain, relation.range))
    if relation.symmetric and domain != leads:
        message = "a symmetric relation has the same domain and range"
        source.error(found["symmetric"][0], "contradictory-flags", message, "make them equal, or remove it")
    elif not domain & leads:
        message = f"'{stated[0]}' means nothing where a relation leads to other types than it starts from"
        source.error(found[stated[0]][0], "misplaced-key", message, "remove it")


def _check_inverse(
    source: Source,
    entry: Entry,
    relation: Relation,
    relations: Mapping[str, Relation],
    types: Mapping[str, EntityType],
) -> None:
    """An inverse is a second name of its relation, so nothing else may have it where it could be read."""
    assert isinstance(entry[1], MappingNode)
    node = next(value for key, value in entry[1].value if key.value == "inverse")
    name, folded = relation.inverse, relation.inverse.casefold()
    before = [r for r in relations.values() if r.inverse.casefold() == folded]
    if relation.symmetric:
        source.error(node, "misplaced-key", "a symmetric relation is its own inverse", "remove it")
    elif folded in {other.casefold() for other in (*relations, *types)}:
        message = f"'{name}' names an inverse and something else"
        source.error(node, "name-clash", message, "an inverse is not declared itself; choose another name")
    elif before[0] is not relation:
        message = f"'{name}' is the inverse of '{before[0].name}' already"
        source.error(node, "name-clash", message, "choose another name")
    else:
        check_names(source, [node], "inverse", taken=PAGE_KEYS)
        _check_attributes(source, node, relation, types)


def _check_attributes(source: Source, node: ScalarNode, relation: Relation, types: Mapping[str, EntityType]) -> None:
    for type_name in with_subtypes(types, relation.range):
        attributes = types[type_name].attributes if type_name in types else {}
        if relation.inverse.casefold() in {name.partition(".")[0].casefold() for name in attributes}:
            message = f"'{relation.inverse}' names an inverse and an attribute of {type_name}, where it would be stated"
            source.error(node, "name-clash", message, "choose another name")
            return
