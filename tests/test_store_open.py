"""What a Ladybug store finds at its location, what becomes of it under another ontology, and its view for Cypher."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import ladybug
import pytest
from graph_examples import (
    ONTOLOGY,
    RELATIONS,
    TYPES,
    beats,
    entity_type,
    link,
    literal,
    make_ontology,
    named,
    ref,
    relation,
    says,
)
from stores_under_test import everything, history

from graph.ladybug import open_ladybug
from graph.open import open_store
from ontology.schema import Attribute, EntityType, Ontology, Relation
from ontoloom.errors import SettingsError, StoreError
from ontoloom.records import Extraction

ACME = named("Organization", "Acme")


def document(number: int) -> Extraction:
    own, everyone = named("Model", f"M{number}"), named("Model", "All")
    made, beaten = link(own, "developed_by", ACME), beats(own, everyone, ("score_delta", number / 10))
    return says(f"{number}.md", own, everyone, ACME, made, beaten, literal(own, "context_length", number))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph.ladybug"


# What is found at the location


def test_a_store_is_made_with_its_folders_and_opened_by_its_scheme(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "graph"
    with open_store(f"ladybug://{path}", ONTOLOGY) as store:
        store.write([document(1)])
    with open_store(str(path), ONTOLOGY, read_only=True) as store:
        assert store.counts().documents == 1
    with pytest.raises(SettingsError, match=r"no plug-in 'ladybird'.*did you mean 'ladybug'"):
        open_store("ladybird://somewhere", ONTOLOGY)


def test_what_is_no_store_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("hello world " * 1000)
    ladybug.Database(tmp_path / "other").close()
    database = ladybug.Database(tmp_path / "foreign")
    ladybug.Connection(database).execute("CREATE NODE TABLE Person(id STRING PRIMARY KEY)")
    database.close()
    for name, reason in (
        ("folder", "folder is a folder, not a graph store (name a file)"),
        ("text", "text is not a Ladybug database (give another path)"),
        ("foreign", "foreign is a Ladybug database, but not one of ontoloom's (give another path)"),
    ):
        with pytest.raises(StoreError) as caught:
            open_store(tmp_path / name, ONTOLOGY)
        assert str(caught.value) == f"{tmp_path}/{reason}"
    with pytest.raises(StoreError, match=r"there is no graph store at .*/none \(run 'ontoloom ingest' first\)"):
        open_store(tmp_path / "none", ONTOLOGY, read_only=True)
    with pytest.raises(StoreError, match=r"other is empty \(run 'ontoloom ingest' first\)"):
        open_store(tmp_path / "other", ONTOLOGY, read_only=True)
    assert not (tmp_path / "none").exists()
    assert (tmp_path / "text").read_text().startswith("hello world")


# The ontology that it was made under

RETYPED = Attribute("score_delta", "text")
YEARS = Attribute("Year", "date"), Attribute("year", "date")


def test_a_wider_ontology_is_taken_up(path: Path) -> None:
    with open_store(path, ONTOLOGY) as store:
        store.write([document(1)])
        digest = store.digest()
    wider = make_ontology(
        "2.0.0",
        types=(*TYPES, entity_type("Person")),
        relations=(
            *RELATIONS[:1],
            relation("developed_by", ("Model", "Benchmark"), ("Organization", "Person"), Attribute("year", "integer")),
            *RELATIONS[2:],
            relation("admires", ("Person",), ("Person", "Model")),
        ),
    )
    ada, model = named("Person", "Ada"), named("Model", "New")
    with open_store(path, wider) as store:
        assert store.digest() == digest
        store.write(
            [says("2.md", ada, model, link(model, "developed_by", ada, ("year", 2024)), link(ada, "admires", ada))]
        )
        assert store.counts().entities["Person"] == 1
    assert cypher(path, "MATCH (m:Model)-[r:developed_by]->(p:Person) RETURN m.name, r.year, p.name") == [
        ["New", 2024, "Ada"]
    ]
    assert cypher(path, "MATCH (m:_Meta) WHERE m.id = 'ontology' RETURN m.value") == [[wider.stamp]]


def test_what_a_narrower_ontology_has_no_word_for_can_still_be_read_and_removed(path: Path) -> None:
    with open_store(path, ONTOLOGY) as store:
        store.write([document(1), document(2)])
        digest = store.digest()
    narrower = make_ontology("3.0.0", types=TYPES[:1], relations=(RELATIONS[0], RELATIONS[2]))
    with open_store(path, narrower) as store:
        assert store.digest() == digest
        assert store.entities([ACME.id]) == {ACME.id: ACME}
        assert store.counts().entities["Organization"] == 1
        model = named("Model", "M1")
        store.write([says("1.md", model, fingerprint="f2")])
        assert len(store.neighbours([ACME.id])) == 1
        store.delete(["2.md"])
        assert store.entities([ACME.id]) == {}
        assert dict(store.counts().triples) == {}
    assert cypher(path, "MATCH (o:Organization) RETURN o.name") == []


@pytest.mark.parametrize(
    ("ontology", "reason"),
    [
        (
            make_ontology("2", relations=(relation("superior_to", ("Model",), ("Model",), RETYPED),)),
            "'superior_to.score_delta' was DOUBLE and is STRING now",
        ),
        (
            make_ontology("2", types=(*TYPES, entity_type("based_on")), relations=()),
            "'based_on' was a relation and is a type now",
        ),
        (
            make_ontology("2", types=TYPES[:1], relations=(relation("Benchmark", ("Model",), ("Model",)),)),
            "'Benchmark' was a type and is a relation now",
        ),
    ],
)  # fmt: skip
def test_an_ontology_that_does_not_fit_the_tables_asks_for_a_rebuild(
    path: Path, ontology: Ontology, reason: str
) -> None:
    open_store(path, ONTOLOGY).close()
    with pytest.raises(StoreError) as caught:
        open_store(path, ontology)
    assert str(caught.value) == (
        f"{path} was made under another ontology: {reason} (rebuild it: ontoloom ingest --rebuild)"
    )
    open_store(path, ONTOLOGY).close()


@pytest.mark.parametrize(
    ("types", "relations", "clash"),
    [
        ((*TYPES, entity_type("model")), (), "'model' from 'Model'"),
        (TYPES, (relation("Model", ("Model",), ("Model",)),), "'Model' from 'Model'"),
        ((*TYPES, entity_type("_entity")), (), "'_entity' from '_Entity'"),
        (TYPES, (relation("r", ("Model",), ("Model",), *YEARS),), "'year' from 'Year'"),
    ],
)  # fmt: skip
def test_names_that_the_store_cannot_tell_apart_are_refused(
    path: Path, types: tuple[EntityType, ...], relations: tuple[Relation, ...], clash: str
) -> None:
    ontology = make_ontology("2", types=types, relations=relations)
    with pytest.raises(StoreError, match=f"cannot tell {clash}"):
        open_store(path, ontology)


# The view for those who write Cypher


def cypher(path: Path, query: str) -> list[list[object]]:
    database = ladybug.Database(path, read_only=True)
    connection = ladybug.Connection(database)
    result = connection.execute(query)
    assert isinstance(result, ladybug.QueryResult)
    rows: list[list[object]] = [list(row) for row in result.get_all()]
    result.close()
    connection.close()
    database.close()
    return rows


@pytest.mark.parametrize("copy_rows", [5000, 1], ids=["unwind", "copy"])
def test_the_view_follows_what_documents_say(path: Path, copy_rows: int) -> None:
    one, other, mmlu = named("Model", "One", "Uno"), named("Model", "Other"), named("Benchmark", "MMLU")
    first = beats(one, other, ("benchmark", ref(mmlu)), ("score_delta", 2.5), ("notes", "x, 'y'"), ("notes", "[z]"))
    second = beats(one, other, ("benchmark", ref(mmlu)), ("attempts", 10**30), ("score_delta", 3), ("verified", True))
    edges = (
        "MATCH (a:Model)-[r:superior_to]->(b:Model) "
        "RETURN a.name, b.name, r.benchmark, r.score_delta, r.attempts, r.verified, r.notes, r._triple"
    )
    nodes = "MATCH (m:Model) RETURN m.name, m.aliases, m.page ORDER BY m.name"
    store = open_ladybug(str(path), ONTOLOGY, copy_rows=copy_rows)
    steps: list[tuple[list[Extraction], list[list[object]], list[list[object]]]] = [
        (
            [says("a.md", one, other, mmlu, first)],
            [["One", "Other", mmlu.id, 2.5, None, None, ["x, 'y'", "[z]"], first.id]],
            [["One", ["Uno"], None], ["Other", [], None]],
        ),
        (
            [says("p.md", named("Model", "First", key="One", page="p.md"), other, mmlu, second, kind="page")],
            [["First", "Other", mmlu.id, 3.0, None, True, [], first.id]],
            [["First", ["One", "Uno"], "p.md"], ["Other", [], None]],
        ),
        ([says("p.md"), says("a.md", other)], [], [["Other", [], None]]),
    ]
    with store:
        for extractions, _, _ in steps[:1]:
            store.write(extractions)
    assert (cypher(path, edges), cypher(path, nodes)) == steps[0][1:]
    for extractions, expected_edges, expected_nodes in steps[1:]:
        with open_ladybug(str(path), ONTOLOGY, copy_rows=copy_rows) as store:
            store.write(extractions)
        assert cypher(path, edges) == expected_edges
        assert cypher(path, nodes) == expected_nodes


def test_answers_in_parts_are_those_in_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_ladybug(str(path), ONTOLOGY) as store:
        store.write([document(number) for number in range(8)])
        store.delete(["3.md"])
        asked: list[Callable[[], object]] = [
            lambda: everything(store),
            store.digest,
            lambda: list(store.names()),
            lambda: history(store),
        ]
        whole = [ask() for ask in asked]
        monkeypatch.setattr("graph.ladybug.ANSWERED", 3)
        assert [ask() for ask in asked] == whole
