from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any

import httpx
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from select_service import make_project, serving

from graph.projection import ColumnarProjection
from graph.select import Column, Selection, select
from graph.store import Store
from ontoloom.errors import QueryError
from serving import http_select
from serving.arrow_stream import MEDIA_TYPE, Rows, read_stream, write_stream
from serving.http import Parts
from serving.http_select import Answer, Pages
from serving.provenance import Sourced

Ask = Callable[..., Any]
SLOW = "SELECT count(*) AS n FROM range(100000) a, range(100000) b WHERE a.range + b.range = -1"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, Parts]]:
    settings = make_project(tmp_path_factory.mktemp("select") / "tour")
    with serving(settings) as (url, parts), httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        yield client, parts


@pytest.fixture
def client(service: tuple[httpx.Client, Parts]) -> httpx.Client:
    return service[0]


def rows(client: httpx.Client, sql: str, **more: Any) -> list[dict[str, Any]]:
    response = client.post("/v1/select", json={"sql": sql, **more})
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["rows"]
    return found


def error(client: httpx.Client, **body: Any) -> dict[str, Any]:
    response = client.post("/v1/select", json=body)
    assert response.status_code == 400
    found: dict[str, Any] = response.json()
    return found


def test_rows_as_json(client: httpx.Client) -> None:
    page = client.post("/v1/select", json={"sql": "SELECT name, released FROM Model WHERE name = 'BERT'"}).json()
    assert page == {
        "columns": [{"name": "name", "type": "string"}, {"name": "released", "type": "date"}],
        "rows": [{"name": "BERT", "released": page["rows"][0]["released"]}],
        "truncated": False,
        "change": page["change"],
    }
    assert date.fromisoformat(page["rows"][0]["released"])
    assert page["change"] >= 1


def test_parameters_of_every_sort(client: httpx.Client) -> None:
    sql = "SELECT name FROM Model WHERE training_method = ? AND name IN ? ORDER BY name"
    assert rows(client, sql, parameters=["DPO", ["Zephyr 7B beta", "BERT"]]) == [{"name": "Zephyr 7B beta"}]
    sql = "SELECT name FROM Model WHERE released = $day OR name = :name ORDER BY name"
    (bert,) = rows(client, "SELECT released FROM Model WHERE name = 'BERT'")
    found = rows(client, sql, parameters={"day": {"date": bert["released"]}, "name": "x' OR TRUE --"})
    assert {"name": "BERT"} in found
    assert len(found) < len(rows(client, "SELECT name FROM Model"))
    assert rows(client, "SELECT ? AS a, ? AS b", parameters=[{"timestamp": "2024-05-01T12:00:00"}, None]) == [
        {"a": "2024-05-01T12:00:00", "b": None}
    ]


def test_views_sources_and_the_past(client: httpx.Client) -> None:
    plain = rows(client, "SELECT name FROM Model WHERE training_method = 'DPO' ORDER BY name")
    assert rows(client, "SELECT * FROM trained") == plain
    page = client.post("/v1/select", json={"sql": "SELECT name FROM Model ORDER BY name", "sources": True}).json()
    assert len(page["sources"]) == len(page["rows"])
    assert all(":" in citation for citation in page["sources"][0]["name"])
    now = client.post("/v1/select", json={"sql": "SELECT count(*) AS n FROM Model"}).json()
    assert rows(client, "SELECT count(*) AS n FROM Model", as_of=now["change"]) == now["rows"]
    assert error(client, sql="SELECT count(*) AS n FROM Model", as_of=now["change"] + 1)["code"] == "no-change"
    assert error(client, sql="SELECT 1", as_of="soon")["code"] == "as-of"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"sql": "SELECT nam FROM Model"}, {"code": "unknown-column", "line": 1, "column": 8}),
        ({"sql": "SELECT name\nFROM Modl"}, {"code": "unknown-table", "line": 2, "column": 6}),
        ({"sql": "DROP TABLE Model"}, {"code": "forbidden", "line": 1, "column": 1}),
        ({"sql": ""}, {"code": "syntax"}),
        ({"sql": "SELECT ?"}, {"code": "parameters"}),
        ({"sql": "SELECT ?", "parameters": [{"day": "x"}]}, {"code": "parameters"}),
        ({"sql": "SELECT ?", "parameters": [{"date": "x"}]}, {"code": "parameters"}),
        ({"sql": SLOW, "timeout": 0.3}, {"code": "timeout"}),
        ({"page_token": "x.1"}, {"code": "page-gone"}),
    ],
)
def test_errors_have_code_line_and_column(client: httpx.Client, body: dict[str, Any], expected: dict[str, Any]) -> None:
    found = error(client, **body)
    assert {key: found[key] for key in expected} == expected
    assert found["message"]
    assert "\n" not in found["message"]


