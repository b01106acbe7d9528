"""What retrieval's tests share: a small real tokenizer, an embedder without a model, and a graph in a few lines."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers, trainers

from graph.open import open_store
from graph.store import Store
from ingest.known import KnownNames
from ingest.lexicon import Lexicon
from ingest.load import load
from ingest.pipeline import ingest
from ingest.policy import ANY
from ingest.rules import RuleExtractor, read_rules
from ontology.read import read_ontology
from ontology.schema import Attribute, Cardinality, EntityType, EnumValue, Ontology, Relation
from ontoloom.names import entity_id
from ontoloom.protocols import Vectors
from ontoloom.records import Attributes, Document, Entity, EntityRef, Evidence, Extraction, Section, Triple, Value
from retrieval.embed import MiniLM

SENTENCES = (
    "The boat was built at the yard in Bergen and sailed north in the spring of 1911.",
    "Ceftriaxone is given once a day, and metformin twice with a meal.",
    "Der Fluß fließt nach Süden; 北京在中国。",
)


def train_tokenizer(folder: Path, *, bos: str | None = "<|im_start|>", eos: str = "<|im_end|>") -> Path:
    """A byte-level BPE of the kind that SmolLM2 has, trained on a few sentences and saved as a model's folder."""
    backend: Any = Backend(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    special = [token for token in ("<|endoftext|>", bos, eos) if token]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    backend.train_from_iterator(
        SENTENCES * 3,
        trainers.BpeTrainer(vocab_size=500, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    folder.mkdir(parents=True, exist_ok=True)
    backend.save(str(folder / "tokenizer.json"))
    settings = {"eos_token": eos} | ({"bos_token": {"content": bos}} if bos else {})
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


@cache
def minilm() -> MiniLM:
    """The real embedder, loaded once for all tests."""
    return MiniLM()


class WordEmbedder:
    """Sums of fixed random vectors of words: cosines follow shared words, and a text costs microseconds."""

    bos = "[CLS]"
    eos = "[SEP]"

    def __init__(self, dimension: int = 64) -> None:
        self.name = f"words-{dimension}"
        self.dimension = dimension
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        vectors = np.stack([self._one(text) for text in texts]) if texts else np.zeros((0, self.dimension), np.float32)
        return np.asarray(vectors, dtype=np.float32)

    def _one(self, text: str) -> Vectors:
        words = re.findall(r"\w+", text.casefold()) or [""]
        total = np.sum([_word_vector(word, self.dimension) for word in words], axis=0)
        return np.asarray(total / np.linalg.norm(total), dtype=np.float32)


@cache
def _word_vector(word: str, dimension: int) -> Vectors:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)


SHIPS = Ontology(
    name="ships",
    version="1.0.0",
    hash="0123456789abcdef",
    types={
        "Ship": EntityType(
            "Ship",
            {
                "name": Attribute("name", "string", required=True),
                "launched": Attribute("launched", "integer", synonyms=("launch year", "when")),
                "crew_size": Attribute("crew_size", "integer", unit="people"),
                "rig": Attribute(
                    "rig",
                    "enum",
                    many=True,
                    values=(EnumValue("schooner"), EnumValue("ketch", synonyms=("ketch rig",))),
                ),
                "engine_room.gpu_count": Attribute("engine_room.gpu_count", "integer", synonyms=("GPU count",)),
                "afloat": Attribute("afloat", "boolean"),
            },
        ),
        "Port": EntityType("Port", {"name": Attribute("name", "string", required=True)}),
        "SailMaker": EntityType("SailMaker", {"name": Attribute("name", "string", required=True)}),
    },
    relations={
        "faster_than": Relation(
            "faster_than",
            ("Ship",),
            ("Ship",),
            attributes={
                "port": Attribute("port", "reference", identifying=True, targets=("Port",)),
                "knots": Attribute("knots", "number", unit="kn"),
            },
            synonyms=("beat", "outran"),
        ),
        "built_at": Relation("built_at", ("Ship",), ("Port",), objects=Cardinality(0, 1), synonyms=("built in",)),
        "sails_by": Relation("sails_by", ("Ship",), ("SailMaker",)),
    },
)


def entity(type_name: str, name: str, *aliases: str) -> Entity:
    return Entity(entity_id(type_name, name), type_name, name, aliases)


def extraction(
    document_id: str,
    facts: Sequence[tuple[Entity, str, Entity | Value, str]],
    *,
    attributes: Attributes = (),
    entities: Sequence[Entity] = (),
) -> Extraction:
    """A document of the facts' sentences, one paragraph each, and the triples that they state."""
    text, triples, evidence = "", [], []
    named = {e.id: e for e in entities}
    for subject, relation, said, sentence in facts:
        named |= {e.id: e for e in (subject, said) if isinstance(e, Entity)}
        given = attributes if relation == "faster_than" else ()
        triple = Triple(
            subject.id, relation, EntityRef(said.id) if isinstance(said, Entity) else said, given, ("port",)
        )
        start = len(text)
        text += sentence
        triples.append(triple)
        evidence.append(Evidence(triple.id, document_id, start, len(text), "rules", "r", 1.0, SHIPS.stamp))
        text += "\n\n"
    document = Document(document_id, document_id, document_id, text, (Section("body", 0, len(text)),))
    return Extraction(document, tuple(named.values()), tuple(triples), tuple(evidence))


@contextmanager
def ingest_example(project: Path, location: Path) -> Iterator[Store]:
    """The documents and pages of a project in an embedded store, read with its rules alone."""
    ontology = read_ontology(project / "ontology.yaml")
    rules = read_rules(project / "rules.yaml", ontology)

    def policy(known: KnownNames) -> Mapping[str, Sequence[RuleExtractor]]:
        names = [(name, e.id, e.type) for name, _ in known.spellings() for e in known.look_up(name)]
        return {ANY: [RuleExtractor(rules, Lexicon(names))]}

    with open_store(location, ontology) as store:
        ingest(load([project]), store, extractors=policy)
        yield store
