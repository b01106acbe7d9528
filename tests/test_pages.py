from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontology import Ontology
from ontology.page_reader import parse_page
from ontology.pages import Page, PageRef, Statement
from ontology.read import compile_ontology

ONTOLOGY_TEXT = """\
ontology: test
version: 1.0.0
types:
  Model:
    attributes:
      context_length: {type: integer, unit: tokens, min: 1}
      parameters: {type: integer}
      training_method: {type: enum, many: true, values: [DPO, SFT, RLHF]}
      license: {type: enum, values: [yes, no]}
      version: {type: string}
      released: {type: date}
      score: {type: number}
      hardware:
        type: record
        fields:
          gpu_memory: {type: number, unit: GB}
          cpu_cores: {type: integer}
  Person:
    attributes:
      name: {pattern: "[A-Z].*"}
      born: {type: integer, required: true}
  Benchmark: {description: A test.}
relations:
  based_on: {domain: Model, range: Model}
  described_by: {domain: Model, range: Person, cardinality: one}
  authored: {domain: Person, range: Model}
  evaluated_on:
    domain: Model
    range: Benchmark
    attributes: {score: {type: number, required: true}}
  superior_to:
    domain: Model
    range: Model
    attributes:
      benchmark: {type: reference, to: Benchmark, identifying: true}
      delta: {type: number}
      metrics: {type: enum, many: true, values: [recall, precision]}
      judges: {type: reference, to: Person, many: true}
"""

PAGE = """\
---
type: Model
name: Zephyr 7B 😀  # the name
aliases: [Zephyr, "Zephyr-7B-β"]
source: https://example.org/zephyr
description: >
  A model that
  is small.
context_length: 8192
training_method: [SFT, DPO]
license: no
version: 1.10
released: 2023-10-25
hardware: {gpu_memory: 16, cpu_cores: 8}
based_on: mistral-7b
superior_to:
  - {target: llama-2-70b, benchmark: mt-bench, delta: 0.48}
  - target: falcon-40b
    delta: 2
  # a comment
  - mpt-7b
---
# Zephyr

Prose with context_length: 9 and [[a link]].
"""


def compiled(text: str) -> Ontology:
    ontology, findings = compile_ontology(text, file="ontology.yaml")
    assert findings == []
    assert ontology is not None
    return ontology


ONTOLOGY = compiled(ONTOLOGY_TEXT)


def parsed(text: str) -> Page:
    page, findings = parse_page(text, file="wiki/zephyr-7b.md", ontology=ONTOLOGY)
    assert findings == []
    assert page is not None
    return page


def found(text: str) -> list[tuple[int, int, str, str]]:
    _, findings = parse_page(text, file="wiki/x.md", ontology=ONTOLOGY)
    return [(f.line, f.column, f.code, f.fix) for f in findings]


def model(*lines: str) -> str:
    """A page of a model; the first of the given lines is line 4."""
    return "\n".join(["---", "type: Model", "name: X", *lines, "---", "Prose.", ""])


def test_a_page_says_what_it_says() -> None:
    page = parsed(PAGE)
    assert (page.id, page.type, page.name) == ("zephyr-7b", "Model", "Zephyr 7B 😀")
    assert page.aliases == ("Zephyr", "Zephyr-7B-β")
    assert page.sources == ("https://example.org/zephyr",)
    assert page.description == "A model that is small."
    assert PAGE[page.body_start :].startswith("# Zephyr\n")
    assert PAGE[slice(*page.name_span)] == "name: Zephyr 7B 😀"
    assert [PAGE[at:].split("\n")[0][:6] for at in page.label_starts] == ["Zephyr", "Zephyr", '"Zephy']
    assert [(s.key, s.object, s.attributes, PAGE[s.start : s.end]) for s in page.statements] == [
        ("context_length", 8192, (), "context_length: 8192"),
        ("training_method", "SFT", (), "SFT"),
        ("training_method", "DPO", (), "DPO"),
        ("license", "no", (), "license: no"),
        ("version", "1.10", (), "version: 1.10"),
        ("released", date(2023, 10, 25), (), "released: 2023-10-25"),
        ("hardware.gpu_memory", 16.0, (), "gpu_memory: 16"),
        ("hardware.cpu_cores", 8, (), "cpu_cores: 8"),
        ("based_on", PageRef("mistral-7b"), (), "based_on: mistral-7b"),
        (
            "superior_to",
            PageRef("llama-2-70b"),
            (("benchmark", PageRef("mt-bench")), ("delta", 0.48)),
            "{target: llama-2-70b, benchmark: mt-bench, delta: 0.48}",
        ),
        ("superior_to", PageRef("falcon-40b"), (("delta", 2.0),), "target: falcon-40b\n    delta: 2"),
        ("superior_to", PageRef("mpt-7b"), (), "mpt-7b"),
    ]


