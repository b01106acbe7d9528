"""What SELECT has beyond SQL: subtypes, quantities, AS OF, walks, views, hidden columns; and its limits and EXPLAIN."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_store import ReferenceStore
from select_parts import document, say, thing, things

from graph.functions import FUNCTIONS
from graph.open import open_store
from graph.projection import ColumnarProjection
from graph.select import Selection, select
from graph.store import Store
from ontology import Ontology
from ontology.quantities import NotInUnit, between, in_unit
from ontology.read import compile_ontology
from ontoloom.errors import QueryError

Select = Callable[..., Selection]

ONTOLOGY = """
ontology: devices
version: 1.0.0
types:
  Device:
    description: A thing with a plug.
    attributes:
      power: {type: number, unit: W}
      memory: {type: number, unit: GB, description: On board.}
      released: {type: date}
      ports: {type: enum, many: true, values: [USB, HDMI]}
      sizes: {type: number, many: true, unit: MB}
      layers: {type: integer, unit: layers}
      temperature: {type: number, unit: °C}
      context: {type: integer, unit: tokens}
  GPU:
    is_a: Device
    attributes:
      cores: {type: integer}
  Laptop: {is_a: Device}
  GamingLaptop: {is_a: Laptop}
  Maker: {attributes: {founded: {type: integer}}}
relations:
  made_by: {domain: Device, range: Maker, attributes: {cache: {type: number, unit: MB}}}
  beats: {domain: Device, range: Device}