def test_requests_that_are_none(client: httpx.Client) -> None:
    for body in (
        {"sql": 1}, {"sql": "SELECT 1", "limit": 0}, {"sql": "SELECT 1", "colour": "red"}, {}, {"limit": 5},
        {"sql": "SELECT 1", "limit": 10_001}, {"page_token": "x.1", "sql": "SELECT 1"},
    ):  # fmt: skip
        assert client.post("/v1/select", json=body).status_code == 422


# Pages


def pages(
    client: httpx.Client, sql: str, limit: int, between: Callable[[], None] = lambda: None
) -> list[dict[str, Any]]:
    found = [client.post("/v1/select", json={"sql": sql, "limit": limit}).json()]
    while "next_page_token" in found[-1]:
        between()
        found.append(
            client.post("/v1/select", json={"page_token": found[-1]["next_page_token"], "limit": limit}).json()
        )
    return found


@pytest.mark.parametrize("limit", [1, 3, 7, 1_000])
def test_pages_together_are_the_whole(client: httpx.Client, limit: int) -> None:
    sql = "SELECT * FROM Model"
    whole = rows(client, sql)
    found = pages(client, sql, limit)
    assert [row for page in found for row in page["rows"]] == whole
    assert [len(page["rows"]) for page in found[:-1]] == [limit] * (len(found) - 1)
    assert [page["truncated"] for page in found] == [True] * (len(found) - 1) + [False]
    assert len({page["change"] for page in found}) == 1


def test_pages_are_of_one_change(service: tuple[httpx.Client, Parts]) -> None:
    client, parts = service
    whole = rows(client, "SELECT name FROM Model")
    documents = iter(sorted(parts.store.documents()))
    kept = list(parts.store.extractions())

    def write() -> None:
        with parts.turn:
            parts.store.delete([next(documents)])

    try:
        found = pages(client, "SELECT name FROM Model", 5, write)
    finally:
        with parts.turn:
            parts.store.write(kept)
    assert [row for page in found for row in page["rows"]] == whole
    assert len({page["change"] for page in found}) == 1


def test_an_order_that_the_statement_leaves_open_holds_through_all_pages(client: httpx.Client) -> None:
    sql = "SELECT a.range % 97 AS x, count(*) AS n FROM range(20000) a GROUP BY a.range % 97, a.range % 13"
    found = [row["x"] for page in pages(client, sql, 100) for row in page["rows"]]
    assert sorted(found) == sorted(row["x"] for row in rows(client, sql, limit=10_000))


def test_more_rows_than_pages_may_have(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_select, "MOST_PAGED_ROWS", 25)
    found = pages(client, "SELECT * FROM range(100)", 10)
    assert [len(page["rows"]) for page in found] == [10, 10, 5]
    assert found[-1]["truncated"] is True


def answer_of(size: int) -> Answer:
    table = pa.table({"x": pa.array(range(size), pa.int64())})
    return Answer(Sourced(Selection([Column("x", "integer")], table, False), []), 1)


def test_kept_results_are_bounded() -> None:
    kept = Pages(most_bytes=100 * 8)
    assert not kept.keep("huge", answer_of(101))
    assert kept.keep("a", answer_of(60))
    assert kept.keep("b", answer_of(40))
    assert kept.find("a.5")[2] == 5
    assert kept.keep("c", answer_of(50)), "the longest kept makes room"
    assert kept.find("b.0")[0] == "b"
    for token in ("a.5", "huge.1", "b", "b.", "b.x", "b.-1", ".1"):
        with pytest.raises(QueryError, match="not kept any more"):
            kept.find(token)
    short = Pages(seconds=0.0)
    short.keep("a", answer_of(1))
    time.sleep(0.01)
    with pytest.raises(QueryError):
        short.find("a.0")


