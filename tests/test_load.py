"""Loading: what becomes a document, with which id, text and sections, and what is said of input that cannot be read."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.column_mapping import ColumnMapping, parse_mapping, read_mapping
from ingest.load import count, load
from ingest.loaded import Loaded, LoadFailure
from ontology.findings import FindingsError
from ontoloom.errors import InputError
from ontoloom.records import Document

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, content: str | bytes, *, encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


def one(path: Path, *, mapping: ColumnMapping | None = None, encoding: str = "utf-8") -> Loaded:
    [loaded] = load([path], mapping=mapping, encoding=encoding)
    return loaded


def document(path: Path, *, mapping: ColumnMapping | None = None, encoding: str = "utf-8") -> Document:
    loaded = one(path, mapping=mapping, encoding=encoding)
    assert isinstance(loaded, Document), loaded
    return loaded


def failure(path: Path, *, mapping: ColumnMapping | None = None) -> tuple[str, str, str]:
    loaded = one(path, mapping=mapping)
    assert isinstance(loaded, LoadFailure), loaded
    assert "\n" not in loaded.message
    return loaded.source, loaded.code, loaded.message


def sections(loaded: Document) -> list[tuple[str, str]]:
    return [(section.name, loaded.text[section.start : section.end]) for section in loaded.sections]


def codes(loaded: Iterator[Loaded]) -> list[tuple[str, str]]:
    return [(item.id, "ok") if isinstance(item, Document) else (item.source, item.code) for item in loaded]


# Folders -----------------------------------------------------------------------------------------------------------


def test_a_folder_gives_its_documents_in_order_of_their_paths(tmp_path: Path, write: Write) -> None:
    for name in ["b.md", "a/z.txt", "a/b.markdown", "wiki/p.md", "wiki/deep/q.md", "t.csv", "README.md", "readme.txt"]:
        write(name, "title,body\nT,B\n" if name.endswith("csv") else "Some text.")
    for name in [".hidden.md", ".git/config.md", "ontology.yaml", "rules.yml", "a/picture.png"]:
        write(name, "x")
    loaded = list(load([tmp_path]))
    assert codes(iter(loaded)) == [
        (name, "ok") for name in ["a/b.markdown", "a/z.txt", "b.md", "t.csv#1", "wiki/deep/q.md", "wiki/p.md"]
    ]
    kinds = {item.id: item.kind for item in loaded if isinstance(item, Document)}
    assert [name for name, kind in kinds.items() if kind == "page"] == ["wiki/deep/q.md", "wiki/p.md"]
    assert count([tmp_path]) == 6


def test_the_wiki_folder_itself_and_one_of_its_pages_are_pages(write: Write) -> None:
    page = write("wiki/p.md", "---\ntype: Model\nname: Mistral 7B\n---\n# Another heading\n")
    assert document(page).kind == document(page.parent).kind == "page"
    assert document(page).title == "Mistral 7B"


def test_what_a_folder_holds_beside_documents_is_said(
    tmp_path: Path, write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    write("a.md", "text")
    write("b.pdf", "x")
    list(load([tmp_path]))
    assert "1 .pdf" in caplog.text


def test_paths_that_give_nothing_are_refused_at_once(tmp_path: Path, write: Write) -> None:
    write("only/x.png", "x")
    with pytest.raises(InputError, match="no documents in this folder"):
        load([tmp_path / "only"])
    with pytest.raises(InputError, match="no such file or folder"):
        load([tmp_path / "absent"])
    with pytest.raises(InputError, match="unknown encoding 'klingon'"):
        load([write("a.md", "text")], encoding="klingon")


def test_the_second_document_of_an_id_is_a_failure(write: Write) -> None:
    first, second = write("a/x.md", "one"), write("b/x.md", "two")
    assert codes(load([first, second])) == [("x.md", "ok"), ("x.md", "duplicate-id")]


def test_a_dangling_link_is_a_failure(tmp_path: Path, write: Write) -> None:
    write("b.md", "text")
    (tmp_path / "a.md").symlink_to(tmp_path / "gone")
    assert codes(load([tmp_path])) == [("a.md", "unreadable"), ("b.md", "ok")]


# Markdown and text -------------------------------------------------------------------------------------------------


def test_markdown_has_title_abstract_and_body_where_the_file_has_them(write: Write) -> None:
    text = """---
