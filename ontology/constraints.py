"""What pages must hold together: keys, uniqueness, how many there may be, and shapes of relations such as no cycles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ontology.findings import shown
from ontology.pages import Page, PageRef, Statement
from ontology.schema import ANY_NUMBER, Ontology, Relation, ancestors

Report = Callable[[str, int, str, str, str], None]
"""Is given the id of a page, a place in its text, a code, a message and a fix."""


class Link(NamedTuple):
    """A relation between two pages, and where it is stated."""

    subject: str
    object: str
    page: str
    statement: Statement


def check_constraints(ontology: Ontology, pages: Mapping[str, Page], report: Report) -> None:
    """Reports breaches of what several pages say together. References to pages that are not there are left out."""
    _check_keys(ontology, pages, report)
    for name, links in _links(ontology, pages).items():
        relation = ontology.relations[name]
        _check_objects(relation, links, pages, report)
        _check_subjects(relation, links, pages, report)
        for part in _alike(relation, links) if relation.acyclic or relation.asymmetric else ():
            (_check_cycles if relation.acyclic else _check_directions)(relation, part, report)


# Keys


def _check_keys(ontology: Ontology, pages: Mapping[str, Page], report: Report) -> None:
    """Each key is one of the type that declares it: also things of its subtypes differ in it."""
    keys = {name: _keys_of(ontology, name) for name in ontology.types}
    if not any(keys.values()):
        return
    seen: dict[tuple[str, tuple[str, ...], tuple[object, ...]], str] = {}
    for page in pages.values():
        own = keys[page.type]
        stated = {s.key: s for s in page.statements if not isinstance(s.object, PageRef)} if own else {}
        for owner, key in own:
            for values, at in _values(page, stated, key):
                other = seen.setdefault((owner, key, values), page.id)
                if other != page.id:
                    what = " and ".join(f"{name} {shown(value)}" for name, value in zip(key, values, strict=True))
                    message = f"{what} is that of the page {pages[other].file}"
                    report(page.id, at, "not-unique", message, "correct one of them, or merge the pages")


def _keys_of(ontology: Ontology, type_name: str) -> list[tuple[str, tuple[str, ...]]]:
    """The keys of a type, unique attributes among them, each with the widest type that has it."""
    found = []
    line = (type_name, *ancestors(ontology.types, type_name))
    types = [ontology.types[name] for name in line]
    unique = [(name,) for name, attribute in types[0].attributes.items() if attribute.unique]
    for key in dict.fromkeys([*types[0].keys, *unique]):
        having = [t.name for t in types if key in t.keys or (len(key) == 1 and _is_unique(ontology, t.name, key[0]))]
        found.append((having[-1], key))
    return found


def _is_unique(ontology: Ontology, type_name: str, name: str) -> bool:
    attribute = ontology.attribute(type_name, name)
    return attribute is not None and attribute.unique


def _values(
    page: Page, stated: Mapping[str, Statement], key: tuple[str, ...]
) -> Iterator[tuple[tuple[object, ...], int]]:
    """What a page has for a key, and where; nothing where a part of it is not stated. Of many values, each is one."""
    if len(key) == 1 and key[0] in stated:
        for statement in page.statements:
            if statement.key == key[0]:
                yield (statement.object,), statement.start
    elif all(name in stated or name == "name" for name in key):
        values = tuple(page.name if name == "name" else stated[name].object for name in key)
        yield values, stated[key[-1]].start if key[-1] in stated else page.name_span[0]


# Relations


def _links(ontology: Ontology, pages: Mapping[str, Page]) -> dict[str, list[Link]]:
    """The links of relations that have something to be checked, each between pages that are there."""
    found: dict[str, list[Link]] = {
        relation.name: []
        for relation in ontology.relations.values()
        if relation.asymmetric or relation.acyclic or {relation.objects, relation.subjects} != {ANY_NUMBER}
    }
    for page in pages.values() if found else ():
        for statement in page.statements:
            target = statement.object
            if statement.key in found and isinstance(target, PageRef) and target.id in pages:
                ends = (target.id, page.id) if statement.inverse else (page.id, target.id)
                found[statement.key].append(Link(*ends, page.id, statement))
    return found


def _check_objects(relation: Relation, links: Sequence[Link], pages: Mapping[str, Page], report: Report) -> None:
    """How many objects each subject has, those included that are stated on their own pages."""
    least, most = relation.objects
    of: dict[str, dict[str, Link]] = defaultdict(dict)
    for link in links:
        of[link.subject].setdefault(link.object, link)
    for subject, objects in of.items():
        _check_most(f"'{relation.name}' of '{subject}'", most, list(objects.values()), report)
    for page in pages.values() if least else ():
        if page.type in relation.domain and len(of.get(page.id, ())) < least:
            message = f"{page.type} needs at least {least} '{relation.name}', and has {len(of.get(page.id, ()))}"
            report(page.id, 0, "too-few-values", message, f"add '{relation.name}:'")


def _check_subjects(relation: Relation, links: Sequence[Link], pages: Mapping[str, Page], report: Report) -> None:
    """How many subjects each object has."""
    least, most = relation.subjects
    of: dict[str, dict[str, Link]] = defaultdict(dict)
    for link in links:
        of[link.object].setdefault(link.subject, link)
    for object, subjects in of.items():
        _check_most(f"'{relation.name}' to '{object}'", most, list(subjects.values()), report)
    for page in pages.values() if least else ():
        if page.type in relation.range and len(of.get(page.id, ())) < least:
            starts = " or ".join(relation.domain)
            message = f"at least {least} {starts} must be '{relation.name}' this, and {len(of.get(page.id, ()))} are"
            report(page.id, 0, "too-few-values", message, "state it on their pages")


def _check_most(what: str, most: int | None, links: Sequence[Link], report: Report) -> None:
    """Too many on one page were reported when it was read: here it takes two."""
    for link in links[most:] if most is not None else ():
        others = ", ".join(sorted({other.page for other in links} - {link.page}))
        if others:
            message = f"{what} may be stated of {most} at most, and there are {len(links)}; see also {others}"
            report(link.page, link.statement.start, "too-many-values", message, "remove what does not hold")


def _alike(relation: Relation, links: Sequence[Link]) -> list[list[Link]]:
    """Links in groups of those that agree in the identifying attributes: better at one thing is not better at all."""
    identifying = {name for name, attribute in relation.attributes.items() if attribute.identifying}
    groups: dict[tuple[object, ...], list[Link]] = defaultdict(list)
    for link in links:
        groups[tuple(pair for pair in link.statement.attributes if pair[0] in identifying)].append(link)
    return list(groups.values())


def _check_directions(relation: Relation, links: Sequence[Link], report: Report) -> None:
    """Reports the later one of two links that lead there and back, and links that lead to where they start."""
    ends: set[tuple[str, str]] = set()
    for link in links:
        ends.add((link.subject, link.object))
        if (link.object, link.subject) in ends:
            way = (
                [link.subject, link.object]
                if link.subject == link.object
                else [link.subject, link.object, link.subject]
            )
            _report_circle(relation, link, way, "both-ways", report)


def _check_cycles(relation: Relation, links: Sequence[Link], report: Report) -> None:
    """Reports each link that closes a cycle, depth first in the order of the pages."""
    out: dict[str, list[Link]] = defaultdict(list)
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
                _report_circle(relation, link, circle, "cycle", report)
            elif link.object not in done:
                way.append(link.object)
                on_way.add(link.object)
                left.append(iter(out.get(link.object, ())))


def _report_circle(relation: Relation, link: Link, way: Sequence[str], code: str, report: Report) -> None:
    shown_way = " → ".join(way if len(way) <= 8 else [*way[:4], "…", *way[-3:]])
    message = f"'{relation.name}' leads in a circle: {shown_way}"
    report(link.page, link.statement.start, code, message, "remove one of them" if len(way) > 2 else "remove it")
