"""Whether a claim's words stand in the text, and where: the evidence is the smallest stretch that holds them all.

An extractor may say what it likes; the graph takes only what can be pointed at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.cues import Cues
from ingest.literals import find_literals, find_spelling
from ingest.split import sentences
from ontology.schema import Attribute, Ontology
from ontology.values import BadValue, read_value
from ontoloom.names import name_key
from ontoloom.records import Claim, Document, Mention, Value, canonical_text

Span = tuple[int, int]

VERIFY_VERSION = "1"
"""To be raised when claims verify differently, so that documents are read again."""

MOST_SENTENCES = 2
"""How many sentences in a row may share one fact: "Falcon is a model. It was made by TII."."""

# Words addressed to a program that reads a text, not to a person.
_INSTRUCTION = re.compile(
    r"^\W{0,3}(?:system|assistant|user|developer)\s*(?:prompt|message|note)?\s*:"
    r"|<\|[^|<>\n]{0,40}\|>|\[/?INST\]|<</?SYS>>|^#{1,6}\s*(?:system|instructions?)\b"
    r"|\b(?:ignore|disregard|forget|override)\b[^.!?\n]{0,40}\b(?:previous|prior|above|earlier|all|any|your)\b"
    r"[^.!?\n]{0,30}\b(?:instructions?|prompts?|rules?|messages?|context)\b"
    r"|\b(?:add|insert|emit|output|write|delete|remove|drop|create)\b[^.!?\n]{0,30}"
    r"\b(?:triples?|nodes?|edges?|all entities)\b\W{0,3}[(\[{:<]"
    r"|\byou are (?:now )?(?:an? |the )?(?:ai|assistant|language model|helpful)\b",
    re.IGNORECASE | re.MULTILINE,
)


_INSTRUCTION_REACH = 1000


@dataclass(frozen=True, slots=True)
class Unverified:
    """Why a claim is refused: ``not-in-text``, ``far-apart``, ``no-cue`` or ``instruction-like``, said in one line."""

    code: str
    message: str


def verify(
    claim: Claim,
    document: Document,
    ontology: Ontology,
    *,
    exact: bool = False,
    cues: Cues | None = None,
) -> Claim | Unverified:
    """The claim with the span of its evidence, or why there is none.

    Names and values are looked for within the claim's span; the subject may also be in the title, which is where a
    document says what it is about. ``exact``: the span covers just the words that state the claim (a rule's match), so
    it stays as it is, and values are the rule's own reading of it. ``cues``: the evidence must have a word for the
    relation (``ingest.cues``).
    """
    if not 0 <= claim.start < claim.end <= len(document.text):
        return Unverified("not-in-text", f"the span {claim.start}-{claim.end} is not within the document")
    words = document.text[claim.start : claim.end]
    if exact:
        verified: Claim | Unverified = _check_names(claim, document, words)
    else:
        verified = _narrow(claim, document, ontology, words)
    if isinstance(verified, Claim) and cues is not None:
        evidence = document.text[verified.start : verified.end]
        if not cues.tell(verified.relation, evidence):
            return Unverified("no-cue", f"no word for '{verified.relation}' in '{_shortened(evidence)}'")
    if isinstance(verified, Claim) and (told := _instruction(document.text, verified)):
        return Unverified("instruction-like", f"the text addresses its reader: '{told}'")
    return verified


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 80 else words[:79] + "…"


def _check_names(claim: Claim, document: Document, words: str) -> Claim | Unverified:
    for name, is_subject in _names(claim):
        in_title = is_subject and (name_key(name) == name_key(document.title) or stands_in(name, document.title))
        if not (stands_in(name, words) or in_title or stands_in(name, document.text)):
            return Unverified("not-in-text", f"'{name}' does not stand in the document")
    return claim


def _names(claim: Claim) -> Iterator[tuple[str, bool]]:
    yield claim.subject.name, True
    if isinstance(claim.object, Mention):
        yield claim.object.name, False
    for _, value in claim.attributes:
        if isinstance(value, Mention):
            yield value.name, False


def stands_in(name: str, text: str) -> bool:
    """Whether a name stands in a text as whole words, in any spelling with the same name key."""
    return next(iter(find_spelling(name, text)), None) is not None


def _narrow(claim: Claim, document: Document, ontology: Ontology, words: str) -> Claim | Unverified:
    """The claim with the smallest run of sentences in its span that holds all its names and values."""
    wanted = list(_wanted(claim, ontology, words))
    subject = claim.subject.name
    in_title = stands_in(subject, document.title)
    for name, places in wanted:
        if not places and not (name == subject and in_title):
            return Unverified("not-in-text", f"'{name}' does not stand in {claim.start}-{claim.end}")
    run = _smallest_run(words, [places for _, places in wanted])
    if run is None and in_title:
        # Sentences about what the title names rarely repeat the name.
        run = _smallest_run(words, [places for name, places in wanted if name != subject])
    if run is None:
        names = ", ".join(f"'{name}'" for name, _ in wanted)
        return Unverified("far-apart", f"no {MOST_SENTENCES} sentences in a row hold {names}")
    return replace(claim, start=claim.start + run[0], end=claim.start + run[1])


def _wanted(claim: Claim, ontology: Ontology, words: str) -> Iterator[tuple[str, list[Span]]]:
    """What must stand in the words, and where it does."""
    for name, _ in _names(claim):
        yield name, list(find_spelling(name, words))
    relation = ontology.relations.get(claim.relation)
    if not isinstance(claim.object, Mention):
        owners = [t.attributes[claim.relation] for t in ontology.types_with_attribute(claim.relation)]
        yield from _wanted_value(owners, claim.object, words)
    for name, value in claim.attributes:
        if not isinstance(value, Mention):
            known = relation.attributes.get(name) if relation else None
            yield from _wanted_value([known] if known else [], value, words)


def _wanted_value(owners: Sequence[Attribute], value: Value, words: str) -> Iterator[tuple[str, list[Span]]]:
    """A literal, unless it is not of its attribute's type: that is for the ontology to refuse, with a better reason."""
    text = canonical_text(value)
    for attribute in owners:
        try:
            meant = canonical_text(read_value(attribute, value))
        except BadValue:
            continue
        if attribute.type == "boolean":
            return
        stated = [(s.start, s.end) for s in find_literals(attribute, words) if canonical_text(s.value) == meant]
        yield text, stated or list(find_spelling(text, words))
        return
    if not owners:
        yield text, list(find_spelling(text, words))


def _smallest_run(words: str, places: Sequence[list[Span]]) -> Span | None:
    """The shortest run of at most MOST_SENTENCES sentences that holds a place of each kind; the first of equals.

    Where nothing need be held, the first sentence.
    """
    spans = list(sentences(words)) or [(0, len(words))]
    best: Span | None = None
    for count in range(1, MOST_SENTENCES + 1):
        for first in range(len(spans) - count + 1):
            run = spans[first][0], spans[first + count - 1][1]
            holds = all(any(run[0] <= start and end <= run[1] for start, end in kind) for kind in places)
            if holds and (best is None or run[1] - run[0] < best[1] - best[0]):
                best = run
        if best is not None:
            return best
    return None


def _instruction(text: str, claim: Claim) -> str:
    """The words around the evidence that address a program; empty where there are none.

    Looked for in the sentences of the evidence and the one before on its line: an instruction often ends before the
    names that it plants.
    """
    start = max(text.rfind("\n", 0, claim.start) + 1, claim.start - _INSTRUCTION_REACH)
    end = text.find("\n", claim.end)
    end = min(end if end >= 0 else len(text), claim.end + _INSTRUCTION_REACH)
    if not _INSTRUCTION.search(text, start, end):
        return ""
    spans = list(sentences(text, start, end))
    held = [n for n, span in enumerate(spans) if span[0] < claim.end and claim.start < span[1]]
    if held:
        start, end = spans[max(0, held[0] - 1)][0], spans[held[-1]][1]
    match = _INSTRUCTION.search(text[start:end])
    return " ".join(match.group().split()) if match else ""
