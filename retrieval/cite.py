"""Whether evidence supports a sentence, and which: an answer's sentences are shown with their spans or not at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ontology.schema import Ontology
from ontoloom.records import EntityRef
from retrieval.index import VectorIndex
from retrieval.pack import Packed
from retrieval.words import STOP_WORDS, Word, content_words, looks_like_a_name, words

LEAST_SHARED = 0.6
"""Share of a sentence's content words that evidence, or the question, must hold."""
LEAST_ALIKE = 0.45
"""Cosine of a sentence with the statement or the sentence that supports it."""
_NEGATION = re.compile(r"\b(?:not?|never|neither|nor|none|cannot|without|unlike)\b|n['’]t\b", re.I)
_AGENT = re.compile(r"\bby\s+(?:the\s+)?$", re.I)
_OPENERS = frozenset(["yes", "no", "however", "therefore", "according", "based", "also", "both", "thus"])


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks sentences against packed evidence. ``question`` is what they answer."""

    question: str
    packed: Sequence[Packed]
    index: VectorIndex

    def support(self, sentence: str) -> list[Packed]:
        """The evidence that supports a sentence: one piece, or two that share an entity; none where nothing does.

        Every name and number of the sentence must be in it, most of its words, with no negation and no change of
        direction between, and the two must be alike as vectors.
        """
        if not words(sentence):
            return []
        (said,) = self.index.embed([sentence])
        known = self.index.vectors([piece.fact.triple.id for piece in self.packed])
        by_evidence = [
            max(float(vector @ said) for vector in (known[piece.fact.triple.id], *(v for _, v in piece.fact.views)))
            for piece in self.packed
        ]
        ranked = sorted(range(len(self.packed)), key=lambda i: -by_evidence[i])
        for i in ranked:
            if by_evidence[i] >= LEAST_ALIKE and self._says([self.packed[i]], sentence):
                return [self.packed[i]]
        for i in ranked[:6]:
            for j in ranked[:6]:
                pair = [self.packed[i], self.packed[j]]
                if i < j and by_evidence[i] >= LEAST_ALIKE and _share_entity(*pair) and self._says(pair, sentence):
                    return pair
        return []

    def _says(self, evidence: Sequence[Packed], sentence: str) -> bool:
        return (
            _literal_words_occur(sentence, evidence)
            and self._shares_words(sentence, evidence)
            and _negated(sentence) == any(_negated(piece.sentence) for piece in evidence)
            and all(_same_direction(piece, sentence, self.index.store.ontology) for piece in evidence)
        )

    def _shares_words(self, sentence: str, evidence: Sequence[Packed]) -> bool:
        said = content_words(sentence)
        known = _stems(evidence)
        asked = {word.stem for word in content_words(self.question)}
        named = {word.stem for p in evidence for text in p.fact.own_texts for word in words(text)}
        new = [word for word in said if word.stem in named - asked]
        shared = sum(word.stem in known or word.stem in asked for word in said)
        return bool(new) and shared >= LEAST_SHARED * len(said)


def _literal_words_occur(sentence: str, evidence: Sequence[Packed]) -> bool:
    """Whether every name and number of a sentence stands in the evidence, the sentence's first word included."""
    known = _stems(evidence)
    found = words(sentence)
    literal = [word for word in found if looks_like_a_name(word, first=False)]
    return all(word.stem in known or (word is found[0] and _opens(word)) for word in literal)


def _opens(word: Word) -> bool:
    folded = word.text.casefold()
    return folded in STOP_WORDS or folded in _OPENERS


def _same_direction(piece: Packed, sentence: str, ontology: Ontology) -> bool:
    """Whether a sentence has two things the way round that the evidence has, where either way could be."""
    triple = piece.fact.triple
    if not isinstance(triple.object, EntityRef):
        return True
    subject, target = piece.fact.entities[triple.subject], piece.fact.entities[triple.object.id]
    relation = ontology.relations.get(piece.fact.triple.relation)
    if relation is None or target.type not in relation.domain or subject.type not in relation.range:
        return True
    names = (subject.name, *subject.aliases), (target.name, *target.aliases)
    said, told = _order(*names, sentence), _order(*names, piece.statement)
    return said is None or told is None or said == told


def _order(subject: Sequence[str], target: Sequence[str], text: str) -> bool | None:
    """Whether the subject comes first, or last as what ``by`` names; None where one of the two is not named."""
    first, second = _first(subject, text), _first(target, text)
    if first < 0 or second < 0:
        return None
    return (first < second) != bool(_AGENT.search(text[: max(first, second)]))


def _first(names: Sequence[str], text: str) -> int:
    folded = text.casefold()
    return min((at for name in names if (at := folded.find(name.casefold())) >= 0), default=-1)


def _negated(text: str) -> bool:
    return _NEGATION.search(text) is not None


def _stems(evidence: Sequence[Packed]) -> set[str]:
    return {stem for p in evidence for stem in p.fact.stems} | {w.stem for p in evidence for w in words(p.statement)}


def _share_entity(one: Packed, other: Packed) -> bool:
    return bool(set(one.fact.entities) & set(other.fact.entities))
