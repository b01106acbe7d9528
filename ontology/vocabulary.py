"""What the keys of a page of a type mean, looked up once; and the values that were read before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ontology.schema import Attribute, Cardinality, Ontology, Relation
from ontoloom.records import Value

MOST_KNOWN = 10_000
"""Values that are remembered of an attribute."""


@dataclass(slots=True)
class AttributeWord:
    """An attribute, and the values that were read of it by how they were written, if nothing was to be said of them."""

    attribute: Attribute
    known: dict[str, Value] = field(default_factory=dict)
    right: set[str] = field(default_factory=set)
    """Whole texts behind its key in which nothing is wrong."""


@dataclass(frozen=True, slots=True)
class RelationWord:
    """A relation, by its name or by that of its inverse. ``required`` are the names of required attributes."""

    relation: Relation
    inverse: bool
    attributes: Mapping[str, AttributeWord]
    required: frozenset[str]

    @property
    def name(self) -> str:
        return self.relation.inverse if self.inverse else self.relation.name

    @property
    def limit(self) -> Cardinality:
        """How many pages it may lead to."""
        return self.relation.subjects if self.inverse else self.relation.objects


Record = dict[str, AttributeWord]
Word = AttributeWord | Record | RelationWord


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the keys of a page of a type mean."""

    type: str
    words: Mapping[str, Word]
    required: tuple[Attribute, ...]


SOURCE = AttributeWord(Attribute("source", "url"))


def vocabulary_of(ontology: Ontology, type_name: str) -> Vocabulary:
    """The attributes of a type, then the relations that start at it, then the inverses of those that lead to it."""
    entity_type = ontology.types[type_name]
    words: dict[str, Word] = {}
    for name, attribute in entity_type.attributes.items():
        record, dot, part = name.partition(".")
        if dot:
            fields = words.setdefault(record, {})
            assert isinstance(fields, dict)
            fields[part] = AttributeWord(attribute)
        else:
            words[name] = AttributeWord(attribute)
    for relation in ontology.relations.values():
        attributes = {name: AttributeWord(attribute) for name, attribute in relation.attributes.items()}
        required = frozenset(name for name, attribute in relation.attributes.items() if attribute.required)
        if type_name in relation.domain:
            words.setdefault(relation.name, RelationWord(relation, False, attributes, required))
        if relation.inverse and type_name in relation.range:
            words.setdefault(relation.inverse, RelationWord(relation, True, attributes, required))
    needed = (a for a in entity_type.attributes.values() if a.required and a.name != "name")
    return Vocabulary(type_name, words, tuple(needed))


class Vocabularies:
    """The vocabularies of an ontology's types, each made when it is first asked for, with all values read since."""

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self._found: dict[str, Vocabulary] = {}

    def of(self, type_name: str) -> Vocabulary:
        """Raises KeyError where there is no such type."""
        found = self._found.get(type_name)
        if found is None:
            found = self._found[type_name] = vocabulary_of(self.ontology, type_name)
        return found
