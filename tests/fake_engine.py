"""A programmable OpenAI-compatible server on loopback: real HTTP and real SSE, with every fault an engine can show.

with FakeEngine("Paris.") as engine:                      # says the same to every request
    HttpEngine(engine.url, model=engine.model)
FakeEngine([Reply('{"triples":[', finish="length"), Reply(status=500)])   # in this order, the last one again
FakeEngine(lambda request: Reply(request["messages"][-1]["content"]))     # decided by the request
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Request = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request is answered with. Times are in seconds.

    ``pieces`` are the deltas of a streamed answer (default: the text, word by word). ``raw`` is sent as the body in
    place of all this, each item in a packet of its own. ``cut_after`` closes the connection after so many bytes of
    the body. ``comments`` sends that many ``: ping`` lines before the first piece, ``piece_delay`` apart.
    """

    text: str = ""
    finish: str | None = "stop"
    status: int = 200
    delay: float = 0.0
    pieces: Sequence[str] | None = None
    piece_delay: float = 0.0
    comments: int = 0
    raw: Sequence[bytes] | None = None
    cut_after: int | None = None


class FakeEngine:
    """Serves from construction to ``close``. ``requests`` are the bodies received, ``asked`` is set with the first.

    ``hung_up`` is set when a client closes its connection before its answer is complete; ``most_at_once`` counts
    requests answered side by side.
    """

    def __init__(
        self,
        replies: str | Reply | Sequence[Reply] | Callable[[Request], Reply] = "ok",
        *,
        model: str = "fake",
        port: int = 0,
    ) -> None:
        self.model = model
        self.requests: list[Request] = []
        self.asked = threading.Event()
        self.hung_up = threading.Event()
        self.most_at_once = 0
        self._at_once = 0
        self._replies = replies
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def reply_to(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            index = len(self.requests) - 1
        self.asked.set()
        if isinstance(self._replies, str):
            return Reply(self._replies)
        if isinstance(self._replies, Reply):
            return self._replies
        if callable(self._replies):
            return self._replies(request)
        return self._replies[min(index, len(self._replies) - 1)]

    def entered(self, step: int) -> None:
        with self._lock:
            self._at_once += step
            self.most_at_once = max(self.most_at_once, self._at_once)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128


class _HungUp(Exception):
    """The client is gone, or the reply says to close the connection here."""


def _handler(engine: FakeEngine) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            if self.path == "/health":
                self._send(200, b"")
            elif self.path == "/v1/models":
                self._send(200, json.dumps({"object": "list", "data": [{"id": engine.model}]}).encode())
            else:
                self._send(404, b'{"error": {"message": "not found"}}')

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            engine.entered(1)
            try:
                self._answer(request, engine.reply_to(request))
            except (_HungUp, ConnectionError):
                self.close_connection = True
            finally:
                engine.entered(-1)

        def _answer(self, request: Request, reply: Reply) -> None:
            if self.path != "/v1/chat/completions":
                self._send(404, b'{"error": {"message": "not found"}}')
                return
            self._wait(reply.delay)
            if reply.status != 200 and reply.raw is None:
                self._send(reply.status, json.dumps({"error": {"message": reply.text or "out of order"}}).encode())
            elif request.get("stream"):
                self._send_parts(reply, "text/event-stream", reply.raw or _events(engine.model, request, reply))
            else:
                self._send_parts(reply, "application/json", reply.raw or [_completion(engine.model, request, reply)])

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _send_parts(self, reply: Reply, kind: str, parts: Sequence[bytes] | Iterator[bytes]) -> None:
            """Sends the parts as chunks, each in a packet of its own, and stops where the reply says to cut."""
            self.send_response(reply.status)
            self.send_header("Content-Type", kind)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            left = reply.cut_after
            for part in parts:
                kept = part if left is None else part[:left]
                if kept:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(kept), kept))
                if left is not None:
                    left -= len(kept)
                    if left <= 0:
                        raise _HungUp
                self._wait(reply.piece_delay)
            self.wfile.write(b"0\r\n\r\n")

        def _wait(self, seconds: float) -> None:
            """Sleeps, but notices at once when the client closes its end."""
            end = time.monotonic() + seconds
            while True:
                left = max(0.0, end - time.monotonic())
                if select.select([self.connection], [], [], min(left, 0.05))[0] and not self._peek():
                    engine.hung_up.set()
                    raise _HungUp
                if left <= 0:
                    return

        def _peek(self) -> bytes:
            try:
                found: bytes = self.connection.recv(1, socket.MSG_PEEK)
            except ConnectionError:
                return b""
            return found

    return Handler


def _usage(request: Request, reply: Reply) -> dict[str, int]:
    words = sum(len(str(m["content"]).split()) for m in request["messages"])
    written = len(reply.text.split())
    return {"prompt_tokens": words, "completion_tokens": written, "total_tokens": words + written}


def _completion(model: str, request: Request, reply: Reply) -> bytes:
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    head = {"id": "chatcmpl-fake", "object": "chat.completion", "created": 0, "model": model}
    return json.dumps({**head, "choices": [choice], "usage": _usage(request, reply)}).encode()


def _events(model: str, request: Request, reply: Reply) -> Iterator[bytes]:
    for _ in range(reply.comments):
        yield b": ping\n\n"
    pieces = list(reply.pieces) if reply.pieces is not None else _words(reply.text)
    yield event(model, {"role": "assistant", "content": ""})
    for piece in pieces:
        yield event(model, {"content": piece})
    yield event(model, {}, finish=reply.finish)
    if (request.get("stream_options") or {}).get("include_usage"):
        body = {"object": "chat.completion.chunk", "model": model, "choices": [], "usage": _usage(request, reply)}
        yield b"data: " + json.dumps(body).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def event(model: str, delta: dict[str, str], *, finish: str | None = None) -> bytes:
    """One event of a streamed answer, as it goes over the wire; text is not escaped to ASCII."""
    body = {
        "id": "chatcmpl-fake",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def _words(text: str) -> list[str]:
    pieces = text.split(" ")
    return [piece + " " for piece in pieces[:-1]] + pieces[-1:] if text else []
