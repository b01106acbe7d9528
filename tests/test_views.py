from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest
from conftest import ROOT
from page_extractions import read_example
from sqlglot import tokenize

from graph.bind import Value, bind
from graph.check_views import check_views
from graph.guard import DIALECT, parse
from graph.open import open_store
from graph.prepare import AsOf, read_as_of_text, reader
from graph.projection import ColumnarProjection
from graph.saved_views import View, read_views
from graph.select import select
from graph.store import Store
from ontology import Ontology
from ontoloom.errors import QueryError

STRONG = """\
-- Models that were trained with a method,
-- and what they scored at least.
-- param method: Model.training_method = 'DPO'
-- param least: number? = NULL
-- param of: string
SELECT m.name, e.score FROM Model m JOIN evaluated_on e ON e.subject = m.name
WHERE m.training_method = $method AND ($least IS NULL OR e.score >= $least) AND e.object = :of
ORDER BY e.score DESC
"""
TRAINED = "-- param method: Model.training_method = 'DPO'\nSELECT name FROM Model WHERE training_method = $method"

Run = Callable[..., list[dict[str, object]]]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, ColumnarProjection]]:
    ontology, extractions = read_example(ROOT / "examples" / "ai-infra")
    folder = tmp_path_factory.mktemp("views")
    with open_store(folder / "store", ontology) as store:
        store.write(extractions)
        yield store, ColumnarProjection(store, folder / "tables")


