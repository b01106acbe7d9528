from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_parts import Pattern, companies, make_document, make_page
from reference_store import ReferenceStore

from ingest.column_mapping import read_mapping
from ingest.judge import Trust
from ingest.known import KnownNames
from ingest.lexicon import lexicon_of
from ingest.load import load
from ingest.loaded import Loaded, LoadFailure
from ingest.pipeline import ingest
from ingest.policy import Policy, default_policy
from ingest.read_rules import read_rules
from ingest.rules import RuleExtractor
from ingest.summary import Summary
from ontology.read import read_ontology
from ontoloom.errors import EngineError, InputError
from ontoloom.names import entity_id
from ontoloom.progress import Progress
from ontoloom.protocols import Reading
from ontoloom.records import Claim, Document, Extraction, Failure, Mention, Passage

ROOT = Path(__file__).resolve().parent.parent
ONTOLOGY = companies()
BASED = r"(?P<s>[A-Z]\w+) is in (?P<o>[A-Z]\w+)"


def reader() -> Pattern:
    return Pattern({"based_in": BASED, "founded": r"(?P<s>[A-Z]\w+) was founded in (?P<o>\w+)"}, types=VALUES)


VALUES = {"founded": (None, "value")}
DOCUMENTS = [
    make_document("Emca is in Oslo. Beta is in Rome.", name="a.txt"),
    make_document("Nothing is said here.", name="b.txt"),
    make_document("Acme was founded in antiquity.", name="c.txt"),
    make_document("Gamma is in Oslo.", name="d.txt", title="Acme"),
]
PAGES = [
    make_page("acme", "type: Company\nname: Acme Corp\naliases: [Emca, Acme]\nbased_in: oslo"),
    make_page("oslo", "type: City\nname: Oslo", "Acme is in Bonn. Gamma is in Rome."),
    make_page("gamma", "type: Company\nname: Gamma Ltd\nbeats: [acme]"),
]


class Linker:
    """An extractor that says of every known name where it is: it depends on the pages, as rules with slots do."""

    name = "linker"
    fingerprint = "linker"
    trust: Trust = "exact"

    def __init__(self, known: KnownNames) -> None:
        self._lexicon = lexicon_of(known)

    def extract(self, batch: Sequence[tuple[Document, Sequence[Passage]]]) -> list[Reading]:
        return [Reading(tuple(self._claims(passages))) for _, passages in batch]

    def _claims(self, passages: Sequence[Passage]) -> Iterator[Claim]:
        for passage in passages:
            found = self._lexicon.find(passage.text)
            for left, right in pairwise(found):
                start, end = passage.start + left.start, passage.start + right.end
                yield Claim(Mention(left.name), "based_in", Mention(right.name), start, end, self.name, "pair")


def linking(known: KnownNames) -> Policy:
    return default_policy(rules=[reader(), Linker(known)])


def run(store: ReferenceStore, loaded: Sequence[Loaded], *, batch: int = 64) -> Summary:
    return ingest(loaded, store, extractors=linking, batch_documents=batch)


def whole() -> str:
    store = ReferenceStore(ONTOLOGY)
    run(store, [*PAGES, *DOCUMENTS])
    return store.digest()


def test_every_document_is_counted_once_by_what_became_of_it() -> None:
    store = ReferenceStore(ONTOLOGY)
    failure = LoadFailure("e.txt", "empty", "the file is empty")
    bad = make_page("bad", "type: Nothing\nname: Bad")
    summary = run(store, [*DOCUMENTS, failure, DOCUMENTS[0], bad])
    assert summary.loaded == 7
    assert (summary.admitted, summary.empty, summary.quarantined, summary.failed) == (2, 1, 1, 3)
    assert [(f.document, f.code) for f in summary.failures] == [
        ("e.txt", "empty"),
        ("a.txt", "duplicate-id"),
        ("wiki/bad.md", "unknown-type"),
    ]
    assert summary.refused == {"bad-value": 1}
    assert summary.counts.documents == 4
    assert summary.triples == summary.evidence == 3


def test_a_second_run_reads_nothing_and_changes_nothing() -> None:
    store = ReferenceStore(ONTOLOGY)
    extractor = reader()
    policy = {"*": [extractor]}
    first = ingest([*PAGES, *DOCUMENTS], store, extractors=policy)
    digest, extractor.read = store.digest(), []
    second = ingest(iter([*DOCUMENTS, *PAGES]), store, extractors=policy)
    assert extractor.read == []
    assert (second.loaded, second.unchanged, second.triples) == (7, 7, 0)
    assert second.change == first.change == store.last_change()
    assert store.digest() == digest


