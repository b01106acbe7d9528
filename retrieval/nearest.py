"""Nearest vectors by inner product over a mapped base that never changes, a flat delta and a set of dead ids.

FAISS crashes when vectors are removed from a memory-mapped index and cannot remove from some kinds at all; here nothing
is ever removed: what must not be returned is left out of what a search finds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontoloom.errors import ProjectionError
from ontoloom.protocols import Vectors

Ids = NDArray[np.int64]
SPARE = 32
"""So many more than wanted are asked for at first, since some of them may be dead."""
REBUILD = "delete its folder; the next refresh makes it anew from the graph, and nothing is extracted again"


@dataclass(frozen=True, slots=True)
class Flat:
    """A flat FAISS index and the id of each of its rows, ascending. (FAISS's own map from rows to ids starts a team of
    threads for each search, which takes longer than the search.)"""

    index: Any
    ids: Ids

    def search(self, vectors: Vectors, count: int, dead: Ids) -> list[list[tuple[int, float]]]:
        """For each row of ``vectors`` the nearest ``count`` (id, cosine) pairs that are not dead."""
        total = len(self.ids)
        wanted = min(count + SPARE if len(dead) else count, total)
        found = self._alive(self.index.search(vectors, wanted), dead) if wanted else []
        if wanted < total and any(len(row) < count for row in found):
            rows = np.searchsorted(self.ids, dead)
            return self._alive(self.index.search(vectors, min(count, total), params=_without(rows)), dead)
        return found

    def _alive(self, found: tuple[Vectors, Ids], dead: Ids) -> list[list[tuple[int, float]]]:
        gone = frozenset(dead.tolist())
        rows = zip(*found, strict=True)
        pairs = [zip(self.ids[at[at >= 0]].tolist(), scores.tolist(), strict=False) for scores, at in rows]
        return [[(i, score) for i, score in row if i not in gone] for row in pairs]


@dataclass(frozen=True, slots=True)
class Nearest:
    """Searchable vectors with 63-bit ids. An id that is dead in the base may live on in the delta."""

    base: Flat | None
    delta: Flat
    dead: Ids

    def search(self, vectors: Vectors, count: int) -> list[list[tuple[int, float]]]:
        """For each row of ``vectors`` (n × dimension, length 1) up to ``count`` (id, cosine) pairs, best first."""
        parts = [self.delta.search(vectors, count, np.zeros(0, np.int64))]
        if self.base is not None:
            parts.append(self.base.search(vectors, count, self.dead))
        rows = [[pair for part in parts if part for pair in part[i]] for i in range(len(vectors))]
        return [sorted(row, key=lambda pair: (-pair[1], pair[0]))[:count] for row in rows]


def flat(dimension: int, batches: Iterable[tuple[Ids, Vectors]]) -> Flat:
    """A flat index in memory of (ids, vectors) in ascending order of ids. Exact, and quick enough up to some hundred
    thousand vectors."""
    import faiss

    index = faiss.IndexFlatIP(dimension)
    numbers = [np.zeros(0, np.int64)]
    for ids, vectors in batches:
        index.add(vectors)
        numbers.append(ids)
    return Flat(index, np.concatenate(numbers))


def write_base(made: Flat, path: Path) -> None:
    """Writes vectors and ids so that after a crash each file is there whole or not at all."""
    import faiss

    _write_whole(path, lambda unfinished: faiss.write_index(made.index, str(unfinished)))
    _write_whole(path.with_suffix(".ids"), lambda unfinished: unfinished.write_bytes(made.ids.tobytes()))


def map_base(path: Path) -> Flat:
    """The base in a file, its vectors mapped into memory and not to be changed. Raises ProjectionError."""
    import faiss

    try:
        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        ids = np.fromfile(path.with_suffix(".ids"), np.int64)
    except (RuntimeError, OSError, ValueError) as error:
        raise ProjectionError(f"{path}: the vector file is missing or damaged", hint=REBUILD) from error
    if index.ntotal != len(ids):
        raise ProjectionError(f"{path}: the vector file does not go with its ids", hint=REBUILD)
    return Flat(index, ids)


def _write_whole(path: Path, write: Callable[[Path], object]) -> None:
    unfinished = path.with_suffix(path.suffix + ".part")
    write(unfinished)
    _sync(unfinished)
    unfinished.replace(path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _without(rows: Ids) -> Any:
    import faiss

    parameters: Any = faiss.SearchParameters  # its generated signature does not say that it takes fields
    return parameters(sel=faiss.IDSelectorNot(faiss.IDSelectorBatch(rows)))
