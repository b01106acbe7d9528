"""An ontology as a Python module of Pydantic models, which read front matter of pages and JSON of the same shape."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from keyword import iskeyword

from ontology.attributes import NAME_ATTRIBUTE
from ontology.exports.portable_patterns import anchored
from ontology.exports.python_text import DEFINED, IMPORTS, PREAMBLE, TAKEN, WIDTH, camel, docstring, literal
from ontology.outline import (
    amount,
    bases,
    by_head,
    concrete,
    deprecation,
    details,
    field_name,
    how_many,
    is_record,
    keys,
    leading_to,
    legal,
    own_attributes,
    parents_first,
    properties,
    record_parts,
    sentence,
    starting_at,
    topmost,
)
from ontology.schema import Attribute, Cardinality, Described, EntityType, Ontology, Relation
from ontoloom.records import canonical_text

VALUES = {
    "string": "Text", "text": "Text", "integer": "Integer", "number": "Number", "boolean": "Boolean",
    "date": "datetime.date", "datetime": "AwareDatetime", "quantity": "Number", "url": "Url", "reference": "PageId",
}  # fmt: skip


def to_pydantic(ontology: Ontology) -> str:
    """A module with a model for each type, by inheritance, and ``AnyPage``, which chooses one by ``type``.

    What can only be told from several pages together (keys, the types at a relation's end, disjoint types, flags) is
    said in docstrings and not checked. Quantities are numbers in their attribute's unit. Patterns are read by the
    regular expressions of Rust, which know all of RE2's but ``\\Q…\\E`` and ``\\C``.
    """
    return _Module(ontology).text()


class _Module:
    """The names that are taken so far, and the text of each part."""

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self.order = parents_first(ontology)
        self.names: dict[tuple[str, ...], str] = {}
        declared = [one.attributes.values() for one in ontology.types.values()]
        declared += [one.attributes.values() for one in ontology.relations.values()]
        self.attributes = {part for attributes in declared for a in attributes for part in a.name.split(".")}
        self.attributes |= {name for r in ontology.relations.values() for name in (r.name, r.inverse)}
        for name in self.order:
            self.name(name)

    def name(self, *parts: str) -> str:
        """The name of a class or alias, the same for the same parts."""
        if parts not in self.names:
            wanted = parts[0] if len(parts) == 1 else "".join(map(camel, parts))
            wanted = f"{wanted}_" if iskeyword(wanted) else wanted
            self.names[parts] = legal(wanted, {*DEFINED, *self.names.values()})
        return self.names[parts]

    def text(self) -> str:
        ontology = self.ontology
        head = f"Models of the ontology {ontology.name} {ontology.stamp}, made from it: change that, not this file."
        parts = [part for r in ontology.relations.values() if r.attributes for part in self.edge(r)]
        parts += [part for name in self.order for part in self.model(ontology.types[name])]
        parts += self.union()
        body = "\n\n\n".join(part.rstrip("\n") for part in parts)
        preamble = PREAMBLE
        for used, line in IMPORTS.items():
            preamble = preamble if used in body else preamble.replace(line, "", 1)
        body = f"{preamble}\n\n{body}".rstrip("\n")
        return f"{docstring([head, ontology.description], 0)}\n\n{body}\n"

    def union(self) -> Iterator[str]:
        names = [self.name(name) for name in concrete(self.ontology, self.ontology.types)]
        if len(names) == 1:
            yield f"AnyPage = {names[0]}"
        elif names:
            line = " | ".join(names)
            members = line if len(line) < WIDTH - 4 else "\n    | ".join(names)
            union = f'Annotated[\n    {members},\n    Field(discriminator="type"),\n]'
            yield f'AnyPage = {union}\n"""A page of any type."""'

    def edge(self, relation: Relation) -> Iterator[str]:
        name = self.name(relation.name, "edge")
        said = [relation.description or f"What {relation.name} leads to."]
        yield from self.record(name, "Edge", said, relation.attributes.values(), relation.name)

    def record(
        self, name: str, base: str, said: Iterable[str], attributes: Iterable[Attribute], owner: str
    ) -> Iterator[str]:
        attributes = tuple(attributes)
        for attribute in attributes:
            yield from self.aliases(owner, attribute)
        fields = [self.field(owner, attribute) for attribute in attributes]
        yield _class(name, base, said, fields)

    def model(self, one: EntityType) -> Iterator[str]:
        above = {up for base in bases(self.ontology, one.name) for up in self.ontology.ancestors(base)}
        direct = [base for base in bases(self.ontology, one.name) if base not in above]
        # In one order for all classes, so that Python always finds a linear one.
        direct.sort(key=self.order.index, reverse=True)
        inherited = [self.ontology.types[base].attributes["name"] for base in direct] or [NAME_ATTRIBUTE]
        fields = [] if one.abstract else [self.tag(one)]
        if any(name != one.attributes["name"] for name in inherited):
            fields.append(self.field(one.name, one.attributes["name"]))
        for head, attributes in by_head(own_attributes(self.ontology, one.name)).items():
            if is_record(attributes):
                record = self.name(one.name, head)
                described, attributes = record_parts(attributes)
                said = [described] if described else []
                yield from self.record(record, self.above(one, head), said, attributes, f"{one.name}_{head}")
                needed = any(a.required for a in _all_fields(one, head))
                fields.append(self.entry(head, record, [], optional=not needed))
            elif head != "name":
                yield from self.aliases(one.name, attributes[0])
                fields.append(self.field(one.name, attributes[0]))
        fields += self.relations(one)
        yield _class(self.name(one.name), ", ".join(map(self.name, direct)) or "Page", _about(one), fields)

    def above(self, one: EntityType, head: str) -> str:
        """The records of the same name that a type's ancestors have, as bases; ``Record`` for none."""
        found = {up: self.names.get((up, head)) for up in self.ontology.ancestors(one.name)}
        nearest = topmost_below(self.ontology, [up for up, name in found.items() if name])
        return ", ".join(self.names[up, head] for up in sorted(nearest, key=self.order.index, reverse=True)) or "Record"

    def tag(self, one: EntityType) -> str:
        narrowed = any(not self.ontology.types[up].abstract for up in self.ontology.ancestors(one.name))
        ignored = "  # type: ignore[assignment]" if narrowed else ""
        return f'    type: Literal["{one.name}"] = "{one.name}"{ignored}\n'

    def aliases(self, owner: str, attribute: Attribute) -> Iterator[str]:
        """Types of values that need more lines than a field has: enums, and limits of each of many values."""
        name = field_name(attribute)
        if attribute.type == "enum":
            values = "".join(f"    {json.dumps(v.name, ensure_ascii=False)},\n" for v in attribute.values)
            said = [f"- {v.name}: {' '.join(_said([v]))}" for v in attribute.values if _said([v])]
            yield f"{self.name(owner, name)} = Literal[\n{values}]\n" + (docstring(said, 0) if said else "")
        elif attribute.many and _constraints(attribute):
            lines = "".join(f"        {line},\n" for line in _constraints(attribute))
            limited = f"Annotated[\n    {_value(attribute)},\n    Field(\n{lines}    ),\n]"
            yield f"{self.name(owner, name)} = {limited}\n"

    def field(self, owner: str, attribute: Attribute) -> str:
        name = field_name(attribute)
        value = self.names.get((owner, name)) or _value(attribute)
        many = how_many(attribute)
        options = _counts(many, attribute.at_least) if attribute.many else _constraints(attribute)
        if attribute.type == "enum" and not attribute.many:
            options = []
        options += _labels(attribute)
        if attribute.unit:
            options.append(f"json_schema_extra={json.dumps({'unit': attribute.unit}, ensure_ascii=False)}")
        said = [*_said([attribute]), *map(sentence, details(attribute))]
        shown = f"Many[{value}]" if attribute.many else value
        return self.entry(name, shown, options, optional=not attribute.required, said=said)

    def relations(self, one: EntityType) -> Iterator[str]:
        for relation in starting_at(self.ontology, one.name):
            if one.name in topmost(self.ontology, relation.domain):
                yield self.relation(relation, relation.name, relation.objects, relation.range)
        for relation in leading_to(self.ontology, one.name):
            if relation.inverse and one.name in topmost(self.ontology, relation.range):
                yield self.relation(relation, relation.inverse, relation.subjects, relation.domain)

    def relation(self, relation: Relation, name: str, ends: Cardinality, types: tuple[str, ...]) -> str:
        """A relation as a field, by its own name or by that from its object's side."""
        value = self.name(relation.name, "edge") if relation.attributes else "PageId"
        one = ends.most == 1
        said = [f"The inverse of {relation.name}."] if name != relation.name else _said([relation])
        said.append(f"Leads to {amount(ends)} of {' or '.join(topmost(self.ontology, types))}.")
        # What must be stated may also be stated on the page at the other end, where there is a word for that.
        needed = ends.least > 0 and not relation.inverse
        options = [] if one else _counts(ends, ends.least)
        if name == relation.name:
            said += [f"It is {', '.join(properties(relation))}."] if properties(relation) else []
            options += _labels(relation)
        return self.entry(name, value if one else f"Many[{value}]", options, optional=not needed, said=said)

    def entry(self, name: str, value: str, options: list[str], *, optional: bool, said: Iterable[str] = ()) -> str:
        """A field. One whose name Python or Pydantic uses itself has its own name as an alias."""
        options = ["default=None", *options] if optional else options
        known = name
        if (
            iskeyword(name)
            or name in TAKEN
            or name in DEFINED
            or name.startswith("model_")
            or name in self.names.values()
        ):
            known = legal(f"{name}_", {*self.attributes, *DEFINED, *self.names.values()})
            known = known.replace("model_", "the_model_", 1) if name.startswith("model_") else known
            options.append(f'alias="{name}"')
        shown = f"{value} | None" if optional else value
        start = f"    {known}: {shown}"
        if options == ["default=None"]:
            start += " = None"
        elif options:
            start += " = Field(\n" + "".join(f"        {option},\n" for option in options) + "    )"
        said = [line for line in said if line]
        return f"{start}\n" + (f"{docstring([' '.join(said)], 4)}\n" if said else "")


def topmost_below(ontology: Ontology, types: list[str]) -> list[str]:
    """The given types without those that are above another of them."""
    above = {up for name in types for up in ontology.ancestors(name)}
    return [name for name in types if name not in above]


def _all_fields(one: EntityType, head: str) -> tuple[Attribute, ...]:
    return by_head(one.attributes.values())[head]


def _class(name: str, base: str, said: Iterable[str], fields: list[str]) -> str:
    text = "\n".join(field.rstrip("\n") + ("\n" if field.rstrip().endswith('"""') else "") for field in fields)
    about = docstring(list(said) or [f"{name}."], 4)
    return f"class {name}({base}):\n{about}\n" + (f"\n{text}" if fields else "")


def _about(one: EntityType) -> list[str]:
    said = [*_said([one]), "Nothing is of this type itself, only of those below it." if one.abstract else ""]
    said = [" ".join(part for part in said if part)]
    if keys(one):
        said.append(f"No two have the same {', nor the same '.join(' and '.join(key) for key in keys(one))}.")
    if one.disjoint:
        said.append(f"Nothing is also {' or '.join(one.disjoint)}.")
    return [line for line in said if line]


def _said(described: Iterable[Described]) -> list[str]:
    """Description and deprecation of the first that has them."""
    for one in described:
        said = [one.description] if one.description else []
        if one.deprecated:
            said.append(f"Deprecated {deprecation(one.deprecated)}.".replace(" .", "."))
        return said
    return []


def _labels(described: Described) -> list[str]:
    options = []
    if described.examples:
        items = "".join(f"            {json.dumps(one, ensure_ascii=False)},\n" for one in described.examples)
        options.append(f"examples=[\n{items}        ]")
    if described.deprecated:
        options.append(f"deprecated={json.dumps(deprecation(described.deprecated), ensure_ascii=False)}")
    return options


def _value(attribute: Attribute) -> str:
    """The type of its values. One whose alias is limited itself is not limited again: only one limit would count."""
    if attribute.type == "integer" and _is_limited(attribute):
        return "LimitedInteger"
    return "Text" if attribute.pattern is not None else VALUES.get(attribute.type, "Text")


def _is_limited(attribute: Attribute) -> bool:
    return attribute.minimum is not None or attribute.maximum is not None


def _constraints(attribute: Attribute) -> list[str]:
    low, high = ("-(2**63) + 1", "2**63 - 1") if attribute.type == "integer" and _is_limited(attribute) else ("", "")
    low = low if attribute.minimum is None else canonical_text(attribute.minimum)
    high = high if attribute.maximum is None else canonical_text(attribute.maximum)
    found = [f"{key}={limit}" for key, limit in (("ge", low), ("le", high)) if limit]
    if attribute.pattern is not None:
        whole = anchored(attribute.pattern) or f"^(?:{attribute.pattern})$"
        found.append(f"pattern={literal(whole)}")
    return found


def _counts(ends: Cardinality, at_least: int) -> list[str]:
    """An empty list is never stated: what is not there is left out."""
    return [f"min_length={max(at_least, 1)}"] + ([f"max_length={ends.most}"] if ends.most is not None else [])
