"""Search: vectors fused with a walk over the graph from what the question names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from graph.store import Store
from ontoloom.names import name_key
from ontoloom.protocols import Vectors
from ontoloom.records import Citation, Entity, EntityRef, Hit, Triple, canonical_text
from retrieval.chunk import mentioned
from retrieval.index import VectorIndex
from retrieval.ledger import View
from retrieval.link import LONGEST_NAME, Asked, Mention, take_apart
from retrieval.paths import Fitting, Path, Start, Weights, allowed_paths, best_fit, graph_paths, sense_of
from retrieval.sense import AGENTS, Vocabulary
from retrieval.words import content_words, words

REFINED = 200
"""Paths of the graph whose texts are compared with the question, the best fitting first."""


@dataclass(frozen=True)
class Fact:
    """A triple with all that it can be recognised by: its entities, and the sentences that state it."""

    triple: Triple
    entities: Mapping[str, Entity]
    views: Sequence[tuple[View, Vectors]]

    @cached_property
    def own_texts(self) -> tuple[str, ...]:
        """Every spelling of what the triple names, and its values."""
        values = (EntityRef(self.triple.subject), self.triple.object, *(value for _, value in self.triple.attributes))
        named = [self.entities[value.id] for value in values if isinstance(value, EntityRef)]
        literals = [canonical_text(value) for value in values if not isinstance(value, EntityRef)]
        return (*(name for entity in named for name in (entity.name, *entity.aliases)), *literals)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """``own_texts`` and the sentences that state the triple."""
        return (*self.own_texts, *(view.text for view, _ in self.views))

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of all words of ``texts``."""
        return frozenset(word.stem for text in self.texts for word in words(text))

    def spells(self, keys: Collection[str]) -> bool:
        """Whether a run of words in ``texts`` has one of the name keys."""
        return any(
            key in squeezed and key in _keys_in(text)
            for text, squeezed in zip(self.texts, self._squeezed, strict=True)
            for key in keys
        )

    @cached_property
    def _squeezed(self) -> tuple[str, ...]:
        return tuple(map(name_key, self.texts))


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, best first; and ``answers``, the paths that answer the question: none where nothing supports an answer.

    ``question`` is the question's vector. ``reason`` says why there are no answers. ``facts`` holds the facts of hits
    and answers by triple id.
    """

    asked: Asked
    question: Vectors
    hits: tuple[Hit, ...]
    answers: tuple[Path, ...]
    facts: Mapping[str, Fact]
    reason: str = ""


def search(
    question: str, *, store: Store, index: VectorIndex, k: int = 10, weights: Weights | None = None
) -> list[Hit]:
    """The ``k`` triples that fit a question best, each with the spans that state it."""
    return list(find(question, store=store, index=index, k=k, weights=weights).hits)


def find(question: str, *, store: Store, index: VectorIndex, k: int = 10, weights: Weights | None = None) -> Found:
    """Hits for a question, and what of them answers it. The index should be fresh."""
    weights = weights or Weights()
    question = " ".join(question.encode("utf-8", "replace").decode().split())
    vocabulary = index.vocabulary()
    asked = take_apart(question, store, common=vocabulary.stems)
    fitting = Fitting(asked, vocabulary, index.embed, weights)
    near = index.search(fitting.question, weights.nearest)
    starts = [Start(entity, mention) for mention in asked.mentions for entity in mention.entities]
    paths = sorted(graph_paths(starts, fitting, vocabulary, store), key=_order)[:REFINED]
    valued = _valued_paths(asked, fitting, store, vocabulary)
    triples = [t for path in (*paths, *valued) for t in path.triples]
    facts = _facts({*(t for t, _ in near), *(t.id for t in triples)}, store, index)
    paths = [_refine(path, fitting, facts, starts) for path in (*paths, *valued)]
    if not asked.mentions:
        paths = _unnamed_paths([facts[t].triple for t, _ in near if t in facts], fitting, facts, vocabulary)
    bound, said = _leave_out_agents(asked, paths, vocabulary)
    asking = [path for path in paths if not _says(path, said)]
    allowed = [path for path in allowed_paths(starts, fitting, vocabulary) if not _says(path, said)]
    complete, reason = _decide(bound, asking, [*allowed, *valued], fitting, facts)
    answers = _choose(complete, bound, fitting.question, index, weights)
    hits = _rank(fitting.question, dict(near), paths, bound, facts, index, weights)[:k]
    return Found(asked, fitting.question, tuple(hits), tuple(answers), facts, reason)


# Paths that do not begin at an entity


def _valued_paths(asked: Asked, fitting: Fitting, store: Store, vocabulary: Vocabulary) -> list[Path]:
    """Triples whose literal the question names: ``trained with DPO`` where DPO is a value of the ontology."""
    wanted: dict[str, set[tuple[str, str]]] = {}
    for mention in asked.mentions:
        for value in mention.values:
            wanted.setdefault(value.attribute, set()).add((value.type, value.value))
    ids = [
        row["id"]
        for attribute, values in sorted(wanted.items())
        for batch in store.scan_triples(attribute)
        for row in batch.select(["id", "subject_type", "value"]).to_pylist()
        if (row["subject_type"], row["value"]) in values
    ]
    return _asked_of_subject(list(store.triples(ids[:REFINED]).values()), fitting, store, vocabulary)


def _unnamed_paths(
    triples: Sequence[Triple], fitting: Fitting, facts: Mapping[str, Fact], vocabulary: Vocabulary
) -> list[Path]:
    """Where nothing is named, the nearest triples, if a word of the question is in what sets one apart from others."""
    found = []
    for triple in triples:
        fact = facts[triple.id]
        sense = sense_of(triple, fact.entities[triple.subject], vocabulary.senses)
        own = {word.stem for text in fact.own_texts for word in content_words(text)}
        telling = [word for word in (*fitting.asked.content, *fitting.asked.terms) if word.stem in own]
        if sense and any(word.stem not in sense.stems for word in telling):
            also = own | vocabulary.types[fact.entities[triple.subject].type]
            found.append(Path((sense,), fitting.fit((sense,), also=also), (triple,)))
    return found


def _asked_of_subject(triples: Sequence[Triple], fitting: Fitting, store: Store, vocabulary: Vocabulary) -> list[Path]:
    subjects = store.entities(sorted({triple.subject for triple in triples}))
    found = []
    for triple in triples:
        sense = sense_of(triple, subjects[triple.subject], vocabulary.senses)
        if sense and fitting.asked.want in ("any", "agent") and fitting.is_wanted(sense.asked_of):
            also = vocabulary.types[subjects[triple.subject].type]
            found.append(Path((sense,), fitting.fit((sense,), also=also), (triple,)))
    return found


# The decision


def _leave_out_agents(asked: Asked, paths: Sequence[Path], vocabulary: Vocabulary) -> tuple[Asked, set[str]]:
    """The question without those who are only said to have done it: Alibaba in ``how did Alibaba train Qwen2``.

    That is someone whom a triple ties to something else that is named; an answer need not be about them. What ties
    the two is said, not asked: the second result holds these predicates.
    """
    ends = {entity.id: mention for mention in asked.mentions for entity in mention.entities}
    left_out: set[Mention] = set()
    said: set[str] = set()
    for path in paths if asked.is_open else ():
        pair = {ends[entity] for entity in mentioned(path.triples[0]) if entity in ends}
        agents = {mention for mention in pair if _is_agent(mention, vocabulary)}
        if len(path.triples) == 1 and agents and agents < pair:
            left_out |= agents
            said.add(path.senses[0].predicate)
    kept = tuple(mention for mention in asked.mentions if mention not in left_out)
    return replace(asked, mentions=kept), said


def _says(path: Path, said: Collection[str]) -> bool:
    return any(sense.predicate in said for sense in path.senses)


def _is_agent(mention: Mention, vocabulary: Vocabulary) -> bool:
    return bool(mention.entities) and all(vocabulary.types[entity.type] & AGENTS for entity in mention.entities)


def _decide(
    asked: Asked,
    paths: Sequence[Path],
    allowed: Sequence[Path],
    fitting: Fitting,
    facts: Mapping[str, Fact],
) -> tuple[list[Path], str]:
    """The paths that answer, or the reason why none does. ``allowed``: those that could be, by the ontology."""
    weights = fitting.weights
    known = {entity.id for mention in fitting.asked.mentions for entity in mention.entities}
    complete = [
        path
        for path in paths
        if holds(asked, [facts[t.id] for t in path.triples]) and not (asked.is_open and _tells_nothing(path, known))
    ]
    if not complete:
        return [], _why_not(asked, facts)
    best = best_fit(complete)
    good = [path for path in complete if path.fit >= best - weights.tolerance]
    pairs = sum(all(_is_end(mention, path) for path in good) for mention in asked.mentions) - 1
    if best < weights.least - weights.paired * max(0, pairs) or best < best_fit(allowed) - weights.tolerance:
        return [], _why_not(asked, facts)
    return good, ""


def _tells_nothing(path: Path, known: Collection[str]) -> bool:
    """Whether the last triple only repeats what the question names: who made X is not answered by X was made."""
    last = path.triples[-1]
    return (
        not last.attributes and isinstance(last.object, EntityRef) and last.subject in known and last.object.id in known
    )


def _why_not(asked: Asked, facts: Mapping[str, Fact]) -> str:
    unknown = [term.text for term in asked.terms if not any(term.stem in fact.stems for fact in facts.values())]
    names = list(dict.fromkeys(mention.text for mention in asked.mentions))
    if unknown:
        return f"nothing in the documents that fits mentions {' '.join(unknown)}"
    if len(names) > 1:
        return f"nothing in the documents says this of {', '.join(names[:-1])} and {names[-1]}"
    return (
        f"nothing in the documents says this of {names[0]}" if names else "nothing in the documents fits the question"
    )


def _choose(paths: Sequence[Path], asked: Asked, question: Vectors, index: VectorIndex, weights: Weights) -> list[Path]:
    """The best of the paths that answer, each once, best first; all go the way of the best but for the last step.

    Where some hold all that is named in their triples, a sentence that also says other things does not count.
    """
    paths = [p for p in paths if all(_is_end(m, p) for m in asked.mentions)] or paths
    vectors = index.vectors([path.triples[-1].id for path in paths])
    scores: dict[tuple[str, ...], tuple[float, Path]] = {}
    for path in paths:
        score = path.fit + weights.likeness * float(vectors[path.triples[-1].id] @ question)
        key = tuple(triple.id for triple in path.triples)
        if key not in scores or scores[key][0] < score:
            scores[key] = score, path
    if not scores:
        return []
    best, first = max(scores.values(), key=lambda pair: pair[0])
    kept = [
        (score, key)
        for key, (score, path) in scores.items()
        # Two ways that part at the first step are two readings of the question: only the better one is given.
        if score >= best - weights.choice and path.senses[:-1] == first.senses[:-1]
    ]
    return [scores[key][1] for _, key in sorted(kept, key=lambda pair: (-pair[0], pair[1]))]


def _is_end(mention: Mention, path: Path) -> bool:
    """Whether a triple of the path is about an entity, or has the value, that is mentioned."""
    ids = {entity for triple in path.triples for entity in mentioned(triple)}
    said = {(triple.relation, canonical_text(triple.object)) for triple in path.triples}
    return bool(
        ids & {entity.id for entity in mention.entities} or said & {(v.attribute, v.value) for v in mention.values}
    )


def holds(asked: Asked, facts: Sequence[Fact]) -> bool:
    """Whether facts hold everything that a question names: each mention, and each term that nobody knows."""
    ids = {entity for fact in facts for entity in mentioned(fact.triple)}
    for mention in asked.mentions:
        if ids.isdisjoint(entity.id for entity in mention.entities):
            keys = {mention.key, *(name_key(value.value) for value in mention.values)}
            if not any(fact.spells(keys) for fact in facts):
                return False
    return all(any(term.stem in fact.stems for fact in facts) for term in asked.terms)


def _keys_in(text: str) -> Iterator[str]:
    parts = words(text)
    for i, first in enumerate(parts):
        for last in parts[i : i + LONGEST_NAME]:
            yield name_key(text[first.start : last.end])


def _refine(path: Path, fitting: Fitting, facts: Mapping[str, Fact], starts: Sequence[Start]) -> Path:
    """The path with the fit that it has when its own words explain those of the question too."""
    own = {stem for t in path.triples for stem in facts[t.id].stems}
    start = next((s for s in starts if s.entity.id in mentioned(path.triples[0])), None)
    return replace(path, fit=max(path.fit, fitting.fit(path.senses, start=start, also=own)))


def _order(path: Path) -> tuple[float, list[str]]:
    return -path.fit, [triple.id for triple in path.triples]


# Facts and hits


def _facts(ids: Iterable[str], store: Store, index: VectorIndex) -> dict[str, Fact]:
    triples = store.triples(sorted(ids))
    entities = store.entities(sorted({e for t in triples.values() for e in mentioned(t)}))
    views = index.views(list(triples))
    return {
        i: Fact(t, {e: entities[e] for e in mentioned(t)}, views.get(i, [])) for i, t in triples.items() if i in views
    }


def _rank(
    question: Vectors,
    near: Mapping[str, float],
    paths: Sequence[Path],
    asked: Asked,
    facts: Mapping[str, Fact],
    index: VectorIndex,
    weights: Weights,
) -> list[Hit]:
    """Every fact as a hit, scored by its chunk, its sentences, and the paths that it is on."""
    on_path: dict[str, float] = {}
    for path in paths:
        for triple in path.triples:
            share = 1.0 if triple is path.triples[-1] else 0.5
            on_path[triple.id] = max(on_path.get(triple.id, 0.0), share * path.fit)
    chunks, vectors = index.chunks(list(facts)), index.vectors(list(facts))
    hits = []
    for i, fact in facts.items():
        if i not in chunks:
            continue
        score = near.get(i, float(vectors[i] @ question))
        score += weights.view * max((float(vector @ question) for _, vector in fact.views), default=0.0)
        score += weights.named * (bool(asked.mentions) and holds(asked, [fact]))
        score += weights.path * on_path.get(i, 0.0)
        found_by = tuple(name for name, by in (("vectors", near), ("graph", on_path)) if i in by)
        hits.append(Hit(chunks[i], score, found_by, citations(fact, question)))
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk.triple))


def citations(fact: Fact, question: Vectors) -> tuple[Citation, ...]:
    """The spans that state a fact, those whose sentence is nearest to the question first."""
    ordered = sorted(fact.views, key=lambda pair: (-float(np.dot(pair[1], question)), pair[0].document, pair[0].start))
    return tuple(Citation(view.document, view.start, view.end) for view, _ in ordered)
