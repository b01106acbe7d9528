"""The names that wiki pages give to entities, and which of them matter to a text.

Only pages count, not what was read in documents before: what a document comes to is a function of its text, the
ontology and the pages, so that neither the order of documents nor an interrupted run can change the graph.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ingest.company import names_organizations, without_company_form
from ontology.pages import Page
from ontoloom.names import entity_id, hash_id, name_key

_OTHER = re.compile(r"[\W_]+")
_HEAD = 4
"""Names are looked up by so many first signs; the few shorter ones are looked for one by one."""


@dataclass(frozen=True, slots=True, order=True)
class Known:
    """An entity with a page. ``page`` is the page's document id; ``name`` the page's name for it."""

    type: str
    id: str
    name: str
    page: str


class KnownNames:
    """Names and aliases of pages, given as (document id, page) in any order."""

    def __init__(self, pages: Iterable[tuple[str, Page]] = ()) -> None:
        self._by_key: dict[str, set[Known]] = {}
        self._by_page: dict[str, Known] = {}
        self._named: list[tuple[Known, str]] = []
        for document, page in sorted(pages, key=lambda pair: pair[0]):
            known = Known(page.type, entity_id(page.type, page.name), page.name, document)
            self._by_page.setdefault(page.id, known)
            self._named += [(known, name) for name in (page.name, *page.aliases)]
        for known, name in self._named:
            self._by_key.setdefault(name_key(name), set()).add(known)
        taken = {(known.type, name_key(name)) for known, name in self._named}
        for known, name in self._named:
            # "Acme" for a page "Acme Corp", unless another page of the type has that very name.
            key = name_key(without_company_form(name, is_organization=names_organizations(known.type)))
            if (known.type, key) not in taken:
                self._by_key.setdefault(key, set()).add(known)

    def look_up(self, name: str) -> tuple[Known, ...]:
        """The entities that a name may mean: those called so, else those called so but for a company's legal form."""
        found = self._by_key.get(name_key(name)) or self._by_key.get(name_key(without_company_form(name)))
        if not found:
            bare = self._by_key.get(name_key(without_company_form(name, is_organization=True)), ())
            found = {known for known in bare if names_organizations(known.type)}
        return tuple(sorted(found))

    def page(self, page_id: str) -> Known | None:
        """The entity of the page that other pages refer to as ``page_id``."""
        return self._by_page.get(page_id)

    def page_ids(self) -> list[str]:
        return list(self._by_page)

    def spellings(self) -> Iterator[tuple[str, str]]:
        """Every name and alias with the type of its entity, for what finds names in texts."""
        return ((name, known.type) for known, name in self._named)

    def differs_from(self, other: KnownNames) -> bool:
        """Whether a name or a page id means something else in ``other``."""
        return (self._by_key, self._by_page) != (other._by_key, other._by_page)

    def fingerprint(self, text: str) -> str:
        """A hash of all known names that could matter to a text, with what they mean; empty where there are none.

        That is every name whose letters and digits are anywhere in the text in a row, be it within a word: more than
        any extractor takes for the name, never less.
        """
        if not self._by_key:
            return ""
        squeezed = _squeeze(text)
        heads = {squeezed[at : at + _HEAD] for at in range(len(squeezed) - _HEAD + 1)} & self._heads.keys()
        candidates = (entry for head in heads for entry in self._heads[head])
        keys = sorted(key for part, key in (*candidates, *self._short) if part in squeezed)
        meanings = (f"{known.type}:{known.id}" for key in keys for known in sorted(self._by_key[key]))
        return hash_id(*keys, *meanings) if keys else ""

    @cached_property
    def _short(self) -> list[tuple[str, str]]:
        """(letters and digits, key) of names that are too short to have a head."""
        return [(part, key) for key in self._by_key if len(part := _squeeze(key)) < _HEAD]

    @cached_property
    def _heads(self) -> dict[str, list[tuple[str, str]]]:
        heads: dict[str, list[tuple[str, str]]] = {}
        for key in self._by_key:
            part = _squeeze(key)
            if len(part) >= _HEAD:
                heads.setdefault(part[:_HEAD], []).append((part, key))
        return heads


def _squeeze(text: str) -> str:
    """Letters and digits alone, case folded: what is left of name keys without the signs that tell some apart. Much
    faster than ``name_key`` on whole texts."""
    normal = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _OTHER.sub("", normal)
