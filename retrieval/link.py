"""What a question names and what it wants to know: mentions, terms, content words, the kind of answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from graph.store import Store
from ontoloom.names import name_key
from ontoloom.records import Entity
from retrieval.chunk import spaced
from retrieval.sense import Want, enum_values
from retrieval.words import LIGHT_STEMS, STOP_WORDS, Word, looks_like_a_name, stem, words

LONGEST_NAME = 16
"""Words in the longest name that is looked for."""

WANTS: tuple[tuple[re.Pattern[str], Want], ...] = (
    (re.compile(r"\bwhy\b", re.I), "reason"),
    (re.compile(r"\b(?:who|whom|whose)\b", re.I), "agent"),
    (re.compile(r"\b(?:when|(?:what|which) (?:year|date|day|month))\b", re.I), "time"),
    (re.compile(r"\bhow (?:many|much|large|big|long|small|high|low|far|fast|heavy)\b", re.I), "amount"),
    (re.compile(r"^\W*where\b|\bin (?:what|which) (?:city|town|place|country)\b", re.I), "place"),
)


FOCUS, LIGHT = 1.5, 0.4
_FOCUS = re.compile(
    r"\b(?:which|what|how (?:many|much))\s+((?:[\w-]+\s+){0,3}?[\w-]+)"
    r"(?=\s+(?:is|are|was|were|do|does|did|has|have|had|can|of|for|in|on|from|under|with)\b)",
    re.I,
)
_DESCRIBED = re.compile(
    r"\b(?:the|an?|that)\s+([\w-]+)\s+(?:that|which|who|whom|whose|(?:on|from|by|with|in|for|to)\s+which)\b[^,;:.?]*$",
    re.I,
)
_OPEN = re.compile(r"\b(?:who|whom|whose|what|which|when|where|why|how)\b", re.I)
_ARTICLE = re.compile(r"\b(?:the|an?)\s+$", re.I)
_LINK = re.compile(r"\W+(?:(?:on|from|to|than|over|(by|of)|the|an?)\W+)*", re.I)


@dataclass(frozen=True, slots=True)
class Value:
    """A literal that the ontology lists: ``value`` of ``attribute`` of ``type``."""

    type: str
    attribute: str
    value: str


@dataclass(frozen=True, slots=True)
class Mention:
    """A part of a question that is a name. Homonyms stay apart: it may lead to several entities, and to enum values."""

    start: int
    end: int
    text: str
    entities: tuple[Entity, ...]
    values: tuple[Value, ...] = ()

    @property
    def key(self) -> str:
        return name_key(self.text)


@dataclass(frozen=True)
class Asked:
    """A question taken apart.

    ``content`` are the words that say what is asked, ``terms`` those that look like a name that nobody knows: what
    answers must hold each of them. ``masked`` is the question with every mention replaced by its type.
    """

    text: str
    mentions: tuple[Mention, ...]
    content: tuple[Word, ...]
    terms: tuple[Word, ...]
    want: Want

    @cached_property
    def masked(self) -> str:
        found, at = "", 0
        for mention in self.mentions:
            types = {entity.type for entity in mention.entities}
            before = _ARTICLE.sub("", self.text[at : mention.start])
            found += before + (f"the {spaced(types.pop()).lower()}" if len(types) == 1 else "it")
            at = mention.end
        return found + self.text[at:]

    @cached_property
    def focus(self) -> tuple[Word, ...]:
        """The words that a question word asks for: ``batch size`` in ``What batch size was used?``"""
        found = _FOCUS.search(self.text)
        spans = {found.start(1) + word.start for word in words(found.group(1))} if found else set()
        return tuple(word for word in self.content if word.start in spans)

    @property
    def head(self) -> str:
        """The stem of the last word of the focus; empty where there is none."""
        return self.focus[-1].stem if self.focus else ""

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """What each content word counts: more in the focus, less where it is light."""
        return tuple(LIGHT if w.stem in LIGHT_STEMS else FOCUS if w in self.focus else 1.0 for w in self.content)

    @cached_property
    def is_open(self) -> bool:
        """Whether something unknown is asked for, as by ``who`` or ``how``; else yes or no would do."""
        return bool(_OPEN.search(self.text))

    def described(self, mention: Mention) -> str:
        """The stem of what a mention only describes: ``model`` in ``the model that X is based on``; else empty."""
        found = _DESCRIBED.search(self.text[: mention.start])
        return stem(found.group(1)) if found else ""

    def role(self, mention: Mention, stems: Collection[str]) -> Literal["subject", "object"] | None:
        """What a mention is to a verb or adjective with one of the stems: ``X is based on``, or ``based on X``.

        ``by`` or ``of`` before the mention makes it the subject: ``beaten by X``, ``the base of X``. None where there
        is no such word.
        """
        near = [word for word in self.content if word.stem in stems]
        before = [word for word in near if word.end <= mention.start]
        if before and (link := _LINK.fullmatch(self.text[before[-1].end : mention.start])):
            return "subject" if link.group(1) else "object"
        return "subject" if any(word.start >= mention.end for word in near) else None


def take_apart(question: str, store: Store, *, common: Collection[str] = ()) -> Asked:
    """Finds names (the longest first, not overlapping), terms, content words and the kind of answer that is wanted.

    ``common`` are stems of words that the ontology itself uses, such as GPU: in lower case they name nothing, and as
    capitals they are no unknown name.
    """
    found = words(question)
    mentions = _mentions(question, found, store, common)
    rest = [w for w in found if not any(m.start <= w.start < m.end for m in mentions)]
    rest = [w for w in rest if w.text.casefold() not in STOP_WORDS]
    terms = [w for w in rest if looks_like_a_name(w, first=w is found[0]) and w.stem not in common]
    want: Want = next((want for pattern, want in WANTS if pattern.search(question)), "any")
    return Asked(question, tuple(mentions), tuple(w for w in rest if w not in terms), tuple(terms), want)


def _mentions(question: str, found: Sequence[Word], store: Store, common: Collection[str]) -> list[Mention]:
    spans = [
        (a.start, b.end)
        for i, a in enumerate(found)
        for b in found[i : i + LONGEST_NAME]
        if not (a is b and _is_common(a, common))
    ]
    keys = {span: name_key(question[span[0] : span[1]]) for span in spans}
    entities = store.named(sorted(set(keys.values())))
    values = _values_by_key(store)
    chosen: list[Mention] = []
    for start, end in sorted(spans, key=lambda s: (s[0] - s[1], s[0])):
        key = keys[start, end]
        named = entities.get(key, [])
        if not (named or key in values) or any(start < m.end and m.start < end for m in chosen):
            continue
        ordered = tuple(sorted(named, key=lambda e: e.id))
        chosen.append(Mention(start, end, question[start:end], ordered, values.get(key, ())))
    return sorted(chosen, key=lambda m: m.start)


def _values_by_key(store: Store) -> Mapping[str, tuple[Value, ...]]:
    found: dict[str, tuple[Value, ...]] = {}
    for spelling, places in enum_values(store.ontology).items():
        if any(c.isupper() or c.isdigit() for c in spelling):  # "custom" and "closed" are words, "MIT" and "DPO" names
            key = name_key(spelling)
            found[key] = found.get(key, ()) + tuple(Value(*place) for place in places)
    return found


def _is_common(word: Word, common: Collection[str]) -> bool:
    """Whether a word on its own is no name: ``will``, or ``score`` in lower case where a relation has a score."""
    folded = word.text.casefold()
    return folded in STOP_WORDS or (word.text == folded and word.stem in common)
