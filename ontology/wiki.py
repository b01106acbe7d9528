"""Pages checked against each other: names, references, links, and what the ontology demands of several together."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ontology.constraints import Breach, check_links, check_values
from ontology.facts import PageFacts
from ontology.findings import did_you_mean, shown
from ontology.schema import Ontology
from ontoloom.names import name_key

PAGE_SUFFIX = ".md"


@dataclass(slots=True)
class Wiki:
    """All pages of a wiki. ``files`` has the path of each page by its id, also of those without facts.

    ``exists`` tells whether a path relative to the folder of a page leads to a file.
    """

    ontology: Ontology
    files: Mapping[str, str]
    pages: Mapping[str, PageFacts]
    exists: Callable[[str, str], bool]
    named: dict[str, str] = field(default_factory=dict)
    _trigrams: dict[str, set[str]] = field(default_factory=dict)

    def check(self) -> Iterable[Breach]:
        """What does not agree, in no order."""
        for page in self.pages.values():
            yield from self._check_names(page)
        pages, known = self.pages, dict[tuple[str, bool, str], tuple[str, ...]]()
        for page in pages.values():
            for wanted, at, relation, inverse, attribute in page.references:
                target, way = pages.get(wanted), (relation, inverse, attribute)
                legal = known.get(way) or known.setdefault(way, self._legal(*way))
                if target is None or target.type not in legal:
                    key = attribute or (self.ontology.relations[relation].inverse if inverse else relation)
                    yield from self._check_reference(page, wanted, at, key, legal)
            if page.page_links or page.file_links:
                yield from self._check_links(page)
        yield from check_values(self.pages, self.files)
        yield from check_links(self.ontology, self.pages, self.files)

    def propose(self, wanted: str) -> str:
        """The page that has the wanted text for a name, else the page whose id is most like it."""
        named = self._named(wanted)
        return f"write {named}" if named else did_you_mean(wanted, self._similar(_without_path(wanted)))

    def _named(self, wanted: str) -> str | None:
        """The page that has the wanted text for a name, or for its file."""
        bare = _without_path(wanted)
        return self.named.get(name_key(bare)) or (bare if bare in self.files else None)

    def _check_names(self, page: PageFacts) -> Iterable[Breach]:
        for key, name, at in page.names:
            other = self.named.setdefault(key, page.id)
            if other != page.id:
                message = f"{shown(name)} already names the page {self.files[other]}"
                yield Breach(page.id, at, "duplicate-name", message, "merge the pages, or tell the names apart")

    def _legal(self, relation: str, inverse: bool, attribute: str) -> tuple[str, ...]:
        found = self.ontology.relations[relation]
        if attribute:
            return found.attributes[attribute].targets
        return found.domain if inverse else found.range

    def _check_reference(
        self, page: PageFacts, wanted: str, at: int, key: str, legal: tuple[str, ...]
    ) -> Iterable[Breach]:
        if wanted not in self.files:
            message = f"there is no page {shown(wanted)}"
            right = self._named(wanted) or ""
            yield Breach(page.id, at, "dangling-reference", message, self.propose(wanted), "error", wanted, right)
        elif wanted in self.pages:
            types = " or ".join(legal)
            message = f"'{key}' leads to {types}, and '{wanted}' is {self.pages[wanted].type}"
            yield Breach(page.id, at, "wrong-range", message, f"name a page of type {types}")

    def _check_links(self, page: PageFacts) -> Iterable[Breach]:
        """Warns of links in the prose that lead to no page or file."""
        for wanted, at in page.page_links:
            if wanted not in self.files and wanted.removesuffix(PAGE_SUFFIX) not in self.files:
                message = f"the link {shown(f'[[{wanted}]]')} leads to no page"
                yield Breach(page.id, at, "dead-link", message, self.propose(wanted), "warning")
        for target, at in page.file_links:
            if not self.exists(self.files[page.id], target):
                message = f"the link to {shown(target)} leads nowhere"
                yield Breach(page.id, at, "dead-link", message, self._propose_file(page, target), "warning")

    def _propose_file(self, page: PageFacts, target: str) -> str:
        """A page, as a link from another page names it; nothing for what is no page."""
        if posixpath.splitext(target)[1] not in ("", PAGE_SUFFIX):
            return ""
        named = self._named(target)
        if named is None:
            return self.propose(target)
        return f"write {posixpath.relpath(self.files[named], posixpath.dirname(self.files[page.id]) or '.')}"

    def _similar(self, wanted: str, *, most: int = 50) -> list[str]:
        """The ids that share most trigrams with a text: comparing with 10,000 would take a tenth of a second."""
        if len(self.files) <= most:
            return list(self.files)
        if not self._trigrams:
            for page_id in self.files:
                for trigram in trigrams(page_id):
                    self._trigrams.setdefault(trigram, set()).add(page_id)
        shared: dict[str, int] = defaultdict(int)
        for trigram in trigrams(wanted):
            for page_id in self._trigrams.get(trigram, ()):
                shared[page_id] += 1
        return sorted(shared, key=lambda page_id: (-shared[page_id], page_id))[:most]


def _without_path(wanted: str) -> str:
    return posixpath.basename(wanted.removesuffix(PAGE_SUFFIX))


def trigrams(text: str) -> set[str]:
    padded = f" {text.casefold()} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}
