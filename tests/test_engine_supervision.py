"""Supervision: with a stand-in server that can show every fault, then with the real vLLM."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ontoloom.errors import EngineError
from ontoloom.progress import Progress
from ontoloom.protocols import Prompt
from serving import engine, engine_install, model
from serving.engine import EngineFolders, Running
from serving.engine_client import HttpEngine
from serving.processes import identity, locked, session_members

# Answers /health, after so many seconds, and has a worker that, like a stuck one, may not hear SIGTERM.
STAND_IN = """
import http.server, os, subprocess, sys, time
port, wait, fault = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN);" if fault == "deaf" else ""
child = f"import signal, time; {deaf} print('child', flush=True); time.sleep(600)"
worker = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE)
worker.stdout.readline()
print("INFO 11-30 12:00:00 [x.py:1] loading", flush=True)
if fault == "end":
    print("(Worker pid=7) ERROR 11-30 12:00:00 [core.py:1] ValueError: no such file: model.safetensors", flush=True)
    print("RuntimeError: Engine core initialization failed. See root cause above.", flush=True)
    os._exit(1)
time.sleep(wait)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[EngineFolders]:
    found = EngineFolders(tmp_path / "cache", tmp_path / "run")
    yield found
    engine.down(found)


def start(
    folders: EngineFolders,
    *,
    wait: float = 0.0,
    fault: str = "",
    timeout: float = 60.0,
    port: int | None = None,
    seen: list[Progress] | None = None,
) -> Running:
    def command(port: int) -> list[str]:
        return [sys.executable, "-c", STAND_IN, str(port), str(wait), fault]

    progress = (seen if seen is not None else []).append
    return engine.launch(command, folders, port=port, environment={}, timeout=timeout, on_progress=progress)


