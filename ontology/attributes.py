"""Declarations of attributes, of types as of relations: ``context_length: {type: integer, unit: tokens}``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Literal

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ontology.findings import did_you_mean, shown
from ontology.labels import LABEL_KEYS, read_labels
from ontology.quantities import pint_unit
from ontology.schema import NUMERIC, VALUE_TYPES, Attribute, EnumValue, ValueType
from ontology.shapes import Entries, Entry, read_flag, read_mapping, read_number, read_word, read_words
from ontology.strict_yaml import Source, is_absent
from ontology.values import BadValue, pattern_fault, read_value

Place = Literal["type", "record", "relation"]

PAGE_KEYS = ("type", "name", "aliases", "source", "description")
"""Keys of a page that are no statements, whatever its type."""

RELATION_KEYS = ("target", "subject", "object")
"""Words that an attribute of a relation may not take: what the relation itself is made of."""

TAKEN: dict[Place, tuple[str, ...]] = {"type": PAGE_KEYS, "record": (), "relation": RELATION_KEYS}
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
NAME_ATTRIBUTE = Attribute("name", "string", required=True, description="What it is called.")

ATTRIBUTE_KEYS = (
    "type", "many", "required", "identifying", "unique", "default", "unit", "min", "max", "pattern", "values",
    "fields", "to", *LABEL_KEYS,
)  # fmt: skip
KEY_TYPES: dict[str, tuple[str, ...]] = {
    "unit": NUMERIC,
    "min": NUMERIC,
    "max": NUMERIC,
    "pattern": ("string", "text", "url"),
    "values": ("enum",),
    "fields": ("record",),
    "to": ("reference",),
}
NEEDED_KEYS = {"enum": "values", "record": "fields", "reference": "to", "quantity": "unit"}
NOT_FOR_RECORDS = ("many", "required", "unique", "default")
FIELD_TYPES = tuple(t for t in VALUE_TYPES if t != "reference")
PLACE_TYPES: dict[Place, tuple[str, ...]] = {
    "type": (*FIELD_TYPES, "record"),
    "record": FIELD_TYPES,
    "relation": VALUE_TYPES,
}


def read_attributes(
    source: Source, entry: Entry, *, place: Place, types: Collection[str], prefix: str = ""
) -> dict[str, Attribute]:
    """The attributes declared in a mapping, by name; fields of a record as ``record.field``."""
    found: dict[str, Attribute] = {}
    declared = read_mapping(source, entry, "fields" if place == "record" else "attributes")
    keys = [key for name, (key, _) in declared.items() if not (name == "name" and place == "type")]
    check_names(source, keys, "attribute", taken=TAKEN[place])
    for name, (key, node) in declared.items():
        if name == "name" and place == "type":
            found[name] = _read_name(source, (key, node))
            continue
        for attribute in _read_attribute(source, (key, node), prefix + name, place, types, declared):
            found[attribute.name] = attribute
    return found


def check_names(source: Source, keys: Iterable[ScalarNode], what: str, *, taken: Collection[str] = ()) -> None:
    """Reports names that are no identifiers, are taken, or differ from another in case only, which SQL folds."""
    seen: dict[str, str] = {}
    for key in keys:
        name, folded = key.value, key.value.casefold()
        one = f"an {what}" if what[0] in "aeiou" else f"a {what}"
        if not IDENTIFIER.fullmatch(name):
            fix = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
            proposal = f"write {fix}" if IDENTIFIER.fullmatch(fix) else "begin with a letter; use letters, digits and _"
            if any(c.isalpha() and not c.isascii() for c in name):
                proposal = "use the letters A to Z, digits and _"
            source.error(key, "bad-name", f"{shown(name)} cannot name {one}", proposal)
        elif folded in taken:
            source.error(key, "reserved-name", f"'{name}' is reserved and cannot name {one}", "choose another name")
        elif folded in seen:
            message = f"'{name}' and '{seen[folded]}' differ in case only"
            source.error(key, "name-clash", message, "choose another name")
        seen.setdefault(folded, name)


def read_types(source: Source, entry: Entry, types: Collection[str], *, own: str = "") -> tuple[str, ...]:
    """One type or a list of types, all declared; its ``own`` name is not proposed to a type."""
    found: list[str] = []
    for name, node in read_words(source, entry, or_one=True):
        if name not in types and not source.partial:
            fix = did_you_mean(name, [other for other in types if other != own])
            source.error(node, "unknown-type", f"there is no type {shown(name)}", fix)
        if name in found:
            source.error(node, "duplicate-value", f"{shown(name)} is there twice", "keep one")
        found.append(name)
    return tuple(found)


def _read_name(source: Source, entry: Entry) -> Attribute:
    """The built-in attribute ``name``: its type is fixed, its pattern and labels are not."""
    found = read_mapping(source, entry, "attribute 'name'", known=("type", "required", "pattern", *LABEL_KEYS))
    if "type" in found and read_word(source, found["type"]) not in ("string", None):
        source.error(found["type"][1], "misplaced-key", "'name' is always a string", "write string")
    if "required" in found and not read_flag(source, found["required"]):
        source.error(found["required"][1], "misplaced-key", "'name' is always required", "write true")
    labels = read_labels(source, found)
    labels["description"] = labels["description"] or NAME_ATTRIBUTE.description
    pattern = _read_pattern(source, found["pattern"]) if "pattern" in found else None
    return replace(NAME_ATTRIBUTE, pattern=pattern, **labels)


def _read_attribute(
    source: Source, entry: Entry, name: str, place: Place, types: Collection[str], siblings: Collection[str]
) -> Iterable[Attribute]:
    """One attribute; for a record, its fields. A field is also known by the record's synonyms."""
    found = read_mapping(source, entry, f"attribute '{name}'", known=ATTRIBUTE_KEYS, required=("type",))
    value_type = read_word(source, found["type"]) if "type" in found else None
    if value_type is None:
        return []
    if value_type not in PLACE_TYPES[place]:
        _report_type(source, found["type"][1], value_type, place, types)
        return []
    _check_keys(source, entry, name, found, value_type, place)
    labels = read_labels(source, found, siblings=siblings, own=name.rpartition(".")[2])
    if value_type == "record":
        if "fields" not in found:
            return []
        fields = read_attributes(source, found["fields"], place="record", types=types, prefix=f"{name}.")
        return [
            replace(
                f,
                description=f.description or labels["description"],
                synonyms=(*f.synonyms, *labels["synonyms"]),
                deprecated=f.deprecated or labels["deprecated"],
            )
            for f in fields.values()
        ]
    known: ValueType = next(t for t in VALUE_TYPES if t == value_type)
    many, at_least, at_most = _read_many(source, found["many"]) if "many" in found else (False, 0, None)
    minimum, maximum = _read_limits(source, found, known)
    attribute = Attribute(
        name=name,
        type=known,
        many=many,
        at_least=at_least,
        at_most=at_most,
        required="required" in found and read_flag(source, found["required"]),
        identifying="identifying" in found and read_flag(source, found["identifying"]),
        unique="unique" in found and read_flag(source, found["unique"]),
        unit=_read_unit(source, found["unit"], known) if "unit" in found else "",
        values=_read_enum(source, found["values"]) if "values" in found else (),
        targets=read_types(source, found["to"], types) if "to" in found else (),
        minimum=minimum,
        maximum=maximum,
        pattern=_read_pattern(source, found["pattern"]) if "pattern" in found else None,
        **labels,
    )
    return [_with_default(source, attribute, found["default"]) if "default" in found else attribute]


