"""Ways through the graph that a question may mean: from what it names over one or two triples to what it wants.

The decision whether a question can be answered is made with them, without an LLM. Among all paths that the ontology
*allows* from the named entities, the one that fits the question best says what is asked. Only where the graph has
that path, or one that fits about as well, is there an answer: that much is known about an entity is no reason to
answer what is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graph.store import Store
from ontoloom.protocols import Vectors
from ontoloom.records import Entity, EntityRef, Triple
from retrieval.link import Asked, Mention
from retrieval.sense import Direction, Sense, Vocabulary


@dataclass(frozen=True, slots=True)
class Weights:
    """How fits and scores are made up, on a scale where 1 is a perfect fit.

    Set by hand on the development questions in ``tests/retrieval_questions.yaml``.
    """

    coverage: float = 0.6
    """Share of the question's content words that the path's wording explains."""
    phrase: float = 0.4
    """Cosine of the question, names masked, with the best phrase of each step."""
    second_step: float = 0.05
    """Taken off for a second step."""
    silent_step: float = 0.10
    """Taken off more for a first step that no word of the question mentions."""
    idle_step: float = 0.25
    """Taken off more for a second step that no word of the question asks for."""
    carried: float = 0.85
    """How far an attribute of a relation, or what a triple says, explains a word; less than a relation's own words."""
    rivalled: float = 0.5
    """What is left of a likeness of words where another sense of the same type has the very word."""
    question_word: float = 0.6
    """What ``who`` or ``how much`` counts among the content words, for a path whose answer is of that kind."""
    described: float = 0.3
    """Taken off where something is asked of X that is asked of ``the model that X is based on``."""
    paired: float = 0.2
    """A path may fit so much less for each further thing that is named and that it is about."""
    wrong_role: float = 0.3
    """Taken off where ``based on X`` is read as what X is based on, or the other way round."""
    word_floor: float = 0.45
    word_ceiling: float = 0.70
    """Cosines of single words below the floor explain nothing, above the ceiling everything."""
    phrase_floor: float = 0.25
    phrase_ceiling: float = 0.75
    least: float = 0.50
    """A path that fits less is no answer."""
    tolerance: float = 0.08
    """A path of the graph may fit so much less than the best that the ontology allows."""
    likeness: float = 0.25
    """Among answers: cosine of the question with the chunk of the last triple."""
    choice: float = 0.06
    """Answers may be so much worse than the best one."""
    steps: int = 40
    """First steps of the graph that are followed further, the best fitting first."""
    neighbours: int = 1000
    """Triples of the named entities that are looked at."""
    nearest: int = 50
    """Chunks that are taken from the vector index."""
    view: float = 0.4
    """In a hit's score: cosine of the question with the best sentence that states the triple."""
    named: float = 0.2
    """In a hit's score: the triple holds everything that the question names."""
    path: float = 1.0
    """In a hit's score: fit of the best path that ends in the triple (a step on the way counts half)."""


@dataclass(frozen=True, slots=True)
class Path:
    """A path from something named. ``triples`` is empty where the ontology allows it and the graph need not have it."""

    senses: tuple[Sense, ...]
    fit: float
    triples: tuple[Triple, ...] = ()


@dataclass(frozen=True, slots=True)
class Start:
    """An entity from which paths lead, and the mention that names it."""

    entity: Entity
    mention: Mention


