from __future__ import annotations

import fnmatch
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from page_extractions import read_example
from reference_store import ReferenceStore
from select_parts import Said, document, say, thing, things
from sqlglot import tokenize
from test_select_guard import HARMLESS, statements

from graph.functions import FUNCTIONS
from graph.open import open_store
from graph.projection import ColumnarProjection
from graph.select import Selection, select
from graph.store import Store
from ontoloom.errors import QueryError
from ontoloom.records import Entity

Select = Callable[..., Selection]


@pytest.fixture(scope="module", params=["reference", "ladybug"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Select]:
    """SELECT over the example's wiki."""
    ontology, extractions = read_example(ROOT / "examples" / "ai-infra")
    folder = tmp_path_factory.mktemp("select")
    reference = request.param == "reference"
    store: Store = ReferenceStore(ontology) if reference else open_store(folder / "store", ontology)
    with store:
        store.write(extractions)
        projection = ColumnarProjection(store, folder / "tables")
        yield lambda sql, **options: select(store, projection, sql, **options)


def tuples(selection: Selection) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in selection.rows.columns), strict=True))


def error(run: Select, sql: str) -> str:
    with pytest.raises(QueryError) as caught:
        run(sql)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_models_trained_with_dpo_are_those_that_a_person_finds(run: Select) -> None:
    pages = sorted((ROOT / "examples" / "ai-infra" / "wiki").glob("*.md"))
    texts = [page.read_text("utf-8").split("\n---\n")[0] for page in pages]
    by_hand = {
        re.search(r"^name: (.*)$", text, re.M)[1]  # type: ignore[index]  # every page has a name
        for text in texts
        if "\ntype: Model\n" in text and re.search(r"^training_method:.*\bDPO\b", text, re.M)
    }
    selection = run("SELECT * FROM Model WHERE training_method = 'DPO'")
    assert {row[0] for row in tuples(selection)} == by_hand
    assert len(by_hand) >= 3
    assert [c.name for c in selection.columns][:3] == ["name", "context_length", "parameters"]
    assert not any(c.name.startswith("_") for c in selection.columns)
    assert {c.name: c.type for c in selection.columns}["training_method"] == "list of enum"


def test_provenance_cites_the_words_that_state_the_value(run: Select) -> None:
    sql = "SELECT context_length, provenance(context_length), name, provenance(name) FROM Model m"
    shown = [row for row in tuples(run(sql)) if row[0] is not None]
    assert shown
    for value, citations, name, name_citations in shown:
        assert re.search(rf"context_length: {value}\b", cited(citations[0]))
        assert name in cited(name_citations[0])


def cited(citation: str) -> str:
    document_id, _, span = citation.rpartition(":")
    start, end = map(int, span.split("-"))
    return (ROOT / "examples" / "ai-infra" / document_id).read_text("utf-8")[start:end]


@pytest.mark.parametrize("sql", statements(HARMLESS))
def test_harmless_statements_run(run: Select, sql: str) -> None:
    unfit = "cast" in sql.lower() and "name AS VARCHAR[]" in sql
    if unfit:
        assert error(run, sql).startswith("the statement cannot be run: ")
    else:
        assert run(sql).columns


def examples() -> list[tuple[str, str]]:
    text = (ROOT / "docs" / "select.md").read_text("utf-8")
    return re.findall(r"```sql\n(.*?)\n```(?:\n```text\n(.*?)\n```)?", text, re.S)


