"""The HTTP API: a real server over the real store, asked over real connections."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fake_engine import FakeEngine, Reply
from retrieval_parts import train_tokenizer

from serving import http as service
from serving import streaming
from serving.engine_client import HttpEngine
from serving.http import Parts, make_app, open_parts
from serving.scaffold import copy_example
from serving.settings import Settings, read_settings
from serving.sse import EventReader
from serving.wiring import run_ingest

QUESTION = "Which company developed Phi-3 mini?"
SAID = "Phi-3 mini was developed by Microsoft."
UNANSWERABLE = "Who founded Mistral AI?"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The example, ingested and indexed, with a small tokenizer in place of the default model's."""
    folder = tmp_path_factory.mktemp("http")
    copy_example(folder / "tour")
    train_tokenizer(folder / "tokenizer")
    options = {"project": folder / "tour", "tokenizer": str(folder / "tokenizer"), "engine": "none"}
    found = read_settings(options)
    run_ingest(found, [], use_llm=False)
    return found


@pytest.fixture(scope="module")
def parts(settings: Settings) -> Iterator[Parts]:
    with open_parts(settings, url="http://nowhere") as opened:
        yield opened


@contextmanager
def served(parts: Parts, engine: str = "none") -> Iterator[httpx.Client]:
    """A client of a server that runs in a thread, with that engine."""
    parts = replace(parts, settings=parts.settings.model_copy(update={"engine": engine, "model": "fake"}))
    server = uvicorn.Server(uvicorn.Config(make_app(parts), port=0, log_level="error", timeout_graceful_shutdown=5))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def client(parts: Parts) -> Iterator[httpx.Client]:
    with served(parts) as opened:
        yield opened


def ask(client: httpx.Client, question: str) -> list[tuple[str, dict[str, Any]]]:
    """All events of an answer; comments are left out."""
    response = client.post("/v1/ask", json={"question": question})
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    return [(event.name, json.loads(event.data)) for event in EventReader().feed(response.content)]


def cited(settings: Settings, citation: str) -> str:
    document, _, span = citation.rpartition(":")
    start, end = map(int, span.split("-"))
    return (settings.project / document).read_text()[start:end]


