"""An engine for work that holds a lock: while it waits for the engine's words, others may have the lock."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from ontoloom.protocols import Completion, Engine, Prompt

Item = TypeVar("Item")


class TakingTurns:
    """``engine``, used by a thread that holds ``turn`` whenever it runs code of its own."""

    def __init__(self, engine: Engine, turn: threading.Lock) -> None:
        self.model = engine.model
        self._engine = engine
        self._turn = turn

    def complete(self, prompts: Iterable[Prompt]) -> Iterator[Completion]:
        return self._waiting(self._engine.complete(prompts))

    def stream(self, prompt: Prompt) -> Iterator[str]:
        return self._waiting(self._engine.stream(prompt))

    def _waiting(self, items: Iterator[Item]) -> Iterator[Item]:
        ended = False
        while not ended:
            self._turn.release()
            try:
                found = list(islice(items, 1))
            finally:
                self._turn.acquire()
            yield from found
            ended = not found