@pytest.mark.parametrize(("sql", "expected"), examples())
def test_the_examples_of_the_manual_give_what_they_say(run: Select, sql: str, expected: str) -> None:
    if re.match(r"\d+:\d+: ", expected):
        assert error(run, sql) == expected
        return
    selection = run(sql)
    assert selection.rows.num_rows > 0
    if expected:
        lines = [[c.name for c in selection.columns], *([str(v) for v in row] for row in tuples(selection))]
        assert "\n".join(" | ".join(line) for line in lines) == expected


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT nme FROM Modle", "1:17: there is no table 'Modle'; did you mean 'Model'?"),
        ("SELECT '🙂北', m.nme\nFROM Model m", "1:14: there is no column 'nme' in m; did you mean 'name'?"),
        (
            "SELECT name\r\nFROM Model\r\n\tWHERE '🙂' <> name AND training_method = 'DPo'",
            "3:42: 'DPo' is not a training_method; did you mean 'DPO'?",
        ),
        ("SELECT x.name FROM Model m", "1:8: there is no table 'x' here; known: m"),
        ("SELECT name FROM Model, Paper", "1:8: 'name' is ambiguous; write Model.name or Paper.name"),
        ("SELECT _id FROM Model a, Model b", "1:8: '_id' is ambiguous; write a._id or b._id"),
        (
            "SELECT name FROM Model JOIN Model USING (name)",
            "1:29: 'Model' is there twice; give one of them another",
        ),
        ("SELECT name FROM pg_catalog.pg_tables", "1:18: there is no table 'pg_catalog.pg_tables'"),
        ("SELECT name FROM 'models.parquet'", "1:18: there is no table 'models.parquet'"),
        ("SELECT * FROM information_schema.table", "1:15: there is no table 'information_schema.table'; did you mean"),
        ('SELECT name FROM Model WHERE name = "BERT"', "1:37: there is no column '\"BERT\"'; a text is written 'BERT'"),
        (
            "SELECT m.hardware_requirement FROM Model m",
            "1:8: 'm.hardware_requirement' is a record; name one of its fields: "
            "hardware_requirement.gpu_memory, hardware_requirement.cpu_cores",
        ),
        (
            "SELECT hardware_requirement.gpu FROM Model",
            "1:8: there is no column 'hardware_requirement.gpu'; did you mean 'hardware_requirement.gpu_memory'?",
        ),
        ("SELECT name FROM Model WHERE license_type IN ('MIT', 'apache-2')", "1:54: 'apache-2' is not a license_type;"),
        (
            "SELECT name FROM Model WHERE license_type <> 'mit'",
            "1:46: 'mit' is not a license_type; did you mean 'MIT'?",
        ),
        ("SELECT CASE license_type WHEN 'mit' THEN 1 END FROM Model", "1:31: 'mit' is not a license_type;"),
        ("SELECT name FROM Model WHERE list_contains(training_method, 'Dpo')", "1:61: 'Dpo' is not a training_method;"),
        ("SELECT name FROM Model WHERE 'dpo' = ANY(training_method)", "1:30: 'dpo' is not a training_method;"),
        (
            "SELECT * FROM (SELECT UNNEST(training_method) AS m FROM Model) WHERE m = 'dpo'",
            "1:74: 'dpo' is not a training_method;",
        ),
        (
            "WITH t AS (SELECT * FROM Model) SELECT name FROM t WHERE training_method NOT IN ('x', 'DPO')",
            "1:82: 'x' is not a training_method;",
        ),
        (
            "SELECT name FROM Model WHERE context_length > '128'",
            "1:47: context_length is a number and cannot be compared with '128'; write it without quotes",
        ),
        ("SELECT name FROM Model WHERE name > 5", "1:37: name is text and cannot be compared with 5; write '5'"),
        (
            "SELECT name FROM Model WHERE released > '2024-13-45'",
            "1:41: '2024-13-45' is not a date; write a date such as '2024-05-01'",
        ),
        ("SELECT name FROM Model WHERE released BETWEEN '2024' AND '2025'", "1:47: '2024' is not a date;"),
        ("SELECT name FROM Model WHERE released = DATE '2024-02-30'", "1:46: '2024-02-30' is not a date;"),
        ("SELECT name FROM Model WHERE released > 2024", "1:41: released is a date and cannot be compared with 2024;"),
        (
            "SELECT a.name FROM Model a JOIN Paper b ON a.name = b.year",
            "1:53: these cannot be compared: a.name is text, b.year is a number",
        ),
        ("SELECT sum(name) FROM Model", "1:12: sum takes a number; name is text"),
        ("SELECT name + 1 FROM Model", "1:8: name is text and cannot be reckoned with"),
        ("SELECT name FROM Model WHERE parameters LIKE '7%'", "1:30: LIKE compares texts; parameters is a number"),
        ("SELECT name FROM Model WHERE parameters", "1:30: 'parameters' is a number, not a condition"),
        ("SELECT name, year FROM Paper UNION SELECT name FROM Model", "1:43: the two sides have 2 and 1 columns"),
        ("SELECT name FROM Model ORDER BY 2", "1:33: there is no column number 2; there are 1"),
        ("SELECT name FROM Model WHERE name = (SELECT name, year FROM Paper)", "1:45: a subquery used as a value has"),
        ("SELECT m.name, o.name FROM Model m, Organization o ORDER BY name", "1:61: 'name' names 2 columns;"),
        ("SELECT provenance(1) FROM Model", "1:8: provenance takes one column of a table"),
        ("SELECT provenance(n) FROM (SELECT name AS n FROM Model)", "1:19: where 'n' comes from is not known here"),
        ("SELECT name AS n FROM Model WHERE provenance(n) IS NULL", "1:46: where 'n' comes from is not known here"),
        ("SELECT t.* FROM Model m", "1:8: there is no table 't' here; known: m"),
        ("SELECT *", "1:8: * needs a table in FROM"),
        ("SELECT name FROM Model WHERE count(*) > 1", "the statement cannot be run: WHERE clause cannot contain"),
        ("SELECT CAST(name AS INTEGER) FROM Model", "the statement cannot be run: Could not convert string"),
        ("SELECT name FROM Model WHERE regexp_matches(name, '(')", "the statement cannot be run: missing )"),
        ("SELECT strftime(name, 1, 2) FROM Model", "1:8: the statement cannot be run: No function matches the given"),
        ("SELECT * FROM Paper NATURAL JOIN published_in", "1:34: NATURAL JOIN finds no column of the same name"),
        ("SELECT 1 FROM Model AS m(a)", "1:26: rename the columns of a table in the SELECT list"),
        ("SELECT (SELECT 1)" + " + (SELECT 1)" * 400, "the statement is nested too deeply"),
    ],
)
def test_errors_say_where_and_what_would_be_right(run: Select, sql: str, said: str) -> None:
    assert error(run, sql).startswith(said)


