"""Alignment: ids from BOS to EOS, and a text whose boundaries reach the embedder exactly once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from retrieval_parts import minilm, train_tokenizer

from ontoloom.errors import InputError
from ontoloom.protocols import Tokenizer
from retrieval.align import Boundaries, align
from retrieval.tokenizer import read_tokenizer

CLS, SEP = 101, 102  # of every BERT vocabulary in lower case
TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60)
FORGED = st.lists(
    st.sampled_from(["<|im_start|>", "<|im_end|>", "[CLS]", "[SEP]", "<|endoftext|>", " ", "a", "Ceftriaxone", "北"]),
    max_size=8,
).map("".join)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return read_tokenizer(train_tokenizer(tmp_path_factory.mktemp("model")))


@given(text=TEXTS | FORGED)
def test_ids_run_from_bos_to_eos_and_decode_to_the_text(tokenizer: Tokenizer, text: str) -> None:
    aligned = align(text, tokenizer=tokenizer, embedder=minilm())
    assert aligned.ids[0] == tokenizer.bos_id
    assert aligned.ids[-1] == tokenizer.eos_id
    assert not {tokenizer.bos_id, tokenizer.eos_id} & set(aligned.ids[1:-1])
    assert tokenizer.decode(aligned.ids[1:-1]) == text


@pytest.mark.parametrize("boundaries", ["embedder", "literal", "off"])
@given(text=TEXTS | FORGED)
def test_the_transformer_sees_its_boundaries_exactly_once(
    tokenizer: Tokenizer, boundaries: Boundaries, text: str
) -> None:
    aligned = align(text, tokenizer=tokenizer, embedder=minilm(), boundaries=boundaries)
    ((ids,),) = minilm().sequences([aligned.text])
    assert (ids[0], ids[-1]) == (CLS, SEP)
    assert CLS not in ids[1:-1]
    assert SEP not in ids[1:-1]


def test_boundaries_as_the_setting_says(tokenizer: Tokenizer) -> None:
    def text(boundaries: Boundaries) -> str:
        return align("Ceftriaxone daily", tokenizer=tokenizer, embedder=minilm(), boundaries=boundaries).text

    assert text("embedder") == "[CLS] Ceftriaxone daily [SEP]"
    assert text("literal") == "<|im_start|>Ceftriaxone daily<|im_end|>"
    assert text("off") == "Ceftriaxone daily"


def test_written_boundaries_are_words_to_the_embedder_and_mapped_ones_are_not(tokenizer: Tokenizer) -> None:
    def pieces(boundaries: Boundaries) -> list[int]:
        aligned = align("the boat", tokenizer=tokenizer, embedder=minilm(), boundaries=boundaries)
        return minilm().sequences([aligned.text])[0][0]

    assert pieces("embedder") == pieces("off") == [CLS, 1996, 4049, SEP]
    assert len(pieces("literal")) > 4


def test_a_forged_control_token_has_no_control_id(tokenizer: Tokenizer) -> None:
    forged = tokenizer.encode("a<|im_end|>b")
    assert tokenizer.eos_id not in forged
    assert tokenizer.decode(forged) == "a<|im_end|>b"


def test_the_name_follows_the_vocabulary_not_the_folder(tokenizer: Tokenizer, tmp_path: Path) -> None:
    assert read_tokenizer(train_tokenizer(tmp_path / "elsewhere")).name == tokenizer.name
    assert read_tokenizer(train_tokenizer(tmp_path / "other", bos="<s>", eos="</s>")).name != tokenizer.name


def test_a_model_without_bos_begins_with_its_eos(tmp_path: Path) -> None:
    tokenizer = read_tokenizer(train_tokenizer(tmp_path, bos=None))
    assert tokenizer.bos == tokenizer.eos == "<|im_end|>"
    assert align("x", tokenizer=tokenizer, embedder=minilm()).ids[0] == tokenizer.eos_id


def test_folders_that_hold_no_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"tokenizer\.json: no such file"):
        read_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="not a tokenizer"):
        read_tokenizer(tmp_path)
    train_tokenizer(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="names no eos_token"):
        read_tokenizer(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "<nowhere>"}', encoding="utf-8")
    with pytest.raises(InputError, match="has no token '<nowhere>'"):
        read_tokenizer(tmp_path)


@pytest.mark.engine
def test_the_real_models_tokenizer(requires: Callable[[str], None]) -> None:
    requires("vllm")
    from serving.model import prepare_tokenizer
    from serving.settings import Settings

    tokenizer = read_tokenizer(prepare_tokenizer(Settings().cache))
    assert (tokenizer.bos, tokenizer.bos_id, tokenizer.eos, tokenizer.eos_id) == ("<|im_start|>", 1, "<|im_end|>", 2)
    text = "Ceftriaxone, 北京 🙂 and a forged <|im_end|>\n  token"
    aligned = align(text, tokenizer=tokenizer, embedder=minilm())
    assert (aligned.ids[0], aligned.ids[-1]) == (1, 2)
    assert not {0, 1, 2} & set(aligned.ids[1:-1])
    assert aligned.text == f"[CLS] {text} [SEP]"
