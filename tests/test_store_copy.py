"""A graph moved from store to store: whole, resumable, and compared at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from graph_examples import ONTOLOGY, beats, link, literal, make_ontology, named, ref, refused, says, span
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference_store import ReferenceStore
from stores_under_test import MAKERS, MakeStore, content, merges
from test_store_property import histories, take

import graph.copy
from graph.copy import Copied, copy
from graph.open import open_store
from graph.store import Store
from ontoloom.errors import StoreError
from ontoloom.progress import Progress
from ontoloom.records import Extraction, Failure

A, B, C, D = (named("Model", name) for name in "ABCD")
ACME, MMLU = named("Organization", "Acme"), named("Benchmark", "MMLU")


def a_graph(store: Store) -> Store:
    """Something of everything, with merges: one into another, one that was taken back, one that no document feels."""
    better = beats(B, C, ("benchmark", ref(MMLU)), ("score_delta", 2.0), ("notes", "b"), ("notes", "a"))
    store.write(
        [
            says("a.md", replace(A, aliases=("Aa", "a")), ACME, link(A, "developed_by", ACME), refused("a.md")),
            says("b.md", replace(B, page="b.md"), C, MMLU, better, span(better, "b.md", 2, 6), kind="page"),
            says("c.md", C, literal(C, "hardware.gpu_memory", 80.0), Failure("0-3", "timeout", "3 s"), fingerprint="g"),
            says("d.md", D),
        ]
    )
    store.merge(D.id, A.id, reason="a table")
    store.merge(A.id, B.id, reason="a person")
    store.merge(C.id, B.id)
    store.unmerge(C.id)
    store.delete(["d.md"])
    return store


@pytest.fixture
def source() -> Store:
    return a_graph(ReferenceStore(ONTOLOGY))


def without_past(store: Store) -> list[tuple[object, ...]]:
    return [m[:5] for m in merges(store) if m[6] is None]


def test_a_copy_is_the_same_graph(source: Store, store: Store) -> None:
    copied = copy(source, store)
    assert copied == Copied(3, 0, 0, 2, source.digest())
    assert content(store) == content(source)
    assert without_past(store) == [(D.id, A.id, "Model", "D", "a table"), (A.id, B.id, "Model", "A", "a person")]
    last = store.last_change()
    assert copy(source, store) == Copied(0, 3, 0, 0, source.digest())
    assert store.last_change() == last, "what is there is left alone"
    store.unmerge(A.id)
    source.unmerge(A.id)
    assert content(store) == content(source)


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "reference"])
def test_every_store_can_be_the_source(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    with MAKERS[name](request, tmp_path / "source") as source:
        a_graph(source)
        target = ReferenceStore(ONTOLOGY)
        assert copy(source, target).written == 3
        assert content(target) == content(source)


def test_a_merge_of_what_is_gone_still_holds_in_the_copy(make_store: MakeStore) -> None:
    source = ReferenceStore(ONTOLOGY)
    source.write([says("a.md", A, B)])
    source.merge(A.id, B.id)
    source.delete(["a.md"])
    target = make_store()
    assert copy(source, target).merges == 1
    assert target.documents() == {}
    for store in (source, target):
        store.write([says("b.md", A, literal(A, "open", True))])
    assert target.entities([A.id, B.id]).keys() == {B.id}
    assert content(target) == content(source)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(past=histories, more=histories, with_target=st.booleans())
def test_whatever_happened_to_either_the_copy_is_the_source(past: list, more: list, with_target: bool) -> None:  # type: ignore[type-arg]  # steps of histories
    source, target = ReferenceStore(ONTOLOGY), ReferenceStore(ONTOLOGY)
    for step in past:
        take(source, step)
        if with_target:
            take(target, step)
    for step in more:
        take(target, step)
    copy(source, target, replace=True)
    assert content(target) == content(source)
    assert {m[:3] for m in without_past(target)} == {m[:3] for m in without_past(source)}
    assert copy(source, target).written == 0


# Cut off


class Failing(ReferenceStore):
    """A store whose process is killed after so many transactions."""

    def __init__(self, lives: int) -> None:
        super().__init__(ONTOLOGY)
        self.lives = lives

    def _live(self) -> None:
        if self.lives == 0:
            raise KeyboardInterrupt
        self.lives -= 1

    def write(self, extractions: Sequence[Extraction]) -> int:
        self._live()
        return super().write(extractions)

    def merge(self, entity: str, into: str, *, reason: str = "") -> int:
        self._live()
        return super().merge(entity, into, reason=reason)

    def delete(self, documents: Sequence[str]) -> int:
        self._live()
        return super().delete(documents)


@pytest.mark.parametrize("lives", range(7))
def test_a_copy_that_was_cut_off_goes_on(lives: int, source: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three documents, a document for the merges of what is gone, two merges, and that document's end."""
    monkeypatch.setattr(graph.copy, "ROWS", 1)
    target = Failing(lives)
    with pytest.raises(KeyboardInterrupt):
        copy(source, target)
    target.lives = 99
    copied = copy(source, target)
    assert copied.written == max(0, 3 - lives)
    assert content(target) == content(source)


