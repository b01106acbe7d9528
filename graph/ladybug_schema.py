"""The tables of a Ladybug store.

The tables whose names begin with ``_`` are the record, and all that the store reads: ::

    (_Document)-[:_NAMES {name, aliases, defines}]->(_Entity)<-[:_ABOUT]-(_Triple)-[:_EVIDENCE {…}]->(_Document)
    (_Document)-[:_REFUSED]->(_Quarantined)    _Name (key → entities)    _Change (the log)    _Meta

Beside them lies a view for those who write Cypher, kept in the same transactions: a node table per type of the ontology
and a relation table per relation, with typed attributes, so that ``MATCH (a:Model)-[r:superior_to]->(b:Model)`` reads
as one thinks. The record does not use the view: an id says nothing of its type, so that to look one up among ten node
tables takes ten look-ups, while in ``_Entity`` it takes one; and a store can be read whatever the ontology has become.

Each edge of ``_EVIDENCE`` also holds what its document states of the triple (the kind of the value, attributes), as
each edge of ``_NAMES`` holds how its document names the entity: what follows from several documents (``graph.derive``)
can thus be worked out again when one of them goes.
"""

from __future__ import annotations

from functools import lru_cache

from graph.ladybug_session import (
    BOOLEAN,
    DATE,
    INTEGER,
    MAYBE_STRING,
    NUMBER,
    STRING,
    STRINGS,
    TIME,
    Session,
    Table,
    database_type,
    literal,
    quote,
)
from ontology.schema import Attribute, Ontology, Relation
from ontoloom.errors import StoreError

FORMAT = "1"

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
        ("id", STRING),
        ("claim", STRING),
        ("code", MAYBE_STRING),
        ("message", MAYBE_STRING),
        ("ontology_version", MAYBE_STRING),
    ),
)
NAMES = Table(
    "_NAMES", (("name", STRING), ("aliases", STRINGS), ("defines", BOOLEAN)), ends=("_Document", "_Entity")
)  # fmt: skip
ABOUT = Table("_ABOUT", (), ends=("_Triple", "_Entity"))
EVIDENCE = Table(
    "_EVIDENCE",
    (
        ("id", STRING), ("start", INTEGER), ("end", INTEGER), ("extractor", MAYBE_STRING), ("source", MAYBE_STRING),
        ("confidence", NUMBER), ("ontology_version", MAYBE_STRING), ("kind", STRING), ("attributes", STRING),
        ("identifying", MAYBE_STRING),
    ),
    ends=("_Triple", "_Document"),
)  # fmt: skip
REFUSED = Table("_REFUSED", (), ends=("_Document", "_Quarantined"))
RECORD = (META, CHANGE, DOCUMENT, ENTITY, NAME, TRIPLE, QUARANTINED, NAMES, ABOUT, EVIDENCE, REFUSED)

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
    return KINDS.get(attribute.type, STRING) + ("[]" if attribute.many else "?")


def prepare(session: Session, ontology: Ontology, *, where: str, read_only: bool) -> None:
    """Makes the tables that are missing. Raises StoreError where those that are there cannot be used."""
    tables = dict(session.rows("CALL show_tables() RETURN name, type"))
    if tables and META.name not in tables:
        raise StoreError(f"{where} is a Ladybug database, but not one of ontoloom's", hint="give another path")
    if not tables and read_only:
        raise StoreError(f"{where} is empty", hint="run 'ontoloom ingest' first")
    meta = dict(session.rows("MATCH (m:_Meta) RETURN m.id, m.value")) if tables else {"format": FORMAT}
    if meta["format"] != FORMAT:
        hint = "rebuild it: ontoloom ingest --rebuild"
        raise StoreError(f"{where} has format {meta['format']}, this ontoloom writes {FORMAT}", hint=hint)
    if read_only or meta.get("ontology") == ontology.stamp:
        return
    _refuse_clashes(ontology)
    with session.transaction():
        for table in () if tables else RECORD:
            _create(session, table)
        for type_name in ontology.types:
            _prepare_type(session, tables, type_name, where)
        for relation in ontology.relations.values():
            _prepare_relation(session, tables, relation, where)
        session.run("MATCH (m:_Meta) DELETE m")
        session.insert([(META, [("format", FORMAT), ("ontology", ontology.stamp)])])


def _create(session: Session, table: Table, ends: tuple[tuple[str, str], ...] = ()) -> None:
    columns = [f"{quote(name)} {database_type(kind)}" for name, kind in table.columns]
    pairs = ends or ((table.ends,) if table.ends else ())
    if pairs:
        columns = [f"FROM {quote(a)} TO {quote(b)}" for a, b in pairs] + columns
        session.run(f"CREATE REL TABLE {quote(table.name)}({', '.join(columns)})")
    else:
        session.run(f"CREATE NODE TABLE {quote(table.name)}({columns[0]} PRIMARY KEY, {', '.join(columns[1:])})")


def _prepare_type(session: Session, tables: dict[str, str], name: str, where: str) -> None:
    if tables.get(name) == "REL":
        raise _changed(where, f"'{name}' was a relation and is a type now")
    if name not in tables:
        _create(session, entity_table(name))


def _prepare_relation(session: Session, tables: dict[str, str], relation: Relation, where: str) -> None:
    ends = tuple((a, b) for a in relation.domain for b in relation.range)
    columns = relation_columns(relation)
    if tables.get(relation.name) == "NODE":
        raise _changed(where, f"'{relation.name}' was a type and is a relation now")
    if relation.name not in tables:
        _create(session, Table(relation.name, columns), ends)
        return
    name = quote(relation.name)
    existing = {r[0]: r[1] for r in session.rows(f"CALL table_info({literal(relation.name)}) RETURN name, type")}
    for column, kind in columns:
        if column not in existing:
            session.run(f"ALTER TABLE {name} ADD {quote(column)} {database_type(kind)}")
        elif existing[column] != database_type(kind):
            is_now = database_type(kind)
            raise _changed(where, f"'{relation.name}.{column}' was {existing[column]} and is {is_now} now")
    pairs = {(r[0], r[1]) for r in session.rows(f"CALL show_connection({literal(relation.name)}) RETURN *")}
    for a, b in ends:
        if (a, b) not in pairs:
            session.run(f"ALTER TABLE {name} ADD FROM {quote(a)} TO {quote(b)}")


def _refuse_clashes(ontology: Ontology) -> None:
    """Ladybug knows no case in names, and types and relations share theirs; so do the attributes of a relation."""
    scopes = [[t.name for t in RECORD] + [*ontology.types] + [*ontology.relations]]
    scopes += [[name for name, _ in relation_columns(relation)] for relation in ontology.relations.values()]
    for names in scopes:
        seen: dict[str, str] = {}
        for name in names:
            if name.casefold() in seen:
                message = f"the graph store cannot tell '{name}' from '{seen[name.casefold()]}'"
                raise StoreError(message, hint="rename one of them in the ontology", code="store-names")
            seen[name.casefold()] = name


def _changed(where: str, what: str) -> StoreError:
    message = f"{where} was made under another ontology: {what}"
    return StoreError(message, hint="rebuild it: ontoloom ingest --rebuild", code="store-ontology")
