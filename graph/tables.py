"""The tables that a SELECT sees: one for each type and one for each relation of the ontology."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ontology.schema import Attribute, EntityType, EnumValue, Ontology, Relation

Family = Literal["text", "number", "boolean", "date", "interval", "null", "unknown"]

FAMILIES: dict[str, Family] = {
    "integer": "number", "number": "number", "quantity": "number", "boolean": "boolean", "date": "date",
    "datetime": "date",
}  # fmt: skip
"""Families of the value types that are not text."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of the values of an expression.

    ``many``: each is a list. ``attribute``: where they come from. ``unit``: what numbers count, empty where not known.
    """

    family: Family
    many: bool = False
    attribute: Attribute | None = None
    unit: str = ""

    @property
    def element(self) -> Kind:
        """The kind of one value of a list."""
        return replace(self, many=False)

    @property
    def type(self) -> str:
        """As people read it: ``integer``, ``enum``, ``list of string``."""
        base = self.attribute.type if self.attribute else {"text": "string"}.get(self.family, self.family)
        return f"list of {base}" if self.many else base


UNKNOWN = Kind("unknown")
TEXT = Kind("text")
NUMBER = Kind("number")
TEXTS = Kind("text", many=True)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. Hidden ones are left out by ``*``.

    ``stored`` is its name in the Parquet file, ``citations`` the name of the column with the citations of its values.
    """

    name: str
    kind: Kind
    stored: str
    citations: str = ""
    hidden: bool = False

    @property
    def type(self) -> str:
        return self.kind.type


@dataclass(frozen=True, slots=True)
class Table:
    """A type or relation, or a view over them, as a table; ``columns`` in the order in which ``*`` shows them."""

    name: str
    of: Literal["type", "relation", "view"]
    columns: tuple[Column, ...]
    description: str = ""

    @property
    def key(self) -> str:
        return f"{self.of} {self.name}"


def describe(ontology: Ontology) -> list[Table]:
    """Every type and relation as it is stored, types first; ``graph.catalogue`` makes what a SELECT names of them."""
    types = [type_table(t) for t in ontology.types.values()]
    return types + [relation_table(r) for r in ontology.relations.values()]


def type_table(entity_type: EntityType) -> Table:
    """``name``, then the attributes, records as ``record.field``; one row an entity."""
    names = ["name", *(n for n in entity_type.attributes if n != "name")]
    columns = [
        Column(n, attribute_kind(entity_type.attributes[n]) if n in entity_type.attributes else TEXT, n, companion(n))
        for n in names
    ]
    own = {"_id": TEXT, "_aliases": TEXTS, "_page": TEXT}
    return Table(entity_type.name, "type", (*columns, *hidden(own)), entity_type.description)


def relation_table(relation: Relation) -> Table:
    """``subject`` and ``object`` as names, then the attributes, references as names; one row a triple."""
    columns = [Column(n, TEXT, n, "_evidence") for n in ("subject", "object")]
    columns += [Column(a.name, attribute_kind(a), a.name, "_evidence") for a in relation.attributes.values()]
    own = dict.fromkeys(("_id", "_subject_id", "_subject_type", "_object_id", "_object_type"), TEXT)
    own |= {"_subject_type": names_of_types(relation.domain), "_object_type": names_of_types(relation.range)}
    return Table(relation.name, "relation", (*columns, *hidden(own)), relation.description)


def hidden(own: dict[str, Kind]) -> Iterable[Column]:
    """The hidden columns: those of this sort of table, then those that all tables have."""
    all_tables = {"_documents": TEXTS, "_evidence": TEXTS, "_confidence": NUMBER, "_updated": NUMBER}
    return [Column(name, kind, name, hidden=True) for name, kind in (own | all_tables).items()]


def attribute_kind(attribute: Attribute) -> Kind:
    return Kind(FAMILIES.get(attribute.type, "text"), attribute.many, attribute, attribute.unit)


def names_of_types(types: Iterable[str]) -> Kind:
    """The kind of a column that says of which type something is: other words than these are mistakes."""
    return attribute_kind(Attribute("type", "enum", values=tuple(EnumValue(name) for name in types)))


def companion(name: str) -> str:
    """The stored column with the citations of column ``name``; not a name that an ontology can give."""
    return f"_citations.{name}"
