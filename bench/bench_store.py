"""What it costs to write to the graph store, against a bare COPY of the same rows into the same tables.

The graph: documents of 100 triples each (80 between entities of three types, by four relations; 20 literals), each with
one piece of evidence; about half of what a document names is named by other documents too.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

import ladybug

from bench.report import Row, ratio, read_arguments, report
from graph.ladybug import BUFFER_POOL, open_ladybug
from graph.ladybug_schema import prepare
from graph.ladybug_session import Row as TableRow
from graph.ladybug_session import Session, Table, arrow_table
from graph.store import Store
from ontology.schema import Attribute, EntityType, Ontology, Relation
from ontoloom.names import entity_id
from ontoloom.records import Document, Entity, EntityRef, Evidence, Extraction, Section, Triple

PER_DOCUMENT = 100
TYPES = ("Model", "Organization", "Benchmark")
NAME = Attribute("name", "string", required=True)
LENGTH = Attribute("context_length", "integer")
RELATIONS = {
    "superior_to": ("Model", "Model"),
    "based_on": ("Model", "Model"),
    "developed_by": ("Model", "Organization"),
    "evaluated_on": ("Model", "Benchmark"),
}
ONTOLOGY = Ontology(
    "bench",
    "1.0.0",
    "00000000",
    {t: EntityType(t, {"name": NAME} | ({"context_length": LENGTH} if t == "Model" else {})) for t in TYPES},
    {
        name: Relation(name, (domain,), (target,), attributes={"score_delta": Attribute("score_delta", "number")})
        for name, (domain, target) in RELATIONS.items()
    },
)


def make_extractions(documents: int) -> list[Extraction]:
    """Documents with what they say, the same at each run."""
    dice = random.Random(7)
    return [make_extraction(dice, number, documents) for number in range(documents)]


def make_extraction(dice: random.Random, number: int, documents: int) -> Extraction:
    text = " ".join(f"word{dice.randrange(1000)}" for _ in range(300))
    document = Document(f"papers/{number}.md", f"file:{number}.md", f"Paper {number}", text, (Section("body", 0, 9),))
    named: dict[str, list[Entity]] = {}
    for entity_type, own, shared in (("Model", 20, 20), ("Organization", 3, 5), ("Benchmark", 3, 5)):
        names = [f"{entity_type} {number}-{i}" for i in range(own)]
        names += [f"{entity_type} of all {i}" for i in dice.sample(range(max(shared, documents)), shared)]
        named[entity_type] = [Entity(entity_id(entity_type, name), entity_type, name) for name in names]
    triples: dict[str, Triple] = {}
    while len(triples) < PER_DOCUMENT:
        subject = dice.choice(named["Model"])
        if len(triples) < PER_DOCUMENT // 5:
            triple = Triple(subject.id, "context_length", dice.randrange(1, 2000) * 1024)
        else:
            relation = dice.choice(list(RELATIONS))
            target = dice.choice(named[RELATIONS[relation][1]])
            triple = Triple(subject.id, relation, EntityRef(target.id), (("score_delta", dice.randrange(99) / 10),))
        triples[triple.id] = triple
    evidence = [
        Evidence(t, document.id, i * 10, i * 10 + 40, "rules", "rule-7", 0.9, ONTOLOGY.stamp)
        for i, t in enumerate(triples)
    ]
    entities = [entity for group in named.values() for entity in group]
    return Extraction(document, tuple(entities), tuple(triples.values()), tuple(evidence), fingerprint="f")


@dataclass(frozen=True, slots=True)
class Written:
    """How long it took, and the rows by table, as one transaction wrote them."""

    seconds: float
    rows: dict[Table, list[TableRow]]


def write_at_once(path: Path, extractions: Sequence[Extraction]) -> Written:
    """All documents in one transaction."""
    batches: list[tuple[Table, Sequence[TableRow]]] = []
    insert = Session.insert

    def record(session: Session, batch: Sequence[tuple[Table, Sequence[TableRow]]]) -> None:
        batches.extend(batch)
        insert(session, batch)

    with open_ladybug(str(path), ONTOLOGY) as store, patch.object(Session, "insert", record):
        seconds = timed(lambda: store.write(extractions))
    rows: dict[Table, list[TableRow]] = {}
    for table, some in batches:
        rows.setdefault(table, []).extend(some)
    return Written(seconds, rows)


def write_one_by_one(store: Store, extractions: Sequence[Extraction]) -> float:
    """Each document in a transaction of its own."""
    return timed(lambda: [store.write([extraction]) for extraction in extractions])


def copy_bare(path: Path, rows: dict[Table, list[TableRow]]) -> float:
    """The same rows into the same tables, by one COPY a table in one transaction; the rows are Arrow tables already."""
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


def measure(*, quick: bool) -> list[Row]:
    triples = 10_000 if quick else 100_000
    extractions = make_extractions(triples // PER_DOCUMENT)
    with tempfile.TemporaryDirectory() as folder:
        at_once = write_at_once(Path(folder) / "at_once", extractions)
        bare = copy_bare(Path(folder) / "bare", at_once.rows)
        with open_ladybug(str(Path(folder) / "one_by_one"), ONTOLOGY) as store:
            one_by_one = write_one_by_one(store, extractions)
            dice = random.Random(7)
            named = [dice.choice(dice.choice(extractions).entities).id for _ in range(500)]
            hops = sorted(hop(store, named))
            again = timed(lambda: store.write(extractions))
    return [
        Row(f"bare COPY of {triples:,} triples with evidence", f"{bare:.2f} s"),
        ratio("in one transaction, against bare COPY", at_once.seconds / bare, at_most=2),
        ratio(f"document by document ({PER_DOCUMENT} triples each), against bare COPY", one_by_one / bare, at_most=8),
        ratio("all of it once more, which changes nothing, against bare COPY", again / bare),
        Row("neighbours of an entity, p50", f"{hops[len(hops) // 2]:.2f} ms"),
        Row("neighbours of an entity, p95", f"{hops[len(hops) * 95 // 100]:.2f} ms"),
    ]


def main() -> int:
    arguments = read_arguments(__doc__ or "")
    return report(measure(quick=arguments.quick), as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
