"""Words of questions and labels: where they are, which of them carry meaning, and when two are the same."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD = re.compile(
    r"""
      \d+(?:[.,]\d+)*[^\W_]*        # 7B, 3.5, 32,768
    | [^\W\d_一-鿿぀-ヿ가-힣](?:[^\W_一-鿿぀-ヿ가-힣])*[+\#]*   # licence, Qwen2, C++
    | [一-鿿぀-ヿ가-힣]              # scripts without blanks: each sign for itself
    """,
    re.VERBOSE,
)
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b")
_SUFFIXES = ("ations", "ation", "ments", "ment", "ings", "ing", "ers", "ors", "er", "or", "ies", "ied", "ed", "es", "s")

_STOP_WORDS = """
a about after all also am an and another any are as at be been before being between both but by can could did do does
during each either for from get gets give given gives got had has have having he her here him his how i if in into is
it its just let list many may me might more most much must my name named neither no nor not of off on one only onto or
other our out over own per please she should show so some such tell than that the their them then there these they
this those through to too under until up upon us very was we were what when where which while who whom whose why will
with within without would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that carry no meaning of their own in a question."""


_LIGHT_WORDS = """
allow answer appear apply call come contain do find follow get go hold include involve kind know make mean need obtain
provide reach require run say see state take thing type use want work
"""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text at ``[start, end)``."""

    text: str
    start: int
    end: int

    @property
    def stem(self) -> str:
        return stem(self.text)


def words(text: str) -> list[Word]:
    """The words of a text in order; a possessive ``'s`` is none."""
    blanked = _POSSESSIVE.sub("  ", text)
    return [Word(m.group(), m.start(), m.end()) for m in _WORD.finditer(blanked)]


def content_words(text: str) -> list[Word]:
    """Words that are no stop words."""
    return [word for word in words(text) if word.text.casefold() not in STOP_WORDS]


def stem(word: str) -> str:
    """What is left of an English word without endings of number, tense and agent: ``train`` for ``trained``.

    Coarse on purpose: it is only ever compared with the stem of another word. Words with digits are left whole.
    """
    folded = word.casefold()
    if any(c.isdigit() for c in folded):
        return folded.replace(",", "")
    for suffix in _SUFFIXES:
        if folded.endswith(suffix) and len(folded) - len(suffix) >= 3:
            folded = folded[: -len(suffix)]
            break
    if len(folded) > 3 and folded[-1] == folded[-2] and folded[-1] not in "aeiouls":
        folded = folded[:-1]
    return folded[:-1] if len(folded) > 3 and folded[-1] in "ey" else folded


def looks_like_a_name(word: Word, *, first: bool) -> bool:
    """Whether a word must be found literally: it has a digit, or a capital that no beginning of a sentence explains."""
    text = word.text
    if any(c.isdigit() for c in text):
        return True
    return any(c.isupper() for c in (text[1:] if first else text))


LIGHT_STEMS = frozenset(map(stem, f"{_LIGHT_WORDS} made took came found held ran said".split()))
"""Stems of words that say little of what is asked: ``use`` in "which optimizer was used"."""
