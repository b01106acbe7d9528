"""What every store must do; run over each of them, the reference included, so that the reference is tested too."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest
from graph_examples import (
    ONTOLOGY,
    beats,
    link,
    literal,
    named,
    ref,
    refused,
    says,
    span,
)
from stores_under_test import MakeStore, content, everything, rows, said_parts

from graph.digest import content_hash
from graph.store import ENTITY_COLUMNS, NAMING_COLUMNS, STATING_COLUMNS, TRIPLE_COLUMNS, Store
from graph.verify import verify
from ontoloom.errors import StoreError
from ontoloom.names import name_key
from ontoloom.records import Citation, Entity, Extraction, Failure

QWEN, LLAMA, MISTRAL = named("Model", "Qwen2"), named("Model", "Llama 3"), named("Model", "Mistral 7B")
ACME, MMLU, GSM = named("Organization", "Acme"), named("Benchmark", "MMLU"), named("Benchmark", "GSM8K")
BETTER = beats(QWEN, LLAMA, ("benchmark", ref(MMLU)), ("score_delta", 2.3))
MADE = link(QWEN, "developed_by", ACME)
LENGTH = literal(QWEN, "context_length", 131072)


# Documents


def test_an_empty_store_holds_nothing(store: Store) -> None:
    assert store.last_change() == 0
    assert list(store.changes(0)) == []
    assert store.documents() == {}
    assert store.document("a.md") is None
    assert rows(store.scan_triples()) == []
    assert rows(store.scan_entities("Model")) == []
    assert rows(store.scan_entities()) == rows(store.scan_namings(0)) == rows(store.scan_statings(0)) == []
    assert (list(store.extractions()), list(store.faults()), store.merges()) == ([], [], [])
    counts = store.counts()
    assert (counts.documents, counts.evidence) == (0, 0)
    assert counts.entities == {"Model": 0, "Organization": 0, "Benchmark": 0}
    assert dict(counts.triples) == dict(counts.quarantined) == {}
    assert store.write([]) == 0
    assert store.delete([]) == 0


def test_a_document_comes_back_as_it_was_written(store: Store) -> None:
    extraction = says("papers/a b.md", QWEN, LENGTH, text="Größe 模型 🙂\r\n\ttext", kind="page", fingerprint="f7")
    failing = says("b.md", Failure("0-5", "timeout", "took too long"), Failure("5-9", "cut-off", "…"))
    assert store.write([extraction, failing]) == 1
    assert store.document("papers/a b.md") == extraction.document
    states = store.documents()
    assert list(states) == ["b.md", "papers/a b.md"]
    state = states["papers/a b.md"]
    assert (state.hash, state.fingerprint, state.kind) == (extraction.document.hash, "f7", "page")
    assert (state.status, states["b.md"].status) == ("admitted", "failed")
    assert states["b.md"].failures == failing.failures
    assert states["b.md"].title == "Title b.md"


def test_an_extraction_that_is_stored_already_changes_nothing(store: Store) -> None:
    first = says("a.md", QWEN, LLAMA, MMLU, BETTER, span(BETTER, "a.md"), span(BETTER, "a.md", 2, 9), refused("a.md"))
    again = replace(first, entities=first.entities[::-1] + first.entities, evidence=first.evidence[::-1])
    assert store.write([first]) == 1
    before = everything(store)
    assert store.write([again]) == 1
    assert store.last_change() == 1
    assert len(list(store.changes(0))) == 1
    assert everything(store) == before


def test_a_rewritten_document_leaves_nothing_of_what_it_said(make_store: MakeStore) -> None:
    new = says("a.md", MISTRAL, literal(MISTRAL, "context_length", 32768), refused("a.md", 3), text="Another text.")
    fresh = make_store()
    fresh.write([new])
    expected = content(fresh)
    rewritten = make_store()
    rewritten.write([says("a.md", QWEN, LLAMA, ACME, MMLU, BETTER, MADE, LENGTH, refused("a.md"))])
    assert rewritten.write([new]) == 2
    assert content(rewritten) == expected
    assert rewritten.named([name_key("Qwen2")]) == {}
    change = next(iter(rewritten.changes(1)))
    assert change.documents == ("a.md",)
    assert set(change.entities) == {e.id for e in (QWEN, LLAMA, ACME, MMLU, MISTRAL)}
    assert set(change.triples) == {BETTER.id, MADE.id, LENGTH.id, new.triples[0].id}


def test_what_is_said_again_is_left_as_it_is(store: Store) -> None:
    store.write([says("a.md", QWEN, ACME, MADE, LENGTH)])
    store.write([says("a.md", QWEN, ACME, MADE, fingerprint="f2")])
    updated = {row["id"]: row["updated"] for row in rows(store.scan_triples())}
    assert updated == {MADE.id: 1}
    assert [row["updated"] for row in rows(store.scan_entities("Model"))] == [1]
    change = next(iter(store.changes(1)))
    assert (change.number, change.documents, change.entities, change.triples) == (2, ("a.md",), (), (LENGTH.id,))


def test_deleting_removes_what_rested_on_the_document_alone(store: Store) -> None:
    store.write([says("a.md", QWEN, ACME, MADE, LENGTH, refused("a.md")), says("b.md", QWEN, LENGTH)])
    assert store.delete(["a.md"]) == 2
    assert list(store.documents()) == ["b.md"]
    assert store.document("a.md") is None
    assert store.triples([MADE.id, LENGTH.id]) == {LENGTH.id: LENGTH}
    assert store.entities([QWEN.id, ACME.id]).keys() == {QWEN.id}
    assert [str(Citation(e.document, e.start, e.end)) for e in store.evidence([LENGTH.id])[LENGTH.id]] == ["b.md:0-5"]
    assert list(store.quarantined()) == []
    assert store.neighbours([ACME.id]) == []


def test_deleting_an_unknown_document_is_an_error_and_removes_nothing(store: Store) -> None:
    store.write([says("a.md", QWEN, LENGTH)])
    before = everything(store)
    with pytest.raises(StoreError, match=r"there is no document 'nope\.md' in the store"):
        store.delete(["a.md", "nope.md"])
    assert everything(store) == before
    assert store.last_change() == 1


def test_add_delete_add_again_has_the_digest_of_adding_once(make_store: MakeStore) -> None:
    a = says("a.md", QWEN, LLAMA, MMLU, BETTER, refused("a.md"))
    b = says("b.md", QWEN, ACME, MADE, LENGTH)
    once = make_store()
    empty = once.digest()
    once.write([a, b])
    expected = content(once)
    thrice = make_store()
    thrice.write([a])
    thrice.write([b])
    thrice.delete(["a.md"])
    assert thrice.digest() != expected["digest"]
    thrice.delete(["b.md"])
    assert thrice.digest() == empty
    thrice.write([b, a])
    assert content(thrice) == expected


def test_what_documents_said_comes_back_and_makes_an_equal_store(make_store: MakeStore) -> None:
    store = make_store()
    declared = named("Model", "Qwen 2", "q2", "a2", "q2", key="Qwen2", page="b.md")
    measured = beats(QWEN, LLAMA, ("measured", date(2024, 5, 1)), ("notes", "b"), ("notes", "a"), ("score_delta", 1.0))
    pieces = span(measured, "b.md", 2, 5, confidence=0.25), span(measured, "b.md", 1, 5, extractor="llm")
    given = [
        says("c.md", ACME, QWEN, MADE, LENGTH, literal(QWEN, "hardware.gpu_memory", 80.0), refused("c.md", 3)),
        says("a.md", replace(QWEN, page="b.md"), Failure("0-5", "timeout", "took 3 s"), fingerprint="f9"),
        says("b.md", LLAMA, declared, measured, *pieces, kind="page", text="Größe 模型 🙂\r\n"),
    ]
    store.write(given)
    digest = store.digest()
    told = list(store.extractions())
    assert [one.document.id for one in told] == ["a.md", "b.md", "c.md"]
    for one, expected in zip(told, sorted(given, key=lambda x: x.document.id), strict=True):
        assert said_parts(one) == said_parts(expected)
        verified = verify([one], ONTOLOGY)[0]
        assert store.documents()[one.document.id].said == content_hash(verified)
    assert [one.document.id for one in store.extractions(["c.md", "nope.md", "a.md", "c.md"])] == ["a.md", "c.md"]
    assert list(store.extractions([])) == []
    again = make_store()
    again.write(told)
    assert again.digest() == digest
    assert again.write(given) == 1, "what is given as it was given first is what is stored"


def test_an_entity_is_defined_by_the_page_that_names_it_so_and_by_no_other(store: Store) -> None:
    """A document that gives another's page as an entity's says as much as one that gives none."""
    store.write([says("a.md", replace(QWEN, page="b.md"))])
    assert store.entities([QWEN.id]) == {QWEN.id: QWEN}
    assert store.write([says("a.md", QWEN)]) == 1


# What follows from several documents


def test_the_order_of_documents_does_not_matter(make_store: MakeStore) -> None:
    spelled = named("Model", "qwen-2", key="Qwen2")
    corrected = beats(QWEN, LLAMA, ("benchmark", ref(MMLU)), ("score_delta", 2.5))
    documents = [
        says("a.md", QWEN, LLAMA, MMLU, BETTER),
        says("b.md", spelled, LLAMA, MMLU, corrected),
        says("c.md", spelled, LENGTH),
    ]
    contents = []
    for order in permutations(documents):
        store = make_store()
        for extraction in order:
            store.write([extraction])
        contents.append(content(store))
    together = make_store()
    together.write(documents)
    assert all(one == content(together) for one in contents)


def test_the_name_is_what_most_documents_use_then_the_smallest(store: Store) -> None:
    def spell(name: str) -> Entity:
        return named("Model", name, key="Qwen2")

    def naming() -> tuple[str, tuple[str, ...]]:
        entity = store.entities([QWEN.id])[QWEN.id]
        return entity.name, entity.aliases

    store.write([says("a.md", spell("qwen 2")), says("b.md", spell("QWEN-2"))])
    assert naming() == ("QWEN-2", ("qwen 2",))
    store.write([says("c.md", spell("qwen 2"))])
    assert naming() == ("qwen 2", ("QWEN-2",))
    store.write([says("d.md", named("Model", "Qwen2", "Qwen 2 (base)"))])
    assert naming() == ("qwen 2", ("QWEN-2", "Qwen 2 (base)", "Qwen2"))
    store.delete(["c.md", "a.md"])
    assert naming() == ("QWEN-2", ("Qwen 2 (base)", "Qwen2"))


def test_a_page_gives_the_name_of_several_the_first(store: Store) -> None:
    def entity() -> Entity:
        return store.entities([QWEN.id])[QWEN.id]

    store.write([says(f"d{i}.md", named("Model", "qwen two", key="Qwen2")) for i in range(3)])
    store.write([says("wiki/q2.md", named("Model", "Qwen 2", "Q2", key="Qwen2", page="wiki/q2.md"), kind="page")])
    assert entity() == Entity(QWEN.id, "Model", "Qwen 2", ("Q2", "qwen two"), "wiki/q2.md")
    store.write([says("wiki/a.md", named("Model", "Qwen2", key="Qwen2", page="wiki/a.md"), kind="page")])
    assert entity() == Entity(QWEN.id, "Model", "Qwen2", ("Q2", "Qwen 2", "qwen two"), "wiki/a.md")
    store.write([says("wiki/b.md", named("Model", "Zwen", key="Qwen2"), kind="page")])
    assert (entity().name, entity().page) == ("Qwen2", "wiki/a.md"), "a page that only mentions it does not name it"
    store.delete(["wiki/a.md", "wiki/q2.md", "wiki/b.md"])
    assert entity() == Entity(QWEN.id, "Model", "qwen two", (), None)


def test_a_pages_statement_of_a_triple_holds_then_the_most_frequent(store: Store) -> None:
    def stated(delta: float | int) -> Extraction:
        triple = beats(QWEN, LLAMA, ("benchmark", ref(MMLU)), ("score_delta", delta))
        return says(f"{delta}.md", QWEN, LLAMA, MMLU, triple, kind="page" if delta == 9 else "document")

    def delta() -> Any:
        return dict(store.triples([BETTER.id])[BETTER.id].attributes)["score_delta"]

    store.write([stated(2.5), stated(2.3)])
    assert delta() == 2.3
    store.write([says("x.md", *stated(2.5).entities, *stated(2.5).triples)])
    assert delta() == 2.5
    store.write([stated(9)])
    assert delta() == 9
    row = rows(store.scan_triples("superior_to"))[0]
    assert row["attributes"] == f'{{"benchmark":{{"@":"{MMLU.id}"}},"score_delta":9}}'
    assert row["evidence"] == ["2.3.md:0-5", "2.5.md:0-5", "9.md:0-5", "x.md:0-5"]
    store.delete(["9.md", "x.md"])
    assert delta() == 2.3


def test_one_statement_in_two_documents_is_one_triple_with_two_pieces_of_evidence(store: Store) -> None:
    pieces = (span(MADE, "a.md", 3, 8, confidence=0.5), span(MADE, "a.md", 0, 5, extractor="llm"))
    store.write([says("b.md", QWEN, ACME, MADE), says("a.md", QWEN, ACME, MADE, *pieces)])
    assert store.evidence([MADE.id, "nope"]) == {MADE.id: [pieces[1], pieces[0], span(MADE, "b.md")]}
    row = rows(store.scan_triples())[0]
    assert row["evidence"] == ["a.md:0-5", "a.md:3-8", "b.md:0-5"]
    assert row["confidence"] == 0.9
    assert store.counts().evidence == 3


# Reading


def test_scans_have_the_columns_that_the_protocol_promises(store: Store) -> None:
    measured = beats(
        QWEN, LLAMA, ("benchmark", ref(GSM)), ("measured", date(2024, 5, 1)), ("notes", "x"), ("notes", "y")
    )
    values = [
        literal(QWEN, "context_length", 131072),
        literal(QWEN, "hardware.gpu_memory", 80.0),
        literal(QWEN, "hardware.gpu_memory", 2.5),
        literal(QWEN, "released", date(2024, 5, 1)),
        literal(QWEN, "open", True),
        literal(QWEN, "motto", 'to "be" {"date":"x"}'),
    ]
    store.write([says("a.md", QWEN, LLAMA, GSM, measured, *values)])
    for batch in store.scan_triples():
        assert batch.schema.equals(TRIPLE_COLUMNS)
    for batch in store.scan_entities():
        assert batch.schema.equals(ENTITY_COLUMNS)
    for batch in store.scan_namings(1):
        assert batch.schema.equals(NAMING_COLUMNS)
    for batch in store.scan_statings(1):
        assert batch.schema.equals(STATING_COLUMNS)
    found = {row["relation"] + (row["value"] or ""): row for row in rows(store.scan_triples())}
    expected = {
        "context_length131072", "hardware.gpu_memory80", "hardware.gpu_memory2.5", "opentrue", "released2024-05-01",
        'mottoto "be" {"date":"x"}', "superior_to",
    }  # fmt: skip
    assert set(found) == expected
    row = found["superior_to"]
    assert (row["subject"], row["subject_type"], row["object"], row["object_type"], row["value"]) == (
        QWEN.id, "Model", LLAMA.id, "Model", None,
    )  # fmt: skip
    assert row["attributes"] == f'{{"benchmark":{{"@":"{GSM.id}"}},"measured":"2024-05-01","notes":["x","y"]}}'
    literal_row = found["released2024-05-01"]
    assert (literal_row["object"], literal_row["object_type"], literal_row["attributes"]) == (None, None, "{}")
    ids = [measured.id, *(v.id for v in values)]
    assert store.triples([*ids, ids[0], "nope"]) == {t.id: t for t in (measured, *values)}
    kinds = {t.relation: type(t.object).__name__ for t in store.triples(ids).values()}
    assert kinds["hardware.gpu_memory"] == "float"
    assert (kinds["open"], kinds["released"], kinds["context_length"]) == ("bool", "date", "int")
    entity = rows(store.scan_entities("Benchmark"))[0]
    assert entity == {
        "id": GSM.id, "type": "Benchmark", "name": "GSM8K", "aliases": [], "page": None, "documents": ["a.md"],
        "updated": 1,
    }  # fmt: skip


def test_scans_can_be_narrowed_and_come_in_batches_in_a_stable_order(store: Store) -> None:
    models = [named("Model", f"M{i}") for i in range(25)]
    lengths = [literal(m, "context_length", 1000 + i) for i, m in enumerate(models)]
    store.write([says("a.md", *models, *lengths, ACME, *(link(m, "developed_by", ACME) for m in models))])
    batches = list(store.scan_triples("context_length", batch_rows=10))
    assert [b.num_rows for b in batches] == [10, 10, 5]
    ids = [row["id"] for row in rows(iter(batches))]
    assert ids == sorted(t.id for t in lengths)
    assert [b.num_rows for b in store.scan_entities("Model", batch_rows=20)] == [20, 5]
    some = [lengths[3].id, lengths[1].id, "nope"]
    assert [r["id"] for r in rows(store.scan_triples(ids=some))] == sorted(some[:2])
    assert rows(store.scan_triples("developed_by", ids=some)) == []
    assert rows(store.scan_triples(ids=[])) == []
    assert rows(store.scan_triples("no such relation")) == []
    assert rows(store.scan_entities("NoSuchType")) == []
    everyone = [*models, ACME]
    assert [row["id"] for row in rows(store.scan_entities(batch_rows=7))] == sorted(e.id for e in everyone)
    assert [b.num_rows for b in store.scan_entities(batch_rows=20)] == [20, 6]
    chosen = [models[3].id, ACME.id, "nope", models[3].id]
    assert [row["id"] for row in rows(store.scan_entities(ids=chosen))] == sorted({models[3].id, ACME.id})
    assert [row["id"] for row in rows(store.scan_entities("Organization", ids=chosen))] == [ACME.id]
    assert rows(store.scan_entities(ids=[])) == []
    assert sum(b.num_rows for b in store.scan_namings(1, batch_rows=7)) == 26
    assert [b.num_rows <= 7 for b in store.scan_statings(1, batch_rows=7)] == [True] * 8


def test_entities_are_found_by_the_key_of_every_name(store: Store) -> None:
    mistral = named("Model", "Mistral 7B", "Mistral-7B-v0.1")
    homonym = named("Organization", "Mistral 7B")
    store.write([says("a.md", mistral, homonym)])
    keys = [name_key(n) for n in ("MISTRAL 7b", "mistral 7B v0.1", "unheard of")]
    found = store.named(keys)
    assert {k: {e.id for e in found[k]} for k in found} == {
        keys[0]: {mistral.id, homonym.id},
        keys[1]: {mistral.id},
    }
    assert found[keys[1]] == [mistral]
    assert sorted(store.names()) == sorted(
        [
            ("Mistral 7B", mistral.id, "Model"),
            ("Mistral-7B-v0.1", mistral.id, "Model"),
            ("Mistral 7B", homonym.id, "Organization"),
        ]
    )
    assert store.named([]) == {}
    assert store.entities([]) == {}


def test_neighbours_are_the_triples_at_either_end(store: Store) -> None:
    derived = link(MISTRAL, "based_on", LLAMA)
    self_made = link(QWEN, "based_on", QWEN)
    store.write([says("a.md", QWEN, LLAMA, MISTRAL, ACME, MMLU, BETTER, MADE, LENGTH, derived, self_made)])
    around = sorted([BETTER, MADE, LENGTH, self_made], key=lambda t: t.id)
    assert store.neighbours([QWEN.id]) == around
    assert store.neighbours([QWEN.id, QWEN.id], limit=2) == around[:2]
    assert store.neighbours([ACME.id]) == [MADE]
    assert store.neighbours([MMLU.id]) == [], "the value of an attribute is no end"
    assert set(store.neighbours([QWEN.id, LLAMA.id])) == {*around, derived}
    assert store.neighbours(["nope"]) == []
    assert store.neighbours([]) == []


def test_quarantined_claims_come_back_whole(store: Store) -> None:
    late, early, other = refused("a.md", 9), refused("a.md", 2, word="dances"), refused("b.md", code="bad-value")
    twice = replace(other, message="said differently")
    store.write([says("a.md", late, early, late), says("b.md", other, twice)])
    assert list(store.quarantined("a.md")) == [early, late]
    assert list(store.quarantined("b.md")) == sorted([other, twice], key=lambda q: q.id)
    assert list(store.quarantined("nope.md")) == []
    assert len(list(store.quarantined())) == 4
    assert dict(store.counts().quarantined) == {"unknown-relation": 2, "bad-value": 2}
    assert store.documents()["a.md"].status == "quarantined"
    store.write([says("a.md", late)])
    assert list(store.quarantined("a.md")) == [late]


def test_counts_say_how_much_there_is(store: Store) -> None:
    store.write([says("a.md", QWEN, LLAMA, MMLU, ACME, BETTER, MADE, LENGTH), says("b.md", QWEN, LENGTH)])
    counts = store.counts()
    assert (counts.documents, counts.evidence) == (2, 4)
    assert counts.entities == {"Model": 2, "Organization": 1, "Benchmark": 1}
    assert dict(counts.triples) == {"superior_to": 1, "developed_by": 1, "context_length": 1}


def test_changes_name_what_a_projection_must_look_at(store: Store) -> None:
    store.write([says("a.md", QWEN, ACME, MADE)])
    store.write(
        [says("b.md", named("Model", "QWEN2", key="Qwen2")), says("c.md", named("Model", "QWEN2", key="Qwen2"))]
    )
    store.write([says("d.md", QWEN, ACME, MADE)])
    changes = list(store.changes(0))
    assert [c.number for c in changes] == [1, 2, 3]
    assert [c.documents for c in changes] == [("a.md",), ("b.md", "c.md"), ("d.md",)]
    assert changes[1].entities == (QWEN.id,)
    assert changes[1].triples == ()
    assert changes[2].entities == tuple(sorted((QWEN.id, ACME.id)))
    assert changes[2].triples == (MADE.id,)
    assert [c.number for c in store.changes(2)] == [3]
    assert list(store.changes(3)) == []
    assert all(abs(datetime.now(UTC) - c.time) < timedelta(hours=1) for c in changes)
    assert store.change_times() == [(c.number, c.time) for c in changes]


def test_documents_that_say_nothing_are_there_all_the_same(store: Store) -> None:
    assert store.write([says("a.md"), says("empty.md", text=" ")]) == 1
    assert [s.status for s in store.documents().values()] == ["empty", "empty"]
    assert next(iter(store.changes(0))).documents == ("a.md", "empty.md")


# What a store refuses


@pytest.mark.parametrize(
    ("extraction", "reason"),
    [
        (says("a.md", QWEN, MADE), "is not among the entities"),
        (says("a.md", ACME, MADE), "is not among the entities"),
        (says("a.md", QWEN, LLAMA, BETTER), f"'{MMLU.id}' is not among the entities"),
        (says("a.md", QWEN, ACME, MADE, span(MADE, "a.md", 3, 99)), "span 3-99 is not within the text"),
        (says("a.md", QWEN, ACME, MADE, span(MADE, "a.md", 3, 3)), "span 3-3 is not within the text"),
        (says("a.md", QWEN, ACME, MADE, span(MADE, "a.md", -1, 3)), "span -1-3 is not within the text"),
        (says("a.md", QWEN, ACME, MADE, span(MADE, "b.md")), "evidence in another document, 'b.md'"),
        (says("a.md", QWEN, ACME, span(MADE, "a.md")), "which is not given"),
        (replace(says("a.md", QWEN, ACME, MADE), evidence=()), "no evidence for"),
        (says("a.md", QWEN, ACME, MADE, span(MADE, "a.md", confidence=float("nan"))), "is not between 0 and 1"),
        (says("a.md", refused("b.md")), "quarantined claim of another document, 'b.md'"),
        (says("a.md", QWEN, replace(QWEN, name="qwen")), "is given twice, differently"),
        (says("a.md", replace(QWEN, type="Animal")), "'Animal' is no type of ontology"),
        (says("a.md", replace(QWEN, name=" ")), "is blank"),
        (says("a.md", replace(QWEN, name="half \ud800 pair")), "surrogates not allowed"),
        (says(" ", QWEN), "the document has no id"),
        (says("a.md", QWEN, ACME, link(ACME, "developed_by", QWEN)), "is not what the ontology allows"),
        (says("a.md", QWEN, ACME, link(QWEN, "sings", ACME)), "neither a relation nor an attribute of Model"),
        (says("a.md", QWEN, literal(QWEN, "context_length", "128K")), "'128K' is no integer"),
        (says("a.md", QWEN, literal(QWEN, "context_length", True)), "True is no integer"),
        (says("a.md", QWEN, literal(QWEN, "hardware.gpu_memory", float("inf"))), "inf is not finite"),
        (says("a.md", QWEN, literal(QWEN, "developed_by", "Acme")), "is not among the entities"),
        (says("a.md", QWEN, LLAMA, beats(QWEN, LLAMA, ("speed", 3))), "superior_to has no attribute 'speed'"),
        (
            says("a.md", QWEN, LLAMA, beats(QWEN, LLAMA, ("attempts", 3), ("attempts", 4))),
            "superior_to.attempts is given twice",
        ),
    ],
)  # fmt: skip
def test_an_extraction_that_does_not_hold_is_a_bug_of_the_caller(
    store: Store, extraction: Extraction, reason: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        store.write([says("good.md", QWEN), extraction])
    assert store.last_change() == 0
    assert store.documents() == {}


def test_one_write_takes_a_document_once(store: Store) -> None:
    with pytest.raises(ValueError, match=r"documents: 'a\.md' is given twice, differently"):
        store.write([says("a.md", QWEN), says("a.md", LLAMA)])


def test_an_entity_keeps_its_type(store: Store) -> None:
    store.write([says("a.md", QWEN)])
    with pytest.raises(ValueError, match="is a Model, not a Organization"):
        store.write([says("b.md", replace(QWEN, type="Organization"))])
    assert list(store.documents()) == ["a.md"]
