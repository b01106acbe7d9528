from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from faulty_pages import FAULTS, GOOD, ONTOLOGY, Fault, checked
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from page_instances import json_instance
from random_ontologies import compiled as compiled_or_none
from random_ontologies import ontologies
from test_read_ontology import compiled

from ontology import read_ontology
from ontology.exports.json_schema import to_json_schema
from ontology.schema import Ontology

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "ai-infra"

ACROSS_PAGES = {"wrong-range", "dangling-reference", "cycle", "both-ways", "not-unique", "duplicate-name"}
"""Codes of faults that take other pages, which a schema of one page cannot see."""
BEYOND = {
    "out-of-range: phi: memory: 500 MB": "limits of quantities, whose units would be converted",
    "wrong-unit: phi: memory: 3 kg": "which units can be converted",
    "not-a-date: phi: released: 2023-02-29": "days that a month does not have, without the format asserted",
    "duplicate-value: orca:   - {target: phi, benchmark: mmlu}": "which attributes tell statements apart",
    "too-few-values: acme: made: phi": "relations that other pages may state",
    "too-many-values: corp: owns: mmlu": "relations that other pages state",
}
"""Single faults that it cannot see either, and what it would have to know."""

MODELS = compiled(ONTOLOGY)
VALIDATOR = Draft202012Validator(to_json_schema(MODELS))


def errors(text: str, ontology: Ontology = MODELS, validator: Draft202012Validator = VALIDATOR) -> list[str]:
    found = validator.iter_errors(json_instance(f"---\n{text}---\n", ontology))
    return [error.message for error in found]


def shown(fault: Fault) -> str:
    """A fault by its code, page and the line that is not in the good page."""
    lines = [line for line in fault.text.splitlines() if line not in GOOD[fault.page].splitlines()]
    return f"{fault.code}: {fault.page}: {' '.join(lines) or 'a line less'}"


def test_it_is_a_schema() -> None:
    for ontology in (MODELS, read_ontology(EXAMPLE / "ontology.yaml")):
        Draft202012Validator.check_schema(to_json_schema(ontology))


@settings(max_examples=30, deadline=None)
@given(ontologies())
def test_of_any_ontology_it_is_a_schema(text: str) -> None:
    ontology = compiled_or_none(text)
    if ontology is not None:
        schema = to_json_schema(ontology)
        Draft202012Validator.check_schema(schema)
        assert json.loads(json.dumps(schema)) == schema


def test_pages_that_hold_are_valid(tmp_path: Path) -> None:
    assert checked(GOOD, tmp_path).findings == ()
    assert {page: errors(text) for page, text in GOOD.items()} == {page: [] for page in GOOD}
    ontology = read_ontology(EXAMPLE / "ontology.yaml")
    validator = Draft202012Validator(to_json_schema(ontology))
    for page in sorted((EXAMPLE / "wiki").rglob("*.md")):
        instance = json_instance(page.read_text(encoding="utf-8"), ontology)
        assert [error.message for error in validator.iter_errors(instance)] == [], page.name


@pytest.mark.parametrize("fault", FAULTS, ids=shown)
def test_what_our_check_refuses_it_refuses(fault: Fault, tmp_path: Path) -> None:
    found = checked({**GOOD, fault.page: fault.text}, tmp_path)
    assert fault.code in {finding.code for finding in found.findings if finding.severity == "error"}
    expected = fault.code not in ACROSS_PAGES and shown(fault) not in BEYOND
    assert bool(errors(fault.text)) is expected, errors(fault.text)


def test_what_is_listed_as_beyond_it_is_there() -> None:
    assert set(BEYOND) <= {shown(fault) for fault in FAULTS}
    assert {fault.code for fault in FAULTS} >= ACROSS_PAGES


@pytest.mark.parametrize(
    ("page", "old", "new", "message"),
    [
        ("phi", "context_length: 2048", "context_length: 128K", "'128K' is not of type 'integer'"),
        ("phi", "[SFT, DPO]", "[SFT, PPO]", "'PPO' is not one of ['SFT', 'DPO', 'RLHF']"),
        (
            "phi",
            "type: Model",
            "type: Modell",
            "'Modell' is not one of ['Model', 'LanguageModel', 'Benchmark', 'Organization']",
        ),
        ("orca", "delta: 0.5", "delta: -1", "-1.0 is less than the minimum of 0"),
        ("orca", "{target: phi, benchmark: gsm}", "phi", "'phi' is not of type 'object'"),
    ],
)
def test_errors_are_about_what_is_wrong(page: str, old: str, new: str, message: str) -> None:
    assert errors(GOOD[page].replace(old, new)) == [message]


def test_what_editors_show() -> None:
    ontology = compiled("""\
ontology: test
version: 2.0.0
types:
  Model:
    label: {en: Model, zh: 模型}
    description: A model.
    deprecated: {since: 1.1.0, use: Book}
    attributes:
      size:
        type: number
        unit: GB
        default: 80
        examples: ["80", big]
        description: Its size.
        deprecated: {use: length}
      length: {type: string, pattern: "(?i)x"}
      born: {type: date, default: 2024-05-01}
  Book: {}
""")
    model: Mapping[str, Any] = to_json_schema(ontology)["$defs"]["Model"]
    assert (model["title"], model["deprecated"]) == ("Model", True)
    assert model["description"] == "A model. Deprecated since 1.1.0; use Book."
    assert model["properties"]["size"] == {
        "description": "Its size. In GB. Editors offer 80. Deprecated use length.",
        "deprecated": True,
        "default": 80,
        "examples": [80, "big"],
        "type": "number",
    }
    assert model["properties"]["length"] == {"type": "string", "pattern": r"\S", "$comment": "pattern of RE2: (?i)x"}
    assert model["properties"]["born"]["default"] == "2024-05-01"