def _read_many(source: Source, entry: Entry) -> tuple[bool, int, int | None]:
    """``true``, or how many values there are at least and at most where there are any: ``{min: 2, max: 5}``."""
    if not isinstance(entry[1], MappingNode):
        return read_flag(source, entry), 0, None
    found = read_mapping(source, entry, "'many'", known=("min", "max"))
    limits = {key: _read_count(source, entry) for key, entry in found.items()}
    low, high = limits.get("min"), limits.get("max")
    if low is not None and high is not None and low > high:
        source.error(found["max"][1], "out-of-range", "'max' is below 'min'", "swap them or correct one")
    return True, low or 0, high


def _read_count(source: Source, entry: Entry) -> int | None:
    count = read_number(source, entry)
    if count is not None and not (count.is_integer() and 1 <= count <= 10**6):
        source.error(entry[1], "out-of-range", "how many values there are is an integer from 1 on", "write an integer")
        return None
    return None if count is None else int(count)


def _read_unit(source: Source, entry: Entry, value_type: ValueType) -> str:
    """A unit. That of a quantity stands behind its values, so that it must not be taken for a part of the number."""
    unit = read_word(source, entry) or ""
    if value_type == "quantity" and unit and not (pint_unit(unit) or re.fullmatch(r"[^\W\d_]+(?: [^\W\d_]+)*", unit)):
        source.error(entry[1], "bad-unit", f"{shown(unit)} cannot stand behind a number", "write a unit such as GB")
    return unit


def _with_default(source: Source, attribute: Attribute, entry: Entry) -> Attribute:
    word = read_word(source, entry)
    if word is None:
        return attribute
    try:
        return replace(attribute, default=read_value(attribute, word))
    except BadValue as bad:
        source.error(entry[1], bad.code, bad.message, bad.fix)
        return attribute


