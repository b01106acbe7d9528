"""Nearest vectors by inner product over a mapped base that never changes, a flat delta and a set of dead ids.

FAISS crashes when vectors are removed from a memory-mapped index and cannot remove from some kinds at all; here nothing
is ever removed: what must not be returned is skipped by a selector while searching.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontoloom.errors import ProjectionError
from ontoloom.protocols import Vectors

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Nearest:
    """Searchable vectors with 63-bit ids. An id that is dead in the base may live on in the delta."""

    base: Any | None
    delta: Any | None
    dead: Ids

    def search(self, vectors: Vectors, count: int) -> list[list[tuple[int, float]]]:
        """For each row of ``vectors`` (n × dimension, length 1) up to ``count`` (id, cosine) pairs, best first."""
        found: list[list[tuple[int, float]]] = [[] for _ in vectors]
        for index, dead in ((self.base, self.dead), (self.delta, None)):
            if index is None or index.ntotal == 0:
                continue
            scores, ids = index.search(vectors, min(count, index.ntotal), params=_without(dead))
            for row, (row_ids, row_scores) in enumerate(zip(ids.tolist(), scores.tolist(), strict=True)):
                found[row] += [(i, s) for i, s in zip(row_ids, row_scores, strict=True) if i >= 0]
        return [sorted(row, key=lambda pair: (-pair[1], pair[0]))[:count] for row in found]


def flat(dimension: int, batches: Iterator[tuple[Ids, Vectors]]) -> Any:
    """A flat inner-product index in memory. Exact search is right up to some hundred thousand vectors."""
    import faiss

    index = faiss.IndexIDMap2(faiss.IndexFlatIP(dimension))
    for ids, vectors in batches:
        index.add_with_ids(vectors, ids)
    return index


def write_base(index: Any, path: Path) -> None:
    """Writes an index so that after a crash the file is there whole or not at all."""
    import faiss

    unfinished = path.with_suffix(".part")
    faiss.write_index(index, str(unfinished))
    for target in (unfinished, path.parent):
        if target == path.parent:
            unfinished.replace(path)
        handle = os.open(target, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def map_base(path: Path) -> Any:
    """The index in a file, mapped into memory and not to be changed. Raises ProjectionError."""
    import faiss

    try:
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        raise ProjectionError(f"{path}: the vector file is missing or damaged", hint=REBUILD) from error


REBUILD = "delete its folder; the next refresh makes it anew from the graph, and nothing is extracted again"


def _without(dead: Ids | None) -> Any:
    if dead is None or len(dead) == 0:
        return None
    import faiss

    parameters: Any = faiss.SearchParameters  # its generated signature does not say that it takes fields
    return parameters(sel=faiss.IDSelectorNot(faiss.IDSelectorBatch(dead)))
