"""Sentences as rules see them: clean words, the names in them, and which document characters they are."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingest.lexicon import Lexicon
from ontology.schema import Ontology

_TO_CLEAN = re.compile(
    r"(?P<blank>\s+)"
    r"|(?P<mark>\u00ad|\*+|`+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|\]\([^)\s]{0,500}\)|!?\[(?=[^\]\n]{1,200}\]\())"
    r"|(?P<variant>[‘’‑−“”\U000f0000-\U000fffff])"
)
_PLAIN = str.maketrans({"‘": "'", "’": "'", "‑": "-", "−": "-", "“": '"', "”": '"'})
_REPLACEMENT = "\ufffd"
_WORD_BEFORE = re.compile(r"(?P<word>\S+) [(\"]*$")
_JOINED = re.compile(r"(?:,| and| or| &) ")
_RELATIVE = re.compile(r",? (?:which|that|whose|who)\b")
_SUBJECTS = """a an and because both but however if our since that the then though when whereas while"""
_OTHERS = """against as behind by from like on over than to unlike versus via vs vs. with outperform outperforms
    outperformed beat beats surpass surpasses surpassed exceed exceeds exceeded train trained tune tuned fine-tuned
    pre-trained taught compare compared adapt adapted use used using"""
_BEFORE_SUBJECTS = frozenset(_SUBJECTS.split())
_BEFORE_OTHERS = frozenset(_OTHERS.split())
# "It" and "its" as the subject, first or after some words of introduction, and "it" as what was trained or released.
_PRONOUN = re.compile(
    r"(?:^(?:\W*(?:After|At|By|For|From|In|On|Since|To|With)(?: [^\s,;]+){1,5},? )?\W*)(?P<subject>[Ii]ts?)\b"
    r"|\b(?:train|tun|releas|publish|develop|introduc|propos|evaluat|licens)(?:ed|es|s) (?P<object>it)\b"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One thing that a name may be: an entity of a type, under the name by which the document calls it."""

    type: str
    entity: str
    name: str


@dataclass(frozen=True, slots=True)
class Named:
    """A known name, or a word that stands for one (``inferred``), at ``[start, end)`` of the clean sentence."""

    start: int
    end: int
    readings: tuple[Reading, ...]
    inferred: bool = False

    def of(self, types: frozenset[str]) -> tuple[Reading, ...]:
        return tuple(reading for reading in self.readings if reading.type in types)


@dataclass(frozen=True, slots=True)
class Marked:
    """A sentence with names replaced by single code points. ``places[i]`` is where in the clean text ``text[i]`` is."""

    text: str
    places: Sequence[int]
    names: Mapping[int, Named]
    """By position in ``text``."""

    def plain(self, start: int, end: int) -> tuple[int, int]:
        """The span of the clean sentence that ``text[start:end]`` stands for."""
        last = self.names.get(end - 1)
        return self.places[start], last.end if last else self.places[end - 1] + 1

    def between(self, start: int, end: int) -> str:
        """The marked text of a span of the clean sentence."""
        return self.text[bisect_left(self.places, start) : bisect_left(self.places, end)]


@dataclass(slots=True)
class CleanSentence:
    """``text`` has single blanks, plain quotes and no Markdown signs; ``offsets[i]`` is where its sign ``i`` stands."""

    text: str
    offsets: Sequence[int]
    names: list[Named]
    before: CleanSentence | None = None
    """The sentence before it in the same paragraph."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Document offsets of ``text[start:end]``."""
        return self.offsets[start], self.offsets[end - 1] + 1

    def mark(self, types: frozenset[str], codes: Mapping[frozenset[str], str]) -> Marked:
        """The sentence with each name that may be of one of ``types`` replaced by the code of those types."""
        parts: list[str] = []
        places: list[int] = []
        names: dict[int, Named] = {}
        done = 0
        for named in self.names:
            bearing = frozenset(reading.type for reading in named.of(types))
            if not bearing or named.start < done:
                continue
            # A pronoun may stand for one thing of each type; where that set has no code, it stands for the first.
            code = codes.get(bearing) or codes[frozenset([min(bearing)])]
            parts.append(self.text[done : named.start])
            places.extend(range(done, named.start))
            names[len(places)] = named
            parts.append(code)
            places.append(named.start)
            done = named.end
        if not names:
            return Marked(self.text, range(len(self.text) + 1), names)
        parts.append(self.text[done:])
        places.extend(range(done, len(self.text) + 1))
        return Marked("".join(parts), places, names)


