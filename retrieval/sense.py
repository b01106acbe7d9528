"""What can be asked of an entity: every attribute and relation of its type, in both directions, with its wording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ontology.schema import NUMERIC, Attribute, EntityType, Ontology, Relation
from ontoloom.protocols import Vectors
from retrieval.chunk import label, spaced
from retrieval.words import content_words, stem

Direction = Literal["forward", "inverse"]
Want = Literal["agent", "time", "amount", "place", "reason", "any"]

_AGENTS = "person people author researcher company organization organisation institution team"
AGENTS = frozenset(map(stem, _AGENTS.split()))
TIMES = frozenset(map(stem, ("year", "date", "day", "when", "month", "time")))


@dataclass(frozen=True, slots=True)
class Sense:
    """One thing that can be asked of an entity of type ``asked_of``.

    ``answers`` are the types of what answers it, empty for a literal; it ``loops`` where both ends can be of one type.
    ``wants`` are the kinds of question it can answer. ``phrases`` are ways to say it; ``stems`` and ``words`` are of
    these and of what the answer is called, ``called`` leaves descriptions out; ``carried`` is of the
    attributes of a relation.
    """

    predicate: str
    direction: Direction
    asked_of: str
    answers: tuple[str, ...]
    wants: frozenset[Want]
    phrases: tuple[str, ...]
    stems: frozenset[str]
    words: tuple[str, ...]
    called: frozenset[str]
    carried: frozenset[str] = frozenset()

    @property
    def loops(self) -> bool:
        return self.asked_of in self.answers


class Vocabulary:
    """All senses of an ontology and the vectors of their words and phrases."""

    def __init__(self, ontology: Ontology, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self.senses: dict[str, list[Sense]] = {
            entity_type.name: list(_senses_of(entity_type, ontology)) for entity_type in ontology.types.values()
        }
        texts = sorted({t for senses in self.senses.values() for s in senses for t in (*s.phrases, *s.words)})
        nouns = {t.name: frozenset(map(stem, _nouns(t))) for t in ontology.types.values()}
        self.types = {name: nouns[name].union(*(nouns[above] for above in ontology.ancestors(name))) for name in nouns}
        self.of_type = {
            name: frozenset(s for sense in found for s in sense.stems) for name, found in self.senses.items()
        }
        self.stems = frozenset().union(*self.of_type.values())
        self._rows = {text: row for row, text in enumerate(texts)}
        self._vectors = embed(texts)

    def phrase_fit(self, sense: Sense, question: Vectors) -> Vectors:
        """The highest cosine of a question's vector and a phrase of the sense, as an array without axes."""
        return np.asarray((self._of(sense.phrases) @ question).max())

    def word_fits(self, sense: Sense, vectors: Vectors) -> Vectors:
        """For each of some words' vectors (n × dimension) its highest cosine with a word of the sense."""
        return np.asarray((vectors @ self._of(sense.words).T).max(axis=1))

    def _of(self, texts: Sequence[str]) -> Vectors:
        return self._vectors[[self._rows[text] for text in texts]]


def _senses_of(entity_type: EntityType, ontology: Ontology) -> Iterable[Sense]:
    for attribute in entity_type.attributes.values():
        if attribute.name != "name":  # every answer says the name of what it is about
            yield _attribute_sense(entity_type, attribute)
    for relation in ontology.relations.values():
        if entity_type.name in relation.domain:
            yield _relation_sense(entity_type, relation, "forward", relation.range, ontology)
        if entity_type.name in relation.range:
            yield _relation_sense(entity_type, relation, "inverse", relation.domain, ontology)


def _attribute_sense(entity_type: EntityType, attribute: Attribute) -> Sense:
    phrases = _phrases(attribute.name, attribute, [attribute.unit])
    called = _stems([label(attribute.name, attribute), *attribute.synonyms])
    stems = _stems(phrases)
    wants: set[Want] = {"any"}
    if attribute.type in ("date", "datetime") or (attribute.type == "integer" and stems & TIMES):
        wants.add("time")
    elif attribute.type in NUMERIC:
        wants.add("amount")
    elif attribute.type in ("string", "text"):
        wants |= {"place", "agent"} if stems & AGENTS else {"place"}
    return _sense(attribute.name, "forward", entity_type.name, (), wants, phrases, called)


def _relation_sense(
    asked_of: EntityType, relation: Relation, direction: Direction, answers: tuple[str, ...], ontology: Ontology
) -> Sense:
    carried = [t for a in relation.attributes.values() for t in (label(a.name, a), *a.synonyms, a.unit)]
    phrases = _phrases(relation.name, relation, [])
    wants: set[Want] = {"any", "place"}
    types = [ontology.types[name] for name in answers]
    if any(_stems([spaced(t.name), *t.synonyms, t.description]) & AGENTS for t in types):
        wants.add("agent")
    if any(a.type in NUMERIC for a in relation.attributes.values()):
        wants.add("amount")
    if any(a.type in ("date", "datetime") for a in relation.attributes.values()):
        wants.add("time")
    called = _stems([label(relation.name, relation), *relation.synonyms])
    said_of_answers = [noun for t in types for noun in _nouns(t)]
    return _sense(relation.name, direction, asked_of.name, answers, wants, phrases, called, said_of_answers, carried)


def _nouns(entity_type: EntityType) -> list[str]:
    """What things of a type are called, in one word: a language model is a model, and no language."""
    named = [content_words(text) for text in (spaced(entity_type.name), *entity_type.synonyms)]
    return [found[-1].text for found in named if found]


def _sense(
    predicate: str,
    direction: Direction,
    asked_of: str,
    answers: tuple[str, ...],
    wants: set[Want],
    phrases: Sequence[str],
    called: frozenset[str],
    more: Sequence[str] = (),
    carried: Sequence[str] = (),
) -> Sense:
    found = {word.text.casefold(): None for text in (*phrases, *more) for word in content_words(text)}
    stems = frozenset(map(stem, found))
    return Sense(
        predicate,
        direction,
        asked_of,
        answers,
        frozenset(wants),
        tuple(phrases),
        stems,
        tuple(found),
        called,
        _stems(carried) - stems,
    )


def _phrases(name: str, definition: Attribute | Relation, more: Iterable[str]) -> list[str]:
    found = (label(name, definition), *definition.synonyms, definition.description, *more)
    return list(dict.fromkeys(text for text in found if text))


def _stems(texts: Sequence[str]) -> frozenset[str]:
    return frozenset(word.stem for text in texts for word in content_words(text)) | frozenset(
        stem(text) for text in texts if " " not in text
    )


def enum_values(ontology: Ontology) -> Mapping[str, list[tuple[str, str, str]]]:
    """(type, attribute, value) by every spelling of an enum's value."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for entity_type in ontology.types.values():
        for attribute in entity_type.attributes.values():
            for value in attribute.values:
                for spelling in (value.name, *value.synonyms):
                    found.setdefault(spelling, []).append((entity_type.name, attribute.name, value.name))
    return found
