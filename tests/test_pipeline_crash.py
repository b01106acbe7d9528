"""A run of ingestion that is killed at any moment, and repeated, ends in the graph of an undisturbed one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_engine import FakeEngine, Reply, Request
from ingest_parts import companies

from graph.open import open_store
from ingest.grammar import write_answer

ROUNDS = 3
DOCUMENTS = 60

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

folder, source, url = sys.argv[1:]
ontology = companies()
based = Pattern({"based_in": r"(?P<s>[A-Z]\\w+) is in (?P<o>[A-Z]\\w+)"})
print("ready", flush=True)
with (
    Record(Path(folder) / "record.sqlite") as record,
    HttpEngine(url, model="fake") as engine,
    open_store(Path(folder) / "graph", ontology) as store,
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


def start(folder: Path, source: Path, url: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    command = [sys.executable, "-c", RUN, str(folder), str(source), url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def finish(folder: Path, source: Path, url: str) -> tuple[int, int]:
    """Runs to the end; returns how many requests were sent and replayed."""
    with start(folder, source, url) as process:
        out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    sent, replayed = re.findall(r"sent (\d+) replayed (\d+)", out)[0]
    return int(sent), int(replayed)


def kill_after(folder: Path, source: Path, url: str, lines: int) -> int:
    """Kills the run after so many lines of progress; returns how many came."""
    with start(folder, source, url) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        guard = threading.Timer(120, process.kill)
        guard.start()
        seen = sum(1 for _ in zip(range(lines), process.stdout, strict=False))
        os.kill(process.pid, signal.SIGKILL)
        process.stdout.read()
        process.stderr.read()
        guard.cancel()
    return seen


def digest(folder: Path) -> tuple[str, int]:
    with open_store(folder / "graph", companies()) as store:
        return store.digest(), store.last_change()


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
def calm(source: Path, engine: FakeEngine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an undisturbed run."""
    folder = tmp_path_factory.mktemp("calm")
    assert finish(folder, source, engine.url) == (DOCUMENTS, 0)
    return folder


@pytest.mark.parametrize("round_number", range(ROUNDS))
def test_a_killed_run_repeated_ends_in_the_graph_of_an_undisturbed_one(
    round_number: int, source: Path, engine: FakeEngine, calm: Path, tmp_path: Path
) -> None:
    # Loading reports each document and page, so these fall within loading, the pages, and batches of documents.
    kills = [DOCUMENTS // 2, DOCUMENTS + 4, DOCUMENTS + 8, DOCUMENTS + 30, DOCUMENTS + 45, DOCUMENTS + 55]
    for lines in kills[round_number::ROUNDS]:
        assert kill_after(tmp_path, source, engine.url, lines) == lines, "the run must not end before it is killed"
    finish(tmp_path, source, engine.url)
    assert digest(tmp_path)[0] == digest(calm)[0]


def test_a_run_repeated_changes_nothing_and_a_rebuild_from_the_record_asks_nothing(
    source: Path, engine: FakeEngine, calm: Path
) -> None:
    before, asked = digest(calm), len(engine.requests)
    assert finish(calm, source, engine.url) == (0, 0)
    assert digest(calm) == before
    for path in calm.glob("graph*"):
        path.rename(calm / f"old-{path.name}")
    assert finish(calm, source, engine.url) == (0, DOCUMENTS)
    assert digest(calm)[0] == before[0]
    assert len(engine.requests) == asked
