"""``POST /v1/select``: rows as JSON, page by page, or all of them as an Arrow stream."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from graph.bind import Parameters
from graph.prepare import AsOf, read_as_of_text, reader
from graph.saved_views import Views
from graph.select import Selection, select
from ontoloom.errors import QueryError
from serving import render, wiring
from serving.arrow_stream import MEDIA_TYPE, Rows, write_stream
from serving.provenance import Sourced, select_with_sources
from serving.turns import in_turns

if TYPE_CHECKING:
    from serving.http import Parts

AT_ONCE = 4
"""SELECTs that run side by side; further ones wait."""
PAGE_ROWS, MOST_PAGE_ROWS, MOST_PAGED_ROWS = 1_000, 10_000, 100_000
"""Rows of a page by default and at most, and of all pages together."""
MOST_ARROW_ROWS = 1_000_000
KEPT_BYTES, KEPT_SECONDS = 256 * 2**20, 600.0
LOOK = 0.1
"""Seconds between two looks at whether the client is still there."""

Result = TypeVar("Result")


class Select(BaseModel):
    """One SELECT statement, with values for its parameters: a list for ``?``, an object for ``$name``.

    Values that JSON lacks are ``{"date": "2024-05-01"}``, ``{"timestamp": …}``, ``{"decimal": "1.50"}``. ``as_of`` is
    the number of a change, or a time. With ``page_token`` instead of ``sql``, the rows after those of an earlier page.
    """

    model_config = ConfigDict(extra="forbid")

    sql: Annotated[str, Field(max_length=100_000)] | None = None
    parameters: list[Any] | dict[str, Any] = Field(default_factory=list)
    as_of: int | str | None = None
    limit: int | None = Field(None, ge=1, le=MOST_ARROW_ROWS)
    timeout: float = Field(30.0, gt=0, le=600)
    sources: bool = False
    page_token: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows with the number of the change that they are of."""

    found: Sourced
    change: int

    @property
    def selection(self) -> Selection:
        return self.found.selection


class Selects:
    """What SELECTs over HTTP share: how many may run at once, and results of which pages are still to come."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)
        self._pages = Pages()

    async def answer(self, parts: Parts, body: Select, request: Request) -> Response:
        """Runs a statement until it is done, or the client has gone. Raises QueryError."""
        as_arrow = MEDIA_TYPE in request.headers.get("accept", "")
        if not as_arrow and (body.limit or 0) > MOST_PAGE_ROWS:
            raise invalid("limit", f"Input should be less than or equal to {MOST_PAGE_ROWS}")
        if body.page_token:
            if body.sql is not None or as_arrow:
                raise invalid("page_token", "A page token stands without sql, for JSON rows")
            return self._page(*self._pages.find(body.page_token), body.limit or PAGE_ROWS)
        if body.sql is None:
            raise invalid("sql", "Field required")
        rows = body.limit or MOST_ARROW_ROWS if as_arrow else MOST_PAGED_ROWS
        cancelled = threading.Event()
        async with self._places:
            work = asyncio.create_task(asyncio.to_thread(run, parts, body, rows, cancelled))
            answer = await unless_gone(work, request, cancelled)
        if as_arrow:
            return as_stream(answer)
        return self._page(self._pages.new_key(), answer, 0, body.limit or PAGE_ROWS)

    def _page(self, key: str, answer: Answer, start: int, rows: int) -> Response:
        selection, end = answer.selection, start + rows
        page: dict[str, Any] = {
            "columns": [{"name": column.name, "type": column.type} for column in selection.columns],
            "rows": selection.rows.slice(start, end - start).to_pylist(),
            "truncated": selection.truncated or end < selection.rows.num_rows,
            "change": answer.change,
        }
        if answer.found.sources:
            page["sources"] = answer.found.sources[start:end]
        if end < selection.rows.num_rows and self._pages.keep(key, answer):
            page["next_page_token"] = f"{key}.{end}"
        return Response(render.to_json(page), media_type="application/json")


def invalid(field: str, message: str) -> RequestValidationError:
    return RequestValidationError([{"loc": ("body", field), "msg": message, "type": "value_error"}])


def run(parts: Parts, body: Select, rows: int, cancelled: threading.Event) -> Answer:
    """Runs a statement beside other work: the store is used in turns, the tables are this statement's own to read."""
    store = in_turns(parts.store, parts.turn)
    columns = wiring.open_columns(parts.settings, store)
    read = reader(parameters=parameters_of(body), views=views_of(parts), as_of=as_of(body))
    limits: dict[str, Any] = {"max_rows": rows, "timeout": body.timeout, "cancelled": cancelled, "read": read}
    sql = body.sql or ""
    if body.sources:
        found = select_with_sources(store, columns, sql, **limits)
    else:
        found = Sourced(select(store, columns, sql, **limits), [])
    return Answer(found, columns.change)


