"""An :class:`Ontology` → ``ontology.yaml``, readable, and the same ontology again when it is compiled.

Only what is said is written: what is inherited, follows from something else or is as always is left out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ontology.attributes import NAME_ATTRIBUTE
from ontology.emit_yaml import Tree, emit
from ontology.outline import bases, own_attributes
from ontology.quantities import in_unit
from ontology.schema import (
    Attribute,
    Cardinality,
    Deprecation,
    Described,
    EntityType,
    EnumValue,
    Ontology,
    Relation,
    least_types,
)
from ontoloom.records import Value, canonical_text

FLAGS = ("symmetric", "asymmetric", "transitive", "acyclic")


def write_ontology(ontology: Ontology) -> str:
    """The text of an ontology. What it imports is written with the rest, as one file.

    Compiled, the text gives an ontology of the same hash. Attributes that types inherit need not be in them.
    """
    tree: dict[str, Tree] = {"ontology": ontology.name, "version": ontology.version}
    if ontology.description:
        tree["description"] = ontology.description
    tree["types"] = {name: _entity_type(ontology, one) for name, one in ontology.types.items()}
    if ontology.relations:
        tree["relations"] = {name: _relation(ontology.types, one) for name, one in ontology.relations.items()}
    return emit(tree)


def own_keys(ontology: Ontology, entity_type: EntityType) -> tuple[tuple[str, ...], ...]:
    """The keys that a type does not inherit."""
    inherited = {key for base in bases(ontology, entity_type.name) for key in ontology.types[base].keys}
    return tuple(key for key in entity_type.keys if key not in inherited)


def number_text(number: int | float) -> str:
    """A number as it is written: ``80`` for 80.0, ``1e+30`` for what would have many zeros."""
    whole = float(number).is_integer() and abs(number) < 1e15 and str(number) != "-0.0"
    return str(int(number)) if whole else str(number)


def _entity_type(ontology: Ontology, one: EntityType) -> Tree:
    tree: dict[str, Tree] = {}
    if one.parent:
        tree["is_a"] = one.parent
    if one.mixins:
        tree["mixins"] = _names(one.mixins)
    if one.abstract:
        tree["abstract"] = "true"
    if one.disjoint:
        tree["disjoint"] = _names(one.disjoint)
    tree |= _labels(one)
    keys = own_keys(ontology, one)
    if keys:
        tree["keys"] = [list(key) if len(key) > 1 else key[0] for key in keys]
    plain = not bases(ontology, one.name)
    own = {a.name: a for a in own_attributes(ontology, one.name) if a != NAME_ATTRIBUTE or not plain}
    own = _with_named(own, one.attributes)
    if own:
        tree["attributes"] = _attributes(ontology.types, own)
    return tree


def _with_named(own: Mapping[str, Attribute], every: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Own attributes with those that are to be used in place of a deprecated one: both are declared side by side."""
    found = dict(own)
    uses = [(one.name, one.deprecated.use) for one in own.values() if one.deprecated and one.deprecated.use]
    for name, use in uses:
        record, dot, _ = name.partition(".")
        place = f"{record}.{use}" if dot and f"{record}.{use}" in every else use
        found |= {n: one for n, one in every.items() if n == place or n.startswith(f"{place}.")}
    return {name: one for name, one in every.items() if name in found}


def _attributes(types: Mapping[str, EntityType], own: Mapping[str, Attribute]) -> Tree:
    tree: dict[str, Tree] = {}
    for name, one in own.items():
        record, dot, _ = name.partition(".")
        if name == "name":
            tree[name] = _name(one)
        elif not dot:
            tree[name] = _attribute(types, one)
        elif record not in tree:
            fields = [other for other in own.values() if other.name.startswith(f"{record}.")]
            tree[record] = _record(types, fields, len(record) + 1)
    return tree


def _name(one: Attribute) -> Tree:
    if one.description == NAME_ATTRIBUTE.description:
        one = replace(one, description="")
    pattern = {"pattern": one.pattern} if one.pattern is not None else {}
    return {**pattern, **_labels(one)} or {"type": "string"}


def _record(types: Mapping[str, EntityType], fields: Sequence[Attribute], prefix: int) -> Tree:
    """A record. What its fields may have from it is written there; its description is among theirs."""
    words, deprecated = _shared_synonyms(fields), _shared_deprecation(fields, prefix)
    tree: dict[str, Tree] = {"type": "record"}
    if words:
        tree["synonyms"] = list(words)
    if deprecated:
        tree["deprecated"] = _deprecation(deprecated)
    own = [
        replace(
            one,
            synonyms=one.synonyms[: len(one.synonyms) - len(words)],
            deprecated=None if one.deprecated == deprecated else one.deprecated,
        )
        for one in fields
    ]
    tree["fields"] = {one.name[prefix:]: _attribute(types, one) for one in own}
    return tree


def _shared_deprecation(fields: Sequence[Attribute], prefix: int) -> Deprecation | None:
    """What a record says for all its fields: what is the same in all, or cannot be said by one of them itself."""
    names = {one.name[prefix:] for one in fields}
    stated = [(one.deprecated, names - {one.name[prefix:]}) for one in fields]
    if any(deprecated is None for deprecated, _ in stated):
        return None
    outside = [d for d, siblings in stated if d and d.use and d.use not in siblings]
    return outside[0] if outside else stated[0][0] if len({d for d, _ in stated}) == 1 else None


