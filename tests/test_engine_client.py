"""The engine client over real HTTP, against a server that shows every fault an engine can show."""

from __future__ import annotations

import gc
import itertools
import json
import socket
import threading
from collections.abc import Iterator

import pytest
from fake_engine import FakeEngine, Reply, event
from hypothesis import given, settings
from hypothesis import strategies as st

from ontoloom.errors import EngineError
from ontoloom.protocols import Completion, Prompt
from serving.engine_client import HttpEngine
from serving.sse import EventReader, ServerEvent, write_event

SAY = Prompt(messages=(("system", "Be brief."), ("user", "Which city?")), max_tokens=20)


def client(engine: FakeEngine, **options: float) -> HttpEngine:
    return HttpEngine(engine.url, model=engine.model, first_pause=0.01, **options)  # type: ignore[arg-type]  # one type for all options


def ask(engine: FakeEngine, prompt: Prompt = SAY, **options: float) -> Completion:
    with client(engine, **options) as opened:
        (completion,) = opened.complete([prompt])
    return completion


def read(engine: FakeEngine, **options: float) -> str:
    with client(engine, **options) as opened:
        return "".join(opened.stream(SAY))


def test_a_completion_carries_text_finish_and_token_counts() -> None:
    with FakeEngine("Paris it is.") as engine:
        completion = ask(engine)
    assert completion == Completion(SAY, "Paris it is.", "stop", prompt_tokens=4, completion_tokens=3)


def test_the_request_says_what_the_prompt_says() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    prompt = Prompt((("user", "x?"),), 7, schema=schema, temperature=0.5, seed=3, tag="mine")
    with FakeEngine("{}") as engine:
        completion = ask(engine, prompt)
    assert completion.prompt.tag == "mine"
    assert engine.requests == [
        {
            "model": "fake",
            "messages": [{"role": "user", "content": "x?"}],
            "max_tokens": 7,
            "temperature": 0.5,
            "seed": 3,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": schema, "strict": True},
            },
        }
    ]


def test_prompts_run_side_by_side_up_to_the_bound_and_all_come_back() -> None:
    together = threading.Barrier(4, timeout=30)

    def reply(request: dict[str, object]) -> Reply:
        together.wait()  # breaks, and the test fails, unless four requests are under way at once
        return Reply(json.dumps(request["seed"]))

    prompts = [Prompt((("user", "n"),), 5, seed=n, tag=n) for n in range(24)]
    with FakeEngine(reply) as engine, HttpEngine(engine.url, model="fake", concurrency=4) as opened:
        found = {c.prompt.tag: c.text for c in opened.complete(prompts)}
    assert found == {n: str(n) for n in range(24)}
    assert engine.most_at_once == 4


def test_prompts_are_taken_only_when_there_is_room() -> None:
    taken: list[int] = []

    def prompts() -> Iterator[Prompt]:
        for n in range(100):
            taken.append(n)
            yield Prompt((("user", "n"),), 5, tag=n)

    with FakeEngine("ok") as engine, HttpEngine(engine.url, model="fake", concurrency=3) as opened:
        completions = opened.complete(prompts())
        next(completions)
        assert len(taken) == 3
        completions.close()  # type: ignore[attr-defined]  # it is a generator


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_an_answer_that_was_cut_off_says_so(finish: str) -> None:
    with FakeEngine(Reply('{"triples":[{"s":"A"', finish=finish)) as engine:
        assert ask(engine).finish == finish


def test_an_empty_answer_at_the_length_limit_is_no_stop() -> None:
    with FakeEngine(Reply("", finish="length")) as engine:
        completion = ask(engine)
    assert (completion.text, completion.finish) == ("", "length")


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply("CUDA out of memory", status=500), "answered 500: CUDA out of memory"),
        (Reply("context is too long", status=400), "answered 400: context is too long"),
        (Reply("fine", cut_after=20), "broke off its answer"),
        (Reply(raw=[b"<html>Bad gateway</html>"]), "is not JSON: <html>Bad gateway</html>"),
        (Reply(raw=[b"[]"]), "is not an object"),
        (Reply(raw=[b'{"choices": []}']), "is not a completion"),
        (Reply(raw=[b'{"error": {"message": "no room"}}']), "is not a completion: no room"),
        (Reply("x", finish="tool_calls"), "finish_reason 'tool_calls'"),
        (Reply("x", finish=None), "finish_reason None"),
    ],
)
def test_a_failed_request_is_a_completion_that_says_why(reply: Reply, says: str) -> None:
    with FakeEngine(reply) as engine:
        completion = ask(engine)
    assert completion.finish == "error"
    assert says in completion.text
    assert len(engine.requests) == 1, "what the engine has begun is not sent again"


