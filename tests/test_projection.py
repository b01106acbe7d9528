from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_store import ReferenceStore
from select_parts import document, say, thing, things

from graph import catch_up, past_tables, table_files
from graph.manifest import MANIFEST, read_manifest
from graph.open import open_store
from graph.projection import ColumnarProjection
from graph.store import Store
from graph.tables import describe
from ontology import Ontology
from ontology.read import compile_ontology
from ontoloom.errors import QueryError
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
    return fetch(projection.source(next(t for t in projection.tables if t.key == key)))


def fetch(source: str) -> Rows:
    relation = duckdb.sql(f"FROM {source}")
    assert relation is not None
    found: Rows = relation.to_arrow_table().to_pylist()
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
        "_type": "Thing",
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
    assert all((tmp_path / f.name).exists() for files in before.tables.values() for f in files.all), (
        "old readers still find theirs"
    )
    store.write([document("five.md", [say(GREEN, "size", 2)], ontology=store.ontology)])
    projection.refresh()
    assert not (tmp_path / before.tables["type Thing"].base.name).exists()


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


SPELLINGS = st.sampled_from([str, str.upper, str.swapcase])


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """Documents to write, or what is picked by number: one to delete, two entities to merge, a merge to take back."""
    kind = draw(st.sampled_from(["write", "write", "write", "delete", "merge", "unmerge"]))
    if kind == "write":
        return kind, draw(
            st.dictionaries(DOCUMENTS, st.tuples(st.lists(STATEMENTS, max_size=5), SPELLINGS), min_size=1)
        )
    return kind, draw(st.tuples(st.integers(0, 9), st.integers(0, 9)))


Step = tuple[str, Any]
HISTORIES = st.lists(st.tuples(steps(), st.booleans()), min_size=1, max_size=5)
"""Steps, and after each whether the projection is refreshed."""
SHARES = st.sampled_from([0.0, 0.3, 2.0, 100.0])
"""What makes every change, some, few or none end in a new base file."""


def take(store: Store, step: Step) -> None:
    """Does what a step says, where there is something to do it to."""
    kind, what = step
    if kind == "write":
        store.write([respelled(consistent(n, said, store.ontology), spell) for n, (said, spell) in what.items()])
        return
    first, second = what
    if kind == "delete" and (documents := sorted(store.documents())):
        store.delete([documents[first % len(documents)]])
    elif kind == "merge" and (entities := sorted({(t, i) for _, i, t in store.names()})):
        (type_name, entity), others = entities[first % len(entities)], [i for t, i in entities]
        others = [i for t, i in entities if t == type_name and i != entity]
        if others:
            store.merge(entity, others[second % len(others)])
    elif kind == "unmerge" and (merges := [m for m in store.merges() if m.undone is None]):
        store.unmerge(merges[first % len(merges)].entity)


def respelled(extraction: Extraction, spell: Callable[[str], str]) -> Extraction:
    """The document with the names of its entities spelled otherwise."""
    entities = tuple(replace(entity, name=spell(entity.name)) for entity in extraction.entities)
    return replace(extraction, entities=entities)


@given(HISTORIES, SHARES)
@settings(max_examples=25, deadline=None)
def test_brought_up_step_by_step_equals_made_anew(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[Step, bool]], share: float
) -> None:
    live_through(ReferenceStore(things()), tmp_path_factory.mktemp("tables"), history, share)


@given(HISTORIES, SHARES)
@settings(max_examples=4, deadline=None)
def test_so_it_does_over_ladybug(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[Step, bool]], share: float
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    with open_store(folder / "graph", things()) as store:
        live_through(store, folder, history, share)


def live_through(store: Store, folder: Path, history: list[tuple[Step, bool]], share: float) -> None:
    stepwise = ColumnarProjection(store, folder / "stepwise")
    stepwise.refresh()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_files, "SHARE", share)
        for step, refreshed in history:
            take(store, step)
            if refreshed:
                stepwise.refresh()
        stepwise.refresh()
    anew = ColumnarProjection(store, folder / "anew")
    anew.refresh()
    assert everything(stepwise) == everything(anew)


def consistent(name: str, said: list[Any], ontology: Ontology) -> Extraction:
    """A document that says no triple twice in two ways."""
    found: dict[str, Any] = {}
    for statement in said:
        (triple,) = document(name, [statement], ontology=ontology).triples
        found.setdefault(triple.id, statement)
    return document(name, list(found.values()), ontology=ontology)


def test_many_rows_of_one_name_are_made_anew_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ReferenceStore(things())
    said = [say(thing(f"T{i}"), "made_by", ACME) for i in range(30)]
    store.write([document("one.md", said, ontology=store.ontology)])
    projection = ColumnarProjection(store, tmp_path)
    projection.refresh()
    monkeypatch.setattr(table_files, "SHARE", 100)
    monkeypatch.setattr(catch_up, "FEW", 10)
    renamed = [document(f"{i}.md", [], ontology=store.ontology, named=[ACME]) for i in range(2)]
    store.write([respelled(extraction, str.upper) for extraction in renamed])
    projection.refresh()
    assert {row["object"] for row in rows(projection, "relation made_by")} == {"ACME"}
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    changed = {key: files.delta is not None for key, files in manifest.tables.items()}
    assert changed == {"type Thing": False, "type Maker": True, "relation made_by": False, "relation beats": False}


