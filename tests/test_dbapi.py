from __future__ import annotations

import datetime
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest
import sqlalchemy as sa
from select_service import make_project, serving
from sqlalchemy.dialects import registry
from sqlalchemy.exc import NoSuchTableError, OperationalError, ProgrammingError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from graph.bind import Value
from graph.store import Store
from ontology import Ontology
from ontoloom.errors import EngineError, OntoloomError, QueryError, StoreError
from serving import dbapi, dbapi_local
from serving.access import reading, writing
from serving.settings import Settings
from serving.wiring import find_ontology

SLOW = "SELECT count(*) AS n FROM range(100000) a, range(100000) b WHERE a.range + b.range = -1"

for name, dialect in (("ontoloom", "OntoloomDialect"), ("ontoloom.http", "OntoloomHttpDialect")):
    registry.register(name, "serving.sqlalchemy_dialect", dialect)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return make_project(tmp_path_factory.mktemp("dbapi") / "tour")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service over a project of its own."""
    with serving(make_project(tmp_path_factory.mktemp("served") / "tour")) as (address, _):
        yield address


@pytest.fixture(params=["local", "http"])
def target(request: pytest.FixtureRequest, project: Settings) -> str:
    return str(project.project) if request.param == "local" else cast("str", request.getfixturevalue("url"))


@pytest.fixture
def connection(target: str) -> Iterator[dbapi.Connection]:
    with dbapi.connect(target) as opened:
        yield opened


@pytest.fixture
def cursor(connection: dbapi.Connection) -> dbapi.Cursor:
    return connection.cursor()


# What PEP 249 asks for


def test_the_module_says_what_it_is() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "qmark")
    tree = {
        "Warning": "Exception", "Error": "Exception", "InterfaceError": "Error", "DatabaseError": "Error",
        "DataError": "DatabaseError", "OperationalError": "DatabaseError", "IntegrityError": "DatabaseError",
        "InternalError": "DatabaseError", "ProgrammingError": "DatabaseError", "NotSupportedError": "DatabaseError",
    }  # fmt: skip
    for name, parent in tree.items():
        assert getattr(dbapi, name).__bases__ == (getattr(dbapi, parent, Exception),)
        assert getattr(dbapi.Connection, name) is getattr(dbapi, name)
    assert dbapi.Date(2024, 5, 1) == date(2024, 5, 1)
    assert dbapi.Timestamp(2024, 5, 1, 12) == datetime.datetime(2024, 5, 1, 12)
    assert dbapi.TimestampFromTicks(0.0).year in (1969, 1970)
    assert dbapi.DateFromTicks(86_400.0 * 365).year in (1970, 1971)
    assert isinstance(dbapi.TimeFromTicks(0.0), datetime.time)
    assert dbapi.Binary(b"x") == b"x"


def test_rows_and_their_description(cursor: dbapi.Cursor) -> None:
    assert (cursor.description, cursor.rowcount) == (None, -1)
    found = cursor.execute("SELECT name, training_method, released, parameters FROM Model WHERE name = 'BERT'")
    assert found is cursor
    assert cursor.description is not None
    assert [column[:2] for column in cursor.description] == [
        ("name", "string"), ("training_method", "list of enum"), ("released", "date"), ("parameters", "integer"),
    ]  # fmt: skip
    assert all(len(column) == 7 for column in cursor.description)
    kinds = [column[1] for column in cursor.description]
    assert kinds[0] == dbapi.STRING
    assert kinds[2] == dbapi.DATETIME
    assert kinds[3] == dbapi.NUMBER != kinds[0]
    assert cursor.rowcount == 1
    (row,) = cursor.fetchall()
    assert isinstance(row, tuple)
    assert row[0] == "BERT"
    assert isinstance(row[1], list)
    assert isinstance(row[2], date)
    assert isinstance(row[3], int)
    assert cursor.change is not None


def test_fetching(cursor: dbapi.Cursor) -> None:
    cursor.execute("SELECT range FROM range(10)")
    assert cursor.fetchone() == (0,)
    assert cursor.fetchmany() == [(1,)]
    cursor.arraysize = 3
    assert cursor.fetchmany() == [(2,), (3,), (4,)]
    assert cursor.rownumber == 5
    assert cursor.fetchmany(2) == [(5,), (6,)]
    assert next(cursor) == (7,)
    assert list(cursor) == [(8,), (9,)]
    assert cursor.fetchone() is None
    assert cursor.fetchmany(5) == []
    assert cursor.fetchall() == []
    assert cursor.fetch_arrow().num_rows == 10
    cursor.execute("SELECT 1 AS x")
    assert cursor.fetchall() == [(1,)], "a new statement takes the place of the old"


def test_parameters(cursor: dbapi.Cursor) -> None:
    values: list[Value] = [
        "it's",
        7,
        1.5,
        True,
        None,
        date(2024, 5, 1),
        datetime.datetime(2024, 5, 1, 12),
        "x'; DROP TABLE Model",
    ]
    cursor.execute(f"SELECT {', '.join('? AS ' + 'abcdefgh'[i] for i in range(8))}", values)
    assert cursor.fetchone() == tuple(values)
    sql = "SELECT name FROM Model WHERE training_method = $method AND name = ANY(:names)"
    cursor.execute(sql, {"method": "DPO", "names": ["BERT", "Zephyr 7B beta"]})
    assert cursor.fetchall() == [("Zephyr 7B beta",)]
    for wrong in ([], ["a", "b"], [object()], [float("nan")], [b"x"]):
        with pytest.raises(dbapi.ProgrammingError):
            cursor.execute("SELECT ? AS x", cast("list[Any]", wrong))


def test_explain_views_and_the_past(connection: dbapi.Connection, target: str) -> None:
    plan = connection.execute("EXPLAIN SELECT name FROM Model WHERE name = 'BERT'").fetchall()
    assert any("Model" in line for (line,) in plan)
    plain = connection.execute("SELECT name FROM Model WHERE training_method = 'RLHF' ORDER BY name").fetchall()
    assert connection.execute("SELECT name FROM trained(method => ?)", ["RLHF"]).fetchall() == plain
    change = connection.execute("SELECT 1 AS x").change
    with dbapi.connect(target, as_of=change) as then:
        assert then.execute("SELECT count(*) FROM Model").fetchall() == [(len(names(connection)),)]
    with dbapi.connect(target, as_of="2000-01-01") as then, pytest.raises(dbapi.ProgrammingError) as caught:
        then.execute("SELECT count(*) FROM Model")
    assert caught.value.code == "no-change"


def names(connection: dbapi.Connection) -> list[Any]:
    return connection.execute("SELECT name FROM Model").fetchall()


def test_mistakes_carry_their_place(cursor: dbapi.Cursor) -> None:
    with pytest.raises(dbapi.ProgrammingError) as caught:
        cursor.execute("SELECT nam FROM Model")
    assert (caught.value.code, caught.value.line, caught.value.column) == ("unknown-column", 1, 8)
    assert str(caught.value) == "1:8: there is no column 'nam'; did you mean 'name'?"
    for sql in ("INSERT INTO Model VALUES (1)", "DROP TABLE Model", "COPY Model TO 'x'", "SELECT 1; SELECT 2"):
        with pytest.raises(dbapi.ProgrammingError):
            cursor.execute(sql)
    assert cursor.description is None
    with pytest.raises(dbapi.InterfaceError):
        cursor.fetchone()


def test_limits_are_errors_and_not_silent(target: str) -> None:
    with dbapi.connect(target, max_rows=10) as connection:
        assert len(connection.execute("SELECT range FROM range(10)").fetchall()) == 10
        with pytest.raises(dbapi.DataError, match=r"more than 10 rows; add a LIMIT"):
            connection.execute("SELECT range FROM range(11)")
    with dbapi.connect(target, timeout=0.3) as connection, pytest.raises(dbapi.OperationalError) as caught:
        connection.execute(SLOW)
    assert caught.value.code == "timeout"


def test_another_thread_cancels(target: str) -> None:
    with dbapi.connect(target, timeout=500) as connection:
        cursor = connection.cursor()
        timer = threading.Timer(0.5, cursor.cancel)
        timer.start()
        with pytest.raises(dbapi.OperationalError) as caught:
            cursor.execute(SLOW)
        timer.join()
        assert caught.value.code == "cancelled"
        assert cursor.execute("SELECT 1 AS x").fetchall() == [(1,)], "the cursor is good for another statement"


def test_only_readers(connection: dbapi.Connection) -> None:
    connection.commit()
    connection.rollback()
    with pytest.raises(dbapi.NotSupportedError):
        connection.cursor().executemany("SELECT ?", [[1]])
    with pytest.raises(dbapi.NotSupportedError):
        connection.cursor().callproc("x")
    connection.cursor().setinputsizes([1])
    connection.cursor().setoutputsize(1)


def test_what_is_closed_is_closed(target: str) -> None:
    with dbapi.connect(target) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 AS x")
        for use in (cursor.fetchone, cursor.fetchall, lambda: cursor.execute("SELECT 1")):
            with pytest.raises(dbapi.InterfaceError, match="cursor is closed"):
                use()
        open_cursor = connection.cursor()
    connection.close()
    for use in (connection.cursor, connection.commit, connection.rollback, lambda: open_cursor.execute("SELECT 1")):
        with pytest.raises(dbapi.InterfaceError, match="connection is closed"):
            use()


def test_threads_share_a_connection(connection: dbapi.Connection) -> None:
    found: list[Any] = []

    def read(number: int) -> None:
        found.append(connection.execute("SELECT ? AS n, count(*) AS models FROM Model", [number]).fetchall())

    threads = [threading.Thread(target=read, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    models = len(names(connection))
    assert sorted(found) == [[(number, models)] for number in range(6)]


def test_nothing_to_connect_to(tmp_path: Path) -> None:
    with pytest.raises(dbapi.OperationalError, match=r"ontology\.yaml"):
        dbapi.connect(tmp_path)
    with pytest.raises(dbapi.OperationalError, match="cannot be reached") as caught:
        dbapi.connect("http://127.0.0.1:9")
    assert caught.value.code == "unreachable"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (QueryError("x", code="unknown-column"), dbapi.ProgrammingError),
        (QueryError("x", code="timeout"), dbapi.OperationalError),
        (QueryError("x", code="memory"), dbapi.OperationalError),
        (StoreError("x"), dbapi.OperationalError),
        (StoreError("x", code="unreadable-answer"), dbapi.InternalError),
        (EngineError("x"), dbapi.OperationalError),
    ],
)
def test_each_error_has_its_class(error: OntoloomError, kind: type[dbapi.Error]) -> None:
    assert type(dbapi.translate(error)) is kind


def test_a_connection_sees_what_others_commit(tmp_path: Path) -> None:
    settings = make_project(tmp_path / "tour")
    with dbapi.connect(settings.project) as connection:
        before = len(names(connection))
        with writing(settings, find_ontology(settings), command="test") as store:
            store.delete(["wiki/bert.md"])
        assert len(names(connection)) < before


def test_a_store_is_opened_once_while_nothing_changes(project: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Settings] = []

    def counted(settings: Settings, ontology: Ontology) -> Store:
        opened.append(settings)
        return reading(settings, ontology)

    monkeypatch.setattr(dbapi_local, "reading", counted)
    with dbapi.connect(project.project) as connection:
        for _ in range(3):
            names(connection)
    assert len(opened) == 1


def test_the_module_needs_neither_models_nor_sqlalchemy(project: Settings) -> None:
    code = f"""
