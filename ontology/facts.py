"""What other pages must agree with on a page: plain values, so that they can be kept for the next check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from ontology.pages import Page, PageRef, names_of
from ontology.schema import ANY_NUMBER, Ontology, Relation, ancestors
from ontoloom.records import Value, canonical_text

# Code is blanked out before links are looked for: fenced blocks, then spans between equal runs of back quotes.
FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*\r?$|\Z)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`(?<!``)`*+)[^\n]{1,2000}?(?<!`)\1(?!`)")
LINK = re.compile(
    r"\[(?:\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]"  # [[page]], [[page#part|words]]
    r"|[^\[\]\n]*\]\(\s*<?([^()<>\s]+)>?(?:\s+[^()\n]*)?\))"  # [words](file.md), [words](<file.md> "title")
)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


Reference = tuple[str, int, str, bool, str]
"""A page that is named, where, by which relation, whether from its object's side, and by which of its attributes, empty
for none."""


class Link(NamedTuple):
    """A relation to another page, stated at a place; ``identifying`` is the text of its identifying attributes."""

    relation: str
    inverse: bool
    target: str
    identifying: str
    at: int


class KeyValue(NamedTuple):
    """What a page has for a key (names of attributes) of a type, and where it is stated."""

    owner: str
    key: tuple[str, ...]
    values: tuple[str, ...]
    at: int


class PageFacts(NamedTuple):
    """A page as others see it. Places are code-point indexes into its text.

    ``names``: key for comparison, spelling, place. ``page_links`` and ``file_links`` are links of the prose, with their
    places: ids of pages, and paths relative to the page. ``links`` are those of relations with limits.
    """

    id: str
    type: str
    name: str
    names: tuple[tuple[str, str, int], ...]
    references: tuple[Reference, ...]
    page_links: tuple[tuple[str, int], ...]
    file_links: tuple[tuple[str, int], ...]
    links: tuple[Link, ...]
    values: tuple[KeyValue, ...]


class Limits:
    """What of an ontology takes several pages to be checked."""

    def __init__(self, ontology: Ontology) -> None:
        self.keys = {name: _keys_of(ontology, name) for name in ontology.types}
        self.relations = {name: r for name, r in ontology.relations.items() if is_limited(r)}


def facts_of(page: Page, text: str, limits: Limits) -> PageFacts:
    """The facts of a page that was read from a text."""
    keys, limited = limits.keys[page.type], limits.relations
    stated: dict[str, list[tuple[str, int]]] = {}
    links = []
    for key, target, attributes, at, _, inverse in page.statements:
        if isinstance(target, PageRef):
            if key in limited:
                links.append(link_of(limited[key], inverse, target.id, attributes, at))
        elif keys:
            stated.setdefault(key, []).append((canonical_text(target), at))
    return PageFacts(
        page.id,
        page.type,
        page.name,
        tuple(names_of(page)),
        tuple(_references(page)),
        *prose_links(text, page.body_start),
        tuple(links),
        tuple(key_values(keys, stated, page.name, page.name_span[0])),
    )


def _references(page: Page) -> list[Reference]:
    found: list[Reference] = []
    for key, target, attributes, _, _, inverse in page.statements:
        if isinstance(target, PageRef):
            found.append((target.id, target.start, key, inverse, ""))
            for name, value in attributes:
                if isinstance(value, PageRef):
                    found.append((value.id, value.start, key, False, name))
    return found


# Links in the prose


def prose_links(text: str, begin: int) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]:
    """The pages and the files that links of the prose lead to, each with its place."""
    if text.find("[", begin) < 0:
        return (), ()
    prose = text[begin:]
    if "```" in prose or "~~~" in prose:
        prose = FENCED.sub(_blank, prose)
    if "`" in prose:
        prose = CODE.sub(_blank, prose)
    pages, files = [], []
    for match in LINK.finditer(prose):
        page, file = match.groups()
        if page is not None:
            pages.append((page.strip(), begin + match.start(1)))
            continue
        target = file.partition("#")[0].partition("?")[0] if "#" in file or "?" in file else file
        if target and not SCHEME.match(target):
            files.append((unquote(target) if "%" in target else target, begin + match.start(2)))
    return tuple(pages), tuple(files)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


# Keys and relations with limits


def is_limited(relation: Relation) -> bool:
    """Whether it takes several pages to check a relation."""
    return relation.asymmetric or relation.acyclic or {relation.objects, relation.subjects} != {ANY_NUMBER}


def link_of(
    relation: Relation, inverse: bool, target: str, attributes: Iterable[tuple[str, Value | PageRef]], at: int
) -> Link:
    """The link that a statement makes."""
    identifying = [f"{name}={_text(value)}" for name, value in attributes if relation.attributes[name].identifying]
    return Link(relation.name, inverse, target, "\n".join(identifying), at)


def _text(value: Value | PageRef) -> str:
    return value.id if isinstance(value, PageRef) else canonical_text(value)


def _keys_of(ontology: Ontology, type_name: str) -> list[tuple[str, tuple[str, ...]]]:
    """The keys of a type, unique attributes among them, each with the widest type that has it."""
    types = [ontology.types[name] for name in (type_name, *ancestors(ontology.types, type_name))]
    unique = [(name,) for name, attribute in types[0].attributes.items() if attribute.unique]
    found = []
    for key in dict.fromkeys([*types[0].keys, *unique]):
        first = types[0].attributes.get(key[0])
        is_unique = len(key) == 1 and first is not None and first.unique
        having = [t.name for t in types if key in t.keys or (is_unique and key[0] in t.attributes)]
        found.append((having[-1], key))
    return found


def key_values(
    keys: Iterable[tuple[str, tuple[str, ...]]],
    stated: Mapping[str, Sequence[tuple[str, int]]],
    name: str,
    name_at: int,
) -> Iterator[KeyValue]:
    """What a page has for keys of types, given the texts of its attributes' values, and its name, with their places.

    Nothing of a key of which a part is not stated. Of an attribute with many values, each is a key.
    """
    for owner, key in keys:
        if len(key) == 1 and key[0] in stated:
            for value, at in stated[key[0]]:
                yield KeyValue(owner, key, (value,), at)
        elif all(part in stated or part == "name" for part in key):
            values = tuple(name if part == "name" else stated[part][-1][0] for part in key)
            yield KeyValue(owner, key, values, stated[key[-1]][-1][1] if key[-1] in stated else name_at)
