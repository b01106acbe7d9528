"""Long work and many requests over parts that are for one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar, cast

from graph.store import Store
from ontoloom.protocols import Completion, Engine, Prompt

Item = TypeVar("Item")


class TakingTurns:
    """``engine``, used by a thread that holds ``turn`` whenever it runs code of its own.

    While it waits for the engine's words, others may have their turn.
    """

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


def in_turns(store: Store, turn: threading.Lock) -> Store:
    """A store whose every call waits for its turn, for long work: requests are answered between its calls."""
    return cast("Store", _InTurns(store, turn))


class _InTurns:
    def __init__(self, store: Store, turn: threading.Lock) -> None:
        self.ontology = store.ontology
        self._store = store
        self._turn = turn

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        def call(*args: Any, **named: Any) -> Any:
            with self._turn:
                found = method(*args, **named)
                return iter(list(found)) if isinstance(found, Iterator) else found

        return call
