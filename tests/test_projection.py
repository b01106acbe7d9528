from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_store import ReferenceStore
from select_parts import document, say, thing, things

from graph.manifest import MANIFEST, read_manifest
from graph.open import open_store
from graph.projection import ColumnarProjection
from graph.store import Store
from graph.tables import describe
from ontology import Ontology
from ontology.read import compile_ontology
from ontoloom.records import Extraction

Rows = list[dict[str, Any]]
OpenStore = Callable[[str], Store]


@pytest.fixture(params=["reference", "ladybug"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStore:
    ontology = things()

    def make(name: str) -> Store:
        store = ReferenceStore(ontology) if request.param == "reference" else open_store(tmp_path / name, ontology)
        request.addfinalizer(store.close)
        return store

    return make


def rows(projection: ColumnarProjection, key: str) -> Rows:
    """All stored columns of a table, companions included, by id."""
    table = next(t for t in projection.tables if t.key == key)
    found: Rows = pq.read_table(projection.path(table)).to_pylist()
    return sorted(found, key=lambda row: str(row["_id"]))


def everything(projection: ColumnarProjection) -> dict[str, Rows]:
    return {t.key: rows(projection, t.key) for t in projection.tables}


RED, GREEN = thing("Red One"), thing("Green One")
ACME, BOLT = thing("Acme", "Maker"), thing("Bolt", "Maker")


def example(ontology: Ontology) -> list[Extraction]:
    return [
        document(
            "one.md",
            [
                say(RED, "name", "Red One"),
                say(RED, "size", 5, 0.5),
                say(RED, "weight", 2.5),
                say(RED, "broken", False),
                say(RED, "made", date(2024, 5, 1)),
                say(RED, "tags", "b"),
                say(RED, "sizes", 10),
                say(RED, "sizes", 9),
                say(RED, "box.width", 3),
                say(RED, "beats", GREEN, 0.25, judge=ACME, margin=1.5, on=date(2024, 1, 2)),
            ],
            ontology=ontology,
        ),
        document(
            "two.md", [say(RED, "size", 7, 0.75), say(RED, "tags", "a"), say(RED, "tags", "b")], ontology=ontology
        ),
        document("three.md", [say(ACME, "size", "large"), say(RED, "made_by", ACME)], ontology=ontology),
    ]


def test_rows_hold_typed_values_with_their_citations(opened: OpenStore, tmp_path: Path) -> None:
    store = opened("store")
    store.write(example(store.ontology))
    projection = ColumnarProjection(store, tmp_path / "tables")
    assert projection.refresh() == store.last_change() == 1
    red = next(row for row in rows(projection, "type Thing") if row["name"] == "Red One")
    assert red.pop("_triples")
    assert red == {
        "name": "Red One",
        "size": 7,
        "weight": 2.5,
        "broken": False,
        "made": date(2024, 5, 1),
        "note": None,
        "colour": None,
        "tags": ["a", "b"],
        "sizes": [9, 10],
        "days": None,
        "words": None,
        "box.width": 3.0,
        "box.labels": None,
        "_id": RED.id,
        "_aliases": [],
        "_page": None,
        "_documents": ["one.md", "three.md", "two.md"],
        "_evidence": [f"one.md:{i}-{i + 1}" for i in (0, 2, 3, 4, 5, 6, 7, 8)]
        + [f"two.md:{i}-{i + 1}" for i in (0, 1, 2)],
        "_confidence": 0.75,
        "_updated": 1,
        "_citations.name": ["one.md:0-1"],
        "_citations.size": ["two.md:0-1"],
        "_citations.weight": ["one.md:2-3"],
        "_citations.broken": ["one.md:3-4"],
        "_citations.made": ["one.md:4-5"],
        "_citations.note": None,
        "_citations.colour": None,
        "_citations.tags": ["one.md:5-6", "two.md:1-2", "two.md:2-3"],
        "_citations.sizes": ["one.md:6-7", "one.md:7-8"],
        "_citations.days": None,
        "_citations.words": None,
        "_citations.box.width": ["one.md:8-9"],
        "_citations.box.labels": None,
    }
    (beats,) = rows(projection, "relation beats")
    assert beats.pop("_id")
    assert beats == {
        "subject": "Red One",
        "object": "Green One",
        "judge": "Acme",
        "margin": 1.5,
        "on": date(2024, 1, 2),
        "_subject_id": RED.id,
        "_subject_type": "Thing",
        "_object_id": GREEN.id,
        "_object_type": "Thing",
        "_documents": ["one.md"],
        "_evidence": ["one.md:9-10"],
        "_confidence": 0.25,
        "_updated": 1,
    }


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ([("a.md", 1, 0.5), ("b.md", 2, 0.9)], 2),
        ([("a.md", 1, 0.5), ("b.md", 2, 0.5), ("c.md", 2, 0.5)], 2),
        ([("a.md", 30, 0.5), ("b.md", 4, 0.5)], 30),
    ],
    ids=["highest confidence", "most evidence", "smallest text"],
)
def test_of_competing_values_one_is_shown(tmp_path: Path, said: list[tuple[str, int, float]], shown: int) -> None:
    ontology = things()
    store = ReferenceStore(ontology)
    store.write([document(d, [say(RED, "size", value, sure)], ontology=ontology) for d, value, sure in said])
    projection = ColumnarProjection(store, tmp_path)
    projection.refresh()
    assert [row["size"] for row in rows(projection, "type Thing")] == [shown]