def _shared_synonyms(fields: Sequence[Attribute]) -> tuple[str, ...]:
    """The longest list of words that ends the synonyms of all fields and can be a record's."""
    shared: tuple[str, ...] = ()
    for size in range(1, min(len(one.synonyms) for one in fields) + 1):
        ends = {one.synonyms[-size:] for one in fields}
        if len(ends) > 1 or any(len(set(end)) < size for end in ends):
            break
        own = [one.synonyms[:-size] for one in fields]
        if all(_has_words(one, words) for one, words in zip(fields, own, strict=True)):
            shared = next(iter(ends))
    return shared


def _has_words(one: Attribute, words: tuple[str, ...]) -> bool:
    """Whether these can be what a field itself has for synonyms: the words of its labels, then perhaps others."""
    said = tuple(dict.fromkeys([word for _, word in one.labels] + [w for _, more in one.translations for w in more]))
    return words[: len(said)] == said and (not one.translations or words == said)


def _attribute(types: Mapping[str, EntityType], one: Attribute) -> Tree:
    tree: dict[str, Tree] = {"type": one.type}
    if one.targets:
        targets = least_types(types, one.targets)
        tree["to"] = targets[0] if len(targets) == 1 else _names(targets)
    if one.unit:
        tree["unit"] = one.unit
    limits = {"min": one.at_least or None, "max": one.at_most}
    if one.many:
        tree["many"] = {key: str(limit) for key, limit in limits.items() if limit is not None} or "true"
    tree |= {key: "true" for key in ("required", "identifying", "unique") if getattr(one, key)}
    tree |= {key: number_text(x) for key, x in (("min", one.minimum), ("max", one.maximum)) if x is not None}
    if one.pattern is not None:
        tree["pattern"] = one.pattern
    if one.default is not None:
        tree["default"] = value_text(one, one.default)
    tree |= _labels(one)
    if one.values:
        tree["values"] = _values(one.values)
    return tree


def value_text(attribute: Attribute, value: Value) -> str:
    """A canonical value as a page writes it; a quantity with its unit."""
    if isinstance(value, str | bool) or not isinstance(value, int | float):
        return canonical_text(value)
    text = number_text(value)
    if attribute.type != "quantity":
        return text
    fixed = f"{value:f}".rstrip("0").rstrip(".")
    fits = in_unit(f"{text} {attribute.unit}", attribute.unit) == value
    return f"{text if fits else fixed} {attribute.unit}"


def _values(values: Sequence[EnumValue]) -> Tree:
    """A list of names where nothing is said about them. Names of a list are trimmed and normalized, keys are not."""
    labels = [_labels(value) for value in values]
    if not any(labels) and all(unicodedata.normalize("NFC", v.name.strip()) == v.name for v in values):
        return _names(value.name for value in values)
    return {value.name: label for value, label in zip(values, labels, strict=True)}


def _relation(types: Mapping[str, EntityType], one: Relation) -> Tree:
    tree: dict[str, Tree] = {}
    for key, ends in (("domain", one.domain), ("range", one.range)):
        least = least_types(types, ends)
        tree[key] = least[0] if len(least) == 1 else _names(least)
    many = Cardinality()
    if one.subjects != many:
        sides = {"objects": one.objects, "subjects": one.subjects}
        tree["cardinality"] = {side: _cardinality(count) for side, count in sides.items() if count != many}
    elif one.objects != many:
        tree["cardinality"] = _cardinality(one.objects)
    if one.inverse:
        tree["inverse"] = one.inverse
    tree |= {flag: "true" for flag in FLAGS if getattr(one, flag)}
    if one.conflict != "keep_all":
        tree["conflict"] = one.conflict
    tree |= _labels(one)
    if one.attributes:
        tree["attributes"] = {name: _attribute(types, attribute) for name, attribute in one.attributes.items()}
    return tree


def _cardinality(cardinality: Cardinality) -> str:
    return "one" if cardinality == Cardinality(0, 1) else str(cardinality)


def _labels(one: Described) -> dict[str, Tree]:
    """The keys of ``labels.LABEL_KEYS``. Words that a label says already are not said again as synonyms."""
    tree: dict[str, Tree] = {}
    if one.labels:
        tree["label"] = one.labels[0][1] if one.labels[0][0] == "" else dict(one.labels)
    if one.description:
        tree["description"] = one.description
    called = {word for _, word in one.labels}
    synonyms = [word for word in one.synonyms if word not in called]
    if one.translations:
        tree["synonyms"] = {tag: list(words) for tag, words in one.translations}
    elif synonyms:
        tree["synonyms"] = list(synonyms)
    if one.examples:
        tree["examples"] = list(one.examples)
    if one.deprecated:
        tree["deprecated"] = _deprecation(one.deprecated)
    return tree


def _deprecation(deprecated: Deprecation) -> Tree:
    return {key: word for key, word in (("since", deprecated.since), ("use", deprecated.use)) if word}


def _names(names: Iterable[str]) -> list[Tree]:
    return list(names)