def test_small_changes_go_into_small_files_until_there_are_many(tmp_path: Path) -> None:
    store = ReferenceStore(things())
    store.write([document("one.md", [say(thing(f"T{i}"), "size", i) for i in range(100)], ontology=store.ontology)])
    projection = ColumnarProjection(store, tmp_path)
    projection.refresh()
    files = []
    for number in range(4):
        store.write([document(f"{number}.md", [say(thing(f"T{number}"), "size", 7)], ontology=store.ontology)])
        projection.refresh()
        manifest = read_manifest(tmp_path)
        assert manifest is not None
        files.append(manifest.tables["type Thing"])
        assert len(rows(projection, "type Thing")) == 100
    assert [f.base for f in files[:2]] == [files[0].base] * 2
    assert [(f.delta.rows, f.gone.rows) for f in files if f.delta and f.gone] == [(1, 1), (2, 2), (1, 1)]
    assert (files[2].delta, files[2].gone, files[2].base.rows) == (None, None, 100), "6 of 100 rows are more than 5 %"


ROUNDS = int(os.environ.get("ONTOLOOM_SOAK", "3"))
REFRESH = """
import sys
from pathlib import Path
from graph import table_files
from graph.open import open_store
from graph.projection import ColumnarProjection
from select_parts import things
graph, columns, table_files.SHARE = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
with open_store(graph, things(), read_only=True) as store:
    projection = ColumnarProjection(store, columns)
    print("begin", flush=True)
    projection.refresh()
    print("end", flush=True)
"""


def refresh_in_a_process(folder: Path, share: float, patience: float | None) -> float:
    """Seconds that it took; it is killed when it has taken as long as ``patience``."""
    command = [sys.executable, "-c", REFRESH, str(folder / "graph"), str(folder / "columns"), str(share)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begin\n"
        begin = time.monotonic()
        if patience is not None:
            time.sleep(patience)
            process.kill()
        process.wait()
    return time.monotonic() - begin


def test_a_refresh_killed_at_any_moment_leaves_tables_that_are_right(tmp_path: Path) -> None:
    dice = random.Random(7)
    with open_store(tmp_path / "graph", things()) as store:
        store.write(example(store.ontology))
    longest = refresh_in_a_process(tmp_path, 0, None)
    for number in range(ROUNDS):
        with open_store(tmp_path / "graph", things()) as store:
            said = [say(dice.choice(NAMES), "beats", dice.choice(NAMES), judge=ACME), say(GREEN, "size", number)]
            store.write([document(f"{number % 4}.md", said, ontology=store.ontology)])
        share = dice.choice([0, 100])
        refresh_in_a_process(tmp_path, share, dice.random() * longest)
        with open_store(tmp_path / "graph", things()) as store:
            again = ColumnarProjection(store, tmp_path / "columns")
            again.refresh()
            anew = ColumnarProjection(store, tmp_path / f"anew{number}")
            anew.refresh()
            assert everything(again) == everything(anew)


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
    left_over = {p.name for p in tmp_path.glob("*.parquet")} - {
        f.name for files in manifest.tables.values() for f in files.all
    }
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


def shorten_indexes(folder: Path) -> None:
    for path in folder.glob("*.sqlite"):
        path.write_bytes(path.read_bytes()[:-8])


def list_as_manifest(folder: Path) -> None:
    (folder / MANIFEST).write_text("[1]")


@pytest.mark.parametrize(
    "damage",
    [damage_manifest, other_format, shorten_table, shorten_indexes, remove_tables, list_as_manifest],
    ids=lambda f: f.__name__,
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


def test_small_files_that_were_lost_with_the_power_are_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_files, "SHARE", 100)
    store = ReferenceStore(things())
    store.write(example(store.ontology))
    projection = ColumnarProjection(store, tmp_path)
    projection.refresh()
    store.write([document("four.md", [say(GREEN, "size", 1)], ontology=store.ontology)])
    projection.refresh()
    before = everything(projection)
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    small = manifest.tables["type Thing"].small
    assert [file.rows for file in small] == [1, 1]
    for file in small:
        (tmp_path / file.name).write_bytes(bytes(file.bytes))
    again = ColumnarProjection(store, tmp_path)
    again.refresh()
    assert everything(again) == before


@pytest.mark.parametrize("suffix", ["parquet", "sqlite"])
def test_what_cannot_be_read_when_catching_up_is_made_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, suffix: str
) -> None:
    store = ReferenceStore(things())
    store.write(example(store.ontology))
    projection = ColumnarProjection(store, tmp_path)
    projection.refresh()
    for path in tmp_path.glob(f"type-*.{suffix}"):
        path.write_bytes(bytes(path.stat().st_size))
    store.write([document("four.md", [say(GREEN, "size", 1)], ontology=store.ontology)])
    projection.refresh()
    assert "are damaged and are made anew" in caplog.text
    assert [row["size"] for row in rows(projection, "type Thing") if row["name"] == "Green One"] == [1]


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
        assert len(rows(projection, "type Thing")) == 2


