"""An OpenAI-compatible server as an ``Engine``: synchronous outside, one event loop with all its requests inside."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import asynccontextmanager
from ipaddress import ip_address
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from ontoloom.errors import EngineError
from ontoloom.protocols import Completion, Prompt
from serving.sse import EventReader

RETRIES = 4
"""How often a request is sent again that the server has not begun: connection refused, or 503 (it is starting)."""

Result = TypeVar("Result")


class HttpEngine:
    """Talks to ``{url}/v1/chat/completions``. Times are in seconds.

    ``answer_timeout`` bounds the wait for a whole answer, ``piece_timeout`` the wait for the next words of a streamed
    one: comments that only keep the connection alive don't extend it. Closing an iterator before its end, or the
    engine, closes the connections, and the server stops writing.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str,
        concurrency: int = 16,
        connect_timeout: float = 5.0,
        answer_timeout: float = 300.0,
        piece_timeout: float = 120.0,
        first_pause: float = 0.5,
    ) -> None:
        self.url = url.rstrip("/").removesuffix("/v1")
        self.model = model
        self._concurrency = concurrency
        self._answer_timeout = answer_timeout
        self._piece_timeout = piece_timeout
        self._first_pause = first_pause
        self._connection = _Connection(self.url, httpx.Timeout(answer_timeout, connect=connect_timeout))
        self._running: set[Future[Any]] = set()

    def complete(self, prompts: Iterable[Prompt]) -> Iterator[Completion]:
        """Runs up to ``concurrency`` prompts side by side and takes the next one only when there is room."""
        source = iter(prompts)
        running: set[Future[Completion]] = set()
        finished: queue.SimpleQueue[Future[Completion]] = queue.SimpleQueue()
        try:
            while True:
                while len(running) < self._concurrency and (prompt := next(source, None)) is not None:
                    future = self._start(self._complete(prompt))
                    running.add(future)
                    future.add_done_callback(finished.put)
                if not running:
                    return
                future = finished.get()
                running.discard(future)
                yield _result(future)
        finally:
            for future in running:
                future.cancel()

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Pieces of one answer as they come. Raises EngineError, also after some pieces where the answer breaks off."""
        pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        future = self._start(self._stream(prompt, pieces))
        future.add_done_callback(lambda _: pieces.put(None))
        try:
            while (piece := pieces.get()) is not None:
                yield piece
            _result(future)
        finally:
            future.cancel()

    def served_models(self) -> list[str]:
        """The names of the models that the server serves. Raises EngineError where it does not answer."""
        return _result(self._start(self._served_models()))

    def close(self) -> None:
        """Ends all requests, those to come included, from any thread: who makes or awaits one gets an EngineError."""
        for future in list(self._running):
            future.cancel()
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        future = self._connection.run(work)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future

    async def _complete(self, prompt: Prompt) -> Completion:
        try:
            async with asyncio.timeout(self._answer_timeout), self._posted(_body(self.model, prompt)) as response:
                return _completion(prompt, await response.aread())
        except TimeoutError:
            return Completion(prompt, f"{self.url} gave no answer within {self._answer_timeout:g} s", "error")
        except EngineError as error:
            return Completion(prompt, str(error), "error")

    async def _stream(self, prompt: Prompt, pieces: queue.SimpleQueue[str | None]) -> None:
        now = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(self._piece_timeout) as deadline:
                async with self._posted({**_body(self.model, prompt), "stream": True}) as response:
                    async for piece in _pieces(response.aiter_bytes()):
                        deadline.reschedule(now() + self._piece_timeout)
                        pieces.put(piece)
        except TimeoutError as error:
            message = f"{self.url} wrote nothing for {self._piece_timeout:g} s"
            raise EngineError(message, code="engine-late") from error

    async def _served_models(self) -> list[str]:
        async with self._opened("GET", "/v1/models", None, retries=0) as response:
            return [str(entry["id"]) for entry in _json(await response.aread()).get("data", ())]

    @asynccontextmanager
    async def _posted(self, body: dict[str, Any]) -> AsyncIterator[httpx.Response]:
        async with self._opened("POST", "/v1/chat/completions", body, retries=RETRIES) as response:
            yield response

    @asynccontextmanager
    async def _opened(
        self, method: str, path: str, body: dict[str, Any] | None, *, retries: int
    ) -> AsyncIterator[httpx.Response]:
        """An answer of status 200 whose body is still to be read; every fault of the connection is an EngineError."""
        try:
            for attempt in range(retries + 1):
                last = attempt == retries
                try:
                    response = await self._connection.send(method, path, body)
                except httpx.ConnectError:
                    if last:
                        raise
                else:
                    if response.status_code != 503 or last:
                        break
                    await response.aclose()
                await asyncio.sleep(self._first_pause * 2**attempt)
            try:
                await self._refuse_errors(response)
                yield response
            finally:
                await response.aclose()
        except httpx.HTTPError as error:
            raise self._explained(error) from error

    async def _refuse_errors(self, response: httpx.Response) -> None:
        if response.status_code != 200:
            said = _error_message(await response.aread())
            raise EngineError(f"{self.url} answered {response.status_code}: {said}", code="engine-refused")

    def _explained(self, error: httpx.HTTPError) -> EngineError:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return EngineError(
                f"no engine answers at {self.url}", hint="start one: ontoloom engine up", code="engine-down"
            )
        if isinstance(error, httpx.TimeoutException):
            return EngineError(f"{self.url} gave no answer in time", code="engine-late")
        return EngineError(f"{self.url} broke off its answer: {error or type(error).__name__}", code="engine-broken")


class _Connection:
    """The event loop, in a thread of its own from the first request on, and the client that lives in it."""

    def __init__(self, url: str, timeout: httpx.Timeout) -> None:
        self._url = url
        self._timeout = timeout
        self._lock = threading.Lock()
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: httpx.AsyncClient | None = None

    def run(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        with self._lock:
            if self._closed:
                work.close()
                raise EngineError("the engine was closed", code="engine-stopped")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A proxy that is set for the outside world must not be asked for this machine.
                trusted = not _is_loopback(httpx.URL(self._url).host)
                limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
                # Without TLS there is no need for the certificates, which take half a second to read.
                verify = self._url.startswith("https:")
                self._client = httpx.AsyncClient(timeout=self._timeout, limits=limits, trust_env=trusted, verify=verify)
                threading.Thread(target=_serve, args=(self._loop,), name="ontoloom-engine", daemon=True).start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def send(self, method: str, path: str, body: dict[str, Any] | None) -> httpx.Response:
        if self._client is None:
            raise EngineError("the engine was closed", code="engine-stopped")
        return await self._client.send(self._client.build_request(method, self._url + path, json=body), stream=True)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            loop, client, self._loop, self._client = self._loop, self._client, None, None
        if loop is not None and client is not None:
            asyncio.run_coroutine_threadsafe(_end(client), loop).result()
            loop.call_soon_threadsafe(loop.stop)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _end(client: httpx.AsyncClient) -> None:
    """Lets cancelled requests close their connections before the loop stops."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await client.aclose()


