"""What is read as plain YAML is what the YAML parser reads, and a plain page is the page that the full reader gives."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ontology import read_ontology
from ontology.facts import Limits, facts_of
from ontology.page_reader import PageReader
from ontology.plain_pages import PlainReader
from ontology.plain_yaml import NotPlain, read_entries, read_entry
from ontology.read import compile_ontology
from ontology.schema import Ontology
from ontology.strict_yaml import Source, compose, end, entries, start
from ontology.vocabulary import Vocabularies

EXAMPLE = Path(__file__).parent.parent / "examples" / "ai-infra"
ONTOLOGY = read_ontology(EXAMPLE / "ontology.yaml")
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((EXAMPLE / "wiki").glob("*.md"))}
FRONT_MATTER = {name: text.split("\n---\n")[0][4:] for name, text in PAGES.items()}


def tree(text: str, node: Node) -> tuple[Any, ...]:
    """A node of the parser as ``ontology.plain_yaml`` has it."""
    if isinstance(node, ScalarNode):
        return node.value, start(node), end(text, node)
    if isinstance(node, SequenceNode):
        return [tree(text, item) for item in node.value], start(node), end(text, node)
    assert isinstance(node, MappingNode)
    fields = {key: (start(key_node), tree(text, value)) for key, (key_node, value) in entries(node).items()}
    return fields, start(node), end(text, node)


def check(text: str) -> bool:
    """Whether a text is plain; what was read of it is what the parser reads, and nothing is to be reported."""
    try:
        found = {key: (entry[0], read_entry(entry)) for key, entry in read_entries(text, 0).items()}
    except NotPlain:
        return False
    source = Source("f", text)
    composed = compose(source)
    assert source.findings == []
    assert found == (tree(text, composed)[0] if composed is not None else {})
    return True


def check_page(text: str, ontology: Ontology = ONTOLOGY) -> bool:
    """Whether a page is plain; it has then the facts of the page that is fully read, of which nothing is reported."""
    limits = Limits(ontology)
    reader = PlainReader(Vocabularies(ontology), limits)
    facts = reader.read(text, "x")
    if facts is None:
        return False
    page, findings = PageReader(Vocabularies(ontology)).read(text, file="x.md")
    assert findings == []
    assert page is not None
    assert facts == facts_of(page, text, limits)
    assert reader.read(text, "x") == facts  # by what is known from the first time
    return True


@pytest.mark.parametrize("text", FRONT_MATTER.values(), ids=FRONT_MATTER.keys())
def test_the_pages_of_the_example_are_plain(text: str) -> None:
    assert check(text)


@pytest.mark.parametrize("text", PAGES.values(), ids=PAGES.keys())
def test_and_are_the_pages_that_the_full_reader_gives(text: str) -> None:
    assert check_page(text)


PLAIN = [
    "a: 1",
    "\n# c\na: 1\n\n  # c\nb: 2",
    "a: x y # c\nb: it's R&D, [really] {not} a#b -?!\nc: -1\n",
    "url: https://example.org/a?b=1&c=2#d\ntime: 10:30\nday: 2024-05-01\nn: é模😀\n",
    "a: 'x: # y'\nb: \"it's [a]: {b}\"  # c\nd: ''\ne: \"\"\n",
    "a: [x, y z, -1, 1.5, https://a.org/b, 'c, d', \"[e]\"] # c\n",
    "a: {target: x, score_delta: 2.3, note: 'a, b'}\n",
    "a: [{target: x, b: y}, {target: z}, w]\n",
    "a:\n  - x\n  - y # c\n\n  # c\n  - 'z'\nb: 1\n",
    "a:\n- x\n- {b: c}\nb: 1\n",
    "a:\n  - target: x\n    b: y\n  # c\n  - d: z\n# c\nb:\n  c: 1\n  d: [e]\nf: 1\n\n# end",
    "a: null b\nb: 'null'\nc: yes\nd: 1_000\n",
]


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_plain(text: str) -> None:
    assert check(text)


NOT_PLAIN = [
    "---\n", "a", "a: 1\nb", "a: 1\na: 2", "a: {b: 1, b: 2}", "a:\n  - b: 1\n    b: 2\n",
    "<<: {a: b}", "a: {<<: b}", "a: &x 1", "a: *x", "a: !t x", "a: [&x b]", "a: [*x]", "&a b: 1",
    "%YAML 1.1\n---\na: 1", "a:\tb", "\ta: 1", "a: b\tc", "a: b\x00", "a: b\x85c", "a: b\u2028c", "a:\n\xa0\xa0b: 1",
    "a: b\xa0c", "\ufeffa: 1", "a: \ud800", "a: 1\r\nb: 2\r\n", "a: 1\rb: 2", "<<<<<<< HEAD\na: 1\n=======\n",
    "a: 1\n=======\n", "a: 1\n---\nb: 2", "a: 1\n...\n", "a: 1\n--- \n", "a: null", "b: ~", "a: []", "a: {}", "a:",
    "a: ", "? a\n: b", "a: |\n  x\n", "a: >-\n  x\n",
    "a: x\n  y\n", "a: 'x\n  y'\n", "a: [x,\n  y]", "a: \"x\\ny\"", "a: 'x' y", "a: 'x'y'", "a: \"x\"y\"", "a: b: c",
    "a: b:", "a: - b", "a: ? b", "a: @b", "a: `b", "a: %b", "a: ,b", "a: ]", "a: [b", "a: {b", "a: [b}", "a: [b]c",
    "a: [b: c]", "a: {b}", "a: {b: }", "a: [b, ]", "a: [, b]", "a: [b c: d]", "a: [b?]", "a: [b #c]", "a: [?b]",
    "a: [a: b]", "a: x\n  b: 1", "a: x\n- b", "a:\n    b: 1\n  c: 2\n", "a:\n  - b\n c: 1\n", "a:\n  - b\n  c: 1\n",
    "- a\nb: 1\n", "a: 1\n- b\n", "- - a", "-\n  a", "a: b\n b: c", "a : b", "'a': b",
    "a: [[[[b]]]]: c", "a:b", "a: [b]]", "a: [b,c]", "a: {b:c}", "a:\n- b\n  c: 1\n",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_what_is_left_to_the_parser(text: str) -> None:
    assert not check(text)


STRICT, _ = compile_ontology(
    """\
