"""``docs/ontology.md`` is true: its examples hold, and its tables list exactly the codes that the code can give."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from ontology.admit import admit_type
from ontology.attributes import ATTRIBUTE_KEYS, PLACE_TYPES
from ontology.entity_types import TYPE_KEYS
from ontology.page_reader import parse_page
from ontology.read import TOP_KEYS, compile_ontology
from ontology.relations import RELATION_KEYS

ROOT = Path(__file__).resolve().parent.parent
DOCS = (ROOT / "docs" / "ontology.md").read_text()

# Where each of these calls takes its code: by position, or by the keyword `code`.
POSITIONS = {"error": 1, "warn": 1, "Finding": 3, "BadValue": 99, "Breach": 2, "_circle": 3}


def section(title: str) -> str:
    return DOCS.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def listed(text: str) -> list[str]:
    """The words in back quotes in the first column of tables."""
    cells = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]


def codes(positions: dict[str, int]) -> Iterator[str]:
    for path in (ROOT / "ontology").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            given = [k.value for k in node.keywords if k.arg == "code"] + node.args[positions.get(name, 99) :][:1]
            for value in given if name in positions else ():
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value.value


def test_every_code_of_a_finding_is_documented_once() -> None:
    documented = listed(section("Findings"))
    assert sorted(documented) == sorted(set(codes(POSITIONS)))


def test_every_code_of_a_refusal_is_documented_once() -> None:
    assert sorted(listed(section("Refusals"))) == sorted(set(codes({"_refuse": 0})))


def test_every_key_and_type_of_value_is_documented() -> None:
    documented = listed(section("An ontology"))
    types = {name for names in PLACE_TYPES.values() for name in names}
    assert set(documented) == {*TOP_KEYS, *TYPE_KEYS, *RELATION_KEYS, *ATTRIBUTE_KEYS, *types}


def test_the_examples_hold() -> None:
    ontology, findings = compile_ontology(section("An ontology").split("```")[1].removeprefix("yaml\n"), file="docs")
    assert findings == []
    assert ontology is not None
    assert admit_type(ontology, "Model") is None
    text = section("A page").split("```")[1].removeprefix("markdown\n")
    page, findings = parse_page(text, file="zephyr-7b-beta.md", ontology=ontology)
    assert findings == []
    assert page is not None
    assert len(page.statements) == 5
