from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from faulty_pages import ONTOLOGY
from hypothesis import given, settings
from random_ontologies import compiled as compiled_or_none
from random_ontologies import ontologies
from test_read_ontology import compiled

from ontology import FindingsError, Ontology
from ontology.exports.linkml import to_linkml
from ontology.importers.linkml import import_linkml
from ontology.importers.text2kgbench import import_text2kgbench
from ontoloom.errors import OntologyError

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "ai-infra" / "ontology.yaml"


def skeleton(ontology: Ontology) -> tuple[Any, ...]:
    """Types with what they are and their attributes, and relations with their ends."""
    types = {
        name: (one.parent, set(one.mixins), one.abstract, {a.name: (a.type, a.many) for a in one.attributes.values()})
        for name, one in ontology.types.items()
    }
    relations = {name: (set(one.domain), set(one.range), one.inverse) for name, one in ontology.relations.items()}
    return types, relations


@pytest.mark.parametrize("text", [ONTOLOGY, EXAMPLE.read_text(encoding="utf-8")], ids=["models", "ai-infra"])
def test_what_goes_out_comes_back_whole(text: str) -> None:
    ontology = compiled(text)
    back, notes = import_linkml(to_linkml(ontology))
    assert notes == []
    assert compiled(back) == ontology


def test_ontologies_of_the_benchmark_come_back_whole(data: Path) -> None:
    files = sorted((data / "text2kgbench").glob("*/ontologies/*.json"))
    assert len(files) == 18
    for file in files:
        ontology = compiled(import_text2kgbench(file.read_text(encoding="utf-8"))[0])
        back, notes = import_linkml(to_linkml(ontology))
        assert notes == []
        assert compiled(back) == ontology, file.name


@settings(max_examples=60, deadline=None)
@given(ontologies())
def test_of_any_ontology_types_and_relations_come_back(text: str) -> None:
    ontology = compiled_or_none(text)
    if ontology is not None:
        back, _ = import_linkml(to_linkml(ontology))
        again = compiled_or_none(back)
        assert again is not None
        assert skeleton(again) == skeleton(ontology)


FOREIGN = """\
id: https://example.org/people
name: people
version: "2.1"
description: People and where they work.
prefixes:
  linkml: https://w3id.org/linkml/
imports: [linkml:types, core]
default_range: string
types:
  PhoneNumber: {typeof: string, pattern: '^\\+?[0-9 ]+$'}
  Age: {typeof: integer}
classes:
  Container:
    tree_root: true
    attributes:
      persons: {range: Person, multivalued: true, inlined_as_list: true}
  NamedThing:
    abstract: true
    slots: [id, name, description]
  Person:
    is_a: NamedThing
    mixins: [HasAliases]
    description: A person,
      living or dead.
    aliases: [human]
    slots: [age, employed at, address, phone]
    slot_usage:
      age: {required: true}
    rules:
    - preconditions: {}
    attributes:
      score: {range: float, minimum_value: 0, maximum_value: 1.5}
      mood: {range: Mood, multivalued: true, ifabsent: string(good)}
      code: {pattern: '[A-Z]{2}'}
      either: {any_of: [{range: integer}, {range: string}]}
      type:
  HasAliases:
    mixin: true
    attributes:
      aliases: {multivalued: true}
  Organization:
    is_a: NamedThing
    unique_keys:
      main: {unique_key_slots: [vat]}
    attributes:
      vat:
      members: {range: Person, multivalued: true, inverse: employed at}
  Address:
    attributes:
      street:
      zip: {pattern: '^[0-9]+$', required: true}
slots:
  id: {identifier: true}
  name: {required: true}
  description:
  age: {range: Age, description: In years., deprecated: count birthdays}
  employed at: {range: Organization, multivalued: true}
  address: {range: Address}
  phone: {range: PhoneNumber}
enums:
  Mood:
    permissible_values:
      good: {description: Well., aliases: [fine]}
      bad:
"""


def test_a_schema_that_others_wrote() -> None:
    text, notes = import_linkml(FOREIGN)
    compiled(text)
    assert (
        text
        == """\
ontology: people
version: 2.1.0
description: People and where they work.

types:
  NamedThing: {abstract: true}

  Person:
    is_a: NamedThing
    mixins: [HasAliases]
    description: A person, living or dead.
    synonyms: [human]
    attributes:
      age: {type: integer, required: true, description: In years., deprecated: {since: 2.1.0}}
      address:
        type: record
        fields:
          street: {type: string}
          zip: {type: string, required: true, pattern: "[0-9]+"}
      phone: {type: string, pattern: '\\+?[0-9 ]+'}
      score: {type: number, min: 0, max: 1.5}
      mood:
        type: enum
        many: true
        values:
          good: {description: Well., synonyms: [fine]}
          bad: {}
      code: {type: string, pattern: "(?s:.*)(?:[A-Z]{2})(?s:.*)"}
      either: {type: string}
      has_type: {type: string, label: type}

  HasAliases: {abstract: true}

  Organization:
    is_a: NamedThing
    keys: [vat]
    attributes:
      vat: {type: string}

relations:
  members: {domain: Organization, range: Person, inverse: employed_at}
"""
    )
    assert notes == [
        "the class 'Person': not kept: rules",
        "'core' is imported, which is not read",
        "the class 'Container' was left out: it is the root that holds all others",
        "the slot 'id' was left out: every page has one",
        "the slot 'description' was left out: every page has one",
        "'age' is deprecated, as of this version: count birthdays",
        "the slot 'mood' has a value where it is absent, which ours would only offer: left out",
        "the slot 'either' may be integer or string; it became a string",
        "the slot 'aliases' was left out: every page has one",
        "the version '2.1' became 2.1.0",
    ]


def test_what_is_no_schema_is_refused() -> None:
    with pytest.raises(OntologyError, match=r"schema\.yaml has no classes"):
        import_linkml("id: x\n")
    with pytest.raises(OntologyError, match="is no mapping"):
        import_linkml("- a\n")
    with pytest.raises(FindingsError, match="x\\.yaml:1:"):
        import_linkml("classes: [a\n", file="x.yaml")


def test_what_cannot_be_right_here_is_among_the_notes() -> None:
    _, notes = import_linkml(
        "id: x\nname: x\nclasses:\n  A:\n    attributes:\n      size: {range: integer}\n"
        "  B:\n    is_a: A\n    slot_usage:\n      size: {range: string}\n"
    )
    assert notes == [
        "ontology.yaml:12:7: error[redefined-attribute] 'size' is not declared as in A, which B is; leave it out, or "
        "declare it as there"
    ]
