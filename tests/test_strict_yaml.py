from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from ontology import FindingsError, strict_yaml
from ontology.strict_yaml import Source, compose, end, entries, read_source, start

LOADERS = [loader for loader in (getattr(yaml, "CBaseLoader", None), yaml.BaseLoader) if loader is not None]


@pytest.fixture(params=LOADERS, ids=lambda loader: loader.__name__)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both of PyYAML's parsers, as either may be what a machine has."""
    monkeypatch.setattr(strict_yaml, "LOADER", request.param)


def found(text: str) -> list[tuple[int, int, str]]:
    source = Source("f.yaml", text)
    compose(source)
    return sorted((f.line, f.column, f.code) for f in source.findings)


CASES = {
    "duplicate key": ("a: 1\nb: 2\na: 3\n", [(3, 1, "duplicate-key")]),
    "duplicate key, nested and quoted": ("x:\n  - {a: 1, 'a': 2}\n", [(2, 12, "duplicate-key")]),
    "merge key": ("a: {<<: {b: 1}}", [(1, 5, "merge-key")]),
    "key that is a list": ("? [a, b]\n: c", [(1, 3, "bad-key")]),
    "anchor": ("a: &x 1\n", [(1, 4, "anchor")]),
    "alias": ("a: 1\nb: *x\n", [(2, 4, "alias")]),
    "self-reference": ("a: &x {b: *x}", [(1, 4, "anchor")]),
    "alias in each of two blocks": ("a: &x 1\nb: 2\nc: *x\n", [(1, 4, "anchor"), (3, 4, "alias")]),
    "tag": ("a: !!python/object:os.system x", [(1, 4, "tag")]),
    "tag that is short": ("a: 1\nb: ! x", [(2, 4, "tag")]),
    "directive": ("%YAML 1.1\n---\na: 1", [(1, 1, "directive")]),
    "second document": ("a: 1\n---\nb: 2\n", [(2, 1, "several-documents")]),
    "text after the end of the document": ("a: 1\n...\nb: 2", [(3, 1, "several-documents")]),
    "byte order mark": ("\ufeffa: 1\na: 2", [(1, 1, "byte-order-mark"), (2, 1, "duplicate-key")]),
    "byte order mark takes no column": ("\ufeffa: &x 1", [(1, 1, "byte-order-mark"), (1, 4, "anchor")]),
    "NUL": ("a: x\0y", [(1, 5, "control-character")]),
    "line separator": ("a: 1\u2028b: 2", [(1, 5, "control-character"), (1, 7, "syntax")]),
    "lone surrogate": ("a: \ud800", [(1, 4, "control-character")]),
    "no-break space as indentation": ("a:\n\xa0\xa0b: 1\n", [(2, 1, "odd-space")]),
    "no-break space as indentation of a later line": ("a: 1\n\xa0b: 2", [(2, 1, "odd-space")]),
    "no-break space after a colon": ("b: 1\na:\xa0c\n", [(2, 3, "odd-space")]),
    "ideographic space as indentation": ("a:\n\u3000b: 1\n", [(2, 1, "odd-space")]),
    "tab as indentation": ("a:\n\tb: 1\n", [(2, 1, "tab-indentation")]),
    "tabs as indentation, twice": ("a:\n\tb: 1\nc:\n\td: 1\n", [(2, 1, "tab-indentation"), (4, 1, "tab-indentation")]),
    "conflict": ("<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> other\n", [(1, 1, "merge-conflict")]),
    "rest of a conflict": ("a: 1\n=======\nb: 2\n", [(2, 1, "merge-conflict")]),
    "unclosed quote": ("a: 1\nb: 'x\nc: 2\n", [(2, 4, "syntax")]),
    "unclosed list": ("a: [1, 2\nb: 3\n", [(1, 4, "syntax")]),
    "unquoted colon": ("title: A: B\n", [(1, 9, "syntax")]),
    "signs beyond the first plane": ("a: '😀模'\nb: {😀: 1, 😀: 2}", [(2, 11, "duplicate-key")]),
    "after CRLF": ("a: 1\r\nb: 1\r\na: 2\r\n", [(3, 1, "duplicate-key")]),
    "after lone CR": ("a: 1\rb: 1\ra: 2\r", [(3, 1, "duplicate-key")]),
    "two errors in two blocks": ("a: [1\nb: 2\nc: 'x\n", [(1, 4, "syntax"), (3, 4, "syntax")]),
    "nothing": ("", []),
    "a comment": ("# nothing\n", []),
}


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_every_fault_is_found_where_it_is(text: str, expected: list[tuple[int, int, str]]) -> None:
    assert found(text) == expected


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("text", ["[" * 10_000, "a: " + "[" * 2_000, "- " * 10_000, "? " * 3_000, "{a: " * 5_000])
def test_deep_nesting_is_a_finding(text: str) -> None:
    source = Source("f", text)
    compose(source)
    assert [f.code for f in source.findings] == ["too-deep"]