ontology: strict
version: 1.0.0
types:
  Thing: {abstract: true}
  Book:
    is_a: Thing
    keys: [[vendor, version], [hardware.serial]]
    attributes:
      vendor: {type: string}
      version: {type: string, required: true}
      isbn: {type: string, unique: true, many: {min: 2, max: 3}}
      size: {type: quantity, unit: cm}
      made: {type: datetime}
      old: {type: string, deprecated: {}}
      kind: {type: enum, values: {a: {deprecated: {use: b}}, b: {}}}
      hardware: {type: record, fields: {serial: {type: integer, min: 1}, memory: {type: number}}}
  Shelf: {deprecated: {}}
relations:
  part_of:
    domain: Book
    range: Book
    acyclic: true
    inverse: has_part
    cardinality: {subjects: 0..2}
    attributes: {where: {type: string, identifying: true, required: true}, on: {type: reference, to: Book}}
  next_to: {domain: Book, range: Book, cardinality: one, asymmetric: true}
""",
    file="ontology.yaml",
)
assert STRICT is not None
STATED = st.sampled_from([
    "vendor: v", "version: 1.10", "version: 'x'", "isbn: [a, b]", "isbn: a", "isbn: [a, a]", "isbn: [a, b, c, d]",
    "size: 3 cm", "size: 3", "made: 2024-05-01T10:00:00+02:00", "old: x", "kind: a", "kind: b",
    "hardware: {serial: 3, memory: 1.5}", "hardware: {serial: 0}", "hardware:\n  serial: 7", "hardware: 7",
    "part_of: {target: x, where: in}", "part_of: x", "part_of: [{target: x, where: in}, {target: x, where: on, on: y}]",
    "part_of:\n  - {target: x, where: in}\n  - target: y\n    where: in", "has_part: [{target: x, where: a}]",
    "has_part: [{target: x, where: a}, {target: y, where: a}, {target: z, where: a}]", "next_to: y", "next_to: [x]",
    "next_to: [x, y]", "part_of: {target: x, where: in, on: [y]}", "aliases: [Z, ' z ']", "source: https://a.org",
    "source: a.org", "description: some words", "unknown: x", "isbn:\n- 'b'\n- c # d",
])  # fmt: skip


@given(
    st.sampled_from(["Book", "Book", "Book", "Thing", "Shelf", "Nothing"]),
    st.lists(STATED, max_size=6, unique_by=lambda text: text.partition(":")[0]),
)
def test_pages_of_a_strict_ontology_have_the_facts_that_the_full_reader_gives(kind: str, stated: list[str]) -> None:
    assert STRICT is not None
    text = "\n".join(["---", f"type: {kind}", "name: N", *stated, "---", "See [[x]] and `[[y]]`.", ""])
    check_page(text, STRICT)


def test_a_right_page_of_it_is_plain() -> None:
    assert STRICT is not None
    lines = ["version: 1.10", "vendor: v", "isbn: [a, b]", "hardware: {serial: 3}", "next_to: y"]
    assert check_page("\n".join(["---", "type: Book", "name: N", *lines, "---", "[a](b.md)"]), STRICT)


WORDS = st.sampled_from([
    "a", "b", "key", "x y", "1.5", "-1", "2024-05-01", "https://a.org/b", "it's", "'q'", '"q"', "''", "'a, b'",
    '"a: b"', "'it''s'", "[a, b]", "{a: b, c: d}", "[{a: b}, {c: 'd'}]", "{a: [b, c]}", "é模😀", "a#b", "a #b", "# c",
    "a:b", "a::b", "a:", ":", "-", "--", "---", "...", "?", "?a", "&x", "*x", "!t", "|", ">", "%", "@", "`", "\\",
    '"\\n"', "<<", "~", "", "[a", "b]", "{a", "b}", "[]", "{}", "[a,b]", "{a:b}", "[a: b]", "a,b", "a, b", "'", '"',
    "\xa0", "\t", "=======", ",", "_",
])  # fmt: skip
LINE_PARTS = st.sampled_from(
    ["a: ", "b: ", "c:", "key:", "- ", "- a: ", "-", " ", "  ", "# ", "a", ": ", ":", ", ", "[", "]"]
)
LINES = st.builds(
    lambda indent, parts, word, tail: " " * indent + "".join(parts) + word + tail,
    st.sampled_from([0, 0, 0, 0, 2, 2, 2, 4, 4, 1, 3, 6]),
    st.lists(LINE_PARTS, max_size=2),
    WORDS | st.lists(WORDS, max_size=3).map(", ".join) | st.text("ab'\"[]{},:#-? \\", max_size=8),
    st.sampled_from(["", "", "", " ", " # c", "#", "]", "}"]),
)
TIDY_LINES = st.builds(
    lambda indent, dash, key, word: " " * indent + dash + key + word,
    st.sampled_from([0, 0, 2, 4]),
    st.sampled_from(["", "", "- "]),
    st.sampled_from(["a: ", "b: ", "c: ", "d: ", "e:", "f:", ""]),
    st.sampled_from(["", "x", "y z", "'q'", "[a, b]", "{a: b}", "# c"]),
)
TEXTS = st.lists(LINES | TIDY_LINES, max_size=8).map("\n".join)


@given(TEXTS, st.sampled_from(["", "# c\n"]), st.sampled_from(["", "\n", "\n\n", "\n  \n# c"]))
def test_whatever_the_text_the_tree_is_that_of_the_parser(text: str, head: str, tail: str) -> None:
    check(head + text + tail)


@given(st.sampled_from([*FRONT_MATTER.values(), *PLAIN]), st.integers(0, 2**32), st.integers(1, 3))
def test_damaged_pages_too(text: str, seed: int, times: int) -> None:
    check(damaged(text, Random(seed), times))


@given(st.sampled_from(list(PAGES.values())), st.integers(0, 2**32), st.integers(1, 3))
def test_damaged_pages_are_read_as_the_full_reader_reads_them(text: str, seed: int, times: int) -> None:
    check_page(damaged(text, Random(seed), times))


def damaged(text: str, random: Random, times: int) -> str:
    """A text with characters or lines left out, put in or swapped."""
    for _ in range(times):
        at, other = sorted(random.choices(range(len(text) + 1), k=2))
        lines = text.split("\n")
        line = random.randrange(len(lines))
        how = random.randrange(6)
        if how == 0:
            text = text[:at] + text[at + 1 :]
        elif how == 1:
            text = text[:at] + random.choice(" \n:#-,[]{}'\"?&*!|>%@`\\\t\xa0\r😀a~<.") + text[at:]
        elif how == 2:
            text = text[:at] + text[other : other + 1] + text[at + 1 : other] + text[at : at + 1] + text[other + 1 :]
        elif how == 3:
            text = "\n".join([*lines[:line], random.choice(["", " ", "  ", "- "]) + lines[line], *lines[line + 1 :]])
        elif how == 4:
            text = "\n".join([*lines[:line], lines[line][1:], *lines[line + 1 :]])
        else:
            text = "\n".join([*lines[:line], *lines[line + 1 :]])
    return text
