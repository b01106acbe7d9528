"""Whether the ontology admits what was said; the one gate between claims and triples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ontology.findings import did_you_mean, shown
from ontology.schema import Attribute, Ontology, Relation
from ontology.values import BadValue, read_value
from ontoloom.records import Entity, EntityRef, Triple, Value, canonical_text


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something is not admitted: a stable code and one line that says what would be right."""

    code: str
    message: str


def admit_type(ontology: Ontology, type: str) -> Refusal | None:
    """None where things of the type may be, else the refusal."""
    known = ontology.types.get(type)
    if known is not None and known.abstract:
        fix = f"name one of {', '.join(ontology.concrete(ontology.subtypes(type)))}"
        return _refuse("abstract-type", f"{type} is abstract: nothing is that alone", fix)
    if known is not None:
        return None
    return _refuse("unknown-type", f"there is no type {shown(type)}", did_you_mean(type, list(ontology.types)))


def admit(
    ontology: Ontology,
    *,
    relation: str,
    subject: Entity,
    object: Entity | Value,
    attributes: Sequence[tuple[str, Entity | Value]] = (),
) -> Triple | Refusal:
    """The triple in canonical form, or why there is none.

    ``relation`` is a relation or an attribute of the subject's type (``record.field`` for a field). The object of an
    attribute, and the values among ``attributes``, are raw: they are read as strictly as those of a page.
    """
    for entity in (subject, object):
        refusal = admit_type(ontology, entity.type) if isinstance(entity, Entity) else None
        if refusal is not None:
            return refusal
    attribute = ontology.attribute(subject.type, relation)
    if attribute is not None:
        return _admit_value(attribute, subject, object, attributes)
    known = ontology.relations.get(relation)
    if known is None:
        return _refuse_name(ontology, relation, subject, object)
    if not isinstance(object, Entity):
        ends = " or ".join(known.range)
        return _refuse("not-an-entity", f"'{relation}' leads to {ends}, not to the value {shown(object)}", "name one")
    refusal = _refuse_ends(known, subject, object)
    if refusal is not None:
        return refusal
    read = _admit_attributes(known, attributes)
    if isinstance(read, Refusal):
        return read
    identifying = tuple(sorted(a.name for a in known.attributes.values() if a.identifying))
    return Triple(subject.id, relation, EntityRef(object.id), read, identifying)


def _refuse(code: str, message: str, fix: str) -> Refusal:
    return Refusal(code, f"{message}; {fix}" if fix else message)


def _admit_value(
    attribute: Attribute, subject: Entity, object: Entity | Value, attributes: Sequence[tuple[str, Entity | Value]]
) -> Triple | Refusal:
    if attributes:
        message = f"'{attribute.name}' is an attribute and has no attributes such as {shown(attributes[0][0])}"
        return _refuse("unknown-relation-attribute", message, "leave them out")
    value = _read(attribute, object)
    return value if isinstance(value, Refusal) else Triple(subject.id, attribute.name, value)


def _read(attribute: Attribute, value: Entity | Value) -> Value | Refusal:
    if isinstance(value, Entity):
        message = f"'{attribute.name}' has a value of type {attribute.type}, not the entity {shown(value.name)}"
        return _refuse("not-a-literal", message, "give a value")
    try:
        return read_value(attribute, value)
    except BadValue as bad:
        return _refuse("bad-value", bad.message, bad.fix)


def _refuse_name(ontology: Ontology, relation: str, subject: Entity, object: Entity | Value) -> Refusal:
    """Neither a relation nor an attribute of the subject's type."""
    own = [*ontology.types[subject.type].attributes]
    others = [t.name for t in ontology.types_with_attribute(relation)]
    if others:
        message = f"{subject.type} has no attribute {shown(relation)}"
        return _refuse("unknown-attribute", message, f"it is one of {', '.join(others)}")
    if isinstance(object, Entity):
        fix = did_you_mean(relation, list(ontology.relations))
        return _refuse("unknown-relation", f"there is no relation {shown(relation)}", fix)
    fix = did_you_mean(relation, own)
    return _refuse("unknown-attribute", f"{subject.type} has no attribute {shown(relation)}", fix)


def _refuse_ends(relation: Relation, subject: Entity, object: Entity) -> Refusal | None:
    starts, leads = subject.type in relation.domain, object.type in relation.range
    if starts and leads:
        return None
    legal = f"'{relation.name}' goes from {' or '.join(relation.domain)} to {' or '.join(relation.range)}"
    if object.type in relation.domain and subject.type in relation.range:
        return _refuse("reversed", f"{legal}, not from {subject.type} to {object.type}", "swap subject and object")
    if not starts:
        return _refuse("wrong-domain", f"{legal}; {shown(subject.name)} is {subject.type}", "")
    return _refuse("wrong-range", f"{legal}; {shown(object.name)} is {object.type}", "")


def _admit_attributes(
    relation: Relation, attributes: Sequence[tuple[str, Entity | Value]]
) -> tuple[tuple[str, EntityRef | Value], ...] | Refusal:
    """Attributes of a relation in canonical form, sorted by name, the values of one that holds many by their text."""
    read: dict[tuple[str, str], EntityRef | Value] = {}
    named: set[str] = set()
    for name, value in attributes:
        attribute = relation.attributes.get(name)
        if attribute is None:
            message = f"'{relation.name}' has no attribute {shown(name)}"
            return _refuse("unknown-relation-attribute", message, did_you_mean(name, list(relation.attributes)))
        if name in named and not attribute.many:
            return _refuse("bad-value", f"'{name}' of '{relation.name}' is given twice", "give it once")
        canonical = _read_reference(attribute, value) if attribute.type == "reference" else _read(attribute, value)
        if isinstance(canonical, Refusal):
            return canonical
        named.add(name)
        read[name, canonical_text(canonical)] = canonical
    missing = [a.name for a in relation.attributes.values() if a.required and a.name not in named]
    if missing:
        message = f"'{relation.name}' needs the attribute '{missing[0]}'"
        return _refuse("missing-attribute", message, "state it")
    return tuple((name, value) for (name, _), value in sorted(read.items(), key=lambda item: item[0]))


def _read_reference(attribute: Attribute, value: Entity | Value) -> EntityRef | Refusal:
    targets = " or ".join(attribute.targets)
    if not isinstance(value, Entity):
        message = f"'{attribute.name}' names an entity, not the value {shown(value)}"
        return _refuse("not-an-entity", message, f"name one of type {targets}")
    if value.type not in attribute.targets:
        message = f"'{attribute.name}' names {targets}, and {shown(value.name)} is {value.type}"
        return _refuse("wrong-range", message, f"name one of type {targets}")
    return EntityRef(value.id)