def gone(pids: list[int], *, within: float = 30.0) -> bool:
    end = time.monotonic() + within
    while any(identity(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(identity(pid) for pid in pids)


def test_up_status_down(folders: EngineFolders) -> None:
    seen: list[Progress] = []
    server = start(folders, wait=1.0, seen=seen)
    assert engine.is_ready(server)
    assert {p.step for p in seen} == {"start vLLM"}
    assert seen[-1].detail == "loading"
    status = engine.status(folders)
    assert (status.running, status.ready, status.installed) == (server, True, False)
    processes = session_members(server.pid)
    assert len(processes) == 2
    assert engine.down(folders) is True
    assert gone(processes)
    assert engine.status(folders).running is None
    assert engine.down(folders) is False


def test_a_worker_that_does_not_hear_is_killed(folders: EngineFolders) -> None:
    processes = session_members(start(folders, fault="deaf").pid)
    assert engine.down(folders, patience=0.5) is True
    assert gone(processes)


def test_a_second_up_finds_the_first(folders: EngineFolders) -> None:
    assert start(folders) == start(folders)


def test_two_at_once_start_one(folders: EngineFolders) -> None:
    found: list[Running] = []
    threads = [threading.Thread(target=lambda: found.append(start(folders, wait=0.5))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
    assert found[0] == found[1]


def test_an_up_that_was_killed_leaves_a_server_that_the_next_one_waits_for(folders: EngineFolders) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from test_engine_supervision import EngineFolders, start
start(EngineFolders(Path({str(folders.cache)!r}), Path({str(folders.run)!r})), wait=2.0)
"""
    with subprocess.Popen([sys.executable, "-c", code]) as first:
        while not folders.state.exists():
            assert first.poll() is None
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
    begun = engine.running(folders)
    assert begun is not None
    assert start(folders) == begun


def test_a_server_that_ends_says_why(folders: EngineFolders) -> None:
    with pytest.raises(EngineError) as caught:
        start(folders, fault="end")
    assert str(caught.value) == (
        f"the engine ended before it was ready: ValueError: no such file: model.safetensors (its log: {folders.log})"
    )
    assert engine.running(folders) is None
    assert not folders.state.exists()


def test_a_server_that_is_never_ready_is_ended(folders: EngineFolders) -> None:
    with pytest.raises(EngineError, match=r"not ready within 1 s"):
        start(folders, wait=600, timeout=1.0)
    assert engine.running(folders) is None


def test_workers_of_a_killed_server_are_ended_with_the_next_up(folders: EngineFolders) -> None:
    server = start(folders)
    processes = session_members(server.pid)
    os.kill(server.pid, signal.SIGKILL)
    assert gone([server.pid])
    assert engine.running(folders) is None
    assert session_members(server.pid) == [pid for pid in processes if pid != server.pid]
    again = start(folders)
    assert again.pid != server.pid
    assert gone(processes)


def test_another_process_with_the_same_number_is_not_taken_for_the_server(folders: EngineFolders) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
    with bystander:
        folders.run.mkdir(parents=True)
        state = {"pid": bystander.pid, "identity": "an earlier one", "port": 1, "model": "m"}
        folders.state.write_text(json.dumps(state))
        assert engine.running(folders) is None
        assert engine.down(folders) is False
        assert bystander.poll() is None, "it was not ours to end"
        assert bystander.stdin is not None
        bystander.stdin.write(b"\n")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}', '{"pid": "x", "identity": 3}'])
def test_a_damaged_state_file_is_no_server(folders: EngineFolders, content: str) -> None:
    folders.run.mkdir(parents=True)
    folders.state.write_text(content)
    assert engine.running(folders) is None


def test_a_port_that_is_taken_is_refused(folders: EngineFolders) -> None:
    server = start(folders)
    other = EngineFolders(folders.cache, folders.run.with_name("other"))
    with pytest.raises(EngineError, match=rf"port {server.port} cannot be used: .*--port"):
        start(other, port=server.port)


def test_a_lock_ends_with_the_process_that_holds_it(tmp_path: Path) -> None:
    code = f"""
import time
from pathlib import Path
from serving.processes import locked
with locked(Path({str(tmp_path / "lock")!r})):
    print("held", flush=True)
    time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError), locked(tmp_path / "lock", wait=False):
            pass
        holder.kill()
    with locked(tmp_path / "lock", wait=False):
        pass


def test_other_platforms_are_refused_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(EngineError, match=r"^vLLM for the CPU runs on Linux x86-64, not on \w+ aarch64$") as caught:
        engine_install.install(tmp_path)
    assert caught.value.code == "engine-unavailable"


def test_want_of_room_says_how_much_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(engine_install, "ROOM", 10**18)
    with pytest.raises(EngineError, match=r"needs 1000000000\.0 GB of disk and has \d+\.\d GB free"):
        engine_install.install(tmp_path / "not" / "there" / "yet")


def test_an_installation_that_was_killed_is_begun_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the real uv, and a small package in place of 6 GB of vLLM."""
    folder = engine_install.environment_folder(tmp_path)
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / "half").touch()
    assert engine_install.engine_python(tmp_path) is None
    monkeypatch.setattr(engine_install, "REQUIREMENT", "idna")
    python = engine_install.install(tmp_path)
    assert python == engine_install.engine_python(tmp_path)
    assert not (folder / "half").exists()
    assert subprocess.run([python, "-c", "import idna"], check=True).returncode == 0


def test_a_failed_installation_says_what_uv_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(engine_install, "REQUIREMENT", str(tmp_path / "no-such-wheel-1.0-py3-none-any.whl"))
    with pytest.raises(EngineError, match=r"^cannot install vLLM: .*no-such-wheel") as caught:
        engine_install.install(tmp_path)
    assert "\n" not in str(caught.value)
    assert engine_install.engine_python(tmp_path) is None


@pytest.mark.engine
def test_the_real_server_is_up_and_found_again(vllm: EngineFolders) -> None:
    status = engine.status(vllm)
    assert status.running is not None
    assert (status.installed, status.model_ready, status.ready) == (True, True, True)
    assert engine.up(vllm) == status.running


@pytest.mark.engine
def test_the_real_server_answers_under_a_schema(vllm: EngineFolders) -> None:
    server = engine.running(vllm)
    assert server is not None
    schema = {
        "type": "object",
        "properties": {"city": {"enum": ["Paris", "Rome"]}},
        "required": ["city"],
        "additionalProperties": False,
    }
    prompts = [
        Prompt((("user", f"Question {n}: which city is the capital of France?"),), 30, schema=schema, tag=n)
        for n in range(4)
    ]
    with HttpEngine(server.url, model=server.model) as client:
        assert client.served_models() == [model.NAME]
        completions = sorted(client.complete(prompts), key=lambda c: int(c.prompt.tag))
    assert [(c.prompt.tag, c.finish) for c in completions] == [(n, "stop") for n in range(4)]
    assert all(json.loads(c.text)["city"] in ("Paris", "Rome") for c in completions)
    assert all(c.prompt_tokens > 5 and c.completion_tokens > 2 for c in completions)


@pytest.mark.engine
def test_the_real_server_streams_and_refuses_in_words(vllm: EngineFolders) -> None:
    server = engine.running(vllm)
    assert server is not None
    with HttpEngine(server.url, model=server.model) as client:
        pieces = list(client.stream(Prompt((("user", "Count from one to five in words."),), 24)))
        assert len(pieces) > 3
        (refused,) = client.complete([Prompt((("user", "word " * 6000),), 10)])
    assert refused.finish == "error"
    assert "answered 400" in refused.text
    assert "4096" in refused.text
