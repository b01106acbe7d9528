from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_read_ontology import compiled

from ontology.importers.legal_names import Names, ascii_name, ontology_name
from ontology.importers.text2kgbench import import_text2kgbench
from ontoloom.errors import OntologyError


def imported(concepts: list[object], relations: list[object]) -> tuple[str, list[str]]:
    data = {"title": "A test", "id": "ont_test", "concepts": concepts, "relations": relations}
    text, notes = import_text2kgbench(json.dumps(data))
    compiled(text)
    return text, notes


def test_all_ontologies_of_the_benchmark(data: Path) -> None:
    files = sorted((data / "text2kgbench").glob("*/ontologies/*.json"))
    assert len(files) == 18
    for file in files:
        text, notes = import_text2kgbench(file.read_text(encoding="utf-8"), file=file.name)
        ontology = compiled(text)
        source = json.loads(file.read_text(encoding="utf-8"))
        concepts = {concept["qid"] for concept in source["concepts"]}
        assert len(ontology.types) == len(concepts) + sum("a type was made of it" in note for note in notes)
        attributes = sum(len(one.attributes) - 1 for one in ontology.types.values())
        joined = sum("is there twice; what it joins" in note for note in notes)
        assert len(ontology.relations) + attributes == len(source["relations"]) - joined
        words = {word for r in ontology.relations.values() for word in (r.name, *r.synonyms)}
        words |= {
            word for t in ontology.types.values() for a in t.attributes.values() for word in (a.name, *a.synonyms)
        }
        assert {" ".join(relation["label"].split()) for relation in source["relations"]} <= words


def test_names_that_are_legal_stay_and_others_keep_their_label() -> None:
    text, notes = imported(
        [{"qid": "Q1", "label": "film genre"}, {"qid": "Genre", "label": "Genre"}, {"qid": "Q2", "label": "电影"}],
        [
            {"pid": "P1", "label": "genre", "domain": "Q1", "range": "Genre"},
            {"pid": "x", "label": "1stSurface", "domain": "Genre", "range": "Genre"},
            {"pid": "y", "label": "type", "domain": "Genre", "range": "Genre"},
            {"pid": "z", "label": "band/artist ", "domain": "Genre", "range": "Genre"},
        ],
    )
    assert notes == []
    assert (
        text
        == """\
ontology: ont_test
version: 1.0.0
description: A test

types:
  film_genre: {label: film genre, description: Q1 of Wikidata.}
  Genre: {}
  Q2: {label: 电影, description: Q2 of Wikidata.}

relations:
  has_genre: {domain: film_genre, range: Genre, label: genre, description: P1 of Wikidata.}
  has_1stSurface: {domain: Genre, range: Genre, label: 1stSurface}
  has_type: {domain: Genre, range: Genre, label: type}
  band_artist: {domain: Genre, range: Genre, label: band/artist}
"""
    )


def test_what_leads_to_values_is_an_attribute() -> None:
    text, notes = imported(
        [{"qid": "City", "label": "City"}],
        [
            {"pid": "a", "label": "area", "domain": "City", "range": "number"},
            {"pid": "b", "label": "founded", "domain": "City", "range": "Year"},
            {"pid": "c", "label": "opened", "domain": "City", "range": "Date"},
            {"pid": "d", "label": "motto", "domain": "City", "range": ""},
        ],
    )
    attributes = compiled(text).types["City"].attributes
    kinds = {name: (one.type, one.many) for name, one in attributes.items() if name != "name"}
    assert kinds == {n: (t, True) for n, t in zip(kinds, ["number", "integer", "date", "string"], strict=True)}
    assert notes == ["nothing is said of the range of 'motto'; it became an attribute that is a string"]


def test_oddities_are_noted() -> None:
    city = {"qid": "City", "label": "City"}
    text, notes = imported(
        [city, city, {"qid": "City", "label": "Town"}, {"qid": "Date", "label": "Date"}],
        [
            {"pid": "l", "label": "leader", "domain": "City", "range": "Person"},
            {"pid": "l", "label": "leader", "domain": "Date", "range": "City"},
            {"pid": "h", "label": "headquarter", "domain": "City", "range": "headquarter"},
            {"pid": "n", "label": "none", "domain": "", "range": "City"},
        ],
    )
    ontology = compiled(text)
    assert ontology.types["City"].synonyms == ("Town",)
    assert (ontology.relations["leader"].domain, ontology.relations["leader"].range) == (
        ("City", "Date"),
        ("Person", "City"),
    )
    assert ontology.relations["has_headquarter"].range == ("headquarter",)
    assert notes == [
        "the concept 'City' is there twice",
        "the concept City is there twice; 'Town' became a synonym of City",
        "'Date' is a concept here, so that its values are pages",
        "'Person', the range of 'leader', is no concept of the file; a type was made of it",
        "'headquarter', the range of 'headquarter', is no concept of the file; a type was made of it",
        "'leader' is there twice; what it joins was put together",
        "'none' was left out, as nothing is said of its domain",
    ]


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"concepts": {}}', '{"concepts": []}'])
def test_what_is_no_such_file_is_refused(text: str) -> None:
    with pytest.raises(OntologyError, match=r"^x\.json (is no JSON|has no list of concepts)") as caught:
        import_text2kgbench(text, file="x.json")
    assert caught.value.code == "bad-import"


def test_legal_names() -> None:
    names = Names(["Taken", "has_taken"])
    labels = ("a b", "A-B", "taken", "1", "中", "中", "Größe", "has_x")
    assert [names.pick(label, prefix="has") for label in labels] == [
        "a_b", "has_A_B", "has_taken_2", "has_1", "has_1_2", "has_1_3", "Groe", "has_x",
    ]  # fmt: skip
    assert names.pick("中", prefix="has", fallback="Q7") == "Q7"
    assert ascii_name("  café – bar ") == "cafe_bar"
    assert [ontology_name(n) for n in ("My Ontology 2", "2x", "中")] == ["My-Ontology-2", "ontology-2x", "ontology"]
