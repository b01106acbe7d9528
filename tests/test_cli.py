"""The command line, as people and scripts use it: real commands on real projects, in processes of their own."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from serving.cli import app
from serving.processes import identity

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "ai-infra"
TRAINED_WITH_DPO = {
    "Llama 3 70B Instruct", "Mixtral 8x7B Instruct", "Phi-3 mini", "Qwen2 72B Instruct", "Tulu 2 DPO 70B",
    "Zephyr 7B beta",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(autouse=True, scope="module")
def _no_engine() -> Iterator[None]:
    """Tests do not see an engine that the user may have up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ONTOLOOM_ENGINE", "none")
        yield


def run(folder: Path, *arguments: str, text: str | None = None) -> Done:
    """Runs a command in this process, as a script would; commands that are to be killed get one of their own."""
    with contextlib.chdir(folder):
        result = CliRunner().invoke(app, arguments, input=text, prog_name="ontoloom")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


def well(folder: Path, *arguments: str, text: str | None = None) -> str:
    done = run(folder, *arguments, text=text)
    assert done.returncode == 0, done.stderr
    return done.stdout


def as_json(folder: Path, *arguments: str) -> Any:
    return json.loads(well(folder, *arguments, "--json"))


def error_of(folder: Path, *arguments: str, status: int = 1) -> str:
    """The one line that a user's mistake is answered with."""
    done = run(folder, *arguments)
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert "Traceback" not in done.stderr
    return lines[0].removeprefix("error: ")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled example, ingested by rules; tests read it and don't change it."""
    folder = tmp_path_factory.mktemp("cli") / "tour"
    well(folder.parent, "init", "--example", str(folder))
    well(folder, "ingest", "--no-llm", "--no-index")
    return folder


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    well(tmp_path, "init", "mine")
    return tmp_path / "mine"


def test_a_new_project_holds_and_works(fresh: Path) -> None:
    assert well(fresh, "check") == "ontology, 2 pages, 2 rules: nothing to mend\n"
    summary = as_json(fresh, "ingest", "--no-llm", "--no-index")
    assert (summary["loaded"], summary["admitted"], summary["failed"]) == (3, 3, 0)
    rows = as_json(fresh, "select", "SELECT subject, object, since FROM works_at ORDER BY subject")["rows"]
    assert rows == [
        {"subject": "Claude Shannon", "object": "Bell Labs", "since": 1941},
        {"subject": "John Bardeen", "object": "Bell Labs", "since": None},
    ]


@pytest.mark.parametrize("name", ["my project", "2024", "Größe", "ok_1"])
def test_a_project_may_have_any_name(name: str, tmp_path: Path) -> None:
    well(tmp_path, "init", name)
    well(tmp_path / name, "check")


def test_init_overwrites_nothing(fresh: Path) -> None:
    (fresh / "rules.yaml").unlink()
    before = sorted(fresh.rglob("*"))
    assert error_of(fresh.parent, "init", "mine") == (
        "mine/documents/transistor.md is there already (name another folder: ontoloom init FOLDER)"
    )
    assert sorted(fresh.rglob("*")) == before


def test_the_example_comes_whole(project: Path) -> None:
    made, given = (
        {p.relative_to(folder) for p in folder.rglob("*") if p.is_file() and ".ontoloom" not in p.parts}
        for folder in (project, EXAMPLE)
    )
    assert made == given | {Path(".gitignore")}


def test_check_says_where_and_what(fresh: Path) -> None:
    page = fresh / "wiki" / "bell-labs.md"
    page.write_text(page.read_text().replace("founded: 1925", "founded: the twenties"))
    done = run(fresh, "check")
    assert done.returncode == 1
    finding, summary = done.stdout.splitlines()
    assert finding.startswith("wiki/bell-labs.md:5:10: error[") or "/wiki/bell-labs.md:5:10: error[" in finding
    assert summary == "ontology, 2 pages, 2 rules: 1 error, 0 warnings"
    done = run(fresh, "check", "--json")
    assert done.returncode == 1
    body = json.loads(done.stdout)
    assert not body["ok"]
    assert [(f["line"], f["column"], f["severity"]) for f in body["findings"]] == [(5, 10, "error")]


def test_rules_are_checked_too(fresh: Path) -> None:
    rules = fresh / "rules.yaml"
    rules.write_text(rules.read_text().replace("relation: founded", "relation: fonded"))
    done = run(fresh, "check")
    assert done.returncode == 1
    assert "rules.yaml:15:15: error[" in done.stdout
    assert "did you mean 'founded'?" in done.stdout


