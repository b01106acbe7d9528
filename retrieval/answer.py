"""Answers as they come: hits, then sentences with the spans that they rest on, or a reason for giving none.

Whether there is an answer is decided by ``search`` from what the graph holds, before an engine is asked anything. An
engine only puts into words what was found; each of its sentences is checked, and what does not hold is not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from graph.store import Store
from ontoloom.errors import EngineError, QueryError
from ontoloom.protocols import Engine
from ontoloom.records import Answer, Hit, Sentence
from retrieval.cite import Checker
from retrieval.index import VectorIndex
from retrieval.pack import Packed, line, pack, tell
from retrieval.prompt import build_prompt, spoken
from retrieval.search import Found, find
from retrieval.sentences import split

EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class HitsFound:
    """What was found, best first; the first event."""

    name: ClassVar[str] = "hits"
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class SentenceSaid:
    """A sentence of the answer."""

    name: ClassVar[str] = "sentence"
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Declined:
    """There is no answer; ``reason`` is one line."""

    name: ClassVar[str] = "declined"
    reason: str


@dataclass(frozen=True, slots=True)
class Done:
    """The last event. ``answerer`` is ``extractive`` or the engine's model; ``note`` says why it is not the latter."""

    name: ClassVar[str] = "done"
    answerer: str
    note: str = ""


Event = HitsFound | SentenceSaid | Declined | Done


def answer(
    question: str,
    *,
    store: Store,
    index: VectorIndex,
    engine: Engine | None = None,
    k: int = 12,
    budget: int = 1024,
    most_sentences: int = 5,
) -> Iterator[Event]:
    """Events of an answer: ``HitsFound``, then sentences or ``Declined``, then ``Done``.

    ``k``: triples that an answer may rest on; ``budget``: LLM tokens of evidence in a prompt. An engine's sentence that
    the evidence does not support is dropped; where none is left, or the engine fails, the evidence itself is given,
    and ``Done`` says so. Raises QueryError for a question without words.
    """
    if not question.strip():
        raise QueryError("the question is empty", hint="ask something")
    found = find(question, store=store, index=index, k=k)
    yield HitsFound(found.hits)
    if not found.answers:
        yield Declined(found.reason)
        yield Done(EXTRACTIVE)
        return
    quoted = list(_quote(found, store))[:most_sentences]
    if engine is None:
        yield from map(SentenceSaid, quoted)
        yield Done(EXTRACTIVE)
        return
    packed = pack(found, ontology=store.ontology, tokenizer=index.tokenizer, budget=budget)
    yield from _generate(found, packed, quoted, engine, index)


def collect(question: str, events: Iterable[Event]) -> Answer:
    """An answer from its events."""
    hits: tuple[Hit, ...] = ()
    sentences: list[Sentence] = []
    declined = answerer = ""
    for event in events:
        match event:
            case HitsFound():
                hits = event.hits
            case SentenceSaid():
                sentences.append(event.sentence)
            case Declined():
                declined = event.reason
            case Done():
                answerer = f"{event.answerer} ({event.note})" if event.note else event.answerer
    return Answer(question, tuple(sentences), declined, answerer, hits)


def _quote(found: Found, store: Store) -> Iterator[Sentence]:
    """The extractive answer: each fact on a path that answers, in the order of the steps."""
    said: set[str] = set()
    for path in found.answers:
        for triple in path.triples:
            told = tell(found.facts[triple.id], store.ontology, found.question)
            if told.shown not in said:
                said.add(told.shown)
                yield Sentence(told.shown, told.citations)


def _generate(
    found: Found, packed: list[Packed], quoted: list[Sentence], engine: Engine, index: VectorIndex
) -> Iterator[Event]:
    """The engine's sentences as they come and hold; the quotations where it has none, or breaks off."""
    prompt = build_prompt(found.asked.text, [line(piece) for piece in packed], tokenizer=index.tokenizer)
    checker = Checker(found.asked.text, packed, index)
    given: list[Sentence] = []
    heard: set[str] = set()
    note = "the engine said nothing that the evidence supports"
    try:
        lines = (piece.replace("\n", "\n\n") for piece in spoken(engine.stream(prompt)))
        for text in split(lines):
            if text in heard:
                break  # a small model that repeats itself goes on until it is cut off
            heard.add(text)
            citations = dict.fromkeys(c for piece in checker.support(text) for c in piece.citations)
            if citations:
                given.append(Sentence(text, tuple(citations)))
                yield SentenceSaid(given[-1])
    except EngineError as error:
        note = f"the engine failed: {error.message}"
        broken = True
    else:
        broken = False
    if given and not broken:
        yield Done(engine.model)
        return
    cited = {citation for sentence in given for citation in sentence.citations}
    yield from (SentenceSaid(s) for s in quoted if not cited.intersection(s.citations))
    yield Done(EXTRACTIVE, note)
