"""What SELECT refuses before anything runs, and what it lets through."""

from __future__ import annotations

import duckdb
import pytest

from graph.guard import parse
from graph.sandbox import open_sandbox, run
from ontoloom.errors import QueryError

HOSTILE = r"""
INSERT INTO Model VALUES ('x')
UPDATE Model SET name = 'x'
DELETE FROM Model
DROP TABLE Model
TRUNCATE Model
ALTER TABLE Model ADD COLUMN x INT
CREATE TABLE t AS SELECT * FROM Model
CREATE MACRO f(a) AS a
CREATE SECRET s (TYPE s3)
MERGE INTO Model USING Paper ON TRUE WHEN MATCHED THEN DELETE
SELECT * INTO copied FROM Model
WITH t AS (INSERT INTO Model VALUES ('x') RETURNING *) SELECT * FROM t
WITH t AS (DELETE FROM Model RETURNING *) SELECT * FROM t
WITH t AS (UPDATE Model SET name = 'x' RETURNING *) SELECT * FROM t
COPY Model TO 'x.csv'
COPY Model FROM 'x.csv'
COPY (SELECT * FROM Model) TO '/tmp/x.parquet' (FORMAT parquet)
EXPORT DATABASE 'folder'
IMPORT DATABASE 'folder'
ATTACH 'other.db'
DETACH other
USE other
PRAGMA database_list
PRAGMA version
SET memory_limit = '100GB'
SET enable_external_access = true
RESET memory_limit
CALL pragma_version()
LOAD httpfs
INSTALL httpfs
CHECKPOINT
VACUUM
ANALYZE
BEGIN TRANSACTION
EXPLAIN SELECT 1
EXPLAIN ANALYZE SELECT * FROM Model
DESCRIBE Model
SUMMARIZE Model
SHOW TABLES
VALUES (1)
PREPARE p AS SELECT 1
EXECUTE p
SELECT 1; SELECT 2
SELECT 1; DROP TABLE Model
SELECT * FROM query('SELECT 1')
SELECT * FROM query_table('Model')
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_csv_auto('/etc/passwd')
SELECT * FROM read_parquet('x.parquet')
SELECT * FROM parquet_scan('x.parquet')
SELECT * FROM parquet_metadata('x.parquet')
SELECT * FROM read_json('x.json')
SELECT * FROM read_json_auto('x.json')
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_blob('/etc/passwd')
SELECT * FROM read_ndjson_objects('x')
SELECT * FROM glob('/etc/*')
SELECT * FROM sniff_csv('/etc/passwd')
SELECT * FROM arrow_scan(1, 2, 3)
SELECT * FROM pandas_scan(1)
SELECT * FROM sqlite_scan('a.db', 't')
SELECT * FROM postgres_scan('', '', '')
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_secrets()
SELECT * FROM pragma_table_info('Model')
SELECT * FROM repeat_row(1, num_rows = 1000000)
SELECT * FROM test_all_types()
SELECT * FROM json_execute_serialized_sql('x')
SELECT * FROM checkpoint()
SELECT * FROM (PIVOT Model ON name USING count(*))
SELECT * FROM Model PIVOT (count(*) FOR name IN ('a'))
SELECT * FROM Model UNPIVOT (v FOR k IN (name))
SELECT * FROM Model TABLESAMPLE 10%
SELECT * FROM Model USING SAMPLE 10
SELECT * FROM Model POSITIONAL JOIN Paper
SELECT * FROM Model FOR UPDATE
SELECT getenv('HOME')
SELECT current_setting('memory_limit')
SELECT getvariable('x')
SELECT nextval('s')
SELECT version()
SELECT current_user
SELECT current_database()
SELECT current_schemas(true)
SELECT txid_current()
SELECT pg_sleep(10)
SELECT sleep_ms(10)
SELECT read_text('/etc/passwd')
SELECT write_log('x')
SELECT error('x')
SELECT json_serialize_sql('SELECT 1')
SELECT parse_path('/etc/passwd')
SELECT list_transform([1], x -> x + 1)
SELECT list_transform([1], lambda x: x + 1)
SELECT list_reduce([1], lambda a, b: a + b)
SELECT list_aggregate([1], 'sum')
SELECT apply([1], lambda x: x)
SELECT COLUMNS('.*') FROM Model
SELECT COLUMNS(*) FROM Model
SELECT main.lower('A')
SELECT "getenv"('HOME')
SELECT ('a').getenv()
SELECT name.upper() FROM Model
SELECT $1
SELECT ?
SELECT :name
SELECT {'a': 1}
SELECT MAP {'a': 1}
SELECT CAST('1' AS JSON)
SELECT CAST(1 AS STRUCT(a INT))
SELECT CAST('x' AS BLOB)
SELECT * REPLACE (1 AS name) FROM Model
SELECT * RENAME (name AS n) FROM Model
SELECT #1 FROM Model
SELECT * name FROM Model
SELECT (*) FROM Model
SELECT (m.*) FROM Model m
SELECT [*] FROM Model
SELECT upper(*) FROM Model
SELECT count(DISTINCT *) FROM Model
SELECT unnest(*) FROM Model
SELECT * LIKE 'a%' FROM Model
SELECT name FROM Model WHERE * = 'a'
SELECT name FROM Model ORDER BY *
SELECT * EXCLUDE (DATE name) FROM Model
SELECT (name AS n) FROM Model
SELECT upper(name AS n) FROM Model
SELECT list(name IGNORE NULLS) FROM Model
SELECT first_value(name IGNORE NULLS) FROM Model
SELECT upper(x => name) FROM Model
SELECT greatest(a := 1, b := 2)
SELECT * FROM Model FOR SYSTEM_TIME BETWEEN 1 AND 2
SELECT * FROM Model FOR VERSION ALL
SELECT * FROM Model AT (VERSION => 1)
SELECT random()
SELECT uuid()
SELECT now()
"""

