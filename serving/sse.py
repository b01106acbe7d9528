"""Server-sent events: bytes in, events out, however the bytes are cut. https://html.spec.whatwg.org/#event-stream-interpretation"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ontoloom.errors import EngineError

LONGEST_LINE = 16 * 1024 * 1024
# A carriage return at the very end may be the first half of CR LF: it waits for what follows.
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: ``name`` is ``message`` unless the server gave another."""

    name: str
    data: str


class EventReader:
    """Takes a stream apart. Lines are decoded whole, so that a character cut in two by the network stays one."""

    def __init__(self) -> None:
        self._rest = b""
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that are complete with this chunk. Raises EngineError on text that is not UTF-8."""
        *lines, self._rest = _LINE_END.split(self._rest + chunk)
        if len(self._rest) > LONGEST_LINE:
            raise EngineError("the engine sent a line of more than 16 MB", code="engine-answer")
        return [event for line in lines if (event := self._take(line)) is not None]

    def _take(self, line: bytes) -> ServerEvent | None:
        try:
            field, _, value = line.decode("utf-8").partition(":")
        except UnicodeDecodeError as error:
            raise EngineError("the engine sent text that is not UTF-8", code="engine-answer") from error
        if line:
            self._set(field, value.removeprefix(" "))
            return None
        event = ServerEvent(self._name or "message", "\n".join(self._data)) if self._data else None
        self._name, self._data = "", []
        return event

    def _set(self, field: str, value: str) -> None:
        """Comments (an empty field) and fields without a use here are left out."""
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value


def write_event(name: str, data: str) -> bytes:
    """An event as it goes over the wire."""
    lines = "".join(f"data: {line}\n" for line in data.split("\n"))
    return f"event: {name}\n{lines}\n".encode()


HEARTBEAT = b": still here\n\n"
