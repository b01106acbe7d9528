"""``is_a`` and ``mixins``: a type has the attributes of the types that it is, and may stand wherever they may."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from yaml.nodes import MappingNode, Node, SequenceNode

from ontology.findings import did_you_mean, shown
from ontology.schema import Attribute, Described, EntityType, ancestors
from ontology.shapes import Entries
from ontology.strict_yaml import Source, entries

LABELS = tuple(field.name for field in fields(Described))


def inherit(
    source: Source, types: Mapping[str, EntityType], declared: Entries, imported: Mapping[str, EntityType]
) -> dict[str, EntityType]:
    """Imported and declared types, with the attributes of their ancestors in front of their own.

    Reports parents that are not there, types that are themselves by way of others, mixins that are not abstract, and
    attributes declared otherwise than where they are inherited from.
    """
    found = {**imported, **types}
    found |= {name: _with_known_parent(source, one, found, declared) for name, one in types.items()}
    for name in types:
        found = _without_cycle(source, name, found, declared)
    depth = {name: len(ancestors(found, name)) for name in found}
    for name in sorted(types, key=lambda name: depth[name]):  # so that ancestors are complete already
        one = found[name]
        bases = [found[base] for base in (one.parent, *one.mixins) if base in found]
        found[name] = _merge(source, one, bases, declared) if bases else one
    _check_mixins(source, types, found, declared)
    return {name: found[name] for name in (*imported, *types)}


def _with_known_parent(
    source: Source, entity_type: EntityType, types: Mapping[str, EntityType], declared: Entries
) -> EntityType:
    parent = entity_type.parent
    if not parent or parent in types:
        return entity_type
    if not source.partial:
        fix = did_you_mean(parent, [t for t in types if t != entity_type.name])
        source.error(_place(declared, entity_type.name), "unknown-type", f"there is no type {shown(parent)}", fix)
    return replace(entity_type, parent="")


def _without_cycle(source: Source, name: str, types: dict[str, EntityType], declared: Entries) -> dict[str, EntityType]:
    """The types, with those of a cycle through one of them set free."""
    cycle = _cycle(types, name)
    if not cycle:
        return types
    message = f"'{name}' would be itself: {' is a '.join([name, *cycle])}"
    source.error(_place(declared, name, cycle[0]), "cyclic-type", message, "remove one 'is_a' or mixin")
    return types | {member: replace(types[member], parent="", mixins=()) for member in cycle}


def _cycle(types: Mapping[str, EntityType], name: str) -> list[str]:
    """The shortest way up from a type that leads back to it; empty where there is none."""
    below: dict[str, str] = {}
    near = [name]
    while near:
        ways = [(up, one) for one in near for up in (types[one].parent, *types[one].mixins) if up in types]
        near = []
        for up, one in ways:
            if up == name:
                way = [name]
                while one != name:
                    way.append(one)
                    one = below[one]
                return way[::-1]
            if up not in below:
                below[up] = one
                near.append(up)
    return []


def _check_mixins(
    source: Source, own: Mapping[str, EntityType], types: Mapping[str, EntityType], declared: Entries
) -> None:
    for name in own:
        for mixin in own[name].mixins:
            if mixin in types and not types[mixin].abstract:
                message = f"'{mixin}' is not abstract, as a mixin must be"
                fix = f"declare {mixin} 'abstract: true', or write 'is_a: {mixin}'"
                source.error(_place(declared, name, mixin), "not-abstract", message, fix)


def _merge(source: Source, entity_type: EntityType, bases: Sequence[EntityType], declared: Entries) -> EntityType:
    """A type with what it inherits, attributes that it declares again with the labels that it gives them."""
    attributes: dict[str, Attribute] = {}
    origins: dict[str, EntityType] = {}
    for base in bases:
        for name, attribute in base.attributes.items():
            if attributes.setdefault(name, attribute) != attribute and name != "name":
                message = f"'{name}' is declared otherwise in {origins[name].name} and in {base.name}"
                place = _place(declared, entity_type.name, base.name)
                source.error(place, "redefined-attribute", message, "rename it in one of the two")
            origins.setdefault(name, base)
    heads = {name.partition(".")[0].casefold(): name for name in attributes}
    for name, own in entity_type.attributes.items():
        node = _attribute(declared, entity_type.name, name)
        if node is None:  # a name that is not declared
            continue
        (head, dot, _), inherited = name.partition("."), heads.get(name.partition(".")[0].casefold())
        if name in origins:
            attributes[name] = _again(source, node, own, attributes[name], entity_type, origins[name])
        elif inherited is None or (dot and inherited.startswith(f"{head}.")):
            attributes[name] = own
        elif inherited.partition(".")[0] == head:
            _report(source, node, head, entity_type, origins[inherited])
        else:
            above = origins[inherited].name
            message = f"'{head}' and '{inherited}', which {entity_type.name} has from {above}, differ in case only"
            source.error(node, "name-clash", message, "choose another name")
    keys = tuple(dict.fromkeys(key for one in (*bases, entity_type) for key in one.keys))
    return replace(entity_type, attributes=attributes, keys=keys)


def _again(
    source: Source, node: Node, own: Attribute, inherited: Attribute, entity_type: EntityType, parent: EntityType
) -> Attribute:
    """An attribute that is declared again: it may be described anew, be required, and be given a pattern."""
    own = replace(
        own, description=own.description or inherited.description, synonyms=own.synonyms or inherited.synonyms
    )
    loosened = replace(
        own,
        **{name: getattr(inherited, name) for name in LABELS},
        required=own.required and inherited.required,
        pattern=inherited.pattern and own.pattern,
        default=inherited.default,
    )
    if loosened != inherited:
        _report(source, node, own.name, entity_type, parent)
    return own


def _report(source: Source, node: Node, name: str, entity_type: EntityType, parent: EntityType) -> None:
    message = f"'{name}' is not declared as in {parent.name}, which {entity_type.name} is"
    source.error(node, "redefined-attribute", message, "leave it out, or declare it as there")


def _place(declared: Entries, type_name: str, above: str | None = None) -> Node:
    """Where a type names a type above it, by default its parent."""
    key, node = declared[type_name]
    found = entries(node) if isinstance(node, MappingNode) else {}
    mixins = found["mixins"][1] if "mixins" in found else None
    parts = mixins.value if isinstance(mixins, SequenceNode) else [mixins] if mixins is not None else []
    named = next((part for part in parts if above is not None and part.value == above), None)
    return named or (found["is_a"][1] if "is_a" in found else key)


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
