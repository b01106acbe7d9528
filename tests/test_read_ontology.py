from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontology import FindingsError, Ontology, read_ontology
from ontology.findings import Finding
from ontology.read import compile_ontology
from ontology.schema import EnumValue

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "ai-infra" / "ontology.yaml"

GOOD = """\
ontology: test
version: 1.2.3
description: A test.
types:
  Model:
    description: A model.
    synonyms: [LLM]
    attributes:
      name: {pattern: "[A-Z].*"}
      context_length: {type: integer, unit: tokens, min: 1, max: 10000000, required: true}
      method: {type: enum, many: true, values: [DPO, SFT]}
      license:
        type: enum
        values:
          MIT: {description: Free., synonyms: [MIT License]}
          yes: {}
          no:
      hardware:
        type: record
        description: What it needs.
        synonyms: [hardware]
        fields:
          memory: {type: number, unit: GB, synonyms: [VRAM]}
          cores: {type: integer, required: true}
  Benchmark:
    description: A test.
relations:
  superior_to:
    domain: Model
    range: [Model, Benchmark]
    cardinality: one
    attributes:
      benchmark: {type: reference, to: Benchmark, identifying: true, required: true}
      delta: {type: number}
"""


def compiled(text: str) -> Ontology:
    ontology, findings = compile_ontology(text, file="ontology.yaml")
    assert findings == []
    assert ontology is not None
    return ontology


def findings_of(text: str) -> list[Finding]:
    ontology, findings = compile_ontology(text, file="ontology.yaml")
    assert (ontology is None) == any(f.severity == "error" for f in findings)
    return findings


def found(text: str) -> list[tuple[int, int, str, str]]:
    return [(f.line, f.column, f.code, f.fix) for f in findings_of(text)]


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def test_what_is_written_is_what_is_read() -> None:
    ontology = compiled(GOOD)
    assert (ontology.name, ontology.version, ontology.description) == ("test", "1.2.3", "A test.")
    model = ontology.types["Model"]
    assert list(model.attributes) == [
        "name", "context_length", "method", "license", "hardware.memory", "hardware.cores",
    ]  # fmt: skip
    assert model.attributes["name"].required
    assert model.attributes["name"].pattern == "[A-Z].*"
    context = model.attributes["context_length"]
    assert (context.type, context.unit, context.minimum, context.maximum) == ("integer", "tokens", 1, 10_000_000)
    assert context.required
    assert model.attributes["method"].many
    assert model.attributes["license"].values == (
        EnumValue("MIT", description="Free.", synonyms=("MIT License",)), EnumValue("yes"), EnumValue("no"),
    )  # fmt: skip
    assert model.records() == {"hardware": ["memory", "cores"]}
    assert model.attributes["hardware.memory"].synonyms == ("VRAM", "hardware")
    assert model.attributes["hardware.memory"].description == "What it needs."
    assert ontology.types["Benchmark"].attributes["name"].type == "string"
    relation = ontology.relations["superior_to"]
    assert (relation.domain, relation.range, relation.functional) == (("Model",), ("Model", "Benchmark"), True)
    assert relation.attributes["benchmark"].targets == ("Benchmark",)
    assert relation.attributes["benchmark"].identifying


def test_the_example_holds() -> None:
    ontology = read_ontology(EXAMPLE)
    assert ontology.name == "ai-infra"
    method = ontology.attribute("Model", "training_method")
    assert method is not None
    assert "DPO" in [value.name for value in method.values]


def test_the_hash_covers_meaning_and_not_layout() -> None:
    ontology = compiled(GOOD)
    moved = compiled("# a comment\n" + changed("synonyms: [LLM]", "synonyms:\n    - 'LLM'"))
    assert moved == ontology
    assert ontology.stamp == f"1.2.3+{ontology.hash[:8]}"
    for old, new in [
        ("A model.", "A thing."),
        ("min: 1,", "min: 2,"),
        ("[DPO, SFT]", "[SFT, DPO]"),
        ("MIT License", "X"),
    ]:
        assert compiled(changed(old, new)).hash != ontology.hash


