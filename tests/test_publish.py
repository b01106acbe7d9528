from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow.parquet as pq
import pytest
from conftest import ROOT, Requires
from page_extractions import read_example
from postgres_server import running_postgres
from select_parts import document, say, thing

from graph.open import open_store
from graph.projection import ColumnarProjection
from graph.publish import PublishedTable, open_target, plan, publish
from graph.publish_files import ParquetTarget
from graph.publish_postgres import PostgresTarget, without_password
from graph.select import select
from graph.store import Store
from graph.tables import describe
from ontology.read import compile_ontology
from ontoloom.errors import ProjectionError

Parts = tuple[Store, ColumnarProjection]
HOSTILE = 'O\'Brien "x" `y` ; DROP TABLE "Thing"; -- \u202e\U0001f600\n\ttab \\N \\.'

ONTOLOGY = """
ontology: zoo
version: 1.0.0
types:
  Animal:
    description: What lives, and isn't a plant.
    attributes:
      weight: {type: number, unit: kg, description: How heavy it is.}
      legs: {type: integer}
      tame: {type: boolean}
      seen: {type: date}
      colours: {type: enum, many: true, values: [red, black]}
      counts: {type: integer, many: true}
      note: {type: text}
      home: {type: record, fields: {place: {type: string}, since: {type: date}}}
  Bird: {is_a: Animal, attributes: {wingspan: {type: number, unit: cm}}}
  Keeper: {}
  Zoo: {}
relations:
  eats: {domain: Animal, range: [Animal, Keeper], description: What it eats., attributes: {amount: {type: number}}}
  kept_by:
    domain: [Animal, Zoo]
    range: Keeper
    attributes: {on: {type: date}}
"""


@pytest.fixture
def zoo(tmp_path: Path) -> Iterator[Parts]:
    """A graph with every type of value, and a hostile name."""
    ontology, findings = compile_ontology(ONTOLOGY, file="ontology.yaml")
    assert ontology is not None, findings
    lion, owl, keeper = thing("Lion", "Animal"), thing(HOSTILE, "Bird"), thing("Ann", "Keeper")
    said = [
        say(lion, "weight", 190.5),
        say(lion, "legs", 4),
        say(lion, "tame", False),
        say(lion, "seen", date(2024, 2, 29)),
        say(lion, "colours", "black"),
        say(lion, "colours", "red"),
        say(lion, "counts", 3),
        say(lion, "counts", -1),
        say(lion, "note", HOSTILE),
        say(lion, "home.place", "Rome"),
        say(owl, "wingspan", 90.0, 0.5),
        say(lion, "eats", owl, amount=1.5),
        say(owl, "eats", keeper),
        say(lion, "kept_by", keeper, on=date(2024, 1, 1)),
    ]
    with open_store(tmp_path / "zoo", ontology) as store:
        store.write([document("d.md", said, ontology=ontology, named=[lion, owl, keeper])])
        yield store, ColumnarProjection(store, tmp_path / "zoo-tables")


@pytest.fixture
def example(tmp_path: Path) -> Iterator[Parts]:
    ontology, extractions = read_example(ROOT / "examples" / "ai-infra")
    with open_store(tmp_path / "graph", ontology) as store:
        store.write(extractions)
        yield store, ColumnarProjection(store, tmp_path / "tables")


def expected(parts: Parts, table: PublishedTable) -> list[tuple[Any, ...]]:
    """The rows of a table as SELECT gives them."""
    columns = ", ".join(f'"{c.source}"' for c in table.columns)
    found = select(*parts, f'SELECT {columns} FROM "{table.name}" ORDER BY _id', max_rows=100_000).rows
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


# Files


