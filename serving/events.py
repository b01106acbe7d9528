"""Events of an answer, and hits, as JSON: over HTTP and on the command line they look the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ontoloom.errors import OntoloomError, QueryError

if TYPE_CHECKING:
    from ontoloom.records import Hit
    from retrieval.answer import Event


@dataclass(frozen=True, slots=True)
class Named:
    """An event as it goes out: its name, and an object."""

    name: str
    data: dict[str, Any]


def named(event: Event) -> Named:
    """``hits`` {hits}, ``sentence`` {text, citations}, ``declined`` {reason}, ``done`` {answerer, note}."""
    from retrieval.answer import Declined, HitsFound, SentenceSaid

    if isinstance(event, HitsFound):
        return Named(event.name, {"hits": [described_hit(hit) for hit in event.hits]})
    if isinstance(event, SentenceSaid):
        citations = [str(citation) for citation in event.sentence.citations]
        return Named(event.name, {"text": event.sentence.text, "citations": citations})
    if isinstance(event, Declined):
        return Named(event.name, {"reason": event.reason})
    return Named(event.name, {"answerer": event.answerer, "note": event.note})


def described_hit(hit: Hit) -> dict[str, Any]:
    return {
        "text": hit.chunk.text,
        "score": round(hit.score, 4),
        "found_by": list(hit.found_by),
        "citations": [str(citation) for citation in hit.citations],
        "triple": hit.chunk.triple,
    }


def described_error(error: OntoloomError) -> dict[str, Any]:
    """{code, message} and, where there is one, {hint}; of a query also {line, column}."""
    found: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.hint:
        found["hint"] = error.hint
    if isinstance(error, QueryError) and error.line:
        found |= {"line": error.line, "column": error.column}
    return found
