"""Texts of ontologies as HTML and SVG hold them."""

from __future__ import annotations

import re
import unicodedata
from html import escape
from importlib.resources import files

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML cannot hold."""
NARROW, WIDE = frozenset("iljtfrI.,:;'|!()[] -"), frozenset("mwMWQOGCDNHU@%—→")


def escaped(text: str) -> str:
    """A text as it may stand between tags and in attributes."""
    return escape(FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text), quote=True)


def width_of(text: str, size: float = 12) -> float:
    """About how many pixels a text takes in a sans-serif font of a size, rather too many than too few."""
    ems = 0.0
    for sign in text:
        if unicodedata.east_asian_width(sign) in "WF":
            ems += 1.05
        else:
            ems += 0.36 if sign in NARROW else 0.88 if sign in WIDE else 0.68 if sign.isupper() else 0.6
    return ems * size


def cut(text: str, width: float, size: float = 12) -> str:
    """A text that is cut to a width in pixels, with ``…`` in place of what is missing."""
    if width_of(text, size) <= width:
        return text
    while text and width_of(f"{text}…", size) > width:
        text = text[:-1]
    return f"{text}…"


def asset(name: str) -> str:
    """A style sheet or script of this package."""
    return files("ontology.exports").joinpath(name).read_text(encoding="utf-8")
