"""Wiki pages: Markdown with YAML front matter that states what the ontology has words for.

A page is an instance of a type. Its front matter is read strictly; the prose below it is left to extractors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ontoloom.names import name_key
from ontoloom.records import Value


@dataclass(frozen=True, slots=True)
class PageRef:
    """Another page, by its id. ``start`` is where the page's text names it."""

    id: str
    start: int = field(default=-1, compare=False, repr=False)


class Statement(NamedTuple):
    """One attribute or relation of the page's entity.

    ``object`` is a canonical value for an attribute, a :class:`PageRef` for a relation; ``attributes`` are those of
    the relation, sorted by name. ``inverse``: it is stated from the other side, so that the page that it refers to is
    the subject, and this one the object. ``page_text[start:end]`` are the words that state it: ``key: value``, or the
    item of a list.
    """

    key: str
    object: Value | PageRef
    attributes: tuple[tuple[str, Value | PageRef], ...]
    start: int
    end: int
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was read; ``id`` is the file's stem. Spans are code-point offsets into the page's text.

    ``name_span`` covers ``name: …``. ``label_starts`` says where the name and then each alias is written.
    ``body_start`` is where the prose begins.
    """

    id: str
    file: str
    type: str
    name: str
    aliases: tuple[str, ...]
    statements: tuple[Statement, ...]
    sources: tuple[str, ...]
    body_start: int
    name_span: tuple[int, int]
    label_starts: tuple[int, ...] = ()
    description: str = ""


def page_id(file: str) -> str:
    """The id of the page in a file: its name without the suffix."""
    name = file.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def names_of(page: Page) -> Iterator[tuple[str, str, int]]:
    """Name and aliases of a page: key for comparison, spelling, where it is written."""
    for name, at in zip((page.name, *page.aliases), page.label_starts, strict=True):
        yield name_key(name), name, at
