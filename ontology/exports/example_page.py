"""A page that a type allows, as an example to begin with: every attribute and relation once, with values that hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ontology.emit_yaml import scalar
from ontology.outline import by_head, field_name, is_record, not_abstract, starting_at
from ontology.schema import NUMERIC, Attribute, Ontology, Relation
from ontology.values import BadValue, read_value
from ontoloom.records import Value, canonical_text

WORDS = ("An example", "Another example", "Third", "example", "other", "A1", "B2", "AB-12", "1", "2", "2024", "a", "b")
NUMBERS = (10, 20, 30, 1, 2, 3, 100, 2000, 2001, 0.5)


def example_page(ontology: Ontology, type_name: str) -> tuple[str, tuple[str, ...]]:
    """The text of a page of a type, and the required attributes for which no value is known.

    Values are the examples and defaults of the ontology that an attribute allows, else made up. Where a pattern allows
    none of them, the attribute is left out; a page that lacks a required one does not hold. Nothing is of an abstract
    type, so that its page does not hold either.
    """
    one = ontology.types[type_name]
    lines, missing = [f"type: {type_name}"], []
    for head, fields in by_head(one.attributes.values()).items():
        said = {attribute.name: _stated(attribute, type_name) for attribute in fields}
        missing += [a.name for a in fields if a.required and not said[a.name]]
        known = [a for a in fields if said[a.name] and (a.required or not a.deprecated)]
        if is_record(fields) and known:
            lines.append(f"{head}: {{{', '.join(f'{field_name(a)}: {said[a.name]}' for a in known)}}}")
        elif known:
            lines.append(f"{head}: {said[head]}")
    for relation in starting_at(ontology, type_name):
        lines += _relation(ontology, relation)
    return "\n".join(["---", *lines, "---", "What else there is to say, in Markdown.", ""]), tuple(missing)


def values(attribute: Attribute, type_name: str = "") -> Iterator[str]:
    """Values that an attribute allows, as they are written, each once: examples, the default, then made up ones."""
    seen: set[Value] = set()
    for candidate in _candidates(attribute, type_name):
        try:
            value = read_value(attribute, candidate)
        except BadValue:
            continue
        if value not in seen:
            seen.add(value)
            yield candidate


def page_id(type_name: str, number: int = 1) -> str:
    """The id of a page that an example names: ``example-language-model``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", "-", type_name).lower()
    return f"example-{words}" + (f"-{number}" if number > 1 else "")


def _candidates(attribute: Attribute, type_name: str) -> Iterator[str]:
    yield from attribute.examples
    if attribute.default is not None:
        unit = f" {attribute.unit}" if attribute.type == "quantity" else ""
        yield canonical_text(attribute.default) + unit
    if attribute.type in NUMERIC:
        unit = f" {attribute.unit}" if attribute.type == "quantity" else ""
        limits = [limit for limit in (attribute.minimum, attribute.maximum) if limit is not None]
        middle = [sum(limits) / 2] if len(limits) > 1 else []
        yield from (canonical_text(number) + unit for number in (*NUMBERS, *limits, *middle))
    elif attribute.type == "enum":
        yield from (value.name for value in sorted(attribute.values, key=lambda value: value.deprecated is not None))
    elif attribute.type in ("string", "text"):
        yield from ([f"Example {type_name}"] if attribute.name == "name" and type_name else [])
        yield from WORDS
    else:
        yield from {
            "boolean": ("true", "false"),
            "date": ("2024-05-01", "2024-05-02", "2024-05-03"),
            "datetime": ("2024-05-01T12:00:00Z", "2024-05-02T12:00:00Z"),
            "url": ("https://example.org/", "https://example.org/other"),
        }.get(attribute.type, ())


def _stated(attribute: Attribute, type_name: str = "") -> str:
    """The value, or the list of values, as YAML; empty where none is known."""
    least = max(attribute.at_least, 1)
    found = [scalar(value, within=True) for _, value in zip(range(least), values(attribute, type_name), strict=False)]
    if len(found) < least:
        return ""
    return f"[{', '.join(found)}]" if attribute.many else found[0]


def _relation(ontology: Ontology, relation: Relation) -> list[str]:
    targets = not_abstract(ontology, relation.range)
    if not targets or relation.deprecated:
        return []
    count = max(relation.objects.least, 1)
    ids = [page_id(targets[0], number + 1) for number in range(count)]
    needed = [a for a in relation.attributes.values() if a.required or a.identifying]
    said = {a.name: _attribute(ontology, a) for a in needed}
    if any(a.required and not said[a.name] for a in needed):
        return []
    stated = "".join(f", {name}: {value}" for name, value in said.items() if value)
    items = [f"{{target: {one}{stated}}}" if stated else one for one in ids]
    if relation.objects.most == 1:
        return [f"{relation.name}: {items[0]}"]
    if not stated:
        return [f"{relation.name}: [{', '.join(items)}]"]
    return [f"{relation.name}:", *(f"  - {item}" for item in items)]


def _attribute(ontology: Ontology, attribute: Attribute) -> str:
    if attribute.type != "reference":
        return _stated(attribute)
    targets = not_abstract(ontology, attribute.targets)
    value = page_id(targets[0]) if targets else ""
    return f"[{value}]" if attribute.many and value else value
