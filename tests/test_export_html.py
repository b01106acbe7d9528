from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from export_parts import EXAMPLES, assert_golden, compiled, example, ontologies
from hypothesis import given, settings

from ontology.exports.example_page import example_page
from ontology.exports.html import to_html
from ontology.page_reader import parse_page
from ontology.schema import Ontology

VOID = {"meta", "br", "input", "wbr"}


class Reader(HTMLParser):
    """The tags of a page, which must close as they opened, and its text without styles and scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.links: set[str] = set()
        self.attributes: Counter[str] = Counter()
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes.update(name for name, _ in attrs)
        self.ids.update(value for name, value in attrs if name == "id" and value)
        self.links.update(value for name, value in attrs if name == "href" and value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


@pytest.mark.parametrize("name", EXAMPLES)
def test_golden(name: str) -> None:
    assert_golden(f"{name}.html", to_html(example(name)))


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_whole(name: str) -> None:
    ontology = example(name)
    page = to_html(ontology)
    read = Reader(page)
    assert set(read.ids.values()) == {1}
    assert {link for link in read.links if not link.startswith("#")} == set()
    assert {link[1:] for link in read.links} <= read.ids.keys()
    assert {f"type-{name}" for name in ontology.types} | {
        f"relation-{name}" for name in ontology.relations
    } <= read.ids.keys()
    assert read.tags["script"] == 1
    assert not re.search(r"url\(|@import|src=|<link", page)
    assert 'id="find" hidden' in page  # without scripts there is no field that does nothing


def article(name: str, anchor: str) -> str:
    page = to_html(example(name))
    found = re.search(rf'<article id="{anchor}">.*?</article>', page, re.DOTALL)
    assert found is not None
    return Reader(found[0]).words


def test_a_type_tells_all_of_it() -> None:
    book = article("library", "type-Book")
    for said in (
        "A work that is printed.",
        "Is a Work , Identified , Priced",
        "Is never also Film",
        "isbn · publisher + edition · shelf_mark",
        "Matches 97[89]-\\d{10}",
        "Deprecated since 1.5.0; use publisher.",
        "rating from Work",
        "price from Priced",
        "At least 0 EUR.",
        "lent_to Reader at most 1",
        "continued_by Work The inverse of sequel_of.",
        "isbn: 978-0141182803",
    ):
        assert said in book, said
    work = article("library", "type-Work")
    assert "Kinds of it Book , Film" in work
    assert "Called work en · Werk de · 作品 zh" in work
    assert "Also opus en · creation en · Schöpfung de" in work
    assert "pt-BR As it is spoken in Brazil." in work
    assert "Example" not in article("library", "type-Priced")


def test_a_relation_tells_all_of_it() -> None:
    lent = article("library", "relation-lent_to")
    for said in ("From Book or Scroll", "To Reader", "at most 1", "borrows", "at most 5", "most trusted"):
        assert said in lent, said
    assert "vouched_by Reader or Work Who or what vouches for it." in lent
    assert "asymmetric, transitive, acyclic" in article("library", "relation-sequel_of")


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_pages_are_valid(name: str) -> None:
    ontology = example(name)
    for one in ontology.types.values():
        text, missing = example_page(ontology, one.name)
        page, findings = parse_page(text, file="example.md", ontology=ontology)
        assert page is not None
        assert missing == ()
        if not one.abstract:
            assert [finding for finding in findings if finding.severity == "error"] == [], text


def test_an_attribute_without_a_known_value_is_told() -> None:
    ontology = compiled("types:\n  T:\n    attributes:\n      code: {type: string, pattern: 'q{9}', required: true}\n")
    assert example_page(ontology, "T")[1] == ("code",)
    assert "There is no example of a page: <code>code</code> has none" in to_html(ontology)


@settings(max_examples=40, deadline=None)
@given(ontologies())
def test_whatever_the_texts_it_is_well_formed(ontology: Ontology) -> None:
    read = Reader(to_html(ontology))
    assert read.tags["script"] == 1
    assert "alert(1)" in read.words or not any("alert" in one.description for one in ontology.types.values())
    assert not any(name.startswith("on") for name in read.attributes)
    for one in ontology.types.values():
        text, missing = example_page(ontology, one.name)
        page, findings = parse_page(text, file="example.md", ontology=ontology)
        assert page is not None
        assert missing or not [finding for finding in findings if finding.severity == "error"], text