class Fitting:
    """How well senses fit one question; each sense is compared once. ``question`` is the question's vector."""

    def __init__(
        self, asked: Asked, vocabulary: Vocabulary, embed: Callable[[Sequence[str]], Vectors], weights: Weights
    ) -> None:
        self.asked, self.weights = asked, weights
        self._vocabulary = vocabulary
        spellings = {word.stem: word.text for word in asked.content}
        self._stems = list(spellings)
        embedded = embed([asked.masked, asked.text, *spellings.values()])
        self._masked, self.question, self._words = embedded[0], embedded[1], embedded[2:]
        self._importance = np.array(asked.weights, np.float32)
        self._wanted_types = {name for name, stems in vocabulary.types.items() if asked.head in stems}
        self._explained: dict[Sense, Vectors] = {}
        self._phrase: dict[Sense, float] = {}

    def explained(self, sense: Sense) -> Vectors:
        """For each content word how far (0 to 1) a sense's wording explains it."""
        if sense not in self._explained:
            w = self.weights
            rivals = self._vocabulary.of_type[sense.asked_of]
            alike = _ramp(self._vocabulary.word_fits(sense, self._words), w.word_floor, w.word_ceiling)
            alike *= [w.rivalled if stem in rivals else 1.0 for stem in self._stems]
            exact = [1.0 if s in sense.stems else w.carried if s in sense.carried else 0.0 for s in self._stems]
            by_stem = dict(zip(self._stems, np.maximum(alike, exact), strict=True))
            self._explained[sense] = np.array([by_stem[word.stem] for word in self.asked.content], np.float32)
        return self._explained[sense]

    def phrase(self, sense: Sense) -> float:
        """How well (0 to 1) the question as a whole resembles a way to say the sense."""
        if sense not in self._phrase:
            cosine = self._vocabulary.phrase_fit(sense, self._masked)
            self._phrase[sense] = float(_ramp(cosine, self.weights.phrase_floor, self.weights.phrase_ceiling))
        return self._phrase[sense]

    def fit(self, senses: Sequence[Sense], *, start: Start | None = None, also: Iterable[str] = ()) -> float:
        """The fit of a path from ``start``; ``also`` are stems that explain a word whatever the senses say."""
        w = self.weights
        found = np.max([self.explained(sense) for sense in senses], axis=0)
        known = set(also)
        named = self._vocabulary.types[start.entity.type] if start else frozenset[str]()
        also_explained = [
            1.0 if word.stem in named else w.carried * (word.stem in known) for word in self.asked.content
        ]
        found = np.maximum(found, also_explained)
        asked = 0.0 if self.asked.want == "any" else w.question_word
        coverage = float((found @ self._importance + asked) / (self._importance.sum() + asked)) if len(found) else 0.5
        phrase = max(self.phrase(sense) for sense in senses)
        described = self._described_types(start)
        off = self._cost_of_steps(senses, is_described=bool(described & set(senses[0].answers)))
        if described and described.isdisjoint(senses[0].answers):
            off += w.described
        if start and senses[0].loops and not self._role_fits(senses[0], start):
            off += w.wrong_role
        return w.coverage * coverage + w.phrase * phrase - off

    def _described_types(self, start: Start | None) -> set[str]:
        """The types of the thing that is meant where a name only describes it; empty where the name is meant."""
        noun = self.asked.described(start.mention) if start else ""
        return {name for name, stems in self._vocabulary.types.items() if noun in stems}

    def _cost_of_steps(self, senses: Sequence[Sense], *, is_described: bool) -> float:
        if len(senses) == 1:
            return 0.0
        w = self.weights
        more = self.explained(senses[0]) - self.explained(senses[1])
        silent, idle = not np.any(more > 0.5), not np.any(more < -0.5)
        if silent and not is_described and (senses[0].loops or senses[0].direction == "inverse"):
            return 1.0  # what holds of one thing is not silently said of another of its kind
        return w.second_step + w.silent_step * silent + w.idle_step * idle

    def answers(self, sense: Sense) -> bool:
        """Whether the sense gives the kind of answer that is wanted: to ``which model``, a model."""
        wanted = not self._wanted_types or self.asked.head in sense.called or any(map(self.is_wanted, sense.answers))
        return wanted and self.asked.want in sense.wants

    def is_wanted(self, type_name: str) -> bool:
        """Whether the question asks for things of a type, or for none in particular."""
        return not self._wanted_types or type_name in self._wanted_types

    def _role_fits(self, sense: Sense, start: Start) -> bool:
        """Between things of one type the wording alone tells which of them is asked for, unless both are named."""
        others = {e.type for m in self.asked.mentions if m is not start.mention for e in m.entities}
        if others & set(sense.answers):
            return True
        role = self.asked.role(start.mention, sense.stems)
        return role is None or (role == "subject") == (sense.direction == "forward")


