"""``ask-all``: the questions that a knowledge base must be able to answer, and what is said of those that it is not."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ontology import FindingsError
from ontology.questions import read_questions
from serving.cli import app

QUESTIONS = """\
questions:
  - id: founded
    question: When was Bell Labs founded?
    cites: wiki/bell-labs.md
  - id: quoted
    question: When was Bell Labs founded?
    spans: [{document: wiki/bell-labs.md, quote: "founded: 1925"}]
  - id: unknown
    question: Who founded the Bank of Norway?
    answerable: false
  - id: rows
    select: SELECT subject, since FROM works_at ORDER BY subject
    rows: [[Claude Shannon, 1941], [John Bardeen, ""]]
  - id: runs
    select: SELECT count(*) FROM Organization
"""


def run(folder: Path, *arguments: str) -> Result:
    with contextlib.chdir(folder):
        result = CliRunner().invoke(app, arguments, prog_name="ontoloom")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    run(folder, "init", "mine")
    run(folder / "mine", "ingest", "--no-llm")
    return folder / "mine"


def ask_all(project: Path, questions: str, *options: str) -> Result:
    (project / "questions.yaml").write_text(questions)
    return run(project, "ask-all", *options)


def test_check_reads_the_file_too(project: Path) -> None:
    (project / "questions.yaml").write_text("questions:\n  - question: a\n")
    done = run(project, "check")
    assert done.exit_code == 1
    assert "questions.yaml:2:5: error[missing-key] nothing says which documents answer it" in done.stdout


def test_all_are_right(project: Path) -> None:
    done = ask_all(project, QUESTIONS)
    assert (done.exit_code, done.stdout) == (0, "5 of 5 are answered as they must be\n")
    body = json.loads(ask_all(project, QUESTIONS, "--json").stdout)
    assert body["ok"]
    assert {one["id"] for one in body["questions"]} == {"founded", "quoted", "unknown", "rows", "runs"}


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("cites: wiki/bell-labs.md", "answerable: false", "answered, and must be declined: “"),
        ("answerable: false", "cites: wiki/bell-labs.md", "declined: "),
        ("cites: wiki/bell-labs.md", "cites: documents/transistor.md", "cites wiki/bell-labs.md: “"),
        ("founded: 1925", "founded: 1926", "'founded: 1926' does not stand in wiki/bell-labs.md"),
        ("cites: wiki/bell-labs.md", "cites: gone.md", "there is no document 'gone.md' in the store"),
        ("1941]", "1942]", "lacks [Claude Shannon, 1942]; has also [Claude Shannon, 1941]"),
        ("SELECT subject, since", "SELECT subject, sinse", "did you mean 'since'?"),
    ],
)
def test_what_is_wrong_is_said(project: Path, old: str, new: str, fault: str) -> None:
    done = ask_all(project, QUESTIONS.replace(old, new, 1))
    assert done.exit_code == 1
    assert fault in done.stdout
    assert "4 of 5 are answered as they must be" in done.stdout


FAULTS = {
    "neither": ("- note: x", (2, 5, "missing-key")),
    "both": ("- {question: a, select: b, cites: c}", (2, 5, "missing-key")),
    "no answer": ("- question: a", (2, 5, "missing-key")),
    "rows of a question": ("- {question: a, cites: c, rows: [[1]]}", (2, 29, "misplaced-key")),
    "twice": ("- {id: x, select: a}\n  - {id: x, select: b}", (3, 5, "duplicate-value")),
    "unknown key": ("- {select: a, row: [[1]]}", (2, 17, "unknown-key")),
    "a half span": ("- {question: a, spans: [{document: d}]}", (2, 27, "missing-key")),
}


@pytest.mark.parametrize(("text", "expected"), FAULTS.values(), ids=FAULTS.keys())
def test_every_fault_of_the_file_has_its_place(tmp_path: Path, text: str, expected: tuple[int, int, str]) -> None:
    (tmp_path / "q.yaml").write_text(f"questions:\n  {text}\n")
    with pytest.raises(FindingsError) as caught:
        read_questions(tmp_path / "q.yaml")
    assert (*expected,) in [(f.line, f.column, f.code) for f in caught.value.findings]
