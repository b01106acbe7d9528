from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Requires
from postgres_server import running_postgres
from select_service import make_project
from test_cli import as_json, error_of, run, well

from serving.cli_rows import read_parameters


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled example with a saved view; tests read it and don't change it."""
    return make_project(tmp_path_factory.mktemp("cli") / "tour").project


@pytest.fixture(autouse=True)
def _no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONTOLOOM_ENGINE", "none")


def names(project: Path, *arguments: str) -> list[Any]:
    return [row["name"] for row in as_json(project, "select", *arguments)["rows"]]


# select


def test_parameters_are_values(project: Path) -> None:
    sql = "SELECT name FROM Model WHERE training_method = $method AND name = ANY($names) ORDER BY name"
    given = ("--param", "method=DPO", "-p", 'names=["Zephyr 7B beta", "BERT"]')
    assert names(project, sql, *given) == ["Zephyr 7B beta"]
    assert names(project, "SELECT name FROM Model WHERE name = $n", "-p", "n=x' OR TRUE --") == []
    assert read_parameters(["a=5", "b=true", "c=null", "d=x=y", 'e="5"', "f=2024-01-01", "g="]) == {
        "a": 5, "b": True, "c": None, "d": "x=y", "e": "5", "f": "2024-01-01", "g": "",
    }  # fmt: skip
    assert error_of(project, "select", sql, "-p", "method=dpo", "-p", "names=[]").startswith(
        "1:48: 'dpo' is not a training_method; did you mean 'DPO'?"
    )
    assert error_of(project, "select", sql, "-p", "DPO") == "--param DPO: a value is given as NAME=VALUE"
    assert "is given twice" in error_of(project, "select", sql, "-p", "a=1", "-p", "a=2")
    assert "no value is given for the parameter 'names'" in error_of(project, "select", sql, "-p", "method=DPO")