@pytest.mark.parametrize(
    ("sql", "column"),
    [
        ("SELECT name FROM Model ORDER BY training_method", 33),
        ("SELECT name, training_method FROM Model ORDER BY 2", 50),
        ("SELECT training_method FROM Model ORDER BY ALL", 8),
        ("SELECT training_method, count(*) FROM Model GROUP BY training_method", 54),
        ("SELECT training_method, count(*) FROM Model GROUP BY 1", 54),
        ("SELECT training_method, count(*) FROM Model GROUP BY ALL", 8),
        ("SELECT upper(training_method) FROM Model", 14),
        ("SELECT max(m.training_method) FROM Model m", 12),
        ("SELECT count(training_method) FROM Model", 14),
        ("SELECT training_method || 'x' FROM Model", 8),
        ("SELECT name FROM Model WHERE training_method", 30),
        ("SELECT name FROM Model WHERE training_method > 'DPO'", 30),
        ("SELECT name FROM Model WHERE training_method BETWEEN 'DPO' AND 'SFT'", 30),
        ("SELECT name FROM Model WHERE training_method IS DISTINCT FROM 'DPO'", 30),
        ("SELECT name FROM Model WHERE name IN (SELECT training_method FROM Model)", 46),
        ("SELECT name FROM Model WHERE training_method = ALL (SELECT 'DPO')", 30),
        ("SELECT name FROM Model WHERE NOT training_method", 34),
        ("SELECT CASE training_method WHEN 'DPO' THEN 1 END FROM Model", 13),
        ("SELECT a.name FROM Model a JOIN Model b USING (training_method)", 48),
        ("SELECT rank() OVER (ORDER BY training_method) FROM Model", 30),
        ("SELECT DISTINCT ON (training_method) name FROM Model", 21),
        ("SELECT * FROM (SELECT training_method AS t FROM Model) ORDER BY t", 65),
    ],
)
def test_many_values_are_never_taken_for_one(run: Select, sql: str, column: int) -> None:
    with pytest.raises(QueryError) as caught:
        run(sql)
    assert (caught.value.code, caught.value.column) == ("many-values", column)
    assert "UNNEST(" in caught.value.hint


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT count(*) FROM Model WHERE TRAINING_METHOD = 'DPO' AND mOdEl.NAME LIKE 'Zephyr%'", [(1,)]),
        ("SELECT name AS n FROM Model WHERE n = 'BERT'", [("BERT",)]),
        ("SELECT m.name FROM Model m WHERE m.name = 'BERT' ORDER BY name", [("BERT",)]),
        ("SELECT name FROM Model WHERE name IN ('BERT', NULL)", [("BERT",)]),
        ("SELECT name FROM Model WHERE name NOT IN ('x', NULL)", []),
        ("SELECT name FROM Model WHERE name = 'BERT' AND training_method IN (SELECT 'pre-training')", [("BERT",)]),
        ("SELECT name FROM Model WHERE name = 'BERT' AND training_method NOT IN (SELECT 'DPO')", [("BERT",)]),
        ("SELECT name FROM Model WHERE name = 'BERT' AND training_method NOT IN (SELECT NULL)", []),
        ("SELECT name FROM Model WHERE name = 'BERT' AND training_method IN (SELECT 'DPO' WHERE FALSE)", []),
        ("SELECT name FROM Model WHERE name = 'BERT' AND training_method = NULL", []),
        ("SELECT name FROM Model WHERE name = 'BERT' AND 'pre-training' = ANY(training_method)", [("BERT",)]),
        ("SELECT a.name FROM Model a JOIN Model b ON a.name = b.name WHERE a.name = 'BERT'", [("BERT",)]),
        ("SELECT name, name FROM Model WHERE name = 'BERT'", [("BERT", "BERT")]),
        ("SELECT q.a FROM (SELECT name FROM Model) q(a) WHERE a = 'BERT'", [("BERT",)]),
        ("SELECT count(*) FROM Model m WHERE EXISTS (SELECT 1 FROM Paper AS Model WHERE m.name = 'BERT')", [(1,)]),
        ("SELECT m.name FROM (Model m JOIN Model n ON m.name = n.name) WHERE n.name = 'BERT'", [("BERT",)]),
        ("WITH model AS (SELECT 'mine' AS name) SELECT name FROM Model", [("mine",)]),
        ("SELECT sum(x) AS s, 1.5 AS half, 7 // 2 AS whole FROM (VALUES (1), (2)) v(x)", [(3, 1.5, 3)]),
        ("SELECT v, place FROM UNNEST(['a', 'b']) WITH ORDINALITY AS t(v, place)", [("a", 1), ("b", 2)]),
        ("SELECT name FROM Model WHERE name = 'BERT' UNION SELECT name FROM Model WHERE name = 'BERT'", [("BERT",)]),
        ("SELECT 1 WHERE " + " OR ".join(["1 = 2"] * 900) + " OR 1 = 1", [(1,)]),
    ],
)
def test_statements_give_what_sql_says(run: Select, sql: str, expected: list[tuple[Any, ...]]) -> None:
    assert tuples(run(sql)) == expected


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT * FROM Paper", ["name", "year", "url"]),
        ("SELECT p.*, p._page FROM Paper p", ["name", "year", "url", "_page"]),
        ("SELECT * EXCLUDE (url) FROM Paper", ["name", "year"]),
        ("SELECT * FROM (SELECT name, _id FROM Paper)", ["name", "_id"]),
        ("WITH p AS (SELECT * FROM Paper) SELECT * FROM p", ["name", "year", "url"]),
        ("SELECT * FROM Paper a JOIN Paper b USING (name)", ["name", "year", "url", "year_1", "url_1"]),
        ("SELECT * FROM Paper NATURAL JOIN Method", ["name", "year", "url"]),
        ("SELECT * FROM Paper SEMI JOIN published_in ON subject = name", ["name", "year", "url"]),
        ("SELECT * FROM based_on UNION ALL SELECT * FROM uses", ["subject", "object"]),
        ("SELECT name, upper(name), count(*) OVER () FROM Paper", ["name", "upper(name)", "count(*) OVER ()"]),
        ("SELECT hardware_requirement.gpu_memory FROM Model", ["hardware_requirement.gpu_memory"]),
        ("SELECT training_method = 'DPO' FROM Model", ["training_method = 'DPO'"]),
    ],
)
def test_columns_have_the_names_that_the_statement_gives(run: Select, sql: str, names: list[str]) -> None:
    selection = run(sql)
    assert [c.name for c in selection.columns] == names == selection.rows.column_names