def test_only_what_changed_is_read_again_and_what_it_no_longer_says_is_gone() -> None:
    store = ReferenceStore(ONTOLOGY)
    extractor = reader()
    ingest(DOCUMENTS, store, extractors={"*": [extractor]})
    extractor.read = []
    changed = make_document("Emca is in Bonn.", name="a.txt")
    summary = ingest([changed, *DOCUMENTS[1:]], store, extractors={"*": [extractor]})
    assert extractor.read == ["a.txt"]
    assert (summary.admitted, summary.unchanged) == (1, 3)
    assert {e.name for e in store.entities([entity_id("City", n) for n in ("Bonn", "Rome")]).values()} == {"Bonn"}


def test_another_ontology_policy_or_extractor_reads_everything_again() -> None:
    store = ReferenceStore(ONTOLOGY)
    ingest(DOCUMENTS, store, extractors={"*": [reader()]})
    other = Pattern({"based_in": BASED})
    assert ingest(DOCUMENTS, store, extractors={"*": [other]}).unchanged == 0
    assert ingest(DOCUMENTS, store, extractors={"body": [other]}).unchanged == 0
    assert ingest(DOCUMENTS, store, extractors={"body": [other]}).unchanged == 4
    store.ontology = replace(ONTOLOGY, hash="another")
    assert ingest(DOCUMENTS, store, extractors={"body": [other]}).unchanged == 0


def test_sections_go_to_their_extractors() -> None:
    titles, rest = Pattern({"based_in": BASED}), Pattern({"based_in": BASED})
    document = make_document("Beta is in Rome.", title="Acme is in Oslo")
    store = ReferenceStore(ONTOLOGY)
    ingest([document], store, extractors={"title": [titles], "*": [rest]})
    assert {document.text[e.start : e.end] for ev in store.evidence(_ids(store)).values() for e in ev} == {
        "Acme is in Oslo",
        "Beta is in Rome",
    }
    assert titles.read == rest.read == ["a.txt"]


def _ids(store: ReferenceStore) -> list[str]:
    return [i for batch in store.scan_triples() for i in batch["id"].to_pylist() if i]


# Order


@settings(max_examples=25, deadline=None)
@given(st.permutations([*PAGES, *DOCUMENTS]), st.integers(1, 7), st.lists(st.integers(0, 7), max_size=3))
def test_the_graph_does_not_depend_on_order_batches_or_runs(order: list[Document], batch: int, cuts: list[int]) -> None:
    store = ReferenceStore(ONTOLOGY)
    bounds = sorted({0, *cuts, len(order)})
    for start, end in pairwise(bounds):
        summary = run(store, order[start:end], batch=batch)
        assert summary.loaded == end - start
    assert store.digest() == whole()


def test_a_page_that_comes_later_is_understood_in_earlier_documents() -> None:
    store = ReferenceStore(ONTOLOGY)
    run(store, DOCUMENTS)
    assert store.named(["emca"])["emca"][0].id == entity_id("Company", "Emca")
    summary = run(store, PAGES)
    assert (summary.loaded, summary.admitted) == (3, 3)
    assert summary.reread == 3, "a.txt by its alias, c.txt and d.txt by the page's name; b.txt names nothing known"
    assert store.named(["emca"])["emca"][0].id == entity_id("Company", "Acme Corp")


def test_a_page_that_is_renamed_or_removed_is_forgotten_in_other_documents() -> None:
    store, fresh = ReferenceStore(ONTOLOGY), ReferenceStore(ONTOLOGY)
    run(store, [*PAGES, *DOCUMENTS])
    renamed = make_page("acme", "type: Company\nname: Omega\naliases: [Acme]\nbased_in: oslo")
    run(store, [renamed])
    run(fresh, [renamed, *PAGES[1:], *DOCUMENTS])
    assert store.digest() == fresh.digest()
    summary = ingest([*DOCUMENTS, *PAGES[1:]], store, extractors=linking, prune=True)
    assert summary.pruned == 1
    gone = ReferenceStore(ONTOLOGY)
    run(gone, [*PAGES[1:], *DOCUMENTS])
    assert store.digest() == gone.digest()


def test_a_document_that_is_loaded_and_read_again_is_counted_once() -> None:
    store = ReferenceStore(ONTOLOGY)
    run(store, DOCUMENTS)
    summary = run(store, [*PAGES, *DOCUMENTS])
    assert summary.loaded == 7
    assert summary.admitted + summary.empty + summary.quarantined + summary.failed + summary.unchanged == 7
    assert store.digest() == whole()