def test_a_folder_without_an_ontology(tmp_path: Path) -> None:
    for command in (["check"], ["ingest"], ["select", "SELECT 1"], ["status"], ["store", "digest"]):
        assert error_of(tmp_path, *command, status=2 if command == ["check"] else 1) == (
            "ontology.yaml: no such file "
            "(make a project with 'ontoloom init', or name its folder: ontoloom --project FOLDER …)"
        )


def test_a_project_elsewhere(project: Path, tmp_path: Path) -> None:
    assert as_json(tmp_path, "-C", str(project), "status")["counts"]["documents"] > 80


def test_the_second_ingestion_changes_nothing(project: Path) -> None:
    before = well(project, "store", "digest")
    summary = as_json(project, "ingest", "--no-llm", "--no-index")
    assert summary["unchanged"] == summary["loaded"] > 80
    assert well(project, "store", "digest") == before
    assert len(before.strip()) == 32


def test_the_summary_accounts_for_every_document(fresh: Path) -> None:
    (fresh / "documents" / "empty.txt").touch()
    (fresh / "documents" / "binary.txt").write_bytes(bytes(range(256)) * 10)
    done = run(fresh, "ingest", "--no-llm", "--no-index")
    assert done.returncode == 1, "a document failed"
    assert "failed: documents/binary.txt" in done.stdout
    done = run(fresh, "ingest", "--no-llm", "--no-index", "--json")
    found = json.loads(done.stdout)
    parts = ("admitted", "empty", "quarantined", "failed", "unchanged")
    assert found["loaded"] == sum(found[part] for part in parts) == 5


def test_a_dry_run_changes_nothing(fresh: Path) -> None:
    summary = as_json(fresh, "ingest", "--no-llm", "--dry-run")
    assert summary["admitted"] == 3
    assert "no graph store" in error_of(fresh, "status")
    well(fresh, "ingest", "--no-llm", "--no-index")
    before = well(fresh, "store", "digest")
    (fresh / "documents" / "more.txt").write_text("Ada Park works at Bell Labs.")
    summary = as_json(fresh, "ingest", "--no-llm", "--dry-run")
    assert (summary["admitted"], summary["unchanged"]) == (1, 3)
    assert well(fresh, "store", "digest") == before


def test_prune_removes_what_is_gone(fresh: Path) -> None:
    well(fresh, "ingest", "--no-llm", "--no-index")
    (fresh / "documents" / "transistor.md").unlink()
    assert as_json(fresh, "ingest", "--no-llm", "--no-index")["pruned"] == 0
    assert as_json(fresh, "ingest", "--no-llm", "--no-index", "--prune")["pruned"] == 1
    assert as_json(fresh, "select", "SELECT subject FROM works_at")["rows"] == [{"subject": "Claude Shannon"}]


def test_a_rebuilt_store_says_the_same(fresh: Path) -> None:
    well(fresh, "ingest", "--no-llm", "--no-index")
    before = well(fresh, "store", "digest")
    assert as_json(fresh, "ingest", "--no-llm", "--no-index", "--rebuild")["admitted"] == 3
    assert well(fresh, "store", "digest") == before
    assert sorted(p.name for p in (fresh / ".ontoloom").glob("graph*")) == ["graph"]
    rows = as_json(fresh, "select", "SELECT subject FROM works_at ORDER BY 1")["rows"]
    assert rows == [{"subject": "Claude Shannon"}, {"subject": "John Bardeen"}]


def test_columns_are_mapped(fresh: Path) -> None:
    well(fresh, "ingest", "--no-llm", "--no-index")
    table = fresh / "people.csv"
    table.write_text("key,heading,words\n7,A note,Grace Hall works at Bell Labs.\n")
    well(fresh, "ingest", "--no-llm", "--no-index", "people.csv", "--map", "id=key", "--map", "body=words")
    found = as_json(fresh, "select", "SELECT subject FROM works_at WHERE subject LIKE 'Grace%'", "--provenance")
    assert found["rows"] == [{"subject": "Grace Hall"}]
    assert found["sources"][0]["subject"] == ["people.csv#7:0-29"]
    message = error_of(fresh, "ingest", "--no-llm", "people.csv", "--map", "body=wrods")
    assert "wrods" in message
    assert "words" in message


def test_select_returns_what_a_person_finds(project: Path) -> None:
    rows = as_json(project, "select", "SELECT name FROM Model WHERE training_method = 'DPO'")["rows"]
    assert {row["name"] for row in rows} == TRAINED_WITH_DPO


