"""Random pages of an ontology, and what they mean, worked out as plainly as can be."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from diff_edits import Plain, compiled

from ontology import Attribute, Finding, Ontology
from ontology.admit import Refusal, admit
from ontology.check import check
from ontology.compare.rules import Touches
from ontology.page_reader import parse_page
from ontology.pages import Page, PageRef
from ontoloom.records import Entity, Triple, Value, canonical_text

VALUES: Mapping[str, tuple[Value, ...]] = {
    "integer": (0, 1, 5, 9, 12),
    "number": (0.5, 1, 1000),
    "string": ("ab", "abc", "Ab 7", "x"),
    "text": ("ab", "two  words", "x"),
    "enum": ("x", "y", "z", "w"),
    "boolean": (True, False),
    "date": ("2024-05-01", "2025-01-02"),
    "datetime": ("2024-05-01T12:00:00Z",),
    "quantity": ("24 GB", "1 TB", "7 kg"),
    "url": ("https://a.example", "http://b.example/x"),
    "reference": ("ab",),
}


def make_pages(ontology: Ontology, random: Random) -> dict[str, str]:
    """Up to six pages that say something; not all hold."""
    types = [t.name for t in ontology.types.values() if not t.abstract]
    ids = {f"p{i}": random.choice(types) for i in range(random.randint(2, 6))} if types else {}
    return {page_id: make_page(ontology, page_id, ids, random) for page_id in ids}


def make_page(ontology: Ontology, page_id: str, ids: Mapping[str, str], random: Random) -> str:
    front: Plain = {"type": ids[page_id], "name": f"Name {page_id}"}
    for name, attribute in ontology.types[ids[page_id]].attributes.items():
        if name != "name" and (attribute.required or random.random() < 0.6):
            front[name] = make_value(attribute, ids, random)
    for relation in ontology.relations.values():
        ways = [(relation.name, relation.domain, relation.range), (relation.inverse, relation.range, relation.domain)]
        for key, starts, leads in ways:
            others = [other for other, type_name in ids.items() if type_name in leads]
            if key and ids[page_id] in starts and others and random.random() < 0.7:
                front[key] = [
                    make_statement(relation.attributes.values(), other, ids, random)
                    for other in random.sample(others, random.randint(1, min(2, len(others))))
                ]
    return f"---\n{json.dumps(front, ensure_ascii=False)}\n---\n"


def make_statement(attributes: Iterable[Attribute], other: str, ids: Mapping[str, str], random: Random) -> Any:
    stated = {a.name: make_value(a, ids, random) for a in attributes if a.required or random.random() < 0.5}
    return {"target": other, **stated} if stated else other


def make_value(attribute: Attribute, ids: Mapping[str, str], random: Random) -> Any:
    values = VALUES[attribute.type] if attribute.type != "reference" else tuple(ids)
    if attribute.type == "enum":
        values = tuple(value.name for value in attribute.values)
    if attribute.many:
        least, most = max(1, attribute.at_least), attribute.at_most or 3
        return random.sample(values, min(len(values), random.randint(least, max(least, most))))
    return random.choice(values)


def check_pages(plain: Plain, pages: Mapping[str, str]) -> tuple[dict[str, Page], list[Finding]]:
    """The pages as `ontoloom check` reads them, and the errors."""
    with TemporaryDirectory() as folder:
        wiki = Path(folder, "wiki")
        wiki.mkdir()
        Path(folder, "ontology.yaml").write_text(json.dumps(plain, ensure_ascii=False))
        for page_id, text in pages.items():
            Path(wiki, f"{page_id}.md").write_text(text)
        checked = check(Path(folder, "ontology.yaml"))
    ontology, read = compiled(plain), {}
    assert ontology is not None
    for page_id, text in pages.items():
        page, _ = parse_page(text, file=f"{page_id}.md", ontology=ontology)
        if page is not None:
            read[page_id] = page
    return read, [f for f in checked.findings if f.severity == "error"]


def valid_pages(plain: Plain, pages: dict[str, str]) -> tuple[dict[str, str], dict[str, Page]]:
    """Those of the pages that hold together, as text and as they are read."""
    while True:
        read, errors = check_pages(plain, pages)
        faulty = {Path(error.file).stem for error in errors}
        if not faulty:
            return pages, read
        pages = {page_id: text for page_id, text in pages.items() if page_id not in faulty}


# What pages mean


def triples(ontology: Ontology, pages: Mapping[str, Page]) -> list[Triple | Refusal]:
    """What the gate makes of all that pages state."""
    return [triple for page in pages.values() for triple in _triples(ontology, page, pages)]


def _triples(ontology: Ontology, page: Page, pages: Mapping[str, Page]) -> Iterator[Triple | Refusal]:
    def meant(value: Value | PageRef) -> Entity | Value:
        return entity(pages[value.id]) if isinstance(value, PageRef) else value

    for statement in page.statements:
        subject, object = entity(page), meant(statement.object)
        if statement.inverse and isinstance(object, Entity):
            subject, object = object, subject
        attributes = [(name, meant(value)) for name, value in statement.attributes]
        yield admit(ontology, relation=statement.key, subject=subject, object=object, attributes=attributes)


def entity(page: Page) -> Entity:
    return Entity(page.id, page.type, page.name)


def tables(ontology: Ontology, pages: Mapping[str, Page]) -> dict[str, object]:
    """What queries see: the things of each type, the values of each attribute, and what holds by each relation."""
    seen: dict[str, object] = {}
    for name in ontology.types:
        things = [page for page in pages.values() if page.type in ontology.subtypes(name)]
        seen[name] = {page.id for page in things}
        for attribute in ontology.types[name].attributes.values():
            values = {(p.id, canonical_text(s.object)) for p in things for s in p.statements
                      if s.key == attribute.name and not isinstance(s.object, PageRef)}  # fmt: skip
            if values:
                seen[f"{name}.{attribute.name}"] = (attribute.kind, attribute.many, attribute.unit, values)
    for relation in ontology.relations.values():
        links = {
            (statement.object.id, page.id) if statement.inverse else (page.id, statement.object.id)
            for page in pages.values()
            for statement in page.statements
            if statement.key == relation.name and isinstance(statement.object, PageRef)
        }
        if links:
            flags = (relation.symmetric, relation.transitive, relation.conflict.replace("error", ""))
            seen[f"{relation.name} links"] = (links, flags)
    return seen


def same_meaning(before: Mapping[str, object], after: Mapping[str, object]) -> bool:
    """Whether queries over what was there see the same. Under the policy ``error`` nothing disagreed."""

    def loosened(one: object, other: object) -> bool:
        return isinstance(one, tuple) and isinstance(other, tuple) and len(one) == 2 and one[1][2] == "" and (
            (one[0], one[1][:2]) == (other[0], other[1][:2])
        )  # fmt: skip

    return all(after.get(key) == seen or loosened(seen, after.get(key)) for key, seen in before.items() if seen)


def what_is_lost(
    old: Ontology, pages: Mapping[str, Page], plain: Plain, new: Ontology, texts: Mapping[str, str]
) -> str:
    """Empty where valid pages stay valid under the new ontology, here also as it is written, and mean the same."""
    read, errors = check_pages(plain, texts)
    if errors:
        return str(errors[0])
    if [stated(page) for page in pages.values()] != [stated(page) for page in read.values()]:
        return "pages are read otherwise"
    ids = [[t.id if isinstance(t, Triple) else t.code for t in triples(o, p)] for o, p in ((old, pages), (new, read))]
    if ids[0] != ids[1]:
        return "triples have other ids"
    return "" if same_meaning(tables(old, pages), tables(new, read)) else "queries see something else"


def stated(page: Page) -> object:
    return page.id, page.type, page.name, [(s.key, s.object, s.attributes, s.inverse) for s in page.statements]


def count(touches: Touches, ontology: Ontology, pages: Mapping[str, Page]) -> int:
    """How many things, values or triples a change touches, as ``Touches`` says."""
    if touches.relation:
        return _count_triples(touches, ontology, pages)
    things = [page for page in pages.values() if page.type in touches.types]
    if not touches.attribute:
        return len(things)
    values = {
        page.id: [s.object for s in page.statements if s.key == touches.attribute]
        + ([page.name] if touches.attribute == "name" else [])
        for page in things
    }
    if touches.lacking:
        return sum(not found for found in values.values())
    return sum(touches.value in ("", value) for found in values.values() for value in found)


def _count_triples(touches: Touches, ontology: Ontology, pages: Mapping[str, Page]) -> int:
    known = [t for t in triples(ontology, pages) if isinstance(t, Triple) and t.relation == touches.relation]
    starts, leads = [pages[t.subject] for t in known], [pages[canonical_text(t.object)[1:]] for t in known]
    if touches.lacking and (touches.subjects or touches.objects):
        there = {page.id for page in (starts if touches.subjects else leads)}
        types = touches.subjects or touches.objects
        return sum(page.type in types and page.id not in there for page in pages.values())
    found = [
        dict(triple.attributes)
        for triple, subject, object in zip(known, starts, leads, strict=True)
        if (not touches.subjects or subject.type in touches.subjects)
        and (not touches.objects or object.type in touches.objects)
    ]
    if not touches.attribute:
        return len(found)
    if touches.lacking:
        return sum(touches.attribute not in attributes for attributes in found)
    stated = [attributes[touches.attribute] for attributes in found if touches.attribute in attributes]
    return sum(touches.value in ("", value) for value in stated)


def make_claim(ontologies: Iterable[Ontology], random: Random) -> dict[str, Any]:
    """Something said with the words of several ontologies, as ``admit`` takes it."""
    types = sorted({t for o in ontologies for t in o.types})
    relations = {r.name: r for o in ontologies for r in o.relations.values()}
    names = sorted({a for o in ontologies for t in o.types.values() for a in t.attributes} | relations.keys())
    relation = random.choice(names)
    values: list[Value] = [value for found in VALUES.values() for value in found]
    known = relations.get(relation)
    attributes = [
        (name, random.choice([Entity("e3", random.choice(types), "E3"), *random.sample(values, 3), 5, "x"]))
        for name in (known.attributes if known is not None else ["w"])
        for _ in range(random.choice([0, 1, 1, 2]))
    ]
    if known is not None and random.random() < 0.7:
        object: Entity | Value = Entity("e2", random.choice(types), "E2")
    else:
        object = random.choice([*values, date(2024, 5, 1)])
    subject = Entity("e1", random.choice(types), "E1")
    return {"relation": relation, "subject": subject, "object": object, "attributes": attributes}
