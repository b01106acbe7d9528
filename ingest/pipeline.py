"""Documents into the graph: skip what is unchanged, extract, judge, write whole documents many to a transaction.

What a document comes to depends on its text, the ontology, the extractors and the wiki pages, and on nothing else. So a
run is safe to kill and repeat, and the order in which documents came leaves no trace:

1. all that was loaded is spooled to disk; pages are parsed, and with those already in the store give the known names
2. stored documents whose names mean something else by now are read again from their stored text
3. then come the pages, then the documents, in batches; last, what is to be removed

Pages are written after step 2, so a run that was killed within it begins it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from graph.store import DocumentState, Store
from ingest.cues import Cues, collect_cues
from ingest.judge import Heard, judge
from ingest.known import KnownNames
from ingest.loaded import Loaded, LoadFailure
from ingest.policy import MakePolicy, Policy, extractors_of, fingerprint_policy, make_policy, run_extractors
from ingest.spool import Spool
from ingest.summary import Asks, Summary, Tally, Usage
from ingest.wiki import claims_of, page_entity, read_page, references_of
from ontology.pages import Page
from ontoloom.errors import InputError
from ontoloom.names import hash_id
from ontoloom.progress import OnProgress, Progress, silent
from ontoloom.records import Document, Extraction


@dataclass(slots=True)
class _Gathered:
    """What was loaded: pages in memory, documents on disk, and the ids of all that there was, failed or not."""

    spool: Spool
    pages: dict[str, tuple[Document, Page]] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Run:
    """What the steps of one run share."""

    store: Store
    known: KnownNames
    cues: Cues
    policy: Policy
    static: str
    accepted: frozenset[str]
    states: Mapping[str, DocumentState]
    tally: Tally
    batch: int
    reread: dict[str, str] = field(default_factory=dict)

    def fingerprint(self, document: Document, page: Page | None) -> str:
        return f"{self.static}.{self._names(document, page)}"

    def is_current(self, document: Document, page: Page | None) -> bool:
        """Whether the store holds what reading the document again would come to."""
        state = self.states.get(document.id)
        if state is None or state.status == "failed" or state.hash != document.hash:
            return False
        static, _, names = state.fingerprint.partition(".")
        return static in self.accepted and names == self._names(document, page)

    def is_stale(self, document: Document, page: Page | None) -> bool:
        """Whether names in a stored document mean something else by now."""
        return self.states[document.id].fingerprint.partition(".")[2] != self._names(document, page)

    def _names(self, document: Document, page: Page | None) -> str:
        """A hash of what the names in a document, and the pages it refers to, mean; empty where there are none."""
        names = self.known.fingerprint(f"{document.title}\n{document.text}")
        if page is None:
            return names
        targets = [f"{page_id} {self.known.page(page_id)}" for page_id in sorted(references_of(page))]
        return hash_id(names, *targets)


def ingest(
    loaded: Iterable[Loaded],
    store: Store,
    *,
    extractors: Policy | MakePolicy,
    batch_documents: int = 64,
    total: int | None = None,
    prune: bool = False,
    preferred: Policy | MakePolicy | None = None,
    notes: Sequence[str] = (),
    on_progress: OnProgress = silent,
) -> Summary:
    """Brings the store to what the loaded documents say, and says what became of each.

    ``extractors`` by section (see ``ingest.policy``). ``total`` is about how many documents will be loaded, for the
    progress of the first step. ``prune`` removes from the store what was not loaded in this run; a document that
    could not be loaded stays. ``preferred`` is a policy that cannot be had now, such as one with an engine that is
    down: documents that were read with it are left as they are.

    Raises EngineError where an engine is needed and does not answer, StoreError, and InputError where pruning
    would empty the store.
    """
    tally = Tally()
    with Spool() as spool:
        gathered = _gather(loaded, store, spool, tally, total=total, on_progress=on_progress)
        states = store.documents()
        vanished = _vanished(states, gathered) if prune else []
        known, changed = _known_names(store, states, gathered, vanished)
        policy = make_policy(extractors, known)
        static = fingerprint_policy(policy, store.ontology)
        better = [] if preferred is None else [fingerprint_policy(make_policy(preferred, known), store.ontology)]
        run = _Run(
            store=store,
            known=known,
            cues=collect_cues(store.ontology),
            policy=policy,
            static=static,
            accepted=frozenset([static, *better]),
            states=states,
            tally=tally,
            batch=max(1, batch_documents),
        )
        if changed:
            _reread(run, gathered, frozenset(vanished), on_progress)
        _read_all(run, gathered, on_progress)
    if vanished:
        store.delete(vanished)
        tally.pruned = len(vanished)
    return tally.summarise(store.counts(), _usage(policy), change=store.last_change(), notes=notes)


def _usage(policy: Policy) -> Usage:
    used = Usage()
    for extractor in extractors_of(policy):
        if isinstance(extractor, Asks):
            used.sent += extractor.usage.sent
            used.replayed += extractor.usage.replayed
            used.prompt_tokens += extractor.usage.prompt_tokens
            used.completion_tokens += extractor.usage.completion_tokens
    return used


# Step 1: what there is


def _gather(
    loaded: Iterable[Loaded],
    store: Store,
    spool: Spool,
    tally: Tally,
    *,
    total: int | None,
    on_progress: OnProgress,
) -> _Gathered:
    gathered = _Gathered(spool)
    for done, item in enumerate(loaded, start=1):
        if isinstance(item, LoadFailure):
            gathered.ids.add(item.source)
            tally.fail(item.source, [("", item.code, item.message)])
        elif item.id in gathered.ids:
            tally.fail(item.id, [("", "duplicate-id", f"a document with the id '{item.id}' was loaded before")])
        else:
            gathered.ids.add(item.id)
            _sort_in(item, store, gathered, tally)
        on_progress(Progress("load", done, max(total, done) if total is not None else None, _name(item)))
    return gathered


def _name(item: Loaded) -> str:
    return item.source if isinstance(item, LoadFailure) else item.id


def _sort_in(document: Document, store: Store, gathered: _Gathered, tally: Tally) -> None:
    if document.kind != "page":
        gathered.spool.put(document)
        return
    page = read_page(document, store.ontology)
    if isinstance(page, Page):
        gathered.pages[document.id] = (document, page)
    else:
        tally.fail(document.id, [(failure.where, failure.code, failure.message) for failure in page])


def _vanished(states: Mapping[str, DocumentState], gathered: _Gathered) -> list[str]:
    """Stored documents that were not loaded; rows of a table that failed as a whole are not among them."""
    gone = [i for i in states if i not in gathered.ids and i.rpartition("#")[0] not in gathered.ids]
    if gone and len(gone) == len(states):
        raise InputError(
            "pruning would remove every document of the store", hint="check the paths, or delete the store"
        )
    return gone


def _known_names(
    store: Store, states: Mapping[str, DocumentState], gathered: _Gathered, vanished: Sequence[str]
) -> tuple[KnownNames, bool]:
    """The names that pages give once this run is done, and whether they differ from those of the stored pages."""
    now = {document_id: page for document_id, (_, page) in gathered.pages.items()}
    before: dict[str, Page] = {}
    for document_id in (i for i, state in states.items() if state.kind == "page"):
        given = gathered.pages.get(document_id)
        if given is not None and given[0].hash == states[document_id].hash:
            before[document_id] = given[1]
            continue
        stored = store.document(document_id)
        page = read_page(stored, store.ontology) if stored is not None else ()
        if isinstance(page, Page):
            before[document_id] = page
            if given is None and document_id not in vanished:
                now[document_id] = page
    known = KnownNames(now.items())
    return known, known.differs_from(KnownNames(before.items()))


# Step 2: what pages changed in documents of earlier runs


def _reread(run: _Run, gathered: _Gathered, vanished: frozenset[str], on_progress: OnProgress) -> None:
    others = [i for i in run.states if i not in gathered.pages and i not in vanished]
    stale = (found for document_id in others if (found := _stale(run, document_id)))
    for done, batch in _batches(stale, run.batch):
        for extraction in _write(run, batch):
            run.reread[extraction.document.id] = extraction.status
            run.tally.wrote(extraction, is_loaded=extraction.document.id in gathered.ids)
        on_progress(Progress("read again", done, None, batch[-1][0].id))


def _stale(run: _Run, document_id: str) -> tuple[Document, Page | None] | None:
    """A stored document, where its names mean something else by now."""
    document = run.store.document(document_id)
    if document is None:
        return None
    page = read_page(document, run.store.ontology) if document.kind == "page" else None
    if isinstance(page, tuple):
        return None  # no page by today's ontology: what the store holds stays until the page is mended
    return (document, page) if run.is_stale(document, page) else None


# Step 3: pages and documents of this run


def _read_all(run: _Run, gathered: _Gathered, on_progress: OnProgress) -> None:
    total = len(gathered.pages) + len(gathered.spool)
    pages: Iterator[tuple[Document, Page | None]] = (gathered.pages[key] for key in sorted(gathered.pages))
    done = _read_each(run, pages, 0, total, on_progress)
    _read_each(run, ((document, None) for document in gathered.spool), done, total, on_progress)


def _read_each(
    run: _Run, documents: Iterator[tuple[Document, Page | None]], done: int, total: int, on_progress: OnProgress
) -> int:
    """Reads what is not current, and counts all; returns how many documents are done."""
    waiting: list[tuple[Document, Page | None]] = []
    for document, page in documents:
        if document.id in run.reread:
            done += 1
        elif run.is_current(document, page):
            run.tally.statuses["unchanged"] += 1
            done += 1
        else:
            waiting.append((document, page))
        if len(waiting) >= run.batch:
            done = _finish(run, waiting, done)
            waiting = []
        on_progress(Progress("ingest", done, total, document.id))
    done = _finish(run, waiting, done)
    on_progress(Progress("ingest", done, total))
    return done


def _finish(run: _Run, waiting: list[tuple[Document, Page | None]], done: int) -> int:
    if waiting:
        for extraction in _write(run, waiting):
            run.tally.wrote(extraction, is_loaded=True)
    return done + len(waiting)


def _write(run: _Run, batch: Sequence[tuple[Document, Page | None]]) -> list[Extraction]:
    """One transaction of whole documents."""
    extractions = _extract(run, batch)
    run.store.write(extractions)
    return extractions


def _extract(run: _Run, batch: Sequence[tuple[Document, Page | None]]) -> list[Extraction]:
    heard = run_extractors(run.policy, [(document, page.body_start if page else 0) for document, page in batch])
    extractions = []
    for (document, page), (claims, failures) in zip(batch, heard, strict=True):
        stated, unlinked = claims_of(page, run.known) if page else ([], [])
        extractions.append(
            judge(
                document,
                [*claims, *(Heard(claim, "page") for claim in stated)],
                ontology=run.store.ontology,
                known=run.known,
                cues=run.cues,
                page=page_entity(document, page) if page else None,
                refused=[(u.claim, "dangling-reference", u.message) for u in unlinked],
                failures=failures,
                fingerprint=run.fingerprint(document, page),
            )
        )
    return extractions


def _batches(
    items: Iterable[tuple[Document, Page | None]], size: int
) -> Iterator[tuple[int, list[tuple[Document, Page | None]]]]:
    source, done = iter(items), 0
    while batch := list(islice(source, size)):
        done += len(batch)
        yield done, batch
