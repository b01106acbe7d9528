"""The words of a capture to a literal value, as a rule says; what cannot be told stays as the words it was."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from ingest.literals import find_literals
from ingest.rule_language import Literal
from ontology.schema import NUMERIC
from ontoloom.names import name_key
from ontoloom.records import Value

_AMOUNT = re.compile(r"(?P<sign>[-+]?)(?P<digits>\d{1,3}(?:,\d{3})+|\d+|(?=\.))(?P<decimals>\.\d+)?[ -]?(?P<unit>.*)")
_LEADING = """a an the this that these those our its their his her your my both each all some any no in on at of for
    from with by to as when while where if since because although though however moreover furthermore thus therefore
    hence here there we it they he she and or but not also recently then unlike like using via under over between among
    during after before compared"""
_LEADING_WORDS = frozenset(_LEADING.split())
_SURROUNDINGS = " \t\"'“”‘’«».,;:"
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))


def to_value(literal: Literal, words: str, *, unit: str | None = None) -> Value:
    """The value that ``words`` state; the words themselves where they state none, for the quarantine to show."""
    if literal.constant is not None:
        return literal.constant
    key = name_key(words)
    for spelling, value in literal.mapped.items():
        if name_key(spelling) == key:
            return value
    kind = literal.attribute.type
    if kind == "enum":
        return next((o.name for o in literal.attribute.values if key in map(name_key, (o.name, *o.synonyms))), words)
    if kind in NUMERIC:
        number = to_number(words, scale=literal.scale, unit=unit)
        return words if number is None else number
    if kind == "date":
        return next((stated.value for stated in find_literals(literal.attribute, words)), words)
    return words if kind == "url" else strip_signs(words)


def to_number(words: str, *, scale: Mapping[str, Decimal], unit: str | None = None) -> int | float | None:
    """``7.3 billion`` to 7,300,000,000 by the factor of its unit, exactly. None for other words and unknown units."""
    amount = _AMOUNT.fullmatch(words.strip())
    if amount is None:
        return None
    factor = _factor(amount["unit"] or unit or "", scale)
    if factor is None:
        return None
    digits = amount["sign"] + (amount["digits"].replace(",", "") or "0") + (amount["decimals"] or "")
    number = Decimal(digits) * factor
    return int(number) if number == number.to_integral_value() else float(number)


def _factor(unit: str, scale: Mapping[str, Decimal]) -> Decimal | None:
    """A unit's factor: in its exact spelling, else in any case."""
    unit = unit.strip()
    if not unit:
        return Decimal(1)
    if unit in scale:
        return scale[unit]
    return next((factor for name, factor in scale.items() if name.casefold() == unit.casefold()), None)


def trim_name(words: str) -> str:
    """A name without articles and function words in front, possessive and punctuation; empty when no name is left."""
    parts = strip_signs(words).split()
    while parts and strip_signs(parts[0]).casefold() in _LEADING_WORDS:
        parts.pop(0)
    name = strip_signs(" ".join(parts)).removesuffix("'s")
    return name if any(c.isalpha() for c in name) else ""


def strip_signs(words: str) -> str:
    """Words without quotes, punctuation and brackets around them; a bracket that is closed within stays."""
    before = ""
    while words != before:
        before = words
        words = words.strip(_SURROUNDINGS)
        for opening, closing in _BRACKETS:
            if words.startswith(opening) and closing not in words[:-1]:
                words = words[1:]
            if words.endswith(closing) and opening not in words:
                words = words[:-1]
    return words
