"""Constraints and indexes in Cypher for a Neo4j graph that is modelled as the ontology is, without ontoloom.

There a thing is a node with the labels of its type and of all that it is, attributes are its properties (fields of a
record as ``record.field``), and a relation is a relationship of its name with properties. ontoloom's own store differs:
it keeps who said what, which may contradict each other, so that attributes are no properties of nodes; its ids are
unique and keys are not, and an entity has the label of its own type alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ontology.outline import bases, keys, own_attributes
from ontology.schema import Attribute, EntityType, Ontology, Relation, ValueType

Edition = Literal["community", "enterprise"]
TYPES: dict[ValueType, str] = {
    "integer": "INTEGER", "number": "FLOAT", "quantity": "FLOAT", "boolean": "BOOLEAN", "date": "DATE",
    "datetime": "ZONED DATETIME",
}  # fmt: skip


def to_neo4j(ontology: Ontology, edition: Edition = "community") -> str:
    """Statements for Neo4j 5 and later, each ended by ``;``, that may be run again.

    Community has uniqueness of keys and unique attributes, and indexes on names. Enterprise also has what must be there
    and the types of values. No edition can state limits, patterns, values of enums or how many relations there may be.
    """
    lines = [f"// The ontology {ontology.name} {ontology.stamp}, for Neo4j {edition.capitalize()}."]
    lines.append("// A node has the labels of its type and of all that it is.")
    for one in ontology.types.values():
        lines += ["", f"// {one.name}", *_type(ontology, one, edition)]
    for relation in ontology.relations.values():
        found = list(_relation(relation)) if edition == "enterprise" else []
        lines += ["", f"// {relation.name}", *found] if found else []
    return "\n".join(lines) + "\n"


def _type(ontology: Ontology, one: EntityType, edition: Edition) -> Iterator[str]:
    node, above = f"(n:`{one.name}`)", [ontology.types[up] for up in bases(ontology, one.name)]
    unique = [key for key in keys(one) if not any(key in keys(up) for up in above)]
    for key in unique:
        if one.attributes[key[0]].many:
            yield f"// {one.name}.{key[0]}: that its values are unique cannot be stated, as they are lists."
            continue
        properties = ", ".join(f"n.`{part}`" for part in key)
        rule = f"({properties}) IS UNIQUE" if len(key) > 1 else f"{properties} IS UNIQUE"
        yield _constraint(f"unique.{one.name}.{'+'.join(key)}", node, rule)
    if ("name",) not in unique:
        yield f"CREATE INDEX `index.{one.name}.name` IF NOT EXISTS FOR {node} ON (n.`name`);"
    if edition == "enterprise":
        for attribute in own_attributes(ontology, one.name):
            inherited = [up.attributes[attribute.name] for up in above if attribute.name in up.attributes]
            if attribute.required and not any(a.required for a in inherited):
                yield _exists(one.name, node, "n", attribute)
            if not inherited:
                yield _typed(one.name, node, "n", attribute)


def _relation(relation: Relation) -> Iterator[str]:
    edge = f"()-[r:`{relation.name}`]-()"
    for attribute in relation.attributes.values():
        if attribute.required:
            yield _exists(relation.name, edge, "r", attribute)
        yield _typed(relation.name, edge, "r", attribute)


def _exists(owner: str, what: str, variable: str, attribute: Attribute) -> str:
    return _constraint(f"exists.{owner}.{attribute.name}", what, f"{variable}.`{attribute.name}` IS NOT NULL")


def _typed(owner: str, what: str, variable: str, attribute: Attribute) -> str:
    """The type of its values; a reference is the id of a page."""
    value = TYPES.get(attribute.type, "STRING")
    shown = f"LIST<{value} NOT NULL>" if attribute.many else value
    return _constraint(f"type.{owner}.{attribute.name}", what, f"{variable}.`{attribute.name}` IS :: {shown}")


def _constraint(name: str, what: str, rule: str) -> str:
    return f"CREATE CONSTRAINT `{name}` IF NOT EXISTS FOR {what} REQUIRE {rule};"