def test_types_are_those_of_the_ontology(run: Select) -> None:
    sql = """SELECT name, url, year, year / 2, released, training_method, training_method[1], license_type, count(*),
        provenance(name) IS NULL, hardware_requirement.gpu_memory, 'a' AS a
        FROM Model JOIN Paper USING (name) GROUP BY ALL"""
    with pytest.raises(QueryError):
        run(sql)
    found = run(sql.replace(" training_method,", "").replace("count(*),", "1,").replace(" GROUP BY ALL", ""))
    assert [c.type for c in found.columns] == [
        "string", "url", "integer", "number", "date", "enum", "enum", "integer", "boolean", "number", "string",
    ]  # fmt: skip


def test_rows_beyond_the_limit_are_cut_off_and_said(run: Select) -> None:
    ten = run("SELECT i FROM range(100) AS r(i) ORDER BY i DESC", max_rows=10)
    assert ([r[0] for r in tuples(ten)], ten.truncated) == (list(range(99, 89, -1)), True)
    assert not run("SELECT i FROM range(10) AS r(i)", max_rows=10).truncated
    few = run("SELECT i FROM range(100) AS r(i) LIMIT 3", max_rows=10)
    assert (few.rows.num_rows, few.truncated) == (3, False)
    assert run("SELECT i FROM range(100) AS r(i) LIMIT 50", max_rows=10).truncated
    assert run("SELECT i FROM range(100) AS r(i) LIMIT 50 PERCENT", max_rows=10).truncated
    assert run("(SELECT i FROM range(100) AS r(i))", max_rows=10).truncated
    assert run("SELECT i FROM range(1000000000000) AS r(i)", max_rows=10).truncated


