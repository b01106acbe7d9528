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
    "abstract-yes": "true is not proposed for yes",
    "aliases-a-mapping": "a mapping is said to be one value, where a list is due",
    "attribute-enum-null": "in a list there is no key to leave out",
    "attribute-name-reserved": "'a attribute'",
    "attribute-name-with-hyphen": "'a attribute'",
    "attribute-type-of-a-type": "who names a type means a relation, and is not told so",
    "cardinality-across-pages": "'stated of 1 at most' leaves unclear of what, and no file is named",
    "dataset-of-no-model": "the sentence does not read, and the inverse is not named",
    "deprecated-true": "what a mapping is made of here is not proposed",
    "enum-homoglyph": "nothing tells that a letter is Cyrillic",
    "enum-values-with-full-width-comma": "DPO alone is proposed, which would lose SFT",
    "enum-values-without-brackets": "the values are there, and the brackets that are missing are not proposed",
    "import-empty-list": "an empty list of imports is passed over",
    "import-not-utf-8": "paths are explained, and the file was found",
    "import-twice": "a file that is imported twice is said to clash with itself",
    "import-with-errors-used": "types of the import that could not be read are reported as unknown, too",
    "import-without-file": "the key 'imports' is pointed at, and not the import",
    "inverse-name-bad": "'a inverse'",
    "key-homoglyph": "nothing tells that a letter is Cyrillic",
    "key-of-two-twice": "two values 'is that of' a page",
    "link-dead": "a link in Markdown needs the file, llama-2-70b.md, and the id alone is proposed",
    "link-image-dead": "pages are proposed for an image",
    "list-with-null": "in a list there is no key to leave out",
    "mixin-not-abstract": "'so that things of its own may be LLM or not' does not tell that mixins must be abstract",
    "mixin-unknown": "the type itself is proposed as its own mixin",
    "ontology-key-misspelt": "beside the misspelt key, 'types' is reported as missing",
    "ontology-utf-16-unmarked": "UTF-16 without a mark gives a finding for each of its NULs",
    "page-carriage-returns-and-syntax": "after a syntax error, no block is told where lines end in CR alone",
    "page-conflict-on-top": "a conflict that begins on the first line is called missing front matter",
    "page-directive": "each line below the directive is called a second document",
    "page-emphasis-taken-for-alias": "nothing is proposed, and the second asterisk is pointed at",
    "page-escape-sequence": "the text behind the character is read as YAML: a list that is not closed",
    "page-exclamation-taken-for-tag": "who writes !new means text: the fix says nothing of quotes",
    "page-full-width-colon": "the fix is to write 'key: value', which is what the author sees",
    "page-key-without-colon": "the line below is named and left out, then the next, as the parser notices only there",
    "page-key-without-space": "the line below is named and left out, then the next, as the parser notices only there",
    "page-nul-in-key": "the character is also reported as an unknown attribute, with a blank in its place",
    "page-utf-16-unmarked": "valid UTF-8 with NULs: said to lack front matter",
    "reference-list-without-brackets": "both pages are there, and the brackets that are missing are not proposed",
    "reference-twice": "based_on has no identifying attribute",
    "relation-attribute-target": "'a attribute'",
    "team-of-one": "the sentence does not read, and the inverse is not named",
    "type-by-synonym": "LLM is a synonym of Model, and all types are listed instead of it",
    "type-homoglyph": "nothing tells that letters are Cyrillic",
    "type-name-homoglyph": "'del' is proposed: the letters that are Cyrillic are cut off",
    "type-name-in-chinese": "it does begin with a letter and consists of letters: that these are A to Z is not said",
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
