from __future__ import annotations

import json

import pytest
from test_read_ontology import compiled

from ontology.importers.jsonld_context import import_jsonld_context
from ontoloom.errors import OntologyError

CONTEXT = {
    "@context": [
        "https://schema.org",
        {
            "@vocab": "http://example.org/",
            "ex": "http://example.org/",
            "xsd": "http://www.w3.org/2001/XMLSchema#",
            "id": "@id",
            "Person": "ex:Person",
            "Work": {"@id": "ex:Work", "@context": {"pages": {"@id": "ex:pages", "@type": "xsd:integer"}}},
            "name": "ex:name",
            "born": {"@id": "ex:born", "@type": "http://www.w3.org/2001/XMLSchema#date"},
            "tags": {"@id": "ex:tags", "@container": "@set"},
            "type": "ex:kind",
            "wrote": {"@id": "ex:wrote", "@type": "@id"},
            "person": {"@reverse": "ex:about"},
            "none": None,
        },
    ]
}


def test_terms_become_types_attributes_and_relations() -> None:
    text, notes = import_jsonld_context(json.dumps(CONTEXT), file="people.jsonld")
    compiled(text)
    assert (
        text
        == """\
ontology: people
version: 1.0.0

types:
  Thing:
    abstract: true
    attributes:
      pages: {type: integer, description: ex:pages.}
      born: {type: date, description: ex:born.}
      tags: {type: string, many: true, description: ex:tags.}
      has_type: {type: string, label: type, description: ex:kind.}

  Person: {is_a: Thing, description: ex:Person.}
  Work: {is_a: Thing, description: ex:Work.}

relations:
  wrote: {domain: Thing, range: Thing, description: ex:wrote.}
  has_person: {domain: Thing, range: Thing, label: person}
"""
    )
    assert notes == [
        "'https://schema.org' is imported, which is not read",
        "'person' is the reverse of ex:about; it became a relation of its own",
        "a context does not say what belongs to what: all attributes and relations are those of Thing",
    ]


def test_without_types_all_is_a_thing() -> None:
    text, notes = import_jsonld_context('{"@context": {"size": {"@type": "xsd:double"}}}')
    ontology = compiled(text)
    assert not ontology.types["Thing"].abstract
    assert ontology.types["Thing"].attributes["size"].type == "number"
    assert notes[0] == "no term looks like a type; Thing is what all is"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON"),
        ("{}", "has no terms"),
        ("[]", "has no terms"),
        ('{"@context": {"a": "@id"}}', "has no terms"),
    ],
)
def test_what_has_no_terms_is_refused(text: str, message: str) -> None:
    with pytest.raises(OntologyError, match=rf"x\.jsonld {message}"):
        import_jsonld_context(text, file="x.jsonld")