def test_a_statement_that_takes_too_long_is_stopped(run: Select) -> None:
    with pytest.raises(QueryError) as caught:
        run("SELECT count(*) FROM range(1000000000000) AS r(i) WHERE i % 7 = 3", timeout=0.2)
    assert str(caught.value).startswith("the statement took longer than 0.2 seconds")
    with pytest.raises(QueryError) as caught:
        run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n", timeout=0.2)
    assert caught.value.code == "timeout"
    assert tuples(run("SELECT 1")) == [(1,)]


def test_a_statement_that_needs_too_much_memory_is_stopped(tmp_path: Path) -> None:
    store = ReferenceStore(things())
    projection = ColumnarProjection(store, tmp_path)
    with pytest.raises(QueryError) as caught:
        select(store, projection, "SELECT len(array_agg(i ORDER BY i % 7)) FROM range(200000000) AS r(i)")
    assert caught.value.code == "memory"


def test_mutilated_statements_give_rows_or_an_error_and_nothing_of_the_inside(run: Select) -> None:
    chance = random.Random(7)
    words = [[sql[t.start : t.end + 1] for t in tokenize(sql, read="duckdb")] for sql in statements(HARMLESS)]
    pool = [word for sentence in words for word in sentence]
    pool += [
        "training_method",
        "hardware_requirement",
        "provenance(name)",
        "_id",
        "'DPO'",
        "m.*",
        "(SELECT name FROM Model)",
    ]
    outcomes = Counter[str]()
    for _ in range(400):
        sentence = list(chance.choice(words))
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(len(sentence))
            sentence[place : place + chance.randint(0, 1)] = chance.sample(pool, chance.randint(0, 1))
            sentence = sentence or ["SELECT"]
        outcome, said = attempt(run, " ".join(sentence))
        outcomes[outcome] += 1
        assert not INSIDE.search(said), (said, sentence)
    assert len(outcomes) > 5


INSIDE = re.compile(r"\n|_citations|_triples|read_parquet|list_bool_or|list_transform|_value")


def attempt(run: Select, sql: str) -> tuple[str, str]:
    """``rows`` and the names of the columns, or the code and text of the error."""
    try:
        return "rows", " ".join(c.name for c in run(sql, timeout=5, max_rows=100).columns)
    except QueryError as caught:
        return caught.code, str(caught)


