"""The vector index: a projection of the graph's triples, each embedded as the text of its chunk."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from graph.store import Store
from ontoloom.errors import ProjectionError
from ontoloom.names import hash_id
from ontoloom.progress import OnProgress, Progress, silent
from ontoloom.protocols import Embedder, Tokenizer, Vectors
from ontoloom.records import Aligned, Chunk, Document, Entity, Evidence, Triple
from retrieval.align import Boundaries, align
from retrieval.chunk import Wording, mentioned, word
from retrieval.ledger import Ledger, Row, View
from retrieval.nearest import REBUILD, Nearest, flat, map_base, write_base
from retrieval.sense import Vocabulary
from retrieval.sentences import plain, sentence_around

Reader = Callable[[str], Document | None]

FORMAT = "1"
BATCH = 1_000
"""Triples that are read, worded and embedded at once."""
DEAD_SHARE = 0.1
DELTA_SHARE = 0.1
DELTA_LEAST = 2_048
"""Compaction: when more than these shares of the base are dead or wait in the delta, and the delta is not tiny."""


class VectorIndex:
    """Vectors of all triples of a store, with the sentences that they were read from. Implements ``Projection``.

    A folder holds ``ledger.sqlite`` (chunks, cached vectors, manifest) and one file of base vectors. A crash leaves the
    state of the last commit. Opening it with another embedder, tokenizer or boundaries raises ProjectionError; with
    ``rebuild`` the old content is dropped and the next refresh makes it anew from the graph, re-using the vectors of
    texts that this embedder has seen. Use it from one thread at a time; several processes may share a folder.
    """

    name = "vectors"

    def __init__(
        self,
        store: Store,
        folder: Path,
        *,
        embedder: Embedder,
        tokenizer: Tokenizer | None,
        boundaries: Boundaries = "embedder",
        rebuild: bool = False,
    ) -> None:
        self.store, self.folder = store, folder
        self.embedder, self.tokenizer, self.boundaries = embedder, tokenizer, boundaries
        self._vocabulary: tuple[str, Vocabulary] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self._ledger = Ledger(folder / "ledger.sqlite")
        self._made_with = {
            "format": FORMAT,
            "embedder": embedder.name,
            "dimension": str(embedder.dimension),
            "tokenizer": tokenizer.name if tokenizer else "none",
            "boundaries": boundaries,
        }
        try:
            with self._locked():
                self._claim(rebuild)
            self._load()
        except BaseException:
            self._ledger.close()
            raise

    def close(self) -> None:
        """Releases the files; twice is harmless."""
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Reading

    def align(self, text: str) -> Aligned:
        """A text as chunks and questions are both embedded. Without a tokenizer there are no ids."""
        if self.tokenizer is None:
            return Aligned((), text)
        return align(text, tokenizer=self.tokenizer, embedder=self.embedder, boundaries=self.boundaries)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors (n × dimension, length 1) of texts, each aligned first."""
        return self.embedder.embed([self.align(text).text for text in texts])

    def search(self, vector: Vectors, count: int) -> list[tuple[str, float]]:
        """Up to ``count`` (triple id, cosine) pairs nearest to a vector of length 1, best first."""
        if self._ledger.version() != self._version:
            self._load()
        (found,) = self._nearest.search(np.ascontiguousarray(vector, np.float32).reshape(1, -1), count)
        triples = self._ledger.triples([number for number, _ in found])
        return [(triples[number], score) for number, score in found if number in triples]

    def chunks(self, triples: Sequence[str]) -> dict[str, Chunk]:
        """Chunks by triple id; unknown ids are left out."""
        return {chunk.triple: chunk for chunk in self._ledger.chunks([*map(number_of, triples)]).values()}

    def vectors(self, triples: Sequence[str]) -> dict[str, Vectors]:
        """The chunks' vectors by triple id."""
        keys = self._ledger.keys([*map(number_of, triples)])
        vectors = self._ledger.vectors([*keys.values()])
        return {t: vectors[keys[n]] for t in triples if (n := number_of(t)) in keys}

    def views(self, triples: Sequence[str]) -> dict[str, list[tuple[View, Vectors]]]:
        """By triple id the evidence of each with the vector of the sentence around it."""
        found = self._ledger.views([*map(number_of, triples)])
        vectors = self._ledger.vectors([view.key for views in found.values() for view in views])
        return {t: [(view, vectors[view.key]) for view in found[n]] for t in triples if (n := number_of(t)) in found}

    def vocabulary(self) -> Vocabulary:
        """What can be asked under the store's ontology; its vectors are kept with those of the chunks."""
        ontology = self.store.ontology
        if self._vocabulary is None or self._vocabulary[0] != ontology.hash:
            self._vocabulary = ontology.hash, Vocabulary(ontology, self._remember)
        return self._vocabulary[1]

    def _remember(self, texts: Sequence[str]) -> Vectors:
        aligned = [self.align(text).text for text in texts]
        keys = [self._key(text) for text in aligned]
        known = self._ledger.vectors(keys)
        missing = {key: text for key, text in zip(keys, aligned, strict=True) if key not in known}
        if missing:
            fresh = self.embedder.embed(list(missing.values()))
            self._ledger.keep(list(missing), fresh)
            known |= dict(zip(missing, fresh, strict=True))
        return np.stack([known[key] for key in keys])

    def live(self) -> set[tuple[int, str]]:
        """(id, hash of what was embedded and by which model) of all chunks; two indexes are equal when these are."""
        return self._ledger.live()

    # Writing

    def refresh(self, *, on_progress: OnProgress = silent) -> int:
        """Brings the index up to the store's last change, whose number it returns.

        New texts are embedded first, which may take long and is kept whatever happens; then all rows change in one
        commit. Raises ProjectionError.
        """
        with self._locked():
            manifest = self._ledger.manifest()
            last = self.store.last_change()
            stands_at = self._stamp(last)
            if all(manifest.get(key) == value for key, value in stands_at.items()):
                return last
            renew = any(manifest.get(key) != stands_at[key] for key in ("ontology", "history"))
            ids = self._by_document(self._all_triples() if renew else self._touched(int(manifest["change"])))
            for done, rows in self._rows(ids):
                self._embed_missing(rows)
                on_progress(Progress("embedding triples", done, len(ids)))
            with self._ledger.writing():
                self._replace(ids, renew)
                self._ledger.set_manifest(**stands_at)
            if self._wants_compaction():
                self._compact()
        self._load()
        return last

    def compact(self) -> None:
        """Writes all live vectors, sorted by id, as the new base."""
        with self._locked():
            self._compact()
        self._load()

    def _stamp(self, last: int) -> dict[str, str]:
        """What the rows depend on. ``history`` tells one store from another by its first change."""
        first = next(iter(self.store.changes(0)), None)
        history = hash_id(first.time.isoformat(), *first.documents) if first else ""
        return {"change": str(last), "history": history, "ontology": self.store.ontology.hash}

    def _all_triples(self) -> set[str]:
        return {str(triple) for batch in self.store.scan_triples() for triple in batch.column("id").to_pylist()}

    def _touched(self, since: int) -> set[str]:
        """Triples that changed, and those whose chunks name an entity that is called something else now."""
        triples: set[str] = set()
        entities: set[str] = set()
        for change in self.store.changes(since):
            triples.update(change.triples)
            entities.update(change.entities)
        worded = self._ledger.names(sorted(entities))
        current = self.store.entities(sorted(worded))
        renamed = [e for e, name in worded.items() if e in current and current[e].name != name]
        return triples | self._ledger.mentioning(sorted(renamed))

    def _by_document(self, ids: set[str]) -> list[str]:
        """Triples in the order of the documents that state them, so that each text is read about once."""
        ordered = sorted(ids)
        first: dict[str, str] = {}
        for batch in _batches(ordered):
            first |= {triple: pieces[0].document for triple, pieces in self.store.evidence(batch).items() if pieces}
        return sorted(ordered, key=lambda triple: first.get(triple, ""))

    def _rows(self, ids: Sequence[str]) -> Iterator[tuple[int, list[tuple[Row, list[str]]]]]:
        """How many ids were looked at, and the rows of those that exist, each with the texts to embed."""
        document = lru_cache(maxsize=32)(self.store.document)
        done = 0
        for batch in _batches(ids):
            triples = self.store.triples(batch)
            evidence = self.store.evidence(batch)
            entities = self.store.entities(sorted({e for t in triples.values() for e in mentioned(t)}))
            done += len(batch)
            yield done, [self._row(t, entities, evidence.get(t.id, []), document) for t in triples.values()]

    def _row(
        self, triple: Triple, entities: Mapping[str, Entity], evidence: Iterable[Evidence], document: Reader
    ) -> tuple[Row, list[str]]:
        wording = word(triple, entities, self.store.ontology)
        aligned = self.align(wording.text)
        spans = sorted({(piece.document, piece.start, piece.end) for piece in evidence})
        sentences = [sentence_of(document(d), start, end, wording) for d, start, end in spans]
        texts = [aligned.text, *(self.align(sentence).text for sentence in sentences)]
        keys = [self._key(text) for text in texts]
        views = tuple(
            View(*span, sentence, key) for span, sentence, key in zip(spans, sentences, keys[1:], strict=True)
        )
        names = {e: entities[e].name for e in wording.entities}
        chunk = Chunk(triple.id, wording.text, aligned.ids)
        return Row(number_of(triple.id), chunk, keys[0], views, names), texts

    def _key(self, text: str) -> bytes:
        return bytes.fromhex(hash_id(self.embedder.name, text))

    def _embed_missing(self, rows: Sequence[tuple[Row, list[str]]]) -> None:
        texts = {self._key(text): text for _, row_texts in rows for text in row_texts}
        missing = self._ledger.unknown(texts)
        if missing:
            self._ledger.keep(missing, self.embedder.embed([texts[key] for key in missing]))

    def _replace(self, ids: Sequence[str], renew: bool) -> None:
        gone = set(self._ledger.numbers()) if renew else {number_of(triple) for triple in ids}
        for _, rows in self._rows(ids):
            self._embed_missing(rows)  # nothing is missing, unless the store changed since they were embedded
            for row, _ in rows:
                self._ledger.put(row)
                gone.discard(row.id)
        for number in sorted(gone):
            self._ledger.remove(number)

    # Base and delta

    def _wants_compaction(self) -> bool:
        base, dead, delta = self._ledger.sizes()
        return dead > DEAD_SHARE * base or delta > max(DELTA_LEAST, DELTA_SHARE * base)

    def _compact(self) -> None:
        number = int(self._ledger.manifest().get("generation", "0")) + 1
        name = f"base-{number}.faiss"
        live = self._ledger.stored(delta=False, dimension=self.embedder.dimension)
        write_base(flat(self.embedder.dimension, live), self.folder / name)
        with self._ledger.writing():
            self._ledger.rebase(name)
            self._ledger.set_manifest(generation=str(number))
        for path in self.folder.glob("base-*"):
            if path.stem != Path(name).stem:
                path.unlink()  # processes that have it mapped keep it until they look again

    def _load(self) -> None:
        """Reads the state of the last commit: maps the base, and puts the delta into memory."""
        while True:
            version = self._ledger.version()
            try:
                with self._ledger.reading():
                    self._nearest = self._state()
            except ProjectionError:
                if self._ledger.version() == version:
                    raise
                continue  # another process has just replaced the base
            self._version = version
            return

    def _state(self) -> Nearest:
        base = self._ledger.manifest().get("base")
        mapped = map_base(self.folder / base) if base else None
        dimension = self.embedder.dimension
        delta = flat(dimension, self._ledger.stored(delta=True, dimension=dimension))
        return Nearest(mapped, delta, self._ledger.dead())

    def _claim(self, rebuild: bool) -> None:
        """Takes an empty folder, or makes sure that what is in it was made the way this index is to be used."""
        manifest = self._ledger.manifest()
        different = [key for key, value in self._made_with.items() if manifest and manifest.get(key) != value]
        if different and not rebuild:
            told = ", ".join(f"{k} {manifest.get(k)!r}, not {self._made_with[k]!r}" for k in different)
            raise ProjectionError(f"the vector index in {self.folder} was made with {told}", hint=REBUILD)
        if different or not manifest:
            with self._ledger.writing():
                self._ledger.clear()
                self._ledger.set_manifest(**self._made_with)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time changes the folder."""
        with (self.folder / "lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))


def number_of(triple: str) -> int:
    """The 63-bit number under which a triple stands in FAISS."""
    return int.from_bytes(hashlib.blake2b(triple.encode(), digest_size=8).digest()) >> 1


def sentence_of(document: Document | None, start: int, end: int, wording: Wording) -> str:
    """The sentence around a span as one line of words; what a page's front matter states is given in words."""
    if document is None:
        return wording.text
    if document.kind == "page" and end <= prose_start(document.text):
        return wording.text
    first, last = sentence_around(document.text, start, end)
    return plain(document.text[first:last])


def prose_start(text: str) -> int:
    """The offset after a page's front matter; 0 where there is none."""
    if not text.startswith("---"):
        return 0
    closing = text.find("\n---", 3)
    return len(text) if closing < 0 else closing + 4
