"""Search: names are linked, vectors and graph are fused, and a question knows what it asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference_store import ReferenceStore
from retrieval_parts import SHIPS, entity, extraction, minilm

from graph.store import Store
from ontoloom.records import EntityRef, canonical_text
from retrieval.index import VectorIndex
from retrieval.link import take_apart
from retrieval.search import Found, find, search
from retrieval.words import content_words, stem, words

Example = tuple[Store, VectorIndex]
QUESTIONS: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (Path(__file__).parent / "retrieval_questions.yaml").read_text(encoding="utf-8")
)


def facts_of(found: Found, store: Store) -> list[list[list[str]]]:
    """The answers as (subject, relation, object) in names."""
    triples = [t for path in found.answers for t in path.triples]
    ids = [i for t in triples for i in (t.subject, *([t.object.id] if isinstance(t.object, EntityRef) else []))]
    names = {i: e.name for i, e in store.entities(ids).items()}
    return [
        [
            [
                names[t.subject],
                t.relation,
                names[t.object.id] if isinstance(t.object, EntityRef) else canonical_text(t.object),
            ]
            for t in path.triples
        ]
        for path in found.answers
    ]


@pytest.mark.parametrize(
    ("part", "answered", "declined"), [("development", 29, 19), ("held_out", 26, 17), ("later", 13, 10)]
)
def test_questions_are_answered_from_the_right_facts_or_declined(
    example_index: Example, part: str, answered: int, declined: int
) -> None:
    store, index = example_index
    right: list[str] = []
    wrong: list[str] = []
    for question in QUESTIONS[part]:
        said = facts_of(find(question["ask"], store=store, index=index), store)
        wanted = question.get("facts")
        hit = any(fact in wanted for path in said[:5] for fact in path) if wanted else not said
        (right if hit else wrong).append(question["ask"])
    answerable = [q["ask"] for q in QUESTIONS[part] if "facts" in q]
    assert sum(q in answerable for q in right) >= answered, wrong
    assert sum(q not in answerable for q in right) >= declined, wrong


def test_hits_carry_where_they_come_from(example_index: Example) -> None:
    store, index = example_index
    hits = search("What is the context window of Mixtral?", store=store, index=index, k=5)
    assert len(hits) == 5
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    best = hits[0]
    assert best.chunk.text == "Model Mixtral 8x7B: context length 32768 tokens"
    assert best.found_by == ("vectors", "graph")
    assert best.chunk.ids[0] == index.align("").ids[0]
    spans = {c.document: text[c.start : c.end] for c in best.citations if (text := text_of(store, c.document))}
    assert spans["wiki/mixtral-8x7b.md"] == "context_length: 32768"


def text_of(store: Store, document_id: str) -> str:
    document = store.document(document_id)
    assert document is not None
    return document.text


def test_two_questions_do_not_get_one_context(example_index: Example) -> None:
    store, index = example_index
    one, other = (
        {hit.chunk.triple for hit in search(question, store=store, index=index, k=8)}
        for question in ("Where is Mistral AI based?", "How many problems are there in HumanEval?")
    )
    assert not one & other


@pytest.mark.parametrize(
    "question",
    [
        r"C:\repo\main.py AND (foo-bar) _ ~ ? * \" OR 1=1; DROP TABLE",
        "123e4567-e89b-12d3-a456-426614174000",
        "页面路由",
        "?!",
        "北京 Mistral 7B 在哪里",
        "\ud800 lone surrogate",
        "Who made <|im_end|> [SEP] Phi-3 mini?",
        "word " * 3000,
    ],
    ids=["signs", "uuid", "chinese", "no words", "mixed", "surrogate", "control tokens", "3,000 words"],
)
def test_no_question_breaks_the_search(example_index: Example, question: str) -> None:
    store, index = example_index
    assert len(find(question, store=store, index=index).hits) > 0


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.text(max_size=40))
def test_any_text_is_a_question(example_index: Example, question: str) -> None:
    store, index = example_index
    find(question, store=store, index=index, k=3)


# On a graph of our own


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[list[str], Found]]:
    """Asks a graph with two ships of one name, and chains of what was faster than what."""
    dart_cork, dart_kiel = entity("Ship", "Dart"), entity("Port", "Dart")
    medusa, heron, cork, will = (
        entity("Ship", "Medusa"),
        entity("Ship", "Heron", "Grey Heron"),
        entity("Port", "Cork"),
        entity("SailMaker", "Will"),
    )
    store = ReferenceStore(SHIPS)
    store.write(
        [
            extraction(
                "a.md",
                [
                    (dart_cork, "crew_size", 7, "The ship Dart had 7 people aboard."),
                    (dart_cork, "rig", "ketch", "She was rigged as a ketch."),
                    (medusa, "rig", "schooner", "Medusa was a schooner."),
                    (heron, "built_at", dart_kiel, "Heron was built in the port of Dart."),
                    (medusa, "built_at", cork, "Medusa was built in Cork."),
                    (medusa, "launched", 1911, "Medusa was launched in 1911."),
                    (medusa, "sails_by", will, "Will made the sails of Medusa."),
                ],
            ),
            extraction(
                "b.md",
                [(medusa, "faster_than", heron, "Medusa beat Heron off Cork by 2.3 knots.")],
                attributes=(("knots", 2.3), ("port", EntityRef(cork.id))),
                entities=[cork],
            ),
        ]
    )
    index = VectorIndex(store, tmp_path_factory.mktemp("harbour"), embedder=minilm(), tokenizer=None)
    index.refresh()

    def ask(question: str) -> tuple[list[str], Found]:
        found = find(question, store=store, index=index)
        chunks = index.chunks([t.id for path in found.answers for t in path.triples])
        return [chunks[t.id].text for path in found.answers for t in path.triples], found

    return ask


Harbour = Callable[[str], tuple[list[str], Found]]


def test_homonyms_stay_apart(harbour: Harbour) -> None:
    said, found = harbour("What crew size did Dart have?")
    assert {e.type for e in found.asked.mentions[0].entities} == {"Ship", "Port"}
    assert said == ["Ship Dart: crew size 7 people"]
    assert harbour("Which ship was built at Dart?")[0] == ["Ship Heron built at Dart"]


def test_between_things_of_one_kind_the_wording_tells_the_direction(harbour: Harbour) -> None:
    assert harbour("Which ship was faster than Heron?")[0] == [
        "Ship Medusa faster than Heron (knots 2.3 kn, port Cork)"
    ]
    assert harbour("Which ship was Heron faster than?")[0] == []
    assert harbour("What did Medusa beat?")[0] == ["Ship Medusa faster than Heron (knots 2.3 kn, port Cork)"]


def test_an_absent_fact_of_a_known_thing_is_not_made_up_from_its_other_facts(harbour: Harbour) -> None:
    for question in (
        "What crew size did Medusa have?",
        "Who owned Medusa?",
        "When was Heron launched?",
        "Was Medusa faster than Dart?",
        "What rig had Heron?",
    ):
        assert harbour(question)[0] == [], question


def test_an_unknown_name_is_not_answered_with_a_known_one(harbour: Harbour) -> None:
    for question in ("Where was Medusa II built?", "Where was Vigilant built?", "Who made the sails of Foo-9?"):
        assert harbour(question)[0] == [], question


def test_two_steps(harbour: Harbour) -> None:
    said, _ = harbour("Where was the ship built that was faster than Heron?")
    assert said == ["Ship Medusa faster than Heron (knots 2.3 kn, port Cork)", "Ship Medusa built at Cork"]


def test_values_and_unnamed_things_are_found(harbour: Harbour) -> None:
    assert harbour("Which ship had the rig of a schooner?")[0] == ["Ship Medusa: rig schooner"]
    assert harbour("Which ship has the largest crew size?")[0] == []  # a comparison is no look-up


def test_a_question_taken_apart(example_index: Example) -> None:
    store, _ = example_index
    asked = take_apart("What batch size was used for Llama 2 70B's sister Foo-9 on the MMLU?", store)
    assert [m.text for m in asked.mentions] == ["Llama 2 70B", "MMLU"]
    assert [w.text for w in asked.content] == ["batch", "size", "used", "sister"]
    assert [w.text for w in asked.terms] == ["Foo", "9"]
    assert asked.masked == "What batch size was used for the model's sister Foo-9 on the benchmark?"
    assert [w.text for w in asked.focus] == ["batch", "size"]
    assert take_apart("Who made Zephyr?", store).want == "agent"
    assert take_apart("what is mmlu", store).mentions[0].text == "mmlu"


@pytest.mark.parametrize(
    ("one", "other"),
    [("trained", "training"), ("parameters", "parameter"), ("requires", "requirement"), ("Released", "release")],
)
def test_words_of_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_words_and_what_is_none() -> None:
    assert [w.text for w in words("Qwen2-72B's 3.5 of C++ 北京, 32,768!")] == [
        "Qwen2", "72B", "3.5", "of", "C++", "北", "京", "32,768",
    ]  # fmt: skip
    assert [w.text for w in content_words("What is the licence of it?")] == ["licence"]
    assert stem("32,768") == "32768"
