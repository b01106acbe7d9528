"""``is_a``: a type has the attributes of the type that it is, and may stand wherever that type may."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from yaml.nodes import MappingNode, Node

from ontology.findings import did_you_mean, shown
from ontology.schema import Attribute, EntityType, ancestors
from ontology.shapes import Entries
from ontology.strict_yaml import Source, entries


def inherit(source: Source, types: Mapping[str, EntityType], declared: Entries) -> dict[str, EntityType]:
    """The types with the attributes of their ancestors in front of their own.

    Reports parents that are not there, types that are themselves by way of others, and attributes declared otherwise
    than where they are inherited from.
    """
    types = {name: _with_known_parent(source, t, types, declared) for name, t in types.items()}
    types = _without_cycles(source, types, declared)
    complete: dict[str, EntityType] = {}
    for name in types:
        for ancestor in reversed([name, *ancestors(types, name)]):
            if ancestor not in complete:
                parent = complete.get(types[ancestor].parent)
                merged = _merge(source, types[ancestor], parent, declared) if parent else types[ancestor]
                complete[ancestor] = merged
    return {name: complete[name] for name in types}


def _with_known_parent(
    source: Source, entity_type: EntityType, types: Mapping[str, EntityType], declared: Entries
) -> EntityType:
    parent = entity_type.parent
    if not parent or parent in types:
        return entity_type
    if not source.partial:
        fix = did_you_mean(parent, [t for t in types if t != entity_type.name])
        source.error(_is_a(declared, entity_type.name), "unknown-type", f"there is no type {shown(parent)}", fix)
    return replace(entity_type, parent="")


def _without_cycles(source: Source, types: dict[str, EntityType], declared: Entries) -> dict[str, EntityType]:
    """The types, with those of a cycle set free."""
    for name in list(types):
        line = ancestors(types, name)
        if name in line:
            message = f"'{name}' would be itself: {' is a '.join([name, *line[: line.index(name) + 1]])}"
            source.error(_is_a(declared, name), "cyclic-type", message, "remove one 'is_a'")
            types |= {member: replace(types[member], parent="") for member in line}
    return types


def _merge(source: Source, entity_type: EntityType, parent: EntityType, declared: Entries) -> EntityType:
    """A type with what it inherits, attributes that it declares again with the labels that it gives them."""
    attributes = dict(parent.attributes)
    heads = {name.partition(".")[0].casefold(): name for name in parent.attributes}
    for name, own in entity_type.attributes.items():
        node = _attribute(declared, entity_type.name, name)
        if node is None:  # a name that is not declared
            continue
        (head, dot, _), inherited = name.partition("."), heads.get(name.partition(".")[0].casefold())
        if name in parent.attributes:
            attributes[name] = _again(source, node, own, parent.attributes[name], entity_type, parent)
        elif inherited is None or (dot and inherited.startswith(f"{head}.")):
            attributes[name] = own
        elif inherited.partition(".")[0] == head:
            _report(source, node, head, entity_type, parent)
        else:
            message = (
                f"'{head}' and '{inherited}', which {entity_type.name} has from {parent.name}, differ in case only"
            )
            source.error(node, "name-clash", message, "choose another name")
    return replace(entity_type, attributes=attributes)


def _again(
    source: Source, node: Node, own: Attribute, inherited: Attribute, entity_type: EntityType, parent: EntityType
) -> Attribute:
    """An attribute that is declared again: it may be described anew, be required, and be given a pattern."""
    own = replace(
        own, description=own.description or inherited.description, synonyms=own.synonyms or inherited.synonyms
    )
    loosened = replace(
        own,
        description=inherited.description,
        synonyms=inherited.synonyms,
        required=own.required and inherited.required,
        pattern=inherited.pattern and own.pattern,
    )
    if loosened != inherited:
        _report(source, node, own.name, entity_type, parent)
    return own


def _report(source: Source, node: Node, name: str, entity_type: EntityType, parent: EntityType) -> None:
    message = f"'{name}' is not declared as in {parent.name}, which {entity_type.name} is"
    source.error(node, "redefined-attribute", message, "leave it out, or declare it as there")


def _is_a(declared: Entries, type_name: str) -> Node:
    key, node = declared[type_name]
    return entries(node)["is_a"][1] if isinstance(node, MappingNode) else key


def _attribute(declared: Entries, type_name: str, name: str) -> Node | None:
    """Where a type declares an attribute, or a field of a record: its key."""
    node, place = declared[type_name][1], None
    record, dot, field_name = name.partition(".")
    for key in ("attributes", record, *(("fields", field_name) if dot else ())):
        found = entries(node).get(key) if isinstance(node, MappingNode) else None
        if found is None:
            return None
        place, node = found
    return place