def test_a_reference_knows_where_it_stands() -> None:
    statement = parsed(PAGE).statements[9]
    assert isinstance(statement.object, PageRef)
    assert PAGE[statement.object.start :].startswith("llama-2-70b,")


def test_line_breaks_of_windows_change_nothing_but_offsets() -> None:
    text = PAGE.replace("\n", "\r\n")
    page, plain = parsed(text), parsed(PAGE)
    assert [(s.key, s.object, s.attributes) for s in page.statements] == [
        (s.key, s.object, s.attributes) for s in plain.statements
    ]
    assert [text[s.start : s.end].replace("\r\n", "\n") for s in page.statements] == [
        PAGE[s.start : s.end] for s in plain.statements
    ]
    assert text[page.body_start :].startswith("# Zephyr")
    assert found(text.replace("8192", "128K")) == [(9, 17, "not-an-integer", "write 131072")]


def test_a_relation_with_attributes_needs_no_list() -> None:
    text = model("superior_to: {target: a, delta: 1}  # so they say", "evaluated_on:", "  target: b", "  score: 2")
    assert [text[s.start : s.end] for s in parsed(text).statements] == [
        "superior_to: {target: a, delta: 1}",
        "evaluated_on:\n  target: b\n  score: 2",
    ]


def test_one_relation_may_lead_to_a_page_twice_when_told_apart() -> None:
    text = model("superior_to: [{target: a, benchmark: m}, {target: a, benchmark: n}]")
    assert len(parsed(text).statements) == 2


def test_an_attribute_of_a_relation_may_hold_many_values() -> None:
    text = model("superior_to: {target: a, metrics: [recall, precision], judges: [bo, ada], delta: 1}")
    [statement] = parsed(text).statements
    values = [(name, value.id if isinstance(value, PageRef) else value) for name, value in statement.attributes]
    judges: list[tuple[str, object]] = [("judges", "ada"), ("judges", "bo")]
    assert values == [("delta", 1), *judges, ("metrics", "precision"), ("metrics", "recall")]


