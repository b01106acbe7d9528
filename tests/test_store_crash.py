"""What happens to a store when its processes die, compete, or run out of room."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
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
from neo4j_parts import LiveServer
from reference_store import ReferenceStore
from stores_under_test import merges

from graph.inspect import inspect
from graph.ladybug import open_ladybug
from graph.open import open_store
from graph.store import Store
from ontoloom.errors import StoreError
from ontoloom.records import Document, Extraction, Section

ROUNDS = int(os.environ.get("ONTOLOOM_SOAK", "3"))
"""How often a process is killed; `make soak` does it more often."""
WRITER = """
import sys
from test_store_crash import open_as, take_step

with open_as(sys.argv[1], sys.argv[2]) as store:
    print("open", flush=True)
    for number in range(int(sys.argv[3]), 10_000):
        take_step(store, number)
        print(number, flush=True)
"""
Place = tuple[str, str]
"""How a store is opened, and where it is."""


def open_as(how: str, location: str) -> Store:
    if how == "copy":
        return open_ladybug(location, ONTOLOGY, copy_rows=1)
    return open_store(location, ONTOLOGY)


def document(number: int, other: str = "") -> Extraction:
    """Each names one entity of its own and two that all name; a half-written one would be told by its counts."""
    own, everyone, maker = named("Model", f"M{number}{other}"), named("Model", "All"), named("Organization", "Acme")
    made, beaten = link(own, "developed_by", maker), beats(own, everyone, ("score_delta", number / 10))
    name = f"{number}{other}.md"
    return says(name, own, everyone, maker, made, beaten, literal(own, "context_length", number + 1), refused(name))


def take_step(store: Store, number: int) -> None:
    """Makes change ``number + 1``: documents written, two entities merged, one replaced or split off, one deleted."""
    own = named("Model", f"M{number - 1}").id, named("Model", f"M{number - 2}").id
    match number % 6:
        case 3:
            store.merge(*own, reason=f"step {number}")
        case 4 if number % 12 == 4:
            store.unmerge(own[1])
        case 4:
            store.write([replace(document(number - 2), triples=(), evidence=(), fingerprint="f2")])
        case 5:
            store.delete([f"{number - 5}.md"])
        case _:
            store.write([document(number), document(number, "again")])


@contextmanager
def writer(place: Place, start: int = 0) -> Iterator[subprocess.Popen[str]]:
    """A process that takes one step after the other from ``start`` on; killed in the end."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    command = [sys.executable, "-c", WRITER, *place, str(start)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
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


@pytest.fixture(params=["unwind", "copy", "neo4j"])
def place(request: pytest.FixtureRequest, path: Path) -> Place:
    if request.param != "neo4j":
        return request.param, str(path)
    server: LiveServer = request.getfixturevalue("neo4j_server")
    server.clear()
    return request.param, server.location


class Survivor:
    """What a store must hold, by the word of the processes that wrote to it and were killed."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._expected = ReferenceStore(ONTOLOGY)
        self.steps = 0

    def check(self, reported: int) -> None:
        """All steps that were reported were taken, and perhaps the next one, which nobody had time to report."""
        with open_as(*self._place) as store:
            taken = store.last_change()
            assert taken in (reported, reported + 1)
            for number in range(self.steps, taken):
                take_step(self._expected, number)
            self.steps = taken
            assert [change.number for change in store.changes(0)] == list(range(1, taken + 1))
            assert store.counts() == self._expected.counts()
            assert merges(store) == merges(self._expected)
            assert store.digest() == self._expected.digest()
            assert list(inspect(store)) == []


def test_a_killed_writer_loses_nothing_that_it_reported(place: Place) -> None:
    dice, survivor = random.Random(place[0]), Survivor(place)
    for _ in range(ROUNDS):
        survivor.check(kill_after(place, survivor.steps, dice.uniform(0, 1.5)))


def kill_after(place: Place, start: int, seconds: float) -> int:
    """Kills a writer some time after it has opened the store; returns how many steps there are by its word."""
    reported = start
    with writer(place, start) as process:
        told = lines(process)
        assert next(told) == "open"
        opened = time.monotonic()
        for line in told:
            reported = int(line) + 1
            if time.monotonic() - opened >= seconds:
                os.kill(process.pid, signal.SIGKILL)
    return reported


def test_a_killed_server_loses_nothing_that_a_writer_reported(neo4j_server: LiveServer) -> None:
    """The writer waits for the server, or gives up with one line; another one goes on from where the store is."""
    neo4j_server.clear()
    place = ("neo4j", neo4j_server.location)
    dice, survivor = random.Random(1), Survivor(place)
    for _ in range(min(ROUNDS, 10)):
        reported = survivor.steps
        with writer(place, survivor.steps) as process:
            told = lines(process)
            assert next(told) == "open"
            reported = int(next(told)) + 1
            time.sleep(dice.uniform(0, 1))
            neo4j_server.kill()
            neo4j_server.restart()
            os.kill(process.pid, signal.SIGKILL)
            reported = max([reported, *(int(line) + 1 for line in told)])
        survivor.check(reported)


def test_a_reader_reads_while_a_writer_writes(path: Path) -> None:
    seen: list[int] = []
    with writer(("unwind", str(path))) as process:
        told = lines(process)
        assert next(told) == "open"
        for line in islice(told, 5):
            with open_store(path, ONTOLOGY, read_only=True) as reader:
                seen.append(reader.last_change())
                assert list(inspect(reader)) == []
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
    with writer(("unwind", str(path))) as process:
        assert "3" in lines(process)
    assert path.with_suffix(".ladybug.wal").exists()
    path.unlink()
    with pytest.raises(StoreError) as caught:
        open_store(path, ONTOLOGY)
    assert f"delete {path}.wal too" in str(caught.value)
    path.with_suffix(".ladybug.wal").unlink()
    with open_store(path, ONTOLOGY) as store:
        assert store.last_change() == 0
