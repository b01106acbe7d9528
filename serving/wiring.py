"""The one place where parts are joined: settings in, open parts and finished jobs out.

Heavy libraries are imported by the parts themselves, when first used: a SELECT never loads a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontology.check import check
from ontology.findings import Finding, FindingsError
from ontology.read import read_ontology
from ontology.schema import Ontology
from ontoloom.errors import EngineError, OntologyError
from ontoloom.plugins import load_plugin
from ontoloom.progress import OnProgress, silent
from serving.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa

    from graph.bind import Parameters
    from graph.prepare import AsOf
    from graph.projection import ColumnarProjection
    from graph.publish import Published
    from graph.saved_views import Views
    from graph.store import Store
    from ingest.column_mapping import ColumnMapping
    from ingest.known import KnownNames
    from ingest.policy import MakePolicy
    from ingest.record import Record
    from ingest.summary import Summary
    from ontoloom.protocols import Completion, Embedder, Engine, Extractor, Prompt, Tokenizer
    from ontoloom.records import Hit
    from retrieval.answer import Event
    from retrieval.index import VectorIndex
    from serving.engine import EngineFolders
    from serving.provenance import Sourced


@dataclass(frozen=True, slots=True)
class ProjectCheck:
    """What a check of a whole project came to. ``rules`` is None where there is no rules file, or it was not read."""

    pages: int
    rules: int | None
    findings: tuple[Finding, ...]
    views: int = 0


def run_check(settings: Settings, *, cached: bool = True, on_progress: OnProgress = silent) -> ProjectCheck:
    """Checks ontology, pages, rules and saved views. Raises OntologyError where there is no ontology at all."""
    from ingest.read_rules import read_rules
    from ontology.questions import read_questions

    _refuse_no_project(settings)
    cache = settings.derived / "checks.json" if cached else None
    checked = check(settings.ontology, cache=cache, on_progress=on_progress)
    rules, findings = None, checked.findings
    if checked.ontology is not None and settings.rules.is_file():
        try:
            rules = len(read_rules(settings.rules, checked.ontology).rules)
        except FindingsError as error:
            findings += error.findings
    questions = settings.ontology.parent / "questions.yaml"
    if questions.is_file():
        try:
            read_questions(questions)
        except FindingsError as error:
            findings += error.findings
    views = 0
    if checked.ontology is not None and settings.views.is_dir():
        from graph.check_views import check_views

        views, found = check_views(settings.views, checked.ontology)
        findings += tuple(found)
    return ProjectCheck(len(checked.pages), rules, findings, views)


def _refuse_no_project(settings: Settings) -> None:
    if not settings.ontology.is_file():
        hint = "make a project with 'ontoloom init', or name its folder: ontoloom --project FOLDER …"
        raise OntologyError(f"{settings.ontology}: no such file", hint=hint, code="no-ontology")


def find_ontology(settings: Settings) -> Ontology:
    """The project's ontology. Raises OntologyError where there is none or it does not hold."""
    _refuse_no_project(settings)
    return read_ontology(settings.ontology)


def find_views(settings: Settings, ontology: Ontology) -> Views:
    """The saved views of the project; each that does not hold says why when it is used."""
    from graph.saved_views import read_views

    return read_views(settings.views, ontology)[0]


# Projections


def open_columns(settings: Settings, store: Store, *, on_progress: OnProgress = silent) -> ColumnarProjection:
    from graph.projection import ColumnarProjection

    return ColumnarProjection(store, settings.within(settings.derived) / "columns", on_progress=on_progress)


def open_vectors(
    settings: Settings, store: Store, *, rebuild: bool = False, on_progress: OnProgress = silent
) -> VectorIndex:
    """The vector index, made with the embedder, tokenizer and boundaries of the settings."""
    from retrieval.index import VectorIndex

    return VectorIndex(
        store,
        settings.within(settings.derived) / "vectors",
        embedder=make_embedder(settings),
        tokenizer=make_tokenizer(settings, on_progress=on_progress),
        boundaries=settings.boundaries,
        rebuild=rebuild,
    )


def make_embedder(settings: Settings) -> Embedder:
    embedder: Embedder = load_plugin("embedders", settings.embedder)()
    return embedder


def make_tokenizer(settings: Settings, *, on_progress: OnProgress = silent) -> Tokenizer | None:
    """The LLM's tokenizer; the default model's is fetched and converted where it is missing."""
    from retrieval.tokenizer import read_tokenizer

    if settings.tokenizer == "none":
        return None
    if settings.tokenizer != "default":
        return read_tokenizer(settings.within(settings.tokenizer))
    from serving.model import prepare_tokenizer

    return read_tokenizer(prepare_tokenizer(settings.cache, on_progress=on_progress))