def test_an_ontology_travels_between_processes() -> None:
    ontology = compiled(GOOD)
    assert pickle.loads(pickle.dumps(ontology)) == ontology


CASES = {
    "unknown key": ("    synonyms: [LLM]", "    synonym: [LLM]", 7, 5, "unknown-key", "did you mean 'synonyms'?"),
    "missing key": ("version: 1.2.3\n", "", 1, 1, "missing-key", "add 'version:'"),
    "version": ("1.2.3", "1.10", 2, 10, "bad-version", "write 1.10.0"),
    "ontology's name": (": test", ": 1 x", 1, 11, "bad-name", "begin with a letter; use letters, digits, - and _"),
    "relation's name": ("  superior_to:", "  superior to:", 28, 3, "bad-name", "write superior_to"),
    "hidden name": ("      method:", "      _method:", 11, 7, "bad-name", "write method"),
    "reserved key": ("      method:", "      aliases:", 11, 7, "reserved-name", "choose another name"),
    "reserved relation": ("  superior_to:", "  source:", 28, 3, "reserved-name", "choose another name"),
    "reserved in a relation": ("      delta:", "      target:", 34, 7, "reserved-name", "choose another name"),
    "case": ("      method:", "      Context_Length:", 11, 7, "name-clash", "choose another name"),
    "relation like attribute": ("  superior_to:", "  hardware:", 28, 3, "name-clash", "rename one of the two"),
    "relation like type": ("  superior_to:", "  model:", 28, 3, "name-clash", "rename one of the two"),
    "duplicate attribute": ("      method:", "      context_length:", 11, 7, "duplicate-key", "keep one"),
    "type of value": ("type: number}", "type: numbr}", 34, 21, "unknown-value-type", "did you mean 'number'?"),
    "reference in record": ("type: number, unit: GB", "type: reference", 23, 26, "misplaced-key", "declare a relation"),
    "unit of an enum": ("many: true", "unit: GB", 11, 28, "misplaced-key", "remove it"),
    "identifying on a type": ("many: true", "identifying: true", 11, 28, "misplaced-key", "remove it"),
    "required record": ("type: record", "type: record\n        required: true", 20, 9, "misplaced-key", "remove it"),
    "name of another type": ('{pattern: "[A-Z].*"}', "{type: integer}", 9, 20, "misplaced-key", "write string"),
    "enum without values": (", values: [DPO, SFT]", "", 11, 7, "missing-key", "add 'values:'"),
    "domain": ("domain: Model", "domain: Modell", 29, 13, "unknown-type", "did you mean 'Model'?"),
    "range in a list": ("[Model, Benchmark]", "[Model, Bench]", 30, 20, "unknown-type", "did you mean 'Benchmark'?"),
    "same type twice": ("[Model, Benchmark]", "[Model, Model]", 30, 20, "duplicate-value", "keep one"),
    "target": ("to: Benchmark", "to: Banchmark", 33, 40, "unknown-type", "did you mean 'Benchmark'?"),
    "cardinality": (
        "cardinality: one", "cardinality: 0", 31, 18, "bad-cardinality",
        "write one, many, or limits such as 0..1, 1..* and 2..5",
    ),
    "flag": ("many: true", "many: yes", 11, 34, "not-a-boolean", "write true"),
    "limit": ("min: 1,", "min: one,", 10, 58, "not-a-number", "write a number"),
    "limit of an integer": ("min: 1,", "min: 1.5,", 10, 58, "not-an-integer", "write an integer"),
    "limits": ("max: 10000000", "max: 0", 10, 66, "out-of-range", "swap them or correct one"),
    "pattern": ('"[A-Z].*"', '"[A-Z"', 9, 23, "bad-pattern", "see RE2's syntax"),
    "value twice": ("[DPO, SFT]", "[DPO, dpo]", 11, 54, "duplicate-value", "keep one"),
    "synonym of another value": ("MIT License", "YES", 15, 48, "duplicate-value", "keep one"),
    "synonyms not a list": ("[LLM]", "LLM", 7, 15, "wrong-shape", "write [LLM]"),
    "attribute not a mapping": ("{type: number}", "number", 34, 14, "wrong-shape", "write 'key: value' lines"),
    "null": ("A model.", "~", 6, 18, "null-value", "leave the key out, or put quotes around the word"),
    "empty": (" A model.", "", 6, 5, "empty-value", "write a value or leave the key out"),
    "empty list": ("[LLM]", "[]", 7, 5, "empty-value", "fill it in or leave it out"),
    "anchor": ("domain: Model", "domain: &m Model", 29, 13, "anchor", "remove it; write values out"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "column", "code", "fix"), CASES.values(), ids=CASES.keys())
