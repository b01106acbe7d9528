"""What happens to a Ladybug store when processes die, compete, or run out of room."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest
from graph_examples import (
    ONTOLOGY,
    beats,
    link,
    literal,
    named,
    refused,
    says,
)
from reference_store import ReferenceStore

from graph.ladybug import open_ladybug
from graph.open import open_store
from ontoloom.errors import StoreError
from ontoloom.records import Document, Extraction, Section

ROUNDS = int(os.environ.get("ONTOLOOM_SOAK_ROUNDS", "3"))
WRITER = """
import sys
from pathlib import Path
from graph_examples import ONTOLOGY
from test_store_crash import document
from graph.ladybug import open_ladybug

path, start, copy_rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open_ladybug(path, ONTOLOGY, copy_rows=copy_rows) as store:
    print("open", flush=True)
    for number in range(start, 10_000):
        store.write([document(number), document(number, "again")])
        print(number, flush=True)
"""


def document(number: int, other: str = "") -> Extraction:
    """Each names one entity of its own and two that all name; a half-written one would be told by its counts."""
    own, everyone, maker = named("Model", f"M{number}{other}"), named("Model", "All"), named("Organization", "Acme")
    made, beaten = link(own, "developed_by", maker), beats(own, everyone, ("score_delta", number / 10))
    name = f"{number}{other}.md"
    return says(name, own, everyone, maker, made, beaten, literal(own, "context_length", number + 1), refused(name))


@contextmanager
def writer(path: Path, start: int = 0, *, copy_rows: int = 5000) -> Iterator[subprocess.Popen[str]]:
    """A process that writes documents from number ``start`` on; killed in the end."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    command = [sys.executable, "-c", WRITER, str(path), str(start), str(copy_rows)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    return (line.strip() for line in process.stdout)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph.ladybug"


@pytest.mark.parametrize("copy_rows", [5000, 1], ids=["unwind", "copy"])
def test_a_killed_writer_loses_nothing_that_it_reported(path: Path, copy_rows: int) -> None:
    dice, next_number = random.Random(copy_rows), 0
    for _ in range(ROUNDS):
        reported = kill_after(path, next_number, dice.uniform(0, 1.5), copy_rows)
        with open_ladybug(str(path), ONTOLOGY) as store:
            documents = store.documents()
            written = len(documents) // 2
            assert written in (reported, reported + 1), "the last one may be written and not yet reported"
            expected = ReferenceStore(ONTOLOGY)
            for number in range(written):
                expected.write([document(number), document(number, "again")])
            assert store.digest() == expected.digest()
            assert store.counts() == expected.counts()
            assert store.last_change() == written
            assert [change.number for change in store.changes(0)] == list(range(1, written + 1))
            next_number = written


def kill_after(path: Path, start: int, seconds: float, copy_rows: int) -> int:
    """Kills a writer some time after it has opened the store; returns how many writes there are by its word."""
    reported = start
    with writer(path, start, copy_rows=copy_rows) as process:
        told = lines(process)
        assert next(told) == "open"
        opened = time.monotonic()
        for line in told:
            reported = int(line) + 1
            if time.monotonic() - opened >= seconds:
                os.kill(process.pid, signal.SIGKILL)
    return reported


def test_a_reader_reads_while_a_writer_writes(path: Path) -> None:
    seen: list[int] = []
    with writer(path) as process:
        told = lines(process)
        assert next(told) == "open"
        for line in islice(told, 5):
            with open_store(path, ONTOLOGY, read_only=True) as reader:
                seen.append(reader.last_change())
                counts = reader.counts()
                assert counts.documents == 2 * seen[-1]
                assert set(counts.triples.values()) == {2 * seen[-1]}
                assert int(line) + 1 <= seen[-1], "what was reported before the reader opened is there"
        with pytest.raises(StoreError) as locked:
            open_store(path, ONTOLOGY)
        assert f"{path} is being written by process {process.pid}" in str(locked.value)
        assert "wait until it is done" in str(locked.value)
        assert locked.value.code == "store-locked"
    assert seen == sorted(seen)
    with open_store(path, ONTOLOGY) as store:
        assert store.last_change() >= seen[-1]


def test_a_reader_cannot_write(path: Path) -> None:
    open_store(path, ONTOLOGY).close()
    with open_store(path, ONTOLOGY, read_only=True) as reader:
        with pytest.raises(StoreError, match="was opened for reading only"):
            reader.write([document(1)])
        with pytest.raises(StoreError, match="was opened for reading only"):
            reader.delete(["1.md"])


def test_a_closed_store_says_so(path: Path) -> None:
    store = open_store(path, ONTOLOGY)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.documents()


# Statements that fail


def test_a_statement_that_fails_leaves_everything_as_it_was(path: Path) -> None:
    text = "words " * 14_000_000
    huge = Extraction(Document("huge.md", "huge.md", "Huge", text, (Section("body", 0, 10),)))
    with open_ladybug(str(path), ONTOLOGY, buffer_pool_size=64 * 2**20) as store:
        store.write([document(1)])
        digest = store.digest()
        with pytest.raises(StoreError, match="there is too little memory for what is written at once"):
            store.write([document(2), huge])
        assert (store.digest(), store.last_change()) == (digest, 1)
        assert store.write([document(2)]) == 2
    with open_store(path, ONTOLOGY) as store:
        assert list(store.documents()) == ["1.md", "2.md"]


def test_a_batch_too_large_for_copy_fails_as_others_do(path: Path) -> None:
    wide = [says(f"{number}.md", text=f"{number}" * 100_000) for number in range(1000, 1100)]
    with open_ladybug(str(path), ONTOLOGY, buffer_pool_size=96 * 2**20, copy_rows=10) as store:
        with pytest.raises(StoreError, match="there is too little memory for what is written at once"):
            store.write(wide)
        assert store.write(wide[:20]) == 1
        assert store.counts().documents == 20


def test_a_text_of_50_mb_comes_back(path: Path) -> None:
    extraction = says("long.md", text="0123456789" * 5_000_000, kind="page")
    with open_store(path, ONTOLOGY) as store:
        store.write([document(1), extraction])
        assert store.document("long.md") == extraction.document
        again = says("long.md", text="9876543210" * 5_000_000)
        store.write([again])
        assert store.document("long.md") == again.document


def test_many_bulk_transactions_do_not_fill_the_buffer_pool(path: Path) -> None:
    with open_ladybug(str(path), ONTOLOGY, copy_rows=1, buffer_pool_size=96 * 2**20) as store:
        for number in range(8):
            store.write([document(number)])
        assert store.counts().documents == 8


def test_the_log_of_a_deleted_store_is_named(path: Path) -> None:
    with writer(path) as process:
        assert "3" in lines(process)
    assert path.with_suffix(".ladybug.wal").exists()
    path.unlink()
    with pytest.raises(StoreError) as caught:
        open_store(path, ONTOLOGY)
    assert f"delete {path}.wal too" in str(caught.value)
    path.with_suffix(".ladybug.wal").unlink()
    with open_store(path, ONTOLOGY) as store:
        assert store.last_change() == 0
