"""The literal values that a text states for an attribute: numbers with their scale, dates, enum words, URLs.

Used twice: to offer the LLM only values that stand in the passage, and to verify that a claimed value does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from ontology.schema import NUMERIC, Attribute
from ontology.values import MOMENT, BadValue, read_value
from ontoloom.names import name_key
from ontoloom.records import Value, canonical_text

_NUMBER = re.compile(
    r"(?<![\w.])(?<!\w[-−])(?P<sign>[-−])?(?P<digits>\d{1,3}(?:[,\u00a0\u202f]\d{3})+|\d+)(?P<decimals>\.\d+)?"
    r"(?:[\s\u00a0-]?(?P<scale>[KkMBT](?![\w])|thousand\b|million\b|billion\b|trillion\b))?"
)
_NOUN = re.compile(r"[\s\u00a0-]{1,2}([^\W\d_]+)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LAST_YEAR = 2200
_WIDEST_GAP = 5
"""How far apart two signs of one name may stand: it may be broken over lines and hyphenated."""
_SCALES = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_LISTED = "january february march april may june july august september october november december"
_MONTHS = {spelling: number for number, name in enumerate(_LISTED.split(), 1) for spelling in (name, name[:3])}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR_BEFORE = re.compile(rf"\b(?:in|since|until|early|late|mid|(?:{_MONTH})\.?(?:\s+\d{{1,2}},)?)\s+$", re.IGNORECASE)
_DATE = re.compile(
    rf"(?P<iso>\b\d{{4}}-\d{{2}}-\d{{2}}\b)"
    rf"|\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<month>{_MONTH})\.?,?\s+(?P<year>\d{{4}})\b"
    rf"|\b(?P<month2>{_MONTH})\.?\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year2>\d{{4}})\b",
    re.IGNORECASE,
)
_URL = re.compile(r"https?://[^\s<>\"'`\]]*[^\s<>\"'`\].,;:!?)]")


@dataclass(frozen=True, slots=True)
class Stated:
    """A value that stands in a text, at ``[start, end)``; ``noun`` is the word after a number."""

    value: Value
    start: int
    end: int
    noun: str = ""


def find_literals(attribute: Attribute, text: str) -> Iterator[Stated]:
    """Every value of the attribute's type that ``text`` states, in order; nothing for free strings.

    A number with ``K`` is stated twice where the attribute counts tokens (128,000 and 131,072): both are meant.
    """
    if attribute.type == "quantity":
        yield from (s for s in _quantities(attribute, text) if _in_bounds(attribute, s.value))
    elif attribute.type in NUMERIC:
        yield from (s for s in _numbers(attribute, text) if _in_bounds(attribute, s.value))
    elif attribute.type == "date":
        yield from _dates(text)
    elif attribute.type == "datetime":
        yield from _moments(attribute, text)
    elif attribute.type == "enum":
        yield from _enum_words(attribute, text)
    elif attribute.type == "url":
        yield from (Stated(m.group(), m.start(), m.end()) for m in _URL.finditer(text))


def _numbers(attribute: Attribute, text: str) -> Iterator[Stated]:
    dates = [match.span() for match in _DATE.finditer(text)]
    for match in _NUMBER.finditer(text):
        if any(start <= match.start() < end for start, end in dates):
            continue
        if _is_year(match, text) and (attribute.maximum is None or attribute.maximum > _LAST_YEAR):
            continue
        noun = _NOUN.match(text, match.end())
        for value in _scaled(match, attribute):
            if not isinstance(value, float) or attribute.type == "number":
                yield Stated(value, match.start(), match.end(), noun.group(1) if noun else "")


def _quantities(attribute: Attribute, text: str) -> Iterator[Stated]:
    """Numbers with a unit behind them that the attribute's can be made of, in that."""
    for match in _NUMBER.finditer(text):
        noun = _NOUN.match(text, match.end())
        if noun is None:
            continue
        with suppress(BadValue):
            for number in _scaled(match, attribute):
                value = read_value(attribute, f"{canonical_text(number)} {noun.group(1)}")
                yield Stated(value, match.start(), noun.end())


