"""What other pages must agree with on a page: plain values, so that they can be kept for the next check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from ontology.pages import Page, PageRef, Statement, names_of
from ontology.schema import ANY_NUMBER, Ontology, Relation, ancestors
from ontoloom.records import Value, canonical_text

# Code is blanked out before links are looked for: fenced blocks, then spans between equal runs of back quotes.
FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*\r?$|\Z)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]{1,2000}?(?<!`)\1(?!`)")
LINK = re.compile(r"\[[^\[\]\n]*\]\(\s*<?([^()<>\s]+)>?(?:\s+[^()\n]*)?\)")
WIKI_LINK = re.compile(r"\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


class Reference(NamedTuple):
    """A page that is named at a place: by ``relation``, from its object's side where ``inverse``, or by its
    ``attribute``."""

    target: str
    at: int
    relation: str
    inverse: bool
    attribute: str


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
    limited = limits.relations
    links = [_link(limited[s.key], s) for s in page.statements if s.key in limited] if limited else []
    prose = text.find("[", page.body_start) >= 0
    page_links, file_links = _prose_links(text, page.body_start) if prose else ((), ())
    return PageFacts(
        page.id,
        page.type,
        page.name,
        tuple(names_of(page)),
        tuple(_references(page)),
        page_links,
        file_links,
        tuple(links),
        tuple(_key_values(page, limits.keys[page.type])) if limits.keys[page.type] else (),
    )


def _references(page: Page) -> Iterator[Reference]:
    for statement in page.statements:
        target = statement.object
        if isinstance(target, PageRef):
            yield Reference(target.id, target.start, statement.key, statement.inverse, "")
            for name, value in statement.attributes:
                if isinstance(value, PageRef):
                    yield Reference(value.id, value.start, statement.key, False, name)


# Links in the prose


def _prose_links(text: str, begin: int) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]:
    prose = text[begin:]
    if "```" in prose or "~~~" in prose:
        prose = FENCED.sub(_blank, prose)
    if "`" in prose:
        prose = CODE.sub(_blank, prose)
    pages = [(match[1].strip(), begin + match.start(1)) for match in WIKI_LINK.finditer(prose)] if "[[" in prose else ()
    files = []
    for match in LINK.finditer(prose) if "](" in prose else ():
        target = match[1]
        if "#" in target or "?" in target:
            target = target.partition("#")[0].partition("?")[0]
        if target and not SCHEME.match(target):
            files.append((unquote(target) if "%" in target else target, begin + match.start(1)))
    return tuple(pages), tuple(files)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


# Keys and relations with limits


def is_limited(relation: Relation) -> bool:
    """Whether it takes several pages to check a relation."""
    return relation.asymmetric or relation.acyclic or {relation.objects, relation.subjects} != {ANY_NUMBER}


def _link(relation: Relation, statement: Statement) -> Link:
    assert isinstance(statement.object, PageRef)
    identifying = (f"{n}={_text(v)}" for n, v in statement.attributes if relation.attributes[n].identifying)
    return Link(relation.name, statement.inverse, statement.object.id, "\n".join(identifying), statement.start)


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


def _key_values(page: Page, keys: list[tuple[str, tuple[str, ...]]]) -> Iterator[KeyValue]:
    """Nothing of a key of which a part is not stated. Of an attribute with many values, each is a key."""
    stated = {s.key: s for s in page.statements if not isinstance(s.object, PageRef)}
    for owner, key in keys:
        if len(key) == 1 and key[0] in stated:
            for statement in page.statements:
                if statement.key == key[0]:
                    yield KeyValue(owner, key, (_text(statement.object),), statement.start)
        elif all(name in stated or name == "name" for name in key):
            values = tuple(page.name if name == "name" else _text(stated[name].object) for name in key)
            at = stated[key[-1]].start if key[-1] in stated else page.name_span[0]
            yield KeyValue(owner, key, values, at)