# The engine


def open_engine(settings: Settings) -> tuple[Engine | None, str]:
    """The engine, or None and why there is none. An address that is set is taken at its word."""
    if settings.engine == "none":
        return None, "the setting engine is 'none'"
    url, model = settings.engine, settings.model
    if url == "auto":
        from serving import engine

        server = engine.running(engine_folders(settings))
        if server is None or not engine.is_ready(server):
            return None, "no engine is up (ontoloom engine up)"
        url, model = server.url, server.model
    return _engine_at(settings, url, model), ""


def close_engine(engine: Engine | None) -> None:
    """Releases an engine's connections; engines that have none need no ``close``."""
    close = getattr(engine, "close", None)
    if close is not None:
        close()


def _engine_at(settings: Settings, url: str, model: str) -> Engine:
    opened: Engine = load_plugin("engines", url.partition("://")[0])(url, model=model, concurrency=settings.concurrency)
    return opened


def engine_folders(settings: Settings) -> EngineFolders:
    from serving.engine import EngineFolders

    return EngineFolders(settings.cache, settings.cache / "engine")


# Ingestion


def run_ingest(
    settings: Settings,
    paths: Sequence[Path],
    *,
    mapping: ColumnMapping | None = None,
    use_llm: bool = True,
    dry_run: bool = False,
    prune: bool = False,
    rebuild: bool = False,
    index: bool = True,
    store: Store | None = None,
    on_progress: OnProgress = silent,
) -> Summary:
    """Brings the graph to what the files at ``paths`` say (default: the project's own), then its projections.

    ``dry_run`` does the same to a copy and drops it. ``rebuild`` reads everything into a new store, which takes the
    place of the old one when it is complete. ``index``: bring the vector index up to date as well. Given an open
    ``store``, it writes to that one, and the projections are left to the caller.
    """
    from ingest.load import count, load
    from ingest.pipeline import ingest
    from ingest.record import Record
    from serving.access import reading, rebuilding, rehearsing, writing

    ontology = find_ontology(settings)
    chosen = list(paths) or [settings.project]
    total = count(chosen, mapping=mapping)
    with ExitStack() as stack:
        record = stack.enter_context(Record(settings.within(settings.record)))
        engine, why_none = open_engine(settings) if use_llm else (None, "")
        stack.callback(close_engine, engine)
        open_it = rehearsing if dry_run else rebuilding if rebuild else partial(writing, command="ingest")
        written = store or stack.enter_context(open_it(settings, ontology))
        before = written.last_change()
        summary = ingest(
            load(chosen, mapping=mapping),
            written,
            extractors=make_policy(settings, ontology, record, engine=engine, on_progress=on_progress),
            # Documents that an engine has read are not read again with less.
            preferred=None if engine else make_policy(settings, ontology, record, engine=AbsentEngine(settings.model)),
            total=total,
            prune=prune,
            notes=[f"titles and abstracts were read with the rules alone: {why_none}"] if why_none else [],
            on_progress=on_progress,
        )
        changed = rebuild or written.last_change() != before
    if store is None and not dry_run:
        with reading(settings, ontology) as opened:
            refresh(settings, opened, vectors=index and changed, on_progress=on_progress)
    return summary


class AbsentEngine:
    """Stands for an engine that is not up, where only its name counts."""

    def __init__(self, model: str) -> None:
        self.model = model

    def complete(self, prompts: Iterable[Prompt]) -> Iterator[Completion]:
        del prompts
        raise EngineError("no engine is up", code="engine-down")

    def stream(self, prompt: Prompt) -> Iterator[str]:
        del prompt
        raise EngineError("no engine is up", code="engine-down")


def make_policy(
    settings: Settings,
    ontology: Ontology,
    record: Record,
    *,
    engine: Engine | None,
    on_progress: OnProgress = silent,
) -> MakePolicy:
    """Readers by section, as the settings say; those that cannot be had are left out."""
    from ingest.lexicon import Lexicon
    from ingest.llm import LLMExtractor
    from ingest.rules import RuleExtractor, read_rules

    rules = read_rules(settings.rules, ontology) if settings.rules.is_file() else None

    def make(known: KnownNames) -> Mapping[str, Sequence[Extractor]]:
        readers: dict[str, list[Extractor]] = {"rules": [], "llm": []}
        if rules is not None:
            readers["rules"].append(RuleExtractor(rules, Lexicon(_names(known))))
        if engine is not None:
            readers["llm"].append(LLMExtractor(engine, ontology, record, known=known, on_progress=on_progress))
        return {section: [e for name in names for e in readers[name]] for section, names in settings.policy.items()}

    return make