def test_an_empty_store_has_all_tables_without_rows(tmp_path: Path) -> None:
    projection = ColumnarProjection(ReferenceStore(things()), tmp_path)
    assert projection.refresh() == 0
    assert everything(projection) == {"type Thing": [], "type Maker": [], "relation made_by": [], "relation beats": []}


@given(HISTORIES)
@settings(max_examples=8, deadline=None)
def test_the_past_is_what_it_was(tmp_path_factory: pytest.TempPathFactory, history: list[tuple[Step, bool]]) -> None:
    """The reference works out names and statements with Python what the tables of the past do in SQL."""
    remember(ReferenceStore(things()), tmp_path_factory.mktemp("tables"), history)


@given(HISTORIES)
@settings(max_examples=2, deadline=None)
def test_so_it_is_in_ladybug(tmp_path_factory: pytest.TempPathFactory, history: list[tuple[Step, bool]]) -> None:
    folder = tmp_path_factory.mktemp("tables")
    with open_store(folder / "graph", things()) as store:
        remember(store, folder, history)


def remember(store: Store, folder: Path, history: list[tuple[Step, bool]]) -> None:
    projection = ColumnarProjection(store, folder / "columns")
    projection.refresh()
    seen = {0: everything(projection)}
    for step, _ in history:
        take(store, step)
        projection.refresh()
        seen[store.last_change()] = everything(projection)
    for number, tables in seen.items():
        then = {t.key: fetch(projection.source(t, at=number)) for t in projection.tables}
        assert then == tables, f"at change {number} of {store.last_change()}"


def history_of_three(tmp_path: Path) -> tuple[ReferenceStore, ColumnarProjection]:
    store = ReferenceStore(things())
    for number in range(3):
        store.write([document(f"{number}.md", [say(RED, "size", number)], ontology=store.ontology)])
    projection = ColumnarProjection(store, tmp_path / "columns")
    projection.refresh()
    return store, projection


def test_tables_of_the_past_are_made_once_and_only_so_many_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, projection = history_of_three(tmp_path)
    table, folder = projection.tables[0], tmp_path / "columns" / "past"
    first = projection.source(table, at=1)
    (path,) = folder.glob("*.parquet")
    written = path.stat().st_ino
    assert projection.source(table, at=1) == first
    assert path.stat().st_ino == written
    monkeypatch.setattr(past_tables, "KEPT", 1)
    second = projection.source(table, at=2)
    assert [len(fetch(source)) for source in (first, second)] == [1, 1], "both are in use until the next refresh"
    projection.refresh()
    assert projection.source(table, at=2) == second
    assert not path.exists()
    assert fetch(projection.source(table, at=1))[0]["size"] == 0


def test_damaged_tables_of_the_past_are_made_anew(tmp_path: Path) -> None:
    _, projection = history_of_three(tmp_path)
    table, folder = projection.tables[0], tmp_path / "columns" / "past"
    before = fetch(projection.source(table, at=1))
    assert not projection.repair()
    (path,) = folder.glob("*.parquet")
    path.write_bytes(path.read_bytes()[:-8])
    assert projection.repair()
    assert fetch(projection.source(table, at=1)) == before


def test_only_changes_that_were_can_be_asked_for(tmp_path: Path) -> None:
    store, projection = history_of_three(tmp_path)
    for at in (-1, 4):
        with pytest.raises(QueryError, match=f"there is no change {at}: the last one is 3"):
            projection.source(projection.tables[0], at=at)
    times = [change.time for change in store.changes(0)]
    assert [projection.change_at(time) for time in times] == [1, 2, 3]
    assert projection.change_at(times[1].replace(tzinfo=None)) == 2
    assert projection.change_at(datetime.now(UTC) + timedelta(days=1)) == 3
    with pytest.raises(QueryError, match="the graph was empty"):
        projection.change_at(times[0] - timedelta(microseconds=1))
    with pytest.raises(QueryError, match="nothing was ever written"):
        ColumnarProjection(ReferenceStore(things()), tmp_path / "empty").change_at(times[0])


def test_tables_are_described(tmp_path: Path) -> None:
    tables = {t.name: [(c.name, c.type) for c in t.columns if not c.hidden] for t in describe(things())}
    assert tables["Maker"] == [("name", "string"), ("size", "string")]
    assert ("tags", "list of enum") in tables["Thing"]
    assert tables["beats"] == [
        ("subject", "string"), ("object", "string"), ("judge", "reference"), ("margin", "number"), ("on", "date"),
    ]  # fmt: skip
