from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from faulty_pages import ONTOLOGY
from hypothesis import given, settings
from random_ontologies import compiled as compiled_or_none
from random_ontologies import ontologies
from test_read_ontology import compiled

from ontology import read_ontology
from ontology.exports.linkml import to_linkml
from ontology.strict_yaml import Source, compose

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "ai-infra" / "ontology.yaml"


def exported(text: str) -> Any:
    return yaml.safe_load(to_linkml(compiled(text)))


def test_classes_and_attributes() -> None:
    classes = exported(ONTOLOGY)["classes"]
    assert list(classes["Page"]["attributes"]) == ["id", "name", "aliases", "source", "description"]
    assert classes["Licensed"] == {
        "abstract": True, "mixin": True, "attributes": {"license": {"range": "Licensed_license"}},
    }  # fmt: skip
    model = classes["Model"]
    assert (model["is_a"], model["mixins"], model["disjoint_with"]) == ("Thing", ["Licensed"], ["Organization"])
    assert model["slots"] == ["based_on", "made_by", "superior_to"]
    assert model["unique_keys"] == {"vendor_and_version": {"unique_key_slots": ["vendor", "version"]}}
    attributes = model["attributes"]
    assert attributes["context_length"] == {
        "range": "integer", "required": True, "minimum_value": 1, "maximum_value": 10_000_000,
        "unit": {"symbol": "tokens"},
    }  # fmt: skip
    assert attributes["paper"] == {"range": "uri", "pattern": r"^(?:https://arxiv\.org/.*)$"}
    assert attributes["methods"] == {"range": "Model_methods", "multivalued": True, "maximum_cardinality": 2}
    assert attributes["hardware"] == {"range": "Model_hardware", "inlined": True, "required": True}
    assert list(classes["Model_hardware"]["attributes"]) == ["gpu", "cores"]
    assert list(classes["LanguageModel"]["attributes"]) == ["score", "vocabulary"]


def test_relations_are_slots() -> None:
    schema = exported(ONTOLOGY)
    assert schema["slots"]["based_on"] == {
        "domain_of": ["Model"], "range": "Model", "inlined": False, "irreflexive": True,
        "annotations": {"ontoloom_acyclic": True},
    }  # fmt: skip
    assert (schema["slots"]["made_by"]["inverse"], schema["slots"]["made"]["inverse"]) == ("made", "made_by")
    statement = schema["classes"][schema["slots"]["superior_to"]["range"]]["attributes"]
    assert statement["target"] == {"range": "Model", "inlined": False, "required": True}
    assert statement["benchmark"]["range"] == "Benchmark"
    values = schema["enums"]["Licensed_license"]["permissible_values"]
    assert values == {"MIT": {}, "Apache-2.0": {"description": "Permissive."}, "no": {}}


def test_what_people_read() -> None:
    schema = exported("""\
ontology: test
version: 1.0.0
types:
  Model:
    label: {en: Model, zh: 模型}
    synonyms: {en: [LLM]}
    examples: [Phi]
    deprecated: {since: 1.1.0, use: Book}
  Page: {label: A page, synonyms: [leaf]}
  Book: {}
relations:
  cites: {domain: [Model, Book], range: [Model, Book]}
""")
    model, page = schema["classes"]["Model"], schema["classes"]["Page"]
    assert [(one["literal_form"], one["in_language"]) for one in model["structured_aliases"]] == [
        ("Model", "en"), ("模型", "zh"), ("LLM", "en"),
    ]  # fmt: skip
    assert model["examples"] == [{"value": "Phi"}]
    assert model["deprecated"] == "since 1.1.0; use Book"
    assert (page["title"], page["aliases"], page["is_a"]) == ("A page", ["leaf"], "Page_")
    assert schema["slots"]["cites"]["any_of"] == [{"range": "Model"}, {"range": "Book"}]


@settings(max_examples=40, deadline=None)
@given(ontologies())
def test_all_names_are_declared(text: str) -> None:
    ontology = compiled_or_none(text)
    if ontology is None:
        return
    found = to_linkml(ontology)
    schema = yaml.safe_load(found)
    ranges = {*schema["classes"], *schema.get("enums", {}), "integer", "double", "boolean", "date", "datetime", "uri"}
    slots = list(schema.get("slots", {}).values())
    for one in schema["classes"].values():
        assert set(one.get("slots", [])) <= set(schema.get("slots", {}))
        assert {one["is_a"]} <= set(schema["classes"]) if "is_a" in one else True
        slots += one.get("attributes", {}).values()
    used = {part["range"] for slot in slots for part in (slot, *slot.get("any_of", [])) if "range" in part}
    assert used <= ranges


def test_our_own_reader_composes_it() -> None:
    source = Source("schema.yaml", to_linkml(read_ontology(EXAMPLE)))
    assert compose(source) is not None
    assert source.findings == []


def test_linkml_itself_reads_it(tmp_path: Path) -> None:
    schemaview = pytest.importorskip("linkml_runtime.utils.schemaview", reason="needs linkml-runtime")
    for text in (to_linkml(compiled(ONTOLOGY)), to_linkml(read_ontology(EXAMPLE))):
        path = tmp_path / "schema.yaml"
        path.write_text(text, encoding="utf-8")
        view = schemaview.SchemaView(str(path))
        for name in view.all_classes():
            assert view.class_induced_slots(name) is not None
