from __future__ import annotations

import sys
from pathlib import Path

import pytest
from faulty_pages import ONTOLOGY
from hypothesis import given, settings
from random_ontologies import compiled as compiled_or_none
from random_ontologies import ontologies
from rdflib import DCTERMS, OWL, RDF, RDFS, SKOS, XSD, BNode, Graph, Literal, Namespace, URIRef
from rdflib.collection import Collection
from test_read_ontology import compiled

from ontology import read_ontology
from ontology.exports.rdf import to_owl, to_shacl
from ontoloom.errors import OntologyError

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "ai-infra" / "ontology.yaml"
M = Namespace("https://example.org/models/")


@pytest.fixture(scope="module")
def models() -> Graph:
    return Graph().parse(data=to_owl(compiled(ONTOLOGY), base=str(M)), format="turtle")


def restrictions(graph: Graph, name: str) -> set[tuple[str, str, object]]:
    found = set()
    for node in graph.objects(M[name], RDFS.subClassOf):
        if isinstance(node, BNode):
            path = graph.value(node, OWL.onProperty)
            if isinstance(path, BNode):
                path = URIRef(f"{M}^{str(graph.value(path, OWL.inverseOf)).removeprefix(str(M))}")
            for key in (OWL.minCardinality, OWL.maxCardinality):
                value = graph.value(node, key)
                if isinstance(value, Literal):
                    found.add((str(path).removeprefix(str(M)), key.fragment, value.toPython()))
    return found


def test_classes(models: Graph) -> None:
    named = {
        str(node).removeprefix(str(M)) for node in models.subjects(RDF.type, OWL.Class) if isinstance(node, URIRef)
    }
    assert named == {
        "Thing", "Licensed", "Model", "LanguageModel", "Benchmark", "Organization", "Model.hardware-Record",
        "superior_to-Statement",
    }  # fmt: skip
    assert (M.Model, RDFS.subClassOf, M.Thing) in models
    assert (M.Model, RDFS.subClassOf, M.Licensed) in models
    assert (M.Model, OWL.disjointWith, M.Organization) in models
    header = URIRef("https://example.org/models")
    assert models.value(header, OWL.versionInfo) == Literal("1.0.0")
    keys = [list(Collection(models, node)) for node in models.objects(M.Model, OWL.hasKey)]
    assert keys == [[M["Model.vendor"], M["Model.version"]]]
    assert [list(Collection(models, node)) for node in models.objects(M.Thing, OWL.hasKey)] == [[M["Thing.serial"]]]


def test_properties(models: Graph) -> None:
    length = M["Model.context_length"]
    assert set(models.objects(length, RDF.type)) == {OWL.DatatypeProperty, OWL.FunctionalProperty}
    assert models.value(length, RDFS.domain) == M.Model
    datatype = models.value(length, RDFS.range)
    assert models.value(datatype, OWL.onDatatype) == XSD.integer
    methods = models.value(M["Model.methods"], RDFS.range)
    values = models.value(methods, OWL.oneOf)
    assert values is not None
    assert [str(value) for value in Collection(models, values)] == ["SFT", "DPO", "RLHF"]
    assert restrictions(models, "Model") == {
        ("Model.context_length", "minCardinality", 1),
        ("Model.methods", "maxCardinality", 2),
        ("made_by", "minCardinality", 1),
        ("made_by", "maxCardinality", 2),
    }
    assert restrictions(models, "LanguageModel") == {("Model.score", "minCardinality", 1)}
    assert restrictions(models, "Organization") == {("^made_by", "maxCardinality", 3)}


def test_relations(models: Graph) -> None:
    assert set(models.objects(M.based_on, RDF.type)) == {
        OWL.ObjectProperty, OWL.FunctionalProperty, OWL.IrreflexiveProperty,
    }  # fmt: skip
    assert (M.superior_to, RDF.type, OWL.AsymmetricProperty) in models
    assert (M.owns, RDF.type, OWL.InverseFunctionalProperty) in models
    assert (M.made, OWL.inverseOf, M.made_by) in models
    assert models.value(M["superior_to.benchmark"], RDFS.domain) == M["superior_to-Statement"]
    assert models.value(M["superior_to.benchmark"], RDFS.range) == M.Benchmark
    assert models.value(M["superior_to-object"], RDFS.range) == M.Model


def test_what_people_read() -> None:
    text = """\
ontology: test
version: 2.0.0
description: A test.
types:
  Model:
    label: {en: Model, zh: 模型}
    description: A model.
    synonyms: {en: [LLM]}
    examples: [Phi]
    deprecated: {since: 1.1.0, use: Book}
    attributes:
      code: {type: string, pattern: "(?:a|b)\\\\d"}
  Book: {}
relations:
  cites: {domain: [Model, Book], range: [Model, Book], symmetric: true, transitive: true}
"""
    graph = Graph().parse(data=to_owl(compiled(text), base=str(M)), format="turtle")
    assert set(graph.objects(M.Model, RDFS.label)) == {Literal("Model", lang="en"), Literal("模型", lang="zh")}
    assert set(graph.objects(M.Model, SKOS.altLabel)) == {Literal("LLM", lang="en")}
    assert set(graph.objects(M.Model, RDFS.comment)) == {Literal("A model.")}
    assert graph.value(M.Model, DCTERMS.isReplacedBy) == M.Book
    assert graph.value(M.Model, OWL.deprecated) == Literal(True)
    assert (None, XSD.pattern, Literal("(a|b)[0-9]")) in graph
    union = graph.value(M.cites, RDFS.range)
    classes = graph.value(union, OWL.unionOf)
    assert classes is not None
    assert list(Collection(graph, classes)) == [M.Model, M.Book]
    assert {OWL.SymmetricProperty, OWL.TransitiveProperty} <= set(graph.objects(M.cites, RDF.type))


def test_the_text_is_the_same_each_time() -> None:
    ontology = read_ontology(EXAMPLE)
    assert to_owl(ontology) == to_owl(ontology)
    assert "@prefix : <urn:ontoloom:ai-infra#> ." in to_owl(ontology)


@settings(max_examples=30, deadline=None)
@given(ontologies())
def test_any_ontology_is_read_by_rdflib(text: str) -> None:
    ontology = compiled_or_none(text)
    if ontology is not None:
        graph = Graph().parse(data=to_owl(ontology, base=str(M)), format="turtle")
        classes = {node for node in graph.subjects(RDF.type, OWL.Class) if isinstance(node, URIRef)}
        assert {M[name] for name in ontology.types} <= classes


def test_without_rdflib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdflib", None)
    for export in (to_owl, to_shacl):
        with pytest.raises(OntologyError, match=r"RDF needs rdflib.*pip install 'ontoloom\[rdf\]'"):
            export(compiled(ONTOLOGY))
