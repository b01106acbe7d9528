"""The vector index: what is gone is never found, what is incremental equals what is rebuilt, crashes leave it whole."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_store import ReferenceStore
from retrieval_parts import SHIPS, WordEmbedder, entity, extraction, train_tokenizer

from ontoloom.errors import ProjectionError
from ontoloom.protocols import Vectors
from ontoloom.records import EntityRef, Extraction
from retrieval import index as index_module
from retrieval.index import VectorIndex, number_of
from retrieval.tokenizer import read_tokenizer

SHIP_NAMES = ["Dart", "Medusa", "Vigilant", "Heron"]


def fleet(document: str, picks: Sequence[tuple[int, int]], *, spelling: str = "") -> Extraction:
    """A document in which ships have crews; ``spelling`` is added to the names, the entities staying the same."""
    facts = []
    for ship, crew in dict(picks).items():
        named = entity("Ship", SHIP_NAMES[ship])
        said = named if not spelling else type(named)(named.id, "Ship", SHIP_NAMES[ship] + spelling)
        facts.append((said, "crew_size", crew, f"{said.name} had {crew} people aboard."))
    return extraction(document, facts)


def open_index(store: ReferenceStore, folder: Path) -> VectorIndex:
    return VectorIndex(store, folder, embedder=WordEmbedder(), tokenizer=None)


def state(index: VectorIndex) -> tuple[set[tuple[int, str]], dict[str, list[object]], dict[str, str]]:
    """Everything that searches can see: live vectors, views and texts."""
    triples = [chunk.triple for chunk in index._ledger.chunks(list(index._ledger.numbers())).values()]
    views: dict[str, list[object]] = {t: [view for view, _ in pairs] for t, pairs in index.views(triples).items()}
    return index.live(), views, {t: chunk.text for t, chunk in index.chunks(triples).items()}


STEP = st.tuples(
    st.sampled_from(["a.md", "b.md", "c.md"]),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), max_size=4),
    st.sampled_from(["", " II", " of Cork"]),
    st.sampled_from(["write", "delete", "refresh", "compact", "reopen"]),
)


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(STEP, max_size=12))
def test_incremental_equals_rebuilt(steps: list[tuple[str, list[tuple[int, int]], str, str]]) -> None:
    store = ReferenceStore(SHIPS)
    with tempfile.TemporaryDirectory() as folder:
        index = open_index(store, Path(folder, "incremental"))
        for document, picks, spelling, action in steps:
            if action == "write":
                store.write([fleet(document, picks, spelling=spelling)])
            elif action == "delete" and document in store.documents():
                store.delete([document])
            elif action == "refresh":
                assert index.refresh() == store.last_change()
            elif action == "compact":
                index.compact()
            elif action == "reopen":
                index.close()
                index = open_index(store, Path(folder, "incremental"))
        index.refresh()
        rebuilt = open_index(store, Path(folder, "rebuilt"))
        rebuilt.refresh()
        assert state(index) == state(rebuilt)
        for triple, vector in rebuilt.vectors(list(state(rebuilt)[2])).items():
            assert dict(index.search(vector, 3)).keys() == dict(rebuilt.search(vector, 3)).keys()
            assert index.search(vector, 1)[0][1] == pytest.approx(1, abs=1e-5)
            assert triple in dict(index.search(vector, 20))
        index.close()
        rebuilt.close()


def test_a_chunk_keeps_text_ids_and_the_sentences_it_was_read_from(tmp_path: Path) -> None:
    store = ReferenceStore(SHIPS)
    store.write([fleet("a.md", [(0, 7)]), fleet("b.md", [(0, 7)])])
    tokenizer = read_tokenizer(train_tokenizer(tmp_path / "model"))
    with VectorIndex(store, tmp_path / "vectors", embedder=WordEmbedder(), tokenizer=tokenizer) as index:
        index.refresh()
        ((triple, score),) = index.search(index.embed(["Ship Dart: crew size 7 people"])[0], 5)
        assert score == pytest.approx(1, abs=1e-5)
        chunk = index.chunks([triple])[triple]
        assert chunk.text == "Ship Dart: crew size 7 people"
        assert chunk.ids == (tokenizer.bos_id, *tokenizer.encode(chunk.text), tokenizer.eos_id)
        views = [(view.document, view.start, view.end, view.text) for view, _ in index.views([triple])[triple]]
        assert views == [(name, 0, 25, "Dart had 7 people aboard.") for name in ("a.md", "b.md")]


def test_deleted_triples_are_never_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "DEAD_SHARE", 1.0)  # no compaction comes to the rescue
    store = ReferenceStore(SHIPS)
    store.write([fleet(f"{n}.md", [(n % 4, n)]) for n in range(40)])
    with open_index(store, tmp_path) as index:
        index.refresh()
        index.compact()
        vectors = index.vectors(list(state(index)[2]))
        store.delete([f"{n}.md" for n in range(0, 40, 3)])
        index.refresh()
        left = set(store.triples(list(vectors)))
        assert 0 < len(left) < 40
        for vector in vectors.values():
            assert {triple for triple, _ in index.search(vector, 40)} == left
        store.write([fleet("0.md", [(0, 0)])])  # and one that comes back is found again
        index.refresh()
        assert len(index.search(next(iter(vectors.values())), 40)) == len(left) + 1


def test_compaction_drops_the_dead_and_old_files(tmp_path: Path) -> None:
    store = ReferenceStore(SHIPS)
    store.write([fleet(f"{n}.md", [(n % 4, n)]) for n in range(40)])
    with open_index(store, tmp_path) as index:
        index.refresh()
        index.compact()
        assert index._ledger.sizes() == (40, 0, 0)
        store.delete(["0.md", "1.md", "2.md", "3.md"])
        index.refresh()
        assert index._ledger.sizes() == (40, 4, 0)  # 10 % dead is tolerated
        store.delete(["4.md"])
        index.refresh()
        assert index._ledger.sizes() == (35, 0, 0)  # more is not
        assert sorted(path.name for path in tmp_path.glob("base-*")) == ["base-2.faiss", "base-2.ids"]


def test_a_mapped_base_is_never_written_to(tmp_path: Path) -> None:
    store = ReferenceStore(SHIPS)
    store.write([fleet(f"{n}.md", [(n % 4, n)]) for n in range(40)])
    with open_index(store, tmp_path) as index:
        index.refresh()
        index.compact()
        before = (tmp_path / "base-1.faiss").read_bytes()
        store.write([fleet("40.md", [(1, 99)])])
        store.delete(["7.md"])
        index.refresh()
        assert (tmp_path / "base-1.faiss").read_bytes() == before


def test_a_second_process_sees_what_another_commits(tmp_path: Path) -> None:
    store = ReferenceStore(SHIPS)
    with open_index(store, tmp_path) as writer, open_index(store, tmp_path) as reader:
        vector = writer.embed(["Ship Dart: crew size 7 people"])[0]
        assert reader.search(vector, 5) == []
        store.write([fleet("a.md", [(0, 7)])])
        writer.refresh()
        assert len(reader.search(vector, 5)) == 1
        writer.compact()
        writer.compact()
        assert len(reader.search(vector, 5)) == 1


def test_a_renamed_entity_changes_every_text_that_names_it(tmp_path: Path) -> None:
    store = ReferenceStore(SHIPS)
    dart, medusa, cork = entity("Ship", "Dart"), entity("Ship", "Medusa"), entity("Port", "Cork")
    said = (dart, "faster_than", medusa, "Dart beat Medusa in Cork.")
    store.write([extraction("a.md", [said], attributes=(("port", EntityRef(cork.id)),), entities=[cork])])
    with open_index(store, tmp_path) as index:
        index.refresh()
        assert list(state(index)[2].values()) == ["Ship Dart faster than Medusa (port Cork)"]
        cobh = type(cork)(cork.id, "Port", "Cobh")
        store.write([extraction(f"{n}.md", [], entities=[cobh]) for n in range(2)])
        index.refresh()
        assert list(state(index)[2].values()) == ["Ship Dart faster than Medusa (port Cobh)"]


def test_another_ontology_words_every_triple_anew_and_embeds_only_what_is_new(tmp_path: Path) -> None:
    from dataclasses import replace

    store = ReferenceStore(SHIPS)
    store.write([fleet("a.md", [(0, 7), (1, 8)])])
    with open_index(store, tmp_path) as index:
        index.refresh()
    crew = replace(SHIPS.types["Ship"].attributes["crew_size"], unit="sailors")
    ship = replace(SHIPS.types["Ship"], attributes={**SHIPS.types["Ship"].attributes, "crew_size": crew})
    store.ontology = replace(SHIPS, hash="fedcba9876543210", types={**SHIPS.types, "Ship": ship})
    embedder = WordEmbedder()
    with VectorIndex(store, tmp_path, embedder=embedder, tokenizer=None) as index:
        index.refresh()
        assert sorted(state(index)[2].values()) == [
            "Ship Dart: crew size 7 sailors",
            "Ship Medusa: crew size 8 sailors",
        ]
    assert sorted(embedder.embedded) == ["Ship Dart: crew size 7 sailors", "Ship Medusa: crew size 8 sailors"]


def test_another_store_is_noticed(tmp_path: Path) -> None:
    first, second = ReferenceStore(SHIPS), ReferenceStore(SHIPS)
    first.write([fleet("a.md", [(0, 7)])])
    second.write([fleet("b.md", [(1, 8)])])
    with open_index(first, tmp_path) as index:
        index.refresh()
    with open_index(second, tmp_path) as index:
        index.refresh()
        assert list(state(index)[2].values()) == ["Ship Medusa: crew size 8 people"]


def test_another_embedder_is_refused_and_a_rebuild_extracts_nothing(tmp_path: Path) -> None:
    store = ReferenceStore(SHIPS)
    store.write([fleet("a.md", [(0, 7)])])
    with open_index(store, tmp_path) as index:
        index.refresh()
    wider = WordEmbedder(96)
    with pytest.raises(ProjectionError, match=r"made with embedder 'words-64', not 'words-96', dimension .*delete its"):
        VectorIndex(store, tmp_path, embedder=wider, tokenizer=None)
    with pytest.raises(ProjectionError, match="boundaries 'embedder', not 'literal'"):
        VectorIndex(store, tmp_path, embedder=WordEmbedder(), tokenizer=None, boundaries="literal")
    tokenizer = read_tokenizer(train_tokenizer(tmp_path / "model"))
    with pytest.raises(ProjectionError, match="tokenizer 'none', not 'bpe-"):
        VectorIndex(store, tmp_path, embedder=WordEmbedder(), tokenizer=tokenizer)
    digest = store.digest()
    with VectorIndex(store, tmp_path, embedder=wider, tokenizer=None, rebuild=True) as index:
        assert index.refresh() == 1
        assert len(index.search(wider.embed(["Dart"])[0], 5)) == 1
    assert store.digest() == digest


@pytest.mark.parametrize("damage", ["ledger.sqlite", "base-1.faiss", "base-1.ids", "missing"])
def test_a_damaged_index_says_how_to_mend_it(tmp_path: Path, damage: str) -> None:
    store = ReferenceStore(SHIPS)
    store.write([fleet("a.md", [(0, 7)])])
    with open_index(store, tmp_path) as index:
        index.refresh()
        index.compact()
    if damage == "missing":
        (tmp_path / "base-1.faiss").unlink()
    else:
        (tmp_path / damage).write_bytes(b"garbage" * 104)
    with pytest.raises(ProjectionError, match="delete its folder"):
        open_index(store, tmp_path)


def test_two_triples_with_one_number_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "number_of", lambda _: 7)
    store = ReferenceStore(SHIPS)
    store.write([fleet("a.md", [(0, 7), (1, 8)])])
    with open_index(store, tmp_path) as index:
        with pytest.raises(ProjectionError, match="share the number 7"):
            index.refresh()
        assert index.live() == set()


def test_numbers_fit_faiss() -> None:
    numbers = {number_of(f"{n:032x}") for n in range(5000)}
    assert len(numbers) == 5000
    assert 0 <= min(numbers) <= max(numbers) < 2**63


class FailingEmbedder(WordEmbedder):
    """Breaks at a given text."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        if any("Medusa" in text for text in texts):
            raise RuntimeError("out of memory")
        return super().embed(texts)