def _names(known: KnownNames) -> Iterator[tuple[str, str, str]]:
    """Every spelling with each of the entities that it may mean, as a lexicon takes them."""
    for name, _ in known.spellings():
        for entity in known.look_up(name):
            yield name, entity.id, entity.type


def refresh(settings: Settings, store: Store, *, vectors: bool, on_progress: OnProgress = silent) -> None:
    """Brings the projections up to the store's last change."""
    open_columns(settings, store, on_progress=on_progress).refresh()
    if vectors:
        with open_vectors(settings, store, on_progress=on_progress) as index:
            index.refresh(on_progress=on_progress)


# What the graph holds


def project_status(settings: Settings, store: Store) -> dict[str, Any]:
    """What ``status`` shows, on the command line and over HTTP."""
    engine, why_none = open_engine(settings)
    close_engine(engine)
    statuses = Counter(state.status for state in store.documents().values())
    return {
        "store": settings.store_location,
        "change": store.last_change(),
        "ontology": f"{store.ontology.name} {store.ontology.stamp}",
        "engine": why_none if engine is None else f"{engine.model} at {getattr(engine, 'url', 'this process')}",
        "documents": dict(sorted(statuses.items())),
        "counts": store.counts(),
    }


def run_select(
    settings: Settings,
    sql: str,
    *,
    parameters: Parameters = (),
    as_of: AsOf | None = None,
    sources: bool = False,
    max_rows: int,
    timeout: float,
    on_progress: OnProgress = silent,
) -> Sourced:
    """Rows of one SELECT; with ``sources`` also where each value comes from."""
    from graph.prepare import reader
    from graph.select import select
    from serving.access import reading
    from serving.provenance import Sourced, select_with_sources

    with reading(settings, find_ontology(settings)) as store:
        columns = open_columns(settings, store, on_progress=on_progress)
        read = reader(parameters=parameters, views=find_views(settings, store.ontology), as_of=as_of)
        if sources:
            return select_with_sources(store, columns, sql, max_rows=max_rows, timeout=timeout, read=read)
        return Sourced(select(store, columns, sql, max_rows=max_rows, timeout=timeout, read=read), [])


def run_cypher(
    settings: Settings, query: str, parameters: Mapping[str, object], *, max_rows: int, timeout: float
) -> pa.Table:
    """Rows of one Cypher query that only reads."""
    from graph.cypher import check as check_query
    from serving.access import reading

    check_query(query)
    with reading(settings, find_ontology(settings)) as store:
        return store.cypher(query, parameters, max_rows=max_rows, timeout=timeout)


def run_publish(
    settings: Settings, address: str, *, schema: str, dry_run: bool, on_progress: OnProgress = silent
) -> Published:
    """Writes the graph's tables to where other tools read them."""
    from graph.publish import open_target, publish
    from serving.access import reading

    target = open_target(address, schema=schema)
    with reading(settings, find_ontology(settings)) as store:
        columns = open_columns(settings, store, on_progress=on_progress)
        return publish(store, columns, target, dry_run=dry_run, on_progress=on_progress)


# Questions


@dataclass(frozen=True, slots=True)
class Asking:
    """Open parts that questions are answered with. ``why_none`` says why there is no engine."""

    store: Store
    vectors: VectorIndex
    engine: Engine | None = None
    why_none: str = ""


@contextmanager
def asking(settings: Settings, *, use_engine: bool = True, on_progress: OnProgress = silent) -> Iterator[Asking]:
    """The store as it was last committed, with the vector index brought up to it, and the engine where one is up."""
    from serving.access import reading

    with ExitStack() as stack:
        store = stack.enter_context(reading(settings, find_ontology(settings)))
        vectors = stack.enter_context(open_vectors(settings, store, on_progress=on_progress))
        vectors.refresh(on_progress=on_progress)
        engine, why_none = open_engine(settings) if use_engine else (None, "")
        stack.callback(close_engine, engine)
        yield Asking(store, vectors, engine, why_none)


def answer_events(settings: Settings, parts: Asking, question: str, *, k: int | None = None) -> Iterator[Event]:
    """The events of an answer, as they come."""
    from retrieval.answer import answer

    return answer(
        question,
        store=parts.store,
        index=parts.vectors,
        engine=parts.engine,
        k=k or settings.top_k,
        budget=settings.token_budget,
    )


def find_hits(parts: Asking, query: str, *, k: int) -> list[Hit]:
    """The ``k`` triples that fit a query best."""
    from retrieval.search import search

    return search(query, store=parts.store, index=parts.vectors, k=k)