CASES = {
    "value of a relation, twice": (
        ["superior_to: {target: a, metrics: [recall, recall]}"],
        [(4, 44, "duplicate-value", "keep one")],
    ),
    "values of a relation, none": (
        ["superior_to: {target: a, judges: []}"],
        [(4, 26, "empty-value", "fill it in or leave it out")],
    ),
    "number with a letter": (["context_length: 128K"], [(4, 17, "not-an-integer", "write 131072")]),
    "number with a letter, decimal": (["parameters: 7B"], [(4, 13, "not-an-integer", "write 7000000000")]),
    "range": (["context_length: 0"], [(4, 17, "out-of-range", "write at least 1")]),
    "enum": (["training_method: [SFT, dpo]"], [(4, 24, "not-in-enum", "write DPO")]),
    "date": (["released: 2024-13-45"], [(4, 11, "not-a-date", "write a day that exists as YYYY-MM-DD")]),
    "duplicate key": (["version: a", "version: b"], [(5, 1, "duplicate-key", "keep one")]),
    "duplicate item": (["training_method: [DPO, DPO]"], [(4, 24, "duplicate-value", "keep one")]),
    "duplicate statement": (
        ["based_on: [a, {target: a}]"],
        [(4, 15, "duplicate-value", "keep one")],
    ),
    "attribute": (["contxt_length: 1"], [(4, 1, "unknown-attribute", "did you mean 'context_length'?")]),
    "relation": (["superior: a"], [(4, 1, "unknown-attribute", "did you mean 'superior_to'?")]),
    "reserved key": (["alias: [a]"], [(4, 1, "unknown-attribute", "did you mean 'aliases'?")]),
    "dotted key": (["hardware.cpu_cores: 8"], [(4, 1, "unknown-attribute", "write hardware: {cpu_cores: …}")]),
    "field": (["hardware: {cpus: 8}"], [(4, 12, "unknown-key", "did you mean 'cpu_cores'?")]),
    "record as a value": (["hardware: 8"], [(4, 11, "wrong-shape", "write 'key: value' lines")]),
    "relation of another type": (
        ["authored: a"], [(4, 1, "wrong-domain", "state it on the page at its other end, or remove it")],
    ),
    "list where one value is": (["version: [a]"], [(4, 10, "too-many-values", "write a")]),
    "second target where one is": (["described_by: [a, b]"], [(4, 19, "too-many-values", "keep one")]),
    "mapping where a value is": (["version: {a: b}"], [(4, 10, "wrong-shape", "write one value")]),
    "attribute of a relation": (
        ["superior_to: [{target: a, benchmrk: b}]"], [(4, 27, "unknown-key", "did you mean 'benchmark'?")],
    ),
    "value of a relation": (
        ["superior_to:", "  - {target: a, delta: high}"], [(5, 24, "not-a-number", "write a number")],
    ),
    "no target": (["superior_to: [{delta: 1}]"], [(4, 15, "missing-key", "add 'target:'")]),
    "relation's required attribute": (
        ["evaluated_on: [a]"], [(4, 16, "missing-attribute", "write {target: …, score: …}")],
    ),
    "wiki link as a value": (["based_on: [[mistral-7b]]"], [(4, 12, "wrong-shape", "write mistral-7b")]),
    "nothing": (["version:"], [(4, 1, "empty-value", "write a value or leave the key out")]),
    "empty list": (["training_method: []"], [(4, 1, "empty-value", "fill it in or leave it out")]),
    "null": (["version: null"], [(4, 10, "null-value", "leave the key out, or put quotes around the word")]),
    "source": (["source: example.org/x"], [(4, 9, "not-a-url", "write https://example.org/x")]),
    "aliases not a list": (["aliases: Zephyr"], [(4, 10, "wrong-shape", "write [Zephyr]")]),
    "tab": (["hardware:", "\tcpu_cores: 8"], [(5, 1, "tab-indentation", "use spaces")]),
    "no-break space": (
        ["hardware:", "\xa0\xa0cpu_cores: 8"], [(5, 1, "odd-space", "replace it by an ordinary space")],
    ),
    "anchor": (["version: &v a"], [(4, 10, "anchor", "remove it; write values out")]),
    "alias bomb": (
        ["a: &a [x, x]", "b: &b [*a, *a]", "c: &c [*b, *b]"],
        [(4 + i, 4, "anchor", "remove it; write values out") for i in range(3)],
    ),
    "tag": (["version: !!python/name:os.system a"], [(4, 10, "tag", "remove it")]),
    "merge key": (["<<: {version: a}"], [(4, 1, "merge-key", "write the keys out")]),
    "conflict": (["<<<<<<< HEAD", "version: a", "=======", "version: b", ">>>>>>> other"],
                 [(4, 1, "merge-conflict", "choose one side")]),
    "NUL": (["version: a\0"], [(4, 11, "control-character", "remove it")]),
    "several at once": (
        ["context_length: 128K", "hardware: {cpu_cores: many}", "released: soon"],
        [
            (4, 17, "not-an-integer", "write 131072"),
            (5, 23, "not-an-integer", "write an integer"),
            (6, 11, "not-a-date", "write YYYY-MM-DD"),
        ],
    ),
    "after a syntax error": (
        ["version: [a", "context_length: 128K"],
        [(4, 10, "syntax", "close the list with ]"), (5, 17, "not-an-integer", "write 131072")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "expected"), CASES.values(), ids=CASES.keys())
def test_every_fault_has_place_code_and_fix(lines: list[str], expected: list[tuple[int, int, str, str]]) -> None:
    assert found(model(*lines)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (1, 1, "empty-file")),
        ("\n \n", (1, 1, "empty-file")),
        ("# Just prose\n", (1, 1, "no-front-matter")),
        ("\n---\ntype: Model\nname: X\n---\n", (1, 1, "no-front-matter")),
        ("---\ntype: Model\nname: X\n\nProse.\n", (1, 1, "unclosed-front-matter")),
        ("---", (1, 1, "no-front-matter")),
        ("---\n---\nProse.\n", (1, 1, "missing-key")),
        ("---\n# comment\n---\nProse.\n", (1, 1, "missing-key")),
        ("---\n- type\n- name\n---\n", (2, 1, "wrong-shape")),
        ("---\njust words\n---\n", (2, 1, "wrong-shape")),
        ("---\nname: X\n---\n", (1, 1, "missing-key")),
        ("---\ntype: Model\n---\n", (1, 1, "missing-key")),
        ("---\ntype: Modell\nname: X\n---\n", (2, 7, "unknown-type")),
        ("---\ntype: Person\nname: Bo\n---\n", (1, 1, "missing-attribute")),
        ("---\ntype: Person\nname: bo\nborn: 1990\n---\n", (3, 7, "pattern-mismatch")),
        ("---\ntype: Model\nname: X\n--- \nProse\n<<<<<<< HEAD\na\n=======\n", (6, 1, "merge-conflict")),
        ("\ufeff---\ntype: Model\nname: X\n---\n", (1, 1, "byte-order-mark")),
        ("---\ntype: Model\nname: X\nversion: " + "[" * 10_000 + "\n---\n", (4, 10, "too-deep")),
    ],
)
def test_a_page_without_sound_front_matter_is_an_error(text: str, expected: tuple[int, int, str]) -> None:
    assert [row[:3] for row in found(text)] == [expected]


