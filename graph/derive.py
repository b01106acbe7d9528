"""What follows from several documents together: an entity's name and aliases, and which statement of a triple holds."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, TypeVar

from ontoloom.names import name_key

Said = TypeVar("Said", str, tuple[str, str, str])


class Spelling(NamedTuple):
    """How a document names an entity. ``page`` is that document's id where it is the entity's wiki page."""

    name: str
    aliases: tuple[str, ...]
    page: str | None


class Naming(NamedTuple):
    """The name, the aliases (sorted) and the page of an entity."""

    name: str
    aliases: tuple[str, ...]
    page: str | None

    def keys(self) -> set[str]:
        """The keys under which the entity is found."""
        return {name_key(name) for name in (self.name, *self.aliases)}


def prevailing(said: Counter[tuple[Said, str | None]]) -> tuple[Said, str | None]:
    """What holds, with the page that says so, given how many documents say what; each is paired with its page's id.

    A page's word holds, of several the first by id; else what most documents say, the smallest of equals.
    """
    pages = sorted((page, what) for what, page in said if page is not None)
    if pages:
        page, what = pages[0]
        return what, page
    return min(said, key=lambda pair: (-said[pair], pair[0]))


def derive_naming(spellings: Counter[Spelling]) -> Naming:
    """An entity's naming, given how many documents spell it how; there is at least one."""
    said: Counter[tuple[str, str | None]] = Counter()
    for spelling, documents in spellings.items():
        said[spelling.name, spelling.page] += documents
    name, page = prevailing(said)
    every = {spelling.name for spelling in spellings}.union(*(spelling.aliases for spelling in spellings))
    return Naming(name, tuple(sorted(every - {name})), page)
