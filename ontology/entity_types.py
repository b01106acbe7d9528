"""Declarations of types: ``LanguageModel: {is_a: Model, attributes: {…}}``."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from yaml.nodes import MappingNode, Node, ScalarNode

from ontology.attributes import NAME_ATTRIBUTE, check_names, read_attributes, read_types
from ontology.findings import did_you_mean, shown
from ontology.inherit import inherit
from ontology.labels import LABEL_KEYS, read_labels
from ontology.schema import EntityType, ancestors
from ontology.shapes import Entries, Entry, read_flag, read_mapping, read_word, read_words
from ontology.strict_yaml import Source, entries, is_absent, kind

TYPE_KEYS = ("is_a", "mixins", "abstract", "disjoint", "keys", "attributes", *LABEL_KEYS)


def read_entity_types(source: Source, declared: Entries, imported: Mapping[str, EntityType]) -> dict[str, EntityType]:
    """Imported and declared types by name, with all that they inherit."""
    check_names(source, [key for key, _ in declared.values()], "type")
    known = dict.fromkeys([*imported, *declared])
    own = {name: _read_type(source, name, declared, known) for name in declared}
    types = inherit(source, own, declared, imported)
    for name in declared:
        _check_keys(source, declared[name], types[name])
        _check_disjoint(source, declared, types, name)
    return types


def _read_type(source: Source, name: str, declared: Entries, types: Collection[str]) -> EntityType:
    found = read_mapping(source, declared[name], f"type '{name}'", known=TYPE_KEYS, may_be_empty=True)
    attributes = {"name": NAME_ATTRIBUTE}
    if "attributes" in found:
        attributes |= read_attributes(source, found["attributes"], place="type", types=types)
    return EntityType(
        name,
        attributes,
        parent=(read_word(source, found["is_a"]) or "") if "is_a" in found else "",
        mixins=read_types(source, found["mixins"], types, own=name) if "mixins" in found else (),
        abstract="abstract" in found and read_flag(source, found["abstract"]),
        disjoint=read_types(source, found["disjoint"], types, own=name) if "disjoint" in found else (),
        keys=_read_keys(source, found["keys"]) if "keys" in found else (),
        **read_labels(source, found, siblings=types, own=name),
    )


def _read_keys(source: Source, entry: Entry) -> tuple[tuple[str, ...], ...]:
    """``[isbn]`` is a key of one attribute, ``[[vendor, version]]`` one of two."""
    if isinstance(entry[1], MappingNode | ScalarNode):
        fix = f"write [{entry[1].value}]" if isinstance(entry[1], ScalarNode) and not is_absent(entry[1]) else ""
        source.error(entry[1], "wrong-shape", f"'keys' is a list of keys, not {kind(entry[1])}", fix)
        return ()
    read = [tuple(word for word, _ in read_words(source, (item, item), or_one=True)) for item in entry[1].value]
    return tuple(key for key in read if key)


def _check_keys(source: Source, entry: Entry, entity_type: EntityType) -> None:
    """Keys consist of attributes that the type has, of one value each."""
    for word, node in _key_words(entry):
        attribute = entity_type.attributes.get(word)
        if attribute is None and not source.partial:
            fix = did_you_mean(word, list(entity_type.attributes))
            message = f"{entity_type.name} has no attribute {shown(word)} to be a key"
            source.error(node, "unknown-attribute", message, fix)
        elif attribute is not None and attribute.many:
            message = f"'{word}' has many values and cannot be a part of a key"
            source.error(node, "bad-key-attribute", message, "choose an attribute with one value")


def _key_words(entry: Entry) -> list[tuple[str, Node]]:
    found = entries(entry[1]).get("keys") if isinstance(entry[1], MappingNode) else None
    if found is None or isinstance(found[1], MappingNode | ScalarNode):
        return []
    items = [item for key in found[1].value for item in ([key] if isinstance(key, ScalarNode) else key.value)]
    return [(item.value.strip(), item) for item in items if isinstance(item, ScalarNode) and item.value.strip()]


def _check_disjoint(source: Source, declared: Entries, types: Mapping[str, EntityType], name: str) -> None:
    """Nothing can be of a type that is two types of which nothing can be both."""
    line = [one for one in (name, *ancestors(types, name)) if one in types]
    clash = next(((a, b) for a in line for b in types[a].disjoint if b in line), None)
    if clash is not None:
        message = f"{name} would be {clash[0]} and {clash[1]}, and nothing is both"
        source.error(declared[name][0], "disjoint-types", message, "remove one of them from what it is")
