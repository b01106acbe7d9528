"""Every bad input in ``bad_inputs`` gives exactly the findings written beside it.

A case is a folder: ``wiki``, the files that it needs, ``findings.txt``, and ``ontology.yaml`` where it does not use
the one that all cases share. What should be found was decided before any of it was read by ontoloom.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from ontology.check import check

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "bad_inputs"
SHARED = CASES / "ontology.yaml"
NAMES = sorted(path.name for path in CASES.iterdir() if path.is_dir())

NOT_FROM_FILES = {"not-a-string", "too-large"}
"""Codes that only values in JSON can give: in a file every value is text."""

KNOWN_WRONG: dict[str, str] = {
    "enum-values-with-full-width-comma": "DPO alone is proposed, which would lose SFT",
    "enum-values-without-brackets": "the values are there, and the brackets that are missing are not proposed",
    "page-directive": "each line below the directive is called a second document",
    "page-escape-sequence": "the text behind the character is read as YAML: a list that is not closed",
    "page-nul-in-key": "the character is also reported as an unknown attribute, with a blank in its place",
    "reference-list-without-brackets": "both pages are there, and the brackets that are missing are not proposed",
    "type-homoglyph": "nothing tells that letters are Cyrillic",
}
"""Cases whose findings are not yet as they should be, and why."""


def marked(name: str) -> object:
    marks = [pytest.mark.xfail(strict=True, reason=KNOWN_WRONG[name])] if name in KNOWN_WRONG else []
    return pytest.param(name, marks=marks, id=name)


def expected(name: str) -> list[str]:
    return (CASES / name / "findings.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", [marked(name) for name in NAMES])
def test_a_bad_input_gives_exactly_these_findings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "case"
    shutil.copytree(CASES / name, folder)
    if not (folder / SHARED.name).exists():
        shutil.copy(SHARED, folder)
    monkeypatch.chdir(folder)  # so that files are named as in findings.txt
    assert [str(finding) for finding in check(Path(SHARED.name)).findings] == expected(name)


def test_the_shared_ontology_holds() -> None:
    assert check(SHARED).findings == ()


def test_every_code_has_a_case() -> None:
    table = (
        (ROOT / "docs" / "ontology.md")
        .read_text(encoding="utf-8")
        .partition("\n## Findings\n")[2]
        .partition("\n## ")[0]
    )
    documented = set(re.findall(r"^\| `([a-z0-9-]+)` \|", table, re.MULTILINE))
    found = {
        code
        for name in NAMES
        for line in expected(name)
        for code in re.findall(r"(?:error|warning)\[(.+?)\]", line)[:1]
    }
    assert documented - found == NOT_FROM_FILES
    assert found <= documented


def test_every_case_expects_something() -> None:
    assert [name for name in NAMES if not expected(name)] == []
    assert KNOWN_WRONG.keys() <= set(NAMES)
