from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from ontoloom.names import entity_id, hash_id, name_key
from ontoloom.records import EntityRef, Triple, canonical_text


def test_spellings_of_one_name_have_one_key() -> None:
    assert {name_key(n) for n in ("Llama-3 70B", "llama 3 70b", "LLAMA_3.70B")} == {"llama370b"}
    assert {name_key(n) for n in ("System Admin", "system admin", "SystemAdmin")} == {"systemadmin"}


def test_signs_that_tell_names_apart_are_kept() -> None:
    assert len({name_key(n) for n in ("C", "C++", "C#")}) == 3
    assert name_key("模型") == "模型"
    assert name_key("🙂") == "🙂"


@given(st.text())
def test_a_key_is_its_own_key(name: str) -> None:
    assert name_key(name_key(name)) == name_key(name)


@given(st.lists(st.text(), min_size=1, max_size=4), st.lists(st.text(), min_size=1, max_size=4))
def test_ids_differ_when_their_parts_do(left: list[str], right: list[str]) -> None:
    assert (hash_id(*left) == hash_id(*right)) == (left == right)


def test_a_corrected_score_is_the_same_triple_and_another_benchmark_is_not() -> None:
    subject, other = entity_id("Model", "A"), EntityRef(entity_id("Model", "B"))
    mmlu, gsm = EntityRef(entity_id("Benchmark", "MMLU")), EntityRef(entity_id("Benchmark", "GSM8K"))

    def beats(benchmark: EntityRef, delta: float) -> Triple:
        attributes = (("benchmark", benchmark), ("score_delta", delta))
        return Triple(subject, "superior_to", other, attributes, identifying=("benchmark",))

    assert beats(mmlu, 2.3).id == beats(mmlu, 2.4).id
    assert beats(mmlu, 2.3).id != beats(gsm, 2.3).id


def test_one_spelling_per_value() -> None:
    assert canonical_text(80.0) == canonical_text(80) == "80"
    assert canonical_text(True) == "true"
    assert canonical_text(date(2024, 5, 1)) == "2024-05-01"
    assert canonical_text(2.3) == "2.3"