class Killed(Exception):
    pass


class Dying(ReferenceStore):
    """A store whose process ends at its n-th transaction, before or after it is committed."""

    left = 10**9
    commits = False

    def write(self, extractions: Sequence[Extraction]) -> int:
        self.left -= 1
        if self.left < 0 and not self.commits:
            raise Killed
        change = super().write(extractions)
        if self.left < 0:
            raise Killed
        return change


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 6), st.booleans(), st.booleans())
def test_a_run_that_ends_at_any_transaction_is_completed_by_the_next(
    transactions: int, commits: bool, had_documents: bool
) -> None:
    store = Dying(ONTOLOGY)
    if had_documents:
        run(store, DOCUMENTS)
    store.left, store.commits = transactions, commits
    # Only the pages come: documents of the first run must be read again, be it in the second attempt.
    loaded = PAGES if had_documents else [*PAGES, *DOCUMENTS]
    with contextlib.suppress(Killed):
        run(store, loaded, batch=1)
    store.left = 10**9
    run(store, loaded)
    assert store.digest() == whole()


# Failures


class Faulty:
    """Fails on one document as often as it is told, then reads it."""

    name = "faulty"
    fingerprint = "faulty"

    def __init__(self, times: int) -> None:
        self.times = times
        self.inner = Pattern({"based_in": BASED})

    def extract(self, batch: Sequence[tuple[Document, Sequence[Passage]]]) -> list[Reading]:
        readings = []
        for (document, _), reading in zip(batch, self.inner.extract(batch), strict=True):
            failed = document.id == "d.txt" and self.times > 0
            self.times -= failed
            readings.append(Reading(reading.claims[:0], (Failure("6-23", "cut-off", "why"),)) if failed else reading)
        return readings


def test_what_failed_is_tried_again_and_what_succeeded_never() -> None:
    store = ReferenceStore(ONTOLOGY)
    faulty = Faulty(2)
    for _ in range(2):
        summary = ingest(DOCUMENTS, store, extractors={"*": [faulty]})
        assert summary.failed == 1
        assert [(f.document, f.where, f.code) for f in summary.failures] == [("d.txt", "6-23", "cut-off")]
        assert store.documents()["d.txt"].status == "failed"
    faulty.inner.read = []
    assert ingest(DOCUMENTS, store, extractors={"*": [faulty]}).unchanged == 3
    assert faulty.inner.read == ["d.txt"]
    assert store.documents()["d.txt"].status == "admitted"
    assert ingest(DOCUMENTS, store, extractors={"*": [faulty]}).unchanged == 4


def test_what_the_other_extractors_read_of_a_failed_document_is_kept() -> None:
    store = ReferenceStore(ONTOLOGY)
    ingest([DOCUMENTS[3]], store, extractors={"*": [Faulty(1), reader()]})
    assert store.documents()["d.txt"].status == "failed"
    assert len(_ids(store)) == 1


def test_an_engine_that_does_not_answer_ends_the_run_and_leaves_the_store_usable() -> None:
    class Down(Pattern):
        def extract(self, batch: Sequence[tuple[Document, Sequence[Passage]]]) -> list[Reading]:
            raise EngineError(f"the engine does not answer about {len(batch)} documents")

    store = ReferenceStore(ONTOLOGY)
    with pytest.raises(EngineError, match="does not answer"):
        ingest(DOCUMENTS, store, extractors={"*": [Down({})]})
    assert store.documents() == {}


def test_documents_read_with_a_better_policy_are_left_alone_without_it() -> None:
    store = ReferenceStore(ONTOLOGY)
    better: Policy = {"*": [reader()]}
    plain: Policy = {"*": [Pattern({"founded": "nothing (?P<s>a) (?P<o>b)"})]}
    ingest(DOCUMENTS[:2], store, extractors=better)
    digest = store.digest()
    summary = ingest(DOCUMENTS, store, extractors=plain, preferred=better, notes=["there is no engine"])
    assert (summary.unchanged, summary.empty) == (2, 2)
    assert summary.notes == ("there is no engine",)
    assert store.digest() != digest
    assert ingest(DOCUMENTS, store, extractors=better).unchanged == 2


# Pruning


def test_what_vanished_from_the_source_stays_unless_pruned() -> None:
    store = ReferenceStore(ONTOLOGY)
    run(store, DOCUMENTS)
    assert run(store, DOCUMENTS[:2]).pruned == 0
    assert len(store.documents()) == 4
    summary = ingest(DOCUMENTS[:2], store, extractors=linking, prune=True)
    assert summary.pruned == 2
    assert set(store.documents()) == {"a.txt", "b.txt"}