def _report_type(source: Source, node: Node, value_type: str, place: Place, types: Collection[str]) -> None:
    if value_type == "reference":
        fix = "declare a relation"
    elif value_type == "record":
        fix = "declare each field as an attribute"
    else:
        named = (
            f"declare a relation to {value_type}" if place == "type" else f"write {{type: reference, to: {value_type}}}"
        )
        fix = named if value_type in types and place != "record" else did_you_mean(value_type, PLACE_TYPES[place])
        source.error(node, "unknown-value-type", f"there is no type of value {shown(value_type)}", fix)
        return
    where = {"type": "an attribute of a type", "record": "a field", "relation": "an attribute of a relation"}[place]
    source.error(node, "misplaced-key", f"{where} cannot be a {value_type}", fix)


def _check_keys(source: Source, entry: Entry, name: str, found: Entries, value_type: str, place: Place) -> None:
    """Reports keys that mean nothing for this type of value or in this place."""
    for key in list(found):
        allowed = KEY_TYPES.get(key)
        if allowed is not None and value_type not in allowed:
            message = f"'{key}' is for {' and '.join(allowed)}, and '{name}' is {value_type}"
        elif key == "identifying" and place != "relation":
            message = "'identifying' is for attributes of relations"
        elif key in NOT_FOR_RECORDS and value_type == "record":
            message = f"'{key}' is for the fields of a record, not for the record"
        elif key == "unique" and place == "relation":
            message = "'unique' is for attributes of types"
        elif key == "default" and value_type == "reference":
            message = "'default' is a value, and a reference names a page"
        else:
            continue
        source.error(found.pop(key)[0], "misplaced-key", message, "remove it")
    needed = NEEDED_KEYS.get(value_type)
    if needed and needed not in found and not source.partial:
        source.error(entry[0], "missing-key", f"attribute '{name}' lacks the key '{needed}'", f"add '{needed}:'")


def _read_limits(source: Source, found: Entries, value_type: str) -> tuple[float | None, float | None]:
    limits = {key: read_number(source, found[key]) for key in ("min", "max") if key in found}
    for key, limit in limits.items():
        if limit is not None and value_type == "integer" and not limit.is_integer():
            source.error(found[key][1], "not-an-integer", f"'{key}' of an integer is an integer", "write an integer")
    low, high = limits.get("min"), limits.get("max")
    if low is not None and high is not None and low > high:
        source.error(found["max"][1], "out-of-range", "'max' is below 'min'", "swap them or correct one")
    return low, high


def _read_pattern(source: Source, entry: Entry) -> str | None:
    pattern = read_word(source, entry)
    fault = pattern_fault(pattern) if pattern is not None else None
    if fault is not None:
        source.error(entry[1], "bad-pattern", f"the pattern is no regular expression: {fault}", "see RE2's syntax")
    return pattern


def _read_enum(source: Source, entry: Entry) -> tuple[EnumValue, ...]:
    """The values of an enum, from a list of names or from a mapping of names to their labels."""
    seen: dict[str, str] = {}
    if not isinstance(entry[1], MappingNode):
        names = read_words(source, entry)
        for name, node in names:
            _check_spelling(source, seen, name, name, node)
        return tuple(EnumValue(name) for name, _ in names)
    declared = read_mapping(source, entry, "values")
    for name, (key, _) in declared.items():
        if read_word(source, (key, key)) is not None:
            _check_spelling(source, seen, name, name, key)
    return tuple(_read_enum_value(source, name, declared, seen) for name in declared)


def _read_enum_value(source: Source, name: str, declared: Entries, seen: dict[str, str]) -> EnumValue:
    entry = declared[name]
    if is_absent(entry[1]):
        return EnumValue(name)
    found = read_mapping(source, entry, f"value {shown(name)}", known=LABEL_KEYS, may_be_empty=True)
    synonyms = found["synonyms"][1] if "synonyms" in found else None
    for item in synonyms.value if isinstance(synonyms, SequenceNode) else ():
        if isinstance(item, ScalarNode):
            _check_spelling(source, seen, item.value.strip(), name, item)
    return EnumValue(name, **read_labels(source, found, siblings=declared, own=name))


def _check_spelling(source: Source, seen: dict[str, str], spelling: str, name: str, node: Node) -> None:
    """No spelling, case aside, may stand for two values of an enum."""
    folded = spelling.casefold()
    if folded in seen and (seen[folded] != name or spelling == name):
        source.error(node, "duplicate-value", f"{shown(spelling)} already stands for {shown(seen[folded])}", "keep one")
    seen.setdefault(folded, name)
