"""The Movies graph: out of a real Neo4j into documents under an ontology of our own, and what its Cypher answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ontology import Ontology
from ontology.admit import admit
from ontology.read import compile_ontology
from ontoloom.names import entity_id
from ontoloom.records import Document, Entity, Evidence, Extraction, Section, Triple, Value

if TYPE_CHECKING:
    from neo4j import Result, Session

HERE = Path(__file__).resolve().parent
PROPERTIES = {"Movie": ("title", "released", "tagline"), "Person": ("name", "born")}
"""What a node is known by, the first of them its name."""
SENTENCES = {
    "born": "{subject} was born in {object}.",
    "released": "{subject} was first shown in {object}.",
    "tagline": "{subject} was advertised with the line: {object}",
    "acted_in": "{subject} acted in {object} as {roles}.",
    "directed": "{subject} directed {object}.",
    "produced": "{subject} produced {object}.",
    "wrote": "{subject} wrote {object}.",
    "reviewed": "{subject} reviewed {object}, gave it {rating} points and said: {summary}",
    "follows": "{subject} follows {object}.",
}
"""How a document states a claim."""


@dataclass(frozen=True, slots=True)
class Node:
    type: str
    name: str
    attributes: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Link:
    subject: Node
    relation: str
    object: Node
    attributes: Mapping[str, Value | list[Value]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the data set, by its line in ``questions.jsonl``, with its Cypher and our SELECT."""

    line: int
    text: str
    kind: str
    cypher: str
    select: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows of a result, ``is_ordered`` when there is but one order that they may come in.

    ``keys`` holds for each row of the whole result, LIMIT left out, what ORDER BY compares.
    """

    rows: list[tuple[Any, ...]]
    is_ordered: bool
    keys: Sequence[tuple[Any, ...]] = ()


def movies_ontology() -> Ontology:
    ontology, findings = compile_ontology((HERE / "movies_ontology.yaml").read_text("utf-8"), file="ontology.yaml")
    assert ontology is not None, findings
    return ontology


def chosen() -> list[dict[str, Any]]:
    """The questions that we have a SELECT for, as ``movies_queries.yaml`` has them."""
    found: list[dict[str, Any]] = yaml.safe_load((HERE / "movies_queries.yaml").read_text("utf-8"))
    return found


def read_questions(data: Path) -> list[Question]:
    """Those that we have a SELECT for; the data set must have the same question at that line."""
    lines = (data / "movies" / "questions.jsonl").read_text("utf-8").splitlines()
    questions = []
    for entry in chosen():
        found = json.loads(lines[entry["line"] - 1])
        assert found["question"] == entry["question"], f"line {entry['line']} holds another question"
        questions.append(Question(entry["line"], found["question"], found["type"], found["cypher"], entry["select"]))
    return questions


# The graph


def load_graph(session: Session, script: str) -> None:
    """Runs a script of statements, each of which ends with a semicolon at the end of a line, in an empty database."""
    for statement in re.split(r";\s*$", script, flags=re.MULTILINE):
        if statement.strip():
            run(session, statement).consume()


def read_graph(session: Session) -> tuple[list[Node], list[Link]]:
    nodes: dict[str, Node] = {}
    for key, label, properties in session.run("MATCH (n) RETURN elementId(n), labels(n)[0], properties(n)").values():
        name = properties.pop(PROPERTIES[label][0])
        nodes[key] = Node(label, name, properties)
    query = "MATCH (a)-[r]->(b) RETURN elementId(a), type(r), elementId(b), properties(r)"
    links = [
        Link(nodes[subject], relation.lower(), nodes[target], properties)
        for subject, relation, target, properties in session.run(query).values()
    ]
    return list(nodes.values()), links


def extractions(ontology: Ontology, nodes: Iterable[Node], links: Iterable[Link]) -> list[Extraction]:
    """A document for each node, which states its attributes and the relations that start at it."""
    starting: dict[str, list[Link]] = {}
    for link in links:
        starting.setdefault(key(link.subject), []).append(link)
    return [extract(ontology, node, starting.get(key(node), [])) for node in nodes]


def key(node: Node) -> str:
    return f"{node.type}/{node.name}"


def entity(node: Node) -> Entity:
    return Entity(entity_id(node.type, node.name), node.type, node.name)


def extract(ontology: Ontology, node: Node, links: Iterable[Link]) -> Extraction:
    claims: list[tuple[str, Node | Value, Mapping[str, Value | list[Value]]]] = [
        *((name, value, {}) for name, value in node.attributes.items()),
        *((link.relation, link.object, link.attributes) for link in links),
    ]
    document_id, text = key(node), f"{node.name}\n"
    entities = {document_id: entity(node)}
    triples, evidence = [], []
    for relation, target, attributes in claims:
        if isinstance(target, Node):
            entities[key(target)] = entity(target)
        triple = admitted(ontology, node, relation, target, attributes)
        sentence = state(node, relation, target, attributes)
        span = len(text), len(text) + len(sentence)
        text += f"{sentence}\n"
        triples.append(triple)
        evidence.append(Evidence(triple.id, document_id, *span, "movies", relation, 1.0, ontology.stamp))
    document = Document(document_id, "movies.cypher", node.name, text, (Section("body", 0, len(text)),))
    return Extraction(document, tuple(entities.values()), tuple(triples), tuple(evidence))


def admitted(
    ontology: Ontology,
    subject: Node,
    relation: str,
    target: Node | Value,
    attributes: Mapping[str, Value | list[Value]],
) -> Triple:
    pairs = [(name, value) for name, values in attributes.items() for value in each(values)]
    triple = admit(
        ontology,
        relation=relation,
        subject=entity(subject),
        object=entity(target) if isinstance(target, Node) else target,
        attributes=pairs,
    )
    assert isinstance(triple, Triple), triple
    return triple


def state(subject: Node, relation: str, target: Node | Value, attributes: Mapping[str, Value | list[Value]]) -> str:
    words = {name: ", ".join(map(str, each(values))) for name, values in attributes.items()}
    shown = target.name if isinstance(target, Node) else target
    return SENTENCES[relation].format(subject=subject.name, object=shown, **words)


def each(values: Value | list[Value]) -> list[Value]:
    return values if isinstance(values, list) else [values]


# What Cypher answers


def ask(session: Session, cypher: str) -> Answer:
    """What a query answers, and how its rows are ordered."""
    rows = [plain_row(record) for record in run(session, cypher)]
    if "ORDER BY" not in cypher:
        return Answer(rows, is_ordered=False)
    query, names = showing_keys(cypher)
    keys = [tuple(record[name] for name in names) for record in run(session, query)]
    shown = keys[: len(rows) + 1]
    is_last = cypher.rindex("ORDER BY") > cypher.rindex("RETURN")
    return Answer(rows, is_last and len(set(shown)) == len(shown), keys)


def showing_keys(cypher: str) -> tuple[str, list[str]]:
    """The query without LIMIT, its rows with what ORDER BY compares, and the names of those columns."""
    head, _, tail = re.sub(r"\nLIMIT \d+", "", cypher).rpartition("RETURN ")
    columns, by, order = tail.partition("\nORDER BY ")
    compared = re.findall(r"ORDER BY (.+)", cypher)[-1].split(",")
    expressions = [re.sub(r" (DESC|ASC)$", "", part.strip()) for part in compared]
    known = {part.rpartition(" AS ")[2].strip() for part in columns.split(",") if " AS " in part}
    names = [part if part in known else f"key_{place}" for place, part in enumerate(expressions)]
    added = [f"{part} AS {name}" for part, name in zip(expressions, names, strict=True) if part != name]
    return f"{head}RETURN {', '.join([columns, *added])}{by}{order}", names


def run(session: Session, cypher: str) -> Result:
    return session.run(cypher)


def plain_row(record: Iterable[Any]) -> tuple[Any, ...]:
    """A row with the attributes of each node in place of the node."""
    row: list[Any] = []
    for value in record:
        labels = getattr(value, "labels", None)
        row += [value] if labels is None else [value.get(name) for label in labels for name in PROPERTIES[label]]
    return tuple(row)