def test_what_could_not_be_loaded_is_not_pruned() -> None:
    store = ReferenceStore(ONTOLOGY)
    rows = [make_document("Acme is in Oslo.", name=f"t.csv#{n}") for n in range(2)]
    run(store, [*rows, *DOCUMENTS])
    failures: list[Loaded] = [LoadFailure("t.csv", "unreadable", "no"), LoadFailure("d.txt", "unreadable", "no")]
    summary = ingest([*DOCUMENTS[:1], *failures], store, extractors=linking, prune=True)
    assert set(store.documents()) == {"a.txt", "d.txt", "t.csv#0", "t.csv#1"}
    assert (summary.pruned, summary.failed) == (2, 2)


def test_pruning_everything_is_refused() -> None:
    store = ReferenceStore(ONTOLOGY)
    run(store, DOCUMENTS)
    with pytest.raises(InputError, match="every document"):
        ingest([], store, extractors=linking, prune=True)
    assert len(store.documents()) == 4


# Length, progress


def test_a_fact_in_the_last_of_sixty_passages_is_found() -> None:
    paragraphs = [f"Paragraph {n} says nothing. {'word ' * 150}" for n in range(60)]
    paragraphs[58] = "Acme is in Oslo."
    store = ReferenceStore(ONTOLOGY)
    document = make_document("\n\n".join(paragraphs))
    run(store, [document])
    (evidence,) = [e for found in store.evidence(_ids(store)).values() for e in found]
    assert document.text[evidence.start : evidence.end] == "Acme is in Oslo"


def test_passages_of_two_documents_keep_apart() -> None:
    text = "Acme is in Oslo."
    store = ReferenceStore(ONTOLOGY)
    run(store, [make_document(text, name="a.txt"), make_document(text, name="b.txt")])
    assert {e.document for found in store.evidence(_ids(store)).values() for e in found} == {"a.txt", "b.txt"}


def test_progress_counts_up_to_its_total() -> None:
    seen: list[Progress] = []
    store = ReferenceStore(ONTOLOGY)
    ingest([*PAGES, *DOCUMENTS], store, extractors=linking, batch_documents=2, total=5, on_progress=seen.append)
    for step, total in (("load", 7), ("ingest", 7)):
        done = [p.done for p in seen if p.step == step]
        assert done == sorted(done)
        assert done[-1] == total
    assert {p.total for p in seen if p.step == "ingest"} == {7}
    assert all(p.total is None or p.done <= p.total for p in seen)


def test_documents_are_taken_one_by_one_and_written_in_batches() -> None:
    """Memory stays bounded: the loader is read lazily, and no batch holds more than it may."""
    sizes: list[int] = []

    class Watched(ReferenceStore):
        def write(self, extractions: Sequence[Extraction]) -> int:
            sizes.append(len(extractions))
            return super().write(extractions)

    def lazily() -> Iterator[Loaded]:
        for n in range(10):
            yield make_document(f"Acme{n} is in Oslo.", name=f"{n}.txt")

    ingest(lazily(), Watched(ONTOLOGY), extractors=linking, batch_documents=4)
    assert sizes == [4, 4, 2]


@pytest.mark.data
@pytest.mark.parametrize("source", ["ai-papers/abstracts.csv", "pubmedqa/ori_pqal.json"])
def test_real_abstracts_are_accounted_for_and_read_once(source: str, data: Path) -> None:
    here = ROOT / "bench" / source.split("/")[0]
    ontology = read_ontology(here / "ontology.yaml")
    extractor = RuleExtractor(read_rules(here / "rules.yaml", ontology))
    mapping = read_mapping(here / "mapping.yaml")

    def documents() -> Iterator[Loaded]:
        return islice(load([data / source], mapping=mapping), 80)

    store = ReferenceStore(ontology)
    first = ingest(documents(), store, extractors={"*": [extractor]})
    assert first.loaded == 80 == first.admitted + first.empty + first.quarantined + first.failed
    assert first.admitted > 20
    assert not first.failures
    second = ingest(documents(), store, extractors={"*": [extractor]})
    assert (second.unchanged, second.change) == (80, first.change)
    for triple, pieces in store.evidence(_ids(store)).items():
        assert pieces, f"{triple} rests on nothing"
        for piece in pieces:
            document = store.document(piece.document)
            assert document is not None
            assert document.text[piece.start : piece.end].strip()
