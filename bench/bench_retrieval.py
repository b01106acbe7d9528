"""What alignment is worth to a dense search, and what the embedder and the vector index cost beside the bare libraries.

Recall@5 is the share of a question's gold passages among the first five, over the HotpotQA questions in the data folder
with the union of their contexts as the pool: the embedder alone, without the graph.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from bench.report import Row, ratio, read_arguments, report
from graph.ladybug import open_ladybug
from ontology.schema import Attribute, EntityType, Ontology
from ontoloom.names import entity_id
from ontoloom.protocols import Vectors
from ontoloom.records import Document, Entity, Evidence, Extraction, Section, Triple
from retrieval.align import Boundaries, align
from retrieval.embed import MiniLM
from retrieval.index import VectorIndex
from retrieval.tokenizer import read_tokenizer
from serving.model import prepare_tokenizer
from serving.settings import Settings

DATA = Path(os.environ.get("ONTOLOOM_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
REPEATS = 5


def recall_rows(embedder: MiniLM, questions: Sequence[dict[str, Any]]) -> list[Row]:
    """Recall@5 of dense search with each way of alignment; the default must not lose against none."""
    tokenizer = read_tokenizer(prepare_tokenizer(Settings().cache))
    passages = {title: f"{title}. {''.join(sentences)}" for q in questions for title, sentences in q["context"]}
    found: dict[Boundaries, float] = {}
    for boundaries in ("off", "embedder", "literal"):

        def embed(texts: Sequence[str], boundaries: Boundaries = boundaries) -> Vectors:
            return embedder.embed(
                [align(text, tokenizer=tokenizer, embedder=embedder, boundaries=boundaries).text for text in texts]
            )

        found[boundaries] = recall_at_5(embed, passages, questions)
    name = f"recall@5 of {len(questions)} HotpotQA questions, alignment"
    lost = found["off"] - found["embedder"]
    return [
        Row(f"{name} off", f"{found['off']:.1%}"),
        Row(f"{name} embedder", f"{found['embedder']:.1%}", "no point less than off", lost <= 0.01),
        Row(f"{name} literal", f"{found['literal']:.1%}"),
    ]


def recall_at_5(
    embed: Callable[[Sequence[str]], Vectors], passages: dict[str, str], questions: Sequence[dict[str, Any]]
) -> float:
    titles = list(passages)
    pool, asked = embed(list(passages.values())), embed([q["question"] for q in questions])
    shares = []
    for question, vector in zip(questions, asked, strict=True):
        gold = {title for title, _ in question["supporting_facts"]}
        best = {titles[i] for i in np.argsort(-(pool @ vector), kind="stable")[:5]}
        shares.append(len(gold & best) / len(gold))
    return float(np.mean(shares))


def embedding_row(embedder: MiniLM, texts: Sequence[str]) -> list[Row]:
    """Texts a second, as a ratio to sentence-transformers' own ``encode`` of the same model."""
    bare = embedder.model()
    ours, theirs = [], []
    for _ in range(3):
        ours.append(seconds(lambda: embedder.embed(texts)))
        theirs.append(seconds(lambda: bare.encode(list(texts), show_progress_bar=False)))
    rate = Row("texts embedded a second", f"{len(texts) / min(ours):.0f}")
    return [rate, ratio("time to embed, of the bare library's", min(ours) / min(theirs), at_most=1.15)]


class RandomVectors:
    """Vectors of length 1 that depend on the text alone: the index is measured, not a model."""

    name, dimension, bos, eos = "random", 384, "", ""

    def embed(self, texts: Sequence[str]) -> Vectors:
        seeds = [int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) for text in texts]
        found = np.stack([np.random.default_rng(seed).standard_normal(384) for seed in seeds])
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def search_rows(triples: int) -> list[Row]:
    """Time of a search in an index with 5 % dead, as a ratio to a bare flat FAISS index of the living."""
    import faiss

    ontology = Ontology(
        "bench", "1.0.0", "0" * 8, {"Thing": EntityType("Thing", {"size": Attribute("size", "integer")})}, {}
    )
    with tempfile.TemporaryDirectory() as folder, open_ladybug(f"{folder}/graph", ontology) as store:
        per_document = 100
        store.write([document(number, per_document, ontology) for number in range(triples // per_document)])
        with VectorIndex(store, Path(folder, "vectors"), embedder=RandomVectors(), tokenizer=None) as index:
            built = seconds(index.refresh)
            index.compact()
            store.delete([f"{number}.md" for number in range(0, triples // per_document, 20)])
            index.refresh()
            living = [str(triple) for batch in store.scan_triples() for triple in batch.column("id").to_pylist()]
            bare = faiss.IndexFlatIP(384)
            bare.add(np.stack([*index.vectors(living).values()]))
            queries = RandomVectors().embed([f"query {i}" for i in range(100)])
            ours = min(seconds(lambda: [index.search(q, 50) for q in queries]) for _ in range(REPEATS))
            theirs = min(seconds(lambda: [bare.search(q[None], 50) for q in queries]) for _ in range(REPEATS))
    return [
        Row(f"time to index {triples} triples, embedding aside", f"{built:.1f} s"),
        Row("a search for the 50 nearest", f"{ours * 10:.2f} ms"),
        ratio("time to search, of bare FAISS's", ours / theirs, at_most=2.0),
    ]


def document(number: int, triples: int, ontology: Ontology) -> Extraction:
    entities = [Entity(entity_id("Thing", f"{number}-{i}"), "Thing", f"{number}-{i}") for i in range(triples)]
    said = [Triple(entity.id, "size", number * triples + i) for i, entity in enumerate(entities)]
    text = "x" * triples
    evidence = [Evidence(t.id, f"{number}.md", i, i + 1, "bench", "b", 1.0, ontology.stamp) for i, t in enumerate(said)]
    found = Document(f"{number}.md", "bench", str(number), text, (Section("body", 0, len(text)),))
    return Extraction(found, tuple(entities), tuple(said), tuple(evidence))


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> int:
    arguments = read_arguments(__doc__ or "")
    path = DATA / "multihop" / "hotpot.jsonl"
    questions = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []
    embedder = MiniLM()
    embedder.embed(["warm"])
    rows = search_rows(20_000 if arguments.quick else 50_000)
    if questions:
        questions = questions[: 20 if arguments.quick else None]
        texts = ["".join(sentences) for q in questions for _, sentences in q["context"]]
        rows += embedding_row(embedder, texts[: 100 if arguments.quick else 400])
        rows += recall_rows(embedder, questions)
    else:
        rows.append(Row("recall@5", f"not measured: there is no {path}"))
    return report(rows, as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(main())
