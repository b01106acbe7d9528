"""An ontology as a Mermaid class diagram, which Markdown viewers draw."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ontology.outline import around_type, bases, how_many, legal, own_attributes, topmost
from ontology.schema import Attribute, Cardinality, Ontology, Relation

WORDS = (
    "accdescr", "acctitle", "call", "callback", "class", "classdef", "classdiagram", "click", "cssclass", "direction",
    "end", "href", "interface", "link", "namespace", "note", "o", "style", "constructor", "hasownproperty",
    "isprototypeof", "propertyisenumerable", "tolocalestring", "tostring", "valueof",
)  # fmt: skip
"""Lower-case words that Mermaid's grammar does not read as names, and those that every JavaScript object has."""
HEAD = ("---", "config:", "  class:", "    hideEmptyMembersBox: true", "---")
MOST_LINES = 12
"""Attributes shown of one type; more are counted."""


def to_mermaid(ontology: Ontology, *, around: str | None = None) -> str:
    """A ``classDiagram``: types with the attributes that they declare, ``is_a``, mixins, and relations.

    ``around`` shows one type and what touches it, the others without their attributes. Raises OntologyError where
    there is no such type.
    """
    types = around_type(ontology, around)
    lines = [*HEAD, "classDiagram", "  direction LR"]
    for name in types:
        lines += _class(ontology, name, with_attributes=around in (None, name))
    lines += [
        f"  {_id(ontology, up)} {_arrow(ontology, name, up)} {_id(ontology, name)}"
        for name in types
        for up in bases(ontology, name)
    ]
    for relation in ontology.relations.values():
        lines += _links(ontology, relation, types, around)
    return "\n".join(lines) + "\n"


def _class(ontology: Ontology, name: str, *, with_attributes: bool) -> Iterator[str]:
    one = ontology.types[name]
    members = ["<<abstract>>"] if one.abstract else []
    if one.deprecated:
        members.append("<<deprecated>>")
    if with_attributes:
        attributes = [a for a in own_attributes(ontology, name) if a.name != "name"]
        lines = [_member(attribute) for attribute in attributes]
        members += lines if len(lines) <= MOST_LINES else lines[: MOST_LINES - 1]
        if len(lines) > MOST_LINES:
            members.append(f"and {len(lines) - MOST_LINES + 1} more")
    found = _id(ontology, name)
    shown = name if found == name else f'{found}["{name}"]'
    if not members:
        yield f"  class {shown}"
        return
    yield f"  class {shown} {{"
    yield from (f"    {member}" for member in members)
    yield "  }"


def _member(attribute: Attribute) -> str:
    """``enum training_method [*]``: without the signs that Mermaid reads as the end of a class, generics or styles."""
    many = how_many(attribute)
    shown = "" if many == (0, 1) else f" [{_ends(many)}]"
    unit = re.sub(r"[^\w /%°^.-]", "", attribute.unit)
    return f"{attribute.type} {attribute.name}{shown}{f' in {unit}' if unit else ''}"


def _arrow(ontology: Ontology, name: str, up: str) -> str:
    return "<|--" if ontology.types[name].parent == up else "<|.."


def _links(ontology: Ontology, relation: Relation, types: tuple[str, ...], around: str | None) -> Iterator[str]:
    """A line for each pair of the types that a relation names; around a type, where it is at one of the ends."""
    line = "--" if relation.symmetric else "-->"
    name = relation.name + (f" / {relation.inverse}" if relation.inverse else "")
    seen: set[tuple[str, str]] = set()
    for start in topmost(ontology, relation.domain):
        for end in topmost(ontology, relation.range):
            shown = start in types and end in types
            near = around is None or {start, end} & {around, *ontology.ancestors(around)}
            if shown and near and not (relation.symmetric and (end, start) in seen):
                subjects, objects = _ends(relation.subjects), _ends(relation.objects)
                yield f'  {_id(ontology, start)} "{subjects}" {line} "{objects}" {_id(ontology, end)} : {name}'
            seen.add((start, end))


def _ends(cardinality: Cardinality) -> str:
    return "*" if cardinality == Cardinality() else str(cardinality)


def _id(ontology: Ontology, name: str) -> str:
    """A name that Mermaid takes for one."""
    return legal(f"{name}_", ontology.types) if name.casefold() in WORDS else name
