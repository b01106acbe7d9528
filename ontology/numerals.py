"""Numbers as people write them: with thousands separated, a scale or a unit behind them."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

MULTIPLES = {"k": 10**3, "m": 10**6, "b": 10**9, "bn": 10**9, "t": 10**12}
LOOSE_NUMBER = re.compile(r"([+-]?[\d.,_ ]*\d(?:[eE][+-]?\d{1,2}\b)?)\s*([A-Za-z%]*)\s*(.*)")
"""A number, letters right behind it, and what follows."""
THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:([,_ ])\d{3})(?:\1\d{3})*(?:\.\d+)?")


def multiple(suffix: str, unit: str) -> int | None:
    """What ``K``, ``M``, ``B`` … after a number stand for; K is 1024 of tokens. None where it is no such letter."""
    return 1024 if suffix in ("k", "K") and unit == "tokens" else MULTIPLES.get(suffix.casefold())


def read_decimal(text: str) -> Decimal | None:
    """A number as people write it, ``24,576`` or ``0,5`` too; None where it is none."""
    if THOUSANDS.fullmatch(text):
        text = re.sub("[,_ ]", "", text)
    try:
        return Decimal(text.replace(",", "."))
    except InvalidOperation:
        return None