def views_of(parts: Parts) -> Views:
    return wiring.find_views(parts.settings, parts.store.ontology)


def as_of(body: Select) -> AsOf | None:
    return read_as_of_text(body.as_of) if isinstance(body.as_of, str) else body.as_of


TYPED: dict[str, Callable[[str], date | Decimal]] = {
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "decimal": Decimal,
}


def parameters_of(body: Select) -> Parameters:
    given = body.parameters
    if isinstance(given, dict):
        return {name: value_of(value) for name, value in given.items()}
    return [value_of(value) for value in given]


def value_of(value: Any) -> Any:
    """A value as JSON holds it: see Select."""
    if isinstance(value, list):
        return [value_of(item) for item in value]
    if not isinstance(value, dict):
        return value
    for kind, convert in TYPED.items():
        if list(value) == [kind] and isinstance(value[kind], str):
            try:
                return convert(value[kind])
            except (ValueError, ArithmeticError):
                raise QueryError(f"'{value[kind]}' is no {kind}", code="parameters") from None
    raise QueryError(f"an object as a value has one of {', '.join(TYPED)}", code="parameters")


async def unless_gone(work: asyncio.Task[Result], request: Request, cancelled: threading.Event) -> Result:
    """The result of work; once the client has gone, the work is told so."""
    while not work.done():
        if await request.is_disconnected():
            cancelled.set()
            break
        await asyncio.wait({work}, timeout=LOOK)
    return await work


def as_stream(answer: Answer) -> Response:
    """All rows as an Arrow stream."""
    selection = answer.selection
    columns = [(column.name, column.type) for column in selection.columns]
    parts = write_stream(Rows(columns, selection.rows, selection.truncated, answer.change))

    async def chunks() -> AsyncIterator[bytes]:
        while (part := await asyncio.to_thread(next, parts, None)) is not None:
            yield part

    return StreamingResponse(chunks(), media_type=MEDIA_TYPE)


class Pages:
    """Results of which pages are still to come, so that all pages are of one change and in one order.

    The longest unread go first when there is too much of them. For several threads at once.
    """

    def __init__(self, *, most_bytes: int = KEPT_BYTES, seconds: float = KEPT_SECONDS) -> None:
        self._kept: OrderedDict[str, tuple[Answer, float]] = OrderedDict()
        self._lock = threading.Lock()
        self._most_bytes = most_bytes
        self._seconds = seconds

    def new_key(self) -> str:
        return secrets.token_urlsafe(12)

    def keep(self, key: str, answer: Answer) -> bool:
        """Keeps a result for a while; says whether there is room for it at all."""
        if answer.selection.rows.nbytes > self._most_bytes:
            return False
        with self._lock:
            self._kept[key] = answer, time.monotonic() + self._seconds
            self._kept.move_to_end(key)
            self._forget()
        return True

    def find(self, token: str) -> tuple[str, Answer, int]:
        """Key, result and first row of a page. Raises QueryError where the result is not kept any more."""
        key, _, start = token.rpartition(".")
        with self._lock:
            self._forget()
            found = self._kept.get(key)
        if found is None or not start.isascii() or not start.isdigit():
            message = "the rows of this page are not kept any more"
            raise QueryError(message, code="page-gone", hint="run the statement again")
        return key, found[0], int(start)

    def _forget(self) -> None:
        now = time.monotonic()
        for key in [key for key, (_, until) in self._kept.items() if until < now]:
            del self._kept[key]
        while sum(answer.selection.rows.nbytes for answer, _ in self._kept.values()) > self._most_bytes:
            self._kept.popitem(last=False)