def test_without_change_nothing_is_done(tmp_path: Path) -> None:
    store = ReferenceStore(things())
    store.write(example(store.ontology))
    ColumnarProjection(store, tmp_path).refresh()
    before = {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir() if p.name != ".lock"}
    assert ColumnarProjection(store, tmp_path).refresh() == 1
    assert {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir() if p.name != ".lock"} == before


def test_only_touched_tables_are_written_again(tmp_path: Path) -> None:
    store = ReferenceStore(things())
    store.write(example(store.ontology))
    projection = ColumnarProjection(store, tmp_path)
    projection.refresh()
    before = read_manifest(tmp_path)
    store.write([document("four.md", [say(GREEN, "size", 1)], ontology=store.ontology)])
    projection.refresh()
    after = read_manifest(tmp_path)
    assert before is not None
    assert after is not None
    assert {k for k in after.tables if after.tables[k] != before.tables[k]} == {"type Thing"}
    assert all((tmp_path / entry.name).exists() for entry in before.tables.values()), "old readers still find theirs"
    store.write([document("five.md", [say(GREEN, "size", 2)], ontology=store.ontology)])
    projection.refresh()
    assert not (tmp_path / before.tables["type Thing"].name).exists()


def test_a_new_name_is_shown_in_relations_too(opened: OpenStore, tmp_path: Path) -> None:
    store = opened("store")
    store.write(example(store.ontology))
    projection = ColumnarProjection(store, tmp_path / "tables")
    projection.refresh()
    again = [document(f"{i}.md", [], ontology=store.ontology, named=[thing("ACME")]) for i in range(3)]
    renamed = [Extraction(e.document, tuple(type(n)(ACME.id, "Maker", "ACME Inc.") for n in e.entities)) for e in again]
    store.write(renamed)
    projection.refresh()
    assert [row["judge"] for row in rows(projection, "relation beats")] == ["ACME Inc."]
    assert [row["object"] for row in rows(projection, "relation made_by")] == ["ACME Inc."]


NAMES = [thing("Red One"), thing("Green One"), thing("red one ✓"), thing("Acme", "Maker"), thing("Bolt", "Maker")]
THINGS, MAKERS = NAMES[:3], NAMES[3:]
STATEMENTS = st.one_of(
    st.builds(
        lambda s, v, c: say(s, "size", v, c), st.sampled_from(THINGS), st.integers(0, 3), st.sampled_from([0.5, 1.0])
    ),
    st.builds(lambda s, v: say(s, "tags", v), st.sampled_from(THINGS), st.sampled_from(["a", "b", "c"])),
    st.builds(lambda s, v: say(s, "size", v), st.sampled_from(MAKERS), st.sampled_from(["x", "y"])),
    st.builds(lambda s, o: say(s, "made_by", o), st.sampled_from(THINGS), st.sampled_from(MAKERS)),
    st.builds(
        lambda s, o, j, m: say(s, "beats", o, judge=j, margin=m),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        st.sampled_from(MAKERS),
        st.integers(0, 2),
    ),
)
DOCUMENTS = st.sampled_from(["a.md", "b.md", "c.md"])
WRITES = st.dictionaries(DOCUMENTS, st.lists(STATEMENTS, max_size=5, unique_by=str), min_size=1)


@given(st.lists(st.one_of(WRITES, DOCUMENTS), min_size=1, max_size=5))
@settings(max_examples=15, deadline=None)
def test_brought_up_step_by_step_equals_made_anew(
    tmp_path_factory: pytest.TempPathFactory, steps: list[dict[str, list[Any]] | str]
) -> None:
    ontology = things()
    store = ReferenceStore(ontology)
    stepwise = ColumnarProjection(store, tmp_path_factory.mktemp("stepwise"))
    stepwise.refresh()
    for step in steps:
        if isinstance(step, dict):
            store.write([consistent(name, said, ontology) for name, said in step.items()])
        elif step in store.documents():
            store.delete([step])
        stepwise.refresh()
    anew = ColumnarProjection(store, tmp_path_factory.mktemp("anew"))
    anew.refresh()
    assert everything(stepwise) == everything(anew)


def consistent(name: str, said: list[Any], ontology: Ontology) -> Extraction:
    """A document that says no triple twice in two ways."""
    found: dict[str, Any] = {}
    for statement in said:
        (triple,) = document(name, [statement], ontology=ontology).triples
        found.setdefault(triple.id, statement)
    return document(name, list(found.values()), ontology=ontology)