@pytest.mark.usefixtures("parser")
def test_nesting_that_closes_is_still_too_deep() -> None:
    deep = "a: 1\nb: " + "[" * 200 + "]" * 200 + "\nc: 1\nc: 2\n"
    assert found(deep) == [(2, 67, "too-deep"), (4, 1, "duplicate-key")]


@pytest.mark.usefixtures("parser")
def test_scalars_stay_as_they_were_written() -> None:
    root = compose(Source("f", "license: no\nversion: 1.10\nyear: 0o17\nday: 2024-05-01\nnone: ~\nmark: '&x *y !z'\n"))
    assert isinstance(root, MappingNode)
    values = {key: value.value for key, (_, value) in entries(root).items()}
    assert values == {
        "license": "no", "version": "1.10", "year": "0o17", "day": "2024-05-01", "none": "~", "mark": "&x *y !z",
    }  # fmt: skip


@pytest.mark.usefixtures("parser")
def test_quotes_and_block_scalars_may_hold_what_is_refused_elsewhere() -> None:
    text = "a: '&x'\nb: \"*y !!z\"\nc: |\n  &x *y\n  !!tag\n  \u3000段落\n  % no\nd: R&D, 3 * 4!\ne: https://x.org/?a=1&b=2\n"
    assert found(text) == []


@pytest.mark.usefixtures("parser")
def test_spans_are_the_words_of_the_author() -> None:
    text = "---\na: 😀 # c\nb:\n  - x: 1\n    y: two\n     words # c\n  # c\n  - z\n# end\nd: {e: [f]}\n"
    root = compose(Source("f", text))
    assert isinstance(root, MappingNode)
    found = entries(root)
    spans = {key: text[start(value) : end(text, value)] for key, (_, value) in found.items()}
    assert spans["a"] == "😀"
    assert spans["b"] == "- x: 1\n    y: two\n     words # c\n  # c\n  - z"
    assert spans["d"] == "{e: [f]}"
    items = found["b"][1]
    assert isinstance(items, SequenceNode)
    assert [text[start(i) : end(text, i)] for i in items.value] == ["x: 1\n    y: two\n     words", "z"]


def test_a_large_file_loads() -> None:
    line = "k{}: {{text: '{}', list: [a, b]}}\n"
    text = "".join(line.format(i, "words " * 90) for i in range(11_000))
    assert len(text) > 6_000_000
    source = Source("f", text)
    root = compose(source)
    assert isinstance(root, MappingNode)
    assert len(root.value) == 11_000
    assert source.findings == []


def test_many_syntax_errors_are_bounded() -> None:
    source = Source("f", "".join(f"k{i}: [\n" for i in range(1_000)))
    assert compose(source) is None
    assert len(source.findings) == strict_yaml.MAX_SYNTAX_ERRORS


def test_a_file_that_is_no_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes("a: é\nb: é".encode() + b"\xe9")
    with pytest.raises(FindingsError) as caught:
        read_source(path)
    finding = caught.value.findings[0]
    assert (finding.line, finding.column, finding.code) == (2, 5, "not-utf-8")
    assert "0xe9" in finding.message
    path.write_bytes("a: 1".encode("utf-16"))
    with pytest.raises(FindingsError, match="UTF-16"):
        read_source(path)


def test_a_file_that_is_absent(tmp_path: Path) -> None:
    with pytest.raises(FindingsError, match=r"absent\.yaml:1:1: error\[unreadable\]"):
        read_source(tmp_path / "absent.yaml")


PIECES = st.sampled_from([
    "a: ", "- ", "\n", "  ", "\t", "[", "]", "{", "}", "'", '"', "&x ", "*x", "!!t ", "|", ">", "#", "%", "---\n",
    "...", "<<: ", "\0", "\ufeff", "\xa0", "\r", "\u2028", "\ud800", "😀", "b", ": ", ", ", "? ", "<<<<<<< H\n", "@",
])  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=3), max_size=60).map("".join))
def test_whatever_the_text_only_findings_come_of_it(text: str) -> None:
    source = Source("f", text)
    root = compose(source)
    lines = text.count("\n") + text.count("\r") + 1
    assert all(1 <= f.line <= lines and 1 <= f.column <= len(text) + 1 for f in source.findings)
    pending = [] if root is None else [root]
    while pending:
        node = pending.pop()
        assert 0 <= start(node) <= end(text, node) <= len(text)
        if isinstance(node, MappingNode):
            pending += [part for pair in node.value for part in pair]
        elif not isinstance(node, ScalarNode):
            pending += node.value


@given(st.text(alphabet="ab😀é模 ", min_size=1, max_size=20).filter(lambda t: t.strip(" ")))
def test_a_quoted_text_comes_back(text: str) -> None:
    source = Source("f", f"k: '{text}'\n")
    root = compose(source)
    assert isinstance(root, MappingNode)
    value = root.value[0][1]
    assert value.value == text
    assert source.text[start(value) : end(source.text, value)] == f"'{text}'"
