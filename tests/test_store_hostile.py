"""Names, values, ids and reasons that hold quotes, code, signs of every script: stored and returned as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from graph_examples import beats, literal, named, refused, says
from stores_under_test import content, merges, rows, unordered

from graph.projection import ColumnarProjection
from graph.select import select
from graph.store import Store
from ontoloom.names import name_key
from ontoloom.records import Entity, Failure, Triple

HOSTILE = {
    "quotes": 'it\'s "quoted" `ticked` \\ back\\\\slashed',
    "Cypher": "}) DETACH DELETE n; MATCH (n) DETACH DELETE n //",
    "Cypher label": "Model`) DETACH DELETE (x) RETURN (`",
    "Cypher escape": "\\u0027}) RETURN 1 //",
    "SQL": "'; DROP TABLE Model; --",
    "NUL": "nul \x00 inside",
    "controls": "bell \x07 escape \x1b[31m delete \x7f unit \x1f",
    "emoji": "🙂👩‍👩‍👧‍👦🏳️‍🌈",
    "right to left": "\u202eright to left\u202c שלום مرحبا",
    "combining": "e\u0301\u0323\u0302 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢ क्षि",
    "precomposed": "\u00e9\u1ec7 ﬁ ① Ａ",
    "Han": "模型",
    "beyond the first plane": "𝔐𝔬𝔡𝔢𝔩 𓀀",
    "joiners": "a\u200db\u200cc\ufeffd\u00ad",
    "place holders": "$id {x} %s ? :name {0}",
    "lines": "line\nbreak\r\ttab\u2028separator\x85next",
    "number": "123",
    "date": "2024-05-01",
    "boolean": "true",
    "null": "null",
    "list": "[a, b]",
    "map": '{"@": "x", "date": "2024-05-01"}',
    "path": "../../etc/passwd",
    "address": "file:///C:\\x?a=1#f%00",
    "10 kB": "n" * 10_000,
    "10 kB of four bytes each": "𓀀" * 2_500,
}
NAMES = list(HOSTILE.values())
MODELS = [named("Model", name, f"also {name}") for name in NAMES]
MOTTOS = [literal(model, "motto", model.name) for model in MODELS]
BEATEN = [beats(model, MODELS[0], ("notes", model.name), ("notes", "second")) for model in MODELS]


def write_all(store: Store) -> None:
    """Each document of a hostile name holds all hostile names, and says something of its own."""
    text = " ".join(NAMES)
    parts: list[tuple[Entity, Triple, Triple]] = list(zip(MODELS, MOTTOS, BEATEN, strict=True))
    store.write(
        [
            says(
                f"{m.name}.md", m, MODELS[0], motto, beat, Failure("0-1", m.name, m.name), text=text, fingerprint=m.name
            )
            for m, motto, beat in parts
        ]
    )


def test_everything_comes_back_as_it_was(store: Store) -> None:
    write_all(store)
    assert store.entities([m.id for m in MODELS]) == {m.id: m for m in MODELS}
    assert store.triples([t.id for t in (*MOTTOS, *BEATEN)]) == {t.id: t for t in (*MOTTOS, *BEATEN)}
    assert list(store.documents()) == sorted(f"{name}.md" for name in NAMES)
    for name, model in zip(NAMES, MODELS, strict=True):
        document = store.document(f"{name}.md")
        assert document is not None
        assert (document.text, document.title) == (" ".join(NAMES), f"Title {name}.md")
        assert store.documents()[document.id].failures == (Failure("0-1", name, name),)
        assert model in store.named([name_key(name)])[name_key(name)]
    assert {row["value"] for row in rows(store.scan_triples("motto"))} == set(NAMES)
    assert {row["name"] for row in rows(store.scan_entities("Model"))} == set(NAMES)
    assert {extraction.document.id for extraction in store.extractions()} == set(store.documents())
    assert {row["name"] for row in rows(store.scan_namings(1))} == set(NAMES)
    assert {row["document"] for row in rows(store.scan_statings(1))} == set(store.documents())
    assert list(store.faults()) == []


def test_documents_can_be_replaced_and_deleted_whatever_they_are_called(store: Store) -> None:
    write_all(store)
    past = unordered(store.scan_namings(1)), unordered(store.scan_statings(1))
    store.write([says(f"{name}.md", MODELS[0], refused(f"{name}.md", word=name, code=name)) for name in NAMES])
    assert {claim.claim.relation for claim in store.quarantined()} == set(NAMES)
    assert [claim.document for claim in store.quarantined(f"{NAMES[1]}.md")] == [f"{NAMES[1]}.md"]
    assert dict(store.counts().quarantined) == dict.fromkeys(NAMES, 1)
    store.delete([f"{name}.md" for name in NAMES[1:]])
    assert list(store.documents()) == [f"{NAMES[0]}.md"]
    assert (unordered(store.scan_namings(1)), unordered(store.scan_statings(1))) == past


def test_merges_and_their_reasons_may_be_called_anything(store: Store) -> None:
    write_all(store)
    before = content(store)
    for model in MODELS[1:]:
        store.merge(model.id, MODELS[0].id, reason=model.name)
    assert [(m[3], m[4]) for m in merges(store)] == [(name, name) for name in NAMES[1:]]
    names = {*NAMES, *(f"also {name}" for name in NAMES)}
    merged = store.entities([MODELS[0].id])[MODELS[0].id]
    assert {merged.name, *merged.aliases} == names
    for model in MODELS[1:]:
        store.unmerge(model.id)
    assert content(store) == before


def test_entities_may_have_any_id(store: Store) -> None:
    odd = [Entity(name, "Model", name) for name in NAMES]
    store.write([says("a.md", *odd, *(beats(one, odd[0]) for one in odd[1:]))])
    assert store.entities(NAMES) == {one.id: one for one in odd}
    assert len(store.neighbours([odd[0].id])) == len(odd) - 1
    assert [row["id"] for row in rows(store.scan_entities())] == sorted(NAMES)
    store.merge(odd[1].id, odd[2].id)
    assert store.entities(NAMES).keys() == set(NAMES) - {odd[1].id}
    store.unmerge(odd[1].id)
    assert len(store.neighbours([odd[1].id])) == 1


@pytest.fixture
def columns(store: Store, tmp_path: Path) -> ColumnarProjection:
    write_all(store)
    return ColumnarProjection(store, tmp_path / "columns")


def test_select_gives_names_and_values_as_they_are(store: Store, columns: ColumnarProjection) -> None:
    def found(sql: str) -> list[dict[str, Any]]:
        answer: list[dict[str, Any]] = select(store, columns, sql).rows.to_pylist()
        return answer

    assert {(r["name"], r["motto"]) for r in found("SELECT name, motto FROM Model")} == {(n, n) for n in NAMES}
    beaten = found("SELECT subject, object, notes FROM superior_to")
    assert {(r["subject"], frozenset(r["notes"])) for r in beaten} == {
        (name, frozenset((name, "second"))) for name in NAMES
    }
    assert {r["object"] for r in beaten} == {NAMES[0]}


def test_select_finds_by_a_name_of_any_sort(store: Store, columns: ColumnarProjection) -> None:
    for kind, name in HOSTILE.items():
        quoted = name.replace("'", "''")
        found = select(store, columns, f"SELECT name FROM Model WHERE name = '{quoted}'").rows
        assert found.column("name").to_pylist() == [name], kind
