"""Quantities such as ``24 GB`` in the unit of an attribute, and factors between the units of two.

Units are those that the library pint knows. A unit that it does not know, such as tokens, is only ever itself. Before
the attribute's own unit a number may have a scale, as in ``128K tokens``, which means what it means in pages.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import Any

from ontology.numerals import LOOSE_NUMBER, multiple, read_decimal

POWER = r"[^\W\d_°]*[^\W\d_](?:(?:\^|\*\*)-?[1-9]|[1-9])?|°[CF]?|%"
UNIT = re.compile(rf"(?:{POWER})(?:\s?[/*· ]\s?(?:{POWER})){{0,4}}")
"""What is given to pint to read: names of units with small powers, multiplied or divided."""


class NotInUnit(ValueError):
    """A quantity, or a unit, that cannot be converted to the unit that is asked for."""


def in_unit(text: str, unit: str) -> int | float | None:
    """The number of a quantity in a unit; None where the text is no quantity. Raises NotInUnit."""
    match = LOOSE_NUMBER.fullmatch(unicodedata.normalize("NFKC", text).strip()) if len(text) <= 60 else None
    number = read_decimal(match[1]) if match else None
    if match is None or number is None or not (match[2] or match[3]):
        return None
    written, scale = match.string[match.end(1) :].strip(), multiple(match[2], unit)
    if written == unit:
        return plain(number)
    if scale is not None and same_word(match[3], unit):
        return plain(number * scale)
    known = pint_unit(unit)
    if known is None and same_word(written, unit):
        return plain(number)
    try:
        return plain(convert(number, pint_unit(written), known))
    except NotInUnit:
        if scale is not None and not match[3]:
            return None  # 128K alone: what it scales is to be said
        raise


def between(unit: str, other: str) -> tuple[Decimal, Decimal]:
    """Factor and offset that make numbers in ``unit`` numbers in ``other``. Raises NotInUnit."""
    if same_word(unit, other):
        return Decimal(1), Decimal(0)
    known = pint_unit(unit), pint_unit(other)
    offset = convert(Decimal(0), *known)
    return convert(Decimal(1), *known) - offset, offset


def convert(number: Decimal, unit: Any, other: Any) -> Decimal:
    """For pint, bits, counts and angles have no dimension, as percent have none; their base units tell them apart."""
    from pint.errors import PintError

    units = registry()
    if unit is None or other is None or units.get_root_units(unit)[1] != units.get_root_units(other)[1]:
        raise NotInUnit(str(unit or other))
    try:
        return Decimal(units.Quantity(number, unit).to(other).magnitude)
    except PintError:
        raise NotInUnit(str(unit)) from None


@lru_cache(maxsize=1)
def registry() -> Any:
    """pint's units, made only where one quantity is converted: it takes half a second."""
    from pint import UnitRegistry

    return UnitRegistry(non_int_type=Decimal)


@lru_cache(maxsize=256)
def pint_unit(text: str) -> Any:
    """A unit, or None where pint has none of that name."""
    from pint.errors import PintError

    text = unicodedata.normalize("NFKC", text)
    if UNIT.fullmatch(text) is None:
        return None
    try:
        return registry().Unit(re.sub(r"(?<=[^\W\d_])(?=[1-9])", "**", text))
    except (PintError, ValueError):
        return None


def same_word(word: str, other: str) -> bool:
    """Whether two words for a unit are one, case and plural aside where they are long enough to be words."""
    return singular(word) == singular(other)


def singular(word: str) -> str:
    word = " ".join(word.split())
    return word.casefold().removesuffix("s") if len(word) > 3 else word


def plain(number: Decimal) -> int | float:
    return int(number) if number == number.to_integral_value() and abs(number) < 2**63 else float(number)