def test_statements_come_from_files(project: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.sql"
    file.write_text("-- A report.\nSELECT name\nFROM Model\nWHERE training_method = 'DPO'\nORDER BY name")
    plain = names(project, "SELECT name FROM Model WHERE training_method = 'DPO' ORDER BY name")
    assert names(project, "-f", str(file)) == plain
    file.write_text("SELECT name\nFROM Modl")
    assert (
        error_of(project, "select", "-f", str(file)) == f"{file}:2:6: there is no table 'Modl'; did you mean 'Model'?"
    )
    assert "No such file" in error_of(project, "select", "-f", str(tmp_path / "nowhere.sql"))
    assert "not both" in error_of(project, "select", "SELECT 1", "-f", str(file))
    (tmp_path / "binary.sql").write_bytes(b"\xff")
    assert "it is not UTF-8" in error_of(project, "select", "-f", str(tmp_path / "binary.sql"))


def test_the_plan_is_explained(project: Path) -> None:
    plan = well(project, "select", "EXPLAIN SELECT name FROM Model WHERE name = 'BERT'")
    assert "Model" in plan
    assert ".parquet" not in plan


def test_the_past(project: Path) -> None:
    (row,) = as_json(project, "select", "SELECT count(*) AS n FROM Model")["rows"]
    last = as_json(project, "status")["change"]
    assert as_json(project, "select", "SELECT count(*) AS n FROM Model", "--as-of", str(last))["rows"] == [row]
    assert "the graph was empty" in error_of(project, "select", "SELECT name FROM Model", "--as-of", "2000-01-01")
    assert "neither the number" in error_of(project, "select", "SELECT 1", "--as-of", "yesterday")


def test_arrow_goes_to_files(project: Path, tmp_path: Path) -> None:
    sql = "SELECT name, training_method, released FROM Model ORDER BY name"
    well(project, "select", sql, "--format", "arrow", "-o", str(tmp_path / "rows.arrows"))
    well(project, "select", sql, "--format", "parquet", "-o", str(tmp_path / "rows.parquet"))
    with pa.ipc.open_stream((tmp_path / "rows.arrows").read_bytes()) as reader:
        found = reader.read_all()
    assert found.column("name").to_pylist() == names(project, sql)
    assert found.to_pylist() == pq.read_table(tmp_path / "rows.parquet").to_pylist()
    missing = str(tmp_path / "nowhere" / "x.arrows")
    assert "cannot be written" in error_of(project, "select", sql, "--format", "arrow", "-o", missing)


def test_saved_views(project: Path, tmp_path: Path) -> None:
    assert names(project, "SELECT * FROM trained(method => 'RLHF')") == names(
        project, "SELECT name FROM Model WHERE training_method = 'RLHF' ORDER BY name"
    )
    strong, view = as_json(project, "select", "--views")
    assert [p["name"] for p in strong["parameters"]] == ["method", "benchmark", "least"]
    assert names(project, "FROM strong_models('RLHF', least => 80) SELECT name")
    assert view == {
        "view": "trained",
        "file": "views/trained.sql",
        "description": "Models that were trained with a method.",
        "parameters": [
            {
                "name": "method",
                "type": "Model.training_method",
                "optional": False,
                "required": False,
                "default": "DPO",
            }
        ],
        "fault": "",
    }
    listed = well(project, "select", "--views")
    assert "trained(method: Model.training_method = 'DPO')  Models that were trained with a method." in listed
    well(tmp_path, "init", "mine")
    assert "there are no saved views" in well(tmp_path / "mine", "select", "--views")


def test_check_reads_views(tmp_path: Path) -> None:
    well(tmp_path, "init", "mine")
    folder = tmp_path / "mine"
    (folder / "views").mkdir()
    (folder / "views" / "people.sql").write_text("SELECT name FROM Person")
    assert "1 view: nothing to mend" in well(folder, "check")
    (folder / "views" / "broken.sql").write_text("SELECT nam\nFROM Person")
    done = run(folder, "check")
    assert done.returncode == 1
    assert "views/broken.sql:1:8: error[unknown-column] there is no column 'nam'; did you mean 'name'?" in done.stdout


# cypher


def test_cypher_reads(project: Path, tmp_path: Path) -> None:
    query = "MATCH (m:Model)-[:developed_by]->(o) RETURN o.name AS name, count(m) AS n ORDER BY n DESC, name"
    found = as_json(project, "cypher", query)
    sql = "SELECT object AS name, count(*) AS n FROM developed_by GROUP BY object ORDER BY n DESC, name"
    assert found["columns"] == [{"name": "name", "type": "string"}, {"name": "n", "type": "int64"}]
    by_select = as_json(project, "select", sql)["rows"]
    assert sorted(map(str, found["rows"])) == sorted(map(str, by_select))
    (row,) = as_json(project, "cypher", "MATCH (m:Model) WHERE m.name = $n RETURN m", "-p", "n=BERT")["rows"]
    assert json.loads(row["m"])["name"] == "BERT"
    done = run(project, "cypher", "MATCH (m:Model) RETURN m.name", "--limit", "2", "--format", "csv")
    assert len(done.stdout.splitlines()) == 3
    assert "only the first 2 rows" in done.stderr
    file = tmp_path / "query.cypher"
    file.write_text("MATCH (m:Model)\nDETACH DELETE m")
    assert error_of(project, "cypher", "-f", str(file)).startswith(f"{file}:2:1: DETACH is not allowed here")


@pytest.mark.parametrize("query", ["CREATE (n)", "LOAD FROM '/etc/passwd' RETURN *", "CALL show_tables() RETURN *", ""])
def test_cypher_only_reads(project: Path, query: str) -> None:
    assert error_of(project, "cypher", query)


# publish


def test_publish_to_files(project: Path, tmp_path: Path) -> None:
    planned = as_json(project, "publish", str(tmp_path / "tables"), "--dry-run")
    assert planned["dry_run"] is True
    assert not (tmp_path / "tables").exists()
    shown = well(project, "publish", str(tmp_path / "tables"))
    (count,) = as_json(project, "select", "SELECT count(*) AS n FROM Model")["rows"]
    assert pq.read_table(tmp_path / "tables" / "Model.parquet").num_rows == count["n"]
    assert {t["name"]: t["rows"] for t in planned["tables"]}["Model"] == count["n"]
    assert "rows of change" in shown
    well(project, "publish", str(tmp_path / "graph.duckdb"))
    with duckdb.connect(str(tmp_path / "graph.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM Model").fetchone() == (count["n"],)
    assert "holds other files" in error_of(project, "publish", str(project))
    assert "cannot publish to mysql://" in error_of(project, "publish", "mysql://x/y")


@pytest.fixture(scope="module")
def server(requires: Requires) -> Iterator[str]:
    requires("postgres")
    with running_postgres() as address:
        yield address


def test_publish_to_postgres(project: Path, server: str) -> None:
    done = as_json(project, "publish", server, "--schema", "models")
    with psycopg.connect(server) as connection:
        found = connection.execute('SELECT count(*) FROM models."Model"').fetchone()
    assert found == ({t["name"]: t["rows"] for t in done["tables"]}["Model"],)
    assert done["target"] == "postgresql://postgres@/postgres schema models"


def test_without_its_driver_publishing_to_postgres_says_what_to_install(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    monkeypatch.delitem(__import__("sys").modules, "graph.publish_postgres", raising=False)
    assert error_of(project, "publish", "postgresql://x/y") == (
        "PostgreSQL needs the package psycopg (pip install 'ontoloom[postgres]')"
    )


# Completion


def test_shells_complete_commands(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_ONTOLOOM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "ontoloom sel")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert run(project).stdout.split() == ["select"]
