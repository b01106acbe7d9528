"""The record of what the LLM answered, by hash of model, prompt and parameters: asked once, replayed for good.

With it a second run, or a rebuild from nothing, sends no request and comes to the same graph. Only answers that could
be used are kept, so what failed is asked again. Several processes may share one record, and a killed one loses at
most the answer that it was writing.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ontoloom.errors import StoreError
from ontoloom.names import hash_id
from ontoloom.protocols import Prompt

_LAYOUT = 1


@dataclass(frozen=True, slots=True)
class Recorded:
    """One answer as the engine gave it."""

    text: str
    finish: str
    prompt_tokens: int
    completion_tokens: int


class Record:
    """An open record in an SQLite file at ``path``, made when absent. May be used by several threads.

    Raises StoreError where the file is not a record, or is one of another version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=60.0, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{path}: the record of answers cannot be opened: {error}") from error
        try:
            self._lay_out()
        except sqlite3.Error as error:
            self._database.close()
            hint = "move it away; answers will be asked for again"
            raise StoreError(f"{path}: not a record of answers: {error}", hint=hint) from error
        except StoreError:
            self._database.close()
            raise

    def _lay_out(self) -> None:
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _LAYOUT):
            hint = "move it away; answers will be asked for again"
            raise StoreError(f"{self.path}: a record of version {version}, this is for version {_LAYOUT}", hint=hint)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, text TEXT NOT NULL, finish TEXT NOT NULL,"
            " prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL) WITHOUT ROWID"
        )
        self._database.execute(f"PRAGMA user_version = {_LAYOUT}")

    def get(self, key: str) -> Recorded | None:
        """The answer recorded under a key of ``prompt_key``."""
        with self._lock:
            row = self._database.execute(
                "SELECT text, finish, prompt_tokens, completion_tokens FROM answers WHERE key = ?", (key,)
            ).fetchone()
        return Recorded(*row) if row else None

    def put(self, key: str, answer: Recorded) -> Recorded:
        """Records an answer and returns the one that counts: the first, where another writer was faster."""
        values = (key, answer.text, answer.finish, answer.prompt_tokens, answer.completion_tokens)
        with self._lock:
            self._database.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", values)
        return self.get(key) or answer

    def __len__(self) -> int:
        with self._lock:
            return int(self._database.execute("SELECT count(*) FROM answers").fetchone()[0])

    def close(self) -> None:
        """Releases the file; twice is harmless."""
        with self._lock:
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def prompt_key(model: str, prompt: Prompt) -> str:
    """The hash of all that an answer depends on. The schema's order counts: a grammar writes keys in that order."""
    schema = json.dumps(prompt.schema, ensure_ascii=False, separators=(",", ":"))
    turns = [part for turn in prompt.messages for part in turn]
    return hash_id("answer", model, str(prompt.max_tokens), repr(prompt.temperature), str(prompt.seed), schema, *turns)