HARMLESS = r"""
SELECT 1
SELECT 1;
  -- a comment
SELECT /* another */ 'it''s', 'a;b', '--'
SELECT * FROM Model
FROM Model
FROM Model SELECT name
SELECT * EXCLUDE (name) FROM Model
SELECT m.* FROM Model AS m
SELECT "name" FROM "Model"
SELECT name AS n FROM Model m WHERE m.name = 'x'
SELECT DISTINCT license_type FROM Model
SELECT DISTINCT ON (license_type) name, license_type FROM Model ORDER BY license_type, parameters DESC
SELECT name FROM Model ORDER BY parameters DESC NULLS LAST, name LIMIT 10 OFFSET 5
SELECT name FROM Model FETCH FIRST 3 ROWS ONLY
SELECT name FROM Model LIMIT 10 PERCENT
SELECT count(*), count(name), count(DISTINCT license_type) FROM Model
SELECT sum(parameters), avg(parameters), min(released), max(released), median(context_length) FROM Model
SELECT license_type, count(*) FROM Model GROUP BY license_type HAVING count(*) > 1
SELECT license_type, count(*) FROM Model GROUP BY ALL ORDER BY ALL
SELECT license_type, year(released), count(*) FROM Model GROUP BY ROLLUP (license_type, year(released))
SELECT license_type, count(*) FROM Model GROUP BY GROUPING SETS ((license_type), ())
SELECT license_type, count(*) FROM Model GROUP BY CUBE (license_type)
SELECT string_agg(name, ', ' ORDER BY name) FROM Model
SELECT array_agg(name ORDER BY name) FROM Model
SELECT list(name) FILTER (WHERE parameters > 1) FROM Model
SELECT quantile_cont(parameters, 0.5) FROM Model
SELECT arg_max(name, parameters) FROM Model
SELECT rank() OVER (PARTITION BY license_type ORDER BY parameters DESC) FROM Model
SELECT lag(name) OVER w FROM Model WINDOW w AS (ORDER BY released)
SELECT sum(parameters) OVER (ORDER BY released ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM Model
SELECT name FROM Model QUALIFY row_number() OVER (PARTITION BY license_type ORDER BY parameters) = 1
SELECT * FROM Model m JOIN superior_to s ON s.subject = m.name
SELECT * FROM Model m LEFT JOIN evaluated_on e ON e.subject = m.name
SELECT * FROM Model m RIGHT JOIN evaluated_on e ON e.subject = m.name
SELECT * FROM Model m FULL OUTER JOIN evaluated_on e ON e.subject = m.name
SELECT * FROM Model CROSS JOIN Paper
SELECT a.name FROM Model a, Paper b WHERE a.name = b.name
SELECT * FROM superior_to JOIN based_on USING (subject)
SELECT * FROM superior_to NATURAL JOIN based_on
SELECT * FROM Model m SEMI JOIN evaluated_on e ON e.subject = m.name
SELECT * FROM Model m ANTI JOIN evaluated_on e ON e.subject = m.name
SELECT name FROM Model WHERE name IN (SELECT subject FROM evaluated_on)
SELECT name FROM Model m WHERE NOT EXISTS (SELECT 1 FROM evaluated_on e WHERE e.subject = m.name)
SELECT name, (SELECT count(*) FROM evaluated_on e WHERE e.subject = m.name) FROM Model m
SELECT name FROM Model WHERE parameters > ALL (SELECT parameters FROM Model WHERE license_type = 'MIT')
WITH big AS (SELECT * FROM Model WHERE parameters > 1e10) SELECT name FROM big
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT * FROM a, b
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT sum(i) FROM n
SELECT name FROM Model UNION SELECT name FROM Paper
SELECT name FROM Model UNION ALL SELECT name FROM Paper ORDER BY name LIMIT 3
SELECT name FROM Model INTERSECT SELECT subject FROM evaluated_on
SELECT name FROM Model EXCEPT SELECT subject FROM evaluated_on
SELECT name FROM Model UNION BY NAME SELECT name FROM Paper
(SELECT name FROM Model) ORDER BY name
SELECT q.n FROM (SELECT name AS n FROM Model) AS q
SELECT x FROM (SELECT 1) AS q(x)
SELECT a + b FROM (VALUES (1, 2), (3, 4)) AS v(a, b)
SELECT method FROM Model, UNNEST(training_method) AS method
SELECT method, place FROM Model m, UNNEST(m.training_method) WITH ORDINALITY AS t(method, place)
SELECT UNNEST(training_method) FROM Model
SELECT i FROM range(10) AS r(i)
SELECT * FROM generate_series(1, 10)
SELECT l.n FROM Model m, LATERAL (SELECT m.name AS n) AS l
SELECT len(training_method), training_method[1], training_method[1:2], array_to_string(training_method, ',') FROM Model
SELECT name FROM Model WHERE 'DPO' = ANY(training_method)
SELECT name FROM Model WHERE list_contains(training_method, 'DPO')
SELECT name FROM Model WHERE name LIKE 'L%' AND name NOT ILIKE '%chat%' AND name SIMILAR TO 'L.*'
SELECT name FROM Model WHERE name LIKE '10!%' ESCAPE '!'
SELECT name FROM Model WHERE parameters BETWEEN 1e9 AND 1e10 OR parameters IS NULL OR NOT (parameters > 1)
SELECT name FROM Model WHERE parameters IS DISTINCT FROM context_length
SELECT CASE WHEN parameters > 1e10 THEN 'large' ELSE 'small' END FROM Model
SELECT CASE license_type WHEN 'MIT' THEN 1 END, if(parameters > 1, 2, 3) FROM Model
SELECT coalesce(context_length, 0), nullif(name, ''), greatest(1, 2) FROM Model
SELECT -parameters / 2 + 1 * 3 % 2 // 1 FROM Model
SELECT name || ' (' || license_type || ')' FROM Model
SELECT lower(name), upper(name), length(name), substring(name, 1, 3), replace(name, ' ', '-') FROM Model
SELECT regexp_matches(name, '^L'), regexp_extract(name, '[0-9]+'), split_part(name, ' ', 1) FROM Model
SELECT round(parameters / 1e9, 1), abs(-1), sqrt(2), ln(2) FROM Model
SELECT year(released), month(released), strftime(released, '%Y-%m'), date_trunc('month', released) FROM Model
SELECT EXTRACT(year FROM released), date_diff('day', released, current_date) FROM Model
SELECT released + INTERVAL 1 YEAR, DATE '2024-01-01', released - DATE '2024-01-01' FROM Model
SELECT CAST(parameters AS DOUBLE), parameters::VARCHAR, TRY_CAST(name AS INTEGER), CAST(name AS VARCHAR[]) FROM Model
SELECT provenance(name), provenance(hardware_requirement.gpu_memory) FROM Model
SELECT TRUE, FALSE, NULL, [1, 2], (1, 2) IN ((1, 2))
SELECT '北京 🙂'
SELECT name, lag(name IGNORE NULLS) OVER (ORDER BY released) FROM Model
SELECT substring(name FROM 2 FOR 3), trim(BOTH 'x' FROM name), position('a' IN name) FROM Model
SELECT name FROM Model WHERE (name, license_type) IN (SELECT name, license_type FROM Model)
SELECT name FROM Model WHERE (name, parameters) = ('BERT', 1)
SELECT name FROM Model AS OF 1
SELECT m.name FROM Model AS OF DATE '2999-01-01' AS m JOIN Paper AS OF 1 p ON TRUE
SELECT m.name FROM Model FOR SYSTEM_TIME AS OF TIMESTAMP '2999-01-01 12:00' m
SELECT of.name FROM Model AS of
SELECT * FROM neighbours('BERT')
SELECT entity FROM neighbours('BERT', depth => 2, type := 'Model') AS n
SELECT * FROM paths('BERT', 'BERT', max => 1)
SELECT * FROM coverage
SELECT table_name FROM information_schema.tables
SELECT c.column_name FROM information_schema.columns c
"""


