"""Supervision of a real Neo4j: found again, ended, protected, and its data there after it was killed."""

from __future__ import annotations

import json
import socket
import stat
from pathlib import Path

import pytest
from conftest import require
from graph_examples import ONTOLOGY
from neo4j_parts import LiveServer
from typer.testing import CliRunner

from graph.open import open_store
from ontoloom.errors import StoreError
from serving import neo4j_install, neo4j_server
from serving.cli import app
from serving.settings import default_cache


@pytest.fixture(params=["neo4j_server", "neo4j_2026_server"])
def server(request: pytest.FixtureRequest) -> LiveServer:
    found: LiveServer = request.getfixturevalue(request.param)
    found.empty()
    return found


def test_it_is_the_release_that_was_asked_for(server: LiveServer) -> None:
    with server.driver() as driver:
        kernel = driver.execute_query("CALL dbms.components() YIELD name, versions, edition").records[0]
    assert kernel["versions"] == [neo4j_install.release(server.version).version]
    assert kernel["edition"] == "community"
    assert server.process.version == kernel["versions"][0]


def test_a_second_start_finds_the_first(server: LiveServer) -> None:
    assert neo4j_server.start(default_cache(), server.home, version=server.version) == server.process
    assert neo4j_server.running(server.home) == server.process
    assert neo4j_server.is_ready(server.process)


def test_what_was_committed_survives_a_kill(server: LiveServer) -> None:
    with server.driver() as driver:
        driver.execute_query("CREATE (:Kept {name: $name})", name="\x00`'\"🙂")
    killed = server.process
    server.kill()
    assert neo4j_server.running(server.home) is None
    assert not neo4j_server.is_ready(killed)
    server.restart()
    assert server.process.port == killed.port
    with server.driver() as driver:
        assert driver.execute_query("MATCH (n:Kept) RETURN n.name").records[0][0] == "\x00`'\"🙂"


def test_it_listens_on_this_machine_alone(server: LiveServer) -> None:
    found = [line.split()[1] for name in ("tcp", "tcp6") for line in listening(server.process.pid, name)]
    assert found
    for address in found:
        host = address.split(":")[0]
        assert host in ("0100007F", "0000000000000000FFFF00000100007F"), address


def listening(pid: int, table: str) -> list[str]:
    """The lines of /proc/net for sockets on which a process listens."""
    descriptors = Path(f"/proc/{pid}/fd").iterdir()
    sockets = {str(d.stat().st_ino) for d in descriptors if d.exists() and stat.S_ISSOCK(d.stat().st_mode)}
    lines = Path(f"/proc/net/{table}").read_text().splitlines()[1:]
    return [line for line in lines if line.split()[3] == "0A" and line.split()[9] in sockets]


def test_commands_start_protect_and_stop_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("neo4j")
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError

    monkeypatch.setenv("ONTOLOOM_NEO4J_PASSWORD", "open sesame")
    at = ["--home", str(tmp_path)]
    run = CliRunner().invoke
    up = run(app, ["neo4j", "up", "--port", "0", "--heap", "512m", "--json", *at])
    try:
        assert up.exit_code == 0, up.output
        told = json.loads(up.stdout)
        assert told["store"] == told["url"].replace("bolt://", "neo4j://neo4j@")
        with GraphDatabase.driver(told["url"], auth=("neo4j", "open sesame")) as driver:
            driver.verify_connectivity()
        with GraphDatabase.driver(told["url"]) as driver, pytest.raises(AuthError):
            driver.verify_connectivity()
        open_store(told["store"], ONTOLOGY).close()
        open_store(told["store"].replace("neo4j@", "neo4j:open%20sesame@"), ONTOLOGY).close()
        for location in (told["store"].replace("neo4j@", "neo4j:wrong@"), told["store"].replace("neo4j@", "ada@")):
            with pytest.raises(StoreError, match="does not accept the user or the password") as caught:
                open_store(location, ONTOLOGY)
            assert "wrong" not in str(caught.value)
        assert json.loads(run(app, ["neo4j", "status", "--json", *at]).stdout)["ready"] is True
        assert "Started." in run(app, ["neo4j", "logs", *at]).stdout
        monkeypatch.delenv("ONTOLOOM_NEO4J_PASSWORD")
        with pytest.raises(StoreError, match="does not accept the user or the password"):
            open_store(told["store"], ONTOLOGY)
        monkeypatch.setenv("ONTOLOOM_NEO4J_PASSWORD", "another word")
        other = run(app, ["neo4j", "up", *at])
        assert other.exit_code == 1
        assert "has another password" in other.output
    finally:
        down = run(app, ["neo4j", "down", *at])
    assert down.stdout == "Neo4j is down\n"
    assert run(app, ["neo4j", "down", *at]).stdout == "no Neo4j was up\n"
    assert run(app, ["neo4j", "status", *at]).exit_code == 1


def test_a_port_that_is_taken_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("neo4j")
    monkeypatch.setattr(neo4j_server, "PORT_PATIENCE", 0.0)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(StoreError, match=f"port {port} cannot be used"):
            neo4j_server.start(default_cache(), tmp_path, port=port)


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match=r"no Neo4j '4.4' to install \(known: 5.26, 2026\)"):
        neo4j_install.install(tmp_path, "4.4")
    old = tmp_path / "java-8"
    (old / "bin").mkdir(parents=True)
    (old / "bin" / "java").touch(mode=0o755)
    (old / "release").write_text('JAVA_VERSION="8.0.1"\n')
    monkeypatch.setattr(neo4j_install, "_java_homes", lambda: iter([(old, 8)]))
    assert neo4j_install.why_not(tmp_path) == (
        f"Neo4j 5.26.31 needs Java 17 or 21; found: Java 8 in {old} (set JAVA_HOME, or install one)"
    )
    monkeypatch.setattr(neo4j_install, "_java_homes", lambda: iter([(old, 17)]))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StoreError, match="there is no mvn on the PATH"):
        neo4j_install.install(tmp_path)


def test_a_java_is_found_by_its_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch(mode=0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert neo4j_install.find_java((99,)) is None
    (tmp_path / "release").write_text('IMPLEMENTOR="X"\nJAVA_VERSION="99.0.1"\n')
    assert neo4j_install.find_java((1, 99, 17)) == tmp_path