def write(folder: Path, **views: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in views.items():
        (folder / f"{name}.sql").write_text(text)
    return folder


@pytest.fixture
def run(example: tuple[Store, ColumnarProjection], tmp_path: Path) -> Run:
    """SELECT with views of those names and texts."""
    store, projection = example

    def run_it(
        sql: str, parameters: tuple[Value, ...] = (), as_of: AsOf | None = None, **views: str
    ) -> list[dict[str, object]]:
        found, findings = read_views(write(tmp_path / "views", **views), store.ontology)
        assert not findings or any(v.fault for v in found.values())
        read = reader(parameters=parameters, views=found, as_of=as_of)
        rows: list[dict[str, object]] = select(store, projection, sql, read=read).rows.to_pylist()
        return rows

    return run_it


def error(run: Run, sql: str, **views: str) -> str:
    with pytest.raises(QueryError) as caught:
        run(sql, **views)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_header_is_read(example: tuple[Store, ColumnarProjection], tmp_path: Path) -> None:
    views, findings = read_views(write(tmp_path / "views", strong_models=STRONG), example[0].ontology)
    assert findings == []
    view = views["strong_models"]
    assert view.description == "Models that were trained with a method, and what they scored at least."
    assert [p.spelled for p in view.parameters] == [
        "method: Model.training_method = 'DPO'", "least: number? = NULL", "of: string",
    ]  # fmt: skip
    assert read_views(tmp_path / "nowhere", example[0].ontology) == ({}, [])


def test_a_view_is_a_table(run: Run) -> None:
    by_hand = run(
        "SELECT m.name, e.score FROM Model m JOIN evaluated_on e ON e.subject = m.name "
        "WHERE m.training_method = 'RLHF' AND e.object = 'MMLU' ORDER BY e.score DESC"
    )
    assert by_hand
    assert run("SELECT * FROM strong(method => 'RLHF', of := 'MMLU')", strong=STRONG) == by_hand
    assert run("SELECT * FROM STRONG('RLHF', NULL, 'MMLU') AS s", strong=STRONG) == by_hand
    assert run("SELECT * FROM strong(?, of => ?)", ("RLHF", "MMLU"), strong=STRONG) == by_hand
    best = [row for row in by_hand if isinstance(row["score"], float) and row["score"] >= 70]
    assert run("SELECT s.* FROM strong('RLHF', 70, 'MMLU') s WHERE s.name <> ''", strong=STRONG) == best


def test_defaults_and_joins(run: Run) -> None:
    plain = run("SELECT name FROM Model WHERE training_method = 'DPO'")
    assert run("SELECT name FROM trained", trained=TRAINED) == plain
    assert run("FROM trained SELECT trained.name", trained=TRAINED) == plain
    assert run("SELECT t.n FROM trained() AS t(n)", trained=TRAINED) == run(
        "WITH RECURSIVE r AS (SELECT 1 AS x) SELECT t.n FROM trained t(n) WHERE EXISTS (FROM r)", trained=TRAINED
    )
    assert run("SELECT t.n FROM trained() AS t(n)", trained=TRAINED) == [{"n": row["name"]} for row in plain]
    sql = "SELECT count(*) AS n FROM Model m JOIN (trained a JOIN trained b ON a.name = b.name) ON a.name = m.name"
    assert run(sql, trained=TRAINED) == [{"n": len(plain)}]
    assert run("SELECT name FROM Model WHERE name IN (SELECT name FROM trained)", trained=TRAINED) == plain


def test_views_read_views(run: Run) -> None:
    both = "WITH a AS (SELECT name FROM trained) SELECT a.name FROM a JOIN trained('RLHF') b USING (name)"
    by_hand = run("SELECT name FROM Model WHERE training_method = 'DPO' AND training_method = 'RLHF'")
    assert run("SELECT * FROM both ORDER BY name", trained=TRAINED, both=both) == sorted(by_hand, key=str)


def test_what_with_names_hides_a_view(run: Run) -> None:
    assert run("WITH trained AS (SELECT 1 AS x) SELECT x FROM trained", trained=TRAINED) == [{"x": 1}]
    inner = "WITH trained AS (SELECT count(*) AS n FROM trained) SELECT n FROM trained"
    expected = len(run("SELECT name FROM Model WHERE training_method = 'DPO'"))
    assert run(inner, trained=TRAINED) == [{"n": expected}]
    deep = "WITH trained AS (SELECT 2 AS x) SELECT (SELECT max(x) FROM trained) AS y"
    assert run(deep, trained=TRAINED) == [{"y": 2}]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT * FROM trained('dpo')", "1:23: 'dpo' is not a Model.training_method; did you mean 'DPO'?"),
        ("SELECT *\n  FROM trained(methud => 'DPO')", "2:16: the view trained has no parameter 'methud' (did you mean"),
        ("SELECT * FROM trained(1)", "1:23: 'method' is a text, not 1"),
        ("SELECT * FROM trained(NULL)", "1:15: 'method' cannot be NULL"),
        ("SELECT * FROM trained('DPO', 'x')", "1:30: the view trained takes 1 arguments"),
        ("SELECT * FROM trained('DPO', method => 'DPO')", "1:30: 'method' is given twice"),
        ("SELECT * FROM strong", "1:15: the view strong needs 'of' (strong(method: Model.training_method = 'DPO', "),
        ("SELECT * FROM strong(least => 'x', of => 'y')", "'least' is a number, not 'x'"),
        ("SELECT * FROM Model m, trained(m.name)", "1:32: an argument is a constant, and m.name is none"),
        ("SELECT * FROM loop", "1:15: the view loop reads itself: loop → back → loop"),
        ("SELECT * FROM broken", "1:15: the view broken does not hold"),
        ("SELECT * FROM writes", "1:15: the view writes does not hold"),
    ],
)  # fmt: skip
def test_errors_are_where_the_view_is_named(run: Run, sql: str, message: str) -> None:
    views = {
        "trained": TRAINED,
        "strong": STRONG,
        "loop": "SELECT * FROM back",
        "back": "SELECT * FROM loop",
        "broken": "-- param x = 1\nSELECT 1",
        "writes": "DROP TABLE Model",
    }
    said = error(run, sql, **views)
    assert message in said


def test_a_view_that_nobody_calls_disturbs_nobody(run: Run) -> None:
    assert run("SELECT 1 AS x", broken="-- param x = 1\nSELECT") == [{"x": 1}]


def test_views_cannot_blow_a_statement_up(run: Run) -> None:
    views = {f"v{n}": f"SELECT a.x FROM v{n - 1} a, v{n - 1} b" for n in range(1, 20)}
    assert "parts" in error(run, "SELECT * FROM v19", v0="SELECT 1 AS x", **views)


# AS OF


