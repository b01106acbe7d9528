"""The record: what a store keeps, as tables of nodes and edges. Every database holds the same, in its own way.

The tables whose names begin with ``_`` are the record, and all that a store reads: ::

    (_Document)-[:_NAMES {name, aliases, …}]->(_Entity)<-[:_ABOUT]-(_Triple)-[:_EVIDENCE {…}]->(_Document)
    (_Document)-[:_REFUSED]->(_Quarantined)    _Name (key → entities)    _Change (the log)    _Merge    _Past    _Meta

Evidence must hang on a triple, and an edge of a property graph cannot be pointed at; so a triple is a node.

Each edge of ``_EVIDENCE`` also holds what its document states of the triple (the kind of the value, attributes), as
each edge of ``_NAMES`` holds how its document names the entity: what follows from several documents (``graph.derive``)
can thus be worked out again when one of them goes. Where a merge has moved an edge, it keeps what the document itself
said. ``since`` is the change that brought the edge; an edge that goes leaves a row in ``_Past``, with the changes
between which it was there.

Beside the record lies a view for those who write Cypher, kept in the same transactions: nodes of the ontology's types,
and edges of its relations with typed attributes, so that ``MATCH (a:Model)-[r:superior_to]->(b:Model)`` reads as one
thinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ontology.schema import Attribute, Relation

FORMAT = "2"

STRING, STRINGS, INTEGER, NUMBER, BOOLEAN, DATE, TIME = (
    "STRING", "STRING[]", "INT64", "DOUBLE", "BOOL", "DATE", "TIMESTAMP",
)  # fmt: skip
MAYBE_STRING = "STRING?"
MAYBE_INTEGER = "INT64?"
Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of nodes, whose first column is its key; or, where it has ``ends``, of edges between tables of nodes.

    A row of a node table holds its columns; one of an edge table the keys of its two ends, then its columns. A column
    is a name and a type; with ``?`` after it, values may be None, and strings empty. Times are in UTC.
    """

    name: str
    columns: tuple[tuple[str, str], ...] = ()
    ends: tuple[str, str] | None = None


Batch = Iterable[tuple[Table, Sequence[Row]]]
"""Rows by the table they belong to, in the order in which they can be written; no table without rows."""

META = Table("_Meta", (("id", STRING), ("value", MAYBE_STRING)))
CHANGE = Table(
    "_Change",
    (("id", INTEGER), ("time", TIME), ("documents", STRINGS), ("entities", STRINGS), ("triples", STRINGS)),
)
DOCUMENT = Table(
    "_Document",
    (
        ("id", STRING), ("source", MAYBE_STRING), ("title", MAYBE_STRING), ("kind", STRING),
        ("language", MAYBE_STRING), ("text", MAYBE_STRING), ("sections", STRING), ("hash", STRING),
        ("fingerprint", MAYBE_STRING), ("status", STRING), ("failures", STRING), ("said", STRING), ("updated", INTEGER),
    ),
)  # fmt: skip
ENTITY = Table(
    "_Entity",
    (
        ("id", STRING), ("type", STRING), ("name", STRING), ("aliases", STRINGS), ("page", MAYBE_STRING),
        ("updated", INTEGER),
    ),
)  # fmt: skip
NAME = Table("_Name", (("id", STRING), ("entities", STRINGS)))
TRIPLE = Table(
    "_Triple",
    (
        ("id", STRING), ("subject", STRING), ("subject_type", STRING), ("relation", STRING), ("object", MAYBE_STRING),
        ("object_type", MAYBE_STRING), ("value", MAYBE_STRING), ("kind", STRING), ("attributes", STRING),
        ("identifying", MAYBE_STRING), ("updated", INTEGER),
    ),
)  # fmt: skip
QUARANTINED = Table(
    "_Quarantined",
    (
        ("id", STRING), ("claim", STRING), ("code", MAYBE_STRING), ("message", MAYBE_STRING),
        ("ontology_version", MAYBE_STRING),
    ),
)  # fmt: skip
MERGE = Table(
    "_Merge",
    (
        ("id", INTEGER), ("entity", STRING), ("into", STRING), ("type", STRING), ("name", STRING),
        ("reason", MAYBE_STRING), ("undone", MAYBE_INTEGER),
    ),
)  # fmt: skip
"""The key is the number of the change that made the merge."""
PAST = Table(
    "_Past", (("id", STRING), ("kind", STRING), ("since", INTEGER), ("until", INTEGER), ("row", STRING))
)  # fmt: skip
"""Edges that are gone: ``kind`` is ``naming`` or ``stating``, ``row`` a JSON list of the columns in ``graph.store``."""
NAMES = Table(
    "_NAMES",
    (("name", STRING), ("aliases", STRINGS), ("defines", BOOLEAN), ("said_entity", MAYBE_STRING), ("since", INTEGER)),
    ends=("_Document", "_Entity"),
)
ABOUT = Table("_ABOUT", (), ends=("_Triple", "_Entity"))
EVIDENCE = Table(
    "_EVIDENCE",
    (
        ("id", STRING), ("start", INTEGER), ("end", INTEGER), ("extractor", MAYBE_STRING), ("source", MAYBE_STRING),
        ("confidence", NUMBER), ("ontology_version", MAYBE_STRING), ("kind", STRING), ("attributes", STRING),
        ("identifying", MAYBE_STRING), ("said_triple", MAYBE_STRING), ("said_subject", MAYBE_STRING),
        ("said_object", MAYBE_STRING), ("said_attributes", MAYBE_STRING), ("since", INTEGER),
    ),
    ends=("_Triple", "_Document"),
)  # fmt: skip
"""``id`` is the evidence's, of the triple it hangs on. The columns ``said_…`` are None where no merge has moved it."""
REFUSED = Table("_REFUSED", (), ends=("_Document", "_Quarantined"))
RECORD = (META, CHANGE, DOCUMENT, ENTITY, NAME, TRIPLE, QUARANTINED, MERGE, PAST, NAMES, ABOUT, EVIDENCE, REFUSED)

TRIPLE_KEY = "_triple"
"""The column of a relation's table that holds the id of the triple."""
KINDS = {"integer": INTEGER, "number": NUMBER, "boolean": BOOLEAN, "date": DATE}


@lru_cache(maxsize=1024)
def entity_table(type_name: str) -> Table:
    """The table of the view for a type."""
    return Table(type_name, (("id", STRING), ("name", STRING), ("aliases", STRINGS), ("page", MAYBE_STRING)))


def relation_table(relation: Relation, subject_type: str, object_type: str) -> Table:
    """The table of the view for a relation, between two of the types it may hold between."""
    return Table(relation.name, relation_columns(relation), ends=(subject_type, object_type))


def relation_columns(relation: Relation) -> tuple[tuple[str, str], ...]:
    """The columns of a relation's table, with their types."""
    return ((TRIPLE_KEY, STRING), *((a.name, column_type(a)) for a in relation.attributes.values()))


def column_type(attribute: Attribute) -> str:
    """The column type of an attribute; references are ids."""
    return KINDS.get(attribute.kind, STRING) + ("[]" if attribute.many else "?")


def plain_type(kind: str) -> str:
    """The type of a column without the sign that its values may be None."""
    return kind.removesuffix("?")