def test_every_statement_sees_the_last_commit(tmp_path: Path) -> None:
    store = ReferenceStore(things())
    projection = ColumnarProjection(store, tmp_path)
    assert tuples(select(store, projection, "SELECT * FROM Maker")) == []
    store.write([document("a.md", [say(thing("Acme", "Maker"), "size", "big")], ontology=store.ontology)])
    assert tuples(select(store, projection, "SELECT * FROM Maker")) == [("Acme", "big")]
    store.delete(["a.md"])
    assert tuples(select(store, projection, "SELECT * FROM Maker")) == []


def test_tables_whose_content_is_damaged_are_made_anew(tmp_path: Path) -> None:
    store = ReferenceStore(things())
    store.write([document("a.md", [say(thing("Acme", "Maker"), "size", "big")], ontology=store.ontology)])
    projection = ColumnarProjection(store, tmp_path)
    projection.refresh()
    for path in tmp_path.glob("*-*.parquet"):
        path.write_bytes(b"\0" * path.stat().st_size)
    assert tuples(select(store, projection, "SELECT * FROM Maker")) == [("Acme", "big")]


def test_values_of_every_type_are_compared_by_value(tmp_path: Path) -> None:
    store, box = ReferenceStore(things()), thing("box")
    said = [say(box, "sizes", 3), say(box, "sizes", 12), say(box, "days", date(2024, 5, 1)), say(box, "words", "50%")]
    said += [say(box, "weight", 0.1), say(box, "broken", True), say(box, "box.labels", "it's")]
    store.write([document("a.md", said, ontology=store.ontology)])
    projection = ColumnarProjection(store, tmp_path)
    for predicate, holds in {
        "sizes = 3": True,
        "sizes = 3.0": True,
        "sizes = 2.5": False,
        "sizes IN (2.5, 12)": True,
        "sizes = -3": False,
        "days = '2024-05-01'": True,
        "days = DATE '2024-05-01'": True,
        "days IN ('2024-05-01', '2023-01-01')": True,
        "days <> '2024-05-02'": True,
        "days IN (SELECT DATE '2024-05-01')": True,
        "words LIKE '%!%' ESCAPE '!'": True,
        "words NOT LIKE '%!%' ESCAPE '!'": False,
        "words LIKE 'a!%' ESCAPE '!'": False,
        "words SIMILAR TO '[0-9]+.'": True,
        "words = '50' || '%'": True,
        "words = name": False,
        "name = words": False,
        "name <> words": True,
        "words LIKE (name || '%')": False,
        "box.labels = 'it''s'": True,
        "box.labels = words": False,
        "weight = 0.1": True,
        "broken": True,
        "broken = TRUE AND NOT broken = FALSE": True,
    }.items():
        found = select(store, projection, f"SELECT count(*) FROM Thing WHERE {predicate}")
        assert tuples(found) == [(int(holds),)], predicate
    for predicate in ("days = '1 May 2024'", "sizes = 'x'", "broken = 'yes'", "broken = 1", "days > '2024-01-01'"):
        with pytest.raises(QueryError):
            select(store, projection, f"SELECT name FROM Thing WHERE {predicate}")


def test_all_functions_that_may_be_called_are_there() -> None:
    listed = duckdb.execute("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
    known = {row[0] for row in listed}
    special = {"provenance", "coalesce", "ifnull", "nullif", "unnest", "grouping"}
    window = {"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"}
    window |= {"first_value", "last_value", "nth_value"}
    assert set(FUNCTIONS) - known - special - window == set()


# Many values, against Python

TAGS = ["a", "b", "c", "ab", "B2"]
Rows = list[tuple[list[str], list[int], str | None]]
ROWS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(TAGS), max_size=3, unique=True),
        st.lists(st.integers(0, 3), max_size=2, unique=True),
        st.sampled_from([None, "red", "green"]),
    ),
    min_size=1,
    max_size=6,
)
Truth = bool | None
Test = Callable[[list[str], list[int], str | None], Truth]


def anyone(values: list[Any], test: Callable[[Any], Truth]) -> Truth:
    """Three-valued *any*; nothing is known of an empty list."""
    found = [test(v) for v in values]
    if not found:
        return None
    return True if True in found else (None if None in found else False)


def negated(value: Truth) -> Truth:
    return None if value is None else not value


def in_values(value: Any, options: list[Any]) -> Truth:
    return True if value in options else (None if None in options else False)