def test_a_killed_refresh_leaves_the_old_tables_whole(tmp_path: Path) -> None:
    store = ReferenceStore(things())
    store.write(example(store.ontology))
    projection = ColumnarProjection(store, tmp_path)
    projection.refresh()
    before = everything(projection)
    script = """
import os, signal, sys
from pathlib import Path
import graph.projection as projection
from reference_store import ReferenceStore
from select_parts import document, say, thing, things
from test_projection import example
store = ReferenceStore(things())
store.write(example(store.ontology))
store.write([document("four.md", [say(thing("New"), "size", 1)], ontology=store.ontology)])
store._changes[0] = type(store._changes[0])(1, __import__("datetime").datetime.fromisoformat(sys.argv[2]), (), (), ())
projection.write_manifest = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
projection.ColumnarProjection(store, Path(sys.argv[1])).refresh()
"""
    time = next(iter(store.changes(0))).time.isoformat()
    folders = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path), time], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    left_over = {p.name for p in tmp_path.glob("*.parquet")} - {e.name for e in manifest.tables.values()}
    assert left_over, "the killed process had written a table"
    again = ColumnarProjection(store, tmp_path)
    again.refresh()
    assert everything(again) == before
    store.write([document("five.md", [say(GREEN, "size", 1)], ontology=store.ontology)])
    again.refresh()
    assert not left_over & {p.name for p in tmp_path.glob("*.parquet")}


def damage_manifest(folder: Path) -> None:
    (folder / MANIFEST).write_text("{")


def other_format(folder: Path) -> None:
    data = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps({**data, "format": 0}))


def shorten_table(folder: Path) -> None:
    for path in folder.glob("*-*.parquet"):
        path.write_bytes(path.read_bytes()[:-8])


def remove_tables(folder: Path) -> None:
    for path in folder.glob("type-*.parquet"):
        path.unlink()


def list_as_manifest(folder: Path) -> None:
    (folder / MANIFEST).write_text("[1]")


@pytest.mark.parametrize(
    "damage", [damage_manifest, other_format, shorten_table, remove_tables, list_as_manifest], ids=lambda f: f.__name__
)
def test_what_is_damaged_is_made_anew(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    store = ReferenceStore(things())
    store.write(example(store.ontology))
    projection = ColumnarProjection(store, tmp_path)
    projection.refresh()
    before = everything(projection)
    (tmp_path / "own.parquet").write_text("not ours")
    damage(tmp_path)
    for again in (projection, ColumnarProjection(store, tmp_path)):
        again.refresh()
        assert everything(again) == before
    assert (tmp_path / "own.parquet").read_text() == "not ours"


def test_the_tables_of_another_store_are_not_taken_for_its_own(tmp_path: Path) -> None:
    ontology = things()
    first, second = ReferenceStore(ontology), ReferenceStore(ontology)
    first.write(example(ontology))
    second.write([document("other.md", [say(GREEN, "size", 1)], ontology=ontology)])
    ColumnarProjection(first, tmp_path).refresh()
    projection = ColumnarProjection(second, tmp_path)
    projection.refresh()
    assert [(row["name"], row["size"]) for row in rows(projection, "type Thing")] == [("Green One", 1)]


def test_under_another_ontology_all_is_made_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ReferenceStore(things())
    store.write(example(store.ontology))
    ColumnarProjection(store, tmp_path).refresh()
    types = "Thing: {attributes: {size: {type: string}, tags: {type: integer}}}"
    text = f"ontology: things\nversion: 2.0.0\ntypes:\n  {types}\n"
    changed, findings = compile_ontology(text, file="ontology.yaml")
    assert changed is not None, findings
    store.ontology = changed
    projection = ColumnarProjection(store, tmp_path)
    projection.refresh()
    assert list(everything(projection)) == ["type Thing"]
    red = next(row for row in rows(projection, "type Thing") if row["name"] == "Red One")
    assert (red["size"], red["tags"]) == ("7", None)
    assert "Thing.tags: 2 values such as 'a' are not of the attribute's type" in caplog.text


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    store = ReferenceStore(things())
    store.write(example(store.ontology))
    for name in ("it's", "a[b]*?", "模型 🙂", 'quo"te'):
        projection = ColumnarProjection(store, tmp_path / name / "tables")
        projection.refresh()
        assert len(rows_quoted(projection)) == 2


def rows_quoted(projection: ColumnarProjection) -> list[Any]:
    path = projection.path(projection.tables[0])
    return duckdb.execute("SELECT * FROM read_parquet(?)", [path]).fetchall()


def test_an_empty_store_has_all_tables_without_rows(tmp_path: Path) -> None:
    projection = ColumnarProjection(ReferenceStore(things()), tmp_path)
    assert projection.refresh() == 0
    assert everything(projection) == {"type Thing": [], "type Maker": [], "relation made_by": [], "relation beats": []}


def test_tables_are_described(tmp_path: Path) -> None:
    tables = {t.name: [(c.name, c.type) for c in t.columns if not c.hidden] for t in describe(things())}
    assert tables["Maker"] == [("name", "string"), ("size", "string")]
    assert ("tags", "list of enum") in tables["Thing"]
    assert tables["beats"] == [
        ("subject", "string"), ("object", "string"), ("judge", "reference"), ("margin", "number"), ("on", "date"),
    ]  # fmt: skip
