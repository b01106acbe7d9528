"""How well a set of questions is answered: the right spans cited, and what cannot be answered declined."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ontoloom.records import Answer, Citation


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the spans of which any answers it; none where the documents do not say."""

    text: str
    spans: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts over a set of questions; ``wrong`` are those with another outcome than the set asks for."""

    answerable: int
    cited: int
    unanswerable: int
    declined: int
    wrong: tuple[Answer, ...]


def evaluate(questions: Iterable[Question], ask: Callable[[str], Answer]) -> Figures:
    """Asks every question. An answer is right when one of its citations overlaps one of the question's spans."""
    totals, right = [0, 0], [0, 0]
    wrong: list[Answer] = []
    for question in questions:
        answer = ask(question.text)
        answerable = bool(question.spans)
        totals[answerable] += 1
        if cites(answer, question.spans) if answerable else not answer.sentences:
            right[answerable] += 1
        else:
            wrong.append(answer)
    return Figures(totals[True], right[True], totals[False], right[False], tuple(wrong))


def cites(answer: Answer, spans: Iterable[Citation]) -> bool:
    """Whether a sentence of the answer cites characters of one of the spans."""
    given = [citation for sentence in answer.sentences for citation in sentence.citations]
    return any(
        span.document == citation.document and span.start < citation.end and citation.start < span.end
        for span in spans
        for citation in given
    )
