from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from faulty_pages import FAULTS, GOOD, ONTOLOGY, Fault
from hypothesis import given, settings
from page_instances import rdf_instance
from pyshacl import validate
from random_ontologies import compiled as compiled_or_none
from random_ontologies import ontologies
from rdflib import RDF, RDFS, SH, Graph
from test_export_json_schema import shown
from test_read_ontology import compiled

from ontology import read_ontology
from ontology.exports.rdf import to_owl, to_shacl
from ontology.schema import Ontology

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "ai-infra"

NOT_KEPT = {
    "wrong-shape: phi: name: [Phi]": "a list of one is one value",
    "wrong-shape: phi: aliases: Phi 1": "one value is a list of one",
    "wrong-shape: phi: description: [Small]": "a list of one is one value",
    "wrong-shape: orca: based_on: [[phi]]": "a list within a list is its items",
    "empty-value: phi: aliases: []": "an empty list is nothing",
    "empty-value: phi: methods: []": "an empty list is nothing",
    "empty-value: orca:   - {target: phi, benchmark: mmlu, delta: 0.5, tags: []}": "an empty list is nothing",
    "duplicate-value: phi: methods: [SFT, SFT]": "what is said twice is said once",
    "not-a-quantity: phi: memory: 1.5": "a number is in the unit of its attribute",
    "unknown-key: orca: based_on: {target: phi, since: 1}": "a relation without attributes is a triple alone",
}
"""Single faults that RDF does not keep, and why."""
BEYOND = {"duplicate-name: orca: name: PHI-1": "names are compared letter for letter"}

MODELS = compiled(ONTOLOGY)


@cache
def shapes() -> Graph:
    return Graph().parse(data=to_shacl(MODELS), format="turtle")


def conforms(pages: dict[str, str], shapes: Graph, ontology: Ontology, more: Graph | None = None) -> tuple[bool, str]:
    marked = {page: text if text.startswith("---\n") else f"---\n{text}---\n" for page, text in pages.items()}
    data = rdf_instance(marked, ontology)
    conforming, _, report = validate(
        data + more if more else data, shacl_graph=shapes, inference="none", advanced=False
    )
    return bool(conforming), report


def test_it_is_shacl() -> None:
    _, _, report = validate(Graph(), shacl_graph=shapes(), meta_shacl=True, inference="none")
    assert "Conforms: True" in report
    assert to_shacl(MODELS) == to_shacl(MODELS)


@settings(max_examples=10, deadline=None)
@given(ontologies())
def test_of_any_ontology_it_is_shacl(text: str) -> None:
    ontology = compiled_or_none(text)
    if ontology is not None:
        graph = Graph().parse(data=to_shacl(ontology), format="turtle")
        _, _, report = validate(Graph(), shacl_graph=graph, meta_shacl=True, inference="none")
        assert "Conforms: True" in report


def test_pages_that_hold_conform() -> None:
    assert conforms(dict(GOOD), shapes(), MODELS) == (True, "Validation Report\nConforms: True\n")
    ontology = read_ontology(EXAMPLE / "ontology.yaml")
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (EXAMPLE / "wiki").rglob("*.md")}
    found = Graph().parse(data=to_shacl(ontology), format="turtle")
    assert conforms(pages, found, ontology) == (True, "Validation Report\nConforms: True\n")


def test_pages_conform_beside_the_ontology_too() -> None:
    """Where subclasses are known, a language model is a model: the closed shape of models lets it be."""
    owl = Graph().parse(data=to_owl(MODELS), format="turtle")
    assert list(owl.triples((None, RDFS.subClassOf, None)))
    assert conforms(dict(GOOD), shapes(), MODELS, owl) == (True, "Validation Report\nConforms: True\n")


@pytest.mark.parametrize("fault", FAULTS, ids=shown)
def test_what_our_check_refuses_it_refuses(fault: Fault) -> None:
    """That our check refuses each is told by the tests of the JSON Schema."""
    found, report = conforms({**GOOD, fault.page: fault.text}, shapes(), MODELS)
    assert found is (shown(fault) in {**NOT_KEPT, **BEYOND}), report


def test_what_is_listed_as_beyond_it_is_there() -> None:
    assert {*NOT_KEPT, *BEYOND} <= {shown(fault) for fault in FAULTS}


def test_each_type_that_pages_are_of_has_a_closed_shape() -> None:
    base = "urn:ontoloom:models#"
    closed = {str(shape).removeprefix(base) for shape, _, value in shapes().triples((None, SH.closed, None)) if value}
    names = {name for name in closed if "-Shape" in name}
    assert names == {f"{t}-Shape" for t in ("Model", "LanguageModel", "Benchmark", "Organization")} | {
        "superior_to-Statement-Shape"
    }
    assert (None, SH.targetClass, None) in shapes()
    assert not list(shapes().triples((None, RDF.type, RDFS.Class)))
