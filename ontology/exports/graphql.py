"""An ontology as a GraphQL schema: object types, interfaces over types that others are, and queries to start from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ontology.outline import (
    amount,
    by_head,
    deprecation,
    details,
    families,
    field_name,
    is_record,
    keys,
    leading_to,
    legal,
    limits,
    not_abstract,
    record_parts,
    sentence,
    starting_at,
    topmost,
)
from ontology.schema import Attribute, Cardinality, Deprecation, EntityType, EnumValue, Ontology, Relation

SCALARS = {
    "Date": "A day: 2024-05-01.",
    "DateTime": "A moment in UTC: 2024-05-01T12:00:00Z.",
    "Url": "An address that begins with http:// or https://.",
    "Long": "An integer of 64 bits.",
}
DEFINED = ("Query", "Mutation", "Subscription", "Page", "Boolean", "Float", "ID", "Int", "String", *SCALARS)
VALUES = {
    "string": "String", "text": "String", "integer": "Long", "number": "Float", "boolean": "Boolean", "date": "Date",
    "datetime": "DateTime", "quantity": "Float", "url": "Url",
}  # fmt: skip
PAGE = ("id: ID!", "name: String!", "aliases: [String!]", "source: [Url!]", "description: String")
PAGE_FIELDS = tuple(line.partition(":")[0] for line in PAGE)
SOME = "(first: Int, offset: Int)"
INT = 2**31 - 1


def to_graphql(ontology: Ontology) -> str:
    """A schema in GraphQL's definition language.

    A type that others are is an interface, with an object type beside it where things can be of it alone. A relation is
    a field that leads to pages, or, where it has attributes, to edges with the page as ``target``. Names that GraphQL
    does not allow or that the schema uses itself are changed, and ``@original`` says what they stand for.
    """
    return _Schema(ontology).text()


class _Schema:
    """The names that are taken so far, and the definitions."""

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self.names: dict[tuple[str, ...], str] = {}
        self.families = families(ontology)
        self.shared = {up for name in ontology.types for up in ontology.ancestors(name)}
        for name, one in ontology.types.items():
            self.name(name)
            if not one.abstract and self.is_shared(name):
                self.name("Any", name)
        heads = {part for one in ontology.types.values() for a in one.attributes.values() for part in a.name.split(".")}
        heads |= {name for r in ontology.relations.values() for name in (*r.attributes, r.name, r.inverse)}
        self.fields = {
            name: legal(f"{name}_", heads) if name in PAGE_FIELDS and name != "name" else name for name in heads
        }

    def is_shared(self, name: str) -> bool:
        """Whether other types are it."""
        return name in self.shared

    def name(self, *parts: str) -> str:
        """The name of a definition, the same for the same parts."""
        if parts not in self.names:
            wanted = parts[0] if len(parts) == 1 else "".join(map(_camel, parts))
            self.names[parts] = legal(wanted, {*DEFINED, *self.names.values()})
        return self.names[parts]

    def interface(self, name: str) -> str:
        """What stands for a type and all that are it."""
        concretely_shared = not self.ontology.types[name].abstract and self.is_shared(name)
        return self.name("Any", name) if concretely_shared else self.name(name)

    def interfaces(self, one: EntityType, *, of_object: bool) -> str:
        above = [self.interface(up) for up in self.ontology.ancestors(one.name)]
        own = [self.interface(one.name)] if of_object and self.is_shared(one.name) else []
        return " & ".join(["Page", *above, *own])

    def text(self) -> str:
        ontology = self.ontology
        parts = [f"# The ontology {ontology.name} {ontology.stamp}."]
        parts.append("directive @original(name: String!) on OBJECT | INTERFACE | FIELD_DEFINITION | ENUM_VALUE")
        parts += [f"{_description([said])}scalar {name}" for name, said in SCALARS.items()]
        parts.append(_block("What every page has.", "interface Page", PAGE))
        for one in ontology.types.values():
            parts += self.entity_type(one)
        parts += self.enums()
        parts += self.records()
        for relation in ontology.relations.values():
            parts += self.edges(relation)
        parts.append(self.query())
        return "\n\n".join(parts) + "\n"

    def entity_type(self, one: EntityType) -> Iterator[str]:
        said, fields = _about(one), [*PAGE, *self.attributes(one), *self.relations(one)]
        if one.abstract or self.is_shared(one.name):
            name = self.interface(one.name)
            head = f"interface {name} implements {self.interfaces(one, of_object=False)}{_original(name, one.name)}"
            yield _block(said, head, fields)
        if not one.abstract:
            name = self.name(one.name)
            head = f"type {name} implements {self.interfaces(one, of_object=True)}{_original(name, one.name)}"
            yield _block(said, head, fields)

    def attributes(self, one: EntityType) -> Iterator[str]:
        for head, fields in by_head(one.attributes.values()).items():
            if head == "name":
                continue
            if is_record(fields):
                needed = "!" if any(f.required for f in fields) else ""
                value = self.name(self.families[one.name, head], head)
                yield self.field(head, f"{value}{needed}", record_parts(fields)[0])
            else:
                yield self.attribute(fields[0], self.families[one.name, head])

    def attribute(self, attribute: Attribute, owner: str) -> str:
        value = self.value(attribute, owner)
        many = f"[{value}!]" if attribute.many else value
        required = "!" if attribute.required else ""
        return self.field(
            field_name(attribute), f"{many}{required}", *_values(attribute), deprecated=attribute.deprecated
        )

    def value(self, attribute: Attribute, owner: str) -> str:
        if attribute.type == "enum":
            return self.name(owner, *attribute.name.split("."))
        if attribute.type == "reference":
            return self.target(attribute.targets, owner, attribute.name)
        small = attribute.minimum is not None and attribute.maximum is not None
        if attribute.type == "integer" and small and max(-(attribute.minimum or 0), attribute.maximum or 0) <= INT:
            return "Int"
        return VALUES[attribute.type]

    def target(self, types: Iterable[str], *owner: str) -> str:
        """What stands for any of some types: their interface, or a union of all that can be there."""
        named = tuple(types)
        given, members = topmost(self.ontology, named), not_abstract(self.ontology, named)
        if len(given) == 1 or not members:
            return self.interface(given[0])
        return self.name(*owner, "target") if len(members) > 1 else self.name(members[0])

    def relations(self, one: EntityType) -> Iterator[str]:
        for relation in starting_at(self.ontology, one.name):
            yield self.relation(relation, relation.name, relation.objects, relation.range)
        for relation in leading_to(self.ontology, one.name):
            if relation.inverse:
                yield self.relation(relation, relation.inverse, relation.subjects, relation.domain)

    def relation(self, relation: Relation, name: str, ends: Cardinality, types: tuple[str, ...]) -> str:
        value = self.name(name, "edge") if relation.attributes else self.target(types, name)
        said = relation.description if name == relation.name else f"The inverse of {relation.name}."
        counted = sentence(amount(ends)) if ends != (0, None) else ""
        if ends.most == 1:
            return self.field(name, value, said, deprecated=relation.deprecated)
        return self.field(name, f"[{value}!]!", said, counted, arguments=SOME, deprecated=relation.deprecated)

    def field(
        self, name: str, value: str, *said: str, arguments: str = "", deprecated: Deprecation | None = None
    ) -> str:
        known = self.fields[name]
        line = f"{known}{arguments}: {value}{_original(known, name)}{_deprecated(deprecated)}"
        return f"{_description(said)}{line}"

    def enums(self) -> Iterator[str]:
        declared = {
            (self.families[one.name, head], *a.name.split(".")): a
            for one in reversed(list(self.ontology.types.values()))
            for head, fields in by_head(one.attributes.values()).items()
            for a in fields
            if a.type == "enum"
        }
        declared |= {
            (r.name, a.name): a
            for r in self.ontology.relations.values()
            for a in r.attributes.values()
            if a.type == "enum"
        }
        for parts in sorted(declared):
            yield _block(f"Values of {parts[-1]}.", f"enum {self.name(*parts)}", _enum_values(declared[parts].values))

    def records(self) -> Iterator[str]:
        """A record has the fields that any type of the family gives it; they are required where all require them."""
        found: dict[tuple[str, str], dict[str, list[Attribute]]] = {}
        for one in self.ontology.types.values():
            for head, fields in by_head(one.attributes.values()).items():
                if is_record(fields):
                    record = found.setdefault((self.families[one.name, head], head), {})
                    for field in fields:
                        record.setdefault(field.name, []).append(field)
        for (owner, head), record in found.items():
            lines = []
            holders = sum(1 for key, first in self.families.items() if key[1] == head and first == owner)
            described, _ = record_parts([field for same in record.values() for field in same])
            for same in record.values():
                first = replace(same[0], description="" if described else same[0].description)
                value = f"[{self.value(first, owner)}!]" if first.many else self.value(first, owner)
                needed = "!" if len(same) == holders and all(f.required for f in same) else ""
                stated = _values(first)
                lines.append(self.field(field_name(first), value + needed, *stated, deprecated=first.deprecated))
            yield _block(described, f"type {self.name(owner, head)}", lines)

    def edges(self, relation: Relation) -> Iterator[str]:
        """Types of edges and unions of what is at their ends, for each side that has a name."""
        sides = [(relation.name, relation.range)]
        sides += [(relation.inverse, relation.domain)] if relation.inverse else []
        for name, types in sides:
            if relation.attributes:
                lines = [f"target: {self.target(types, name)}!"]
                lines += [self.attribute(a, relation.name) for a in relation.attributes.values()]
                said = f"What {name} leads to, with what is said of it."
                yield _block(said, f"type {self.name(name, 'edge')}", lines)
            yield from self.union(types, name)
        for attribute in relation.attributes.values():
            if attribute.type == "reference":
                yield from self.union(attribute.targets, relation.name, attribute.name)

    def union(self, types: Iterable[str], *owner: str) -> Iterator[str]:
        """The union that ``target`` named, if it named one."""
        known = self.names.get((*owner, "target"))
        if known is not None:
            members = map(self.name, not_abstract(self.ontology, types))
            yield f"union {known} = {' | '.join(members)}"

    def argument(self, one: EntityType, attribute: str) -> str:
        value = self.value(one.attributes[attribute], self.families[one.name, attribute.partition(".")[0]])
        return f"{self.fields[attribute.rpartition('.')[2]]}: {value}!"

    def query(self) -> str:
        """By id, as a list, and by each key."""
        taken: set[str] = set()
        lines = ["page(id: ID!): Page"]
        for name, one in self.ontology.types.items():
            target, known = self.interface(name), _snake(name)
            keyed = [("", "id: ID!", target), ("_list", "first: Int = 100, offset: Int = 0", f"[{target}!]!")]
            for key in keys(one):
                suffix = "_by_" + "_and_".join(part.replace(".", "_") for part in key)
                keyed.append((suffix, ", ".join(self.argument(one, part) for part in key), target))
            for suffix, arguments, value in keyed:
                field = legal(known + suffix, {*taken, "page"})
                taken.add(field)
                lines.append(f"{field}({arguments}): {value}{_deprecated(one.deprecated)}")
        return _block("Where queries start.", "type Query", lines)


def _about(one: EntityType) -> list[str]:
    said = [one.description]
    if one.deprecated:
        said.append(f"Deprecated {deprecation(one.deprecated)}.")
    said += [f"No two have the same {' and '.join(key)}." for key in keys(one)]
    said += [f"Nothing is also {' or '.join(one.disjoint)}."] if one.disjoint else []
    return said


def _values(attribute: Attribute) -> list[str]:
    limited = limits(attribute)
    stated = [sentence(said) for said in details(attribute) if not (limited and said.startswith("In "))]
    matched = f"Matches {attribute.pattern}" if attribute.pattern else ""
    return [attribute.description, sentence(limited), *stated, matched]


def _enum_values(values: tuple[EnumValue, ...]) -> Iterator[str]:
    taken: set[str] = set()
    for value in values:
        plain = re.sub(r"[^0-9A-Za-z_]+", "_", value.name).strip("_")
        wanted = plain if re.match(r"[A-Za-z]", plain) else f"V_{plain}".rstrip("_")
        name = legal(wanted, {"true", "false", "null", *taken})
        taken.add(name)
        yield f"{_description([value.description])}{name}{_original(name, value.name)}{_deprecated(value.deprecated)}"


def _block(said: str | list[str], head: str, lines: Iterable[str]) -> str:
    body = "\n".join(f"  {part}" for line in lines for part in line.split("\n"))
    return f"{_description([said] if isinstance(said, str) else said)}{head} {{\n{body}\n}}"


def _description(said: Iterable[str]) -> str:
    r"""A string before what it describes, as JSON has it: GraphQL's strings are those, but for ``\u`` of two halves."""
    text = " ".join(part for part in said if part)
    return f"{json.dumps(text, ensure_ascii=False)}\n" if text else ""


def _original(name: str, original: str) -> str:
    return "" if name == original else f" @original(name: {json.dumps(original, ensure_ascii=False)})"


def _deprecated(deprecated: Deprecation | None) -> str:
    if deprecated is None:
        return ""
    reason = deprecation(deprecated)
    return f" @deprecated(reason: {json.dumps(reason)})" if reason else " @deprecated"


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split("[_.]", name))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