def _moments(attribute: Attribute, text: str) -> Iterator[Stated]:
    for match in MOMENT.finditer(text):
        with suppress(BadValue):
            yield Stated(read_value(attribute, match.group()), match.start(), match.end())


def _is_year(match: re.Match[str], text: str) -> bool:
    """Whether a number is a year, told by its digits and the word before: ``in 2020``, ``July 2023``."""
    before = _YEAR_BEFORE.search(text[max(0, match.start() - 20) : match.start()])
    return before is not None and _YEAR.fullmatch(match.group()) is not None


def _scaled(match: re.Match[str], attribute: Attribute) -> Iterator[int | float]:
    digits = re.sub(r"\D", "", match["digits"])
    number = float(digits + (match["decimals"] or "")) * (-1 if match["sign"] else 1)
    scale = (match["scale"] or "").lower()
    factors = [_SCALES.get("k" if scale == "thousand" else scale[:1], 1)]
    if factors == [1000] and attribute.unit == "tokens":
        factors.append(1024)
    for factor in factors:
        value = round(number * factor, 6)
        yield int(value) if value.is_integer() else value


def _in_bounds(attribute: Attribute, value: Value) -> bool:
    if not isinstance(value, int | float):
        return False
    low, high = attribute.minimum, attribute.maximum
    return (low is None or value >= low) and (high is None or value <= high)


def _dates(text: str) -> Iterator[Stated]:
    for match in _DATE.finditer(text):
        try:
            if match["iso"]:
                value = date.fromisoformat(match["iso"])
            else:
                month = _MONTHS[(match["month"] or match["month2"]).lower()]
                value = date(int(match["year"] or match["year2"]), month, int(match["day"] or match["day2"]))
        except ValueError:
            continue
        yield Stated(value, match.start(), match.end())


def _enum_words(attribute: Attribute, text: str) -> Iterator[Stated]:
    for option in attribute.values:
        for spelling in (option.name, *option.synonyms):
            for start, end in find_spelling(spelling, text):
                yield Stated(option.name, start, end)


def find_spelling(name: str, text: str) -> Iterator[tuple[int, int]]:
    """Where ``name`` stands in ``text`` in any spelling with the same name key: ``Llama-3 70B`` for ``llama 3 70b``.

    A spelling starts and ends at word boundaries; in scripts that write without blanks, anywhere.
    """
    key = "".join(map(_sign_key, name))
    signs, places = _squeeze(text) if key else (text, range(len(text)))
    key = key or name.strip()
    at = signs.find(key) if key else -1
    while at >= 0:
        last = at + len(key) - 1
        start, end = places[at], places[last] + 1
        holds = end - start <= len(key) or all(places[n + 1] - places[n] <= _WIDEST_GAP for n in range(at, last))
        found = holds and _is_edge(text, start) and _is_edge(text, end)
        if found:
            yield start, end
        at = signs.find(key, last + 1 if found else at + 1)


@lru_cache(maxsize=64)
def _squeeze(text: str) -> tuple[str, list[int]]:
    """The signs of a text that count in name keys, and where each stands in it."""
    signs: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        key = _sign_key(character)
        signs.append(key)
        places.extend([place] * len(key))
    return "".join(signs), places


@lru_cache(maxsize=65536)
def _sign_key(character: str) -> str:
    """What ``name_key`` keeps of one character; nothing of a blank or a sign."""
    key = name_key(character)
    return key if any(c.isalnum() or c in "+#" or unicodedata.category(c).startswith("M") for c in key) else ""


def _is_edge(text: str, position: int) -> bool:
    """Whether a word can start or end here: not between two letters or digits of a script with blanks, nor before the
    signs of ``C++`` and ``C#``."""
    if position in (0, len(text)):
        return True
    left, right = text[position - 1], text[position]
    within = left.isalnum() and (right.isalnum() or right in "+#")
    return not within or left > "\u2e80" or right > "\u2e80"
