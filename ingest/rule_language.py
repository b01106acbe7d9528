"""The language of rules: what ``rules.yaml`` comes to once it is read, and the slots that patterns are written with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from ontology.schema import Attribute, Ontology
from ontoloom.names import hash_id
from ontoloom.records import Value

NEAREST = "nearest"
DOCUMENT = "document"
ORIGINS = (NEAREST, DOCUMENT)

_MONTH = (
    "(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?)"
)
_DAY = "[0-9]{1,2}(?:st|nd|rd|th)?"
_LETTERS = r"[\p{L}\p{N}\p{M}]"
_REST_OF_WORD = rf"{_LETTERS}*(?:[-'.&/+]{_LETTERS}+)*[+#]*"
_FIRST_WORD = rf"(?:\p{{Lu}}|\p{{Ll}}{{1,2}}\p{{Lu}}|\p{{Lo}}){_REST_OF_WORD}"
_NEXT_WORD = rf"(?:(?:of|for|the|de|von|van) )?(?:\p{{Lu}}|[0-9]|\p{{Ll}}\p{{Lu}}){_REST_OF_WORD}"
BUILT_IN: Mapping[str, str] = {
    "number": r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?",
    "year": r"\b(?:19|20)[0-9]{2}\b",
    "date": (rf"(?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}|{_DAY} {_MONTH},? [0-9]{{4}}|{_MONTH} {_DAY},? [0-9]{{4}})"),
    "url": r"https?://[^\s<>\"')\]]+[^\s<>\"')\].,;:!?]",
    # A run of capitalised words, numbers and words with capitals inside, as names are written.
    "name": rf"(?-i:\b{_FIRST_WORD}(?: {_NEXT_WORD}){{0,7}})",
}
"""Pieces that every rule file has."""

SCALES: Mapping[str, Mapping[str, Decimal]] = {
    "decimal": {
        unit: Decimal(10**power)
        for units, power in (("K thousand", 3), ("M million", 6), ("B bn billion", 9), ("T trillion", 12))
        for unit in units.split()
    }
}
"""Scales that a rule may name."""


@dataclass(frozen=True, slots=True)
class End:
    """An entity at an end of a claim, or as a reference attribute.

    ``origin`` says where to look when the pattern has no slot for it, in order; a subject is looked for nearby where it
    says nothing. ``new``: a name that is not known is taken too. ``name``: always this one.
    """

    types: tuple[str, ...]
    new: bool = False
    origin: tuple[str, ...] = ()
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal value and how the words for it become one: by name key through ``mapped``, times ``scale`` by unit."""

    attribute: Attribute
    constant: Value | None = None
    mapped: Mapping[str, Value] = field(default_factory=dict)
    scale: Mapping[str, Decimal] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: any of ``patterns``, in a sentence that passes the guards, states ``relation``."""

    name: str
    relation: str
    patterns: tuple[str, ...]
    subject: End
    object: End | Literal
    attributes: Mapping[str, End | Literal]
    sections: frozenset[str]
    """Empty: all."""
    require: tuple[str, ...]
    unless: tuple[str, ...]
    unless_inside: tuple[str, ...]
    unless_captured: Mapping[str, tuple[str, ...]]
    """By role: what its words must not hold."""
    confidence: float
    ignore_case: bool

    def role(self, name: str) -> End | Literal | None:
        """What a capture of this name stands for; None when the rule has no such role."""
        if name == "subject":
            return self.subject
        if name in ("object", "value"):
            return self.object if isinstance(self.object, End) == (name == "object") else None
        return self.attributes.get(name)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A rule file. ``known`` are names that it brings along, as (name, entity id, type). ``hash`` covers its text."""

    name: str
    version: str
    hash: str
    rules: tuple[Rule, ...]
    pieces: Mapping[str, str]
    known: tuple[tuple[str, str, str], ...]
    ontology: Ontology


@dataclass(frozen=True, slots=True)
class Slot:
    """``{role:what}`` in a pattern, at ``[start, end)``. ``what`` names pieces, types or roles; none for ``{gap}``."""

    start: int
    end: int
    role: str | None
    what: tuple[str, ...]
    new: bool = False
    many: bool = False
    gap: int | None = None


_SLOT = re.compile(
    r"\\[pPx]\{[^}]*\}|\\."
    r"|\{(?:gap(?::(?P<gap>\d{1,2}))?|(?:(?P<role>[a-z_]\w*):)?(?P<what>[A-Za-z_][\w|]*))(?P<flags>[?+]{0,2})\}",
    re.DOTALL,
)
_DEFAULT_GAP = 6


def find_slots(pattern: str) -> Iterator[Slot]:
    """The slots of a pattern, in order. Braces of repetitions (``{2,4}``) and escapes are none."""
    for match in _SLOT.finditer(pattern):
        if match.group().startswith("\\"):
            continue
        flags = match["flags"]
        new, many = "?" in flags, "+" in flags
        if match["what"] is None:
            yield Slot(*match.span(), None, (), new, many, gap=int(match["gap"] or _DEFAULT_GAP))
        else:
            what = tuple(filter(None, match["what"].split("|")))
            yield Slot(*match.span(), match["role"], what, new, many)


def known_names(names: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, str, str], ...]:
    """Names by type as lexicon entries; each is an entity of its own."""
    return tuple(
        (name, hash_id("known", entity_type, name), entity_type)
        for entity_type, listed in names.items()
        for name in listed
    )