def test_one_failure_leaves_the_others_alone() -> None:
    def reply(request: dict[str, object]) -> Reply:
        return Reply(status=500) if request["seed"] == 1 else Reply("ok")

    with FakeEngine(reply) as engine, client(engine) as opened:
        found = {c.prompt.seed: c.finish for c in opened.complete(Prompt((), 5, seed=n) for n in range(3))}
    assert found == {0: "stop", 1: "error", 2: "stop"}


def test_a_late_answer_is_given_up_and_its_connection_closed() -> None:
    with FakeEngine(Reply("late", delay=60)) as engine:
        completion = ask(engine, answer_timeout=0.2)
        assert (completion.finish, completion.text) == ("error", f"{engine.url} gave no answer within 0.2 s")
        assert engine.hung_up.wait(30)


def test_an_engine_that_is_starting_is_asked_again() -> None:
    with FakeEngine([Reply(status=503), Reply(status=503), Reply("ready")]) as engine:
        assert ask(engine).text == "ready"
    assert len(engine.requests) == 3


def test_it_is_not_asked_for_ever() -> None:
    with FakeEngine(Reply("starting", status=503)) as engine:
        completion = ask(engine)
    assert (completion.finish, len(engine.requests)) == ("error", 5)
    assert "answered 503: starting" in completion.text


def test_an_engine_that_is_down_is_an_error_that_says_what_to_do() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with HttpEngine(url, model="m", first_pause=0.01) as opened:
        (completion,) = opened.complete([SAY])
        assert completion.finish == "error"
        assert completion.text == f"no engine answers at {url} (start one: ontoloom engine up)"
        with pytest.raises(EngineError, match="no engine answers at"):
            list(opened.stream(SAY))
        with pytest.raises(EngineError, match="no engine answers at"):
            opened.served_models()


def test_a_stream_gives_the_pieces_as_they_come() -> None:
    with FakeEngine(Reply(pieces=["Par", "is ", "it is."])) as engine, client(engine) as opened:
        assert list(opened.stream(SAY)) == ["Par", "is ", "it is."]
    assert engine.requests[0]["stream"] is True


def test_pieces_come_before_the_answer_is_complete() -> None:
    with FakeEngine(Reply(pieces=["first", "second"], piece_delay=60)) as engine, client(engine) as opened:
        # The role comes first, then the pieces, a minute apart: no client that waits for the end gets here.
        stream = opened.stream(SAY)
        closer = threading.Timer(0.3, opened.close)
        closer.start()
        with pytest.raises(EngineError, match="was closed"):
            next(stream)
        closer.join()


TEXT = "北京🙂 é"


def test_a_character_that_the_network_cuts_in_two_stays_one() -> None:
    frame = event("m", {"content": TEXT})
    for cut in range(1, len(frame)):
        reader = EventReader()
        found = reader.feed(frame[:cut]) + reader.feed(frame[cut:])
        assert [json.loads(e.data)["choices"][0]["delta"]["content"] for e in found] == [TEXT], cut


def test_characters_cut_in_two_over_the_wire() -> None:
    frame = event("m", {"content": TEXT}) + event("m", {}, finish="stop") + b"data: [DONE]\n\n"
    with FakeEngine(Reply(raw=[frame[i : i + 1] for i in range(len(frame))])) as engine:
        assert read(engine) == TEXT


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["message", "hits"]), st.text(st.characters(codec="utf-8", exclude_characters="\r\n"))
        )
    ),
    st.lists(st.integers(0, 400)),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_events_come_back_however_the_bytes_are_cut(
    sent: list[tuple[str, str]], cuts: list[int], line_end: bytes
) -> None:
    data = b": ping\n\n".join([b"", *(write_event(name, text) for name, text in sent)]) + b": end\n"
    data = data.replace(b"\n", line_end)
    edges = [0, *sorted(min(c, len(data)) for c in cuts), len(data)]
    reader = EventReader()
    found = [e for a, b in itertools.pairwise(edges) for e in reader.feed(data[a:b])]
    assert found == [ServerEvent(name, text) for name, text in sent]


