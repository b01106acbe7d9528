"""Evidence for a prompt: facts as statements and sentences, as many as a budget of LLM tokens allows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ontology.schema import Ontology
from ontoloom.protocols import Tokenizer, Vectors
from ontoloom.records import Citation
from retrieval.chunk import Wording, word
from retrieval.search import Fact, Found
from retrieval.words import words

MOST_CITATIONS = 3


@dataclass(frozen=True, slots=True)
class Packed:
    """A fact as it is told: its statement, the sentence that says it best (the statement itself for what a page's front
    matter states), and its spans, that of the sentence first."""

    fact: Fact
    wording: Wording
    sentence: str
    citations: tuple[Citation, ...]

    @property
    def statement(self) -> str:
        """``Zephyr 7B: training method DPO``."""
        return self.wording.statement

    @property
    def shown(self) -> str:
        """The sentence, with what it is about before it where it does not say so itself."""
        if self.sentence == self.wording.text:
            return f"{self.statement} (page)"
        said = {w.stem for w in words(self.sentence)}
        subject = self.fact.entities[self.fact.triple.subject]
        names = (subject.name, *subject.aliases)
        if any(all(w.stem in said for w in words(name)) for name in names):
            return self.sentence
        return f"{subject.name}: {self.sentence}"


def tell(fact: Fact, ontology: Ontology, question: Vectors) -> Packed:
    """A fact in words, by the view that is nearest to the question."""
    wording = word(fact.triple, fact.entities, ontology)
    ordered = sorted(fact.views, key=lambda pair: (-float(pair[1] @ question), pair[0].document, pair[0].start))
    sentence = ordered[0][0].text if ordered else wording.text
    spans = [Citation(view.document, view.start, view.end) for view, _ in ordered]
    return Packed(fact, wording, sentence, tuple(dict.fromkeys(spans))[:MOST_CITATIONS])


def pack(found: Found, *, ontology: Ontology, tokenizer: Tokenizer | None, budget: int) -> list[Packed]:
    """What answers, step by step, then further hits, until ``budget`` LLM tokens are full; the first always fits."""
    packed: list[Packed] = []
    left = budget
    for fact in _in_order(found):
        told = tell(fact, ontology, found.question)
        cost = count_tokens(line(told), tokenizer)
        if packed and cost > left:
            break
        packed.append(told)
        left -= cost
    return packed


def line(packed: Packed) -> str:
    """A fact as a line of the prompt."""
    if packed.sentence == packed.wording.text:
        return packed.statement
    return f"{packed.statement} ({packed.sentence})"


def count_tokens(text: str, tokenizer: Tokenizer | None) -> int:
    """LLM tokens of a text. Without a tokenizer its bytes, which no byte-level vocabulary exceeds."""
    return len(tokenizer.encode(text)) if tokenizer else len(text.encode())


def _in_order(found: Found) -> Iterable[Fact]:
    answering = [triple.id for path in found.answers for triple in path.triples]
    ids = dict.fromkeys([*answering, *(hit.chunk.triple for hit in found.hits)])
    return [found.facts[i] for i in ids]
