"""What SELECT costs over the projection of a million triples, against Cypher on the stores and DuckDB on plain Parquet.

The projection is measured as it stands after some refreshes. The Cypher is what one would write by hand on the labels
and relations of that store; DuckDB's peer reads the columns that it needs from one plain Parquet file.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import LiteralString

import duckdb
import ladybug
from neo4j import GraphDatabase, Session

from bench.graph_rows import ONTOLOGY, PER_DOCUMENT, make_extraction
from bench.report import Row, ratio, read_arguments, report
from graph.ladybug import BUFFER_POOL, open_ladybug
from graph.open import open_store
from graph.projection import ColumnarProjection
from graph.select import select
from graph.store import Store
from ontoloom.errors import StoreError
from serving import neo4j_server
from serving.settings import default_cache

REPEATED = 7
CHANGED = 1_000
"""Triples that are new before each refresh."""
TOGETHER = 500
"""Documents to a transaction."""


@dataclass(frozen=True, slots=True)
class Question:
    """The same question as a SELECT, and as the Cypher of somebody who knows the store."""

    name: str
    sql: str
    cypher: LiteralString


FILTERS = (
    Question(
        "what one model beats",
        "SELECT object, score_delta FROM superior_to WHERE subject = 'Model of all 7' ORDER BY object, score_delta",
        "MATCH (a:Model)-[r:superior_to]->(b:Model) WHERE a.name = 'Model of all 7' "
        "RETURN b.name AS object, r.score_delta AS score_delta ORDER BY object, score_delta",
    ),
    Question(
        "what beats one model by much",
        "SELECT subject FROM superior_to WHERE object = 'Model of all 7' AND score_delta > 5 ORDER BY subject",
        "MATCH (a:Model)-[r:superior_to]->(b:Model) WHERE b.name = 'Model of all 7' AND r.score_delta > 5 "
        "RETURN a.name AS subject ORDER BY subject",
    ),
    Question(
        "models of one context length",
        "SELECT name FROM Model WHERE context_length = 131072 ORDER BY name",
        "MATCH (t:_Triple)-[:_ABOUT]->(e:_Entity) WHERE t.relation = 'context_length' AND t.value = '131072' "
        "RETURN e.name AS name ORDER BY name",
    ),
)
AGGREGATES = (
    Question(
        "context lengths, by how many models have them",
        "SELECT context_length, count(*) AS n FROM Model WHERE context_length IS NOT NULL GROUP BY context_length "
        "ORDER BY n DESC, context_length LIMIT 10",
        "MATCH (t:_Triple) WHERE t.relation = 'context_length' "
        "RETURN toInteger(t.value) AS context_length, count(DISTINCT t.subject) AS n "
        "ORDER BY n DESC, context_length LIMIT 10",
    ),
    Question(
        "mean context length by organization",
        "SELECT d.object, avg(m.context_length) AS mean, count(*) AS n FROM developed_by AS d "
        "JOIN Model AS m ON m._id = d._subject_id WHERE m.context_length IS NOT NULL GROUP BY d.object "
        "ORDER BY n DESC, d.object LIMIT 10",
        "MATCH (m:Model)-[:developed_by]->(o:Organization) MATCH (t:_Triple) "
        "WHERE t.relation = 'context_length' AND t.subject = m.id "
        "RETURN o.name AS object, avg(toInteger(t.value)) AS mean, count(*) AS n ORDER BY n DESC, object LIMIT 10",
    ),
)
EDGES = Question(
    "benchmarks by how often and how well",
    "SELECT object, count(*) AS n, avg(score_delta) AS mean FROM evaluated_on GROUP BY object "
    "ORDER BY n DESC, object LIMIT 10",
    "MATCH (a:Model)-[r:evaluated_on]->(b:Benchmark) "
    "RETURN b.name AS object, count(*) AS n, avg(r.score_delta) AS mean ORDER BY n DESC, object LIMIT 10",
)
"""Told without a goal for Cypher: in Ladybug, attributes of edges are columns too."""
QUESTIONS = (*FILTERS, *AGGREGATES, EDGES)


def write_documents(store: Store, documents: int) -> None:
    dice = random.Random(7)
    for start in range(0, documents, TOGETHER):
        numbers = range(start, min(documents, start + TOGETHER))
        store.write([make_extraction(dice, number, documents) for number in numbers])


def median_ms(action: Callable[[], object], *, warm: int = 1) -> float:
    """The median of several runs in milliseconds, after some that do not count."""
    return statistics.median([timed(action) for _ in range(warm + REPEATED)][warm:])


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def refresh(store: Store, projection: ColumnarProjection, documents: int) -> list[float]:
    """Milliseconds of each refresh, with new documents before each that share half of what they name with others."""
    dice = random.Random(8)
    times = []
    for start in range(documents, documents + REPEATED * CHANGED // PER_DOCUMENT, CHANGED // PER_DOCUMENT):
        numbers = range(start, start + CHANGED // PER_DOCUMENT)
        store.write([make_extraction(dice, number, documents) for number in numbers])
        times.append(timed(projection.refresh))
    return times


def ask_ladybug(path: Path) -> dict[str, float]:
    """Milliseconds of each question in Cypher, on the database itself."""
    database = ladybug.Database(path, read_only=True, buffer_pool_size=BUFFER_POOL)
    connection = ladybug.Connection(database)
    times = {}
    for question in QUESTIONS:
        query = question.cypher.replace("toInteger(t.value)", "CAST(t.value AS INT64)")
        times[question.name] = median_ms(partial(run_ladybug, connection, query))
    connection.close()
    database.close()
    return times


def run_ladybug(connection: ladybug.Connection, query: str) -> None:
    answer = connection.execute(query)
    assert isinstance(answer, ladybug.QueryResult)
    answer.get_all()
    answer.close()


def ask_neo4j(home: Path, documents: int) -> dict[str, float]:
    """The same on a Neo4j server with the same documents. Raises StoreError where there can be none."""
    server = neo4j_server.start(default_cache(), home, heap="2g")
    try:
        with open_store(neo4j_server.store_location(server), ONTOLOGY) as store:
            write_documents(store, documents)
        with GraphDatabase.driver(server.url) as driver, driver.session() as session:
            return {q.name: median_ms(partial(run_neo4j, session, q.cypher), warm=3) for q in QUESTIONS}
    finally:
        neo4j_server.stop(home)


def run_neo4j(session: Session, query: LiteralString) -> None:
    list(session.run(query))


def ask_parquet(folder: Path, projection: ColumnarProjection) -> dict[str, float]:
    """Milliseconds of each aggregate in DuckDB alone, on a plain file for each table with the columns that it needs."""
    with duckdb.connect(":memory:") as connection:
        for table in projection.tables:
            path = folder / f"{table.name}.parquet"
            columns = "name, context_length, _id" if table.name == "Model" else "*"
            if table.of == "relation":
                columns = "subject, object, score_delta, _subject_id"
            rows = f"SELECT {columns} FROM {projection.source(table)}"
            connection.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
            connection.execute(f"CREATE VIEW {table.name} AS FROM read_parquet('{path}')")
        return {q.name: median_ms(partial(run_duckdb, connection, q.sql)) for q in (*AGGREGATES, EDGES)}


def run_duckdb(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    found = connection.sql(sql)
    assert found is not None
    found.to_arrow_table()


def against_cypher(store: str, ours: dict[str, float], cypher: dict[str, float], *, goals: bool) -> Iterator[Row]:
    for question in FILTERS:
        took, limit = ours[question.name], max(10.0, 1.5 * cypher[question.name])
        value = f"{took:.1f} against {cypher[question.name]:.1f} ms"
        row = Row(f"  {question.name}, against Cypher on {store}", value, f"≤ {limit:.0f} ms", took <= limit)
        yield row if goals else Row(row.name, value)
    for question in (*AGGREGATES, EDGES):
        faster = cypher[question.name] / ours[question.name]
        row = Row(f"  Cypher on {store}, against {question.name}", f"{faster:.1f} ×", "≥ 10 ×", faster >= 10)
        yield row if goals and question is not EDGES else Row(row.name, row.value)


def measure_columns(store: Store, folder: Path, documents: int, *, goals: bool) -> Iterator[Row]:
    """The projection over a store: made anew, brought up, read."""
    projection = ColumnarProjection(store, folder / "columns")
    anew = timed(projection.refresh)
    yield Row(f"tables of {documents * PER_DOCUMENT:,} triples made anew", f"{anew:,.0f} ms")
    times = refresh(store, projection, documents)
    typical, name = statistics.median(times), f"brought up to {CHANGED:,} changed triples"
    yield Row(name, f"{typical:.0f} ms", "< 200 ms", typical < 200) if goals else Row(name, f"{typical:.0f} ms")
    yield Row("  the longest of them", f"{max(times):.0f} ms")
    table = projection.tables[0]
    then = timed(partial(projection.source, table, at=1))
    yield Row(f"table {table.name} as of the first of {store.last_change()} changes", f"{then:,.0f} ms")


def measure(*, quick: bool) -> Iterator[Row]:
    """Goals are for a million triples; with fewer, the figures only inform."""
    documents, goals = (500, False) if quick else (10_000, True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open_ladybug(str(folder / "graph"), ONTOLOGY) as store:
            write_documents(store, documents)
            yield from measure_columns(store, folder, documents, goals=goals)
            projection = ColumnarProjection(store, folder / "columns")
            ours = {q.name: median_ms(partial(select, store, projection, q.sql)) for q in QUESTIONS}
            alone = ask_parquet(folder, projection)
        for question in QUESTIONS:
            yield Row(question.name, f"{ours[question.name]:.1f} ms")
            if question.name in alone:
                times = ours[question.name] / alone[question.name]
                yield ratio("  against DuckDB on plain Parquet", times, at_most=2 if goals else None)
        yield from against_cypher("Ladybug", ours, ask_ladybug(folder / "graph"), goals=goals)
        try:
            yield from against_cypher("Neo4j", ours, ask_neo4j(folder / "neo4j", documents), goals=goals)
        except StoreError as error:
            yield Row("Cypher on Neo4j", f"not measured: {error}")


def main() -> int:
    arguments = read_arguments(__doc__ or "")
    return report(measure(quick=arguments.quick), as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
