"""``ontoloom demo``: the whole job on the bundled example, step by step, each with what it came to."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ontoloom.errors import EngineError, OntologyError, SettingsError
from ontoloom.plugins import plugin_names
from serving import engine, neo4j_server, render, wiring
from serving.access import reading
from serving.cli_graph import show_summary
from serving.cli_query import show_answer
from serving.cli_rows import show_sourced
from serving.scaffold import example_folder
from serving.settings import Settings

FOLDER = Path(".ontoloom") / "demo"
STEPS = 6
QUESTIONS = (
    "How much text, counted in tokens, can Mixtral 8x7B read in one go?",
    "Who came up with the Transformer?",
    "Under which licence is the model that Zephyr 7B beta was made from?",
)
UNANSWERABLE = "Who founded Mistral AI?"
STATEMENT = "SELECT * FROM Model WHERE training_method = 'DPO'"


def run_demo(settings: Settings, *, store: str, use_engine: bool) -> None:
    """Runs all steps in ``.ontoloom/demo`` of the current folder. The servers that it started, it stops."""
    began = time.monotonic()
    with _demo_store(settings, store) as example:
        _check(example)
        with _engine(example, wanted=use_engine) as has_engine:
            example = example if has_engine else example.model_copy(update={"engine": "none"})
            _ingest(example)
            _index(example)
            _ask(example)
            _select(example)
    seconds = time.monotonic() - began
    render.output.print(f"\n[bold green]done[/] in {seconds:.0f} s. Now with your own: ontoloom init my-project")


@contextmanager
def _demo_store(settings: Settings, store: str) -> Iterator[Settings]:
    """The example on the store that is wanted; for ``neo4j``, a server with data of its own, unless it is up."""
    if store != "neo4j":
        yield demo_settings(settings, store)
        return
    home, password = FOLDER / "neo4j" / "server", os.environ.get("ONTOLOOM_NEO4J_PASSWORD", "")
    was_up = neo4j_server.running(home) is not None
    try:
        with render.progress() as on_progress:
            server = neo4j_server.start(settings.cache, home, password=password, on_progress=on_progress)
        render.output.print(f"Neo4j {server.version} answers at {server.url}", markup=False)
        location = neo4j_server.store_location(server, user="neo4j" if password else "")
        yield demo_settings(settings, location, derived=home.parent)
    finally:
        if not was_up:
            neo4j_server.stop(home)


def demo_settings(settings: Settings, store: str, *, derived: Path = FOLDER) -> Settings:
    """The example as the project, with everything that is made of it in the demo's own folder."""
    folder = FOLDER.resolve()
    if "://" not in store and store != "ladybug":
        known = ", ".join(plugin_names("stores"))
        raise SettingsError(
            f"there is no demo on the store '{store}'", hint=f"'ladybug', 'neo4j', or an address: {known}"
        )
    return settings.model_copy(
        update={
            "project": example_folder(),
            "store": store if "://" in store else str(folder / "graph"),
            "derived": derived.resolve(),
            "record": folder / "answers.sqlite",
        }
    )


@contextmanager
def _step(number: int, title: str) -> Iterator[None]:
    render.output.print(f"\n[bold]{number} of {STEPS} · {title}[/]")
    began = time.monotonic()
    yield
    render.output.print(f"[dim]{time.monotonic() - began:.1f} s[/]")


def _check(example: Settings) -> None:
    with _step(1, "check the ontology, its wiki pages and rules"):
        with render.progress() as on_progress:
            checked = wiring.run_check(example, on_progress=on_progress)
        for finding in checked.findings:
            render.output.print(str(finding), markup=False)
        if any(finding.severity == "error" for finding in checked.findings):
            raise OntologyError("the bundled example does not hold", hint="see the findings above")
        render.output.print(
            f"{checked.pages} pages and {checked.rules} rules hold under {example.ontology}", markup=False
        )


@contextmanager
def _engine(example: Settings, *, wanted: bool) -> Iterator[bool]:
    """Whether there is an engine; one that is started here ends with the demo."""
    folders = wiring.engine_folders(example)
    was_up = engine.running(folders) is not None
    with _step(2, "start vLLM with SmolLM2-135M-Instruct"):
        found = _start(folders) if wanted else "not wanted (--no-llm)"
        if isinstance(found, str):
            render.output.print(f"without an engine: {found}; going on with rules and extractive answers", markup=False)
        else:
            render.output.print(f"{found.model} answers at {found.url}", markup=False)
    try:
        yield not isinstance(found, str)
    finally:
        if not was_up and not isinstance(found, str):
            engine.down(folders)


def _start(folders: engine.EngineFolders) -> engine.Running | str:
    """The running engine, or why there is none. What was being started when the user interrupts is stopped."""
    was_up = engine.running(folders) is not None
    try:
        with render.progress() as on_progress:
            return engine.up(folders, on_progress=on_progress)
    except EngineError as error:
        return " ".join(str(error).split())
    except KeyboardInterrupt:
        if not was_up:
            engine.down(folders)
        raise


def _ingest(example: Settings) -> None:
    with _step(3, "ingest: rules on every section, the LLM on title and abstract"):
        with render.progress() as on_progress:
            summary = wiring.run_ingest(example, [], index=False, on_progress=on_progress)
        show_summary(summary)


def _index(example: Settings) -> None:
    with _step(4, "embed the triples, aligned with the LLM's tokenizer, into FAISS"):
        with render.progress() as on_progress, reading(example, wiring.find_ontology(example)) as store:
            wiring.refresh(example, store, vectors=True, on_progress=on_progress)
            triples = sum(store.counts().triples.values())
        render.output.print(f"{triples} triples, one chunk each", markup=False)


def _ask(example: Settings) -> None:
    with _step(5, "ask: three questions, and one that nothing here answers"), wiring.asking(example) as parts:
        for question in (*QUESTIONS, UNANSWERABLE):
            render.output.print(f"\n[bold]{render.escape(question)}[/]")
            show_answer(wiring.answer_events(example, parts, question))


def _select(example: Settings) -> None:
    with _step(6, "select"):
        render.output.print(f"{STATEMENT}\n", markup=False)
        found = wiring.run_select(example, STATEMENT, sources=True, max_rows=100, timeout=30.0)
        names = [column.name for column in found.selection.columns]
        show_sourced(names, found.selection.rows.to_pylist(), found.sources)