def test_a_folder_of_parquet_holds_what_select_gives(zoo: Parts, tmp_path: Path) -> None:
    folder = tmp_path / "out" / "published"
    done = publish(*zoo, open_target(str(folder), schema=""))
    assert done.rows == {"Animal": 2, "Keeper": 1, "Zoo": 0, "Bird": 1, "eats": 2, "kept_by": 1}
    assert {p.name for p in folder.iterdir()} == {*(f"{name}.parquet" for name in done.rows), "_publication.json"}
    for table in done.tables:
        found = pq.read_table(folder / f"{table.name}.parquet").sort_by("_id")
        assert [tuple(row.values()) for row in found.to_pylist()] == expected(zoo, table)
    animal = pq.read_schema(folder / "Animal.parquet")
    assert animal.metadata[b"description"] == b"What lives, and isn't a plant."
    assert animal.field("weight").metadata == {b"description": b"How heavy it is. In kg."}
    assert [str(animal.field(n).type) for n in ("weight", "legs", "tame", "seen", "colours", "counts")] == [
        "double", "int64", "bool", "date32[day]", "list<element: string>", "list<element: int64>",
    ]  # fmt: skip
    assert {"home_place", "home_since"} <= set(animal.names)
    assert json.loads((folder / "_publication.json").read_text())["change"] == 1


def test_a_duckdb_file_has_keys_and_comments(zoo: Parts, tmp_path: Path) -> None:
    file = tmp_path / "zoo.duckdb"
    done = publish(*zoo, open_target(str(file), schema=""))
    with duckdb.connect(str(file), read_only=True) as connection:
        for table in done.tables:
            found = connection.execute(f'FROM "{table.name}" ORDER BY _id').fetchall()
            assert found == expected(zoo, table)
        keys = connection.execute("""SELECT table_name, constraint_type, constraint_column_names, referenced_table
            FROM duckdb_constraints() WHERE constraint_type LIKE '%KEY' AND table_name IN ('Bird', 'eats')
            ORDER BY table_name, constraint_type""").fetchall()
        assert keys == [
            ("Bird", "FOREIGN KEY", ["_id"], "Animal"),
            ("Bird", "PRIMARY KEY", ["_id"], None),
            ("eats", "FOREIGN KEY", ["_subject_id"], "Animal"),
            ("eats", "PRIMARY KEY", ["_id"], None),
        ]
        said = connection.execute("SELECT comment FROM duckdb_columns() WHERE column_name = 'weight'").fetchall()
        assert set(said) == {("How heavy it is. In kg.",)}
        assert connection.execute("SELECT ontology, change FROM _publication").fetchall() == [("zoo", 1)]
    assert sorted(p.name for p in tmp_path.glob("*zoo.duckdb*")) == ["zoo.duckdb"]


@pytest.mark.parametrize("name", ["published", "published.duckdb"])
def test_publishing_again_replaces_the_whole(zoo: Parts, tmp_path: Path, name: str) -> None:
    store, _ = zoo
    target = open_target(str(tmp_path / name), schema="")
    publish(*zoo, target)
    store.delete(["d.md"])
    done = publish(*zoo, target)
    assert set(done.rows.values()) == {0}
    assert done.publication.change == 2
    assert [p.name for p in tmp_path.glob("*published*")] == [name], "nothing is left beside it"


