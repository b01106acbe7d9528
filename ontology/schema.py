"""What may be said: the compiled form of ``ontology.yaml``. Made by ``ontology.read``; never changed afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

ValueType = Literal["string", "text", "integer", "number", "boolean", "date", "enum", "url", "reference"]
VALUE_TYPES: tuple[ValueType, ...] = (
    "string", "text", "integer", "number", "boolean", "date", "enum", "url", "reference",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class EnumValue:
    """One value of an enum. ``synonyms`` help questions and prompts; they are not accepted as values."""

    name: str
    description: str = ""
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attribute:
    """A typed value of a type, or of a relation.

    A field of a record is an attribute named ``record.field``. ``targets`` are the types that a ``reference`` may name,
    subtypes included (attributes of relations only). ``identifying`` (relations only): takes part in the identity of
    the triple.
    """

    name: str
    type: ValueType
    many: bool = False
    required: bool = False
    identifying: bool = False
    unit: str = ""
    values: tuple[EnumValue, ...] = ()
    targets: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    pattern: str | None = None
    description: str = ""
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityType:
    """A type of entity. ``attributes`` always holds ``name`` (string, required), which is the key.

    ``parent`` is the type that it ``is_a``, empty for none; ``attributes`` holds those of all its ancestors too.
    """

    name: str
    attributes: Mapping[str, Attribute]
    description: str = ""
    synonyms: tuple[str, ...] = ()
    parent: str = ""

    def records(self) -> dict[str, list[str]]:
        """Record names with the fields of each, in order."""
        found: dict[str, list[str]] = {}
        for name in self.attributes:
            record, dot, part = name.partition(".")
            if dot:
                found.setdefault(record, []).append(part)
        return found


def ancestors(types: Mapping[str, EntityType], name: str) -> tuple[str, ...]:
    """The types that a type is, the nearest first; ends where it would come back to one of them."""
    found: list[str] = []
    while name in types and types[name].parent not in ("", *found):
        name = types[name].parent
        found.append(name)
    return tuple(found)


def with_subtypes(types: Mapping[str, EntityType], names: Iterable[str]) -> tuple[str, ...]:
    """The named types, each followed by those below it in the order of the ontology; each once."""
    found = [[name, *(t for t in types if t != name and name in ancestors(types, t))] for name in names]
    return tuple(dict.fromkeys(t for below in found for t in below))


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation from the types in ``domain`` to the types in ``range``, the subtypes of those that it names included.

    ``functional``: a subject has at most one object (``cardinality: one``).
    """

    name: str
    domain: tuple[str, ...]
    range: tuple[str, ...]
    functional: bool = False
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    description: str = ""
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ontology:
    """The contract. ``hash`` covers everything in it; ``stamp`` is what pages, triples and indexes are marked with."""

    name: str
    version: str
    hash: str
    types: Mapping[str, EntityType]
    relations: Mapping[str, Relation]
    description: str = ""

    @property
    def stamp(self) -> str:
        return f"{self.version}+{self.hash[:8]}"

    def attribute(self, type_name: str, name: str) -> Attribute | None:
        """The attribute ``name`` of a type; None where there is no such type or attribute."""
        entity_type = self.types.get(type_name)
        return entity_type.attributes.get(name) if entity_type else None

    def subtypes(self, type_name: str) -> tuple[str, ...]:
        """A type and all types below it, itself first, then in the order of the ontology."""
        return with_subtypes(self.types, [type_name])

    def ancestors(self, type_name: str) -> tuple[str, ...]:
        """The types that a type is, directly or not, the nearest first."""
        return ancestors(self.types, type_name)

    def widest(self, types: Sequence[str]) -> str | None:
        """The one of the types that all others are; None where there is none."""
        return next((t for t in types if all(t in (other, *self.ancestors(other)) for other in types)), None)

    def types_with_attribute(self, name: str) -> Iterator[EntityType]:
        """The types that have an attribute of this name."""
        return (t for t in self.types.values() if name in t.attributes)
