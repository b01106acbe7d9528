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
        "benchmarks by how often and how well",
        "SELECT object, count(*) AS n, avg(score_delta) AS mean FROM evaluated_on GROUP BY object "
        "ORDER BY n DESC, object LIMIT 10",
        "MATCH (a:Model)-[r:evaluated_on]->(b:Benchmark) "
        "RETURN b.name AS object, count(*) AS n, avg(r.score_delta) AS mean ORDER BY n DESC, object LIMIT 10",
    ),
    Question(
        "models by how many they beat",
        "SELECT subject, count(*) AS n, max(score_delta) AS most FROM superior_to GROUP BY subject "
        "ORDER BY n DESC, subject LIMIT 10",
        "MATCH (a:Model)-[r:superior_to]->(b:Model) "
        "RETURN a.name AS subject, count(*) AS n, max(r.score_delta) AS most ORDER BY n DESC, subject LIMIT 10",
    ),
)


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
    times = {q.name: median_ms(partial(fetch_all, connection, q.cypher)) for q in (*FILTERS, *AGGREGATES)}
    connection.close()
    database.close()
    return times


def fetch_all(connection: ladybug.Connection, query: str) -> None:
    answer = connection.execute(query)
    assert isinstance(answer, ladybug.QueryResult)
    answer.get_all()
    answer.close()


def ask_neo4j(home: Path, documents: int) -> dict[str, float] | str:
    """The same on a Neo4j server with the same documents; why not, where there is none."""
    try:
        server = neo4j_server.start(default_cache(), home, heap="2g")
    except StoreError as error:
        return str(error)
    try:
        with open_store(neo4j_server.store_location(server), ONTOLOGY) as store:
            write_documents(store, documents)
        with GraphDatabase.driver(server.url) as driver, driver.session() as session:
            return {q.name: median_ms(partial(run, session, q.cypher), warm=3) for q in (*FILTERS, *AGGREGATES)}
    finally:
        neo4j_server.stop(home)


def ask_parquet(folder: Path, projection: ColumnarProjection) -> dict[str, float]:
    """Milliseconds of each aggregate in DuckDB, on a plain file with the columns that are seen."""
    times = {}
    tables = {table.name: table for table in projection.tables}
    with duckdb.connect(":memory:") as connection:
        for question in AGGREGATES:
            name = question.sql.partition(" FROM ")[2].split()[0]
            path = folder / f"{name}.parquet"
            rows = f"SELECT subject, object, score_delta FROM {projection.source(tables[name])}"
            connection.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
            sql = question.sql.replace(f" FROM {name} ", f" FROM read_parquet('{path}') ")
            times[question.name] = median_ms(partial(fetch_rows, connection, sql))
    return times


def run(session: Session, query: LiteralString) -> None:
    list(session.run(query))


def fetch_rows(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    found = connection.sql(sql)
    assert found is not None
    found.to_arrow_table()


def compare(
    ours: dict[str, float], ladybug_ms: dict[str, float], neo4j_ms: dict[str, float] | str, parquet_ms: dict[str, float]
) -> Iterator[Row]:
    stores = {"Ladybug": ladybug_ms} | ({} if isinstance(neo4j_ms, str) else {"Neo4j": neo4j_ms})
    for question in FILTERS:
        yield Row(f"filter: {question.name}", f"{ours[question.name]:.1f} ms")
        for store, times in stores.items():
            limit = max(10.0, 1.5 * times[question.name])
            value = f"{ours[question.name]:.1f} against {times[question.name]:.1f} ms"
            yield Row(f"  against Cypher on {store}", value, f"≤ {limit:.0f} ms", ours[question.name] <= limit)
    for question in AGGREGATES:
        yield Row(f"aggregate: {question.name}", f"{ours[question.name]:.1f} ms")
        yield ratio("  against DuckDB on plain Parquet", ours[question.name] / parquet_ms[question.name], at_most=2)
        for store, times in stores.items():
            faster = times[question.name] / ours[question.name]
            yield Row(f"  Cypher on {store}, against it", f"{faster:.1f} ×", "≥ 10 ×", faster >= 10)
    if isinstance(neo4j_ms, str):
        yield Row("Cypher on Neo4j", f"not measured: {neo4j_ms}")


def measure(*, quick: bool) -> Iterator[Row]:
    documents = 500 if quick else 10_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open_ladybug(str(folder / "graph"), ONTOLOGY) as store:
            write_documents(store, documents)
            projection = ColumnarProjection(store, folder / "columns")
            anew = timed(projection.refresh)
            yield Row(f"tables of {documents * PER_DOCUMENT:,} triples made anew", f"{anew:,.0f} ms")
            times = refresh(store, projection, documents)
            typical = statistics.median(times)
            yield Row(f"brought up to {CHANGED:,} changed triples", f"{typical:.0f} ms", "< 200 ms", typical < 200)
            yield Row("  the longest, where tables are compacted", f"{max(times):.0f} ms")
            ours = {q.name: median_ms(partial(select, store, projection, q.sql)) for q in (*FILTERS, *AGGREGATES)}
            parquet_ms = ask_parquet(folder, projection)
            past = projection.tables[0]
            yield Row(f"{past.name} as of the first change", f"{timed(lambda: projection.source(past, at=1)):,.0f} ms")
        yield from compare(ours, ask_ladybug(folder / "graph"), ask_neo4j(folder / "neo4j", documents), parquet_ms)


def main() -> int:
    arguments = read_arguments(__doc__ or "")
    return report(list(measure(quick=arguments.quick)), as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
