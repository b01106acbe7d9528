"""The tables of a Ladybug store: those of the record (``graph.record``), and a typed view beside it.

The record does not use the view: an id says nothing of its type, so that to look one up among ten node tables takes ten
look-ups, while in ``_Entity`` it takes one; and a store can be read whatever the ontology has become.
"""

from __future__ import annotations

from graph.ladybug_session import Session, literal, quote
from graph.record import FORMAT, META, RECORD, Table, entity_table, plain_type, relation_columns
from ontology.schema import Ontology, Relation
from ontoloom.errors import StoreError


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
    columns = [f"{quote(name)} {plain_type(kind)}" for name, kind in table.columns]
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
            session.run(f"ALTER TABLE {name} ADD {quote(column)} {plain_type(kind)}")
        elif existing[column] != plain_type(kind):
            is_now = plain_type(kind)
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