def test_views_and_all_tables_are_read_as_they_were(tmp_path: Path) -> None:
    ontology, extractions = read_example(ROOT / "examples" / "ai-infra")
    views, _ = read_views(write(tmp_path / "views", trained=TRAINED), ontology)
    page = next(e for e in extractions if any(t.relation == "training_method" for t in e.triples))
    with open_store(tmp_path / "store", ontology) as store:
        store.write(extractions)
        store.delete([page.document.id])
        projection = ColumnarProjection(store, tmp_path / "tables")

        def count(sql: str, as_of: AsOf | None = None) -> object:
            read = reader(views=views, as_of=as_of)
            return select(store, projection, sql, read=read).rows.to_pylist()[0]["n"]

        sql = "WITH t AS (SELECT name FROM Model) SELECT count(*) AS n FROM t"
        now, then = count(sql), count(sql, 1)
        assert (now, then) == (
            count("SELECT count(*) AS n FROM Model"),
            count("SELECT count(*) AS n FROM Model AS OF 1"),
        )
        assert now != then
        assert count("SELECT count(*) AS n FROM trained AS OF 1") == count("SELECT count(*) AS n FROM trained", 1)
        assert count("SELECT count(*) AS n FROM Model AS OF 2", 1) == now


def test_times_as_people_write_them() -> None:
    assert read_as_of_text("12") == 12
    assert str(read_as_of_text("2026-11-30 12:00")) == "2026-11-30 12:00:00"
    with pytest.raises(QueryError, match="neither the number of a change nor a time"):
        read_as_of_text("yesterday")


# Checking


def found(tmp_path: Path, ontology: Ontology, **views: str) -> list[str]:
    _, findings = check_views(write(tmp_path / "views", **views), ontology)
    return [str(f).removeprefix(f"{tmp_path}/views/") for f in findings]


def test_views_that_hold(example: tuple[Store, ColumnarProjection], tmp_path: Path) -> None:
    walk = "SELECT * FROM neighbours('Qwen2', depth => 2)"
    back = "SELECT count(*) AS n FROM Model AS OF 3"
    assert found(tmp_path, example[0].ontology, strong=STRONG, trained=TRAINED, walk=walk, back=back) == []
    assert check_views(tmp_path / "views", example[0].ontology)[0] == 4


@pytest.mark.parametrize(
    ("name", "text", "finding"),
    [
        ("a", "SELECT nam FROM Model", "a.sql:1:8: error[unknown-column] there is no column 'nam'; did you mean"),
        ("a", "-- param x: strin = 1\nSELECT $x", "a.sql:1:13: error[view-parameter] there is no type 'strin'"),
        ("a", "-- param x: Model.nam\nSELECT $x", "a.sql:1:13: error[view-parameter] there is no type 'Model.nam'"),
        ("a", "-- param x: integer = 1.5\nSELECT $x", "a.sql:1:23: error[view-parameter] the default does not fit: "),
        ("a", "-- param x: date = '2024-13-01'\nSELECT $x", "a.sql:1:20: error[view-parameter] the default does not"),
        ("a", "-- param x: integer = NULL\nSELECT $x", "the default does not fit: 'x' cannot be NULL"),
        ("a", "-- param x: string = unquoted\nSELECT $x", "'unquoted' is no value"),
        ("a", "-- param x, string\nSELECT 1", "a.sql:1:1: error[view-header] this is no parameter; write -- param"),
        ("a", "-- param x: string\n-- more\nSELECT $x", "a.sql:2:1: error[view-header] behind a view's first"),
        ("a", "-- param x: string\n-- param x: string\nSELECT $x", "a.sql:2:1: error[view-parameter] there are two"),
        ("a", "-- param x: string\nSELECT 1", "a.sql:1:1: error[view-parameter] the parameter 'x' is not used"),
        ("a", "SELECT name FROM Model\nWHERE name = $x", "a.sql:2:14: error[view-parameter] the parameter 'x' is not"),
        ("a", "SELECT name FROM Model WHERE name = ?", "a.sql:1:37: error[view-parameter] parameters of views"),
        ("a", "-- About it.\nDELETE FROM Model", "error[forbidden] DELETE is not allowed; only SELECT is"),
        ("a", "SELECT * FROM read_csv('x')", "a.sql:1:15: error[forbidden] the table function read_csv is not allowed"),
        ("a", "SELECT 'x", "error[syntax] a quotation mark or comment is not closed"),
        ("a", "SELECT * FROM a", "a.sql:1:15: error[view-cycle] the view a reads itself: a → a"),
        ("a", "", "error[syntax] there is no statement"),
        ("model", "SELECT 1", "model.sql:1:1: error[view-clash] there is a type Model; rename the view"),
        ("DEVELOPED_BY", "SELECT 1", "error[view-clash] there is a relation developed_by"),
        ("neighbours", "SELECT 1", "error[view-clash] 'neighbours' is a table of SELECT's own"),
        ("coverage", "SELECT 1", "error[view-clash] 'coverage' is a table of SELECT's own"),
        ("my-view", "SELECT 1", "my-view.sql:1:1: error[view-name] 'my-view' cannot name a view; use"),
    ],
)  # fmt: skip
def test_findings_have_file_line_and_column(
    example: tuple[Store, ColumnarProjection], tmp_path: Path, name: str, text: str, finding: str
) -> None:
    (only,) = found(tmp_path, example[0].ontology, **{name: text})
    assert finding in only