def test_select_says_where_each_value_comes_from(project: Path) -> None:
    statement = "SELECT * FROM Model WHERE training_method = 'DPO'"
    found = as_json(project, "select", statement, "--provenance")
    assert {row["name"] for row in found["rows"]} == TRAINED_WITH_DPO
    for row, sources in zip(found["rows"], found["sources"], strict=True):
        assert set(sources) == {name for name, value in row.items() if value not in (None, [])}
        for name in ("name", "context_length", "license_type"):
            for citation in sources.get(name, ()):
                assert str(row[name]).split("-")[0] in cited(project, citation), citation


def cited(folder: Path, citation: str) -> str:
    document, _, span = citation.rpartition(":")
    start, end = map(int, span.split("-"))
    return (folder / document).read_text()[start:end].replace("32K", "32768").replace("128K", "131072")


def test_provenance_of_joined_columns(project: Path) -> None:
    statement = (
        "SELECT m.name AS model, s.score_delta, m.parameters / 1e9 AS billions FROM superior_to s "
        "JOIN Model m ON m.name = s.subject WHERE s.subject = 'Zephyr 7B beta'"
    )
    found = as_json(project, "select", statement, "--provenance")
    assert found["rows"][0]["model"] == "Zephyr 7B beta"
    assert set(found["sources"][0]) == {"model", "score_delta"}, "what is computed has no source"
    assert "plain SELECT" in error_of(project, "select", "SELECT DISTINCT name FROM Model", "--provenance")


def test_formats_of_rows(project: Path, tmp_path: Path) -> None:
    statement = "SELECT name, training_method, released FROM Model WHERE name = 'Mixtral 8x7B Instruct'"
    table = well(project, "select", statement)
    assert table.splitlines()[0].split() == ["name", "training_method", "released"]
    assert "Mixtral 8x7B Instruct" in table.splitlines()[1]
    lines = well(project, "select", statement, "--format", "csv").splitlines()
    assert lines[0] == "name,training_method,released"
    name, methods, released = lines[1].split(",")
    assert name == "Mixtral 8x7B Instruct"
    assert "DPO" in methods.split(";")
    assert released == "2023-12-11"
    out = tmp_path / "rows.parquet"
    assert well(project, "select", statement, "--format", "parquet", "--out", str(out)) == ""
    assert pq.read_table(out).column_names == ["name", "training_method", "released"]
    assert "--out" in error_of(project, "select", statement, "--format", "parquet")
    well(project, "select", statement, "--json", "--out", str(tmp_path / "rows.json"))
    assert json.loads((tmp_path / "rows.json").read_text())["rows"][0]["released"] == "2023-12-11"


def test_a_statement_from_standard_input_and_a_limit(project: Path) -> None:
    done = run(project, "select", "-", "--limit", "2", "--json", text="SELECT name FROM Model ORDER BY name")
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["rows"]) == 2
    assert json.loads(done.stdout)["truncated"] is True
    assert "only the first 2 rows" in done.stderr


def test_a_mistake_in_a_statement_has_its_place(project: Path) -> None:
    message = error_of(project, "select", "SELECT name\nFROM Model\nWHERE context_lenght > 1")
    assert message.startswith("3:7: ")
    assert "context_length" in message
    assert error_of(project, "select") == (
        'no statement is given (ontoloom select "SELECT name FROM …"; see also --tables)'
    )


def test_tables_are_listed_without_a_store(fresh: Path) -> None:
    listed = as_json(fresh, "select", "--tables")
    assert [table["table"] for table in listed] == ["Organization", "Person", "works_at"]
    assert {"name": "since", "type": "integer", "hidden": False} in listed[2]["columns"]
    assert "  since: integer" in well(fresh, "select", "--tables")


def test_quarantined_claims_are_listed_and_counted(fresh: Path) -> None:
    (fresh / "documents" / "odd.txt").write_text("Bell Labs was founded in 20251925.\nBell Labs works at Bell Labs.\n")
    well(fresh, "ingest", "--no-llm", "--no-index")
    found = as_json(fresh, "quarantine")
    assert sum(found["counts"].values()) == len(found["claims"]) > 0
    claim = found["claims"][0]
    text = (fresh / claim["document"]).read_text()
    assert text[claim["start"] : claim["end"]]
    assert as_json(fresh, "quarantine", "--code", claim["code"])["claims"][0] == claim
    assert as_json(fresh, "quarantine", "--code", "no-such-code") == {"counts": {}, "claims": []}
    assert as_json(fresh, "quarantine", "--document", "documents/transistor.md")["claims"] == []
    assert claim["code"] in well(fresh, "quarantine")