source: https://example.org/paper
language: de
---
Preface.

# A *great* title #

## Abstract
What it is.
### Detail
More of it.

## Body
```
# no heading
```
Text.
"""
    loaded = document(write("a.md", text))
    assert loaded.text == text
    assert (loaded.title, loaded.source, loaded.language) == ("A *great* title", "https://example.org/paper", "de")
    assert sections(loaded) == [
        ("body", "Preface."),
        ("title", "A *great* title"),
        ("abstract", "What it is.\n### Detail\nMore of it."),
        ("body", "## Body\n```\n# no heading\n```\nText."),
    ]


def test_underlined_headings_and_titles_in_front_matter(write: Write) -> None:
    loaded = document(write("a.md", "A title\n=======\n\nAbstract\n--------\nShort.\n\nRest\n----\nLong.\n"))
    assert loaded.title == "A title"
    assert sections(loaded) == [("title", "A title"), ("abstract", "Short."), ("body", "Rest\n----\nLong.")]
    loaded = document(write("b.md", "---\ntitle: 'In front'\n---\nText.\n"))
    assert sections(loaded) == [("title", "In front"), ("body", "Text.")]
    loaded = document(write("c.md", "---\nA rule above and no front matter.\n"))
    assert sections(loaded) == [("body", "---\nA rule above and no front matter.")]
    assert loaded.title == "c"


def test_front_matter_that_does_not_hold_is_a_failure_with_its_place(write: Write) -> None:
    source, code, message = failure(write("a.md", "---\ntitle: A: B\n---\nText.\n"))
    assert (source, code) == ("a.md", "front-matter")
    assert message.startswith("a.md:2:9: ")


def test_line_ends_and_marks_stay_as_they_are(write: Write) -> None:
    loaded = document(write("a.md", b"\xef\xbb\xbf# Title\r\n\r\nText \xf0\x9f\x99\x82 here.\r\n"))
    assert loaded.text == "# Title\r\n\r\nText 🙂 here.\r\n"
    assert sections(loaded) == [("title", "Title"), ("body", "Text 🙂 here.")]


def test_plain_text_has_its_first_line_as_title_if_it_looks_like_one(write: Write) -> None:
    assert sections(document(write("a.txt", "A title\n\nText. More.\n"))) == [
        ("title", "A title"),
        ("body", "Text. More."),
    ]
    loaded = document(write("b.txt", "A sentence.\n\nText.\n"))
    assert (loaded.title, sections(loaded)) == ("b", [("body", "A sentence.\n\nText.")])


@settings(deadline=None)
@given(text=st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], include_characters="\n\r\t")))
def test_any_text_is_kept_as_it_is_and_its_sections_do_not_overlap(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("any") / "a.md"
    path.write_bytes(("x" + text).encode())
    loaded = document(path)
    assert loaded.text == "x" + text
    spans = [(section.start, section.end) for section in loaded.sections]
    assert all(start < end for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


# Tables and records ------------------------------------------------------------------------------------------------


def test_rows_are_documents_of_their_mapped_columns(write: Write) -> None:
    path = write("p.csv", 'Id,Title,Abstract,Url\n7,One,"Two, ""three""\nlines",u1\n8,Four,,\n')
    mapping = parse_mapping(["id=Id", "title=Title", "abstract=Abstract", "source=Url"])
    first, second = load([path], mapping=mapping)
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (first.id, first.source, first.title) == ("p.csv#7", "u1", "One")
    assert first.text == 'One\n\nTwo, "three"\nlines'
    assert sections(first) == [("title", "One"), ("abstract", 'Two, "three"\nlines')]
    assert (second.id, second.source, sections(second)) == ("p.csv#8", "p.csv", [("title", "Four")])
    assert count([path], mapping=mapping) == 2


def test_delimiters_are_told_from_the_header(write: Write) -> None:
    assert document(write("a.tsv", "title\tbody\nT\tB, b\n")).text == "T\n\nB, b"
    assert document(write("a.csv", "title;body\nT;B, b\n")).text == "T\n\nB, b"


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        ('[{"title": "A"}, {"title": "B"}]', ["r.json#1", "r.json#2"]),
        ('{"x": {"title": "A"}, "y": {"title": "B"}}', ["r.json#x", "r.json#y"]),
        ('{"title": "A", "body": "B"}', ["r.json#1"]),
    ],
)
def test_json_is_a_list_an_object_of_records_or_one_record(write: Write, content: str, ids: list[str]) -> None:
    assert codes(load([write("r.json", content)])) == [(name, "ok") for name in ids]


def test_lists_of_strings_are_joined_and_labelled(write: Write) -> None:
    record = {"q": "Why?", "parts": ["First.", "Second."], "labels": ["AIM", "END"], "answer": "So.", "year": 2020}
    mapping = parse_mapping(["title=q", "abstract=parts", "abstract=answer", "labels.parts=labels", "body=year"])
    loaded = document(write("r.json", json.dumps({"1": record})), mapping=mapping)
    assert sections(loaded) == [
        ("title", "Why?"),
        ("abstract", "AIM: First.\n\nEND: Second.\n\nSo."),
        ("body", "2020"),
    ]


def test_a_mapping_file_says_the_same_as_options(write: Write) -> None:
    path = write("mapping.yaml", "id: key\ntitle: q\nabstract: [parts, answer]\nlabels: {parts: labels}\n")
    pairs = ["id=key", "title=q", "abstract=parts", "abstract=answer", "labels.parts=labels"]
    assert read_mapping(path) == parse_mapping(pairs)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("titel: a\n", "mapping.yaml:1:1: error[unknown-key] unknown field 'titel'; did you mean 'title'?"),
        ("- a\n", "mapping.yaml:1:1: error[bad-mapping] a mapping of fields to columns is expected"),
        ("title: {a: b}\n", "mapping.yaml:1:8: error[bad-mapping] a mapping is no column"),
    ],
)
def test_a_mapping_file_that_does_not_hold_is_refused(write: Write, content: str, said: str) -> None:
    with pytest.raises(FindingsError) as raised:
        read_mapping(write("mapping.yaml", content))
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (["title"], "not of the form field=COLUMN"),
        (["titel=a"], "did you mean 'title'?"),
        (["title=a", "title=b"], "mapped twice"),
        (["id=a"], "names no text"),
        (["title=a", "labels.b=c"], "labels of 'b', which is not mapped"),
        (["title=a", "labels=c"], "write labels.COLUMN=LABELS"),
    ],
)
def test_mapping_options_that_do_not_hold_are_refused(pairs: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_mapping(pairs)


def test_a_csv_file_without_a_mapped_column_is_refused_before_anything_is_loaded(tmp_path: Path, write: Write) -> None:
    write("a.md", "text")
    write("p.csv", "Titel,Abstract\nA,B\n")
    with pytest.raises(InputError, match=r"p\.csv: there is no column 'Title' \(did you mean 'Titel'\?\)"):
        load([tmp_path], mapping=parse_mapping(["title=Title"]))
    with pytest.raises(InputError, match=r"none of the columns looks like a text: a, b"):
        load([write("q.csv", "a,b\n1,2\n")])
    with pytest.raises(InputError, match="2 columns are named 'title'"):
        load([write("r.csv", "title,title\n1,2\n")])


# Bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "code", "said"),
    [
        ("a.md", b"", "empty", "nothing in it"),
        ("a.md", b" \n\t\n", "empty", "nothing in it"),
        ("a.csv", b"", "empty", "nothing in it"),
        ("a.csv", b"title,body\n", "empty", "no record"),
        ("a.json", b"[]", "empty", "no list or object of records"),
        ("a.jsonl", b"\n\n", "empty", "no record"),
        ("a.md", b"text \0 text", "binary", "binary"),
        ("a.md", b"a" * 9000 + b"\n\0", "binary", "line 2 holds a NUL"),
        ("a.txt", b"%PDF-1.7 and so on", "binary", "binary"),
        ("a.csv", b"PK\x03\x04 zip", "binary", "binary"),
        ("a.md", b"fine\ncaf\xe9\n", "encoding", "line 2, byte 8: not valid utf-8"),
        ("a.md", "text".encode("utf-16"), "encoding", "--encoding utf-16"),
        ("a.json", b'[{"title": "A"},\n {"title" "B"}]', "malformed", "line 2, column 11: not JSON"),
        ("a.json", b'{"a": {"title": "A"}, "a": {"title": "B"}}', "malformed", "the key 'a' is there twice"),
        ("a.json", b"[" * 100_000, "malformed", "nested too deep"),
        ("a.json", b'"text"', "malformed", "no list or object"),
        ("a.pdf", b"text", "unknown-suffix", "loaded are .md"),
    ],
)
def test_a_bad_file_is_one_failure_with_its_reason(
    write: Write, name: str, content: bytes, code: str, said: str
) -> None:
    source, found, message = failure(write(name, content))
    assert (source, found) == (name, code)
    assert said in message


def test_another_encoding_is_read_when_it_is_named(write: Write) -> None:
    assert document(write("a.md", "café", encoding="latin-1"), encoding="latin-1").text == "café"
    assert document(write("b.md", "café", encoding="utf-16"), encoding="utf-16").text == "café"
    table = write("c.csv", "title,body\nA,café\n", encoding="utf-16")
    assert document(table, encoding="utf-16").text == "A\n\ncafé"
    assert document(write("d.csv", "title\n北京\n", encoding="gb18030"), encoding="gb18030").text == "北京"


def test_bad_rows_are_failures_and_the_others_go_on(write: Write) -> None:
    path = write("p.csv", b"id,title\n1,One\n2\n3,caf\xe9\n,Nameless\n5,\n1,Again\n7,Seven\n")
    loaded = list(load([path]))
    assert codes(iter(loaded)) == [
        ("p.csv#1", "ok"),
        ("p.csv#2", "malformed"),
        ("p.csv#3", "encoding"),
        ("p.csv#4", "no-id"),
        ("p.csv#5", "empty"),
        ("p.csv#1", "duplicate-id"),
        ("p.csv#7", "ok"),
    ]
    assert [item.message for item in loaded if isinstance(item, LoadFailure)][:2] == [
        "line 3: 1 fields, but the header has 2",
        "line 4, byte 22: not valid utf-8; if it is in another encoding, name it, for example --encoding latin-1",
    ]


def test_bad_lines_of_json_are_failures_and_the_others_go_on(write: Write) -> None:
    lines = [
        '{"title": "A"}',
        '{"title": ',
        "[1]",
        '{"title": {"x": 1}}',
        '{"title": "\\u0000"}',
        '{"title": "\\ud800"}',
        '{"title": "A", "title": "B"}',
        "",
        '{"title": "B"}',
    ]
    loaded = list(load([write("r.jsonl", "\n".join(lines))]))
    assert codes(iter(loaded)) == [
        ("r.jsonl#1", "ok"),
        *[(f"r.jsonl#{n}", "malformed") for n in (2, 3, 4)],
        ("r.jsonl#5", "binary"),
        ("r.jsonl#6", "encoding"),
        ("r.jsonl#7", "malformed"),
        ("r.jsonl#8", "ok"),
    ]
    assert isinstance(loaded[1], LoadFailure)
    assert loaded[1].message.startswith("line 2, column 10: not JSON")


def test_a_column_that_no_record_has_is_said(write: Write) -> None:
    mapping = parse_mapping(["title=title", "abstract=abstrakt"])
    assert failure(write("r.json", '[{"title": "A", "abstract": "B"}]'), mapping=mapping)[1:] == (
        "missing-column",
        "no record has the mapped column 'abstrakt' (did you mean 'abstract'?)",
    )
    lines = write("r.jsonl", '{"title": "A"}\n{"title": "B", "other": 1}\n')
    assert codes(load([lines], mapping=mapping)) == [
        ("r.jsonl#1", "ok"),
        ("r.jsonl#2", "ok"),
        ("r.jsonl", "missing-column"),
    ]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_line_of_50_mb_is_a_failure_and_takes_no_50_mb(tmp_path: Path, suffix: str) -> None:
    before, after, long = {
        "csv": (b"title\nA\n", b"B\n", b"x"),
        "jsonl": (b'{"title": "A"}\n', b'{"title": "B"}\n', b"x"),
    }[suffix]
    path = tmp_path / f"big.{suffix}"
    with path.open("wb") as stream:
        stream.write(before)
        for _ in range(50):
            stream.write(long * 1_000_000)
        stream.write(b"\n" + after)
    tracemalloc.start()
    try:
        found = codes(load([path]))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    name = path.name
    assert found == [(f"{name}#1", "ok"), (f"{name}#2", "line-too-long"), (f"{name}#3", "ok")]
    assert peak < 40_000_000


def test_limits_can_be_set(write: Write) -> None:
    table = write("p.csv", "title\n" + "x" * 100 + "\nB\n")
    assert codes(load([table], max_line_bytes=50)) == [("p.csv#1", "line-too-long"), ("p.csv#2", "ok")]
    assert codes(load([table], max_line_bytes=101)) == [("p.csv#1", "ok"), ("p.csv#2", "ok")]
    assert codes(load([write("a.md", "x" * 100)], max_file_bytes=99)) == [("a.md", "too-large")]


def test_a_quote_that_is_never_closed_does_not_swallow_the_table_in_silence(write: Write) -> None:
    rows = "".join(f"row {n},text\n" for n in range(100))
    [loaded] = load([write("p.csv", f'title,body\nA,"open\n{rows}')])
    assert isinstance(loaded, LoadFailure)
    assert (loaded.code, loaded.message) == ("malformed", "line 2: a quote that is opened here is never closed")


# Real data ---------------------------------------------------------------------------------------------------------


def test_the_abstracts_of_papers_load(data: Path) -> None:
    mapping = parse_mapping(["id=Title", "title=Title", "abstract=Abstract", "source=PaperURL"])
    loaded = list(load([data / "ai-papers" / "abstracts.csv"], mapping=mapping))
    assert len(loaded) == 420 == count([data / "ai-papers" / "abstracts.csv"], mapping=mapping)
    documents = [item for item in loaded if isinstance(item, Document)]
    assert len(documents) == 420
    assert sum(any(s.name == "abstract" for s in document.sections) for document in documents) == 414
    assert documents[0].id == "abstracts.csv#Llemma"


def test_the_abstracts_of_pubmedqa_load(data: Path) -> None:
    mapping = parse_mapping(["title=QUESTION", "abstract=CONTEXTS", "abstract=LONG_ANSWER", "labels.CONTEXTS=LABELS"])
    path = data / "pubmedqa" / "ori_pqal.json"
    documents = [item for item in load([path], mapping=mapping) if isinstance(item, Document)]
    assert len(documents) == 1000 == count([path], mapping=mapping)
    first = documents[0]
    assert first.id == "ori_pqal.json#21645374"
    assert first.text[first.sections[1].start :].startswith("BACKGROUND: Programmed cell death (PCD) is")