def literal(value: object) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


def on_column(column: str, place: int, options: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, Test]]:
    """Predicates on a column of many values with what they mean."""
    some = st.lists(st.one_of(options, st.none()), min_size=1, max_size=3)

    def equals(value: Any, sign: str) -> tuple[str, Test]:
        def test(*row: Any) -> Truth:
            found = anyone(row[place], lambda v: v == value)
            return found if sign == "=" else negated(found)

        return f"{column} {sign} {literal(value)}", test

    def among(values: list[Any], word: str, query: bool) -> tuple[str, Test]:
        listed = ", ".join(literal(v) for v in values)
        rows = f"SELECT x FROM (VALUES {', '.join(f'({literal(v)})' for v in values)}) v(x)"

        def test(*row: Any) -> Truth:
            found = anyone(row[place], lambda v: in_values(v, values))
            return found if word == "IN" else negated(found)

        return f"{column} {word} ({rows if query and any(v is not None for v in values) else listed})", test

    return st.one_of(
        st.builds(equals, options, st.sampled_from(["=", "<>"])),
        st.builds(among, some, st.sampled_from(["IN", "NOT IN"]), st.booleans()),
    )


def like(pattern: str, word: str) -> tuple[str, Test]:
    def test(*row: Any) -> Truth:
        glob = pattern.replace("%", "*").replace("_", "?")
        fold = str.casefold if "ILIKE" in word else str
        found = anyone(row[0], lambda v: fnmatch.fnmatchcase(fold(v), fold(glob)))
        return negated(found) if "NOT" in word else found

    return f"tags {word} '{pattern}'", test


def colour(value: str) -> tuple[str, Test]:
    return f"colour = '{value}'", lambda *row: None if row[2] is None else row[2] == value


WORDS = st.sampled_from(["LIKE", "ILIKE", "NOT LIKE", "NOT ILIKE"])
LEAVES = st.one_of(
    on_column("tags", 0, st.sampled_from(TAGS)),
    on_column("sizes", 1, st.integers(0, 4)),
    st.builds(like, st.sampled_from(["a%", "_", "%B%", "b", "%2"]), WORDS),
    st.builds(colour, st.sampled_from(["red", "blue"])),
)


def both(left: tuple[str, Test], right: tuple[str, Test], word: str) -> tuple[str, Test]:
    def test(*row: Any) -> Truth:
        values = (left[1](*row), right[1](*row))
        decisive = word == "OR"
        return decisive if decisive in values else None if None in values else not decisive

    return f"({left[0]} {word} {right[0]})", test


def neither(inner: tuple[str, Test]) -> tuple[str, Test]:
    return f"NOT ({inner[0]})", lambda *row: negated(inner[1](*row))


PREDICATES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.builds(both, inner, inner, st.sampled_from(["AND", "OR"])), st.builds(neither, inner)),
    max_leaves=4,
)


@given(ROWS, st.lists(PREDICATES, min_size=1, max_size=8))
@settings(max_examples=40, deadline=None)
def test_predicates_on_many_values_mean_what_they_mean_in_python(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, predicates: list[tuple[str, Test]]
) -> None:
    ontology = things()
    store = ReferenceStore(ontology)
    entities: list[Entity] = [thing(f"thing {i}") for i in range(len(rows))]
    said: list[Said] = []
    for entity, (tags, sizes, shade) in zip(entities, rows, strict=True):
        said += [say(entity, "tags", tag) for tag in tags] + [say(entity, "sizes", size) for size in sizes]
        said += [say(entity, "colour", shade)] if shade else []
    store.write([document("a.md", said, ontology=ontology, named=entities)])
    projection = ColumnarProjection(store, tmp_path_factory.mktemp("tables"))
    for sql, test in predicates:
        expected = [entity.name for entity, row in zip(entities, rows, strict=True) if test(*row) is True]
        found = select(store, projection, f"SELECT name FROM Thing WHERE {sql} ORDER BY name")
        assert [row[0] for row in tuples(found)] == expected, sql
        truths = select(store, projection, f"SELECT {sql} AS holds FROM Thing ORDER BY name")
        assert [row[0] for row in tuples(truths)] == [test(*row) for row in rows], sql