def test_prose_may_hold_rules_and_headings_like_those_of_front_matter() -> None:
    text = model("version: a") + "Title\n=======\n\n---\n\n```\ncontext_length: 128K\n```\n"
    assert parsed(text).statements == (Statement("version", "a", (), 24, 34),)


def test_what_holds_of_a_page_comes_back_beside_findings() -> None:
    page, findings = parse_page(model("version: a", "context_length: 128K"), file="x.md", ontology=ONTOLOGY)
    assert page is not None
    assert [statement.key for statement in page.statements] == ["version"]
    assert len(findings) == 1


def test_an_unknown_type_names_the_nearest() -> None:
    _, findings = parse_page("---\ntype: modle\nname: X\n---\n", file="x.md", ontology=ONTOLOGY)
    assert str(findings[0]) == "x.md:2:7: error[unknown-type] there is no type 'modle'; did you mean 'Model'?"


MUTATION = st.sampled_from([
    "", "\t", ": ", "- ", "[", "}", "'", "&a ", "*a", "!!x ", "\0", "\ufeff", "\xa0", "\r", "<<: ", "~", "999", "😀",
    "\n", "---\n", "\ud800", "type: Person\n",
])  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, len(PAGE)), st.integers(0, 12), MUTATION), max_size=4))
def test_whatever_is_done_to_it_only_findings_come_of_it(edits: list[tuple[int, int, str]]) -> None:
    text = PAGE
    for at, cut, put in edits:
        text = text[:at] + put + text[at + cut :]
    page, findings = parse_page(text, file="x.md", ontology=ONTOLOGY)
    assert page is not None or findings
    assert findings == sorted(findings)
    for statement in page.statements if page else ():
        assert 0 <= statement.start < statement.end <= len(text)
        assert text[statement.start : statement.end].strip() == text[statement.start : statement.end]


VALUES = st.integers(1, 10**12)
LABELS = st.text(alphabet="abcXYZ 😀é模", min_size=1, max_size=12).map(lambda t: "N" + t.strip())


@given(LABELS, VALUES, st.sets(st.sampled_from(["DPO", "SFT", "RLHF"]), min_size=1), st.dates())
def test_what_a_page_states_is_the_words_that_state_it(name: str, length: int, methods: set[str], day: date) -> None:
    listed = sorted(methods)
    text = "\n".join([
        "---", "type: Model", f"name: {name}", f"context_length:   {length}  # n", "training_method:",
        *(f"- {method} # m" for method in listed), f'released: "{day.isoformat()}"', "---", "",
    ])  # fmt: skip
    page = parsed(text)
    assert page.name == " ".join(name.split())
    assert [(s.object, text[s.start : s.end]) for s in page.statements] == [
        (length, f"context_length:   {length}"),
        *((method, method) for method in listed),
        (day, f'released: "{day.isoformat()}"'),
    ]
