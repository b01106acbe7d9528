"""``ontoloom diff``, ``export`` and ``import`` as people use them."""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ontology.read import compile_ontology
from serving.cli import app
from serving.cli_ontology import ExportFormat

OLD = """\
ontology: test
version: 1.0.0
imports: {file: core.yaml, prefix: core_}
types:
  Model: {attributes: {size: {type: integer}}}
relations:
  made_by: {domain: Model, range: core_Maker}
"""
CORE = "ontology: core\nversion: 1.0.0\ntypes: {Maker: {}}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "ontology.yaml").write_text(OLD)
    (tmp_path / "core.yaml").write_text(CORE)
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    with contextlib.chdir(folder):
        result = CliRunner().invoke(app, arguments, prog_name="ontoloom")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_two_files_are_compared(project: Path) -> None:
    (project / "new.yaml").write_text(OLD.replace("{type: integer}", "{type: integer, required: true}"))
    done = run(project, "diff", "ontology.yaml", "new.yaml")
    assert done.exit_code == 1  # the version stayed
    assert "attribute-required" in done.stdout
    (project / "new.yaml").write_text((project / "new.yaml").read_text().replace("1.0.0", "2.0.0"))
    assert run(project, "diff", "ontology.yaml", "new.yaml").exit_code == 0
    body = json.loads(run(project, "diff", "ontology.yaml", "new.yaml", "--json").stdout)
    assert (body["step"], [change["kind"] for change in body["changes"]]) == (
        "major",
        ["attribute-required", "version-changed"],
    )
    assert run(project, "diff", "ontology.yaml", "new.yaml", "--format", "markdown").stdout.count("attribute-required")


def test_a_revision_of_git_is_compared_with_what_is_there_imports_included(project: Path) -> None:
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "first")
    assert "nothing has changed" in run(project, "diff").stdout
    (project / "core.yaml").write_text(CORE.replace("{Maker: {}}", "{Maker: {attributes: {city: {type: string}}}}"))
    done = run(project, "diff")
    assert done.exit_code == 1
    assert "core_Maker" in done.stdout
    git(project, "commit", "-qam", "second")
    assert "core_Maker" in run(project, "diff", "HEAD~1", "HEAD").stdout
    (project / "sub").mkdir()
    assert run(project / "sub", "-C", "..", "diff", "HEAD~1").exit_code == 1


@pytest.mark.parametrize("what", ["nothing-like-it", "HEAD"])
def test_what_is_neither_a_file_nor_a_revision_is_said(project: Path, what: str) -> None:
    done = run(project, "diff", what)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert f"'{what}' is neither a file nor a revision of git" in done.stderr


def test_an_error_in_a_revision_names_it(project: Path) -> None:
    git(project, "init", "-q")
    (project / "core.yaml").write_text("ontology: core\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "bad")
    (project / "core.yaml").write_text(CORE)
    done = run(project, "diff", "HEAD")
    assert done.exit_code == 1
    assert "error: HEAD: core.yaml:1:1: error[missing-key]" in done.stderr


@pytest.mark.parametrize("form", list(ExportFormat))
def test_each_language_is_written(project: Path, form: ExportFormat) -> None:
    if form in (ExportFormat.OWL, ExportFormat.SHACL):
        pytest.importorskip("rdflib")
    done = run(project, "export", form.value)
    assert done.exit_code == 0
    assert "Model" in done.stdout
    assert run(project, "export", form.value, "-o", "out").exit_code == 0
    assert (project / "out").read_text() == done.stdout


def test_what_cannot_be_exported_is_said(project: Path) -> None:
    assert "there is no type 'Modl' (did you mean 'Model'?)" in run(project, "export", "svg", "--around", "Modl").stderr
    assert "there is no edition 'x'" in run(project, "export", "neo4j", "--edition", "x").stderr
    assert "cannot be written" in run(project, "export", "yaml", "-o", "gone/out.yaml").stderr


def test_an_ontology_comes_back_from_another_language(project: Path) -> None:
    run(project, "export", "linkml", "-o", "linkml.yaml")
    done = run(project, "import", "linkml", "linkml.yaml")
    assert done.exit_code == 0
    ontology, findings = compile_ontology(done.stdout, file="ontology.yaml")
    assert findings == []
    assert ontology is not None
    assert set(ontology.types) == {"Model", "core_Maker"}
    again = run(project, "import", "linkml", "linkml.yaml", "-o", "ontology.yaml")
    assert again.exit_code == 1
    assert "ontology.yaml is there already" in again.stderr
    assert (project / "ontology.yaml").read_text() == OLD
