"""What pages must hold together: keys, how many there may be, and shapes of relations such as no cycles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ontology.facts import PageFacts, is_limited
from ontology.findings import Severity, shown
from ontology.schema import Ontology, Relation


class Breach(NamedTuple):
    """What is wrong at a place of a page's text."""

    page: str
    at: int
    code: str
    message: str
    fix: str
    severity: Severity = "error"
    wrong: str = ""
    """What stands there, and can only mean what is right."""
    right: str = ""


MOST_SHOWN = 3
"""Other pages that a finding names."""


class Edge(NamedTuple):
    """A link with its ends in the direction of its relation, whichever page states it, and where that is."""

    subject: str
    object: str
    identifying: str
    page: str
    at: int


def check_values(pages: Mapping[str, PageFacts], files: Mapping[str, str]) -> Iterator[Breach]:
    """Two pages with the same values for a key."""
    seen: dict[tuple[object, ...], str] = {}
    for page in pages.values():
        for owner, key, values, at in page.values:
            other = seen.setdefault((owner, *key, *values), page.id)
            if other != page.id:
                what = " and ".join(f"{name} {shown(value)}" for name, value in zip(key, values, strict=True))
                message = f"{what} {'is that' if len(key) == 1 else 'are those'} of the page {files[other]}"
                yield Breach(page.id, at, "not-unique", message, "correct one of them, or merge the pages")


def check_links(ontology: Ontology, pages: Mapping[str, PageFacts], files: Mapping[str, str]) -> Iterator[Breach]:
    """Relations of which there are too many or too few, or that lead in a circle where they must not.

    Links to pages that are not there are left out.
    """
    found: dict[str, list[Edge]] = {r.name: [] for r in ontology.relations.values() if is_limited(r)}
    for page in pages.values() if found else ():
        for name, inverse, target, identifying, at in page.links:
            if target in pages:
                ends = (target, page.id) if inverse else (page.id, target)
                found[name].append(Edge(*ends, identifying, page.id, at))
    for name, links in found.items():
        relation = ontology.relations[name]
        yield from _check_objects(relation, links, pages, files)
        yield from _check_subjects(relation, links, pages, files)
        for part in _alike(links) if relation.acyclic or relation.asymmetric else ():
            yield from _check_cycles(relation, part) if relation.acyclic else _check_directions(relation, part)


def _check_objects(
    relation: Relation, links: Sequence[Edge], pages: Mapping[str, PageFacts], files: Mapping[str, str]
) -> Iterator[Breach]:
    """How many objects each subject has, those included that are stated on their own pages."""
    least, most = relation.objects
    of: dict[str, dict[str, Edge]] = defaultdict(dict)
    for link in links:
        of[link.subject].setdefault(link.object, link)
    for subject, objects in of.items():
        yield from _check_most(f"'{relation.name}' leads from '{subject}' to", most, list(objects.values()), files)
    for page in pages.values() if least else ():
        if page.type in relation.domain and len(of.get(page.id, ())) < least:
            message = f"{page.type} needs at least {least} '{relation.name}', and has {len(of.get(page.id, ()))}"
            yield Breach(page.id, 0, "too-few-values", message, f"add '{relation.name}:'")


def _check_subjects(
    relation: Relation, links: Sequence[Edge], pages: Mapping[str, PageFacts], files: Mapping[str, str]
) -> Iterator[Breach]:
    """How many subjects each object has."""
    least, most = relation.subjects
    of: dict[str, dict[str, Edge]] = defaultdict(dict)
    for link in links:
        of[link.object].setdefault(link.subject, link)
    for object, subjects in of.items():
        yield from _check_most(f"'{relation.name}' leads to '{object}' from", most, list(subjects.values()), files)
    for page in pages.values() if least else ():
        if page.type in relation.range and len(of.get(page.id, ())) < least:
            starts, found = " or ".join(relation.domain), len(of.get(page.id, ()))
            some = f"at least {least} page{'s' if least > 1 else ''} of type {starts}"
            does = f"{found} {'does' if found == 1 else 'do'}"
            fix = f"state it there, or '{relation.inverse}' here" if relation.inverse else "state it there"
            message = f"{some} must state '{relation.name}' of this page, and {does}"
            yield Breach(page.id, 0, "too-few-values", message, fix)


def _check_most(what: str, most: int | None, links: Sequence[Edge], files: Mapping[str, str]) -> Iterator[Breach]:
    """Too many on one page were reported when it was read: here it takes two."""
    if most is None or len(links) <= most:
        return
    limit = "one page" if most == 1 else f"{most} pages at most"
    pages = sorted({link.page for link in links})
    for link in links[most:]:
        others = [files[page] for page in pages[: MOST_SHOWN + 1] if page != link.page][:MOST_SHOWN]
        if others:
            message = f"{what} {limit}, and there are {len(links)}; see also {', '.join(others)}"
            yield Breach(link.page, link.at, "too-many-values", message, "remove what does not hold")


def _alike(links: Sequence[Edge]) -> list[list[Edge]]:
    """Links in groups of those that agree in the identifying attributes: better at one thing is not better at all."""
    groups: dict[str, list[Edge]] = defaultdict(list)
    for link in links:
        groups[link.identifying].append(link)
    return list(groups.values())


def _check_directions(relation: Relation, links: Sequence[Edge]) -> Iterator[Breach]:
    """Reports the later one of two links that lead there and back, and links that lead to where they start."""
    ends: set[tuple[str, str]] = set()
    for link in links:
        ends.add((link.subject, link.object))
        if (link.object, link.subject) in ends:
            way = dict.fromkeys((link.subject, link.object))
            yield _circle(relation, link, [*way, link.subject], "both-ways")


def _check_cycles(relation: Relation, links: Sequence[Edge]) -> Iterator[Breach]:
    """Reports each link that closes a cycle, depth first in the order of the pages."""
    out: dict[str, list[Edge]] = defaultdict(list)
    for link in links:
        out[link.subject].append(link)
    done: set[str] = set()
    for start in list(out):
        way, left = [start], [iter(out[start])]
        on_way = {start}
        while way:
            try:
                link = next(left[-1])
            except StopIteration:
                done.add(way[-1])
                on_way.remove(way.pop())
                left.pop()
                continue
            if link.object in on_way:
                circle = [link.subject, *way[way.index(link.object) :]]
                yield _circle(relation, link, circle, "cycle")
            elif link.object not in done:
                way.append(link.object)
                on_way.add(link.object)
                left.append(iter(out.get(link.object, ())))


def _circle(relation: Relation, link: Edge, way: Sequence[str], code: str) -> Breach:
    shown_way = " → ".join(way if len(way) <= 8 else [*way[:4], "…", *way[-3:]])
    message = f"'{relation.name}' leads in a circle: {shown_way}"
    return Breach(link.page, link.at, code, message, "remove one of them" if len(way) > 2 else "remove it")
