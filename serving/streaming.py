"""Events of work in a thread, as a response that streams them, with a comment whenever nothing came for a while."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator

from fastapi.responses import StreamingResponse

from serving import render
from serving.events import Named
from serving.sse import HEARTBEAT, write_event

HEARTBEAT_SECONDS = 10.0
Work = Callable[[threading.Event], Iterator[Named]]
HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


def stream(work: Work, *, at_end: Callable[[], None]) -> StreamingResponse:
    """A response of the events that ``work`` yields in a thread. It is given what is set when the client hangs up.

    ``at_end`` is called in a thread once the response is over, also when the client has hung up: what the work waits
    for can be closed there.
    """
    return StreamingResponse(_events(work, at_end), media_type="text/event-stream", headers=HEADERS)


async def _events(work: Work, at_end: Callable[[], None]) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[Named | None] = asyncio.Queue()
    hung_up = threading.Event()

    def run() -> None:
        for event in work(hung_up):
            if hung_up.is_set():
                return
            loop.call_soon_threadsafe(events.put_nowait, event)

    worker = loop.run_in_executor(None, run)
    worker.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while True:
            try:
                event = await asyncio.wait_for(events.get(), HEARTBEAT_SECONDS)
            except TimeoutError:
                yield HEARTBEAT
                continue
            if event is None:
                return
            yield write_event(event.name, render.to_json(event.data))
    finally:
        hung_up.set()
        loop.run_in_executor(None, at_end)