# Arrow


def test_rows_as_an_arrow_stream(client: httpx.Client) -> None:
    columns = "name, training_method, released, context_length, hardware_requirement.gpu_memory"
    sql = f"SELECT {columns} FROM Model ORDER BY name"
    response = client.post("/v1/select", json={"sql": sql}, headers={"Accept": MEDIA_TYPE})
    assert response.headers["content-type"] == MEDIA_TYPE
    found = read_stream(response.content)
    kinds = ["string", "list of enum", "date", "integer", "number"]
    assert [kind for _, kind in found.columns] == kinds
    assert [str(kind) for kind in found.rows.schema.types] == [
        "string", "list<l: string>", "date32[day]", "int64", "double",
    ]  # fmt: skip
    as_json = rows(client, sql)
    assert found.rows.column("name").to_pylist() == [row["name"] for row in as_json]
    assert not found.truncated
    assert found.change >= 1


def test_many_rows_and_a_limit(client: httpx.Client) -> None:
    body = {"sql": "SELECT range AS x, 'text ' || range AS t FROM range(200000)"}
    found = read_stream(client.post("/v1/select", json=body, headers={"Accept": MEDIA_TYPE}).content)
    assert found.rows.num_rows == 200_000
    assert found.rows.column("x").to_pylist()[-1] == 199_999
    cut = client.post("/v1/select", json=body | {"limit": 10}, headers={"Accept": MEDIA_TYPE}).content
    assert read_stream(cut).rows.num_rows == 10
    assert read_stream(cut).truncated
    response = client.post("/v1/select", json={"sql": "SELECT x"}, headers={"Accept": MEDIA_TYPE})
    assert response.json()["code"] == "unknown-column"


@given(st.lists(st.tuples(st.integers(-9, 9) | st.none(), st.text(), st.lists(st.floats(allow_nan=False)))))
def test_a_stream_is_read_as_it_was_written(values: list[tuple[Any, ...]]) -> None:
    columns = list(zip(*values, strict=True)) or [(), (), ()]
    types = [pa.int64(), pa.string(), pa.list_(pa.float64())]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    given_rows = Rows(
        [("a", "integer"), ("b", "text"), ("ä", "list of number")], pa.table(arrays, list("abc")), True, 7
    )
    found = read_stream(b"".join(write_stream(given_rows)))
    assert found == given_rows


@pytest.mark.parametrize("content", [b"", b"x", b"\xff\xff\xff\xff" + b"\x00" * 60])
def test_what_is_no_stream(content: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        read_stream(content)


# Stopping


def test_a_statement_ends_when_its_client_goes(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended, faults = threading.Event(), threading.Event(), []

    def watched(*args: Any, **named: Any) -> Selection:
        begun.set()
        try:
            return select(*args, **named)
        except QueryError as error:
            faults.append(error.code)
            raise
        finally:
            ended.set()

    monkeypatch.setattr(http_select, "select", watched)
    with pytest.raises(httpx.ReadTimeout):
        client.post("/v1/select", json={"sql": SLOW, "timeout": 500}, timeout=httpx.Timeout(60, read=1.0))
    assert begun.is_set()
    assert ended.wait(60), "the statement went on although nobody waits for it"
    assert faults == ["cancelled"]


def test_a_long_statement_keeps_nobody_waiting(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one statement runs, others do too: it holds neither the store nor the way to it."""
    begun, go_on = threading.Event(), threading.Event()

    def waiting(store: Store, columns: ColumnarProjection, sql: str, **named: Any) -> Selection:
        if sql == "SELECT 2 AS x":
            begun.set()
            assert go_on.wait(60)
        return select(store, columns, sql, **named)

    monkeypatch.setattr(http_select, "select", waiting)
    with ThreadPoolExecutor() as workers:
        long = workers.submit(rows, client, "SELECT 2 AS x")
        try:
            assert begun.wait(60)
            assert rows(client, "SELECT count(*) > 0 AS x FROM Model") == [{"x": True}]
            assert client.get("/v1/status").status_code == 200
            assert not long.done()
        finally:
            go_on.set()
        assert long.result() == [{"x": 2}]