def _result(future: Future[Result]) -> Result:
    try:
        return future.result()
    except CancelledError as error:
        raise EngineError("the engine was closed", code="engine-stopped") from error


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _body(model: str, prompt: Prompt) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": role, "content": content} for role, content in prompt.messages],
        "max_tokens": prompt.max_tokens,
        "temperature": prompt.temperature,
        "seed": prompt.seed,
    }
    if prompt.schema is not None:
        schema = {"name": "answer", "schema": prompt.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _completion(prompt: Prompt, content: bytes) -> Completion:
    body = _json(content)
    try:
        choice = body["choices"][0]
        text, finish = choice["message"]["content"] or "", choice["finish_reason"]
        usage = body.get("usage") or {}
        counted = int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise EngineError(f"the engine's answer is not a completion: {_error_message(content)}") from error
    if finish not in ("stop", "length"):
        return Completion(prompt, f"the engine ended with finish_reason {finish!r}", "error", *counted)
    return Completion(prompt, str(text), finish, *counted)


async def _pieces(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The words of a streamed answer, none of them empty. Raises EngineError unless the answer comes to its end."""
    reader, finished = EventReader(), False
    async for chunk in chunks:
        for event in reader.feed(chunk):
            if event.data == "[DONE]":
                return
            body = _json(event.data.encode())
            if event.name == "error" or "error" in body:
                raise EngineError(f"the engine gave up: {_error_message(event.data.encode())}", code="engine-broken")
            text, last = _delta(body)
            finished = finished or last
            if text:
                yield text
    if not finished:
        raise EngineError("the engine's answer broke off", code="engine-broken")


def _delta(body: dict[str, Any]) -> tuple[str, bool]:
    """The new words, and whether they are the last. The frame that counts tokens has no choices."""
    try:
        choices = body.get("choices") or ()
        text = "".join(choice["delta"].get("content") or "" for choice in choices)
        return text, any(choice.get("finish_reason") is not None for choice in choices)
    except (KeyError, TypeError, AttributeError) as error:
        raise EngineError(f"a frame of the engine's answer is not a delta: {body}", code="engine-answer") from error


def _json(content: bytes) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except ValueError as error:
        message = f"the engine's answer is not JSON: {_shortened(content)}"
        raise EngineError(message, code="engine-answer") from error
    if not isinstance(body, dict):
        raise EngineError(f"the engine's answer is not an object: {_shortened(content)}", code="engine-answer")
    return body


def _error_message(content: bytes) -> str:
    """What the server says went wrong, on one line, whichever of the usual forms it says it in."""
    try:
        body = json.loads(content)
    except ValueError:
        return _shortened(content)
    error = body.get("error", body) if isinstance(body, dict) else body
    message = error.get("message") or error.get("detail") if isinstance(error, dict) else error
    return _shortened(str(message or body).encode())


def _shortened(content: bytes) -> str:
    text = " ".join(content[:2000].decode("utf-8", "replace").split())
    return text[:300] + "…" if len(text) > 300 else text or "(nothing)"
