from __future__ import annotations

from pathlib import Path

import pytest
from faulty_pages import ONTOLOGY
from hypothesis import given, settings
from random_ontologies import compiled as compiled_or_none
from random_ontologies import ontologies
from rdflib import Graph
from test_import_linkml import skeleton
from test_read_ontology import compiled

from ontology.exports.rdf import to_owl
from ontology.importers.owl import LOST, import_owl
from ontology.importers.text2kgbench import import_text2kgbench
from ontoloom.errors import OntologyError

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "ai-infra" / "ontology.yaml"


@pytest.mark.parametrize("text", [ONTOLOGY, EXAMPLE.read_text(encoding="utf-8")], ids=["models", "ai-infra"])
def test_types_relations_and_their_ends_come_back(text: str) -> None:
    ontology = compiled(text)
    back, notes = import_owl(to_owl(ontology))
    again = compiled(back)
    assert notes == []
    assert skeleton(again) == skeleton(ontology)
    for name, relation in ontology.relations.items():
        found = again.relations[name]
        assert (found.objects, found.subjects) == (relation.objects, relation.subjects)
        assert (found.symmetric, found.asymmetric, found.transitive, found.acyclic) == (
            relation.symmetric, relation.asymmetric, relation.transitive, relation.acyclic,
        )  # fmt: skip
        assert {a.name: (a.type, a.many, a.required) for a in found.attributes.values()} == {
            a.name: (a.type, a.many, a.required) for a in relation.attributes.values()
        }
    for type_name, one in ontology.types.items():
        for attribute in one.attributes.values():
            back_again = again.types[type_name].attributes[attribute.name]
            assert (back_again.unit, back_again.minimum, back_again.maximum) == (
                attribute.unit, attribute.minimum, attribute.maximum,
            )  # fmt: skip
            assert back_again.description == attribute.description
    assert len(LOST) == len(set(LOST))


def test_ontologies_of_the_benchmark_come_back(data: Path) -> None:
    files = sorted((data / "text2kgbench").glob("*/ontologies/*.json"))
    assert len(files) == 18
    for file in files:
        ontology = compiled(import_text2kgbench(file.read_text(encoding="utf-8"))[0])
        back, notes = import_owl(to_owl(ontology))
        assert notes == []
        assert skeleton(compiled(back)) == skeleton(ontology), file.name


@settings(max_examples=40, deadline=None)
@given(ontologies())
def test_of_any_ontology_types_and_relations_come_back(text: str) -> None:
    ontology = compiled_or_none(text)
    if ontology is not None:
        again = compiled_or_none(import_owl(to_owl(ontology))[0])
        assert again is not None
        assert skeleton(again) == skeleton(ontology)


FOREIGN = """\
@prefix : <http://example.org/zoo#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<http://example.org/zoo> a owl:Ontology ; owl:versionInfo "v3", "changed: all" ; rdfs:comment "A zoo."@en ;
    owl:imports <http://example.org/core> .
:Animal a owl:Class ; rdfs:label "Animal"@en, "动物"@zh-hans ; rdfs:comment "It lives." .
:Big-Cat a owl:Class ; rdfs:subClassOf :Animal, :Hunter ;
    rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :weight ; owl:minCardinality 1 ] .
:Hunter a owl:Class ; owl:deprecated true ;
    rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :likes ; owl:someValuesFrom :Animal ] .
:Keeper a owl:Class ; owl:disjointWith :Animal ; owl:equivalentClass :Warden .
:weight a owl:DatatypeProperty, owl:FunctionalProperty ; rdfs:domain :Animal ; rdfs:range xsd:decimal .
:born a owl:DatatypeProperty ; rdfs:domain [ a owl:Class ; owl:unionOf ( :Animal :Keeper ) ] ; rdfs:range xsd:date .
:type a owl:DatatypeProperty ; rdfs:domain :Keeper ; rdfs:range xsd:string .
:keeps a owl:ObjectProperty ; rdfs:domain :Keeper ; rdfs:range :Animal .
:kept a owl:ObjectProperty, owl:FunctionalProperty ; owl:inverseOf :keeps .
:likes a owl:ObjectProperty, owl:SymmetricProperty ; rdfs:subPropertyOf :keeps .
:leo a owl:NamedIndividual, :Big-Cat .
"""


def test_an_ontology_that_others_wrote() -> None:
    text, notes = import_owl(FOREIGN)
    compiled(text)
    assert (
        text
        == """\
ontology: zoo
version: 3.0.0
description: A zoo.

types:
  Animal:
    label: {en: Animal, zh-hans: 动物}
    description: It lives.
    attributes:
      born: {type: date, many: true}
      weight: {type: number}

  Big_Cat: {is_a: Animal, label: Big-Cat}
  Hunter: {deprecated: {since: 0.0.0}}

  Keeper:
    disjoint: [Animal]
    attributes:
      born: {type: date, many: true}
      has_type: {type: string, many: true, label: type}

relations:
  keeps: {domain: Keeper, range: Animal, inverse: kept}
  likes: {domain: [Animal, Hunter, Keeper], range: [Animal, Hunter, Keeper], symmetric: true}
"""
    )
    assert notes == [
        "Big_Cat is Animal and Hunter; kept is the first, as a type is one of its kind",
        "'Hunter' is deprecated, as of this version",
        "nothing is said of the domain of 'likes'; all types are taken",
        "nothing is said of the range of 'likes'; all types are taken",
        "not kept: what properties are below (1 statements)",
        "not kept: what classes equal (1 statements)",
        "not kept: 1 restrictions of someValuesFrom",
        "not kept: 1 individuals",
        "'http://example.org/core' is imported, which is not read",
        "the version 'v3' became 3.0.0",
    ]


@pytest.mark.parametrize(("suffix", "name"), [("owl", "xml"), ("jsonld", "json-ld"), ("nt", "nt")])
def test_other_formats_say_the_same(suffix: str, name: str) -> None:
    graph = Graph().parse(data=to_owl(compiled(ONTOLOGY)), format="turtle")
    text, _ = import_owl(graph.serialize(format=name), file=f"x.{suffix}")
    assert text == import_owl(to_owl(compiled(ONTOLOGY)))[0]


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(OntologyError, match=r"x\.ttl cannot be read"):
        import_owl("a b", file="x.ttl")
    with pytest.raises(OntologyError, match=r"x\.xml cannot be read"):
        import_owl(b"\xff", file="x.xml")
    with pytest.raises(OntologyError, match=r"x\.doc is of no known format"):
        import_owl("", file="x.doc")
    with pytest.raises(OntologyError, match=r"x\.ttl has no classes"):
        import_owl("", file="x.ttl")
    with pytest.raises(OntologyError, match=r"names the context https://example\.org/c, which is not fetched"):
        import_owl('{"@graph": [{"@context": [{}, "https://example.org/c"]}]}', file="x.jsonld")


def test_classes_in_a_circle_are_told() -> None:
    text, notes = import_owl(
        "@prefix : <urn:x#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
        ":A a rdfs:Class ; rdfs:subClassOf :B . :B a rdfs:Class ; rdfs:subClassOf :A ."
    )
    assert text.endswith("types:\n  A: {is_a: B}\n  B: {is_a: A}\n")
    assert any("cyclic-type" in note for note in notes)