"""


def devices() -> Ontology:
    ontology, findings = compile_ontology(ONTOLOGY, file="ontology.yaml")
    assert ontology is not None, findings
    return ontology


@pytest.fixture(scope="module", params=["reference", "ladybug"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Select]:
    """SELECT over some devices that three documents tell of, each in a change of its own."""
    ontology = devices()
    folder = tmp_path_factory.mktemp("language")
    store: Store = ReferenceStore(ontology) if request.param == "reference" else open_store(folder / "store", ontology)
    plug, h200, a100 = thing("Plug", "Device"), thing("H200", "GPU"), thing("A100", "GPU")
    slim, beast, acme = thing("Slim", "Laptop"), thing("Beast", "GamingLaptop"), thing("Acme", "Maker")
    with store:
        first = [
            say(plug, "power", 2.0),
            say(h200, "memory", 141.0),
            say(h200, "power", 700.0),
            say(a100, "memory", 80.0),
        ]
        first += [say(h200, "cores", 16896), say(slim, "memory", 0.5), say(slim, "power", 0.065e3, 0.5)]
        first += [say(h200, "made_by", acme, cache=50.0), say(h200, "beats", a100), say(acme, "founded", 1993)]
        store.write([document("first.md", first, ontology=ontology)])
        second = [say(beast, "power", 240.0), say(beast, "beats", slim), say(a100, "beats", beast)]
        second += [say(beast, "ports", "USB"), say(beast, "ports", "HDMI"), say(slim, "sizes", 512.0)]
        second += [say(slim, "layers", 7), say(slim, "temperature", 40.0), say(slim, "context", 131072)]
        store.write([document("second.md", second, ontology=ontology)])
        store.write([document("third.md", [say(plug, "beats", thing("Socket", "Device"))], ontology=ontology)])
        store.delete(["third.md"])
        projection = ColumnarProjection(store, folder / "tables")
        yield lambda sql, **options: select(store, projection, sql, **options)


def tuples(selection: Selection) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in selection.rows.columns), strict=True))


def error(run: Select, sql: str) -> str:
    with pytest.raises(QueryError) as caught:
        run(sql)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def names(run: Select, condition: str, table: str = "Device") -> list[str]:
    return [row[0] for row in tuples(run(f"SELECT name FROM {table} WHERE {condition} ORDER BY name"))]


# Subtypes


def test_a_type_holds_the_things_of_its_subtypes(run: Select) -> None:
    found = tuples(run("SELECT name, _type FROM Device ORDER BY name"))
    assert found == [
        ("A100", "GPU"), ("Beast", "GamingLaptop"), ("H200", "GPU"), ("Plug", "Device"), ("Slim", "Laptop"),
    ]  # fmt: skip
    assert tuples(run("SELECT name, _type FROM Laptop ORDER BY 1")) == [("Beast", "GamingLaptop"), ("Slim", "Laptop")]
    assert tuples(run("SELECT name FROM GamingLaptop")) == [("Beast",)]
    assert tuples(run("SELECT count(*) FROM Maker")) == [(1,)]


def test_its_columns_are_its_own(run: Select) -> None:
    assert [c.name for c in run("SELECT * FROM Device").columns] == [
        "name", "power", "memory", "released", "ports", "sizes", "layers", "temperature", "context",
    ]  # fmt: skip
    assert [c.name for c in run("SELECT * FROM GPU").columns][-1] == "cores"
    assert error(run, "SELECT cores FROM Device").startswith("1:8: there is no column 'cores'")


def test_values_of_subtypes_have_their_provenance(run: Select) -> None:
    found = run("SELECT name, provenance(memory), _documents, _confidence FROM Device WHERE memory = 141")
    assert tuples(found) == [("H200", ["first.md:1-2"], ["first.md"], 1.0)]


def test_relations_link_subtypes(run: Select) -> None:
    sql = "SELECT subject, _subject_type, object, _object_type FROM beats ORDER BY subject"
    assert tuples(run(sql)) == [
        ("A100", "GPU", "Beast", "GamingLaptop"),
        ("Beast", "GamingLaptop", "Slim", "Laptop"),
        ("H200", "GPU", "A100", "GPU"),
    ]


def test_types_can_be_told_apart_in_a_condition(run: Select) -> None:
    assert names(run, "_type = 'GPU'") == ["A100", "H200"]
    assert names(run, "_type IN ('Laptop', 'GamingLaptop')") == ["Beast", "Slim"]
    assert error(run, "SELECT 1 FROM Device WHERE _type = 'Gpu'") == "1:36: 'Gpu' is not a type; did you mean 'GPU'?"
    assert error(run, "SELECT 1 FROM Laptop WHERE _type = 'GPU'").startswith(
        "1:36: 'GPU' is not a type; known: Laptop,"
    )
    assert error(run, "SELECT 1 FROM made_by WHERE _object_type = 'Make'").endswith("did you mean 'Maker'?")
    assert error(run, "SELECT 1 FROM neighbours('H200') WHERE type = 'gpu'").endswith("did you mean 'GPU'?")
    assert tuples(run("SELECT main.coverage.known FROM main.Device, main.coverage LIMIT 0")) == []
    assert tuples(run("SELECT _type, count(*) FROM Device GROUP BY _type ORDER BY 1"))[1] == ("GPU", 2)


# Hidden columns


def test_hidden_columns_say_where_a_row_comes_from(run: Select) -> None:
    hidden = "_id, _type, _aliases, _page, _documents, _evidence, _confidence, _updated"
    (row,) = run(f"SELECT {hidden} FROM Device WHERE name = 'Slim'").rows.to_pylist()
    assert (row["_type"], row["_aliases"], row["_page"]) == ("Laptop", [], None)
    assert row["_documents"] == ["first.md", "second.md"]
    assert row["_evidence"] == [f"first.md:{n}-{n + 1}" for n in (5, 6)] + [
        f"second.md:{n}-{n + 1}" for n in (5, 6, 7, 8)
    ]
    assert (row["_confidence"], row["_updated"]) == (0.5, 2)
    assert tuples(run(f"SELECT name FROM Device WHERE _id = '{row['_id']}'")) == [("Slim",)]
    assert tuples(run("SELECT _documents, _evidence, _confidence, _updated FROM made_by")) == [
        (["first.md"], ["first.md:7-8"], 1.0, 1)
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM {}",
        "SELECT t.* FROM {} t",
        "SELECT * EXCLUDE ({}) FROM {}",
        "WITH w AS (SELECT * FROM {}) SELECT * FROM w",
    ],
)
def test_a_star_leaves_hidden_columns_out(run: Select, sql: str) -> None:
    for table, column in (("Device", "name"), ("made_by", "object"), ("neighbours('H200')", "entity")):
        found = run(sql.format(*((column, table) if "EXCLUDE" in sql else (table,))))
        assert found.columns
        assert not any(c.name.startswith("_") for c in found.columns)


# Quantities


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("memory > '24 GB'", ["A100", "H200"]),
        ("memory = '80000 MB'", ["A100"]),
        ("memory >= '0.08 TB'", ["A100", "H200"]),
        ("memory < '1 GiB'", ["Slim"]),
        ("memory <> '80 GB'", ["H200", "Slim"]),
        ("memory BETWEEN '100 MB' AND '79,999 MB'", ["Slim"]),
        ("memory IN ('500 MB', '141 GB')", ["H200", "Slim"]),
        ("memory NOT IN ('500 MB', '141 GB')", ["A100"]),
        ("'24 GB' < memory", ["A100", "H200"]),
        ("memory = ANY (SELECT 80)", ["A100"]),
        ("power = '0.7 kW'", ["H200"]),
        ("power > '-1 W' AND power <= '2 W'", ["Plug"]),
        ("sizes = '0.512 GB'", ["Slim"]),
        ("sizes = '512 MB'", ["Slim"]),
        ("sizes IN ('0.512 GB')", ["Slim"]),
        ("list_contains(sizes, '0.512 GB')", ["Slim"]),
        ("layers = '7 layers' AND layers < '8 layer'", ["Slim"]),
        ("temperature > '100 °F'", ["Slim"]),
        ("context = '128K tokens'", ["Slim"]),
        ("context >= '0.1M tokens'", ["Slim"]),
        ("CASE memory WHEN '80 GB' THEN TRUE ELSE FALSE END", ["A100"]),
        ("(name, memory) = ('A100', '80000 MB')", ["A100"]),
        ("(name, memory) IN (('A100', '80000 MB'), ('H200', '1 GB'))", ["A100"]),
        ("memory * 2 > '200 GB'", ["H200"]),
        ("memory + 1 = '81000 MB'", ["A100"]),
        ("coalesce(memory, 0) < '600 MB'", ["Beast", "Plug", "Slim"]),
        ("memory > (SELECT min(cache) FROM made_by)", ["A100", "H200", "Slim"]),
        ("memory IS DISTINCT FROM '80 GB' AND memory > '1 GB'", ["H200"]),
    ],
)  # fmt: skip
def test_quantities_are_compared_across_units(run: Select, condition: str, expected: list[str]) -> None:
    assert names(run, condition) == expected


def test_columns_in_different_units_are_compared_by_what_they_count(run: Select) -> None:
    sql = "SELECT d.name FROM Device d, made_by m WHERE d.memory {} m.cache ORDER BY 1"
    assert [r[0] for r in tuples(run(sql.format(">=")))] == ["A100", "H200", "Slim"]  # 0.5 GB and more, 50 MB
    assert tuples(run(sql.format("<"))) == []
    assert tuples(run("SELECT max(memory) > '140 GB', avg(memory) < '73900 MB' FROM Device")) == [(True, True)]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT name FROM Device WHERE memory > '24 kg'", "1:40: memory counts GB, and '24 kg' cannot be converted"),
        ("SELECT name FROM Device WHERE memory > '24 %'", "1:40: memory counts GB, and '24 %' cannot be converted"),
        ("SELECT name FROM Device WHERE memory > '24 gb'", "1:40: memory counts GB, and '24 gb' cannot"),
        ("SELECT name FROM Device WHERE memory > '24'", "1:40: memory is a number and cannot be compared with '24';"),
        ("SELECT name FROM Device WHERE memory > 'much'", "1:40: memory is a number and cannot be compared with"),
        ("SELECT name FROM Device WHERE layers > '7 GB'", "1:40: layers counts layers, and '7 GB' cannot be converted"),
        (
            "SELECT name FROM Device WHERE context = '128K'",
            "1:41: context is a number and cannot be compared with '128K'; wri",
        ),
        ("SELECT name FROM Device WHERE max(sizes) > '1 GB'", "1:35: 'sizes' holds many values"),
        ("SELECT cores FROM GPU WHERE cores > '1 GB'", "1:37: cores is a number and cannot be compared with '1 GB'"),
        ("SELECT name FROM Device WHERE memory > power", "1:40: these cannot be compared: power counts W, memory GB"),
        (
            "SELECT name FROM Device WHERE memory IN (SELECT cache FROM made_by)",
            "1:49: the subquery counts MB, memory GB;",
        ),
        (
            "SELECT name FROM Device WHERE memory > ALL (SELECT cache FROM made_by)",
            "1:52: the subquery counts MB, memory GB;",
        ),
        ("SELECT name FROM Device WHERE memory = sizes", "1:40: sizes counts MB, memory GB; multiply"),
    ],
)
def test_what_does_not_count_the_same_is_an_error(run: Select, sql: str, said: str) -> None:
    assert error(run, sql).startswith(said)


UNITS = st.sampled_from(["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "bit", "Gbit"])
BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
         "bit": 1 / 8, "Gbit": 10**9 / 8}  # fmt: skip


@given(st.integers(-(10**6), 10**6), UNITS, UNITS)
def test_quantities_keep_what_they_count(number: int, unit: str, other: str) -> None:
    found = in_unit(f"{number} {unit}", other)
    assert found == pytest.approx(number * BYTES[unit] / BYTES[other], rel=1e-12)
    factor, offset = between(unit, other)
    assert float(factor) == pytest.approx(BYTES[unit] / BYTES[other])
    assert offset == 0


@given(st.text(max_size=20), st.sampled_from(["GB", "°C", "tokens", "m/s", "%"]))
@settings(max_examples=300)
def test_a_text_is_a_quantity_or_none_or_in_another_unit(text: str, unit: str) -> None:
    for candidate in (text, f"3 {text}", f"3{text}{unit}"):
        try:
            assert in_unit(candidate, unit) is None or any(c.isnumeric() for c in candidate)
        except NotInUnit:
            assert any(c.isnumeric() for c in candidate)


# AS OF


def test_a_table_can_be_read_as_it_was(run: Select) -> None:
    sql = "SELECT count(*) FROM Device AS OF {} d"
    assert [tuples(run(sql.format(change)))[0][0] for change in (1, 2, 3, 4)] == [4, 5, 6, 5]
    assert tuples(run("SELECT count(*) FROM beats AS OF 1")) == [(1,)]
    assert tuples(run("SELECT b.subject FROM beats AS OF 3 AS b WHERE b.object = 'Socket'")) == [("Plug",)]
    now_and_then = "SELECT o.name FROM Device AS OF 3 o ANTI JOIN Device n ON n._id = o._id"
    assert tuples(run(now_and_then)) == [("Socket",)]
    assert tuples(run("SELECT d.memory FROM GPU AS OF 2 d WHERE d.memory > '100 GB'")) == [(141.0,)]
    assert tuples(run("SELECT known FROM coverage AS OF 1 WHERE table_name = 'Laptop' AND attribute = 'layers'")) == [
        (0,)
    ]
    assert tuples(run("SELECT of.name FROM Maker AS of")) == [("Acme",)]


def test_a_table_can_be_read_as_it_was_at_a_time(run: Select) -> None:
    later = (date.today() + timedelta(days=2)).isoformat()
    assert tuples(run(f"SELECT count(*) FROM Device AS OF DATE '{later}'")) == [(5,)]
    assert tuples(run(f"SELECT count(*) FROM Device AS OF TIMESTAMP '{later} 12:00' AS d")) == [(5,)]
    assert tuples(run(f"SELECT count(*) FROM Device AS OF TIMESTAMP '{later} 12:00:00.5+02:00'")) == [(5,)]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT 1 FROM Device AS OF 5", "1:22: there is no change 5; changes are numbered from 1 to 4"),
        ("SELECT 1 FROM Device AS OF 0", "1:22: there is no change 0; changes are numbered from 1 to 4"),
        ("SELECT 1 FROM\n Device AS OF DATE '2001-01-01'", "2:9: the graph was empty at 2001-01-01T00:00:00+00:00: "),
        ("SELECT 1 FROM Device AS OF TIMESTAMP 'noon'", "1:38: 'noon' is no time; write 2026-11-30 12:00"),
        ("SELECT 1 FROM Device AS OF 'noon'", "1:28: AS OF takes the number of a change or a time, not 'noon'"),
        ("SELECT 1 FROM Device AS OF 1.5", "1:28: AS OF takes the number of a change or a time, not 1.5"),
        ("SELECT 1 FROM Device AS OF -1", "1:29: AS OF takes the number of a change or a time, not 1"),
        ("SELECT 1 FROM Device AS OF (SELECT 1) d", "1:36: AS OF takes the number of a change or a time"),
        ("SELECT 1 FROM Maker m, Device AS OF m.founded", "1:37: AS OF takes the number of a change or a time, not m"),
        ("WITH w AS (SELECT 1) SELECT 1 FROM w AS OF 1 x", "1:38: AS OF stands behind a type or relation, and w is"),
        ("SELECT 1 FROM neighbours('H200') AS OF 1 x", "1:34: AS OF stands behind a type or relation, and neighbours"),
        ("SELECT 1 FROM information_schema.tables AS OF 1 x", "1:41: AS OF stands behind a type or relation"),
    ],
)  # fmt: skip
def test_what_no_table_was_is_an_error(run: Select, sql: str, said: str) -> None:
    assert error(run, sql).startswith(said)


# Walks


def test_neighbours_are_rows(run: Select) -> None:
    assert tuples(run("SELECT * FROM neighbours('h200') ORDER BY entity")) == [
        ("A100", "GPU", 1, "H200", "beats", "A100"),
        ("Acme", "Maker", 1, "H200", "made_by", "Acme"),
    ]
    found = run(
        "SELECT n.entity, n.distance FROM neighbours('H200', depth => 3) AS n WHERE n.type <> 'Maker' ORDER BY 2"
    )
    assert tuples(found) == [("A100", 1), ("Beast", 2), ("Slim", 3)]
    assert [c.type for c in found.columns] == ["string", "integer"]
    joined = "SELECT d.name, d.power FROM neighbours('H200', depth := 2) JOIN Device d USING (_id) ORDER BY d.name"
    assert tuples(run(joined)) == [("A100", None), ("Beast", 240.0)]
    cited = "SELECT _evidence, _documents, _confidence, provenance(relation) FROM neighbours('Acme', type => 'Maker')"
    assert tuples(run(cited)) == [(["first.md:7-8"], ["first.md"], 1.0, ["first.md:7-8"])]
    assert tuples(run("SELECT * FROM neighbours('Plug', 5)")) == []
    (row,) = tuples(run("SELECT _id FROM Device WHERE name = 'Slim'"))
    assert tuples(run(f"SELECT entity FROM neighbours('{row[0]}', type => 'Device')")) == [("Beast",)]


def test_paths_are_rows_a_step(run: Select) -> None:
    assert tuples(run("SELECT * FROM paths('Slim', 'Acme', max => 4) ORDER BY path, step")) == [
        (1, 4, 1, "Beast", "beats", "Slim", False),
        (1, 4, 2, "A100", "beats", "Beast", False),
        (1, 4, 3, "H200", "beats", "A100", False),
        (1, 4, 4, "H200", "made_by", "Acme", True),
    ]
    assert tuples(run("SELECT max(length) FROM paths('Slim', 'Acme', max => 3)")) == [(None,)]
    ids = "SELECT p._subject_id = d._id, p._documents FROM paths('H200', 'A100', 1) p JOIN GPU d ON d.name = p.subject"
    assert tuples(run(ids)) == [(True, ["first.md"])]
    assert tuples(run("SELECT count(*) FROM paths('Slim', 'Acme') p, neighbours('Slim') n")) == [(4,)]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("neighbours('H20')", "1:26: there is no 'H20'; did you mean 'H200'?"),
        ("neighbours('Acme', type => 'GPU')", "1:26: there is no 'Acme' of type GPU"),
        ("neighbours('H200', type => 'Gpus')", "1:42: there is no type 'Gpus'; did you mean 'GPU'?"),
        ("neighbours()", "1:15: neighbours needs neighbours('entity', depth => 1, type => …)"),
        ("neighbours('H200', 'A100')", "1:34: 'A100' is not a constant such as 2"),
        ("neighbours('H200', depht => 2)", "1:34: neighbours has no argument 'depht'; did you mean 'depth'?"),
        ("neighbours('H200', 1, 'GPU', 4)", "1:44: neighbours takes neighbours('entity', depth => 1, type => …)"),
        ("neighbours('H200', depth => 1, 2)", "1:46: neighbours takes"),
        ("neighbours('H200', 1, depth => 2)", "1:37: 'depth' is given twice"),
        ("neighbours('H200', depth => 0)", "1:43: depth is a number from 1 to 10, not 0"),
        ("neighbours('H200', depth => 1.5)", "1:43: depth is a number from 1 to 10, not 1.5"),
        ("neighbours('H200', depth => 11)", "1:43: depth is a number from 1 to 10, not 11"),
        ("neighbours(200)", "1:26: 200 is not a constant such as 'Qwen2'"),
        ("neighbours('H' || '200')", "1:26: 'H' || '200' is not a constant such as 'Qwen2'"),
        ("neighbours(NULL)", "1:15: NULL is not a constant"),
        ("neighbours((SELECT 'H200'))", "1:34: a subquery is not a constant such as 'Qwen2'"),
        ("Device d, neighbours(d.name)", "1:36: d.name is not a constant such as 'Qwen2'"),
        ("neighbours('H200') n(a)", "1:36: rename the columns of a walk in the SELECT list"),
        ("paths('H200')", "1:15: paths needs paths('start', 'end', max => 4, start_type => …, end_type => …)"),
        ("paths('H200', 'A10')", "1:29: there is no 'A10'; did you mean 'A100'?"),
    ],
)
def test_walks_say_what_is_wrong_where_it_stands(run: Select, call: str, said: str) -> None:
    assert error(run, f"SELECT * FROM {call}").startswith(said)


def test_a_name_that_several_have_needs_a_type(tmp_path: Path) -> None:
    store, twin, other = ReferenceStore(things()), thing("Twin"), thing("Twin", "Maker")
    store.write([document("a.md", [say(twin, "beats", other)], ontology=store.ontology)])
    projection = ColumnarProjection(store, tmp_path)
    with pytest.raises(QueryError) as caught:
        select(store, projection, "SELECT * FROM neighbours('twin')")
    assert str(caught.value) == (
        f"1:26: 'twin' may be Twin (Maker, {other.id}), Twin (Thing, {twin.id}) (say type => '…', or give the id)"
    )
    found = select(store, projection, "SELECT entity, type FROM neighbours('twin', type => 'thing')")
    assert tuples(found) == [("Twin", "Maker")]
    by_id = select(store, projection, f"SELECT count(*) FROM paths('{twin.id}', 'twin', end_type => 'Maker')")
    assert tuples(by_id) == [(1,)]


def test_what_is_too_much_to_walk_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.walks.MOST_NEIGHBOURS", 3)
    monkeypatch.setattr("graph.walks.MOST_PATHS", 3)
    store, hub = ReferenceStore(things()), thing("hub")
    said = [say(hub, "beats", thing(f"spoke {n}")) for n in range(4)]
    said += [say(thing(f"spoke {n}"), "beats", thing("rim")) for n in range(4)]
    store.write([document("a.md", said, ontology=store.ontology)])
    projection = ColumnarProjection(store, tmp_path)
    for call, message in {
        "neighbours('hub')": "1:15: more than 3 entities lie within 1 of hub (ask for a smaller depth)",
        "paths('hub', 'rim', max => 2)": "1:15: more than 3 paths of at most 2 lead from hub to rim",
    }.items():
        with pytest.raises(QueryError) as caught:
            select(store, projection, f"SELECT * FROM {call} LIMIT 1")
        assert str(caught.value).startswith(message)
        assert caught.value.code == "too-much-to-walk"


# Views


def test_information_schema_lists_what_there_is(run: Select) -> None:
    sql = (
        "SELECT table_schema, table_name, table_type, kind, is_a, subjects, description FROM information_schema.tables"
    )
    found = tuples(run(sql))
    assert [row[1] for row in found] == [
        "Device", "GPU", "Laptop", "GamingLaptop", "Maker", "made_by", "beats", "coverage", "tables", "columns",
    ]  # fmt: skip
    assert found[0] == ("main", "Device", "BASE TABLE", "type", None, None, "A thing with a plug.")
    assert found[3][:5] == ("main", "GamingLaptop", "BASE TABLE", "type", "Laptop")
    assert found[5][3:6] == ("relation", None, ["Device", "GPU", "Laptop", "GamingLaptop"])
    assert found[8][:4] == ("information_schema", "tables", "VIEW", "view")


def test_information_schema_lists_columns(run: Select) -> None:
    sql = """SELECT column_name, ordinal_position, is_nullable, data_type, value_type, many, unit, allowed_values,
          description
        FROM Information_Schema.Columns WHERE table_name = 'Device' AND is_hidden = 'NO' ORDER BY ordinal_position"""
    found = tuples(run(sql))
    assert found[0][:5] == ("name", 1, "NO", "VARCHAR", "string")
    assert found[2] == ("memory", 3, "YES", "DOUBLE", "number", False, "GB", None, "On board.")
    assert found[4] == ("ports", 5, "YES", "VARCHAR[]", "list of enum", True, None, ["USB", "HDMI"], None)
    hidden = run("SELECT column_name FROM information_schema.columns WHERE table_name = 'beats' AND is_hidden = 'YES'")
    assert ("_subject_type",) in tuples(hidden)


def test_every_column_that_is_listed_can_be_read_and_has_its_type(run: Select) -> None:
    listed = tuples(run("SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns"))
    assert len(listed) > 80
    for schema, table, column, data_type in listed:
        name = f"{schema}.{table}" if schema != "main" else table
        found = run(f'SELECT "{column}" FROM {name} LIMIT 1').rows.schema.field(0).type
        sort = {"VARCHAR": "string", "DOUBLE": "double", "BIGINT": "int64", "BOOLEAN": "bool", "DATE": "date32[day]"}
        one = sort[data_type.removesuffix("[]")]
        numbers = {"double", "int64"}
        text = str(found)
        base = (
            text.removeprefix("list<element: ").removesuffix(">").removeprefix("list<l: ")
            if "[]" in data_type
            else text
        )
        assert base == one or {base, one} <= numbers, (table, column, text, data_type)


def test_coverage_tells_none_from_nobody_said(run: Select) -> None:
    sql = "SELECT entities, known, unknown, share, kind FROM coverage WHERE table_name = '{}' AND attribute = '{}'"
    assert tuples(run(sql.format("Device", "memory"))) == [(5, 3, 2, 0.6, "attribute")]
    assert tuples(run(sql.format("Device", "released"))) == [(5, 0, 5, 0.0, "attribute")]
    assert tuples(run(sql.format("Device", "ports"))) == [(5, 1, 4, 0.2, "attribute")]
    assert tuples(run(sql.format("GPU", "cores"))) == [(2, 1, 1, 0.5, "attribute")]
    assert tuples(run(sql.format("Device", "made_by"))) == [(5, 1, 4, 0.2, "relation")]
    assert tuples(run(sql.format("Laptop", "beats"))) == [(2, 1, 1, 0.5, "relation")]
    assert tuples(run(sql.format("made_by", "cache"))) == [(1, 1, 0, 1.0, "attribute")]
    empty = "SELECT sum(known), count(*) FROM coverage c WHERE entities = 0 AND share IS NOT NULL"
    assert tuples(run(empty)) == [(None, 0)]


# EXPLAIN


def test_explain_shows_the_plan_in_the_words_of_the_statement(run: Select) -> None:
    sql = """EXPLAIN SELECT d.name, count(*) AS n, provenance(d.power) FROM Device d JOIN beats b ON b.subject = d.name
        WHERE d.ports LIKE 'U%' AND b.object > 'B' GROUP BY ALL ORDER BY n"""
    found = run(sql.replace(", provenance(d.power)", ""))
    assert [(c.name, c.type) for c in found.columns] == [("plan", "string")]
    text = "\n".join(row[0] for row in tuples(found))
    assert "read beats; filters: (object > 'B')" in text
    assert "read Device; " in text
    assert "hash join; join type: INNER; conditions: " in text
    assert "(value ~~ " in text
    assert not re.search(r"parquet|/|_citations|_value|_row|_triples|_place", text), text
    walk = "\n".join(
        row[0] for row in tuples(run("explain SELECT distance FROM neighbours('H200') WHERE distance > 1"))
    )
    assert "read neighbours" in walk
    assert error(run, "EXPLAIN SELECT nme FROM Maker").startswith("1:16: there is no column 'nme'")
    assert error(run, "EXPLAIN ANALYZE SELECT 1") == "1:1: EXPLAIN ANALYZE is not allowed; EXPLAIN alone is"
    assert error(run, "EXPLAIN DROP TABLE Maker") == "1:1: DROP is not allowed; only SELECT is"


# Limits


def test_another_thread_can_cancel(run: Select) -> None:
    cancelled, begun = threading.Event(), threading.Event()
    timer = threading.Timer(0.3, cancelled.set)
    timer.start()
    begun.set()
    with pytest.raises(QueryError) as caught:
        run("SELECT count(*) FROM range(1000000000000) AS r(i) WHERE i % 7 = 3", cancelled=cancelled, timeout=300)
    timer.join()
    assert (str(caught.value), caught.value.code) == ("the statement was cancelled", "cancelled")
    with pytest.raises(QueryError, match="the statement was cancelled"):
        run("SELECT 1", cancelled=cancelled)
    assert tuples(run("SELECT 1", cancelled=threading.Event())) == [(1,)]


def test_the_time_limit_holds_where_it_could_be_cancelled(run: Select) -> None:
    with pytest.raises(QueryError) as caught:
        run(
            "SELECT count(*) FROM range(1000000000000) AS r(i) WHERE i % 7 = 3",
            cancelled=threading.Event(),
            timeout=0.3,
        )
    assert caught.value.code == "timeout"


def test_too_much_memory_reads_well(run: Select) -> None:
    with pytest.raises(QueryError) as caught:
        run("SELECT len(array_agg(i ORDER BY i % 7)) FROM range(200000000) AS r(i)", timeout=300)
    assert str(caught.value) == (
        "the statement needs more than 1 GB of memory "
        "(narrow it down with WHERE, or let fewer rows be sorted, grouped or gathered at once)"
    )


# Many values in every place


LISTED = {name for name, function in FUNCTIONS.items() if function.lists} - {"provenance"}


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - LISTED - {"provenance"}))
def test_a_function_of_single_values_takes_no_column_of_many(run: Select, name: str) -> None:
    for arguments in ("ports", "1, ports", "'a', 1, ports"):
        for over in ("", " OVER ()"):
            with pytest.raises(QueryError) as caught:
                run(f"SELECT {name}({arguments}){over} FROM Device")
            at = 8 + len(name) + 1 + arguments.index("ports")
            if caught.value.code not in ("type", "syntax"):  # the other argument, or how many there are
                assert (caught.value.code, caught.value.column) == ("many-values", at)
                assert "UNNEST(ports)" in caught.value.hint


@pytest.mark.parametrize("name", sorted(LISTED))
def test_a_function_of_lists_takes_it_whole(run: Select, name: str) -> None:
    arguments = {1: "ports", 2: "ports, 'USB'", 3: "ports, 1, 2"}
    codes = [code_of(run, f"SELECT {name}({given}) FROM Device") for given in arguments.values()]
    assert "many-values" not in codes
    assert {"", "type", "execution"} >= set(codes)


def code_of(run: Select, sql: str) -> str:
    """The code of the error; empty where the statement runs."""
    try:
        run(sql)
    except QueryError as caught:
        return caught.code
    return ""


@pytest.mark.parametrize(
    "expression",
    [
        *(f"ports {sign} 'USB'" for sign in ("<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "||")),
        *(f"ports {sign} 1" for sign in ("+", "-", "*", "/", "//", "%", "^")),
        "-ports",
        "NOT ports",
        "ports AND TRUE",
        "ports IS TRUE",
        "ports BETWEEN 'a' AND 'b'",
        "'a' BETWEEN ports AND 'b'",
        "CAST(ports AS VARCHAR)",
        "CASE ports WHEN 'USB' THEN 1 END",
        "CASE WHEN ports THEN 1 END",
        "name LIKE ports",
        "name IN (ports)",
        "name IN (SELECT ports FROM Device)",
        "ports = ALL (SELECT 'USB')",
        "ports = ANY (SELECT 'USB')",
        "(name, ports) = ('a', 'b')",
        "(name, ports) IN (('a', 'b'))",
        "(name, name) IN (SELECT name, ports FROM Device)",
        "[ports]",
        "substring(ports FROM 2)",
        "trim(ports)",
        "position('a' IN ports)",
        "EXTRACT(year FROM ports)",
        "name[ports]",
        "count(DISTINCT ports)",
        "count(*) FILTER (WHERE ports)",
        "sum(1) OVER (ORDER BY ports)",
        "sum(1) OVER (PARTITION BY ports)",
        "string_agg(name, ',' ORDER BY ports)",
        "lag(ports IGNORE NULLS) OVER ()",
        "INTERVAL (ports) DAY",
        "if(ports, 1, 2)",
    ],
)  # fmt: skip
def test_an_operator_of_single_values_takes_no_column_of_many(run: Select, expression: str) -> None:
    with pytest.raises(QueryError) as caught:
        run(f"SELECT {expression} FROM Device")
    assert caught.value.code in ("many-values", "type"), expression
    assert caught.value.line == 1
    if caught.value.code == "many-values":
        assert "UNNEST(" in caught.value.hint


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("ports = 'USB'", ["Beast"]),
        ("'HDMI' = ports", ["Beast"]),
        ("ports IN ('USB')", ["Beast"]),
        ("ports LIKE 'U%'", ["Beast"]),
        ("ports ILIKE 'usb'", ["Beast"]),
        ("ports SIMILAR TO 'U.*'", ["Beast"]),
        ("ports <> 'USB'", []),
        ("ports NOT IN ('USB')", []),
        ("ports NOT LIKE 'x%'", ["Beast"]),
        ("ports IS NOT NULL", ["Beast"]),
        ("'USB' = ANY(ports)", ["Beast"]),
        ("len(ports) = 2", ["Beast"]),
        ("ports[1] = 'HDMI'", ["Beast"]),
        ("ports IN (SELECT 'USB')", ["Beast"]),
        ("ports NOT IN (SELECT 'USB')", []),
    ],
)  # fmt: skip
def test_a_column_of_many_values_is_compared_by_any_of_them(run: Select, condition: str, expected: list[str]) -> None:
    assert names(run, condition) == expected
