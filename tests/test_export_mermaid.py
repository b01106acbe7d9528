from __future__ import annotations

import re

import pytest
from export_parts import EXAMPLES, assert_golden, compiled, example, ontologies
from hypothesis import given, settings

from ontology.exports.mermaid import to_mermaid
from ontology.schema import Ontology
from ontoloom.errors import OntologyError

LINE = re.compile(
    r"""\ \ direction\ LR
    | \ \ class\ \w+(\["\w+"\])?(\ \{)?
    | \ \ \ \ (<<\w+>>|\w+\ [\w.]+(\ \[[\d.*]+\])?(\ in\ [^{}~:]*)?|and\ \d+\ more)
    | \ \ \}
    | \ \ \w+\ (<\|--|<\|\.\.)\ \w+
    | \ \ \w+\ "[\d.*]+"\ (-->|--)\ "[\d.*]+"\ \w+\ :\ \w+(\ /\ \w+)?
    """,
    re.VERBOSE,
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_golden(name: str) -> None:
    assert_golden(f"{name}.mmd", to_mermaid(example(name)))


def test_around_a_type_its_neighbours_are_bare() -> None:
    text = to_mermaid(example("library"), around="Reader")
    assert_golden("library-reader.mmd", text)
    assert "    integer card" in text
    assert "isbn" not in text
    assert "similar_to" not in text  # it touches neither end
    with pytest.raises(OntologyError, match=r"did you mean 'Reader'\?"):
        to_mermaid(example("library"), around="Raeder")


def test_words_of_the_grammar_are_names_by_their_label() -> None:
    text = to_mermaid(
        compiled("types:\n  class: {}\n  class_: {}\n  Note: {}\nrelations:\n  r: {domain: class, range: Note}\n")
    )
    assert '  class class__["class"]\n  class class_\n  class Note_["Note"]' in text
    assert '  class__ "*" --> "*" Note_ : r' in text


def test_long_types_are_cut() -> None:
    many = "".join(f"      a{i}: {{type: string}}\n" for i in range(30))
    text = to_mermaid(compiled(f"types:\n  T:\n    attributes:\n{many}"))
    assert "a10\n    and 19 more\n" in text


@settings(max_examples=50)
@given(ontologies())
def test_every_line_is_one_of_the_grammar(ontology: Ontology) -> None:
    head, body = to_mermaid(ontology).split("classDiagram\n")
    assert head.startswith("---\n")
    for line in body.splitlines():
        assert LINE.fullmatch(line), line
    assert to_mermaid(ontology) == to_mermaid(ontology)
