"""A generated graph, as extractions and as the rows of the record that a store writes of it.

Documents of 100 triples each (80 between entities of three types, by four relations; 20 literals), each with one piece
of evidence; about half of what a document names is named by other documents too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, cast

from graph.record import Row, Table
from graph.revise import Reads, replace
from graph.revision_rows import inserts
from graph.verify import verify
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


class NothingStored:
    """Answers whatever a transaction reads (``graph.revise.Reads``) as a store does that holds nothing."""

    def __getattr__(self, _: str) -> Callable[[object], dict[Any, Any]]:
        return lambda *_: {}


def record_rows(extractions: Sequence[Extraction]) -> dict[Table, list[Row]]:
    """The rows that one transaction writes of the extractions into an empty store, nodes before edges."""
    revision = replace(cast(Reads, NothingStored()), 1, verify(extractions, ONTOLOGY), [])
    assert revision is not None
    found: dict[Table, list[Row]] = {}
    for table, rows in inserts(ONTOLOGY, revision):
        found.setdefault(table, []).extend(rows)
    return found