def test_every_fault_has_place_code_and_fix(old: str, new: str, line: int, column: int, code: str, fix: str) -> None:
    assert found(changed(old, new)) == [(line, column, code, fix)]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "\ufeff"])
def test_a_file_that_says_nothing_is_an_error(text: str) -> None:
    assert findings_of(text)[-1].code == ("byte-order-mark" if text == "\ufeff" else "empty-file")


def test_a_list_as_root_is_an_error() -> None:
    assert found("- a\n- b\n") == [(1, 1, "wrong-shape", "write 'key: value' lines")]


def test_all_faults_are_reported_at_once() -> None:
    text = changed("1.2.3", "1.10").replace("[LLM]", "LLM").replace("cardinality: one", "cardinality: two")
    assert [f.code for f in findings_of(text)] == ["bad-version", "wrong-shape", "bad-cardinality"]


def test_a_syntax_error_hides_no_other_fault() -> None:
    text = changed("    description: A test.\n", "    description: [A test.\n").replace(
        "cardinality: one", "cardinality: two"
    )
    assert [(f.line, f.code) for f in findings_of(text)] == [(26, "syntax"), (31, "bad-cardinality")]


def test_reading_a_bad_file_raises_all_findings(tmp_path: Path) -> None:
    path = tmp_path / "ontology.yaml"
    path.write_bytes(changed("1.2.3", "1.10").replace("[LLM]", "LLM").replace("\n", "\r\n").encode())
    with pytest.raises(FindingsError) as caught:
        read_ontology(path)
    assert [(f.line, f.column, f.code) for f in caught.value.findings] == [
        (2, 10, "bad-version"),
        (7, 15, "wrong-shape"),
    ]
    assert str(caught.value).startswith(f"{path}:2:10: error[bad-version] '1.10' is no semantic version; write 1.10.0")


MUTATION = st.sampled_from([
    "", "\t", ": ", "- ", "[", "}", "'", "&a ", "*a", "!!x ", "\0", "\ufeff", "\xa0", "\r", "<<: ", "~", "999", "😀",
    "\n", "type",
])  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, len(GOOD)), st.integers(0, 12), MUTATION), max_size=4))
def test_whatever_is_done_to_it_only_findings_come_of_it(edits: list[tuple[int, int, str]]) -> None:
    text = GOOD
    for at, cut, put in edits:
        text = text[:at] + put + text[at + cut :]
    ontology, findings = compile_ontology(text, file="f")
    assert (ontology is None) == any(f.severity == "error" for f in findings)
    assert findings == sorted(findings)
    assert all("\n" not in str(f) and f.line >= 1 and f.column >= 1 for f in findings)


# is_a

KINDS = """\
ontology: test
version: 1.0.0
types:
  GPU:
    is_a: Device
    attributes:
      memory: {type: number, unit: GB}
      power: {type: number, unit: W, required: true, description: Under load.}
  Device:
    is_a: Thing
    attributes:
      name: {pattern: "[A-Z].*"}
      power: {type: number, unit: W, synonyms: [TDP]}
      box:
        type: record
        fields:
          width: {type: number}
  Thing:
    description: Anything.
  Maker: {}
  CPU:
    is_a: Device
    attributes:
      box:
        type: record
        fields:
          pins: {type: integer}
relations:
  made_by:
    domain: Device
    range: Maker
    attributes:
      designed_on: {type: reference, to: [Device]}
  beats: {domain: [CPU, Device], range: Thing}
"""


