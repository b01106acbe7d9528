"""``questions.yaml``: what a knowledge base must be able to answer, as questions and as SELECTs.

Each says what is right: places that may be cited, rows, or that nothing there answers it. The file is described in
``docs/ontology.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from yaml.nodes import Node, ScalarNode, SequenceNode

from ontology.findings import FindingsError
from ontology.shapes import Entries, Entry, read_flag, read_mapping, read_word, read_words
from ontology.strict_yaml import Source, compose, is_absent, is_null, kind, read_source

KEYS = ("id", "question", "select", "answerable", "answer", "spans", "cites", "rows", "note")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, or a SELECT. ``line`` is where it stands in its file.

    Of a question that is answerable, any of ``cites`` (ids of documents) or of ``quotes`` (exact words of a document)
    must be cited; one that is not must be declined. Of a SELECT, ``rows`` are the texts of its values, in any order;
    None where it must only run.
    """

    id: str
    line: int
    text: str = ""
    select: str = ""
    answerable: bool = True
    cites: tuple[str, ...] = ()
    quotes: tuple[tuple[str, str], ...] = ()
    rows: tuple[tuple[str, ...], ...] | None = None


def read_questions(path: Path) -> list[Question]:
    """The questions in a file, in its order. Raises FindingsError with all that is wrong with it."""
    source = read_source(path)
    root = compose(source)
    questions: list[Question] = []
    if root is None and not source.failed:
        source.error(0, "empty-file", "the file says nothing", "begin with 'questions:' and a list")
    elif root is not None:
        found = read_mapping(source, (root, root), "the file", known=("questions",), required=("questions",))
        questions = _read_list(source, found["questions"]) if "questions" in found else []
    if source.failed:
        raise FindingsError(sorted(source.findings))
    return questions


def _read_list(source: Source, entry: Entry) -> list[Question]:
    if not isinstance(entry[1], SequenceNode):
        source.error(entry[1], "wrong-shape", f"'questions' is a list, not {kind(entry[1])}", "write a list")
        return []
    questions: list[Question] = []
    for item in entry[1].value:
        question = _read_question(source, (item, item), len(questions) + 1)
        if question is not None and question.id in {one.id for one in questions}:
            source.error(item, "duplicate-value", f"the id '{question.id}' is there already", "choose another id")
        elif question is not None:
            questions.append(question)
    return questions


def _read_question(source: Source, entry: Entry, number: int) -> Question | None:
    found = read_mapping(source, entry, "a question", known=KEYS)
    if ("question" in found) == ("select" in found):
        message = "one of 'question' and 'select' says what is asked"
        source.error(entry[1], "missing-key", message, "write one of them")
        return None
    words = {key: read_word(source, found[key]) or "" for key in ("id", "question", "select") if key in found}
    question = Question(
        words.get("id") or f"q{number}",
        source.position(entry[1].start_mark.index)[0],
        words.get("question", ""),
        words.get("select", ""),
        answerable=read_flag(source, found["answerable"]) if "answerable" in found else True,
        cites=tuple(word for word, _ in read_words(source, found["cites"], or_one=True)) if "cites" in found else (),
        quotes=_read_spans(source, found["spans"]) if "spans" in found else (),
        rows=_read_rows(source, found["rows"]) if "rows" in found else None,
    )
    _check(source, found, question)
    return question


def _check(source: Source, found: Entries, question: Question) -> None:
    """Reports keys that mean nothing beside what is asked."""
    misplaced = ("spans", "cites", "answerable") if question.select else ("rows",)
    for key in misplaced:
        if key in found:
            asked = "a SELECT" if question.select else "a question"
            source.error(found[key][0], "misplaced-key", f"'{key}' says nothing about {asked}", "remove it")
    if question.text and question.answerable and not (question.cites or question.quotes):
        at = found["question"][0]
        source.error(
            at, "missing-key", "nothing says which documents answer it", "add 'cites:', or 'answerable: false'"
        )


def _read_spans(source: Source, entry: Entry) -> tuple[tuple[str, str], ...]:
    spans = []
    for item in entry[1].value if isinstance(entry[1], SequenceNode) else [entry[1]]:
        found = read_mapping(
            source, (item, item), "a span", known=("document", "quote"), required=("document", "quote")
        )
        if {"document", "quote"} <= found.keys():
            document = read_word(source, found["document"])
            spans.append((document or "", str(found["quote"][1].value)))
    return tuple(spans)


def _read_rows(source: Source, entry: Entry) -> tuple[tuple[str, ...], ...]:
    if not isinstance(entry[1], SequenceNode):
        source.error(entry[1], "wrong-shape", f"'rows' is a list, not {kind(entry[1])}", "write [[…], […]], or []")
        return ()
    return tuple(_read_row(source, row) for row in entry[1].value)


def _read_row(source: Source, row: Node) -> tuple[str, ...]:
    """The texts of a row's values, which may stand alone; empty, in quotes, for what is unknown."""
    values = []
    for node in row.value if isinstance(row, SequenceNode) else [row]:
        if not isinstance(node, ScalarNode):
            source.error(node, "wrong-shape", f"a row is a list of values, not of {kind(node)}", "write [value, …]")
        elif is_null(node) or is_absent(node):
            source.error(
                node, "null-value", f"{kind(node)} stands for no value in YAML", 'write "" for what is unknown'
            )
        else:
            values.append(node.value.strip())
    return tuple(values)
