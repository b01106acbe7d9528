"""Names that our language allows, for what other languages call otherwise."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from itertools import chain, count
from typing import TypedDict

from ontology.attributes import IDENTIFIER
from ontology.schema import Deprecation


class Names:
    """Names that must not meet, case aside. A name that is legal and free stays as it is."""

    def __init__(self, taken: Collection[str] = ()) -> None:
        self._taken = {name.casefold() for name in taken}

    def pick(self, label: str, *, prefix: str, fallback: str = "") -> str:
        """A legal name that is now taken: ``film genre`` → ``film_genre``, or ``has_film_genre`` where that is taken.

        ``fallback`` is for labels without any letter or digit of ASCII, such as Chinese ones.
        """
        base = ascii_name(label) or ascii_name(fallback)
        wanted = base if IDENTIFIER.fullmatch(base) else f"{prefix}_{base or 1}"
        prefixed = wanted if wanted.startswith(f"{prefix}_") else f"{prefix}_{wanted}"
        numbered = (f"{prefixed}_{n}" for n in count(2))
        name = next(name for name in chain((wanted, prefixed), numbered) if name.casefold() not in self._taken)
        self._taken.add(name.casefold())
        return name


def ascii_name(label: str) -> str:
    """What of a label may stand in a name: its letters without accents, its digits, and ``_`` for what is between."""
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode() if not label.isascii() else label
    return re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")


def ontology_name(label: str) -> str:
    """A legal name of an ontology: a letter, then letters, digits, ``-`` and ``_``."""
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode()
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", plain).strip("-_")
    return name if name[:1].isalpha() else f"ontology-{name}".strip("-")


class Called(TypedDict):
    """Some fields of ``schema.Described``."""

    labels: tuple[tuple[str, str], ...]
    synonyms: tuple[str, ...]
    description: str


class Said(TypedDict):
    """All fields of ``schema.Described``."""

    description: str
    synonyms: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]
    translations: tuple[tuple[str, tuple[str, ...]], ...]
    examples: tuple[str, ...]
    deprecated: Deprecation | None


def called(name: str, label: str, *, description: str = "", synonyms: Iterable[str] = ()) -> Called:
    """The label of what had to be given another name, further words for it, and what is said of it."""
    label = unicodedata.normalize("NFC", " ".join(label.split()))
    labels = ((("", label),)) if label and label != name else ()
    words = (unicodedata.normalize("NFC", " ".join(word.split())) for word in synonyms)
    every = dict.fromkeys((*(word for _, word in labels), *words))
    synonyms = tuple(word for word in every if word and word != name)
    return Called(labels=labels, synonyms=synonyms, description=" ".join(description.split()))
