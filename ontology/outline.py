"""What exports of an ontology share: what a type declares itself, the ends of relations, and words for limits."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from ontology.findings import did_you_mean, shown
from ontology.schema import (
    NUMERIC,
    Attribute,
    Cardinality,
    Deprecation,
    EntityType,
    Ontology,
    Relation,
)
from ontoloom.errors import OntologyError
from ontoloom.records import canonical_text


def bases(ontology: Ontology, type_name: str) -> tuple[str, ...]:
    """The types that a type names as what it is: its parent, then its mixins."""
    one = ontology.types[type_name]
    return tuple(dict.fromkeys(up for up in (one.parent, *one.mixins) if up))


def parents_first(ontology: Ontology) -> tuple[str, ...]:
    """All types, each behind those that it is, else in the order of the ontology."""
    found: dict[str, None] = {}
    for name in ontology.types:
        above = ontology.ancestors(name)
        found.update(dict.fromkeys(sorted(above, key=lambda up: len(ontology.ancestors(up)))))
        found[name] = None
    return tuple(found)


def own_attributes(ontology: Ontology, type_name: str) -> tuple[Attribute, ...]:
    """The attributes that a type declares, or declares anew: all that no base of it has as they are here."""
    above = [ontology.types[up].attributes for up in bases(ontology, type_name)]
    attributes = ontology.types[type_name].attributes.values()
    return tuple(a for a in attributes if not any(one.get(a.name) == a for one in above))


def declared_in(ontology: Ontology, type_name: str, attribute: str) -> str:
    """The nearest type, the type itself included, that declares an attribute as it is there."""
    own = {a.name for a in own_attributes(ontology, type_name)}
    if attribute in own:
        return type_name
    here = ontology.types[type_name].attributes[attribute]
    up = next(up for up in bases(ontology, type_name) if ontology.types[up].attributes.get(attribute) == here)
    return declared_in(ontology, up, attribute)


def by_head(attributes: Iterable[Attribute]) -> dict[str, tuple[Attribute, ...]]:
    """Attributes by their names, the fields of a record together under its name, in order."""
    found: dict[str, tuple[Attribute, ...]] = {}
    for attribute in attributes:
        head = attribute.name.partition(".")[0]
        found[head] = (*found.get(head, ()), attribute)
    return found


def is_record(fields: Collection[Attribute]) -> bool:
    """Whether what ``by_head`` found under one name are fields of a record."""
    return any("." in attribute.name for attribute in fields)


def record_parts(fields: Collection[Attribute]) -> tuple[str, tuple[Attribute, ...]]:
    """The description of a record, and its fields without it.

    Fields that have no description have that of their record, so it is one that all have.
    """
    said = {attribute.description for attribute in fields}
    if len(said) > 1:
        return "", tuple(fields)
    return said.pop(), tuple(replace(attribute, description="") for attribute in fields)


def sentence(text: str) -> str:
    """A text with a capital at its start and a full stop; empty where it is empty."""
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def field_name(attribute: Attribute) -> str:
    """``gpu_memory`` of ``hardware.gpu_memory``; the name of what is no field."""
    return attribute.name.rpartition(".")[2]


def families(ontology: Ontology) -> dict[tuple[str, str], str]:
    """Which types share an attribute, or a record, by inheritance: ``(type, name)`` → the first of them all.

    Where a type has an attribute from two types that know nothing of each other, all three are one family.
    """
    found: dict[tuple[str, str], str] = {}
    order = parents_first(ontology)
    for type_name in order:
        above = ontology.ancestors(type_name)
        for head in by_head(ontology.types[type_name].attributes.values()):
            joined = {found[up, head] for up in above if (up, head) in found}
            first = min(joined, key=order.index, default=type_name)
            if len(joined) > 1:
                found.update({key: first for key, owner in found.items() if key[1] == head and owner in joined})
            found[type_name, head] = first
    return found


def topmost(ontology: Ontology, types: Iterable[str]) -> tuple[str, ...]:
    """The given types without those that are below another of them."""
    given = tuple(types)
    return tuple(name for name in given if not set(ontology.ancestors(name)) & set(given))


def concrete(ontology: Ontology, types: Iterable[str]) -> tuple[str, ...]:
    """The given types and all below them that something can be of, in the order of the ontology."""
    given = set(types)
    return not_abstract(ontology, [t for t in ontology.types if t in given or given & set(ontology.ancestors(t))])


def not_abstract(ontology: Ontology, types: Iterable[str]) -> tuple[str, ...]:
    """Those of the given types that something can be of, in the order of the ontology.

    The ends of relations and what a reference may name hold the types below them already.
    """
    given = set(types)
    return tuple(name for name, one in ontology.types.items() if name in given and not one.abstract)


def starting_at(ontology: Ontology, type_name: str) -> tuple[Relation, ...]:
    """The relations whose subjects may be of a type."""
    return tuple(r for r in ontology.relations.values() if type_name in r.domain)


def leading_to(ontology: Ontology, type_name: str) -> tuple[Relation, ...]:
    """The relations whose objects may be of a type."""
    return tuple(r for r in ontology.relations.values() if type_name in r.range)


def around_type(ontology: Ontology, type_name: str | None) -> tuple[str, ...]:
    """A type with all that touches it: what it is, what is it, and the other ends of relations; None: all types.

    Raises OntologyError where there is no such type.
    """
    if type_name is None:
        return tuple(ontology.types)
    if type_name not in ontology.types:
        raise OntologyError(
            f"there is no type {shown(type_name)}", hint=did_you_mean(type_name, list(ontology.types)), code="no-type"
        )
    near = {type_name, *ontology.ancestors(type_name)}
    near |= {name for name in ontology.types if type_name in bases(ontology, name)}
    for relation in starting_at(ontology, type_name):
        near.update(topmost(ontology, relation.range))
    for relation in leading_to(ontology, type_name):
        near.update(topmost(ontology, relation.domain))
    return tuple(name for name in ontology.types if name in near)


def amount(cardinality: Cardinality) -> str:
    """A cardinality in words: ``any number``, ``at most 1``, ``exactly 1``, ``at least 1``, ``2 to 5``."""
    least, most = cardinality
    if least == most:
        return f"exactly {least}"
    if most is None:
        return f"at least {least}" if least else "any number"
    return f"{least} to {most}" if least else f"at most {most}"


def how_many(attribute: Attribute) -> Cardinality:
    """How many values something has for an attribute."""
    if not attribute.many:
        return Cardinality(int(attribute.required), 1)
    return Cardinality(max(attribute.at_least, 1) if attribute.required else 0, attribute.at_most)


def limits(attribute: Attribute) -> str:
    """What values are limited to, in words: ``from 1 to 5 tokens``, ``at least 0 GB``; empty where they are not."""
    low, high = attribute.minimum, attribute.maximum
    unit = f" {attribute.unit}" if attribute.unit else ""
    if low is not None and high is not None:
        return f"from {canonical_text(low)} to {canonical_text(high)}{unit}"
    if low is not None:
        return f"at least {canonical_text(low)}{unit}"
    return f"at most {canonical_text(high)}{unit}" if high is not None else ""


def deprecation(deprecated: Deprecation) -> str:
    """``since 2.0.0; use Book``; empty where nothing more is said than that it is deprecated."""
    since = f"since {deprecated.since}" if deprecated.since else ""
    use = f"use {deprecated.use}" if deprecated.use else ""
    return "; ".join(part for part in (since, use) if part)


def details(attribute: Attribute) -> list[str]:
    """All that is said of an attribute's values beside their type and limits, each a sentence without its full stop."""
    said = []
    if attribute.unit and attribute.type in NUMERIC:
        said.append(f"In {attribute.unit}")
    if attribute.many and (attribute.at_least > 1 or attribute.at_most is not None):
        said.append(f"{amount(Cardinality(attribute.at_least, attribute.at_most)).capitalize()} values, if any")
    if attribute.unique:
        said.append("No two have the same")
    if attribute.identifying:
        said.append("Tells statements of the same two apart")
    if attribute.default is not None:
        said.append(f"Editors offer {canonical_text(attribute.default)}")
    return said


def properties(relation: Relation) -> list[str]:
    """What holds of a relation as such: ``symmetric``, ``acyclic`` …"""
    flags = ("symmetric", "asymmetric", "transitive", "acyclic")
    return [flag for flag in flags if getattr(relation, flag)]


def keys(entity_type: EntityType) -> tuple[tuple[str, ...], ...]:
    """Keys, and attributes that are unique by themselves, each once."""
    unique = tuple((a.name,) for a in entity_type.attributes.values() if a.unique)
    return tuple(dict.fromkeys((*entity_type.keys, *unique)))


def legal(name: str, taken: Collection[str]) -> str:
    """A name that is not taken: the name itself, else with as many underscores behind it as it needs."""
    while name in taken:
        name += "_"
    return name
