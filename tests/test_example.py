"""The bundled example, read naively: what it must hold whatever reads it later."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

EXAMPLE = Path(__file__).parents[1] / "examples" / "ai-infra"
PAGES = sorted((EXAMPLE / "wiki").glob("*.md"))
DOCUMENTS = sorted((EXAMPLE / "documents").glob("*.md"))
IDS = {page.stem for page in PAGES}
QUESTIONS: list[dict[str, Any]] = yaml.safe_load((EXAMPLE / "questions.yaml").read_text("utf-8"))["questions"]
ONTOLOGY: dict[str, Any] = yaml.safe_load((EXAMPLE / "ontology.yaml").read_text("utf-8"))

# What a person finds who reads the pages for models whose training methods include DPO.
DPO_MODELS = {
    "Llama 3 70B Instruct",
    "Mixtral 8x7B Instruct",
    "Phi-3 mini",
    "Qwen2 72B Instruct",
    "Tulu 2 DPO 70B",
    "Zephyr 7B beta",
}


def split_front_matter(path: Path) -> tuple[dict[str, Any], str]:
    match = re.fullmatch(r"---\n(.*?)\n---\n(.*)", path.read_text("utf-8"), flags=re.DOTALL)
    assert match, f"{path.name}: no front matter"
    return yaml.safe_load(match[1]), match[2]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def targets(value: Any) -> list[str]:
    """The page ids that the value of a relation names, those in its attributes included."""
    items = [item if isinstance(item, dict) else {"target": item} for item in as_list(value)]
    return [item[key] for item in items for key in ("target", "benchmark") if key in item]


def test_there_is_enough_of_everything() -> None:
    assert len(PAGES) >= 20
    assert len(DOCUMENTS) >= 12
    assert {split_front_matter(page)[0]["type"] for page in PAGES} == set(ONTOLOGY["types"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_uses_declared_keys_and_existing_pages(page: Path) -> None:
    facts, prose = split_front_matter(page)
    declared = ONTOLOGY["types"][facts["type"]].get("attributes", {})
    relations = {
        name: relation
        for name, relation in ONTOLOGY["relations"].items()
        if facts["type"] in as_list(relation["domain"])
    }
    assert set(facts) - {"type", "name", "aliases", "source", "description"} <= set(declared) | set(relations)
    assert all(url.startswith("https://") for url in as_list(facts["source"]))
    named = [target for name in relations if name in facts for target in targets(facts[name])]
    linked = [link.removesuffix(".md") for link in re.findall(r"\]\((.*?)\)", prose)]
    assert set(named) | set(linked) <= IDS - {page.stem}
    assert prose.strip()


def test_relations_end_at_the_right_type() -> None:
    facts_of = {page.stem: split_front_matter(page)[0] for page in PAGES}
    for page, facts in facts_of.items():
        for name, relation in ONTOLOGY["relations"].items():
            for item in as_list(facts.get(name, [])):
                target = item["target"] if isinstance(item, dict) else item
                assert facts_of[target]["type"] in as_list(relation["range"]), f"{page}: {name}: {target}"


def test_no_two_pages_share_a_name() -> None:
    owner: dict[str, str] = {}
    for page in PAGES:
        facts, _ = split_front_matter(page)
        for name in {re.sub(r"[\W_]", "", name.casefold()) for name in [facts["name"], *facts.get("aliases", [])]}:
            assert owner.setdefault(name, page.stem) == page.stem, name


def test_score_differences_are_those_of_the_scores() -> None:
    scores: dict[tuple[str, str], float] = {}
    for page in PAGES:
        for item in as_list(split_front_matter(page)[0].get("evaluated_on", [])):
            scores[page.stem, item["target"]] = item["score"]
    checked = 0
    for page in PAGES:
        for item in as_list(split_front_matter(page)[0].get("superior_to", [])):
            ends = (page.stem, item["benchmark"]), (item["target"], item["benchmark"])
            # Mixtral's authors measured Llama 2 70B again, so that this difference is not one of the scores here.
            if all(end in scores for end in ends) and page.stem != "mixtral-8x7b":
                assert item["score_delta"] == pytest.approx(scores[ends[0]] - scores[ends[1]])
                checked += 1
    assert checked == 5


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.stem)
def test_document_has_source_title_abstract_and_body(document: Path) -> None:
    facts, text = split_front_matter(document)
    assert facts["source"].startswith("https://")
    assert re.match(r"# \S.*\n\n## Abstract\n\S", text)
    body = text.split("\n## ", 2)[2]
    assert 200 <= len(body.split()) <= 600
    assert body.count("\n## ") >= 2


def test_questions_are_sixteen_of_which_four_cannot_be_answered() -> None:
    assert [question["id"] for question in QUESTIONS] == [f"q{n:02}" for n in range(1, 17)]
    assert sum(question["answerable"] for question in QUESTIONS) == 12
    for question in QUESTIONS:
        assert question["note"]
        assert bool(question["spans"]) == question["answerable"] == ("answer" in question)


def test_every_quote_occurs_exactly_once() -> None:
    quotes = [(span["document"], span["quote"]) for question in QUESTIONS for span in question["spans"]]
    counts = {quote: (EXAMPLE / quote[0]).read_text("utf-8").count(quote[1]) for quote in quotes}
    assert {quote: count for quote, count in counts.items() if count != 1} == {}


def test_absent_facts_are_absent() -> None:
    everything = "\n".join(path.read_text("utf-8") for path in [*PAGES, *DOCUMENTS])
    assert not re.search(r"cpu_cores|CPU core", everything)
    assert not re.search(r"founded by|founders|co-?founder", everything, flags=re.IGNORECASE)
    assert "context_length" not in split_front_matter(EXAMPLE / "wiki" / "instructgpt.md")[0]
    assert "context_length" not in split_front_matter(EXAMPLE / "wiki" / "gpt-3.md")[0]
    for tulu in (EXAMPLE / "wiki" / "tulu-2-dpo-70b.md", EXAMPLE / "documents" / "tulu-2.md"):
        assert "humaneval" not in tulu.read_text("utf-8").lower()


def test_dpo_models_are_those_that_a_reader_finds() -> None:
    facts = [split_front_matter(page)[0] for page in PAGES]
    models = [each for each in facts if each["type"] == "Model"]
    assert len(models) >= 12
    assert {each["name"] for each in models if "DPO" in each.get("training_method", [])} == DPO_MODELS
