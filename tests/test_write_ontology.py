from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from random_ontologies import WORDS, compiled, ontologies
from yaml.nodes import MappingNode

from ontology import read_ontology
from ontology.emit_yaml import emit, scalar
from ontology.read import compile_ontology
from ontology.strict_yaml import Source, compose, entries
from ontology.write_yaml import number_text, write_ontology

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "ai-infra" / "ontology.yaml"


@settings(max_examples=100, deadline=None)
@given(ontologies())
def test_what_is_written_compiles_to_the_same(text: str) -> None:
    ontology = compiled(text)
    assume(ontology is not None)
    assert ontology is not None
    written = write_ontology(ontology)
    again, findings = compile_ontology(written, file="ontology.yaml")
    assert findings == []
    assert again == ontology
    assert write_ontology(again) == written


@settings(max_examples=200, deadline=None)
@given(WORDS, WORDS)
def test_any_word_comes_back_in_any_place(key: str, word: str) -> None:
    text = emit(
        {"block": word, "flow": [word, {key: word}], key + "k": {"x": word}, "long": [word, "w" * 130, {key: "k"}]}
    )
    source = Source("x.yaml", text)
    root = compose(source)
    assert source.findings == []
    assert isinstance(root, MappingNode)
    found = entries(root)
    assert found["block"][1].value == word
    assert found["flow"][1].value[0].value == word
    assert [(k.value, v.value) for k, v in found["flow"][1].value[1].value] == [(key, word)]
    inner = found[key + "k"][1]
    assert isinstance(inner, MappingNode)
    assert entries(inner)["x"][1].value == word
    assert found["long"][1].value[0].value == word


@pytest.mark.parametrize(
    ("word", "block", "within"),
    [
        ("plain words", "plain words", "plain words"),
        ("no", "no", "no"),
        ("1.10", "1.10", "1.10"),
        ("-5", "-5", "-5"),
        ("https://example.org", "https://example.org", "https://example.org"),
        ("a, b", "a, b", '"a, b"'),
        ("why?", "why?", '"why?"'),
        ("null", '"null"', '"null"'),
        ("a: b", '"a: b"', '"a: b"'),
        ("C#", "C#", "C#"),
        ("a #b", '"a #b"', '"a #b"'),
        (r"[A-Z]\d+", r"'[A-Z]\d+'", r"'[A-Z]\d+'"),
        ('say "x"', 'say "x"', 'say "x"'),
        ("*", '"*"', '"*"'),
        ("a\tb", r'"a\tb"', r'"a\tb"'),
        ("a\u2028b", r'"a\u2028b"', r'"a\u2028b"'),
    ],
)
def test_quotes_only_where_yaml_needs_them(word: str, block: str, within: str) -> None:
    assert scalar(word) == block
    assert scalar(word, within=True) == within


def test_the_example_is_written_as_people_wrote_it() -> None:
    ontology = read_ontology(EXAMPLE)
    text = write_ontology(ontology)
    again, findings = compile_ontology(text, file="ontology.yaml")
    assert findings == []
    assert again == ontology
    assert max(len(line) for line in text.splitlines()) <= 120
    assert "      url: {type: url, description: Where it can be read.}\n" in text
    assert "  published_in:\n    domain: Paper\n    range: Venue\n    cardinality: one\n" in text


def test_only_what_is_said_is_written() -> None:
    text = """\
ontology: test
version: 1.0.0

types:
  Thing: {abstract: true, attributes: {name: {pattern: "[A-Z].*"}, size: {type: quantity, unit: GB, default: 2048 MB}}}
  Model: {is_a: Thing, attributes: {size: {type: quantity, unit: GB, default: 2048 MB, required: true}}}

relations:
  based_on: {domain: [Thing, Model], range: Model, cardinality: 0..1}
"""
    ontology = compiled(text)
    assert ontology is not None
    assert (
        write_ontology(ontology)
        == """\
ontology: test
version: 1.0.0

types:
  Thing:
    abstract: true
    attributes:
      name: {pattern: "[A-Z].*"}
      size: {type: quantity, unit: GB, default: 2.048 GB}

  Model:
    is_a: Thing
    attributes:
      size: {type: quantity, unit: GB, required: true, default: 2.048 GB}

relations:
  based_on: {domain: Thing, range: Model, cardinality: one}
"""
    )


def test_imports_are_written_as_one_file(tmp_path: Path) -> None:
    (tmp_path / "core.yaml").write_text(
        "ontology: core\nversion: 1.0.0\ntypes:\n  Agent: {attributes: {born: {type: date}}}\n"
        "relations:\n  knows: {domain: Agent, range: Agent, symmetric: true}\n",
        encoding="utf-8",
    )
    (tmp_path / "ontology.yaml").write_text(
        "ontology: test\nversion: 1.0.0\nimports: [{file: core.yaml, prefix: core_}]\ntypes:\n"
        "  Person: {is_a: core_Agent}\n",
        encoding="utf-8",
    )
    ontology = read_ontology(tmp_path / "ontology.yaml")
    again = compiled(write_ontology(ontology))
    assert again is not None
    assert (again.hash, again.imports) == (ontology.hash, ())


@pytest.mark.parametrize(
    ("number", "text"),
    [(80.0, "80"), (80, "80"), (0.5, "0.5"), (-3.0, "-3"), (1e30, "1e+30"), (-0.0, "-0.0"), (1e-7, "1e-07")],
)
def test_numbers(number: float, text: str) -> None:
    assert number_text(number) == text