import sys
from serving import dbapi
with dbapi.connect({str(project.project)!r}) as connection:
    assert connection.execute("SELECT count(*) FROM Model").fetchone()[0] > 10
print([name for name in ("torch", "sqlalchemy", "pandas", "fastapi", "spacy", "httpx") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=os.path.dirname(__file__))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


# SQLAlchemy and pandas


@pytest.fixture
def engine(target: str) -> Iterator[sa.Engine]:
    address = target.replace("http://", "ontoloom+http://") if "://" in target else f"ontoloom:///{target}"
    made = sa.create_engine(address)
    yield made
    made.dispose()


def test_pandas_reads_a_statement(engine: sa.Engine, connection: dbapi.Connection) -> None:
    sql = "SELECT name, released, parameters, training_method FROM Model WHERE training_method = :m ORDER BY name"
    frame = pd.read_sql(sa.text(sql), engine, params={"m": "DPO"}, parse_dates=["released"])
    found = connection.execute(sql, {"m": "DPO"}).fetchall()
    assert list(frame["name"]) == [row[0] for row in found]
    assert frame["released"].dtype.kind == "M"
    assert frame["training_method"][0] == found[0][3]
    whole = pd.read_sql_table("developed_by", engine)
    assert len(whole) == connection.execute("SELECT count(*) FROM developed_by").fetchall()[0][0]
    assert {"subject", "object", "_id"} <= set(whole.columns)


def test_reflection(engine: sa.Engine) -> None:
    metadata = sa.MetaData()
    metadata.reflect(engine, views=True)
    assert {"Model", "Organization", "developed_by", "superior_to", "coverage"} <= set(metadata.tables)
    model = metadata.tables["Model"]
    assert model.comment == "A trained model, or a family of models released together, that has a name of its own."
    assert [column.name for column in model.primary_key] == ["_id"]
    kinds = {name: type(model.c[name].type) for name in ("name", "parameters", "released", "training_method")}
    assert kinds == {"name": sa.String, "parameters": sa.BigInteger, "released": sa.Date, "training_method": sa.ARRAY}
    assert isinstance(model.c["hardware_requirement.gpu_memory"].type, sa.Double)
    assert model.c.context_length.comment == "The longest input that the model reads at once."
    (key,) = [key for key in metadata.tables["superior_to"].foreign_keys if key.parent.name == "_subject_id"]
    assert key.column is model.c["_id"]
    inspector = sa.inspect(engine)
    assert inspector.has_table("Model")
    assert not inspector.has_table("Modl")
    assert not inspector.has_table("Model", schema="other")
    with pytest.raises(NoSuchTableError):
        inspector.get_columns("Modl")
    assert inspector.get_schema_names() == ["main"]


def test_core_selects(engine: sa.Engine, connection: dbapi.Connection) -> None:
    metadata = sa.MetaData()
    metadata.reflect(engine, only=["Model", "evaluated_on"])
    model, score = metadata.tables["Model"], metadata.tables["evaluated_on"]
    query = (
        sa.select(model.c.name, sa.func.max(score.c.score).label("best"))
        .join(score, score.c["_subject_id"] == model.c["_id"])
        .where(model.c.name.ilike("%b%"), score.c.score > 10.5, model.c.name.not_in(["BERT"]))
        .group_by(model.c.name)
        .order_by(sa.desc("best"), model.c.name)
        .limit(5)
        .offset(1)
    )
    with engine.connect() as opened:
        found = [tuple(row) for row in opened.execute(query)]
        assert opened.execute(sa.select(model.c.name).where(model.c.name.in_([]))).all() == []
        assert opened.execute(sa.select(model.c.name).order_by(model.c.name).offset(2)).first() is not None
        day = opened.execute(sa.select(sa.cast("2024-05-01", sa.Date))).scalar_one()
        assert day == date(2024, 5, 1)
        listed = opened.execute(sa.select(model.c.name).where(model.c.training_method == "DPO")).scalars().all()
    assert (
        found
        == connection.execute("""SELECT m.name, max(e.score) AS best FROM Model m
        JOIN evaluated_on e ON e._subject_id = m._id WHERE m.name ILIKE '%b%' AND e.score > 10.5 AND m.name <> 'BERT'
        GROUP BY m.name ORDER BY best DESC, m.name LIMIT 5 OFFSET 1""").fetchall()
    )
    assert found
    plain = connection.execute("SELECT name FROM Model WHERE training_method = 'DPO'").fetchall()
    assert list(listed) == [row[0] for row in plain]


class Base(DeclarativeBase):
    """What SQLAlchemy's ORM wants its classes to have in common."""


class Organization(Base):
    __tablename__ = "Organization"
    id: Mapped[str] = mapped_column("_id", primary_key=True)
    name: Mapped[str]
    founded: Mapped[int | None]


def test_the_orm_reads(engine: sa.Engine) -> None:
    with Session(engine) as session:
        found = session.scalars(sa.select(Organization).order_by(Organization.name).limit(3)).all()
        again = session.get(Organization, found[0].id)
    assert [o.name for o in found] == sorted(o.name for o in found)
    assert again is found[0]


def test_errors_of_the_module_are_sqlalchemys(engine: sa.Engine) -> None:
    with engine.connect() as opened:
        with pytest.raises(ProgrammingError, match="there is no column 'nam'"):
            opened.execute(sa.text("SELECT nam FROM Model"))
        assert opened.execute(sa.text("SELECT 1 AS x")).scalar_one() == 1
    with pytest.raises(OperationalError), sa.create_engine("ontoloom+http://127.0.0.1:9").connect():
        pass


def test_options_of_an_address(target: str) -> None:
    address = target.replace("http://", "ontoloom+http://") if "://" in target else f"ontoloom:///{target}"
    engine = sa.create_engine(f"{address}?max_rows=2&timeout=20")
    with engine.connect() as opened, pytest.raises(sa.exc.DataError, match="more than 2 rows"):
        opened.execute(sa.text("SELECT range FROM range(3)"))
    engine.dispose()
