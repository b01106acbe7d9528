"""What it costs to write to the graph stores, against a bare loop that writes the same rows into the same tables.

The graph is that of ``bench.graph_rows``. Rows of Neo4j need Java and Maven (``ontoloom neo4j up`` says what is
missing), and the package ``neo4j-graphrag`` beside it (dependency group ``peers``: ``make bench`` installs it).
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path

import ladybug
from neo4j import GraphDatabase

from bench.graph_rows import ONTOLOGY, PER_DOCUMENT, make_extraction, make_extractions, record_rows
from bench.neo4j_peers import (
    Rows,
    as_maps,
    create_keys,
    empty,
    graphrag_graph,
    install_apoc,
    unwind,
    write_with_graphrag,
)
from bench.report import Row, ratio, read_arguments, report
from graph.ladybug import BUFFER_POOL, open_ladybug
from graph.ladybug_schema import prepare
from graph.ladybug_session import Session, arrow_table
from graph.open import open_store
from graph.record import Row as TableRow
from graph.record import Table
from graph.store import Store
from ontoloom.errors import StoreError
from ontoloom.records import Extraction
from serving import neo4j_server
from serving.settings import default_cache

ROUNDS = 3
TOGETHER = 20
"""Documents in a transaction where growth is measured."""


def write_one_by_one(store: Store, extractions: Sequence[Extraction]) -> float:
    """Each document in a transaction of its own."""
    return timed(lambda: [store.write([extraction]) for extraction in extractions])


def copy_bare(path: Path, rows: dict[Table, list[TableRow]]) -> float:
    """The rows into the same tables, by one COPY a table in one transaction; the rows are Arrow tables already."""
    database = ladybug.Database(path, buffer_pool_size=BUFFER_POOL)
    session = Session(database, where=str(path), copy_rows=1, copy_bytes=BUFFER_POOL)
    prepare(session, ONTOLOGY, where=str(path), read_only=False)
    tables = [(table, arrow_table(table, some)) for table, some in rows.items() if some]

    def copy() -> None:
        with session.transaction():
            for table, some in tables:
                session.copy(table, some)

    seconds = timed(copy)
    session.close()
    database.close()
    return seconds


def hop(store: Store, entities: Sequence[str]) -> list[float]:
    """Milliseconds for the neighbours of one entity, each."""
    return [timed(partial(store.neighbours, [entity])) * 1000 for entity in entities]


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def growth(store: Store, documents: int) -> float:
    """How many times the first tenth of so many documents the last tenth takes, some to a transaction."""
    dice, seconds = random.Random(7), []
    for start in range(0, documents, TOGETHER):
        part = [make_extraction(dice, number, documents) for number in range(start, min(documents, start + TOGETHER))]
        seconds.append(timed(partial(store.write, part)))
    tenth = max(1, len(seconds) // 10)
    return sum(seconds[-tenth:]) / sum(seconds[:tenth])


def measure_ladybug(folder: Path, extractions: Sequence[Extraction], many: int) -> Iterator[Row]:
    """The bare COPY is timed beside each of ours, for a shared machine is faster at one time than at another."""
    rows, numbers = record_rows(extractions), count()

    def bare() -> float:
        return copy_bare(folder / f"bare{next(numbers)}", rows)

    def at_once() -> float:
        with open_ladybug(str(folder / f"at_once{next(numbers)}"), ONTOLOGY) as store:
            return timed(lambda: store.write(extractions))

    pairs = [(bare(), at_once()) for _ in range(ROUNDS)]
    typical = statistics.median(alone for alone, _ in pairs)
    yield Row(f"Ladybug: bare COPY of {len(extractions) * PER_DOCUMENT:,} triples with evidence", f"{typical:.2f} s")
    times = statistics.median(ours / alone for alone, ours in pairs)
    yield ratio("  in one transaction, against bare COPY", times, at_most=2)
    before = bare()
    with open_ladybug(str(folder / "one_by_one"), ONTOLOGY) as store:
        one_by_one = write_one_by_one(store, extractions)
        alone = statistics.mean((before, bare()))
        name = f"  document by document ({PER_DOCUMENT} triples each), against bare COPY"
        yield ratio(name, one_by_one / alone, at_most=8)
        dice = random.Random(7)
        named = [dice.choice(dice.choice(extractions).entities).id for _ in range(500)]
        hops = sorted(hop(store, named))
        again = timed(lambda: store.write(extractions))
    yield ratio("  all of it once more, which changes nothing, against bare COPY", again / alone)
    yield Row("  neighbours of an entity, p50", f"{hops[len(hops) // 2]:.2f} ms")
    worst = hops[len(hops) * 95 // 100]
    yield Row("  neighbours of an entity, p95", f"{worst:.2f} ms", "< 5 ms", worst < 5)
    with open_ladybug(str(folder / "many"), ONTOLOGY) as store:
        name = f"  last tenth of {many * PER_DOCUMENT:,} triples, against the first"
        yield ratio(name, growth(store, many), at_most=1.2)


def measure_neo4j(home: Path, extractions: Sequence[Extraction], many: int) -> Iterator[Row]:
    """Each way of writing into a server emptied before it, and warm: all have written once before any is timed."""
    try:
        graphrag_graph({})  # whether the peer is installed
        install_apoc(home)
        server = neo4j_server.start(default_cache(), home, heap="4g")
    except (ImportError, StoreError, OSError, subprocess.CalledProcessError) as error:
        yield Row("Neo4j", f"not measured: {error}")
        return
    location = neo4j_server.store_location(server)

    def own(extractions: Sequence[Extraction]) -> float:
        with open_store(location, ONTOLOGY) as store:
            return timed(lambda: store.write(extractions))

    def bare(rows: Rows) -> float:
        maps = as_maps(rows)
        create_keys(driver, rows)
        return timed(lambda: unwind(driver, maps))

    def peer(rows: Rows) -> float:
        graph = graphrag_graph(rows)
        return timed(lambda: write_with_graphrag(driver, graph))

    try:
        with GraphDatabase.driver(server.url) as driver:
            few = extractions[: max(1, len(extractions) // 10)]
            for warm_up in (partial(own, few), partial(bare, record_rows(few)), partial(peer, record_rows(few))):
                warm_up()
                empty(driver)
            rows = record_rows(extractions)
            theirs = bare(rows)
            empty(driver)
            name = f"Neo4j: bare UNWIND of {len(extractions) * PER_DOCUMENT:,} triples with evidence"
            yield Row(name, f"{theirs:.1f} s")
            ours = own(extractions)
            empty(driver)
            yield ratio("  in one transaction, against bare UNWIND", ours / theirs, at_most=1.3)
            slower = peer(rows) / ours
            empty(driver)
            yield Row("  neo4j-graphrag's writer, against ours", f"{slower:.2f} ×", "≥ 3 ×", slower >= 3)
            with open_store(location, ONTOLOGY) as store:
                name = f"  last tenth of {many * PER_DOCUMENT:,} triples, against the first"
                yield ratio(name, growth(store, many), at_most=1.2)
    finally:
        neo4j_server.stop(home)


def measure(*, quick: bool) -> Iterator[Row]:
    triples = 10_000 if quick else 100_000
    extractions = make_extractions(triples // PER_DOCUMENT)
    many = triples // PER_DOCUMENT * (3 if quick else 10)
    with tempfile.TemporaryDirectory() as name:
        yield from measure_ladybug(Path(name), extractions, many)
        yield from measure_neo4j(Path(name) / "neo4j", extractions, many)


def main() -> int:
    arguments = read_arguments(__doc__ or "")
    return report(measure(quick=arguments.quick), as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