def allowed_paths(starts: Iterable[Start], fitting: Fitting, vocabulary: Vocabulary) -> Iterator[Path]:
    """Paths that the ontology allows from something named, with their fit."""
    for start in starts:
        for sense in vocabulary.senses.get(start.entity.type, ()):
            if fitting.answers(sense):
                yield Path((sense,), fitting.fit((sense,), start=start))
            for answer in sense.answers:
                for second in vocabulary.senses.get(answer, ()):
                    if fitting.answers(second) and _goes_on(sense, second):
                        yield Path((sense, second), fitting.fit((sense, second), start=start))


def graph_paths(starts: Sequence[Start], fitting: Fitting, vocabulary: Vocabulary, store: Store) -> list[Path]:
    """Paths that the graph has from something named, whatever their fit."""
    by_id = {start.entity.id: start for start in starts}
    first = _steps([start.entity for start in starts], store, vocabulary, fitting.weights.neighbours)
    found = [
        Path((sense,), fitting.fit((sense,), start=by_id[end]), (triple,))
        for end, sense, triple in first
        if fitting.answers(sense)
    ]
    onward = [step for step in first if step[1].answers]
    onward.sort(key=lambda step: (-fitting.fit((step[1],), start=by_id[step[0]]), step[2].id))
    ends: dict[str, list[tuple[str, Sense, Triple]]] = {}
    for step in onward[: fitting.weights.steps]:
        ends.setdefault(_other_end(step[2], step[0]), []).append(step)
    middles = list(store.entities(sorted(ends)).values())
    for middle, sense, triple in _steps(middles, store, vocabulary, fitting.weights.neighbours):
        for end, first_sense, first_triple in ends[middle]:
            if triple != first_triple and fitting.answers(sense) and _goes_on(first_sense, sense):
                fit = fitting.fit((first_sense, sense), start=by_id[end])
                found.append(Path((first_sense, sense), fit, (first_triple, triple)))
    return found


def _steps(
    starts: Sequence[Entity], store: Store, vocabulary: Vocabulary, limit: int
) -> list[tuple[str, Sense, Triple]]:
    """Triples of entities with the sense that each has when asked of the entity at either end."""
    by_id = {entity.id: entity for entity in starts}
    return [
        (end, sense, triple)
        for triple in (store.neighbours(sorted(by_id), limit=limit) if by_id else ())
        for end, direction in _ends(triple)
        if end in by_id
        for sense in vocabulary.senses.get(by_id[end].type, ())
        if sense.predicate == triple.relation and sense.direction == direction
    ]


def _ends(triple: Triple) -> list[tuple[str, Direction]]:
    ends: list[tuple[str, Direction]] = [(triple.subject, "forward")]
    if isinstance(triple.object, EntityRef):
        ends.append((triple.object.id, "inverse"))
    return ends


def _other_end(triple: Triple, end: str) -> str:
    if isinstance(triple.object, EntityRef) and triple.subject == end:
        return triple.object.id
    return triple.subject


def _goes_on(first: Sense, second: Sense) -> bool:
    """Going back along the relation that one came by leads to siblings, which is hardly ever meant."""
    return first.predicate != second.predicate or first.direction == second.direction


def _ramp(value: Vectors, floor: float, ceiling: float) -> Vectors:
    return np.asarray(np.clip((value - floor) / (ceiling - floor), 0.0, 1.0), np.float32)


def best_fit(paths: Iterable[Path]) -> float:
    """The fit of the best path; 0 where there is none."""
    return max((path.fit for path in paths), default=0.0)


def sense_of(triple: Triple, subject: Entity, vocabulary: Mapping[str, Sequence[Sense]]) -> Sense | None:
    """The sense of a triple when it is asked of its subject."""
    senses = vocabulary.get(subject.type, ())
    return next((s for s in senses if s.predicate == triple.relation and s.direction == "forward"), None)
