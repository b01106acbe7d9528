"""What merges, and taking them back, do to a graph; and what a store still knows of how it was. Over every store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from graph_examples import beats, link, literal, named, ref, refused, says, span
from stores_under_test import MakeStore, content, everything, history, merges, rows, unordered

from graph.store import Store
from ontoloom.errors import StoreError
from ontoloom.names import name_key
from ontoloom.records import Entity, Triple

A, B, C = (named("Model", name) for name in "ABC")
ACME, EMCA = named("Organization", "Acme"), named("Organization", "Emca")
MMLU, GSM = named("Benchmark", "MMLU"), named("Benchmark", "GSM8K")
A_MADE, B_MADE = link(A, "developed_by", ACME), link(B, "developed_by", ACME)


def refusal(call: Callable[[], object]) -> str | None:
    with pytest.raises(StoreError) as caught:
        call()
    return caught.value.code


# Merging


def test_what_is_said_of_a_merged_entity_is_said_of_the_other(store: Store) -> None:
    store.write(
        [says("a.md", named("Model", "A", "Aa"), C, ACME, A_MADE, link(C, "based_on", A), literal(A, "open", True))]
    )
    store.write([says("b.md", B, ACME, B_MADE)])
    assert store.merge(A.id, B.id, reason="one paper says so") == 3
    assert store.entities([A.id, B.id]) == {B.id: Entity(B.id, "Model", "A", ("Aa", "B"))}
    assert store.named([name_key("Aa")]) == {"aa": [Entity(B.id, "Model", "A", ("Aa", "B"))]}
    assert {(name, entity) for name, entity, _ in store.names()} >= {("A", B.id), ("Aa", B.id), ("B", B.id)}
    around = {t.id: t for t in (B_MADE, link(C, "based_on", B), literal(B, "open", True))}
    assert {t.id: t for t in store.neighbours([B.id])} == around
    assert store.neighbours([A.id]) == []
    assert store.triples([A_MADE.id]) == {}
    assert store.evidence([B_MADE.id]) == {B_MADE.id: [span(B_MADE, "a.md"), span(B_MADE, "b.md")]}
    assert [r["documents"] for r in rows(store.scan_entities(ids=[B.id]))] == [["a.md", "b.md"]]
    assert dict(store.counts().triples) == {"developed_by": 1, "based_on": 1, "open": 1}
    assert store.counts().entities["Model"] == 2
    assert merges(store) == [(A.id, B.id, "Model", "A", "one paper says so", 3, None)]
    change = next(iter(store.changes(2)))
    assert change.documents == ()
    assert set(change.entities) == {A.id, B.id}
    assert set(change.triples) == {
        A_MADE.id,
        B_MADE.id,
        *around,
        link(C, "based_on", A).id,
        literal(A, "open", True).id,
    }
    assert {r["id"]: r["updated"] for r in rows(store.scan_entities())} == {B.id: 3, C.id: 1, ACME.id: 2}


def test_a_merge_that_is_taken_back_leaves_no_trace_in_the_graph(store: Store) -> None:
    store.write([says("a.md", A, B, C, ACME, A_MADE, beats(A, B), beats(B, C), refused("a.md"))])
    store.write([says("b.md", named("Model", "Bee", key="B", page="b.md"), ACME, B_MADE, kind="page")])
    before = content(store)
    store.merge(B.id, A.id)
    assert store.entities([A.id])[A.id] == Entity(A.id, "Model", "Bee", ("A", "B"), "b.md")
    assert store.digest() != before["digest"]
    assert store.unmerge(B.id) == 4
    assert content(store) == before
    assert merges(store) == [(B.id, A.id, "Model", "Bee", "", 3, 4)]
    assert store.merge(A.id, B.id) == 5
    assert merges(store)[1:] == [(A.id, B.id, "Model", "A", "", 5, None)]


def test_what_a_merge_cannot_join_is_refused_and_changes_nothing(store: Store) -> None:
    store.write([says("a.md", A, B, C, ACME, MMLU)])
    store.merge(C.id, B.id)
    before = everything(store)
    assert refusal(lambda: store.merge("nope", A.id)) == "unknown-entity"
    assert refusal(lambda: store.merge(A.id, "nope")) == "unknown-entity"
    assert refusal(lambda: store.merge("nope", "nope")) == "unknown-entity"
    assert refusal(lambda: store.merge(A.id, ACME.id)) == "merge-types"
    assert refusal(lambda: store.merge(A.id, A.id)) == "merge-same"
    assert refusal(lambda: store.merge(C.id, A.id)) == "unknown-entity", "it is not in the graph while it is merged"
    assert refusal(lambda: store.merge(A.id, C.id)) == "unknown-entity"
    assert refusal(lambda: store.unmerge(A.id)) == "not-merged"
    assert refusal(lambda: store.unmerge(B.id)) == "not-merged"
    assert refusal(lambda: store.unmerge("nope")) == "not-merged"
    assert everything(store) == before
    store.unmerge(C.id)
    assert refusal(lambda: store.unmerge(C.id)) == "not-merged"
    assert store.last_change() == 3


def test_a_merge_into_what_is_merged_afterwards_goes_with_it(store: Store) -> None:
    made = {entity.id: link(entity, "developed_by", ACME) for entity in (A, B, C)}
    store.write([says(f"{e.name}.md", e, ACME, made[e.id]) for e in (A, B, C)])
    apart = content(store)
    store.merge(B.id, A.id)
    b_is_a = content(store)
    store.merge(A.id, C.id)
    assert store.entities([A.id, B.id, C.id]).keys() == {C.id}
    assert store.evidence([made[C.id].id])[made[C.id].id] == [span(made[C.id], f"{name}.md") for name in "ABC"]
    store.unmerge(B.id)
    assert store.entities([A.id, B.id, C.id]).keys() == {B.id, C.id}
    assert [e.document for e in store.evidence([made[C.id].id])[made[C.id].id]] == ["A.md", "C.md"]
    store.unmerge(A.id)
    assert content(store) == apart
    store.merge(B.id, A.id)
    store.merge(A.id, C.id)
    store.unmerge(A.id)
    assert content(store) == b_is_a


def test_a_merge_holds_for_documents_written_later(make_store: MakeStore) -> None:
    documents = [says("a.md", A, ACME, A_MADE), says("b.md", B, ACME, B_MADE), says("c.md", A, C, beats(A, C))]
    late = make_store()
    late.write(documents[:2])
    late.merge(A.id, B.id)
    late.write(documents[2:])
    change = next(iter(late.changes(2)))
    assert (change.documents, set(change.entities)) == (("c.md",), {B.id, C.id})
    assert change.triples == (beats(B, C).id,)
    found = content(late)
    late.delete(["a.md", "b.md", "c.md"])
    assert rows(late.scan_entities()) == []
    late.write(documents)
    assert content(late) == found, "the merge outlives the documents that named what it merged"
    late.write([says("c.md")])
    late.write(documents[2:])
    assert content(late) == found
    early = make_store()
    early.write(documents)
    early.merge(A.id, B.id)
    assert content(early) == found


def test_a_merge_that_no_document_feels_can_be_taken_back(store: Store) -> None:
    store.write([says("a.md", A, B)])
    store.merge(A.id, B.id)
    store.delete(["a.md"])
    assert store.unmerge(A.id) == 4
    change = next(iter(store.changes(3)))
    assert (change.documents, change.entities, change.triples) == ((), (), ())
    store.write([says("a.md", A)])
    assert store.entities([A.id, B.id]).keys() == {A.id}


def test_what_comes_back_of_a_merged_entity_is_the_other(store: Store) -> None:
    store.write([says("a.md", A, B)])
    store.merge(A.id, B.id)
    store.delete(["a.md"])
    store.write([says("b.md", A, ACME, A_MADE)])
    assert store.entities([A.id, B.id]) == {B.id: Entity(B.id, "Model", "A")}
    assert store.neighbours([B.id]) == [B_MADE]
    with pytest.raises(ValueError, match="is a Model, not a Organization"):
        store.write([says("c.md", replace(A, type="Organization"))])
    with pytest.raises(ValueError, match="is a Model, not a Organization"):
        store.write([says("c.md", replace(B, type="Organization"))])


# What follows from several namings and statements


def test_each_naming_counts_also_two_of_one_document(store: Store) -> None:
    def spelled(entity: Entity, name: str) -> Entity:
        return replace(entity, name=name)

    store.write([says("a.md", spelled(A, "Z"), spelled(B, "Z")), says("b.md", spelled(B, "Y"))])
    store.merge(A.id, B.id)
    assert store.entities([B.id])[B.id].name == "Z", "two of three say so, though one document"
    store.write([says("c.md", spelled(A, "Y"))])
    assert store.entities([B.id])[B.id].name == "Y"
    store.unmerge(A.id)
    assert {e.name for e in store.entities([A.id, B.id]).values()} == {"Y"}
    assert [r["documents"] for r in rows(store.scan_entities(ids=[B.id]))] == [["a.md", "b.md"]]


def scored(subject: Entity, delta: float, *more: tuple[str, Any]) -> Triple:
    return beats(subject, C, ("score_delta", delta), *more)


def test_each_statement_counts_also_two_of_one_document(store: Store) -> None:
    def delta() -> Any:
        return dict(store.triples([beats(B, C).id])[beats(B, C).id].attributes)["score_delta"]

    store.write([says("a.md", A, B, C, scored(A, 2), scored(B, 2)), says("b.md", B, C, scored(B, 1))])
    assert delta() == 1
    store.merge(A.id, B.id)
    assert delta() == 2
    store.write([says("c.md", A, C, scored(A, 1))])
    assert delta() == 1
    store.write([says("wiki.md", A, C, scored(A, 7), kind="page")])
    assert delta() == 7
    store.unmerge(A.id)
    assert delta() == 1


def test_equal_evidence_of_merged_triples_is_one_piece(store: Store) -> None:
    pieces = span(A_MADE, "a.md"), span(B_MADE, "a.md"), span(B_MADE, "a.md", 2, 6), span(A_MADE, "a.md", 3, 6)
    store.write([says("a.md", A, B, ACME, A_MADE, B_MADE, *pieces)])
    assert store.counts().evidence == 4
    store.merge(A.id, B.id)
    assert store.evidence([B_MADE.id])[B_MADE.id] == [
        span(B_MADE, "a.md"), span(B_MADE, "a.md", 2, 6), span(B_MADE, "a.md", 3, 6),
    ]  # fmt: skip
    assert store.counts().evidence == 4, "pieces are counted as documents gave them"
    assert rows(store.scan_triples())[0]["evidence"] == ["a.md:0-5", "a.md:2-6", "a.md:3-6"]
    store.unmerge(A.id)
    assert store.evidence([A_MADE.id])[A_MADE.id] == [span(A_MADE, "a.md"), span(A_MADE, "a.md", 3, 6)]


def test_evidence_that_differs_in_confidence_alone_is_two_pieces(store: Store) -> None:
    pieces = span(A_MADE, "a.md", confidence=0.5), span(B_MADE, "a.md", confidence=0.75)
    store.write([says("a.md", A, B, ACME, A_MADE, B_MADE, *pieces)])
    store.merge(A.id, B.id)
    moved = replace(pieces[0], triple=B_MADE.id)
    assert store.evidence([B_MADE.id])[B_MADE.id] == [moved, pieces[1]]
    assert rows(store.scan_triples())[0]["evidence"] == ["a.md:0-5"]
    assert rows(store.scan_triples())[0]["confidence"] == 0.75


def test_references_in_attributes_are_merged_too(store: Store) -> None:
    on_mmlu, on_gsm = scored(A, 1, ("benchmark", ref(MMLU))), scored(A, 2, ("benchmark", ref(GSM)))
    store.write([says("a.md", A, C, MMLU, GSM, on_mmlu, on_gsm)])
    before = content(store)
    store.merge(GSM.id, MMLU.id)
    assert {t.id for t in store.neighbours([A.id])} == {on_mmlu.id}
    assert store.triples([on_mmlu.id])[on_mmlu.id] == on_mmlu
    assert len(store.evidence([on_mmlu.id])[on_mmlu.id]) == 1, "two equal spans of one document"
    store.unmerge(GSM.id)
    assert content(store) == before
    store.merge(MMLU.id, GSM.id)
    merged = store.triples([on_gsm.id])[on_gsm.id]
    assert dict(merged.attributes)["benchmark"] == ref(GSM)


def test_a_triple_between_two_that_are_one_now_stays(store: Store) -> None:
    derived = link(A, "based_on", B)
    store.write([says("a.md", A, B, derived)])
    store.merge(A.id, B.id)
    itself = link(B, "based_on", B)
    assert store.neighbours([B.id]) == [itself]
    assert store.evidence([itself.id])[itself.id] == [span(itself, "a.md")]
    store.unmerge(A.id)
    assert store.neighbours([B.id]) == [derived]


def test_quarantined_claims_and_documents_know_nothing_of_merges(store: Store) -> None:
    given = [says("a.md", A, B, ACME, A_MADE, refused("a.md")), says("b.md", refused("b.md", 3))]
    store.write(given)
    before = everything(store)
    store.merge(A.id, B.id)
    after = everything(store)
    for kind in ("documents", "texts", "said", "quarantined"):
        assert after[kind] == before[kind], kind
    assert store.write(given) == 2, "what is given as it was is unchanged"


# History


def test_a_store_knows_what_was_said_after_each_change(store: Store) -> None:
    store.write([says("a.md", A, ACME, A_MADE)])
    store.write([says("b.md", B, ACME, B_MADE), says("a.md", named("Model", "a", key="A"), fingerprint="f2")])
    store.merge(A.id, B.id)
    store.write([says("c.md", A, ACME, A_MADE, kind="page")])
    store.delete(["b.md"])
    store.unmerge(A.id)
    store.write([says("a.md", A, ACME, A_MADE)])

    def known(at: int) -> tuple[set[tuple[str, str, str]], set[tuple[str, bool, str]]]:
        namings, statings = rows(store.scan_namings(at)), rows(store.scan_statings(at))
        return {(r["document"], r["entity"], r["name"]) for r in namings if r["type"] == "Model"}, {
            (r["document"], r["page"], r["triple"]) for r in statings
        }

    assert known(0) == (set(), set())
    assert known(1) == ({("a.md", A.id, "A")}, {("a.md", False, A_MADE.id)})
    assert known(2) == ({("a.md", A.id, "a"), ("b.md", B.id, "B")}, {("b.md", False, B_MADE.id)})
    assert known(3) == ({("a.md", B.id, "a"), ("b.md", B.id, "B")}, {("b.md", False, B_MADE.id)})
    assert known(4) == (
        {("a.md", B.id, "a"), ("b.md", B.id, "B"), ("c.md", B.id, "A")},
        {("b.md", False, B_MADE.id), ("c.md", True, B_MADE.id)},
    )
    assert known(5) == ({("a.md", B.id, "a"), ("c.md", B.id, "A")}, {("c.md", True, B_MADE.id)})
    assert known(6) == ({("a.md", A.id, "a"), ("c.md", A.id, "A")}, {("c.md", True, A_MADE.id)})
    assert {(r["said"], r["triple"]) for r in rows(store.scan_statings(4))} == {
        (A_MADE.id, B_MADE.id), (B_MADE.id, B_MADE.id),
    }  # fmt: skip
    assert known(7)[1] == {("c.md", True, A_MADE.id), ("a.md", False, A_MADE.id)}
    assert [len(entry[4]) for entry in history(store)] == [2, 3, 3, 5, 3, 3, 4]


def test_history_has_all_that_a_row_is_made_of(store: Store) -> None:
    corrected = scored(A, 2.5, ("benchmark", ref(MMLU)), ("notes", 'say "x"'))
    store.write(
        [says("a.md", named("Model", "A", "z", "y", page="a.md"), C, MMLU, corrected, span(corrected, "a.md", 1, 4))]
    )
    naming = next(r for r in rows(store.scan_namings(1)) if r["entity"] == A.id)
    assert naming == {
        "document": "a.md", "defines": True, "entity": A.id, "type": "Model", "name": "A", "aliases": ["y", "z"],
    }  # fmt: skip
    expected = {
        "document": "a.md", "page": False, "triple": corrected.id, "said": corrected.id, "subject": A.id,
        "subject_type": "Model",
        "relation": "superior_to", "object": C.id, "object_type": "Model", "value": None, "kind": "entity",
        "attributes": f'{{"benchmark":{{"@":"{MMLU.id}"}},"notes":"say \\"x\\"","score_delta":2.5}}',
        "identifying": "benchmark", "start": 1, "end": 4, "confidence": 0.9,
    }  # fmt: skip
    assert rows(store.scan_statings(1)) == [expected]
    store.delete(["a.md"])
    assert (rows(store.scan_statings(1)), rows(store.scan_statings(2))) == ([expected], [])
    assert naming in rows(store.scan_namings(1))
    assert rows(store.scan_namings(2)) == []


def test_rows_of_the_past_hold_what_may_be_in_a_value(store: Store) -> None:
    lengths = [literal(A, "motto", "line\nbreak \x00 'q' \"d\" \\ 🙂"), literal(A, "hardware.gpu_memory", 0.1)]
    store.write(
        [says("a.md", replace(A, aliases=("it's", "\u202eb")), *lengths, span(lengths[1], "a.md", confidence=1 / 3))]
    )
    before = unordered(store.scan_namings(1)), unordered(store.scan_statings(1))
    store.delete(["a.md"])
    assert (unordered(store.scan_namings(1)), unordered(store.scan_statings(1))) == before
    assert {r["value"] for r in before[1]} == {lengths[0].object, "0.1"}


def test_what_stays_said_is_kept_once(store: Store) -> None:
    store.write([says("a.md", A, ACME, A_MADE)])
    for turn in range(3):
        store.write([says("a.md", A, ACME, A_MADE, fingerprint=f"g{turn}")])
    assert [len(entry[5]) for entry in history(store)] == [1, 1, 1, 1]
