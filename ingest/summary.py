"""What a run of ingestion came to: every document that was loaded is counted exactly once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from graph.store import Counts
from ontoloom.records import Extraction


@dataclass(slots=True)
class Usage:
    """What was asked of the engine. Tokens are those of the requests sent, not of answers replayed from the record."""

    sent: int = 0
    replayed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@runtime_checkable
class Asks(Protocol):
    """An extractor that asks an engine and counts what it asked."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Failed:
    """A document, or the part of one named by ``where`` (``start-end``, or ``line:column`` of a page), that failed."""

    document: str
    where: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Summary:
    """``loaded`` = ``admitted`` + ``empty`` + ``quarantined`` + ``failed`` + ``unchanged``.

    ``failed`` counts documents, ``failures`` says what failed in them. ``reread`` are documents of earlier runs that
    were read again because pages changed what their names mean. ``triples`` and ``evidence`` are those of the
    documents read in this run, ``refused`` their quarantined claims by code, ``counts`` what the whole store now holds.
    ``change`` is the store's last change; ``notes`` are remarks of the caller, such as that there was no engine.
    """

    loaded: int
    admitted: int
    empty: int
    quarantined: int
    failed: int
    unchanged: int
    reread: int
    pruned: int
    failures: tuple[Failed, ...]
    refused: Mapping[str, int]
    triples: int
    evidence: int
    counts: Counts
    usage: Usage
    change: int
    seconds: float
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Tally:
    """Counts while a run goes on."""

    statuses: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[Failed] = field(default_factory=list)
    triples: int = 0
    evidence: int = 0
    reread: int = 0
    pruned: int = 0
    began: float = field(default_factory=time.monotonic)

    def fail(self, document: str, parts: Iterable[tuple[str, str, str]]) -> None:
        """Counts a document of which nothing is written; ``parts`` are (where, code, message)."""
        self.statuses["failed"] += 1
        self.failures += [Failed(document, *part) for part in parts]

    def wrote(self, extraction: Extraction, *, is_loaded: bool) -> None:
        """Counts a document that was read and written."""
        if is_loaded:
            self.statuses[extraction.status] += 1
        else:
            self.reread += 1
        self.failures += [Failed(extraction.document.id, f.where, f.code, f.message) for f in extraction.failures]
        self.refused.update(q.code for q in extraction.quarantined)
        self.triples += len(extraction.triples)
        self.evidence += len(extraction.evidence)

    def summarise(self, counts: Counts, usage: Usage, *, change: int, notes: Sequence[str]) -> Summary:
        return Summary(
            loaded=self.statuses.total(),
            admitted=self.statuses["admitted"],
            empty=self.statuses["empty"],
            quarantined=self.statuses["quarantined"],
            failed=self.statuses["failed"],
            unchanged=self.statuses["unchanged"],
            reread=self.reread,
            pruned=self.pruned,
            failures=tuple(self.failures),
            refused=dict(sorted(self.refused.items())),
            triples=self.triples,
            evidence=self.evidence,
            counts=counts,
            usage=usage,
            change=change,
            seconds=time.monotonic() - self.began,
            notes=tuple(notes),
        )