def test_what_was_not_published_is_never_replaced(zoo: Parts, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    (tmp_path / "mine.duckdb").write_text("dear")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1")
    (tmp_path / "file").write_text("dear")
    for name in ("mine", "mine.duckdb", "other.duckdb", "file"):
        with pytest.raises(ProjectionError, match=r"other files|was not published|is no folder"):
            publish(*zoo, open_target(str(tmp_path / name), schema=""))
    assert (tmp_path / "mine" / "letter.txt").read_text() == (tmp_path / "mine.duckdb").read_text() == "dear"
    (tmp_path / "empty").mkdir()
    publish(*zoo, open_target(str(tmp_path / "empty"), schema=""))


def test_a_publication_that_fails_leaves_the_old_one(zoo: Parts, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    publish(*zoo, ParquetTarget(str(folder)))
    before = {p.name: p.read_bytes() for p in folder.iterdir()}

    def fail(_: object) -> None:
        if len(list(tmp_path.glob(".published.*/*.parquet"))) > 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish(*zoo, ParquetTarget(str(folder)), on_progress=fail)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    assert list(tmp_path.glob(".published.*")) == []


def test_a_dry_run_writes_nothing(zoo: Parts, tmp_path: Path) -> None:
    done = publish(*zoo, ParquetTarget(str(tmp_path / "published")), dry_run=True)
    assert done.rows == {"Animal": 2, "Keeper": 1, "Zoo": 0, "Bird": 1, "eats": 2, "kept_by": 1}
    assert not (tmp_path / "published").exists()


def test_a_damaged_projection_is_made_anew(zoo: Parts, tmp_path: Path) -> None:
    publish(*zoo, ParquetTarget(str(tmp_path / "a")))
    for path in (tmp_path / "zoo-tables").glob("type-Animal-*.parquet"):
        content = path.read_bytes()
        path.write_bytes(content[:8] + b"\x00" * (len(content) - 8))
    done = publish(*zoo, ParquetTarget(str(tmp_path / "b")))
    assert done.rows["Animal"] == 2


def test_names_that_other_tools_cannot_tell_apart_are_refused() -> None:
    text = "ontology: a\nversion: 1.0.0\ntypes: {Eats: {}}\nrelations: {eats: {domain: Eats, range: Eats}}\n"
    ontology, _ = compile_ontology(text, file="ontology.yaml")
    if ontology is not None:  # where the language lets such names through
        with pytest.raises(ProjectionError, match="would be one table"):
            plan(ontology, describe(ontology))


def test_only_foreign_keys_that_always_hold(zoo: Parts) -> None:
    tables = {t.name: t for t in plan(zoo[0].ontology, describe(zoo[0].ontology))}
    assert {name: t.references for name, t in tables.items() if t.references} == {
        "Bird": (("_id", "Animal"),),
        "eats": (("_subject_id", "Animal"),),
        "kept_by": (("_object_id", "Keeper"),),
    }
    order = list(tables)
    assert all(order.index(to) < order.index(t.name) for t in tables.values() for _, to in t.references)


def test_other_addresses_are_refused() -> None:
    with pytest.raises(ProjectionError, match=r"cannot publish to mysql://"):
        open_target("mysql://host/x", schema="")


# PostgreSQL


@pytest.fixture(scope="session")
def server(requires: Requires) -> Iterator[str]:
    requires("postgres")
    with running_postgres() as address:
        yield address


@pytest.fixture
def database(server: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection to an empty database."""
    with psycopg.connect(server, autocommit=True) as connection:
        yield connection
        for (name,) in connection.execute(
            "SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema|public)'"
        ).fetchall():
            connection.execute(f'DROP SCHEMA "{name}" CASCADE')


def schemas(database: psycopg.Connection[Any]) -> set[str]:
    query = "SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema|public)'"
    return {name for (name,) in database.execute(query)}


def test_a_schema_holds_what_select_gives(zoo: Parts, server: str, database: psycopg.Connection[Any]) -> None:
    done = publish(*zoo, open_target(server, schema="zoo"))
    assert done.notes == ()
    for table in done.tables:
        found = database.execute(f'SELECT * FROM zoo."{table.name}" ORDER BY _id COLLATE "C"').fetchall()
        assert found == expected(zoo, table)
    types = database.execute("""SELECT column_name, udt_name FROM information_schema.columns
        WHERE table_schema = 'zoo' AND table_name = 'Animal' AND column_name !~ '^_' ORDER BY ordinal_position""")
    assert types.fetchall() == [
        ("name", "text"), ("weight", "float8"), ("legs", "int8"), ("tame", "bool"), ("seen", "date"),
        ("colours", "_text"), ("counts", "_int8"), ("note", "text"), ("home_place", "text"), ("home_since", "date"),
    ]  # fmt: skip
    keys = database.execute("""SELECT conrelid::regclass::text, contype::text, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'zoo'::regnamespace AND conrelid = 'zoo."Bird"'::regclass""")
    assert sorted(keys.fetchall()) == [
        ('zoo."Bird"', "f", 'FOREIGN KEY (_id) REFERENCES zoo."Animal"(_id)'),
        ('zoo."Bird"', "p", "PRIMARY KEY (_id)"),
    ]
    comment = database.execute("""SELECT col_description('zoo."Animal"'::regclass, attnum) FROM pg_attribute
        WHERE attrelid = 'zoo."Animal"'::regclass AND attname = 'weight'""").fetchone()
    assert comment == ("How heavy it is. In kg.",)
    assert database.execute("SELECT ontology, change FROM zoo._publication").fetchall() == [("zoo", 1)]
    assert schemas(database) == {"zoo"}, "nothing of the staging is left"


def test_the_example_whole(example: Parts, server: str, database: psycopg.Connection[Any]) -> None:
    done = publish(*example, PostgresTarget(server, "ai"))
    count = database.execute("""SELECT count(*) FROM ai."Model" WHERE 'DPO' = ANY(training_method)""").fetchone()
    assert count == (select(*example, "SELECT name FROM Model WHERE training_method = 'DPO'").rows.num_rows,)
    assert sum(done.rows.values()) > 100


def test_again_with_grants_kept_and_others_tables_left_alone(
    zoo: Parts, server: str, database: psycopg.Connection[Any]
) -> None:
    target = PostgresTarget(server, "zoo")
    publish(*zoo, target)
    with suppress(psycopg.errors.DuplicateObject):
        database.execute('CREATE ROLE "b i"')
    database.execute('CREATE TABLE zoo.mine AS SELECT 1 AS x; GRANT SELECT ON zoo."Animal" TO "b i", PUBLIC')
    zoo[0].delete(["d.md"])
    publish(*zoo, target)
    assert database.execute('SELECT count(*) FROM zoo."Animal"').fetchone() == (0,)
    assert database.execute("SELECT x FROM zoo.mine").fetchone() == (1,)
    assert database.execute("""SELECT has_table_privilege('b i', 'zoo."Animal"', 'SELECT'),
        has_table_privilege('b i', 'zoo."Animal"', 'DELETE')""").fetchone() == (True, False)


def test_errors_leave_all_as_it_was(zoo: Parts, server: str, database: psycopg.Connection[Any]) -> None:
    target = PostgresTarget(server, "zoo")
    publish(*zoo, target)
    zoo[0].delete(["d.md"])
    database.execute('CREATE SCHEMA reports; CREATE VIEW reports.heavy AS SELECT * FROM zoo."Animal"')
    with pytest.raises(ProjectionError, match=r"view reports\.heavy depends on table"):
        publish(*zoo, target)
    assert database.execute("SELECT count(*) FROM reports.heavy").fetchone() == (2,)
    assert schemas(database) == {"reports", "zoo"}
    database.execute('CREATE SCHEMA other; CREATE TABLE other."Animal" (x int)')
    with pytest.raises(ProjectionError, match="'Animal' that was not published"):
        publish(*zoo, PostgresTarget(server, "other"))
    with pytest.raises(ProjectionError, match="does not exist"):
        publish(*zoo, PostgresTarget(server.replace("/postgres?", "/nowhere?"), "zoo"))
    with pytest.raises(ProjectionError, match="too long for a name"):
        publish(*zoo, PostgresTarget(server, "x" * 64))


def test_one_publication_at_a_time(zoo: Parts, server: str, database: psycopg.Connection[Any]) -> None:
    def again(_: object) -> None:
        with pytest.raises(ProjectionError, match="somebody else is publishing"):
            publish(*zoo, PostgresTarget(server, "zoo"))

    publish(*zoo, PostgresTarget(server, "zoo"), on_progress=again)
    assert schemas(database) == {"zoo"}


def test_a_reader_sees_the_old_or_the_new_whole(
    zoo: Parts, server: str, database: psycopg.Connection[Any], tmp_path: Path
) -> None:
    """Readers of each isolation level count the rows of several tables while they are published again and again."""
    store, projection = zoo
    said = next(store.extractions())
    target = PostgresTarget(server, "zoo")
    publish(*zoo, target)
    ended = threading.Event()
    seen: dict[str, set[tuple[int, ...]]] = {"read committed": set(), "repeatable read": set()}
    faults: list[psycopg.Error] = []

    def read(level: str) -> None:
        counts = ("_publication", "Animal", "Keeper", "eats")
        one = "SELECT " + ", ".join(f'(SELECT count(*) FROM zoo."{name}")' for name in counts)
        try:
            with psycopg.connect(server) as connection:
                connection.isolation_level = psycopg.IsolationLevel[level.upper().replace(" ", "_")]
                while not ended.is_set():
                    with connection.transaction():
                        connection.execute("SELECT 1")  # takes the snapshot, in which nothing of the new tables is
                        if level == "repeatable read":
                            rows = [connection.execute(f'SELECT count(*) FROM zoo."{n}"').fetchone() for n in counts]
                            seen[level].add(tuple(row[0] for row in rows if row))
                        else:
                            row = connection.execute(one).fetchone()
                            seen[level].add(tuple(row or ()))
        except psycopg.Error as error:
            faults.append(error)

    readers = [threading.Thread(target=read, args=(level,)) for level in seen for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for round_number in range(12):
            store.delete(["d.md"]) if round_number % 2 == 0 else store.write([said])
            publish(store, projection, target)
    finally:
        ended.set()
        for reader in readers:
            reader.join()
    assert faults == []
    for found in seen.values():
        assert found == {(1, 2, 1, 2), (1, 0, 0, 0)}


def test_a_reader_who_stays_is_not_cut_off(zoo: Parts, server: str, database: psycopg.Connection[Any]) -> None:
    publish(*zoo, PostgresTarget(server, "zoo"))
    zoo[0].delete(["d.md"])
    with psycopg.connect(server) as reader:
        reader.execute('SELECT count(*) FROM zoo."Keeper"')
        with pytest.raises(ProjectionError, match="somebody reading"):
            publish(*zoo, PostgresTarget(server, "zoo", patience=0.3))
        assert reader.execute('SELECT count(*) FROM zoo."Animal"').fetchone() == (2,)
    publish(*zoo, PostgresTarget(server, "zoo"))
    assert database.execute('SELECT count(*) FROM zoo."Animal"').fetchone() == (0,)


def test_nul_is_replaced_and_said(zoo: Parts, server: str, database: psycopg.Connection[Any]) -> None:
    store, _ = zoo
    odd = thing("a\x00b", "Keeper")
    store.write([document("nul.md", [], ontology=store.ontology, named=[odd])])
    done = publish(*zoo, PostgresTarget(server, "zoo"))
    assert done.notes == ("Keeper: in 1 values U+0000, which PostgreSQL cannot hold, is U+FFFD",)
    names = database.execute('SELECT name FROM zoo."Keeper" ORDER BY name').fetchall()
    assert names == [("Ann",), ("a\ufffdb",)]


def test_passwords_are_not_shown() -> None:
    address = "postgresql://me:s3cret@host:5432/db?sslmode=require"
    assert without_password(address) == "postgresql://me:***@host:5432/db"
    assert "s3cret" not in PostgresTarget(address, "x").name


def test_a_server_that_is_not_there(zoo: Parts, tmp_path: Path) -> None:
    os.makedirs(tmp_path / "nobody")
    target = PostgresTarget(f"postgresql://me:s3cret@/db?host={tmp_path / 'nobody'}", "x")
    with pytest.raises(ProjectionError) as caught:
        publish(*zoo, target)
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)