def test_a_type_has_the_attributes_of_what_it_is() -> None:
    ontology = compiled(KINDS)
    gpu = ontology.types["GPU"]
    assert list(gpu.attributes) == ["name", "power", "box.width", "memory"]
    assert gpu.parent == "Device"
    assert gpu.attributes["name"].pattern == "[A-Z].*"
    power = gpu.attributes["power"]
    assert (power.required, power.description, power.synonyms) == (True, "Under load.", ("TDP",))
    assert not ontology.types["Device"].attributes["power"].required
    assert list(ontology.types["CPU"].attributes) == ["name", "power", "box.width", "box.pins"]
    assert ontology.types["Thing"].attributes["name"].pattern is None
    assert list(ontology.types) == ["GPU", "Device", "Thing", "Maker", "CPU"]


def test_types_know_those_above_and_below_them() -> None:
    ontology = compiled(KINDS)
    assert ontology.subtypes("Thing") == ("Thing", "GPU", "Device", "CPU")
    assert ontology.subtypes("Device") == ("Device", "GPU", "CPU")
    assert ontology.subtypes("Maker") == ("Maker",)
    assert ontology.ancestors("GPU") == ("Device", "Thing")
    assert ontology.widest(["GPU", "Device", "CPU"]) == "Device"
    assert ontology.widest(["GPU", "CPU"]) is None


def test_a_relation_admits_the_subtypes_of_what_it_names() -> None:
    ontology = compiled(KINDS)
    made_by, beats = ontology.relations["made_by"], ontology.relations["beats"]
    assert (made_by.domain, made_by.range) == (("Device", "GPU", "CPU"), ("Maker",))
    assert made_by.attributes["designed_on"].targets == ("Device", "GPU", "CPU")
    assert (beats.domain, beats.range) == (("CPU", "Device", "GPU"), ("Thing", "GPU", "Device", "CPU"))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("is_a: Thing", "is_a: Thng", (10, 11, "unknown-type", "did you mean 'Thing'?")),
        ("  Thing:\n", "  Thing:\n    is_a: GPU\n", (5, 11, "cyclic-type", "remove one 'is_a' or mixin")),
        ("  Thing:\n", "  Thing:\n    is_a: Thing\n", (19, 11, "cyclic-type", "remove one 'is_a' or mixin")),
        ("  Thing:\n", "  Thing:\n    is_a: [GPU]\n", (19, 11, "wrong-shape", "write one value")),
        (
            "power: {type: number, unit: W, req",
            "power: {type: number, unit: kW, req",
            (8, 7, "redefined-attribute", "leave it out, or declare it as there"),
        ),
        ("memory: {", "Box: {", (7, 7, "name-clash", "choose another name")),
        ("memory: {", "box: {", (7, 7, "redefined-attribute", "leave it out, or declare it as there")),
        (
            "          pins: {type: integer}",
            "          width: {type: integer}",
            (27, 11, "redefined-attribute", "leave it out, or declare it as there"),
        ),
        ("  Maker: {}", "  Maker: {is_a: Thing, attributes: {beats: {type: string}}}", None),
        ("memory: {", "beats: {", (34, 3, "name-clash", "rename one of the two")),
        (
            "power: {type: number, unit: W, syn",
            "beats: {type: number, unit: W, syn",
            (34, 3, "name-clash", "rename one of the two"),
        ),
    ],
)
def test_what_does_not_agree_with_what_a_type_is_is_reported_where_it_stands(
    old: str, new: str, expected: tuple[int, int, str, str] | None
) -> None:
    assert KINDS.count(old) == 1
    assert found(KINDS.replace(old, new)) == ([expected] if expected else [])


def test_a_page_of_a_subtype_may_stand_where_its_supertype_is_asked_for() -> None:
    from ontology.page_reader import parse_page

    text = "---\ntype: GPU\nname: H200\npower: 700\nmemory: 141\nmade_by: nvidia\nbeats: a100\n---\n"
    page, findings = parse_page(text, file="h200.md", ontology=compiled(KINDS))
    assert findings == []
    assert page is not None
    assert [s.key for s in page.statements] == ["power", "memory", "made_by", "beats"]
