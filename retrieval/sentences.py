"""Sentences: the one around a span of a document, and those of an answer as it streams in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

REACH = 600
"""A sentence is looked for so many characters to either side of a span: a line of megabytes has no sentences."""

_BREAK = re.compile(
    r"""
      \n[ \t]*(?=\n)                                   # a blank line
    | \n(?=[ \t]*(?:[-*+|>\#]|\d+[.)][ ]))             # a list item, table row, quotation or heading begins
    | (?<=[.!?])["')\]]*\s+(?=["'(\[]*[^\W_a-z])       # the end of a sentence before anything but lower case
    | (?<=[。！？])                                     # the full stops of Chinese and Japanese need no blank
    """,
    re.VERBOSE,
)
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t].*$", re.MULTILINE)
_ABBREVIATION = re.compile(
    r"(?:\b(?:al|e\.g|i\.e|cf|vs|etc|Fig|Figs|Eq|Sec|No|Dr|Mr|Mrs|Ms|Prof|St|approx)|\b[A-Z])\.$"
)
_MARKERS = re.compile(r"^(?:[ \t]*(?:[-*+>]|#{1,6}|\d+[.)])[ \t]+)+")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of the sentence, or of the sentences, that cover ``[start, end)``; white space at its ends left out."""
    left, right = max(0, start - REACH), min(len(text), end + REACH)
    window = text[left:right]
    breaks = [left + at for at in _breaks(window)]
    first = max((at for at in breaks if at <= start), default=left)
    last = min((at for at in breaks if at >= end), default=right)
    while first < start and text[first].isspace():
        first += 1
    while last > end and text[last - 1].isspace():
        last -= 1
    return first, last


def plain(text: str) -> str:
    """A sentence of Markdown as one line of words: no list marks, links as their text, runs of blanks as one."""
    return " ".join(_LINK.sub(r"\1", _MARKERS.sub("", text)).split())


def split(pieces: Iterable[str]) -> Iterator[str]:
    """Whole sentences of a text that comes in pieces, each as soon as the next one begins."""
    held = ""
    for piece in pieces:
        held += piece
        while (at := next((b for b in _breaks(held) if held[:b].strip() and held[b:].strip()), None)) is not None:
            yield held[:at].strip()
            held = held[at:]
    if held.strip():
        yield held.strip()


def _breaks(text: str) -> Iterator[int]:
    """Offsets at which a new sentence begins."""
    ends = {match.end() for match in _BREAK.finditer(text) if not _ABBREVIATION.search(text[: match.start()])}
    ends |= {match.end() for match in _HEADING.finditer(text)}
    return iter(sorted(ends))