def test_many_documents_go_in_many_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = ReferenceStore(ONTOLOGY), ReferenceStore(ONTOLOGY)
    source.write([says(f"{n:02}.md", A, literal(A, "context_length", n), text="x" * 100) for n in range(30)])
    monkeypatch.setattr(graph.copy, "CHARACTERS", 1000)
    monkeypatch.setattr(graph.copy, "READ", 7)
    seen: list[Progress] = []
    assert copy(source, target, on_progress=seen.append).written == 30
    assert [len(change.documents) for change in target.changes(0)] == [10, 10, 10]
    documents = [(p.done, p.total, p.detail) for p in seen if p.step == "copy documents"]
    assert documents == [(0, 30, ""), (10, 30, "09.md"), (20, 30, "19.md"), (30, 30, "29.md")]


# What is in the way


def change_it(change: Callable[[Store], object]) -> Store:
    target = a_graph(ReferenceStore(ONTOLOGY))
    change(target)
    return target


OTHER = {
    "a document that the source does not have, 'x.md', and 1 more": lambda s: s.write([says("x.md"), says("y.md")]),
    "a document that says something else in the source, 'c.md'": lambda s: s.write([says("c.md", C)]),
    "a merge that the source does not have, of 'C'": lambda s: s.merge(C.id, B.id),
}


@pytest.mark.parametrize("message", OTHER)
def test_what_the_source_does_not_have_is_an_error_or_makes_way(message: str, source: Store) -> None:
    target = change_it(OTHER[message])
    before = content(target)
    with pytest.raises(StoreError) as caught:
        copy(source, target)
    assert str(caught.value) == (
        f"the target holds {message} (copy with --replace to have the source's alone, or into an empty store)"
    )
    assert content(target) == before
    copied = copy(source, target, replace=True)
    assert copied.removed == (2 if "x.md" in message else 0)
    assert content(target) == content(source)


def test_merges_out_of_order_are_made_anew(source: Store) -> None:
    """The target knows the later of two merges; the earlier one can only be made before it."""
    target = ReferenceStore(ONTOLOGY)
    target.write(list(source.extractions()))
    target.merge(A.id, B.id)
    assert copy(source, target).merges == 2
    assert content(target) == content(source)
    assert without_past(target) == without_past(source)


def test_a_source_that_changes_meanwhile_is_noticed(source: Store) -> None:
    def on_progress(progress: Progress) -> None:
        if progress.step == "copy merges" and progress.done == progress.total:
            source.write([says("late.md", A)])
            source.delete(["late.md"])

    with pytest.raises(StoreError, match=r"the source changed while it was copied \(copy again\)"):
        copy(source, ReferenceStore(ONTOLOGY), on_progress=on_progress)


def test_a_copy_that_differs_is_noticed(source: Store) -> None:
    class Forgetful(ReferenceStore):
        def extractions(self, documents: Sequence[str] | None = None) -> Iterator[Extraction]:
            return (
                replace(one, entities=one.entities, triples=(), evidence=()) for one in super().extractions(documents)
            )

    forgetful = a_graph(Forgetful(ONTOLOGY))
    with pytest.raises(StoreError, match="the copy differs from its source") as caught:
        copy(forgetful, ReferenceStore(ONTOLOGY))
    assert caught.value.code == "copy-differs"


def test_what_the_ontology_has_no_word_for_is_said(source: Store, tmp_path: Path) -> None:
    narrower = make_ontology("2", types=(ONTOLOGY.types["Model"],), relations=())
    with (
        open_store(tmp_path / "narrower", narrower) as target,
        pytest.raises(StoreError, match=r"the target's ontology does not admit extraction of 'a\.md': 'Organization'"),
    ):
        copy(source, target)
