"""``ontoloom check`` as people, CI and editors use it."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from serving.cli import app

ONTOLOGY = """\
ontology: test
version: 1.0.0
types:
  Model:
    attributes:
      method: {type: enum, many: true, values: {DPO: {synonyms: [preference optimization]}, SFT: {}}}
      open: {type: boolean}
      released: {type: date}
      licence: {type: enum, values: [MIT, none], required: true, default: none}
relations:
  based_on: {domain: Model, range: Model}
"""
BAD = """\
---
type: Model
name: Zephyr
aliases: Z
method: [dpo, Preference Optimization ]
open: [yes]
released: 2024/5/1  # or so
based_on: Llama 2
---
Prose.
"""
MENDED = """\
---
type: Model
name: Zephyr
aliases: [Z]
method: [DPO]
open: true
released: 2024-05-01  # or so
based_on: llama-2
licence: none
---
Prose.
"""
LLAMA = "---\ntype: Model\nname: Llama-2\nlicence: MIT\n---\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "wiki").mkdir()
    (tmp_path / "ontology.yaml").write_text(ONTOLOGY)
    (tmp_path / "wiki" / "zephyr.md").write_text(BAD.replace(", Preference Optimization ", ""))
    (tmp_path / "wiki" / "llama-2.md").write_text(LLAMA)
    return tmp_path


def check(folder: Path, *arguments: str) -> Result:
    with contextlib.chdir(folder):
        result = CliRunner().invoke(app, ["check", *arguments], prog_name="ontoloom")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_what_has_one_right_answer_is_mended(project: Path) -> None:
    before = (project / "wiki" / "zephyr.md").read_text()
    (project / "wiki" / "zephyr.md").chmod(0o640)
    shown = check(project, "--diff")
    assert shown.exit_code == 0
    assert (project / "wiki" / "zephyr.md").read_text() == before
    assert "-released: 2024/5/1  # or so" in shown.stdout
    assert "+licence: none" in shown.stdout
    assert "6 of 7 findings could be mended with --fix" in shown.stderr
    done = check(project, "--fix")
    assert done.stdout == "ontology, 2 pages: nothing to mend\n"
    assert "mended 7 findings in 1 file" in done.stderr  # a list of one, and what stood in it
    assert (project / "wiki" / "zephyr.md").read_text() == MENDED
    assert (project / "wiki" / "zephyr.md").stat().st_mode & 0o777 == 0o640
    assert done.exit_code == 0
    assert sorted(p.name for p in (project / "wiki").iterdir()) == ["llama-2.md", "zephyr.md"]
    again = check(project, "--fix")
    assert "mended 0 findings in 0 files" in again.stderr


def test_what_needs_judgement_is_left(project: Path) -> None:
    page = project / "wiki" / "zephyr.md"
    page.write_text("---\ntype: Modl\nname: Z\nsize: 1\n---\n")
    done = check(project, "--fix")
    assert done.exit_code == 1
    assert page.read_text() == "---\ntype: Modl\nname: Z\nsize: 1\n---\n"


def test_a_baseline_lets_only_new_findings_fail(project: Path) -> None:
    done = check(project, "--baseline", "known.json", "--update-baseline")
    assert (done.exit_code, "put 7 findings aside in known.json" in done.stderr) == (0, True)
    done = check(project, "--baseline", "known.json")
    assert (done.exit_code, done.stdout) == (0, "ontology, 2 pages: nothing to mend; 7 known ones put aside\n")
    page = project / "wiki" / "zephyr.md"
    page.write_text(page.read_text().replace("name: Zephyr\n", "name: Zephyr\n# a line more\nsize: 7\n"))
    done = check(project, "--baseline", "known.json")
    assert done.exit_code == 1
    finding, summary = done.stdout.splitlines()
    assert "zephyr.md:5:1: error[unknown-attribute]" in finding
    assert "7 known ones put aside" in summary
    page.write_text(LLAMA.replace("Llama-2", "Zephyr"))
    assert "7 of the baseline are gone: update it" in check(project, "--baseline", "known.json").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--baseline", "gone.json"], "gone.json: No such file or directory"),
        (["--baseline", "ontology.yaml"], "ontology.yaml is no baseline"),
        (["--update-baseline"], "--update-baseline needs a file"),
    ],
)
def test_a_mistake_in_the_options_is_one_line_and_status_2(project: Path, arguments: list[str], message: str) -> None:
    done = check(project, *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert message in done.stderr


def test_annotations_for_github(project: Path) -> None:
    (project / "wiki" / "50%,a.md").write_text("---\ntype: Modell\nname: X\n---\n")
    done = check(project, "--format", "github")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0] == (
        "::error file=wiki/50%25%2Ca.md,line=2,col=7,title=unknown-type::"
        "there is no type 'Modell'; did you mean 'Model'?"
    )


def test_a_log_for_code_scanning(project: Path) -> None:
    done = check(project, "--format", "sarif")
    assert done.exit_code == 1
    log = json.loads(done.stdout)
    (run,) = log["runs"]
    assert (log["version"], run["columnKind"], len(run["results"])) == ("2.1.0", "unicodeCodePoints", 7)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    place = next(r for r in run["results"] if r["ruleId"] == "not-a-date")["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "wiki/zephyr.md"}, "region": {"startLine": 7, "startColumn": 11},
    }  # fmt: skip


def test_json_has_the_edits_too(project: Path) -> None:
    body = json.loads(check(project, "--json").stdout)
    text = (project / "wiki" / "zephyr.md").read_text()
    edit = next(f["edit"] for f in body["findings"] if f["code"] == "not-a-date")
    assert text[edit["start"] : edit["end"]] == "2024/5/1"
    assert edit["text"] == "2024-05-01"
    assert check(project, "--no-cache").exit_code == 1


def test_nothing_is_lost_where_a_file_cannot_be_written(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (project / "wiki" / "zephyr.md").read_text()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "wiki")

    monkeypatch.setattr("ontology.fixes.tempfile.NamedTemporaryFile", full)
    done = check(project, "--fix", "--no-cache")
    assert (done.exit_code, "No space left on device" in done.stderr) == (2, True)
    assert (project / "wiki" / "zephyr.md").read_text() == before
