"""What tests need from outside the project, by name: a test that lacks it says so when it skips."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from neo4j_parts import LiveServer
    from stores_under_test import MakeStore

    from graph.store import Store
    from retrieval.index import VectorIndex

from postgres_server import missing_postgres

from serving import engine, neo4j_install
from serving.engine import EngineFolders
from serving.engine_install import why_not
from serving.processes import session_members
from serving.settings import default_cache

ROOT = Path(__file__).resolve().parent.parent
Requires = Callable[[str], None]
STORES = ("reference", "ladybug", "ladybug-copy", "neo4j")
"""Names in ``stores_under_test.MAKERS``."""


def missing_data() -> str:
    return "" if data_folder().is_dir() else f"there is no folder {data_folder()} (set ONTOLOOM_DATA)"


def missing_vllm() -> str:
    return why_not(default_cache())


def missing_neo4j() -> str:
    return neo4j_install.why_not(default_cache(), "5.26")


def missing_neo4j_2026() -> str:
    return neo4j_install.why_not(default_cache(), "2026")


def missing_gpu() -> str:
    return "" if Path("/dev/nvidiactl").exists() else "there is no NVIDIA GPU"


MISSING: dict[str, Callable[[], str]] = {
    "data": missing_data,
    "vllm": missing_vllm,
    "gpu": missing_gpu,
    "neo4j": missing_neo4j,
    "neo4j-2026": missing_neo4j_2026,
    "postgres": missing_postgres,
}


def data_folder() -> Path:
    """The folder with data for tests and benches."""
    return Path(os.environ.get("ONTOLOOM_DATA", ROOT.parent / "shared" / "data"))


def require(part: str) -> None:
    """Skips the running test, by name, where a real part is absent; fails it where ONTOLOOM_REQUIRE lists the part."""
    reason = MISSING[part]()
    if not reason:
        return
    if part in os.environ.get("ONTOLOOM_REQUIRE", "").replace(",", " ").split():
        pytest.fail(f"ONTOLOOM_REQUIRE lists {part}, but {reason}", pytrace=False)
    pytest.skip(f"needs {part}: {reason}")


@pytest.fixture(scope="session")
def requires() -> Requires:
    """``requires("vllm")`` at the head of a test: without that part, it is skipped, or fails where CI requires it."""
    return require


@pytest.fixture(scope="session")
def data() -> Path:
    """The data folder; the test skips without it."""
    require("data")
    return data_folder()


@pytest.fixture(scope="session")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineFolders]:
    """The real vLLM with the default model, started once for all tests; the test skips where it can't be had.

    The installation and the weights are the user's own, in the cache; the server is the tests' own.
    """
    require("vllm")
    folders = EngineFolders(default_cache(), tmp_path_factory.mktemp("engine"))
    server = engine.up(folders)
    processes = session_members(server.pid)
    yield folders
    assert engine.down(folders)
    assert not session_members(server.pid)
    assert len(processes) > 1, "vLLM has workers; a session with one process was not the real one"


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A real Neo4j 5.26 on a port of its own, started once for all tests; they empty it, and share it one by one."""
    yield from live_neo4j("neo4j", "5.26", tmp_path_factory)


@pytest.fixture(scope="session")
def neo4j_2026_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """The same of the 2026 line."""
    yield from live_neo4j("neo4j-2026", "2026", tmp_path_factory)


def live_neo4j(part: str, version: str, folders: pytest.TempPathFactory) -> Iterator[LiveServer]:
    from neo4j_parts import LiveServer

    require(part)
    server = LiveServer(folders.mktemp(part), version)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def example_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, VectorIndex]]:
    """The bundled example, read with its rules into the embedded store, and a fresh vector index of it."""
    from retrieval_parts import ingest_example, minilm, train_tokenizer

    from retrieval.index import VectorIndex
    from retrieval.tokenizer import read_tokenizer

    folder = tmp_path_factory.mktemp("example")
    tokenizer = read_tokenizer(train_tokenizer(folder / "model"))
    with (
        ingest_example(ROOT / "examples" / "ai-infra", folder / "graph") as store,
        VectorIndex(store, folder / "vectors", embedder=minilm(), tokenizer=tokenizer) as index,
    ):
        index.refresh()
        yield store, index


@pytest.fixture(params=STORES)
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    """Makes empty stores of one sort: every test that asks for one runs over each sort."""
    from stores_under_test import MAKERS

    opened: list[Store] = []

    def make() -> Store:
        opened.append(MAKERS[request.param](request, tmp_path / f"store{len(opened)}"))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store()
