"""How a difference reads, against golden files; ONTOLOOM_GOLDEN=write writes them anew."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest
from conftest import ROOT

from ontology import Ontology
from ontology.compare.diff import Difference, diff
from ontology.compare.report import Reach, as_json, as_markdown, as_text
from ontology.compare.rules import Change, change
from ontology.read import compile_ontology

GOLDEN = ROOT / "tests" / "golden" / "diff"

OLD = """\
ontology: shop
version: 0.4.1
types:
  Product:
    description: What is sold.
    attributes:
      price: {type: number, min: 0, unit: EUR}
      state: {type: enum, values: [new, "second|hand", 新品]}
      sku: {type: string}
  Book: {is_a: Product}
  Author: {synonyms: [writer]}
relations:
  written_by: {domain: Book, range: Author}
  sequel_of: {domain: Book, range: Book, cardinality: one}
"""
NEW = """\
ontology: shop
version: 0.4.2
types:
  Product:
    description: "What is sold, <b>@everyone</b> knows #1."
    attributes:
      price: {type: number, min: 1, unit: EUR}
      state: {type: enum, values: [new, 新品, as_good_as_new]}
      sku: {type: string, unique: true, required: true}
      weight: {type: quantity, unit: kg}
  Book: {is_a: Product}
  Writer: {synonyms: [author, novelist]}
relations:
  written_by: {domain: Book, range: Writer}
  sequel_of: {domain: Book, range: Book}
"""


def compiled(text: str) -> Ontology:
    ontology, findings = compile_ontology(text, file="ontology.yaml")
    assert findings == []
    assert ontology is not None
    return ontology


def counted(change: Change) -> Reach | None:
    """Made-up counts: of two changes they are not known."""
    if not change.touches or change.kind == "key-added":
        return None
    return Reach(1, 1) if change.kind == "minimum-raised" else Reach(12, 3456)


def difference() -> Difference:
    return diff(compiled(OLD), compiled(NEW))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain.txt", as_text),
        ("counted.txt", lambda d: as_text(d, count=counted)),
        ("counted.md", lambda d: as_markdown(d, count=counted)),
        ("plain.md", as_markdown),
        ("counted.json", lambda d: json.dumps(as_json(d, count=counted), indent=2, ensure_ascii=False) + "\n"),
    ],
)
def test_a_report_reads_as_the_golden_file(name: str, text: Callable[[Difference], str]) -> None:
    made = text(difference())
    if os.environ.get("ONTOLOOM_GOLDEN") == "write":
        GOLDEN.mkdir(parents=True, exist_ok=True)
        (GOLDEN / name).write_text(made)
    assert made == (GOLDEN / name).read_text()


def test_no_difference_reads_as_none() -> None:
    same = diff(compiled(OLD), compiled(OLD))
    assert as_text(same) == "shop 0.4.1: nothing has changed\n"
    assert as_markdown(same) == "### Ontology `shop` 0.4.1\n\nNothing has changed.\n"
    assert as_json(same)["changes"] == []


def test_a_version_alone_need_not_be_raised() -> None:
    text = as_text(diff(compiled(OLD), compiled(OLD.replace("0.4.1", "0.5.0"))))
    assert text.startswith("shop 0.4.1 → 0.5.0: 1 change, none breaking; the version need not be raised\n")


def test_columns_stand_below_each_other_whatever_the_script() -> None:
    changes = (change("label-changed", "Model.模型", "is 'x'"), change("label-changed", "Model.abcd", "is 'y'"))
    lines = as_text(Difference("test", "1.0.0", "1.0.1", changes)).splitlines()
    assert "  Model.模型  label-changed  is 'x'" in lines
    assert "  Model.abcd  label-changed  is 'y'" in lines


def test_a_long_table_says_what_it_leaves_out() -> None:
    changes = tuple(change("type-removed", f"T{i}", "was a type") for i in range(250))
    text = as_markdown(Difference("test", "1.0.0", "2.0.0", changes), most=100)
    assert text.count("`type-removed`") == 100
    assert "… and 150 more." in text
    assert "**250 changes, 250 breaking.**" in text


def test_a_table_holds_whatever_values_are_called() -> None:
    hostile = change("enum-value-removed", "Model.a|`b`", "'x|y' <script> [a](b) *b* _c_ `d` \\ & @all #1")
    table = as_markdown(Difference("test", "1.0.0", "2.0.0", (hostile,))).splitlines()
    row = next(line for line in table if "script" in line)
    assert row.replace("\\|", "").count("|") == 4
    assert "<script>" not in row
    assert "@all" not in row
    assert "#1" not in row


def test_what_is_reported_can_be_written_as_json() -> None:
    read = json.loads(json.dumps(as_json(difference())))
    assert read["breaking_changes"] == len(difference().breaking)
    assert [one["kind"] for one in read["changes"]] == [one.kind for one in difference().changes]
    assert {tuple(one) for one in read["changes"]} == {
        ("kind", "where", "breaking", "step", "message", "hint", "touches", "extraction", "reach")
    }
