"""Runs the competency questions of a project on its graph: which are answered as they must be, and what others lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoloom.errors import QueryError
from ontoloom.progress import OnProgress, Progress, silent
from ontoloom.records import Answer, Citation, canonical_text
from serving import wiring
from serving.settings import Settings

if TYPE_CHECKING:
    from graph.select import Selection
    from graph.store import Store
    from ontology.questions import Question

MAX_ROWS = 10_000
TIMEOUT = 60.0
SHOWN = 3
"""Rows that are told of those that are missing, and of those that are too many."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a question went: ``fault`` is why it did not come out right, empty where it did."""

    question: Question
    fault: str = ""


def ask_all(
    settings: Settings, questions: Sequence[Question], *, use_engine: bool = False, on_progress: OnProgress = silent
) -> Iterator[Outcome]:
    """The outcome of each question, as it is known. Raises what opening the store and its index raises."""
    asked = [question for question in questions if question.text]
    if asked:
        with wiring.asking(settings, use_engine=use_engine, on_progress=on_progress) as parts:
            for question in asked:
                on_progress(Progress("ask", asked.index(question), len(asked), question.id))
                yield Outcome(question, _ask(settings, parts, question))
    for question in questions:
        if question.select:
            yield Outcome(question, _select(settings, question))


def _ask(settings: Settings, parts: wiring.Asking, question: Question) -> str:
    from retrieval.answer import collect
    from retrieval.evaluate import cites

    spans, fault = _spans(parts.store, question)
    if fault:
        return fault
    answer = collect(question.text, wiring.answer_events(settings, parts, question.text))
    if not question.answerable:
        return f"answered, and must be declined: {_first(answer)}" if answer.sentences else ""
    if not answer.sentences:
        return f"declined: {answer.declined}"
    if cites(answer, spans) or _documents(answer) & set(question.cites):
        return ""
    return f"cites {', '.join(sorted(_documents(answer)))}: {_first(answer)}"


def _spans(store: Store, question: Question) -> tuple[list[Citation], str]:
    """Where the quotes of a question stand; or which of them does not."""
    spans = []
    for document_id, quote in question.quotes:
        document = store.document(document_id)
        if document is None:
            return [], f"there is no document '{document_id}' in the store"
        start = document.text.find(quote)
        if start < 0:
            return [], f"'{' '.join(quote.split())}' does not stand in {document_id}"
        spans.append(Citation(document_id, start, start + len(quote)))
    for document_id in question.cites:
        if store.document(document_id) is None:
            return [], f"there is no document '{document_id}' in the store"
    return spans, ""


def _documents(answer: Answer) -> set[str]:
    return {citation.document for sentence in answer.sentences for citation in sentence.citations}


def _first(answer: Answer) -> str:
    return f"“{answer.sentences[0].text}”"


def _select(settings: Settings, question: Question) -> str:
    try:
        found = wiring.run_select(settings, question.select, max_rows=MAX_ROWS, timeout=TIMEOUT).selection
    except QueryError as error:  # an attribute or relation that is not there, by its name
        return " ".join(str(error).split())
    if question.rows is None:
        return ""
    given, wanted = Counter(_texts(found)), Counter(question.rows)
    missing, more = wanted - given, given - wanted
    faults = [f"{what} {_some(rows)}" for what, rows in (("lacks", missing), ("has also", more)) if rows]
    return "; ".join(faults)


def _texts(selection: Selection) -> Iterator[tuple[str, ...]]:
    """Rows as ``questions.yaml`` has them: each value as pages write it, empty where it is unknown."""
    for row in selection.rows.to_pylist():
        yield tuple(_text(value) for value in row.values())


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return canonical_text(value)  # type: ignore[arg-type]  # and what else Arrow has, such as decimals, as text


def _some(rows: Counter[tuple[str, ...]]) -> str:
    shown = [f"[{', '.join(row)}]" for row in sorted(rows)[:SHOWN]]
    more = f" and {rows.total() - SHOWN} more" if rows.total() > SHOWN else ""
    return ", ".join(shown) + more
