"""The HTTP API: questions answered as server-sent events, searches, SELECTs, and how things stand."""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from graph.projection import ColumnarProjection
from graph.store import Store
from ontoloom.errors import EngineError, OntoloomError, ProjectionError, StoreError
from ontoloom.progress import OnProgress, silent
from retrieval.index import VectorIndex
from serving import render, wiring
from serving.access import writing
from serving.events import Named, described_error, described_hit, named
from serving.http_ingest import Ingest, ingest_events, refuse_strangers
from serving.http_select import Select, Selects
from serving.settings import Settings
from serving.streaming import stream
from serving.turns import TakingTurns

logger = logging.getLogger(__name__)

WORKERS = 64
Text = Annotated[str, Field(min_length=1, max_length=4_000, pattern=r"\S")]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Ask(Body):
    """A question. ``k``: how many triples it may be answered from."""

    question: Text
    k: int | None = Field(None, ge=1, le=100)


class Search(Body):
    query: Text
    k: int = Field(10, ge=1, le=100)


@dataclass(frozen=True, slots=True)
class Parts:
    """What requests are answered with. Who uses store or projections holds ``turn``: they are for one thread only."""

    settings: Settings
    store: Store
    columns: ColumnarProjection
    vectors: VectorIndex
    turn: threading.Lock
    token: str = ""
    """What a command that hands over a job shows, as proof that it is the same user's."""
    ingesting: threading.Lock = field(default_factory=threading.Lock)


def make_app(parts: Parts) -> FastAPI:
    """The application over open parts, which stay the caller's to close."""
    app = FastAPI(title="ontoloom", docs_url="/docs", redoc_url=None, lifespan=_with_workers)
    selects = Selects()
    app.add_exception_handler(OntoloomError, _user_error)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.add_exception_handler(HTTPException, _http_error)

    @app.get("/healthz")
    async def health() -> Response:
        return _json({"status": "ok"})

    @app.get("/v1/status")
    async def status() -> Response:
        return _json(await _in_turn(parts, lambda: wiring.project_status(parts.settings, parts.store)))

    @app.post("/v1/select")
    async def run_select(body: Select, request: Request) -> Response:
        return await selects.answer(parts, body, request)

    @app.post("/v1/search")
    async def run_search(body: Search) -> Response:
        asking = wiring.Asking(parts.store, parts.vectors)
        found = await _in_turn(parts, lambda: wiring.find_hits(asking, body.query, k=body.k))
        return _json({"hits": [described_hit(hit) for hit in found]})

    @app.post("/v1/ask")
    async def ask(body: Ask) -> Response:
        opened = ExitStack()  # holds the engine, which is closed when the client hangs up: that ends the wait for it
        return stream(lambda _: _worked_out(parts, body, opened), at_end=opened.close)

    @app.post("/v1/ingest")
    async def take_ingest(body: Ingest, request: Request) -> Response:
        refuse_strangers(request.headers.get("authorization"), parts.token)
        return stream(lambda hung_up: ingest_events(parts, body, hung_up), at_end=lambda: None)

    return app


@contextmanager
def open_parts(settings: Settings, *, url: str, on_progress: OnProgress = silent) -> Iterator[Parts]:
    """The store, open for writing and so closed to other writers, and its projections, up to date."""
    ontology = wiring.find_ontology(settings)
    with ExitStack() as stack:
        token = secrets.token_urlsafe(24)
        store = stack.enter_context(writing(settings, ontology, command="serve", url=url, token=token))
        columns = wiring.open_columns(settings, store, on_progress=on_progress)
        columns.refresh()
        vectors = stack.enter_context(wiring.open_vectors(settings, store, on_progress=on_progress))
        vectors.refresh(on_progress=on_progress)
        vectors.embed(["ready"])  # loads the model, which is not to be the first question's wait
        yield Parts(settings, store, columns, vectors, threading.Lock(), token)


def run(settings: Settings) -> None:
    """Opens the parts, brings the projections up to date and serves until it is interrupted."""
    listener = _listen(settings.host, settings.port)
    host, port = listener.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    # uvicorn ends gracefully and then raises the signal again; the default of SIGTERM would leave the store open.
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    with listener, ExitStack() as stack:
        with render.progress() as on_progress:
            parts = stack.enter_context(open_parts(settings, url=url, on_progress=on_progress))
        config = uvicorn.Config(make_app(parts), log_level="warning", timeout_graceful_shutdown=5)
        name = parts.store.ontology.name
        render.errors.print(f"serving {name} at {url} (API: {url}/docs); stop with Ctrl-C", markup=False)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        message = f"cannot listen on {host}:{port}: {error.strerror}"
        raise EngineError(message, code="port-taken", hint="choose another: --port") from None


# Work with the store, one at a time


@asynccontextmanager
async def _with_workers(_: FastAPI) -> AsyncIterator[None]:
    """Threads enough for many answers that wait for the engine; by default there are a few more than cores."""
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="ontoloom-request") as workers:
        asyncio.get_running_loop().set_default_executor(workers)
        yield


async def _in_turn(parts: Parts, work: Callable[[], Any]) -> Any:
    def run_it() -> Any:
        with parts.turn:
            return work()

    return await asyncio.to_thread(run_it)


# Answers


def _worked_out(parts: Parts, body: Ask, opened: ExitStack) -> Iterator[Named]:
    """The answer's events; a fault on the way is the last one, as the status line has gone out long before."""
    engine, _ = wiring.open_engine(parts.settings)
    opened.callback(wiring.close_engine, engine)
    with opened, parts.turn:
        try:
            taking_turns = TakingTurns(engine, parts.turn) if engine is not None else None
            asking = wiring.Asking(parts.store, parts.vectors, taking_turns)
            yield from map(named, wiring.answer_events(parts.settings, asking, body.question, k=body.k))
        except OntoloomError as error:
            yield Named("error", described_error(error))
        except Exception:
            logger.exception("a question could not be answered: %s", body.question)
            yield Named("error", {"code": "internal", "message": "an internal error; see the server's log"})


# Errors


def _user_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, OntoloomError)
    if error.code == "not-allowed":
        return _json(described_error(error), status=403)
    unavailable = isinstance(error, StoreError | EngineError | ProjectionError)
    return _json(described_error(error), status=503 if unavailable else 400)


def _bad_request(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    return _json({"code": "request", "message": f"{where}: {first['msg']}" if where else first["msg"]}, status=422)


def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "http")
    return _json({"code": code, "message": str(error.detail)}, status=error.status_code)


def _json(value: Any, *, status: int = 200) -> Response:
    return Response(render.to_json(value), status_code=status, media_type="application/json")
