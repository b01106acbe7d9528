"""``fmt`` moves lines and loses none: what a text means stays, and formatting once is enough."""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from ontology import FindingsError, read_ontology
from ontology.format import format_ontology, format_page
from ontology.page_reader import parse_page
from ontology.read import compile_ontology
from serving.cli import app

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "ai-infra"
ONTOLOGY = read_ontology(EXAMPLE / "ontology.yaml")
MIXED = """\
---
# about the page

released: 2024-05-01
# the name
name: X  # short
hardware_requirement:
  # cores
  cpu_cores: 3
  gpu_memory: 4
type: Model

superior_to:
  # a big one
  - {target: bert}
aliases:
- Y
---
type: prose
"""
ORDERED = """\
---
# about the page

type: Model
# the name
name: X  # short
aliases:
- Y
hardware_requirement:
  gpu_memory: 4
  # cores
  cpu_cores: 3

released: 2024-05-01

superior_to:
  # a big one
  - {target: bert}
---
type: prose
"""


def page(text: str) -> str:
    return format_page(text, file="x.md", ontology=ONTOLOGY)


def test_keys_are_ordered_and_comments_stay_with_them() -> None:
    assert page(MIXED) == ORDERED
    assert page(ORDERED) == ORDERED


def test_an_ontology_keeps_the_order_of_what_it_declares() -> None:
    text = (
        "types:\n  B:\n    attributes:\n      y: {type: string}\n      x:\n        synonyms: [z]\n        # what\n"
        "        type: integer\n    description: b\n  A: {}\n# the version\nversion: 1.0.0\n\nontology: t\n\n\n"
    )
    assert format_ontology(text, file="o.yaml") == (
        "ontology: t\n# the version\nversion: 1.0.0\ntypes:\n  B:\n    description: b\n    attributes:\n"
        "      y: {type: string}\n      x:\n        # what\n        type: integer\n        synonyms: [z]\n  A: {}\n"
    )


@pytest.mark.parametrize("path", sorted((EXAMPLE / "wiki").glob("*.md")), ids=lambda path: path.stem)
def test_pages_of_the_example_say_the_same_in_order(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    formatted = page(text)
    assert page(formatted) == formatted
    before, after = (parse_page(one, file="x.md", ontology=ONTOLOGY)[0] for one in (text, formatted))
    assert before is not None
    assert after is not None
    assert Counter((s.key, s.object) for s in before.statements) == Counter((s.key, s.object) for s in after.statements)
    assert text[before.body_start :] == formatted[after.body_start :]


def test_the_ontology_of_the_example_means_the_same() -> None:
    text = (EXAMPLE / "ontology.yaml").read_text(encoding="utf-8")
    formatted = format_ontology(text, file="o.yaml")
    ontology, findings = compile_ontology(formatted, file="o.yaml")
    assert findings == []
    assert ontology is not None
    assert ontology.hash == ONTOLOGY.hash
    assert format_ontology(formatted, file="o.yaml") == formatted


PARTS = [
    "type: Model\n", "name: X\n", "# c\naliases: [Y]\n", "\nreleased: 2024-05-01  # d\n", "parameters: 7\n",
    "superior_to:\n# e\n- {target: b}\n", "hardware_requirement:\n  cpu_cores: 1\n\n  # f\n  gpu_memory: 2\n",
    "description: >\n  long\n  text\n", "unknown_key: 1\n", "context_length: 1\n  # g\n", "based_on: [a,\n  b]\n",
]  # fmt: skip


@given(st.permutations(PARTS), st.integers(1, len(PARTS)), st.sampled_from(["\n", "\r\n"]))
def test_no_line_is_lost_and_once_is_enough(parts: list[str], most: int, ending: str) -> None:
    text = "---\n" + "".join(parts[:most]) + "---\nprose\n"
    text = text.replace("\n", ending)
    formatted = page(text)
    assert page(formatted) == formatted
    lines = ([line for line in one.splitlines() if line.strip()] for one in (text, formatted))
    before, after = lines
    assert Counter(before) == Counter(after)


@pytest.mark.parametrize("text", ["---\ntype: [\n---\n", "no page", "---\na: 1\na: 2\n---\n", "---\na: *x\n---\n"])
def test_what_is_not_valid_is_refused(text: str) -> None:
    with pytest.raises(FindingsError):
        page(text)


def run(folder: Path, *arguments: str) -> Result:
    with contextlib.chdir(folder):
        result = CliRunner().invoke(app, ["fmt", *arguments], prog_name="ontoloom")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "wiki").mkdir()
    (tmp_path / "ontology.yaml").write_text("version: 1.0.0\nontology: t\ntypes: {A: {}}\n")
    (tmp_path / "wiki" / "a.md").write_text("---\nname: N\ntype: A\n---\n")
    (tmp_path / "wiki" / "b.md").write_text("---\ntype: A\nname: B\n---\n")
    return tmp_path


def test_the_command_formats_a_project(project: Path) -> None:
    before = (project / "wiki" / "a.md").read_text()
    for option in ("--check", "--diff"):
        done = run(project, option)
        assert done.exit_code == (1 if option == "--check" else 0)
        assert (project / "wiki" / "a.md").read_text() == before
    assert "+type: A" in run(project, "--diff", "wiki/a.md").stdout
    done = run(project)
    assert done.stdout.splitlines() == ["formatted ontology.yaml", "formatted wiki/a.md"]
    assert "2 of 3 files formatted" in done.stderr
    assert (project / "wiki" / "a.md").read_text() == "---\ntype: A\nname: N\n---\n"
    assert run(project, "--check").exit_code == 0


def test_a_bad_file_is_named_and_the_others_are_formatted(project: Path) -> None:
    (project / "wiki" / "b.md").write_text("---\ntype: [\n---\n")
    done = run(project)
    assert done.exit_code == 1
    assert "wiki/b.md:3:1: error[syntax]" in done.stderr
    assert "formatted wiki/a.md" in done.stdout
    assert "is no page, no ontology and no folder" in run(project, "gone.md").stderr