def test_two_views_of_one_name(example: tuple[Store, ColumnarProjection], tmp_path: Path) -> None:
    findings = found(tmp_path, example[0].ontology, strong="SELECT 1", STRONG="SELECT 2")
    assert len(findings) == 1
    assert "has the same name; rename one of them" in findings[0]


def test_a_view_that_is_no_text(example: tuple[Store, ColumnarProjection], tmp_path: Path) -> None:
    (write(tmp_path / "views") / "a.sql").write_bytes(b"SELECT '\xff'")
    _, findings = check_views(tmp_path / "views", example[0].ontology)
    assert [f.code for f in findings] == ["unreadable"]
    assert isinstance(read_views(tmp_path / "views", example[0].ontology)[0]["a"], View)


# Parameters of statements


@pytest.mark.parametrize(
    "value",
    ["x'; DROP TABLE Model; --", "?", "$a", "NULL", "\x00", "'", "", "ü\u202e", 0, -1, 1.5, 1e-7, True, None, date.max],
)
def test_a_value_comes_back_as_it_was_given(run: Run, value: Value) -> None:
    assert run("SELECT ? AS v, [?] AS l", (value, value)) == [{"v": value, "l": [value]}]


def test_lists_and_order(run: Run) -> None:
    names = [row["name"] for row in run("SELECT name FROM Model ORDER BY name LIMIT ?", (3,))]
    assert len(names) == 3
    sql = "SELECT name FROM Model WHERE name IN ? ORDER BY name"
    assert [row["name"] for row in run(sql, (tuple(map(str, names)),))] == names
    assert run(sql, ((),)) == []
    assert len(run("SELECT name FROM Model WHERE name NOT IN ?", ((),))) > 3
    assert run("SELECT $2 AS a, $1 AS b, $2 AS c", (1, 2)) == [{"a": 2, "b": 1, "c": 2}]


def test_a_parameter_is_checked_as_a_literal_is(run: Run) -> None:
    with pytest.raises(QueryError, match=r"^1:48: 'dpo' is not a training_method; did you mean 'DPO'\?$"):
        run("SELECT name FROM Model WHERE training_method = ?", ("dpo",))


@pytest.mark.parametrize(
    ("sql", "parameters", "message"),
    [
        ("SELECT ?", (), "the statement has 1 parameters, and 0 values are given"),
        ("SELECT 1", (1,), "the statement has 0 parameters, and 1 values are given"),
        ("SELECT ?", {"a": 1}, "1:8: no value is given for ?; name it: $name"),
        ("SELECT $nam", {"name": 1}, "1:8: no value is given for the parameter 'nam' (did you mean 'name'?)"),
        ("SELECT $a", {"a": 1, "b": 2}, "the statement has no parameter 'b' (known: a)"),
        ("SELECT $a", (1,), "no value is given for the parameter 'a'"),
        ("SELECT ?", (object(),), "1:8: a value of type object cannot be a parameter"),
        ("SELECT ?", (float("nan"),), "cannot be a parameter"),
        ("SELECT ?", (b"x",), "a value of type bytes cannot be a parameter"),
    ],
)
def test_parameters_that_do_not_fit(sql: str, parameters: tuple[Value, ...], message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(sql, parameters=parameters)
    assert message in str(caught.value)
    assert caught.value.code == "parameters"


def test_slices_are_no_parameters() -> None:
    tokens = tokenize("SELECT l[1:n], l[:n], x::INT FROM t WHERE a = :n", read=DIALECT)
    assert [t.text for t in bind(tokens, {"n": 7})][-1] == "7"
    assert [t.text for t in bind(tokens, {"n": 7})].count("n") == 2