def statements(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.strip().startswith("--")]


@pytest.mark.parametrize("sql", statements(HOSTILE))
def test_what_is_not_a_harmless_select_is_refused(sql: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(sql)
    assert "\n" not in str(caught.value)
    assert caught.value.code in ("forbidden", "syntax", "unknown-function")


@pytest.mark.parametrize("sql", statements(HARMLESS))
def test_harmless_statements_are_let_through(sql: str) -> None:
    assert parse(sql).sql(dialect="duckdb")


def test_the_lists_are_long_enough() -> None:
    assert len(statements(HOSTILE)) >= 60
    assert len(statements(HARMLESS)) >= 60


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("", "there is no statement; write SELECT … FROM …"),
        (" ; ", "there is no statement; write SELECT … FROM …"),
        ("-- nothing", "there is no statement; write SELECT … FROM …"),
        ("SELECT 'a", "a quotation mark or comment is not closed"),
        ("SELECT /* a", "a quotation mark or comment is not closed"),
        ("SELEC 1", "1:7: cannot read the statement at '1'"),
        ("SELECT name\nFRMO Model x", "2:6: cannot read the statement at 'Model'"),
        ("SELECT '🙂🙂' name\nFROM\n  Model WHERE WHERE", "3:15: cannot read the statement at 'WHERE'"),
        ("SELECT " + "(" * 5_000 + "1" + ")" * 5_000, "the statement is nested too deeply"),
        ("SELECT " + "NOT " * 5_000 + "TRUE", "the statement is nested too deeply"),
        ("SELECT 1" + " + 1" * 24_000, "the statement has more than 20,000 parts"),
        ("SELECT '" + "a" * 100_000 + "'", "the statement has 100,009 characters; at most 100,000 are read"),
        ("SELECT 1;\nDROP TABLE Model", "2:12: there is more than one statement; send them one by one"),
        ("SELECT '北🙂',\n\tgetenv('HOME')", "2:2: there is no function getenv here"),
        ("SELECT '🙂', lowr(name)", "1:13: there is no function lowr here (did you mean 'lower'?)"),
        ("SELECT * FROM read_csv('x')", "1:15: the table function read_csv is not allowed"),
    ],
)
def test_a_refusal_says_where_and_what(sql: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(sql)
    assert str(caught.value).startswith(said)


def test_the_second_wall_holds_where_the_guard_is_passed_by(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, outside = tmp_path_factory.mktemp("tables"), tmp_path_factory.mktemp("outside") / "x.csv"
    outside.write_text("a\n1\n")
    for sql in (
        f"SELECT * FROM read_csv('{outside}')",
        f"SELECT * FROM '{outside}'",
        f"SELECT * FROM read_csv('{folder}/../{outside.parent.name}/x.csv')",
        f"COPY (SELECT 1) TO '{outside}'",
        f"ATTACH '{outside.parent}/a.db'",
        "SET memory_limit = '100GB'",
        "SET enable_external_access = true",
        "SET allowed_directories = ['/']",
        "INSTALL httpfs",
        "LOAD httpfs",
    ):
        with pytest.raises(duckdb.Error):
            run(folder, sql, timeout=10)
    assert outside.read_text() == "a\n1\n"
    value = open_sandbox(folder).execute("SELECT current_setting('enable_external_access')").fetchone()
    assert value == (False,)
