"""An ontology as a JSON Schema for the front matter of wiki pages, which editors of YAML complete and check with.

An instance is front matter as our strict reader sees it, in JSON: values of attributes that are ``integer``,
``number`` or ``boolean`` as JSON has them, where they can be read as such, and all else as strings. An editor types
scalars by itself: a string that looks like a number or truth value, such as ``1.10``, it wants in quotes, which are
legal here too.

It cannot say what takes other pages (references and their types, names, keys, cycles, how many there are where several
pages state it), that two values are one in different spellings, what a unit is converted to (so no limits of
quantities), and patterns in words of RE2 alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ontology.exports.portable_patterns import anchored
from ontology.outline import by_head, concrete, deprecation, details, field_name, is_record
from ontology.schema import Attribute, Cardinality, Described, EntityType, Ontology, Relation
from ontology.values import MAX_INTEGER, BadValue, read_value
from ontoloom.records import Value, canonical_text

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
DAY = "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
QUANTITY = r"^[+-]?(?:[0-9][0-9.,_ ]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})? ?[^\s0-9.,+\-].*$"
URL = r"^[hH][tT][tT][pP][sS]?://[^\s/?#]+\S*$"
TEXT: Schema = {"type": "string", "pattern": r"\S"}
SHAPES: dict[str, Schema] = {
    "string": TEXT,
    "text": TEXT,
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "date": {"type": "string", "pattern": f"^{DAY}$", "format": "date"},
    "datetime": {"type": "string", "pattern": f"^{DAY}T{TIME}$"},
    "quantity": {"type": "string", "pattern": QUANTITY},
    "url": {"type": "string", "pattern": URL},
    "enum": {},
    "reference": TEXT,
}


def to_json_schema(ontology: Ontology) -> Schema:
    """The schema, draft 2020-12, with a definition of each type for its pages, and of what each relation leads to."""
    types = concrete(ontology, ontology.types)
    return {
        "$schema": DIALECT,
        "title": f"Pages of {ontology.name} {ontology.version}",
        **_text("description", ontology.description),
        "$comment": ontology.stamp,
        "type": "object",
        "properties": {"type": {"enum": list(types), "description": "What the page is about an instance of."}},
        "required": ["type", "name"],
        "allOf": [
            {
                "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                "then": {"$ref": f"#/$defs/{name}"},
            }
            for name in types
        ],
        "$defs": {name: _page(ontology, ontology.types[name]) for name in types} | _links(ontology),
    }


def _page(ontology: Ontology, entity_type: EntityType) -> Schema:
    fields = by_head(entity_type.attributes.values())
    properties: Schema = {
        "type": {"const": entity_type.name},
        "name": _attribute(entity_type.attributes["name"]),
        "aliases": {"type": "array", "items": TEXT, "minItems": 1, "description": "Other names."},
        "source": {
            **_one_or_many(SHAPES["url"], Cardinality(), unique=False),
            "description": "Where it is read about.",
        },
        "description": TEXT,
    }
    required = ["type", "name"]
    for head, attributes in fields.items():
        if head != "name":
            record = is_record(attributes)
            properties[head] = _record(attributes) if record else _attribute(attributes[0])
            required += [head] if any(one.required for one in attributes) else []
    for relation in ontology.relations.values():
        if entity_type.name in relation.domain:
            properties[relation.name] = _relation(relation, relation.objects)
            if relation.objects.least and not relation.inverse and not relation.symmetric:
                required.append(relation.name)  # else other pages may state it
        if relation.inverse and entity_type.name in relation.range:
            properties[relation.inverse] = _relation(relation, relation.subjects, inverse=True)
    return {**_said(entity_type), **_mapping(properties, required)}


def _attribute(attribute: Attribute) -> Schema:
    page = [_page_of(attribute.targets).removesuffix(".")] if attribute.targets else []
    said = _said(attribute, *page, *details(attribute))
    if attribute.default is not None:
        said["default"] = _json(attribute.default)
    if attribute.examples:
        said["examples"] = [_example(attribute, example) for example in attribute.examples]
    if not attribute.many:
        return {**said, **_value(attribute)}
    return {**said, **_one_or_many(_value(attribute), Cardinality(attribute.at_least, attribute.at_most))}


def _value(attribute: Attribute) -> Schema:
    """The shape of one value."""
    shape = dict(SHAPES[attribute.type])
    if attribute.type == "enum":
        shape["enum"] = [value.name for value in attribute.values]
    elif attribute.type in ("integer", "number"):
        low, high = attribute.minimum, attribute.maximum
        if attribute.type == "integer":
            low = -MAX_INTEGER if low is None else max(low, -MAX_INTEGER)
            high = MAX_INTEGER if high is None else min(high, MAX_INTEGER)
        shape |= {key: _json(limit) for key, limit in (("minimum", low), ("maximum", high)) if limit is not None}
    if attribute.pattern is not None:
        pattern = anchored(attribute.pattern)
        shape |= {"allOf": [{"pattern": pattern}]} if pattern else {"$comment": f"pattern of RE2: {attribute.pattern}"}
    return shape


def _one_or_many(value: Schema, count: Cardinality, *, unique: bool = True) -> Schema:
    """One value, where one is enough, or a list. The two are told apart first, so that errors are about one of them."""
    values: Schema = {"type": "array", "items": value, "minItems": max(count.least, 1)}
    if unique:
        values["uniqueItems"] = True
    if count.most is not None:
        values["maxItems"] = count.most
    return values if count.least > 1 else {"if": {"type": "array"}, "then": values, "else": value}


def _record(fields: Iterable[Attribute]) -> Schema:
    properties = {field_name(one): _attribute(one) for one in fields}
    return {**_mapping(properties, [field_name(one) for one in fields if one.required]), "minProperties": 1}


def _relation(relation: Relation, count: Cardinality, *, inverse: bool = False) -> Schema:
    """What a page says of a relation. How many there are at least is left to all pages where others may state it."""
    alone = not relation.inverse and not relation.symmetric
    told_apart = any(one.identifying for one in relation.attributes.values())  # then one page may be there twice
    limits = Cardinality(count.least if alone else 0, None if told_apart else count.most)
    link = {"$ref": f"#/$defs/{relation.inverse if inverse else relation.name}.link"}
    said = [f"Inverse of {relation.name}"] if inverse else []
    return {**_said(relation, *said), **_one_or_many(link, limits)}


def _links(ontology: Ontology) -> Schema:
    """What stands behind each relation and inverse; no type has a name with a dot."""
    relations = ontology.relations.values()
    links = {f"{relation.name}.link": _link(relation, relation.range) for relation in relations}
    return links | {f"{r.inverse}.link": _link(r, r.domain) for r in relations if r.inverse}


def _link(relation: Relation, leads: Iterable[str]) -> Schema:
    """A page id, or a mapping of ``target`` and attributes; a mapping alone where some attribute is required."""
    target: Schema = {**TEXT, "description": _page_of(leads)}
    properties = {"target": target} | {name: _attribute(one) for name, one in relation.attributes.items()}
    required = ["target", *(name for name, one in relation.attributes.items() if one.required)]
    mapping = _mapping(properties, required)
    return mapping if len(required) > 1 else {"if": {"type": "object"}, "then": mapping, "else": target}


def _page_of(types: Iterable[str]) -> str:
    return f"The id of a page (its file without .md) of type {' or '.join(types)}."


def _mapping(properties: Schema, required: list[str]) -> Schema:
    """A mapping of just these keys."""
    required_keys = {"required": required} if required else {}
    return {"type": "object", "properties": properties, **required_keys, "additionalProperties": False}


def _said(described: Described, *more: str) -> Schema:
    """What editors show: the label, the description with what else there is to know, and that it is deprecated."""
    sentences = [described.description, *(f"{said[:1].upper()}{said[1:]}." for said in more)]
    if described.deprecated is not None:
        sentences.append(f"Deprecated {deprecation(described.deprecated)}.")
    said: Schema = {"deprecated": True} if described.deprecated is not None else {}
    label = described.labels[0][1] if described.labels else ""
    return {**_text("title", label), **_text("description", " ".join(filter(None, sentences))), **said}


def _text(key: str, text: str) -> Schema:
    return {key: text} if text else {}


def _json(value: Value | float) -> str | int | float | bool:
    """A canonical value as JSON has it: whole numbers as integers, dates as strings."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    return value if isinstance(value, str | int | float) else canonical_text(value)


def _example(attribute: Attribute, example: str) -> str | int | float | bool:
    """An example as an instance has it; what is no value stays as it was written."""
    if attribute.type not in ("integer", "number", "boolean"):
        return example
    try:
        return _json(read_value(attribute, example))
    except BadValue:
        return example
