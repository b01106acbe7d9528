"""What may be said: the compiled form of ``ontology.yaml``. Made by ``ontology.read``; never changed afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from ontoloom.records import Value

ValueType = Literal[
    "string", "text", "integer", "number", "boolean", "date", "datetime", "quantity", "enum", "url", "reference",
]  # fmt: skip
VALUE_TYPES: tuple[ValueType, ...] = (
    "string", "text", "integer", "number", "boolean", "date", "datetime", "quantity", "enum", "url", "reference",
)  # fmt: skip
Kind = Literal["string", "integer", "number", "boolean", "date"]
KINDS: Mapping[ValueType, Kind] = {
    "integer": "integer", "number": "number", "quantity": "number", "boolean": "boolean", "date": "date",
}  # fmt: skip
"""What canonical values are, where they are no strings. A moment is a string, ``2024-05-01T12:00:00Z``."""
NUMERIC: tuple[ValueType, ...] = ("integer", "number", "quantity")
Conflict = Literal["keep_all", "latest", "most_trusted", "error"]
CONFLICTS: tuple[Conflict, ...] = ("keep_all", "latest", "most_trusted", "error")


@dataclass(frozen=True, slots=True)
class Deprecation:
    """Since which version something should not be used any more, and what instead; both may be empty."""

    since: str = ""
    use: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What people read about a type, an attribute, a relation or a value of an enum, and what finds it.

    ``synonyms`` are all other words for it, whatever their language: they help questions and prompts, and are not
    accepted in its place. ``labels`` and ``translations`` say which of them are how it is called in a language (by its
    BCP 47 tag, empty for none), and which are further words of one.
    """

    description: str = ""
    synonyms: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    translations: tuple[tuple[str, tuple[str, ...]], ...] = ()
    examples: tuple[str, ...] = ()
    deprecated: Deprecation | None = None


@dataclass(frozen=True, slots=True)
class EnumValue(Described):
    """One value of an enum."""

    name: str