def test_health_and_status(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    status = client.get("/v1/status").json()
    assert status["engine"] == "the setting engine is 'none'"
    assert status["counts"]["documents"] == 97


def test_an_answer_without_an_engine(client: httpx.Client, settings: Settings) -> None:
    events = ask(client, QUESTION)
    names = [name for name, _ in events]
    assert names[0] == "hits"
    assert names[-1] == "done"
    assert set(names[1:-1]) == {"sentence"}
    assert events[-1][1] == {"answerer": "extractive", "note": ""}
    sentences = [data for name, data in events if name == "sentence"]
    assert any("Microsoft" in data["text"] for data in sentences)
    assert all(data["citations"] for data in sentences)
    assert all("microsoft" in cited(settings, c).lower() for c in sentences[0]["citations"])
    assert events[0][1]["hits"][0]["citations"]


def test_what_nothing_supports_is_declined(client: httpx.Client) -> None:
    events = ask(client, UNANSWERABLE)
    assert [name for name, _ in events] == ["hits", "declined", "done"]
    assert events[1][1]["reason"]


def test_an_engine_words_the_answer(parts: Parts) -> None:
    with FakeEngine(SAID) as engine, served(parts, engine.url) as client:
        events = ask(client, QUESTION)
    assert [(name, data.get("text")) for name, data in events if name == "sentence"] == [("sentence", SAID)]
    assert events[-1] == ("done", {"answerer": "fake", "note": ""})
    assert engine.requests[0]["stream"] is True


def test_what_the_engine_makes_up_is_not_shown(parts: Parts) -> None:
    with (
        FakeEngine("Phi-3 mini was developed by Napoleon.") as engine,
        served(parts, engine.url) as client,
    ):
        events = ask(client, QUESTION)
    assert "Napoleon" not in json.dumps([data for name, data in events if name == "sentence"])
    assert events[-1][1]["answerer"] == "extractive"
    assert events[-1][1]["note"]


@pytest.mark.parametrize("reply", [Reply(status=500), Reply(SAID, cut_after=300)])
def test_an_engine_that_fails_leaves_an_extractive_answer(parts: Parts, reply: Reply) -> None:
    with FakeEngine(reply) as engine, served(parts, engine.url) as client:
        events = ask(client, QUESTION)
    assert [name for name, _ in events].count("sentence") >= 1
    assert events[-1][1]["answerer"] == "extractive"
    assert "the engine failed" in events[-1][1]["note"]


def test_heartbeats_keep_the_connection_while_the_engine_thinks(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.05)
    with (
        FakeEngine(Reply(SAID, delay=1.0)) as engine,
        served(parts, engine.url) as client,
    ):
        content = client.post("/v1/ask", json={"question": QUESTION}).content
    assert content.count(b": still here\n\n") >= 2
    assert [event.name for event in EventReader().feed(content)] == ["hits", "sentence", "done"]


def test_a_client_that_hangs_up_stops_the_engine(parts: Parts) -> None:
    with (
        FakeEngine(Reply(SAID, piece_delay=60)) as engine,
        served(parts, engine.url) as client,
    ):
        with client.stream("POST", "/v1/ask", json={"question": QUESTION}) as response:
            lines = response.iter_lines()  # kept: without it the connection is closed at once
            assert next(lines) == "event: hits"
            assert engine.asked.wait(30)
        assert engine.hung_up.wait(30)
        # The worker is free again, and nothing is held.
        assert client.post("/v1/select", json={"sql": "SELECT name FROM Model LIMIT 1"}).status_code == 200


def test_a_client_that_hangs_up_early_leaves_no_engine_at_work(parts: Parts) -> None:
    with (
        FakeEngine(Reply(SAID, piece_delay=60)) as engine,
        served(parts, engine.url) as client,
    ):
        with client.stream("POST", "/v1/ask", json={"question": QUESTION}):
            pass
        # In turn: whatever the question's worker did is done by now.
        assert client.post("/v1/select", json={"sql": "SELECT name FROM Model LIMIT 1"}).status_code == 200
        assert not engine.requests or engine.hung_up.wait(30)


def test_others_are_answered_while_the_engine_thinks(parts: Parts) -> None:
    with (
        FakeEngine(Reply(SAID, delay=60)) as engine,
        served(parts, engine.url) as client,
    ):
        with client.stream("POST", "/v1/ask", json={"question": QUESTION}) as response:
            lines = response.iter_lines()
            assert next(lines) == "event: hits"
            assert engine.asked.wait(30)
            rows = client.post("/v1/select", json={"sql": "SELECT count(*) AS n FROM Model"}).json()["rows"]
            assert rows == [{"n": 21}]
            assert client.post("/v1/search", json={"query": "Mixtral"}).json()["hits"]
        assert engine.hung_up.wait(30)


def test_search(client: httpx.Client, settings: Settings) -> None:
    hits = client.post("/v1/search", json={"query": "context length of Mixtral 8x7B", "k": 3}).json()["hits"]
    assert len(hits) == 3
    assert "32768" in hits[0]["text"]
    assert any("32768" in cited(settings, citation) for citation in hits[0]["citations"])


def test_select(client: httpx.Client, settings: Settings) -> None:
    body = {"sql": "SELECT name, released FROM Model WHERE training_method = 'DPO' ORDER BY name", "sources": True}
    page = client.post("/v1/select", json=body).json()
    assert page["columns"] == [{"name": "name", "type": "string"}, {"name": "released", "type": "date"}]
    assert [row["name"] for row in page["rows"]][:2] == ["Llama 3 70B Instruct", "Mixtral 8x7B Instruct"]
    assert page["truncated"] is False
    assert page["rows"][1]["released"] == "2023-12-11"
    assert "2023-12-11" in cited(settings, page["sources"][1]["released"][0])


def test_a_page_of_rows_has_an_end(client: httpx.Client) -> None:
    page = client.post("/v1/select", json={"sql": "SELECT name FROM Model", "limit": 5}).json()
    assert (len(page["rows"]), page["truncated"]) == (5, True)
    assert client.post("/v1/select", json={"sql": "SELECT name FROM Model", "limit": 100_000}).status_code == 422


@pytest.mark.parametrize(
    ("path", "body", "status", "error"),
    [
        ("/v1/select", {"sql": "SELECT\nnme FROM Model"}, 400, {"code": "unknown-column", "line": 2, "column": 1}),
        ("/v1/select", {"sql": "DROP TABLE Model"}, 400, {"code": "forbidden", "line": 1, "column": 1}),
        ("/v1/select", {}, 422, {"code": "request", "message": "sql: Field required"}),
        ("/v1/select", {"sql": "SELECT 1", "max": 3}, 422, {"message": "max: Extra inputs are not permitted"}),
        ("/v1/search", {"query": "x", "k": 0}, 422, {"message": "k: Input should be greater than or equal to 1"}),
        ("/v1/search", {"query": "x" * 5000}, 422, {"code": "request"}),
        ("/v1/ask", {"question": "   "}, 422, {"code": "request"}),
        ("/v1/nothing", {}, 404, {"code": "not-found"}),
        ("/healthz", {}, 405, {"code": "method-not-allowed"}),
    ],
)
def test_mistakes_are_answered_in_json(
    client: httpx.Client, path: str, body: dict[str, Any], status: int, error: dict[str, Any]
) -> None:
    response = client.post(path, json=body)
    assert response.status_code == status
    found = response.json()
    assert {"code", "message"} <= set(found)
    assert {key: found[key] for key in error} == error


def test_what_is_no_json_is_a_mistake(client: httpx.Client) -> None:
    response = client.post("/v1/ask", content=b"{question", headers={"Content-Type": "application/json"})
    assert response.status_code == 422
    assert response.json()["code"] == "request"


def test_many_at_once(client: httpx.Client) -> None:
    """Store and projections are for one thread at once: requests side by side must come out as one after another."""
    found: list[list[tuple[str, dict[str, Any]]]] = []
    errors: list[Exception] = []

    def work(question: str) -> None:
        try:
            found.append(ask(client, question))
            client.post("/v1/select", json={"sql": "SELECT name FROM Model"}).raise_for_status()
        except Exception as error:  # noqa: BLE001  # it is raised by the test
            errors.append(error)

    questions = [QUESTION, UNANSWERABLE] * 4
    threads = [threading.Thread(target=work, args=(question,)) for question in questions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert sorted({json.dumps(events) for events in found}) == sorted(
        {json.dumps(ask(client, question)) for question in (QUESTION, UNANSWERABLE)}
    )


def test_an_engine_waits_without_holding_the_turn() -> None:
    from ontoloom.protocols import Prompt
    from serving.turns import TakingTurns

    turn = threading.Lock()
    seen: list[bool] = []

    def reply(_: dict[str, Any]) -> Reply:
        seen.append(turn.locked())
        return Reply("a b")

    with FakeEngine(reply) as engine, HttpEngine(engine.url, model="fake") as client, turn:
        taking_turns = TakingTurns(client, turn)
        prompt = Prompt((("user", "x"),), 5)
        for piece in taking_turns.stream(prompt):
            assert piece in ("a ", "b")
            assert turn.locked()
        assert [completion.text for completion in taking_turns.complete([prompt])] == ["a b"]
        assert turn.locked()
    assert seen == [False, False]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_serve_holds_the_store_and_lets_go(settings: Settings, tmp_path: Path, sign: signal.Signals) -> None:
    copy_example(tmp_path / "tour")
    environment = {**os.environ, "ONTOLOOM_ENGINE": "none", "ONTOLOOM_TOKENIZER": settings.tokenizer}
    own = settings.model_copy(update={"project": tmp_path / "tour"})
    run_ingest(own, [own.project / "wiki"], use_llm=False, index=False)
    command = [sys.executable, "-m", "serving.cli", "-C", str(own.project), "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as server, ExitStack() as undone:
        undone.callback(server.kill)
        assert server.stderr is not None
        said = ""
        while "serving ai-infra at" not in said:
            said = server.stderr.readline()
            assert said, "it ended"
        found = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert found
        assert httpx.get(f"{found[0]}/healthz", trust_env=False).json() == {"status": "ok"}
        command = [sys.executable, "-m", "serving.cli", "-C", str(own.project)]
        ingest = [*command, "ingest", "--no-llm", "--json"]
        handed = subprocess.run(ingest, capture_output=True, text=True, env=environment)
        assert handed.returncode == 0, handed.stderr
        assert handed.stderr.startswith(f"handed to the service at {found[0]}\n")
        assert json.loads(handed.stdout)["loaded"] == 97
        merge = [*command, "ingest", "--no-llm", "--rebuild"]
        refused = subprocess.run(merge, capture_output=True, text=True, env=environment)
        assert refused.returncode == 1
        assert f"'ontoloom serve' (process {server.pid}) at {found[0]} is writing to the store" in refused.stderr
        server.send_signal(sign)
        rest = server.stderr.read()
        undone.pop_all()
    assert server.returncode == 0, rest
    assert "Traceback" not in rest
    assert not (own.project / ".ontoloom" / "writer.json").exists()


def test_a_job_is_taken_from_its_own_user_alone(client: httpx.Client) -> None:
    for headers in ({}, {"Authorization": "Bearer guess"}):
        refused = client.post("/v1/ingest", json={}, headers=headers)
        assert refused.status_code == 403
        assert refused.json()["code"] == "not-allowed"


def test_requests_are_answered_while_a_job_is_done(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text("Zephyr 7B beta was developed by Hugging Face.\n" * 3)
    own = replace(parts, token="shown")
    with served(own) as client:
        headers = {"Authorization": "Bearer shown"}
        with client.stream("POST", "/v1/ingest", json={"paths": [str(tmp_path)]}, headers=headers) as response:
            assert client.post("/v1/select", json={"sql": "SELECT count(*) AS n FROM Model"}).status_code == 200
            events = EventReader().feed(b"".join(response.iter_bytes()))
        assert {event.name for event in events} == {"progress", "summary"}
        assert json.loads(events[-1].data)["loaded"] == 1
        cleared = client.stream("POST", "/v1/ingest", json={"paths": [str(tmp_path / "none")]}, headers=headers)
        with cleared as response:
            failed = EventReader().feed(b"".join(response.iter_bytes()))[-1]
        assert failed.name == "error"
    parts.store.delete([state for state in parts.store.documents() if state.endswith("new.md")])


def test_a_port_that_is_taken(settings: Settings) -> None:
    from ontoloom.errors import EngineError

    with FakeEngine() as other, pytest.raises(EngineError, match=f"cannot listen on 127.0.0.1:{other.port}: .*--port"):
        service.run(settings.model_copy(update={"port": other.port}))
