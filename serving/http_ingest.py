"""Ingestion in a running service, which holds the store: another command hands over its job and sees it through."""

from __future__ import annotations

import logging
import queue
import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from ingest.column_mapping import ColumnMapping
from ontoloom.errors import OntoloomError, StoreError
from ontoloom.progress import Progress
from serving import render, wiring
from serving.events import Named, described_error
from serving.turns import in_turns

if TYPE_CHECKING:
    from serving.http import Parts

logger = logging.getLogger(__name__)


class Ingest(BaseModel):
    """The job of ``ontoloom ingest``; ``paths`` as the service sees them, none for the project's own."""

    model_config = ConfigDict(extra="forbid")
    paths: list[Path] = []
    mapping: ColumnMapping | None = None
    use_llm: bool = True
    prune: bool = False
    index: bool = True


class Abandoned(Exception):
    """Nobody waits for the job any more. What was written until then are whole documents."""


def refuse_strangers(authorization: str | None, token: str) -> None:
    """A job names files to read, so only who can read the service's note of the store may hand one over."""
    shown = (authorization or "").removeprefix("Bearer ")
    if not token or not secrets.compare_digest(shown.encode(), token.encode()):
        hint = "'ontoloom ingest' in the project's folder shows the token that the service has left there"
        raise OntoloomError("this service takes jobs from its own user alone", code="not-allowed", hint=hint)


def ingest_events(parts: Parts, job: Ingest, hung_up: threading.Event) -> Iterator[Named]:
    """``progress`` events, then a ``summary``; or an ``error``, as the last one."""
    if not parts.ingesting.acquire(blocking=False):
        yield Named("error", {"code": "store-locked", "message": "the service is ingesting for another command"})
        return
    try:
        yield from _told(lambda tell: _ingest(parts, job, tell), hung_up)
    except OntoloomError as error:
        yield Named("error", described_error(error))
    except Abandoned:
        logger.warning("an ingest that was handed over was given up by the command that waited for it")
    except Exception:
        logger.exception("an ingest that was handed over failed")
        yield Named("error", {"code": "internal", "message": "an internal error; see the service's log"})
    finally:
        parts.ingesting.release()


def _told(work: Callable[[Callable[[Progress], None]], Any], hung_up: threading.Event) -> Iterator[Named]:
    """Runs work in a thread; gives its progress as it comes, then its result. Raises what it raises."""
    told: queue.SimpleQueue[Progress | None] = queue.SimpleQueue()
    results: list[Any] = []
    errors: list[BaseException] = []

    def tell(progress: Progress) -> None:
        if hung_up.is_set():
            raise Abandoned
        told.put(progress)

    def run() -> None:
        try:
            results.append(work(tell))
        except BaseException as error:  # noqa: BLE001  # raised again in the thread that waits
            errors.append(error)
        finally:
            told.put(None)

    worker = threading.Thread(target=run, name="ontoloom-ingest")
    worker.start()
    while (progress := told.get()) is not None:
        yield Named("progress", asdict(progress))
    worker.join()
    if errors:
        raise errors[0]
    yield Named("summary", render.plain(results[0]))


def _ingest(parts: Parts, job: Ingest, tell: Callable[[Progress], None]) -> Any:
    now = wiring.find_ontology(parts.settings).stamp
    if now != parts.store.ontology.stamp:
        message = f"the service runs under ontology {parts.store.ontology.stamp}, the project's is {now} by now"
        raise StoreError(message, hint="restart 'ontoloom serve'", code="store-ontology")
    summary = wiring.run_ingest(
        parts.settings,
        job.paths,
        mapping=job.mapping,
        use_llm=job.use_llm,
        prune=job.prune,
        store=in_turns(parts.store, parts.turn),
        on_progress=tell,
    )
    with parts.turn:
        parts.columns.refresh()
        if job.index:
            parts.vectors.refresh(on_progress=tell)
    return summary
