"""What parts of the platform promise each other; each protocol lives in the lowest layer that can name its types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ontoloom.records import Claim, Document, Failure, Passage

Vectors = NDArray[np.float32]


class Tokenizer(Protocol):
    """The LLM's tokenizer. ``name`` identifies the vocabulary; a change of it makes chunks stale."""

    name: str
    bos: str
    eos: str
    bos_id: int
    eos_id: int

    def encode(self, text: str) -> list[int]:
        """Token ids without BOS and EOS."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids, special tokens left out."""


class Embedder(Protocol):
    """Texts to unit vectors. ``name`` identifies model and version; a change of it makes vectors stale.

    ``bos`` and ``eos`` are the boundary tokens that the model itself puts around a text (``[CLS]``, ``[SEP]``).
    """

    name: str
    dimension: int
    bos: str
    eos: str

    def embed(self, texts: Sequence[str]) -> Vectors:
        """``len(texts) × dimension`` float32 vectors of length 1."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request to the engine. ``schema`` is a JSON schema that the answer must follow; None for free text.

    ``tag`` is the caller's own and comes back with the completion.
    """

    messages: tuple[tuple[str, str], ...]
    max_tokens: int
    schema: dict[str, Any] | None = None
    temperature: float = 0.0
    seed: int = 0
    tag: Any = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What the engine answered. ``finish`` is ``stop``, ``length`` (cut off) or ``error`` (``text`` says why)."""

    prompt: Prompt
    text: str
    finish: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Engine(Protocol):
    """An LLM, seen synchronously: requests in, results as they finish, in any order."""

    model: str

    def complete(self, prompts: Iterable[Prompt]) -> Iterator[Completion]:
        """Runs prompts side by side. A failed request is a completion with ``finish='error'``, no exception."""

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Pieces of one answer as they come. Raises EngineError."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an extractor made of some passages of one document."""

    claims: tuple[Claim, ...]
    failures: tuple[Failure, ...] = ()


class Extractor(Protocol):
    """Reads claims out of passages. ``name`` and ``fingerprint`` identify it and all that its results depend on."""

    name: str
    fingerprint: str

    def extract(self, batch: Sequence[tuple[Document, Sequence[Passage]]]) -> list[Reading]:
        """One reading per document, in the order given."""


class Projection(Protocol):
    """Something derived from the graph that can be deleted and rebuilt; the rebuilt one equals the incremental one."""

    name: str

    def refresh(self) -> int:
        """Brings the projection up to the graph's last change; returns the change number it stands at."""
