"""The main job on the bundled example: the rows that a person finds, cited answers, and no guesses."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ontoloom.records import Answer, Citation
from retrieval.answer import collect
from retrieval.evaluate import cites
from serving import wiring
from serving.settings import Settings

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "ai-infra"
QUESTIONS: list[dict[str, Any]] = yaml.safe_load((EXAMPLE / "questions.yaml").read_text("utf-8"))["questions"]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The example, ingested by rules; no engine."""
    project = tmp_path_factory.mktemp("acceptance") / "ai-infra"
    shutil.copytree(EXAMPLE, project)
    settings = Settings(project=project, engine="none")
    summary = wiring.run_ingest(settings, [])
    assert summary.failures == ()
    return settings


@pytest.fixture(scope="module")
def answers(settings: Settings) -> Iterator[dict[str, Answer]]:
    """The extractive answer to each question, by the question's id."""
    with wiring.asking(settings, use_engine=False) as parts:
        yield {
            item["id"]: collect(item["question"], wiring.answer_events(settings, parts, item["question"]))
            for item in QUESTIONS
        }


def spans_of(item: dict[str, Any]) -> list[Citation]:
    """The spans that answer a question; a quote occurs once in its document."""
    found = []
    for span in item["spans"]:
        start = (EXAMPLE / span["document"]).read_text("utf-8").index(span["quote"])
        found.append(Citation(span["document"], start, start + len(span["quote"])))
    return found


def test_the_select_returns_the_models_that_a_person_finds(settings: Settings) -> None:
    sql = "SELECT * FROM Model WHERE training_method = 'DPO'"
    found = wiring.run_select(settings, sql, sources=True, max_rows=1000, timeout=60)
    names = found.selection.rows.column("name").to_pylist()
    by_hand = [
        page["name"]
        for path in sorted((EXAMPLE / "wiki").glob("*.md"))
        for page in [yaml.safe_load(path.read_text("utf-8").split("---\n")[1])]
        if page["type"] == "Model" and "DPO" in page.get("training_method", [])
    ]
    assert sorted(map(str, names)) == sorted(by_hand)
    assert len(names) == 6


def test_ten_of_the_twelve_answerable_questions_cite_a_right_span(answers: dict[str, Answer]) -> None:
    answerable = [item for item in QUESTIONS if item["answerable"]]
    right = [item["id"] for item in answerable if cites(answers[item["id"]], spans_of(item))]
    assert len(answerable) == 12
    assert len(right) >= 10, f"only {right}"


def test_what_nothing_says_is_declined(answers: dict[str, Answer]) -> None:
    unanswerable = [item["id"] for item in QUESTIONS if not item["answerable"]]
    assert len(unanswerable) == 4
    assert {i: answers[i].sentences for i in unanswerable if not answers[i].declined} == {}


def test_every_sentence_has_citations_within_its_document(answers: dict[str, Answer]) -> None:
    for answer in answers.values():
        for sentence in answer.sentences:
            assert sentence.citations
            for citation in sentence.citations:
                text = (EXAMPLE / citation.document).read_text("utf-8")
                assert 0 <= citation.start < citation.end <= len(text)
                assert text[citation.start : citation.end].strip()