def test_a_refresh_that_breaks_leaves_the_old_state_and_keeps_what_was_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "BATCH", 1)
    store = ReferenceStore(SHIPS)
    store.write([fleet("a.md", [(0, 7)])])
    with VectorIndex(store, tmp_path, embedder=FailingEmbedder(), tokenizer=None) as index:
        index.refresh()
        before = state(index)
        store.write([fleet("a.md", [(2, 9)]), fleet("b.md", [(1, 8)])])
        with pytest.raises(RuntimeError, match="out of memory"):
            index.refresh()
        assert state(index) == before
        assert len(index.search(index.embed(["Dart"])[0], 5)) == 1
    embedder = WordEmbedder()
    with VectorIndex(store, tmp_path, embedder=embedder, tokenizer=None) as index:
        index.refresh()
        assert not any("Vigilant" in text for text in embedder.embedded)  # embedded before the failure, and kept
        assert {text.split(":")[0] for text in state(index)[2].values()} == {"Ship Medusa", "Ship Vigilant"}


CRASH = """
import sys, pathlib
sys.path.insert(0, {tests!r})
from reference_store import ReferenceStore
from retrieval_parts import SHIPS
from test_vector_index import fleet, open_index
store = ReferenceStore(SHIPS)
folder = pathlib.Path(sys.argv[1])
index = open_index(store, folder)
print("ready", flush=True)
for n in range(100_000):
    store.write([fleet(f"{{n % 50}}.md", [(n % 4, n)])])
    index.refresh()
    if n % 5 == 0:
        index.compact()
"""


@pytest.mark.parametrize("turn", range(3))
def test_a_killed_process_leaves_an_index_that_opens_and_agrees_with_itself(tmp_path: Path, turn: int) -> None:
    here = Path(__file__).parent
    code = textwrap.dedent(CRASH).format(tests=str(here))
    environment = {**os.environ, "PYTHONPATH": str(here.parent)}
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        deadline = 200
        while not list(tmp_path.glob(f"base-{3 + turn * 4}*")) and deadline:
            deadline -= 1
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(0.05 + turn * 0.013)
        assert deadline, "the child made no progress"
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert child.stdout is not None
        child.stdout.close()
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    store = ReferenceStore(SHIPS)
    with open_index(store, tmp_path) as index:
        live, _, texts = state(index)
        assert 0 < len(live) <= 50
        for triple, vector in index.vectors(list(texts)).items():
            assert triple in dict(index.search(vector, 50))
        index.refresh()  # the store of the dead process is gone: an empty one empties the index
        assert index.live() == set()
