"""``ontoloom store``: copy, verify, back up, restore, merge; as people and scripts use it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import ladybug
import pytest
from neo4j_parts import LiveServer
from test_cli import as_json, error_of, run, well


@pytest.fixture(autouse=True, scope="module")
def _no_engine() -> Iterator[None]:
    """Tests do not see an engine that the user may have up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ONTOLOOM_ENGINE", "none")
        yield


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled example, ingested by rules."""
    folder = tmp_path_factory.mktemp("store") / "tour"
    well(folder.parent, "init", "--example", str(folder))
    well(folder, "ingest", "--no-llm", "--no-index")
    return folder


@pytest.fixture
def project(example: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    shutil.copytree(example, tmp_path / "tour")
    return tmp_path / "tour"


def digest(folder: Path, *options: str) -> str:
    value: str = as_json(folder, "store", "digest", *options)["digest"]
    assert well(folder, "store", "digest", *options) == f"{value}\n"
    return value


def tamper(path: Path, query: str) -> None:
    database = ladybug.Database(path)
    connection = ladybug.Connection(database)
    connection.execute(query)
    connection.close()
    database.close()


# Whole stores


def test_a_store_is_copied_and_the_copy_goes_on_from_where_it_was(project: Path) -> None:
    well(project, "store", "merge", "Qwen2 72B Instruct", "Llama 3 70B Instruct")
    plan = as_json(project, "store", "copy", ".ontoloom/graph", "other", "--dry-run")
    assert len(plan["missing"]) > 5
    assert (plan["unchanged"], plan["merges"]) == (0, 1)
    assert not (project / "other").exists()
    copied = as_json(project, "store", "copy", ".ontoloom/graph", "other")
    assert copied == {
        "written": len(plan["missing"]), "unchanged": 0, "removed": 0, "merges": 1, "digest": digest(project),
    }  # fmt: skip
    assert digest(project, "--store", "other") == digest(project)
    again = well(project, "store", "copy", ".ontoloom/graph", "other")
    assert re.search(r"documents written +0 *\n", again)
    assert f"digests are equal: {digest(project)}" in again
    assert "documents that are there" in well(project, "store", "copy", ".ontoloom/graph", "other", "--dry-run")


def test_a_copy_into_a_store_with_other_content_says_so(project: Path) -> None:
    well(project, "store", "copy", ".ontoloom/graph", "other")
    (project / "documents").rename(project / "elsewhere")
    well(project, "ingest", "--no-llm", "--no-index", "--prune")
    message = error_of(project, "store", "copy", ".ontoloom/graph", "other")
    assert message.startswith("the target holds a document that the source does not have, 'documents/")
    assert "copy with --replace" in message
    assert as_json(project, "store", "copy", ".ontoloom/graph", "other", "--replace")["removed"] > 0
    assert digest(project, "--store", "other") == digest(project)


def test_a_store_is_not_copied_to_itself(project: Path) -> None:
    assert error_of(project, "store", "copy", ".ontoloom/graph", "./.ontoloom/../.ontoloom/graph") == (
        ".ontoloom/graph and ./.ontoloom/../.ontoloom/graph are one store (name another to copy it to)"
    )


def test_a_store_is_copied_to_a_server_and_back(project: Path, neo4j_server: LiveServer) -> None:
    neo4j_server.clear()
    there = neo4j_server.location
    well(project, "store", "copy", ".ontoloom/graph", there)
    assert as_json(project, "store", "verify", "--store", there)["faults"] == []
    well(project, "store", "merge", "Qwen2 72B Instruct", "Llama 3 70B Instruct", "--store", there)
    well(project, "store", "copy", there, "back")
    assert digest(project, "--store", "back") == digest(project, "--store", there) != digest(project)


def test_a_backup_is_restored_where_there_is_nothing(project: Path, tmp_path: Path) -> None:
    told = well(project, "store", "backup", str(tmp_path / "graph.backup"))
    assert f"digest {digest(project)}" in told
    assert f"read it back with: ontoloom store restore {tmp_path / 'graph.backup'}" in told
    assert error_of(project, "store", "backup", str(tmp_path / "graph.backup")) == (
        f"{tmp_path / 'graph.backup'} is there already (name another file, or: --force)"
    )
    written = as_json(project, "store", "backup", str(tmp_path / "graph.backup"), "--force")
    assert written["backup"]["digest"] == digest(project)
    empty = tmp_path / "empty"
    empty.mkdir()
    done = run(empty, "store", "restore", "../graph.backup")
    assert done.returncode == 0, done.stderr
    assert "wrote ontology.yaml, as it is in the backup" in done.stderr
    assert (empty / "ontology.yaml").read_text() == (project / "ontology.yaml").read_text()
    assert digest(empty) == digest(project)
    assert as_json(empty, "store", "restore", "../graph.backup", "--dry-run")["missing"] == []


def test_a_damaged_backup_is_refused_in_one_line(project: Path, tmp_path: Path) -> None:
    path = tmp_path / "graph.backup"
    well(project, "store", "backup", str(path))
    path.write_bytes(path.read_bytes()[:-20])
    empty = tmp_path / "empty"
    empty.mkdir()
    assert error_of(empty, "store", "restore", str(path)).startswith(f"{path} is damaged: ")
    assert list(empty.iterdir()) == []


def test_faults_are_shown_and_end_in_exit_status_1(project: Path) -> None:
    assert re.fullmatch(r"change \d+: no faults\n", well(project, "store", "verify"))
    tamper(project / ".ontoloom" / "graph", "MATCH (d:_Document) WHERE d.kind = 'page' SET d.title = 'Hacked'")
    done = run(project, "store", "verify", "--limit", "2")
    assert done.returncode == 1
    assert done.stdout.count("changed-document") == 2
    assert "more (--limit)" in done.stdout
    assert re.search(r"^\d+ faults$", done.stdout, re.M)
    found = run(project, "store", "verify", "--json")
    assert found.returncode == 1
    assert '"code": "changed-document"' in found.stdout


def test_another_version_of_the_ontology_is_no_fault(project: Path) -> None:
    path = project / "ontology.yaml"
    path.write_text(re.sub(r"^version: .*$", "version: 9.9.9", path.read_text(), flags=re.M))
    told = well(project, "store", "verify")
    assert "[version-drift]" in told
    assert "no faults" in told


def test_the_log_lists_changes(project: Path) -> None:
    last = as_json(project, "store", "log")["changes"][-1]["number"]
    well(project, "store", "merge", "Qwen2 72B Instruct", "Llama 3 70B Instruct")
    (change,) = as_json(project, "store", "log", "--since", str(last))["changes"]
    assert (change["number"], change["documents"], len(change["entities"])) == (last + 1, [], 2)
    assert well(project, "store", "log", "--limit", "1").count("\n") == 2


# Merges


def test_a_merge_is_taken_back_with_the_command_that_it_tells(project: Path) -> None:
    before = digest(project)
    told = well(project, "store", "merge", "qwen2-72b instruct", "Llama 3 70B Instruct", "--reason", "a test")
    assert "Qwen2 72B Instruct is Llama 3 70B Instruct now" in told
    assert digest(project) != before
    rows = as_json(project, "select", "SELECT name FROM Model WHERE name = 'Qwen2 72B Instruct'")["rows"]
    assert rows == []
    listed = well(project, "store", "merges")
    assert re.search(r"Qwen2 72B Instruct +Llama 3 70B Instruct +Model +\d+ +a test", listed)
    undo = re.search(r"take it back with: ontoloom (.+)$", told, re.M)
    assert undo is not None
    assert "Qwen2 72B Instruct is itself again" in well(project, *undo[1].split())
    assert digest(project) == before
    assert well(project, "store", "merges") == "no entities are merged\n"
    assert len(as_json(project, "store", "merges", "--all")["merges"]) == 1


def test_a_merge_can_be_tried_first(project: Path) -> None:
    before = digest(project)
    told = well(project, "store", "merge", "Qwen2 72B Instruct", "Llama 3 70B Instruct", "--dry-run")
    assert told.startswith("would merge Qwen2 72B Instruct (")
    well(project, "store", "merge", "Qwen2 72B Instruct", "Llama 3 70B Instruct")
    assert "would take back that Qwen2 72B Instruct is " in well(
        project, "store", "unmerge", "qwen2 72b instruct", "--dry-run"
    )
    well(project, "store", "unmerge", "Qwen2 72B Instruct")
    assert digest(project) == before


def test_what_is_meant_is_found_or_the_nearest_name_is_told(project: Path) -> None:
    assert error_of(project, "store", "merge", "Qwen2 72B Instrct", "Llama 3 70B Instruct") == (
        "no entity is called 'Qwen2 72B Instrct' (did you mean 'Qwen2 72B Instruct' or 'Qwen2 72B'?)"
    )
    assert "no entity is called 'zzzz' (list them: ontoloom select" in error_of(
        project, "store", "merge", "zzzz", "Llama 3 70B Instruct"
    )
    assert error_of(project, "store", "unmerge", "Qwen2 72B Instruct") == (
        "no merged entity is called 'Qwen2 72B Instruct' (ontoloom store merges lists them)"
    )
    assert "cannot be merged into" in error_of(project, "store", "merge", "MMLU", "Qwen2 72B Instruct")
    assert "no Benchmark is called 'Qwen2 72B Instruct' ('Qwen2 72B Instruct' is a Model)" in error_of(
        project, "store", "merge", "Qwen2 72B Instruct", "MMLU", "--type", "Benchmark"
    )


def test_a_name_of_several_asks_which(project: Path) -> None:
    (project / "documents" / "homonym.md").write_text("---\ntype: Organization\nname: MMLU\n---\n")
    (project / "wiki").mkdir(exist_ok=True)
    (project / "documents" / "homonym.md").rename(project / "wiki" / "mmlu-org.md")
    well(project, "ingest", "--no-llm", "--no-index")
    message = error_of(project, "store", "merge", "MMLU", "GSM8K")
    assert message.startswith("'MMLU' may be any of MMLU (")
    assert message.endswith("(name its type: --type)")
    assert "would merge MMLU (" in well(project, "store", "merge", "MMLU", "GSM8K", "--type", "Benchmark", "--dry-run")
