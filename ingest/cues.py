"""Words that tell a relation: those of its name and synonyms, however they are inflected.

A small model writes any relation that it is allowed to write. So a passage without a word for a relation does not offer
it, and a sentence without one is no evidence for it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ontology.schema import Attribute, EntityType, Ontology, Relation

_WORD = re.compile(r"[^\W_]+")
_ENDING = re.compile(
    r"(?:ations?|ated|ates?|ating|ators?|ions?|ings?|ments?|ers?|ors?|ied|ies|ed|es|ly|al|e|s|y)$",
)
# They join words and tell no relation.
_LISTED = "a an and as at by for from how in is it of on or than that the to was what when where which who with"
_JOINING = frozenset(_LISTED.split())


def stem(word: str) -> str:
    """A word without its ending, as far as two signs are left: ``train`` for trained, training, trains, trainer."""
    folded = word.casefold()
    ending = _ENDING.search(folded, min(2, len(folded)))
    return folded[: ending.start()] if ending else folded


def stems_of(text: str) -> frozenset[str]:
    """The stems of all words of a text."""
    return frozenset(stem(word) for word in _WORD.findall(text))


@dataclass(frozen=True, slots=True)
class _Phrases:
    """What tells one relation: phrases as the stems of their words, all of which must be there, and words of scripts
    without blanks, each found anywhere."""

    stems: frozenset[frozenset[str]]
    pieces: frozenset[str]


@dataclass(frozen=True, slots=True)
class Cues:
    """The words that tell each relation and attribute of an ontology, and those that its attributes count.

    ``counted`` leads from the stem of a noun to the attributes that it is a word for: a number of "parameters" is no
    number of tokens.
    """

    phrases: Mapping[str, _Phrases]
    counted: Mapping[str, frozenset[str]]

    def tell(self, name: str, text: str) -> bool:
        """Whether a text has a word for a relation or attribute. One that has no words of its own needs none."""
        phrases = self.phrases.get(name)
        if phrases is None or not (phrases.stems or phrases.pieces):
            return True
        stems = stems_of(text)
        return any(phrase <= stems for phrase in phrases.stems) or any(piece in text for piece in phrases.pieces)

    def may_count(self, attribute: str, noun: str) -> bool:
        """Whether a number before ``noun`` may be a value of an attribute: not when it is a word for others."""
        owners = self.counted.get(stem(noun))
        return owners is None or attribute in owners


def collect_cues(ontology: Ontology) -> Cues:
    """The cues of an ontology; those of an attribute that several types have are the cues of all.

    An attribute is told by the words of its values too, and by its unit where no other has it. The names of types tell
    nothing: a "base model" is told by "base", as every sentence here has a model.
    """
    types = stems_of(" ".join(word for t in ontology.types.values() for word in (t.name, *t.synonyms)))
    attributes = [a for owner in _owners(ontology) for a in owner.attributes.values()]
    units = Counter(unit for unit, _ in {(a.unit, a.name) for a in attributes})
    phrases: dict[str, list[str]] = {r.name: [r.name, *r.synonyms] for r in ontology.relations.values()}
    counted: dict[str, set[str]] = {}
    for attribute in attributes:
        if units[attribute.unit] == 1 or not attribute.unit:
            words = [*_words_for(attribute), attribute.unit]
        else:  # of several things that are counted in tokens, "tokens" tells none
            parts = _parts(attribute.name)
            words = [*_words_for(attribute), *(f"{part} {attribute.unit}" for part in parts)]
        values = [spelling for value in attribute.values for spelling in (value.name, *value.synonyms)]
        phrases.setdefault(attribute.name, []).extend([*words, *values])
        for word in (w for w in (*_words_for(attribute), attribute.unit) if _WORD.fullmatch(w)):
            counted.setdefault(stem(word), set()).add(attribute.name)
    told = {name: _phrases_of(found, types) for name, found in phrases.items()}
    return Cues(told, {noun: frozenset(names) for noun, names in counted.items()})


def _owners(ontology: Ontology) -> list[EntityType | Relation]:
    return [*ontology.types.values(), *ontology.relations.values()]


def _words_for(attribute: Attribute) -> list[str]:
    return [" ".join(_parts(attribute.name)), *attribute.synonyms]


def _parts(name: str) -> list[str]:
    """The words of a name, of a field's own part: ``gpu memory`` for ``hardware_requirement.gpu_memory``."""
    return _WORD.findall(name.rpartition(".")[2])


def _phrases_of(phrases: list[str], types: frozenset[str]) -> _Phrases:
    kept: set[frozenset[str]] = set()
    pieces: set[str] = set()
    for phrase in phrases:
        words = _WORD.findall(phrase.replace("_", " "))
        pieces.update(word for word in words if not word.isascii())
        stems = frozenset(stem(word) for word in words if word.isascii() and word.casefold() not in _JOINING) - types
        if stems:
            kept.add(stems)
    return _Phrases(frozenset(kept), frozenset(pieces))
