"""A run of ingestion that is killed at any moment, and repeated, ends in the graph of an undisturbed one."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fake_engine import FakeEngine, Reply, Request
from ingest_parts import companies
from neo4j_parts import LiveServer

from graph.inspect import inspect
from graph.open import open_store
from ingest.grammar import write_answer

ROUNDS = int(os.environ.get("ONTOLOOM_SOAK", "3"))
"""How often a run is killed; `make soak` does it more often."""
DOCUMENTS = 60
LINES = DOCUMENTS + 58
"""Lines of progress of a whole run, nearly: loading reports each document and page, then come pages and documents."""

RUN = """
import sys
from pathlib import Path
from ingest.llm import LLMExtractor
from ingest.load import load
from ingest.pipeline import ingest
from ingest.policy import default_policy
from ingest.record import Record
from graph.open import open_store
from ingest_parts import Pattern, companies
from serving.engine_client import HttpEngine

folder, source, url, location = sys.argv[1:]
ontology = companies()
based = Pattern({"based_in": r"(?P<s>[A-Z]\\w+) is in (?P<o>[A-Z]\\w+)"})
print("ready", flush=True)
with (
    Record(Path(folder) / "record.sqlite") as record,
    HttpEngine(url, model="fake") as engine,
    open_store(location, ontology) as store,
):
    summary = ingest(
        load([Path(source)]),
        store,
        extractors=lambda known: default_policy(
            rules=[based], llm=LLMExtractor(engine, ontology, record, known=known)
        ),
        batch_documents=4,
        on_progress=lambda progress: print(progress.step, progress.done, flush=True),
    )
    print("sent", summary.usage.sent, "replayed", summary.usage.replayed, flush=True)
"""


def write_source(folder: Path) -> None:
    (folder / "wiki").mkdir(parents=True)
    (folder / "wiki" / "oslo.md").write_text("---\ntype: City\nname: Oslo\naliases: [Kristiania]\n---\n")
    (folder / "wiki" / "acme.md").write_text("---\ntype: Company\nname: Acme1 Corp\nbased_in: oslo\n---\n")
    for n in range(DOCUMENTS):
        city = "Kristiania" if n % 2 else "Oslo"
        text = f"# Report {n}\n\n## Abstract\nBo{n} Berg works at Acme{n % 7}.\n\n## Facts\nAcme{n % 7} is in {city}.\n"
        (folder / f"{n:02}.md").write_text(text)


def reply(request: Request) -> Reply:
    person = re.search(r"Bo\d+ Berg", request["messages"][-1]["content"])
    company = re.search(r"Acme\d", request["messages"][-1]["content"])
    if not person or not company:
        return Reply("yes")
    return Reply(write_answer([{"r": "works_at", "s": person.group(), "o": company.group()}]), delay=0.01)


@dataclass(frozen=True, slots=True)
class Run:
    """Where a run keeps what the LLM answered, what it reads, whom it asks, and the store it writes to."""

    folder: Path
    source: Path
    url: str
    location: str

    def start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
        command = [sys.executable, "-c", RUN, str(self.folder), str(self.source), self.url, self.location]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def finish(self) -> tuple[int, int]:
        """Runs to the end; returns how many requests were sent and replayed."""
        with self.start() as process:
            out, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        sent, replayed = re.findall(r"sent (\d+) replayed (\d+)", out)[0]
        return int(sent), int(replayed)

    def kill_after(self, lines: int) -> None:
        """Kills the run after so many lines of progress."""
        with self.start() as process:
            read_lines(process, lines)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
        assert process.returncode == -signal.SIGKILL, "the run must not end before it is killed"

    def state(self) -> tuple[str, int]:
        """The digest and the last change, of a store without a fault."""
        with open_store(self.location, companies()) as store:
            assert list(inspect(store)) == []
            return store.digest(), store.last_change()


def read_lines(process: subprocess.Popen[str], lines: int) -> None:
    assert process.stdout is not None
    guard = threading.Timer(300, process.kill)
    guard.start()
    for _ in zip(range(lines), process.stdout, strict=False):
        pass
    guard.cancel()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    write_source(folder)
    return folder


@pytest.fixture(scope="module")
def engine() -> Iterator[FakeEngine]:
    with FakeEngine(reply) as running:
        yield running


@pytest.fixture(scope="module")
def calm(source: Path, engine: FakeEngine, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """An undisturbed run."""
    folder = tmp_path_factory.mktemp("calm")
    run = Run(folder, source, engine.url, str(folder / "graph"))
    assert run.finish() == (DOCUMENTS, 0)
    return run


@pytest.fixture(params=["ladybug", "neo4j"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "ladybug":
        return str(tmp_path / "graph")
    server: LiveServer = request.getfixturevalue("neo4j_server")
    server.clear()
    return server.location


@pytest.mark.parametrize("round_number", range(ROUNDS))
def test_a_killed_run_repeated_ends_in_the_graph_of_an_undisturbed_one(
    round_number: int, source: Path, engine: FakeEngine, calm: Run, location: str, tmp_path: Path
) -> None:
    run = Run(tmp_path, source, engine.url, location)
    dice = random.Random(round_number)
    # The first kill falls anywhere, the second after documents were written.
    for lines in (dice.randint(1, LINES), dice.randint(DOCUMENTS + 4, LINES)):
        run.kill_after(lines)
        run.state()
    run.finish()
    assert run.state()[0] == calm.state()[0]


def test_a_run_goes_on_when_its_server_was_killed(
    source: Path, engine: FakeEngine, calm: Run, neo4j_server: LiveServer, tmp_path: Path
) -> None:
    """The run waits for the server to come back, or ends with one line; the next one does what is left."""
    neo4j_server.clear()
    run = Run(tmp_path, source, engine.url, neo4j_server.location)
    dice = random.Random(0)
    for _ in range(min(ROUNDS, 10)):
        with run.start() as process:
            read_lines(process, dice.randint(1, LINES))
            neo4j_server.kill()
            neo4j_server.restart()
            _, errors = process.communicate(timeout=300)
        assert process.returncode == 0 or "ontoloom.errors.StoreError" in errors, errors
        run.state()
    run.finish()
    assert run.state()[0] == calm.state()[0]


def test_a_run_repeated_changes_nothing_and_a_rebuild_from_the_record_asks_nothing(
    source: Path, engine: FakeEngine, calm: Run
) -> None:
    before, asked = calm.state(), len(engine.requests)
    assert calm.finish() == (0, 0)
    assert calm.state() == before
    for path in calm.folder.glob("graph*"):
        path.rename(calm.folder / f"old-{path.name}")
    assert calm.finish() == (0, DOCUMENTS)
    assert calm.state()[0] == before[0]
    assert len(engine.requests) == asked
