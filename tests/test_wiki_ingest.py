import pytest
from ingest_parts import Pattern, companies, make_page
from reference_store import ReferenceStore

from ingest.pipeline import ingest
from ingest.summary import Summary
from ontoloom.names import entity_id
from ontoloom.records import Document, EntityRef

ONTOLOGY = companies()
ACME = make_page("acme", "type: Company\nname: Acme Corp\naliases: [Emca]\nfounded: 1990\nbased_in: oslo")
OSLO = make_page("oslo", "type: City\nname: Oslo")
BETA = make_page("beta", "type: Company\nname: Beta\nbeats: [{target: acme, market: oslo, lead: 2.5}]")


def read(store: ReferenceStore, *pages: Document, extractor: Pattern | None = None) -> Summary:
    return ingest(pages, store, extractors={"*": [extractor] if extractor else []})


def statements(store: ReferenceStore) -> set[tuple[str, str, str, str]]:
    """(subject, relation, object, the words of the page that state it)."""
    entities = {
        e for batch in map(store.scan_entities, ONTOLOGY.types) for b in batch for e in b["id"].to_pylist() if e
    }
    found = set()
    for triple in store.neighbours(sorted(entities)):
        subject = store.entities([triple.subject])[triple.subject].name
        target = str(triple.object)
        if isinstance(triple.object, EntityRef):
            target = store.entities([triple.object.id])[triple.object.id].name
        for evidence in store.evidence([triple.id])[triple.id]:
            document = store.document(evidence.document)
            assert document is not None
            assert (evidence.extractor, evidence.confidence) == ("page", 1.0)
            found.add((subject, triple.relation, target, document.text[evidence.start : evidence.end]))
    return found


def test_what_a_page_states_is_in_the_graph_with_its_words() -> None:
    store = ReferenceStore(ONTOLOGY)
    summary = read(store, ACME, OSLO, BETA)
    assert (summary.loaded, summary.admitted) == (3, 3)
    assert statements(store) == {
        ("Acme Corp", "name", "Acme Corp", "name: Acme Corp"),
        ("Acme Corp", "founded", "1990", "founded: 1990"),
        ("Acme Corp", "based_in", "Oslo", "based_in: oslo"),
        ("Oslo", "name", "Oslo", "name: Oslo"),
        ("Beta", "name", "Beta", "name: Beta"),
        ("Beta", "beats", "Acme Corp", "{target: acme, market: oslo, lead: 2.5}"),
    }


def test_the_entity_of_a_page_has_its_name_aliases_and_page() -> None:
    store = ReferenceStore(ONTOLOGY)
    read(store, ACME, OSLO)
    acme = store.entities([entity_id("Company", "Acme Corp")])[entity_id("Company", "Acme Corp")]
    assert (acme.name, acme.aliases, acme.page) == ("Acme Corp", ("Emca",), "wiki/acme.md")


def test_attributes_of_a_relation_refer_to_the_pages_entities() -> None:
    store = ReferenceStore(ONTOLOGY)
    read(store, ACME, OSLO, BETA)
    (beats,) = [t for t in store.neighbours([entity_id("Company", "Beta")]) if t.relation == "beats"]
    assert beats.attributes == (("lead", 2.5), ("market", EntityRef(entity_id("City", "Oslo"))))


def test_a_page_with_an_error_is_a_failure_with_the_finding_and_the_old_one_stays() -> None:
    store = ReferenceStore(ONTOLOGY)
    read(store, ACME, OSLO)
    digest = store.digest()
    bad = make_page("acme", "type: Company\nname: Acme Corp\nfounded: long ago\nhates: oslo")
    summary = read(store, bad, OSLO)
    assert (summary.failed, summary.unchanged) == (1, 1)
    assert [(f.document, f.where, f.code) for f in summary.failures] == [
        ("wiki/acme.md", "4:10", "not-an-integer"),
        ("wiki/acme.md", "5:1", "unknown-attribute"),
    ]
    assert "wiki/acme.md:4:10: error[not-an-integer]" in summary.failures[0].message
    assert store.digest() == digest


@pytest.mark.parametrize("text", ["", "no front matter", "---\ntype: Company\n", "---\n- a\n---\n"])
def test_what_is_no_page_is_a_failure(text: str) -> None:
    document = Document("wiki/x.md", "wiki/x.md", "x", text, (), kind="page")
    summary = read(ReferenceStore(ONTOLOGY), document)
    assert (summary.loaded, summary.failed) == (1, 1)
    assert summary.failures[0].code


def test_a_reference_to_a_page_that_is_not_there_is_quarantined_until_the_page_comes() -> None:
    store, whole = ReferenceStore(ONTOLOGY), ReferenceStore(ONTOLOGY)
    first = read(store, ACME)
    assert first.refused == {"dangling-reference": 1}
    assert "there is no page 'oslo'" in next(store.quarantined()).message
    second = read(store, OSLO)
    assert (second.loaded, second.admitted, second.reread) == (1, 1, 1)
    assert not list(store.quarantined())
    read(whole, ACME, OSLO)
    assert store.digest() == whole.digest()


def test_the_prose_of_a_page_is_read_as_body_and_its_front_matter_is_not() -> None:
    extractor = Pattern({"based_in": r"(?P<s>Acme Corp|Beta) is in (?P<o>\w+)"})
    page = make_page("acme", "type: Company\nname: Acme Corp\n# Beta is in Rome", "Acme Corp is in Bonn.")
    store = ReferenceStore(ONTOLOGY)
    read(store, page, extractor=extractor)
    (triple,) = [t for t in store.neighbours([entity_id("Company", "Acme Corp")]) if t.relation == "based_in"]
    assert triple.object == EntityRef(entity_id("City", "Bonn"))
    (evidence,) = store.evidence([triple.id])[triple.id]
    assert page.text[evidence.start : evidence.end] == "Acme Corp is in Bonn"
