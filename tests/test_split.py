"""Passages and sentences: where texts are cut, and that nothing of them is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.split import sentences, split
from ontoloom.records import Document, Section


def document(text: str, *sections: Section) -> Document:
    return Document("d", "d", "d", text, sections or (Section("body", 0, len(text)),))


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "It was proposed by Vaswani et al. in 2017.|It is used everywhere.",
        "Proposed by Smith et al.|The model works.|In 2018 it was extended.",
        "See Fig. 3 and Eq. 4, e.g. the third row, i.e. the last one (cf. Sec. 2).|Then go on.",
        "Scores rose from 3.5 to 4.25 percent.|P was 0.05.|Done.",
        "Dr. Who met Prof. Hinton and Mrs. Smith.|They spoke.",
        "J. Smith and Geoffrey E. Hinton wrote it.|A. Vaswani did not.",
        "Patients had hepatitis B.|Patients were young.|Some took vitamin C.|Others did not.",
        "The U.S. Senate met.|It was in the U.S.|The vote failed.",
        "It was No. 5 of Vol. 3.|The answer is no.|Nobody came.",
        "It came in Sept. 2021.|It left in Dec.|We waited.",
        "Is it so?|Yes!|Really?!|It is…|Maybe.",
        'He said "Stop."|She went on.|(It was late.)|All slept.',
        "Llama 3.|It has 8B parameters.|vLLM serves it.|mT5 is older.",
        "Use v1.2.3 of foo.bar with node.js and go.|Enjoy.",
        "Acme Inc. was founded by Bo.|Acme Inc.|It grew.",
        "大模型是什么？|它是一个模型。|“真的！”|是的",
        "GPT-4 是一个模型。|它很大！|OK.|Good.",
    ],
)
def test_sentences_end_where_a_reader_would_say(text: str) -> None:
    parts = text.split("|")
    joined = " ".join(parts)
    assert cut(joined) == parts


def test_headings_lists_and_tables_are_lines_of_their_own() -> None:
    text = (
        "# A title\nText goes\non here. More.\n\n- one item\n- two. Two more\n1. first\n\n| a | b |\n| 1 | 2 |\nAfter."
    )
    assert cut(text) == [
        "# A title", "Text goes\non here.", "More.", "- one item", "- two.", "Two more", "1. first", "| a | b |",
        "| 1 | 2 |", "After.",
    ]  # fmt: skip


def test_paragraphs_are_kept_whole_and_gathered_while_they_fit() -> None:
    text = "One is short.\n\nTwo is short.\r\n\r\nThree is a little longer than the others.\n \nFour."
    passages = split(document(text), max_characters=40)
    assert [p.text for p in passages] == [
        "One is short.\n\nTwo is short.",
        "Three is a little longer than the",
        "others.",
        "Four.",
    ]
    assert [p.text for p in split(document(text), max_characters=50)] == [
        "One is short.\n\nTwo is short.",
        "Three is a little longer than the others.\n \nFour.",
    ]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    text = "First comes a sentence. Second comes another one. Third is the last."
    assert [p.text for p in split(document(text), max_characters=55)] == [
        "First comes a sentence. Second comes another one.",
        "Third is the last.",
    ]


def test_a_long_sentence_is_cut_at_blanks_and_chinese_anywhere() -> None:
    assert [p.text for p in split(document("aaa bbb ccc ddd"), max_characters=8)] == ["aaa bbb", "ccc ddd"]
    assert [p.text for p in split(document("一二三，四五六七八九十"), max_characters=5)] == [
        "一二三，四",
        "五六七八九",
        "十",
    ]
    assert [p.text for p in split(document("x" * 7), max_characters=3)] == ["xxx", "xxx", "x"]


def test_passages_do_not_cross_sections_and_say_theirs() -> None:
    text = "Title\n\nAbstract text.\n\nBody text."
    sections = (Section("title", 0, 5), Section("abstract", 7, 21), Section("body", 23, 33))
    passages = split(document(text, *sections))
    assert [(p.section, p.text) for p in passages] == [
        ("title", "Title"),
        ("abstract", "Abstract text."),
        ("body", "Body text."),
    ]
    assert len({p.id for p in passages}) == 3


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="max_characters"):
        split(document("a"), max_characters=0)


texts = st.text(alphabet=st.sampled_from("ab Zé.!?\n\r\t中。，🙂|#-1(\"'\u0301"), max_size=300)


@settings(deadline=None)
@given(text=texts, limit=st.integers(1, 60), first=st.integers(0, 300), second=st.integers(0, 300))
def test_every_sign_of_a_section_is_in_exactly_one_passage(text: str, limit: int, first: int, second: int) -> None:
    first, second = sorted((min(first, len(text)), min(second, len(text))))
    sections = (Section("abstract", first, second), Section("body", second, len(text)))
    passages = split(document(text, *sections), max_characters=limit)
    covered = [place for passage in passages for place in range(passage.start, passage.end)]
    wanted = {place for place in range(first, len(text)) if not text[place].isspace()}
    assert len(covered) == len(set(covered))
    assert wanted <= set(covered) <= set(range(first, len(text)))
    for passage in passages:
        assert passage.text == text[passage.start : passage.end]
        assert 0 < len(passage.text) <= limit
        [section] = [s for s in sections if s.start <= passage.start and passage.end <= s.end]
        assert section.name == passage.section
    assert passages == sorted(passages, key=lambda passage: passage.start)


@settings(deadline=None)
@given(text=texts)
def test_every_sign_is_in_exactly_one_sentence(text: str) -> None:
    spans = list(sentences(text))
    covered = [place for start, end in spans for place in range(start, end)]
    assert len(covered) == len(set(covered))
    assert {place for place in range(len(text)) if not text[place].isspace()} <= set(covered)


@pytest.mark.parametrize("unit", [".", "e.g. ", "x", "中", "a. ", " ", "\n ", "(", "\r\n \r\n", "| a |\n", "*", "J. "])
def test_long_runs_of_anything_take_linear_time(unit: str) -> None:
    text = unit * (60_000 // len(unit)) + "x"
    assert sum(len(p.text) for p in split(document(text))) <= len(text)