def clean_sentence(text: str, start: int, end: int) -> tuple[str, Sequence[int]]:
    """The words of ``text[start:end]`` and the offset of each character in ``text``."""
    if not _TO_CLEAN.search(text, start, end):
        return text[start:end], range(start, end)
    parts: list[str] = []
    offsets: list[int] = []
    done = start
    for match in _TO_CLEAN.finditer(text, start, end):
        parts.append(text[done : match.start()])
        offsets.extend(range(done, match.start()))
        done = match.end()
        if match["blank"] and parts:
            parts.append(" ")
            offsets.append(match.start())
        elif match["variant"]:
            sign = match["variant"].translate(_PLAIN)
            parts.append(_REPLACEMENT if sign >= "\U000f0000" else sign)
            offsets.append(match.start())
    parts.append(text[done:end])
    offsets.extend(range(done, end))
    return "".join(parts), offsets


class Antecedents:
    """Finds the words that stand for a name said before: ``It``, ``The model``, ``this dataset``."""

    def __init__(self, ontology: Ontology) -> None:
        self._types: dict[str, list[str]] = {}
        for entity_type in ontology.types.values():
            for word in (entity_type.name, *entity_type.synonyms):
                self._types.setdefault(word.casefold(), []).append(entity_type.name)
        words = "|".join(re.escape(word) for word in sorted(self._types, key=len, reverse=True))
        self._phrase = re.compile(rf"\b(?:the|this) (?P<word>{words})\b(?! of\b)", re.IGNORECASE)

    def find(self, sentence: CleanSentence, topic: Sequence[Reading]) -> Iterator[Named]:
        """Stand-ins in a sentence, each with what it stands for; those that could stand for several are left out.

        ``topic`` holds what the document is about: ``the model`` means that where no sentence just before names one.
        """
        previous = antecedents(sentence.before) if sentence.before else {}
        about = _single_by_type(topic)
        for match in _PRONOUN.finditer(sentence.text):
            role = match.lastgroup or "subject"
            candidates = previous if sentence.before else about
            found = tuple(
                reading
                for kind, reading in candidates.items()
                if not _is_named_before(sentence, kind, match.start(role))
            )
            if found:
                yield Named(*match.span(role), found, inferred=True)
        for match in self._phrase.finditer(sentence.text):
            found = tuple(
                reading
                for kind in self._types[match["word"].casefold()]
                if not _is_named_before(sentence, kind, match.start())
                if (reading := previous.get(kind) or about.get(kind))
            )
            if found:
                yield Named(*match.span(), found, inferred=True)


def _is_named_before(sentence: CleanSentence, kind: str, at: int) -> bool:
    return any(named.start < at and named.of(frozenset([kind])) for named in sentence.names)


def antecedents(sentence: CleanSentence) -> dict[str, Reading]:
    """By type, the one thing that a sentence names and that the next one may speak of: it must be named early.

    Where several are named it is the first, if the sentence begins with it alone: "Mistral 7B outperforms Llama 2."
    """
    found = _single_by_type([reading for named in sentence.names for reading in named.readings])
    reach = max(40, len(sentence.text) // 2)
    early = {r.type for named in sentence.names if named.start <= reach for r in named.readings}
    found = {kind: reading for kind, reading in found.items() if kind in early}
    first = sentence.names[0] if sentence.names else None
    if first and first.start <= len("The ") and not _JOINED.match(sentence.text, first.end):
        found.update((r.type, r) for r in first.readings if len([x for x in first.readings if x.type == r.type]) == 1)
    return found


def _single_by_type(readings: Sequence[Reading]) -> dict[str, Reading]:
    by_type: dict[str, dict[str, Reading]] = {}
    for reading in readings:
        by_type.setdefault(reading.type, {}).setdefault(reading.entity, reading)
    return {kind: next(iter(found.values())) for kind, found in by_type.items() if len(found) == 1}


def governor(text: str, names: Sequence[Named], at: int) -> Named | None:
    """Of the names before ``at``, the one that the words there most likely speak of.

    That is a name right before them or before "which"; else the last that stands where a subject stands (first, or
    after a comma, "and", "that", an article …): in "Zephyr is based on Mistral 7B and was tuned with DPO", Zephyr. A
    name that something is compared with or done by ("than X", "unlike X", "on X") is taken for none.
    """
    possible: list[Named] = []
    subjects: list[Named] = []
    for named in names:
        after = text[named.end : at]
        if named is names[-1] and (not after.strip() or _RELATIVE.match(after)):
            return named
        before = _WORD_BEFORE.search(text, max(0, named.start - 40), named.start)
        word = before["word"].casefold() if before else ""
        if not word or word in _BEFORE_SUBJECTS or word[-1] in ",;:)" or word.endswith(("'s", "s'")):
            subjects.append(named)
        elif word not in _BEFORE_OTHERS:
            possible.append(named)
    return subjects[-1] if subjects else possible[-1] if possible else None


def find_names(text: str, lexicon: Lexicon) -> list[Named]:
    """The known names of a clean sentence."""
    return [
        Named(known.start, known.end, tuple(Reading(kind, entity, known.name) for kind, entity in known.entities))
        for known in lexicon.find(text)
    ]