def test_status_in_words(project: Path) -> None:
    shown = well(project, "status")
    assert "engine: the setting engine is 'none'" in shown
    assert "superior_to" in shown


def test_who_writes_to_the_store_is_named(fresh: Path) -> None:
    well(fresh, "ingest", "--no-llm", "--no-index")
    code = """
import sys
from pathlib import Path
from serving import wiring
from serving.access import writing
from serving.settings import read_settings
settings = read_settings({"project": Path(".")})
with writing(settings, wiring.find_ontology(settings), command="ingest"):
    print("held", flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen([sys.executable, "-c", code], cwd=fresh, stdin=-1, stdout=-1) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == b"held\n"
        assert error_of(fresh, "ingest", "--no-llm") == (
            f".ontoloom/graph: 'ontoloom ingest' (process {holder.pid}) is writing to the store (wait until it is done)"
        )
        # Who only reads is not kept from it.
        assert as_json(fresh, "select", "SELECT name FROM Organization")["rows"] == [{"name": "Bell Labs"}]
        holder.stdin.close()
    assert not (fresh / ".ontoloom" / "writer.json").exists()
    well(fresh, "ingest", "--no-llm", "--no-index")


def test_an_interruption_says_what_is_kept(project: Path, tmp_path: Path) -> None:
    shutil.copytree(project, tmp_path / "p", ignore=shutil.ignore_patterns(".ontoloom"))
    command = [sys.executable, "-m", "serving.cli", "ingest", "--no-llm", "--no-index"]
    environment = {**os.environ, "ONTOLOOM_ENGINE": "none"}
    with subprocess.Popen(command, cwd=tmp_path / "p", stderr=subprocess.PIPE, text=True, env=environment) as process:
        while not (tmp_path / "p" / ".ontoloom" / "writer.json").exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "interrupted: documents that were written stay; the same command goes on from there"
    assert "Traceback" not in said
    assert identity(process.pid) is None
    as_json(tmp_path / "p", "ingest", "--no-llm", "--no-index")
    assert well(tmp_path / "p", "store", "digest") == well(project, "store", "digest")


def usage_error(folder: Path, arguments: Sequence[str]) -> str:
    done = run(folder, *arguments)
    assert done.returncode == 2
    return done.stderr


def test_usage_errors_exit_with_2(tmp_path: Path) -> None:
    assert "No such command" in usage_error(tmp_path, ["selct"])
    assert "No such option" in usage_error(tmp_path, ["select", "--no-such"])
    assert "xml" in usage_error(tmp_path, ["select", "SELECT 1", "--format", "xml"])


def test_a_mistyped_variable_is_one_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONTOLOOM_STOR", "x")
    assert error_of(project, "status") == (
        "unknown environment variable ONTOLOOM_STOR (did you mean 'ONTOLOOM_STORE'?)"
    )


def test_no_colours_without_a_terminal(project: Path) -> None:
    done = run(project, "select", "SELECT name FROM Nonsense")
    assert "\x1b" not in done.stderr + well(project, "status") + well(project, "select", "SELECT name FROM Model")


def test_a_reader_that_goes_away_is_no_error(project: Path) -> None:
    pipeline = f"{sys.executable} -m serving.cli select 'SELECT * FROM Model' --json | head -n 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {pipeline}"], cwd=project, capture_output=True, text=True)
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr


COMMANDS = """
init check fmt diff export import ingest ask ask-all search select cypher publish status quarantine gaps
store store/digest
engine engine/install engine/up engine/down engine/status engine/logs serve demo
"""


def test_every_command_has_help() -> None:
    for command in ["", *COMMANDS.split()]:
        result = CliRunner().invoke(app, [*filter(None, command.split("/")), "--help"])
        assert result.exit_code == 0, command
        assert "Usage: " in result.output
    assert CliRunner().invoke(app, ["--version"]).output.startswith("ontoloom ")


def test_the_engine_is_down_until_it_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONTOLOOM_CACHE", str(tmp_path / "cache"))
    done = run(tmp_path, "engine", "status", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["installed"], found["model_ready"], found["running"], found["ready"]) == (False, False, None, False)
    assert well(tmp_path, "engine", "down") == "no engine was up\n"
    assert "engine: down" in run(tmp_path, "engine", "status").stdout