@dataclass(frozen=True, slots=True)
class Attribute(Described):
    """A typed value of a type, or of a relation.

    A field of a record is an attribute named ``record.field``. ``targets`` are the types that a ``reference`` may name,
    subtypes included (attributes of relations only). ``identifying`` (relations only): takes part in the identity of
    the triple. ``at_least`` and ``at_most`` limit how many values there are where there are any. ``unit`` is what
    numbers count, and what quantities are converted to. ``unique``: no two things have the same value.
    ``default`` is what an editor is offered; nothing is assumed where nothing is said.
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
    at_least: int = 0
    at_most: int | None = None
    unique: bool = False
    default: Value | None = None

    @property
    def kind(self) -> Kind:
        """What its canonical values are."""
        return KINDS.get(self.type, "string")


@dataclass(frozen=True, slots=True)
class EntityType(Described):
    """A type of entity. ``attributes`` always holds ``name`` (string, required), which is the key.

    ``parent`` is the type that it ``is_a``, empty for none; ``mixins`` are abstract types that it is, too;
    ``attributes`` holds those of all its ancestors. Nothing is of an ``abstract`` type itself, only of types below it.
    Nothing is of this type and of one that is ``disjoint`` from it. ``keys`` are attributes that tell its entities
    apart: no two have the same values for all attributes of a key.
    """

    name: str
    attributes: Mapping[str, Attribute]
    parent: str = ""
    mixins: tuple[str, ...] = ()
    abstract: bool = False
    disjoint: tuple[str, ...] = ()
    keys: tuple[tuple[str, ...], ...] = ()

    def records(self) -> dict[str, list[str]]:
        """Record names with the fields of each, in order."""
        found: dict[str, list[str]] = {}
        for name in self.attributes:
            record, dot, part = name.partition(".")
            if dot:
                found.setdefault(record, []).append(part)
        return found


def ancestors(types: Mapping[str, EntityType], name: str) -> tuple[str, ...]:
    """The types that a type is, the nearest first: parents before mixins; each once, and not the type itself."""
    found: dict[str, None] = {}
    near = [name]
    while near:
        above = [up for one in near if one in types for up in (types[one].parent, *types[one].mixins)]
        near = [up for up in dict.fromkeys(above) if up and up != name and up not in found]
        found.update(dict.fromkeys(near))
    return tuple(found)


def with_subtypes(types: Mapping[str, EntityType], names: Iterable[str]) -> tuple[str, ...]:
    """The named types, each followed by those below it in the order of the ontology; each once."""
    found = [[name, *(t for t in types if t != name and name in ancestors(types, t))] for name in names]
    return tuple(dict.fromkeys(t for below in found for t in below))


def least_types(types: Mapping[str, EntityType], names: Sequence[str]) -> tuple[str, ...]:
    """The types that need be named for these, in this order: the others are below one of them."""
    least: list[str] = []
    covered: set[str] = set()
    for name in names:
        if name not in covered:
            least.append(name)
            covered.update(with_subtypes(types, [name]))
    return tuple(least)


class Cardinality(NamedTuple):
    """How many there may be; ``most`` None for any number. Written ``0..1``, ``1``, ``1..*``."""

    least: int = 0
    most: int | None = None

    def __str__(self) -> str:
        if self.least == self.most:
            return str(self.least)
        return f"{self.least}..{'*' if self.most is None else self.most}"


ANY_NUMBER = Cardinality()


@dataclass(frozen=True, slots=True)
class Relation(Described):
    """A relation from the types in ``domain`` to the types in ``range``, the subtypes of those that it names included.

    ``objects`` is how many objects a subject has, ``subjects`` how many subjects an object has. ``inverse`` is how it
    is called from its object's side: pages may state it there. ``conflict`` is what happens where documents give a
    subject more objects than it may have.
    """

    name: str
    domain: tuple[str, ...]
    range: tuple[str, ...]
    objects: Cardinality = ANY_NUMBER
    subjects: Cardinality = ANY_NUMBER
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    inverse: str = ""
    symmetric: bool = False
    asymmetric: bool = False
    transitive: bool = False
    acyclic: bool = False
    conflict: Conflict = "keep_all"

    @property
    def functional(self) -> bool:
        """Whether a subject has at most one object."""
        return self.objects.most == 1


@dataclass(frozen=True, slots=True)
class Ontology:
    """The contract. ``hash`` covers everything in it; ``stamp`` is what pages, triples and indexes are marked with."""

    name: str
    version: str
    hash: str
    types: Mapping[str, EntityType]
    relations: Mapping[str, Relation]
    description: str = ""
    imports: tuple[str, ...] = ()
    """The other files that it was read from."""
    inverses: Mapping[str, Relation] = field(init=False, repr=False, compare=False)
    """Relations by the names that they have from their objects' side."""

    def __post_init__(self) -> None:
        inverses = {relation.inverse: relation for relation in self.relations.values() if relation.inverse}
        object.__setattr__(self, "inverses", inverses)

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

    def concrete(self, types: Iterable[str]) -> tuple[str, ...]:
        """Those of the types that things can be of: the abstract ones are left out."""
        return tuple(name for name in types if name not in self.types or not self.types[name].abstract)

    def widest(self, types: Sequence[str]) -> str | None:
        """The one of the types that all others are, abstract ones aside; None where there is none."""
        types = self.concrete(types)
        return next((t for t in types if all(t in (other, *self.ancestors(other)) for other in types)), None)

    def without_abstract(self) -> Ontology:
        """The ontology with only the types that things can be of, for those who name types of things."""
        types = {name: self.types[name] for name in self.concrete(self.types)}
        relations = {
            name: replace(relation, domain=self.concrete(relation.domain), range=self.concrete(relation.range))
            for name, relation in self.relations.items()
        }
        return replace(self, types=types, relations=relations)

    def types_with_attribute(self, name: str) -> Iterator[EntityType]:
        """The types that have an attribute of this name."""
        return (t for t in self.types.values() if name in t.attributes)
