"""Triples as texts: readable, complete, in the ontology's words."""

from __future__ import annotations

from datetime import date

import pytest
from retrieval_parts import SHIPS, entity

from ontoloom.records import Entity, EntityRef, Triple, Value
from retrieval.chunk import mentioned, spaced, word
from retrieval.sentences import plain, sentence_around, split

DART, MEDUSA, CORK, LAPTHORN = (
    entity("Ship", "Dart"),
    entity("Ship", "Medusa"),
    entity("Port", "Cork"),
    entity("SailMaker", "Ratsey & Lapthorn"),
)
KNOWN = {e.id: e for e in (DART, MEDUSA, CORK, LAPTHORN)}


@pytest.mark.parametrize(
    ("relation", "value", "expected"),
    [
        ("launched", 1911, "Ship Dart: launched 1911"),
        ("crew_size", 12, "Ship Dart: crew size 12 people"),
        ("rig", "ketch", "Ship Dart: rig ketch"),
        ("afloat", True, "Ship Dart: afloat yes"),
        ("afloat", False, "Ship Dart: afloat no"),
        ("engine_room.gpu_count", 2, "Ship Dart: engine room: GPU count 2"),
        ("launched", date(1911, 5, 2), "Ship Dart: launched 1911-05-02"),
    ],
)
def test_attributes(relation: str, value: Value, expected: str) -> None:
    assert word(Triple(DART.id, relation, value), KNOWN, SHIPS).text == expected


def test_relations_with_their_attributes_and_the_names_of_what_these_refer_to() -> None:
    attributes = (("knots", 2.5), ("port", EntityRef(CORK.id)))
    triple = Triple(DART.id, "faster_than", EntityRef(MEDUSA.id), attributes, ("port",))
    wording = word(triple, KNOWN, SHIPS)
    assert wording.text == "Ship Dart faster than Medusa (knots 2.5 kn, port Cork)"
    assert wording.statement == "Dart faster than Medusa (knots 2.5 kn, port Cork)"
    assert list(wording.entities) == mentioned(triple) == [DART.id, MEDUSA.id, CORK.id]


def test_identifiers_become_words() -> None:
    maker = Triple(LAPTHORN.id, "unknown_to_us", EntityRef(CORK.id))
    assert word(maker, KNOWN, SHIPS).text == "Sail Maker Ratsey & Lapthorn unknown to us Cork"
    assert [spaced(name) for name in ("GPU", "ResearchGroup", "h_index", "LLMEngine")] == [
        "GPU",
        "Research Group",
        "h index",
        "LLMEngine",
    ]


def test_an_entity_that_is_missing_is_a_bug_not_a_blank() -> None:
    with pytest.raises(KeyError):
        word(Triple(DART.id, "built_at", EntityRef("nowhere")), {DART.id: Entity(DART.id, "Ship", "Dart")}, SHIPS)


TEXT = """# The Dart

She was built by Fife et al. in 1911 and won by 2.3 knots
in Cork. (See Fig. 3.) 她很快。她在科克。
- A ketch since 1920
- sold [in 1931](sale.md)
| year | owner |
| 1935 | Dr. Vane |
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Fife", "She was built by Fife et al. in 1911 and won by 2.3 knots in Cork."),
        ("Fig", "(See Fig. 3.)"),
        ("很快", "她很快。"),
        ("sold", "sold in 1931"),
        ("1920", "A ketch since 1920"),
        ("Vane", "| 1935 | Dr. Vane |"),
        ("The Dart", "The Dart"),
        ("Cork. (See", "She was built by Fife et al. in 1911 and won by 2.3 knots in Cork. (See Fig. 3.)"),
    ],
)
def test_the_sentence_around_a_span(words: str, expected: str) -> None:
    start = TEXT.index(words)
    first, last = sentence_around(TEXT, start, start + len(words))
    assert first <= start < start + len(words) <= last
    assert plain(TEXT[first:last]) == expected


def test_a_line_without_sentences_gives_a_bounded_one() -> None:
    text = "x" * 1_000_000
    first, last = sentence_around(text, 500_000, 500_010)
    assert first <= 500_000
    assert 500_010 <= last <= first + 2_000


def test_sentences_of_a_stream_come_as_soon_as_the_next_begins() -> None:
    pieces = iter(["She won by 2", ".3 knots. The", " rest, e.g. Medusa, lost.", " No. 7 sank", "."])
    sentences = split(pieces)
    assert next(sentences) == "She won by 2.3 knots."
    assert next(pieces) == " rest, e.g. Medusa, lost."  # the first sentence did not wait for this piece
    assert list(sentences) == ["The No. 7 sank."]