def test_an_event_of_several_lines_comes_back_as_it_was() -> None:
    assert EventReader().feed(write_event("sentence", "a\nb\n")) == [ServerEvent("sentence", "a\nb\n")]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ([b'data: {"error": {"message": "KV cache is full"}}\n\n'], "KV cache is full"),
        ([event("m", {"content": "Par"}), b'event: error\ndata: {"message": "died"}\n\n'], "died"),
        ([event("m", {"content": "Par"})], "broke off"),
        ([event("m", {"content": "Par"}), b'data: {"choi'], "broke off"),
        ([event("m", {"content": "Par"}), b"data: {oops}\n\n"], "is not JSON: {oops}"),
        ([b'data: {"choices": [{"text": "completions, not chat"}]}\n\n'], "is not a delta"),
        ([b"data: \xff\xfe\n\n"], "not UTF-8"),
        ([], "broke off"),
    ],
)
def test_a_stream_that_goes_wrong_raises_after_what_came_before(raw: list[bytes], says: str) -> None:
    pieces: list[str] = []
    with FakeEngine(Reply(raw=raw or [b": nothing\n\n"])) as engine, client(engine) as opened:
        with pytest.raises(EngineError, match=says):
            pieces.extend(opened.stream(SAY))
        assert "".join(pieces) in ("", "Par")


def test_a_connection_that_breaks_in_mid_event_is_an_error() -> None:
    frame = len(event("fake", {"role": "assistant", "content": ""}))
    with FakeEngine(Reply("Paris it is", cut_after=frame * 2)) as engine, pytest.raises(EngineError, match="broke off"):
        read(engine)


@pytest.mark.parametrize("status", [400, 500])
def test_a_refused_stream_says_what_the_engine_said(status: int) -> None:
    with FakeEngine(Reply("no such model", status=status)) as engine:
        with pytest.raises(EngineError, match=f"answered {status}: no such model") as caught:
            read(engine)
        assert caught.value.code == "engine-refused"


def test_a_stream_without_the_closing_mark_is_whole_when_it_says_why_it_ended() -> None:
    with FakeEngine(Reply(raw=[event("m", {"content": "Paris"}), event("m", {}, finish="stop")])) as engine:
        assert read(engine) == "Paris"


def test_comments_that_keep_the_connection_alive_do_not_extend_the_wait() -> None:
    with FakeEngine(Reply("never", comments=10_000, piece_delay=0.02)) as engine:
        with pytest.raises(EngineError, match=r"wrote nothing for 0.3 s") as caught:
            read(engine, piece_timeout=0.3)
        assert caught.value.code == "engine-late"
        assert engine.hung_up.wait(30)


def test_closing_the_iterator_closes_the_connection() -> None:
    with FakeEngine(Reply("a b c d e f", piece_delay=0.1)) as engine, client(engine) as opened:
        stream = opened.stream(SAY)
        assert next(stream) == "a "
        stream.close()  # type: ignore[attr-defined]  # it is a generator
        assert engine.hung_up.wait(30)


def test_closing_unfinished_completions_closes_their_connections() -> None:
    replies = [Reply("first"), Reply("second", delay=60)]
    with FakeEngine(replies) as engine, HttpEngine(engine.url, model="fake", concurrency=2) as opened:
        completions = opened.complete([SAY, SAY])
        assert next(completions).text == "first"
        completions.close()  # type: ignore[attr-defined]  # it is a generator
        assert engine.hung_up.wait(30)


def test_a_closed_engine_stays_closed() -> None:
    """Who closes it because nobody waits for an answer any more must not see it start afresh."""
    with FakeEngine("ok") as engine:
        opened = client(engine)
        assert [c.text for c in opened.complete([SAY])] == ["ok"]
        opened.close()
        opened.close()
        with pytest.raises(EngineError, match="was closed"):
            list(opened.stream(SAY))
        with pytest.raises(EngineError, match="was closed"):
            list(opened.complete([SAY]))
        assert len(engine.requests) == 1


def test_nothing_is_left_behind() -> None:
    with FakeEngine("ok") as engine:
        before = threading.active_count()
        assert ask(engine).text == "ok"
        gc.collect()
        for thread in threading.enumerate():
            if thread.name == "ontoloom-engine":
                thread.join(30)
                assert not thread.is_alive()
        assert threading.active_count() <= before + 1  # the server's own, until it sees the connection closed


def test_served_models() -> None:
    with FakeEngine("ok", model="smol") as engine, client(engine) as opened:
        assert opened.served_models() == ["smol"]


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
def test_the_address_may_end_as_people_write_it(suffix: str) -> None:
    with FakeEngine("ok") as engine, HttpEngine(engine.url + suffix, model="fake") as opened:
        assert [c.text for c in opened.complete([SAY])] == ["ok"]


def test_a_proxy_for_the_outside_world_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with FakeEngine("ok") as engine:
        assert ask(engine).text == "ok"
