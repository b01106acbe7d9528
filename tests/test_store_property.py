"""Random histories of writing, deleting, merging and taking back, lived through by each store and by the reference.

Every answer is the same, those about the past included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from graph_examples import ONTOLOGY, beats, link, literal, named, ref, refused, says, span
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from reference_store import ReferenceStore
from stores_under_test import MAKERS, content, everything, history, merges

from graph.store import Store
from ontoloom.errors import StoreError
from ontoloom.records import Entity, Evidence, Extraction, Failure, Triple

DOCUMENTS = [f"d{i}" for i in range(5)]
MODELS = [named("Model", name) for name in ("A", "B", "C")]
MAKERS_OF = [named("Organization", name) for name in ("A", "B")]
BENCHMARKS = [named("Benchmark", name) for name in ("D", "E")]
ENTITIES = [*MODELS, *MAKERS_OF, *BENCHMARKS]
IDS = [entity.id for entity in ENTITIES]
SPELLINGS = ["A", "a", "B", "x", "🙂"]


@dataclass(frozen=True, slots=True)
class Write:
    extractions: tuple[Extraction, ...]


@dataclass(frozen=True, slots=True)
class Delete:
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergeThem:
    entity: str
    into: str


@dataclass(frozen=True, slots=True)
class Unmerge:
    entity: str


Step = Write | Delete | MergeThem | Unmerge


@st.composite
def triples(draw: st.DrawFn) -> Triple:
    subject, target = draw(st.sampled_from(MODELS)), draw(st.sampled_from(MODELS))
    kind = draw(st.sampled_from(["superior_to", "developed_by", "hardware.gpu_memory", "training_method", "released"]))
    if kind == "superior_to":
        attributes: list[tuple[str, Any]] = []
        if draw(st.booleans()):
            attributes.append(("benchmark", ref(draw(st.sampled_from(BENCHMARKS)))))
        attributes += [("score_delta", draw(st.sampled_from([1, 1.0, 2.5])))] * draw(st.integers(0, 1))
        attributes += [("notes", note) for note in draw(st.lists(st.sampled_from("xy"), max_size=2))]
        attributes += [("attempts", draw(st.sampled_from([0, 2**63, -(10**30)])))] * draw(st.integers(0, 1))
        attributes += [("measured", date(2024, 5, 1))] * draw(st.integers(0, 1))
        return beats(subject, target, *attributes)
    if kind == "developed_by":
        return link(subject, kind, draw(st.sampled_from(MAKERS_OF)))
    values: dict[str, list[Any]] = {
        "hardware.gpu_memory": [80, 80.0, 0.5],
        "training_method": ["DPO", "SFT"],
        "released": [date(1, 1, 1)],
    }
    return literal(subject, kind, draw(st.sampled_from(values[kind])))


@st.composite
def extractions(draw: st.DrawFn, document: str) -> Extraction:
    stated: dict[str, Triple] = {t.id: t for t in draw(st.lists(triples(), max_size=5))}
    entities: list[Entity] = []
    for entity in ENTITIES:
        needed = any(entity.id in repr(triple) for triple in stated.values())
        if needed or draw(st.integers(0, 3)) == 0:
            name = draw(st.sampled_from(SPELLINGS))
            aliases = tuple(draw(st.lists(st.sampled_from(SPELLINGS), max_size=2)))
            page = document if draw(st.integers(0, 3)) == 0 else None
            entities.append(replace(entity, name=name, aliases=aliases, page=page))
    evidence: dict[str, Evidence] = {}
    for triple in stated.values():
        for start in draw(st.sets(st.integers(0, 1), min_size=1, max_size=2)):
            confidence = draw(st.sampled_from([0, 0.5]))
            piece = span(triple, document, start, start + 2, confidence=confidence)
            evidence[piece.id] = piece
    other = [refused(document, start) for start in draw(st.sets(st.integers(0, 2), max_size=2))]
    failures = [Failure("0-2", "timeout", draw(st.sampled_from("mn")))] * draw(st.integers(0, 1))
    return says(
        document,
        *entities,
        *stated.values(),
        *evidence.values(),
        *other,
        *failures,
        kind=draw(st.sampled_from(["document", "page"])),
        text=draw(st.sampled_from(["some text", "other text"])),
        fingerprint=draw(st.sampled_from("fg")),
    )


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """One thing to do; what cannot be done just then is refused, and by every store with the same code."""
    kind = draw(st.sampled_from(["write", "write", "write", "delete", "merge", "merge", "unmerge"]))
    if kind == "merge":
        same_type = draw(st.sampled_from([MODELS, MODELS, MAKERS_OF, BENCHMARKS, ENTITIES]))
        return MergeThem(draw(st.sampled_from(same_type)).id, draw(st.sampled_from(same_type)).id)
    if kind == "unmerge":
        return Unmerge(draw(st.sampled_from(IDS)))
    chosen = sorted(draw(st.sets(st.sampled_from(DOCUMENTS), min_size=1, max_size=3)))
    if kind == "delete":
        return Delete(tuple(chosen))
    return Write(tuple(draw(extractions(document)) for document in chosen))


histories = st.lists(steps(), min_size=1, max_size=8)


def take(store: Store, step: Step) -> int | str | None:
    """The change number that a step comes to, or the code with which it is refused."""
    try:
        match step:
            case Write(given):
                return store.write(given)
            case Delete(documents):
                return store.delete(documents)
            case MergeThem(entity, into):
                return store.merge(entity, into, reason="random")
            case Unmerge(entity):
                return store.unmerge(entity)
    except StoreError as error:
        return error.code


def emptied(store: Store) -> int:
    """Empties a store that others have used, which is cheaper than to make one; its last change is the new zero."""
    store.delete(list(store.documents()))
    for merge in store.merges():
        if merge.undone is None:
            store.unmerge(merge.entity)
    return store.last_change()


@pytest.fixture(scope="module", params=[name for name in MAKERS if name != "reference"])
def used_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with MAKERS[request.param](request, tmp_path_factory.mktemp("property") / "store") as store:
        yield store


EXAMPLES = {"ladybug": 40, "ladybug-copy": 8, "neo4j": 15}
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def examples_of(request: pytest.FixtureRequest) -> settings:
    return settings(UNHURRIED, max_examples=EXAMPLES[request.node.callspec.params["used_store"]])


def test_every_answer_is_the_references(used_store: Store, request: pytest.FixtureRequest) -> None:
    @examples_of(request)
    @given(past=histories, data=st.data())
    def lived_through(past: list[Step], data: st.DataObject) -> None:
        reference = compare(used_store, past)
        limit = data.draw(st.integers(0, 5))
        some = data.draw(st.lists(st.sampled_from([*IDS, "nope"]), max_size=3))
        assert used_store.neighbours(some, limit=limit) == reference.neighbours(some, limit=limit)
        assert used_store.entities(some) == reference.entities(some)

    lived_through()


def compare(store: Store, past: Sequence[Step]) -> ReferenceStore:
    """Has a store and the reference live through the same, and compares all that they answer."""
    start, reference = emptied(store), ReferenceStore(ONTOLOGY)
    for step in past:
        note(f"step: {step}")
        came, expected = take(store, step), take(reference, step)
        assert (came - start if isinstance(came, int) else came) == expected
    found, answers = everything(store, since=start), everything(reference)
    for question, answer in answers.items():
        assert found[question] == answer, question
    assert merges(store, since=start) == merges(reference)
    for then, expected_then in zip(history(store, since=start), history(reference), strict=True):
        assert then == expected_then
    return reference


def test_what_a_store_holds_depends_on_what_remains_alone(used_store: Store, request: pytest.FixtureRequest) -> None:
    """Documents in any order, merges before or after them: the same, without a trace of what is gone."""

    @examples_of(request)
    @given(past=histories, data=st.data())
    def lived_through(past: list[Step], data: st.DataObject) -> None:
        emptied(used_store)
        for step in past:
            take(used_store, step)
        found, holding = content(used_store), [m for m in used_store.merges() if m.undone is None]
        remaining = list(used_store.extractions())
        emptied(used_store)
        later = data.draw(st.sets(st.sampled_from(DOCUMENTS)))
        needed = [MODELS, MAKERS_OF, BENCHMARKS]
        used_store.write([says("scaffold", *(entity for group in needed for entity in group))])
        for merge in holding:
            used_store.merge(merge.entity, merge.into)
        for extraction in data.draw(st.permutations([e for e in remaining if e.document.id not in later])):
            used_store.write([extraction])
        used_store.write([e for e in remaining if e.document.id in later])
        used_store.delete(["scaffold"])
        assert content(used_store) == found

    lived_through()


def test_digests_are_the_same_in_every_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A golden value: what a digest is made of is not to change unawares."""
    folder: Path = tmp_path_factory.mktemp("digests")
    qwen, llama, mmlu = MODELS[0], MODELS[1], BENCHMARKS[0]
    better = beats(qwen, llama, ("benchmark", ref(mmlu)), ("score_delta", 2.3))
    documents = [
        says("a.md", qwen, llama, mmlu, better, Failure("0-5", "timeout", "after 3.2 s")),
        says("b.md", replace(qwen, name="a", aliases=("Q2",), page="b.md"), literal(qwen, "open", True), kind="page"),
    ]
    digests = {}
    for name, maker in MAKERS.items():
        with maker(request, folder / name) as store:
            store.write(documents)
            apart = store.digest()
            store.merge(llama.id, qwen.id)
            digests[name] = (apart, store.digest())
    golden = ("c4115b935abf8152632ed54a5e8fff3f", "389db60a20eae0dab02bcac31b919533")
    assert digests == dict.fromkeys(MAKERS, golden)
