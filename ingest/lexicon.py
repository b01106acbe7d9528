"""Known names, found in texts in any spelling: what fills the typed slots of rules.

A text is read once, token by token, and runs of tokens are looked up by their joined keys, so the time does not grow
with the number of names. The longest name wins: ``Llama 3 70B`` is no occurrence of ``Llama 3``. A name inside a
longer, unknown one (``Mistral-7B-Instruct``, ``Code Llama``, ``BERT-based``) is no occurrence either: it would be a
statement about something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from ingest.known import KnownNames
from ontoloom.names import name_key

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
# Signs that belong to a word without being letters: accents on their own, vowel signs of Indic scripts and of Thai.
_MARKS = r"\u0300-\u036f\u0900-\u0dff\u0e31-\u0e4e"
_TOKEN = re.compile(rf"[{_CJK}]|(?:(?![{_CJK}])[^\W_]|[{_MARKS}])+[+#]*")
# What may stand between two tokens of one name.
_JOINT = re.compile(r"|[ \u00a0]|\s|[-–_./'’&:]|: | & |\s?[-–]\s?")
_VERSION = re.compile(r"(?i:v?\d{1,2}(?:\.\d{1,2})?|\d+(?:\.\d+)?[kmbt])")
# A number that counts or measures something belongs to what follows: "on MMLU 5-shot", "MT-Bench 86.4".
_QUANTITY = re.compile(r"[-%]|\s?(?:%|percent|points?|billion|million|trillion|shots?)(?!\w)|(?<=\d\d)\.\d")
_VARIANTS = """Base Chat Code Coder Flash Haiku Instruct Large Lite Math Max Medium Mini Nano Next Opus Plus Preview Pro
    Small Sonnet Turbo Ultra Vision VL XL XXL"""
_VARIANT_AFTER = frozenset(_VARIANTS.split())
_VARIANT_BEFORE = frozenset(["Code", "Open", "Tiny", "Mini", "Multi", "Super", "Distil", "Long", "Nano", "Chinese"])

_Token = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Known:
    """An occurrence of a known name: ``entities`` are the (type, entity id) pairs that bear it, sorted."""

    start: int
    end: int
    name: str
    entities: tuple[tuple[str, str], ...]


class Lexicon:
    """Names with the entities that bear them, as ``(name, entity id, type)``, in any order."""

    def __init__(self, names: Iterable[tuple[str, str, str]] = ()) -> None:
        self._bearers: dict[str, tuple[tuple[str, str], ...]] = {}
        self._spellings: dict[str, set[str]] = {}
        self._longest: dict[str, int] = {}
        self.names = tuple(sorted({entry for entry in names if _is_usable(entry[0])}))
        for name, entity, entity_type in self.names:
            key = name_key(name)
            bearers = {*self._bearers.get(key, ()), (entity_type, entity)}
            self._bearers[key] = tuple(sorted(bearers))
            self._spellings.setdefault(key, set()).add(" ".join(name.split()))
            self._longest[key[:3]] = max(len(key), self._longest.get(key[:3], 0))

    def find(self, text: str) -> list[Known]:
        """Occurrences from left to right, none overlapping another."""
        tokens = [(m.start(), m.end(), _token_key(m.group())) for m in _TOKEN.finditer(text)]
        found: list[Known] = []
        at = 0
        while at < len(tokens):
            length = self._longest_at(text, tokens, at)
            if length:
                start, end = tokens[at][0], tokens[at + length - 1][1]
                key = "".join(token[2] for token in tokens[at : at + length])
                if not _is_part_of_longer(text, tokens, at, at + length, found):
                    found.append(Known(start, end, text[start:end], self._bearers[key]))
            at += length or 1
        return found

    def _longest_at(self, text: str, tokens: list[_Token], at: int) -> int:
        """How many tokens the longest name has that starts at ``at``; 0 when none does."""
        key, best, limit, regular = "", 0, 0, True
        for current in range(at, len(tokens)):
            start, end, part = tokens[current]
            regular = regular and (current == at or _JOINT.fullmatch(text, tokens[current - 1][1], start) is not None)
            key += part
            if len(key) >= 3:
                limit = limit or self._longest.get(key[:3], 0)
                if len(key) > limit:
                    break
            if key in self._bearers and self._is_spelling(key, text[tokens[at][0] : end], regular=regular):
                best = current - at + 1
        return best

    def _is_spelling(self, key: str, spelling: str, *, regular: bool) -> bool:
        """Whether words with the key of a name are that name: not ``math`` for MATH, not ``the falcon`` for Falcon."""
        known = self._spellings[key]
        spelling = " ".join(spelling.split())
        if spelling in known:
            return True
        if not regular:
            return spelling.casefold() in {name.casefold() for name in known}
        if not spelling.isalpha() or any(name.islower() or not name.isalpha() for name in known):
            return True
        return spelling.isupper() if all(name.isupper() for name in known) else not spelling.islower()


def lexicon_of(known: KnownNames) -> Lexicon:
    """The names that wiki pages give, as a lexicon."""
    return Lexicon((name, meant.id, meant.type) for name, _ in known.spellings() for meant in known.look_up(name))


def _is_usable(name: str) -> bool:
    """Whether a name can be looked for: one letter or a bare number would be found everywhere."""
    key = name_key(name)
    return len(key) > 1 and not key.isdigit()


@lru_cache(maxsize=100_000)
def _token_key(token: str) -> str:
    return name_key(token)


def _is_part_of_longer(text: str, tokens: list[_Token], first: int, after: int, found: list[Known]) -> bool:
    """Whether the tokens ``[first, after)`` are only a piece of a longer name or compound."""
    begin, end = tokens[first][0], tokens[after - 1][1]
    if after < len(tokens):
        start, stop, _ = tokens[after]
        gap, word = text[end:start], text[start:stop]
        if (
            gap in ("-", "_")
            or (gap == "." and word[0].isdigit())
            or (gap == "" and not _is_cjk(text[end - 1], word[0]))
        ):
            return True
        if gap in (" ", "\u00a0") and _continues_name(text, word, stop):
            return True
    if first:
        start, stop, _ = tokens[first - 1]
        gap, word = text[stop:begin], text[start:stop]
        if gap in ("-", "_") and not (found and found[-1].end == stop):
            return True
        return gap == " " and word in _VARIANT_BEFORE
    return False


def _continues_name(text: str, word: str, stop: int) -> bool:
    """Whether ``word`` after a name makes it another one: ``Llama 3`` after ``Llama``, ``Mistral 7B Instruct``."""
    if word in _VARIANT_AFTER:
        return True
    return bool(_VERSION.fullmatch(word)) and not _QUANTITY.match(text, stop)


def _is_cjk(left: str, right: str) -> bool:
    return left > "\u2e80" or right > "\u2e80"
