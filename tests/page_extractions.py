"""Wiki pages as extractions, so that what lies above a store can be tested on the example without ingestion."""

from __future__ import annotations

from pathlib import Path

from ontology.check import check
from ontology.page_reader import parse_page
from ontology.pages import Page, PageRef
from ontology.schema import Ontology
from ontoloom.names import entity_id
from ontoloom.records import Document, Entity, EntityRef, Evidence, Extraction, Section, Triple, Value


def read_example(folder: Path) -> tuple[Ontology, list[Extraction]]:
    """The ontology in a folder and an extraction for each page of its wiki."""
    checked = check(folder / "ontology.yaml")
    assert checked.ontology is not None
    assert checked.ok, checked.findings
    read = (parse_page(Path(f).read_text("utf-8"), file=f, ontology=checked.ontology) for f in checked.files.values())
    pages = {page.id: page for page, _ in read if page is not None}
    return checked.ontology, [extract(page, pages, checked.ontology) for page in pages.values()]


def extract(page: Page, pages: dict[str, Page], ontology: Ontology) -> Extraction:
    text = Path(page.file).read_text("utf-8")
    document = Document(
        f"wiki/{page.id}.md", page.sources[0], page.name, text, (Section("body", 0, len(text)),), kind="page"
    )
    own = entity(page)
    entities = {own.id: Entity(own.id, own.type, own.name, tuple(page.aliases), document.id)}
    stated = [(Triple(own.id, "name", page.name), page.name_span)]
    for statement in page.statements:
        values = [statement.object, *(value for _, value in statement.attributes)]
        for other in (entity(pages[v.id]) for v in values if isinstance(v, PageRef)):
            entities.setdefault(other.id, other)
        relation = ontology.relations.get(statement.key)
        identifying = tuple(a.name for a in relation.attributes.values() if a.identifying) if relation else ()
        attributes = tuple((name, refer(value, pages)) for name, value in statement.attributes)
        triple = Triple(own.id, statement.key, refer(statement.object, pages), attributes, identifying)
        stated.append((triple, (statement.start, statement.end)))
    evidence = tuple(
        Evidence(triple.id, document.id, *span, "wiki", "front-matter", 1.0, ontology.stamp) for triple, span in stated
    )
    return Extraction(document, tuple(entities.values()), tuple(triple for triple, _ in stated), evidence)


def entity(page: Page) -> Entity:
    return Entity(entity_id(page.type, page.name), page.type, page.name)


def refer(value: Value | PageRef, pages: dict[str, Page]) -> Value | EntityRef:
    return EntityRef(entity(pages[value.id]).id) if isinstance(value, PageRef) else value
