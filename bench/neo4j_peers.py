"""Ways to write rows of the record into Neo4j that ontoloom's own is compared with."""

from __future__ import annotations

import asyncio
import subprocess
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph.record import Row, Table

if TYPE_CHECKING:
    from neo4j import Driver
    from neo4j_graphrag.components.types import Neo4jGraph

APOC = "5.26.19"
COPY_JAR = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
BATCH = 5_000
Rows = Mapping[Table, Sequence[Row]]


def as_maps(rows: Rows) -> dict[Table, list[dict[str, Any]]]:
    """Rows as a hand-written loop has them: a map of properties each, and for edges the ends ``a`` and ``b``."""
    found = {}
    for table, some in rows.items():
        names = ["a", "b"] * bool(table.ends) + [name for name, _ in table.columns]
        found[table] = [dict(zip(names, row, strict=True)) for row in some]
    return found


def create_keys(driver: Driver, rows: Rows) -> None:
    """A uniqueness constraint for the key of each label, as anyone has them who looks nodes up."""
    for table in rows:
        if table.ends is None:
            label, key = table.name, table.columns[0][0]
            run(driver, f"CREATE CONSTRAINT FOR (n:`{label}`) REQUIRE n.`{key}` IS UNIQUE")
    run(driver, "CALL db.awaitIndexes(300)")


def empty(driver: Driver) -> None:
    """Deletes all nodes, edges and constraints."""
    while driver.execute_query("MATCH (n) WITH n LIMIT 20000 DETACH DELETE n RETURN count(*) AS gone").records[0][
        "gone"
    ]:
        pass
    for record in driver.execute_query("SHOW CONSTRAINTS YIELD name").records:
        run(driver, f"DROP CONSTRAINT `{record['name']}`")


def unwind(driver: Driver, maps: Mapping[Table, Sequence[Mapping[str, Any]]]) -> None:
    """A bare loop: one UNWIND for some thousand rows, each in a transaction of its own."""
    for table, rows in maps.items():
        names = ", ".join(f"`{name}`: x.`{name}`" for name, _ in table.columns)
        if table.ends is None:
            statement = f"UNWIND $rows AS x CREATE (:`{table.name}` {{{names}}})"
        else:
            left, right = table.ends
            statement = (
                f"UNWIND $rows AS x MATCH (a:`{left}` {{id: x.a}}) MATCH (b:`{right}` {{id: x.b}}) "
                f"CREATE (a)-[:`{table.name}` {{{names}}}]->(b)"
            )
        for start in range(0, len(rows), BATCH):
            run(driver, statement, rows=rows[start : start + BATCH])


def run(driver: Driver, statement: str, **parameters: Any) -> None:
    driver.execute_query(statement, parameters)


def install_apoc(home: Path) -> None:
    """Puts the plugin that the peer's writer calls where the server in ``home`` finds it. Raises CalledProcessError."""
    for artifact in ("apoc-core", "apoc-common"):
        wanted = [f"-Dartifact=org.neo4j.procedure:{artifact}:{APOC}", f"-DoutputDirectory={home / 'plugins'}"]
        subprocess.run(["mvn", "-q", "-B", "-ntp", *wanted, COPY_JAR], check=True, capture_output=True)


def graphrag_graph(rows: Rows) -> Neo4jGraph:
    """The same nodes and edges as the peer holds them. Raises ImportError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own imports
        from neo4j_graphrag.components.types import Neo4jGraph, Neo4jNode, Neo4jRelationship

    nodes = [
        Neo4jNode(id=node_id(table.name, row[0]), label=table.name, properties=given(table, row))
        for table, some in rows.items()
        if table.ends is None
        for row in some
    ]
    edges = [
        Neo4jRelationship(
            start_node_id=node_id(table.ends[0], row[0]),
            end_node_id=node_id(table.ends[1], row[1]),
            type=table.name,
            properties=given(table, row[2:]),
        )
        for table, some in rows.items()
        if table.ends is not None
        for row in some
    ]
    return Neo4jGraph(nodes=nodes, relationships=edges)


def write_with_graphrag(driver: Driver, graph: Neo4jGraph) -> None:
    """By the knowledge graph writer of ``neo4j-graphrag``, in batches of its default size."""
    from neo4j_graphrag.components.kg_writer import Neo4jWriter

    written = asyncio.run(Neo4jWriter(driver).run(graph))
    assert written.status == "SUCCESS", written


def node_id(label: str, key: object) -> str:
    return f"{label}:{key}"


def given(table: Table, values: Sequence[Any]) -> dict[str, Any]:
    """Properties that have a value."""
    pairs = zip(table.columns, values, strict=True)
    return {name: value for (name, _), value in pairs if value is not None}
