"""A LinkML schema as ``ontology.yaml``.

Classes become types, slots that lead to classes relations, other slots attributes. A class without an identifier that
one slot holds a single part of is a record. What our exporter writes comes back by its annotations, but for what
``LOST`` lists. Of what others write, rules, expressions, mappings to other vocabularies, defaults (ours are only
offered) and imports are not kept; the notes say so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ontology.attributes import NAME_ATTRIBUTE, PAGE_KEYS
from ontology.exports.portable_patterns import unanchored
from ontology.importers.imported import semantic, written
from ontology.importers.legal_names import Names, ontology_name
from ontology.importers.linkml_tree import Schema, Slot, flag, number, read_schema, said, words
from ontology.inherit import LABELS
from ontology.relations import CARDINALITY
from ontology.schema import (
    CONFLICTS,
    NUMERIC,
    Attribute,
    Cardinality,
    Conflict,
    EntityType,
    EnumValue,
    Ontology,
    Relation,
    ValueType,
)
from ontology.values import BadValue, pattern_fault, read_value
from ontoloom.errors import OntologyError

BUILT_IN: Mapping[str, ValueType] = {
    "integer": "integer", "float": "number", "double": "number", "decimal": "number", "boolean": "boolean",
    "date": "date", "datetime": "datetime", "uri": "url",
}  # fmt: skip
"""Types of LinkML; all others are strings."""
LOST = (
    "types that stand beside one that they are below, at the ends of relations",
    "classes such as \\d in patterns, which come back written out",
    "keys of one attribute that is unique by itself, and keys of parts of records",
    "synonyms and deprecation of a record as such, which its fields keep as far as they can say it",
    "blanks in words other than single spaces",
)
"""What does not come back as it was of what our exporter was given."""


def import_linkml(text: str, *, file: str = "schema.yaml") -> tuple[str, list[str]]:
    """The text of ``ontology.yaml``, and notes of what could not be kept.

    Raises FindingsError where the text is no YAML of the strict kind, OntologyError where it has no classes.
    """
    schema = read_schema(text, file)
    if not schema.classes:
        raise OntologyError(f"{file} has no classes", code="bad-import", hint="is it a LinkML schema?")
    reading = _Reading(schema)
    notes = reading.notes
    ontology = Ontology(
        name=ontology_name(str(schema.top.get("name") or schema.top.get("id") or "")),
        version=semantic(str(schema.top.get("version") or ""), notes),
        hash="",
        types=reading.types,
        relations=reading.relations,
        description=" ".join(str(schema.top.get("description") or "").split()),
    )
    return written(ontology, notes)


class _Reading:
    """Types and relations of a schema. ``names`` are those of types by class."""

    def __init__(self, schema: Schema) -> None:
        self.schema, self.notes = schema, schema.notes
        pool = Names()
        self.names = {name: pool.pick(name, prefix="Type") for name in schema.classes if not schema.is_part(name)}
        self.properties = Names([*PAGE_KEYS, *self.names.values()])
        self.property_names: dict[tuple[str, bool], str] = {}
        self.types: dict[str, EntityType] = {}
        self.relations: dict[str, Relation] = {}
        slots = [slot for name in self.names for slot in schema.slots_of(name) if schema.leads(slot)]
        self.relation_names = {slot.name: self._named(slot.name, True) for slot in slots}
        for name in self.names:
            self._type(name)
        for slot in [slot for name in self.names for slot in schema.slots_of(name)]:
            self._inverse(slot)
        order = {self.property_names.get((slot, True)): at for at, slot in enumerate(schema.slots)}
        by_order = sorted(self.relations.values(), key=lambda one: order.get(one.name, len(order)))
        self.relations = {one.name: self._in_order(one) for one in by_order}

    def _in_order(self, relation: Relation) -> Relation:
        """A relation with its domain in the order that the schema gives, where it gives one."""
        slot = next(slot for (slot, leads), name in self.property_names.items() if leads and name == relation.name)
        stated = words((self.schema.slots.get(slot) or {}).get("domain_of"))
        first = [self.names[name] for name in stated if self.names.get(name) in relation.domain]
        return replace(relation, domain=tuple(dict.fromkeys((*first, *relation.domain))))

    def _type(self, name: str) -> None:
        tree = self.schema.classes[name]
        own = self.names[name]
        attributes: dict[str, Attribute] = {}
        slots = self.schema.slots_of(name)
        siblings = {slot.name: self._named(slot.name, False) for slot in slots if not self.schema.leads(slot)}
        for slot in slots:
            if self.schema.leads(slot):
                self._relation(own, slot)
            else:
                attributes |= {one.name: one for one in self._attributes(slot, siblings)}
        parent = self.names.get(str(tree.get("is_a") or ""), "")
        self.types[own] = EntityType(
            own,
            attributes,
            parent=parent,
            mixins=tuple(self.names[up] for up in words(tree.get("mixins")) if up in self.names),
            abstract=flag(tree.get("abstract")) or flag(tree.get("mixin")),
            disjoint=tuple(self.names[other] for other in words(tree.get("disjoint_with")) if other in self.names),
            keys=tuple(self._keys(name)),
            **said(own, name, tree, self.names, self.notes, self._version()),
        )

    def _version(self) -> str:
        return semantic(str(self.schema.top.get("version") or ""), [])

    def _keys(self, name: str) -> list[tuple[str, ...]]:
        """Keys of attributes with one value; what is unique by itself comes back as such."""
        found = []
        slots = {slot.name: slot for slot in self.schema.slots_of(name, inherited=True) if not self.schema.leads(slot)}
        for key in (self.schema.classes[name].get("unique_keys") or {}).values():
            parts = words((key or {}).get("unique_key_slots"))
            known = [slots[part] for part in parts if part in slots and not flag(slots[part].tree.get("multivalued"))]
            if len(known) < len(parts):
                self.notes.append(f"a key of {name} was left out: it is of {' and '.join(parts)}")
            elif len(parts) > 1 or not flag(known[0].annotation("unique")):
                found.append(tuple(self._named(part, False) for part in parts))
        return found

    def _named(self, slot: str, leads: bool) -> str:
        """The name of an attribute or relation: the same for a slot wherever it is used."""
        if (slot, leads) not in self.property_names:
            legal = slot == "name" and not leads
            self.property_names[slot, leads] = slot if legal else self.properties.pick(slot, prefix="has")
        return self.property_names[slot, leads]

    def _attributes(self, slot: Slot, siblings: Mapping[str, str]) -> list[Attribute]:
        """The attribute of a slot; of a record, its fields."""
        record = self.schema.record(slot)
        if record is not None:
            head, fields = self._named(slot.name, False), Names()
            named = {part.name: fields.pick(part.name, prefix="field") for part in record}
            return [replace(self._attribute(part, named), name=f"{head}.{named[part.name]}") for part in record]
        if slot.name in ("aliases", "source", "description") or self.schema.is_identifier(slot):
            if not self.schema.is_ours(slot):
                self.notes.append(f"the slot '{slot.name}' was left out: every page has one")
            return []
        attribute = self._attribute(slot, siblings)
        if slot.name == "name":
            description = attribute.description or NAME_ATTRIBUTE.description
            plain = replace(NAME_ATTRIBUTE, pattern=attribute.pattern)
            return [replace(plain, **{key: getattr(attribute, key) for key in LABELS} | {"description": description})]
        return [replace(attribute, name=self._named(slot.name, False))]

    def _attribute(self, slot: Slot, siblings: Mapping[str, str]) -> Attribute:
        tree, where = slot.tree, f"the slot '{slot.name}'"
        kind, values = self._kind(slot)
        many = flag(tree.get("multivalued"))
        low, high = (number(tree.get(key)) for key in ("minimum_value", "maximum_value"))
        if kind == "quantity":
            low, high = (number(slot.annotation(key)) for key in ("min", "max"))
        least = number(tree.get("minimum_cardinality")) or number(slot.annotation("at_least")) or 0
        most = number(tree.get("maximum_cardinality"))
        unit = tree.get("unit") or {}
        attribute = Attribute(
            slot.name,
            kind,
            many=many,
            required=flag(tree.get("required")),
            identifying=flag(slot.annotation("identifying")),
            unique=flag(slot.annotation("unique")),
            unit=str(unit.get("symbol") or unit.get("ucum_code") or "")
            if kind in ("integer", "number", "quantity")
            else "",
            values=values,
            minimum=low if kind in NUMERIC else None,
            maximum=high if kind in NUMERIC else None,
            pattern=self._pattern(slot) if kind in ("string", "text", "url") else None,
            at_least=int(least) if many and least > 1 else 0,
            at_most=int(most) if many and most else None,
            **said(siblings.get(slot.name, slot.name), slot.name, tree, siblings, self.notes, self._version()),
        )
        default = slot.annotation("default")
        if tree.get("ifabsent") is not None:
            self.notes.append(f"{where} has a value where it is absent, which ours would only offer: left out")
        try:
            return replace(attribute, default=read_value(attribute, str(default))) if default is not None else attribute
        except BadValue as bad:
            self.notes.append(f"{where}: its default was left out: {bad.message}")
            return attribute

    def _kind(self, slot: Slot) -> tuple[ValueType, tuple[EnumValue, ...]]:
        """The type of value of a slot that leads to no class, and the values of an enum."""
        ranges = self.schema.ranges(slot)
        if len(ranges) == 1 and ranges[0] in self.schema.enums:
            permitted = self.schema.enums[ranges[0]].get("permissible_values") or {}
            listed = permitted if isinstance(permitted, dict) else {str(value): {} for value in permitted}
            pool: dict[str, str] = {name: name for name in listed}
            values = tuple(
                EnumValue(name, **said(name, name, tree or {}, pool, self.notes, self._version()))
                for name, tree in listed.items()
            )
            if values:
                return "enum", values
            self.notes.append(f"the values of the enum '{ranges[0]}' are not in the schema; it became a string")
        ours = slot.annotation("type")
        if ours in ("text", "quantity"):
            return ("text" if ours == "text" else "quantity"), ()
        kinds = {self.schema.built_in(name) for name in ranges}
        if len(kinds) > 1:
            self.notes.append(f"the slot '{slot.name}' may be {' or '.join(ranges)}; it became a string")
            return "string", ()
        return BUILT_IN.get(next(iter(kinds), "string"), "string"), ()

    def _pattern(self, slot: Slot) -> str | None:
        given = slot.annotation("pattern") or slot.tree.get("pattern") or self.schema.pattern_of(slot)
        if given is None:
            return None
        pattern = str(given) if slot.annotation("pattern") else unanchored(str(given))
        fault = pattern_fault(pattern)
        if fault is not None:
            self.notes.append(f"the pattern of '{slot.name}' was left out: {fault}")
        return pattern if fault is None else None

    def _relation(self, subject: str, slot: Slot) -> None:
        """A relation from one more class; slots of one name are one relation."""
        if slot.annotation("role") == "inverse":
            return
        statement = self.schema.statement(slot)
        leads = statement[0] if statement else slot
        targets = tuple(self.names[name] for name in self.schema.ranges(leads) if name in self.names)
        if not targets:
            self.notes.append(f"the slot '{slot.name}' was left out: it leads to what is no class of its own")
            return
        name = self._named(slot.name, True)
        known = self.relations.get(name)
        if known is None:
            known = self._new_relation(name, slot, statement)
        elif known.range != targets and not set(targets) <= set(known.range):
            self.notes.append(f"'{slot.name}' leads to other classes from {subject}; all ends were put together")
        domain, range_ = dict.fromkeys((*known.domain, subject)), dict.fromkeys((*known.range, *targets))
        self.relations[name] = replace(known, domain=tuple(domain), range=tuple(range_))

    def _new_relation(self, name: str, slot: Slot, statement: tuple[Slot, list[Slot]] | None) -> Relation:
        tree = slot.tree
        attributes = {}
        parts = statement[1] if statement else []
        siblings = {part.name: part.name for part in parts}
        for part in parts:
            one = self._attribute(part, siblings)
            leads = tuple(self.names[target] for target in self.schema.ranges(part) if target in self.names)
            attributes[part.name] = replace(one, type="reference", targets=leads, pattern=None) if leads else one
        least = number(tree.get("minimum_cardinality")) or float(flag(tree.get("required")))
        most = number(tree.get("maximum_cardinality")) if flag(tree.get("multivalued")) else 1
        counts = [
            _cardinality(slot.annotation("objects"), Cardinality(int(least), int(most) if most else None)),
            _cardinality(slot.annotation("subjects"), Cardinality()),
        ]
        conflict: Conflict = next((one for one in CONFLICTS if one == slot.annotation("conflict")), "keep_all")
        return Relation(
            name,
            (),
            (),
            objects=counts[0],
            subjects=counts[1],
            attributes=attributes,
            symmetric=flag(tree.get("symmetric")),
            asymmetric=flag(tree.get("asymmetric")),
            transitive=flag(tree.get("transitive")),
            acyclic=flag(slot.annotation("acyclic")),
            conflict=conflict,
            **said(name, slot.name, tree, self.relation_names, self.notes, self._version()),
        )

    def _inverse(self, slot: Slot) -> None:
        """The name of the inverse, where no slot of its own was made a relation already; then both stay."""
        inverse = str(slot.tree.get("inverse") or "")
        relation = self.relations.get(self.property_names.get((slot.name, True), ""))
        if relation is None or not inverse or relation.inverse or relation.symmetric:
            return
        other = self.relations.pop(self.property_names.get((inverse, True), ""), None)
        if other is not None and (other.attributes or other.inverse):
            self.relations[other.name] = other
            return
        name = self._named(inverse, True)
        subjects = other.objects if other and relation.subjects == Cardinality() else relation.subjects
        self.relations[relation.name] = replace(relation, inverse=name, subjects=subjects)


def _cardinality(given: object, otherwise: Cardinality) -> Cardinality:
    match = re.fullmatch(CARDINALITY, str(given)) if given is not None else None
    if match is None:
        return otherwise
    least = int(match[1])
    return Cardinality(least, least if match[2] is None else None if match[2] == "*" else int(match[2]))
