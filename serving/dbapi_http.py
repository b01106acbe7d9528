"""Statements of the DB-API on a running ``ontoloom serve``: ``POST /v1/select``, answered by an Arrow stream.

Requests run on a loop in a thread of their own, so that one that is no longer wanted is given up at once: the service
sees the client go and stops the statement.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import httpx

from ontoloom.errors import OntoloomError, QueryError, StoreError
from serving.arrow_stream import MEDIA_TYPE, Rows, read_stream

if TYPE_CHECKING:
    from graph.bind import Parameters
    from graph.prepare import AsOf

GRACE = 30.0
"""Seconds beyond a statement's own that its answer may take: to wait for its turn, and on the way."""
LOOK = 0.05
"""Seconds between two looks at whether the statement is still wanted."""


class HttpTransport:
    """One HTTP connection, kept between statements."""

    def __init__(self, url: str, *, timeout: float, as_of: AsOf | str | None) -> None:
        self._url = url.rstrip("/")
        self._timeout = timeout
        self._as_of = as_of.isoformat() if isinstance(as_of, date) else as_of
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="ontoloom-dbapi", daemon=True)
        self._thread.start()
        self._client = httpx.AsyncClient(base_url=self._url, timeout=timeout + GRACE, trust_env=False)
        try:
            status, content = self._wait(self._client.get("/healthz"), Event())
            if status != 200:
                raise refused(status, content)
        except BaseException:
            self.close()
            raise

    def run(self, sql: str, parameters: Parameters, *, max_rows: int, cancelled: Event) -> Rows:
        body: dict[str, Any] = {"sql": sql, "parameters": as_json(parameters), "limit": max_rows}
        body |= {"timeout": self._timeout} | ({} if self._as_of is None else {"as_of": self._as_of})
        request = self._client.post("/v1/select", json=body, headers={"Accept": MEDIA_TYPE})
        status, content = self._wait(request, cancelled)
        if status != 200:
            raise refused(status, content)
        try:
            return read_stream(content)
        except ValueError as error:
            message = f"{self._url} answered with what is no Arrow stream: {error}"
            raise StoreError(message, code="unreadable-answer") from None

    def close(self) -> None:
        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _wait(self, request: Any, cancelled: Event) -> tuple[int, bytes]:
        """Status and body of the response. Raises QueryError once ``cancelled`` is set."""
        future = asyncio.run_coroutine_threadsafe(request, self._loop)
        try:
            while True:
                try:
                    response: httpx.Response = future.result(LOOK)
                    return response.status_code, response.content
                except TimeoutError:
                    if future.done():
                        raise
                if cancelled.is_set():
                    raise QueryError("the statement was cancelled", code="cancelled")
        except httpx.HTTPError as error:
            message = f"{self._url} cannot be reached: {str(error) or type(error).__name__}"
            raise StoreError(message, code="unreachable", hint="is 'ontoloom serve' running there?") from None
        finally:
            future.cancel()


def as_json(parameters: Parameters) -> Any:
    """Values as ``serving.http_select.Select`` takes them."""
    if isinstance(parameters, Mapping):
        return {name: json_value(value) for name, value in parameters.items()}
    return [json_value(value) for value in parameters]


def json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return {"timestamp": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    message = f"a value of type {type(value).__name__} cannot be a parameter"
    raise QueryError(message, code="parameters", hint="give a text, a number, true or false, a date, NULL, or a list")


def refused(status: int, content: bytes) -> OntoloomError:
    """The error that the service answered with."""
    try:
        said = json.loads(content)
        code, message, hint = said["code"], said["message"], said.get("hint", "")
    except (ValueError, TypeError, KeyError):
        return StoreError(f"the service answered with status {status}", code="unreadable-answer")
    if status in (400, 422):
        return QueryError(message, code=code, hint=hint, line=said.get("line", 0), column=said.get("column", 0))
    return StoreError(message, code=code, hint=hint)
