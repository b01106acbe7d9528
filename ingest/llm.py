"""Reads claims out of passages with an LLM that can only write what the ontology allows and the passage contains.

Each passage is one request: the task, the ontology line by line, examples, the passage; its answer follows the schema
that ``ingest.grammar`` compiles for it. Answers that can be used are recorded, and a recorded one is never asked for
again. What cannot be used makes the passage fail with a reason; the complete items before a cut are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ingest.candidates import find_names
from ingest.cues import collect_cues
from ingest.grammar import Choices, compile_answer
from ingest.judge import Trust
from ingest.known import KnownNames
from ingest.lexicon import lexicon_of
from ingest.prompt import PROMPT_VERSION, build_messages
from ingest.record import Record, Recorded, prompt_key
from ingest.repair import ReadAnswer, read_answer
from ingest.shots import make_shots
from ingest.summary import Usage
from ontology.schema import Ontology
from ontoloom.errors import EngineError
from ontoloom.names import hash_id
from ontoloom.progress import OnProgress, Progress, silent
from ontoloom.protocols import Completion, Engine, Prompt, Reading
from ontoloom.records import Claim, Document, Failure, Mention, Passage, Value

CONFIDENCE = 0.5
"""Of a claim that an LLM read: below a rule's and a page's, as nothing but the words themselves was checked."""
TITLE = "title"
_KEYS = frozenset({"r", "s", "st", "o", "ot"})


@dataclass(slots=True)
class _Request:
    """One passage's request, and in the end what was answered or went wrong."""

    document: Document
    passage: Passage
    prompt: Prompt
    key: str
    answer: ReadAnswer | None = None


@dataclass(slots=True)
class _Faults:
    """Errors of the engine in a row; after ``limit`` of them the rest of the batch is not sent."""

    limit: int
    in_a_row: int = 0
    last: str = ""

    @property
    def gave_up(self) -> bool:
        return self.in_a_row >= self.limit


class LLMExtractor:
    """An ``Extractor``. Raises EngineError where the engine does not answer the very first request of all.

    ``cued``: only what the text has a word for is offered and believed (``ingest.cues``), and only of names of which
    one is known; small models need it, large ones read more without. A title is read with the passages that follow
    it, by itself only where none does. ``usage`` counts over the extractor's life. After ``give_up_after`` errors in a
    row the rest of a batch fails unsent.

    Measured with SmolLM2-135M on the sixteen abstracts of the example: 20 claims, 13 admitted, of which 10 are right;
    on thirty abstracts of AI papers, few of whose names have pages: 52 claims, 17 believable by their words alone and
    mostly wrong, of which ``cued`` admits one. Read by one person, on the texts that it was tuned on.
    """

    name = "llm"

    def __init__(
        self,
        engine: Engine,
        ontology: Ontology,
        record: Record,
        *,
        known: KnownNames | None = None,
        shots: Sequence[tuple[str, str]] | None = None,
        cued: bool = True,
        most_triples: int = 6,
        max_tokens: int = 600,
        give_up_after: int = 20,
        on_progress: OnProgress = silent,
    ) -> None:
        self.usage = Usage()
        self._to_send = 0
        self._on_progress = on_progress
        self._engine = engine
        self._ontology = ontology = ontology.without_abstract()
        self._record = record
        self._known = known or KnownNames()
        self._lexicon = lexicon_of(self._known)
        self.trust: Trust = "cued" if cued else "found"
        self._cues = collect_cues(ontology) if cued else None
        self._shots = tuple(make_shots(ontology) if shots is None else shots)
        self._most_triples = most_triples
        self._max_tokens = max_tokens
        self._give_up_after = give_up_after
        self._has_answered = False
        turns = [part for shot in self._shots for part in shot]
        self.fingerprint = hash_id(
            "llm", PROMPT_VERSION, engine.model, ontology.hash, self.trust, str(most_triples), str(max_tokens), *turns
        )

    def extract(self, batch: Sequence[tuple[Document, Sequence[Passage]]]) -> list[Reading]:
        """One reading per document. Its failures name the passages whose answers were not whole."""
        requests = [list(self._requests(document, passages)) for document, passages in batch]
        waiting: dict[str, list[_Request]] = {}
        for request in (r for of_document in requests for r in of_document):
            recorded = self._record.get(request.key)
            if recorded is not None:
                self.usage.replayed += 1
                request.answer = read_answer(recorded.text, finish=recorded.finish)
            else:
                waiting.setdefault(request.key, []).append(request)
        if waiting:
            self._ask(waiting)
        return [self._reading(of_document) for of_document in requests]

    def _requests(self, document: Document, passages: Sequence[Passage]) -> Iterator[_Request]:
        following = [p for p in passages if p.section != TITLE]
        for passage in following or passages:
            title = document.title if passage.section != TITLE else ""
            text = f"{title}\n\n{passage.text}" if title else passage.text
            choices = self._choose(text)
            schema = compile_answer(self._ontology, choices, cues=self._cues, most_triples=self._most_triples)
            if schema is not None:
                messages = build_messages(self._ontology, shots=self._shots, title=title, text=passage.text)
                prompt = Prompt(messages, max_tokens=self._max_tokens, schema=schema)
                yield _Request(document, passage, prompt, prompt_key(self._engine.model, prompt))

    def _choose(self, text: str) -> Choices:
        """The names in a text, with the types that pages give them; one that is part of a known name, as ``Llama 2`` of
        ``Llama 2 70B``, or the other way round, is of its type."""
        names = find_names(text, known=[found.name for found in self._lexicon.find(text)])
        types = {n: frozenset(e.type for e in found) for n in names if (found := self._known.look_up(n))}
        for name in [n for n in names if n not in types]:
            kin = [types[other] for other in names if other in types and _is_part(name, other)]
            if kin:
                types[name] = frozenset[str]().union(*kin)
        return Choices(text, names, types)

    def _ask(self, waiting: dict[str, list[_Request]]) -> None:
        if not self._has_answered:
            demand_answer(self._engine, next(iter(waiting.values()))[0].prompt)
            self._has_answered = True
        self._to_send += len(waiting)
        self._on_progress(Progress("ask the LLM", self.usage.sent, self._to_send))
        faults = _Faults(self._give_up_after)
        prompts = (replace(same[0].prompt, tag=key) for key, same in waiting.items() if not faults.gave_up)
        for completion in self._engine.complete(prompts):
            answer = self._settle(completion, faults)
            for request in waiting[completion.prompt.tag]:
                request.answer = answer
            self._on_progress(Progress("ask the LLM", self.usage.sent, self._to_send))
        unsent = ReadAnswer((), "engine-error", f"not asked: the engine failed {faults.in_a_row} times: {faults.last}")
        for request in (r for same in waiting.values() for r in same if r.answer is None):
            request.answer = unsent

    def _settle(self, completion: Completion, faults: _Faults) -> ReadAnswer:
        """Reads an answer, records one that is whole, and keeps the counts."""
        self.usage.sent += 1
        self.usage.prompt_tokens += completion.prompt_tokens
        self.usage.completion_tokens += completion.completion_tokens
        if completion.finish == "error":
            faults.in_a_row += 1
            faults.last = completion.text
            return ReadAnswer((), "engine-error", completion.text)
        faults.in_a_row = 0
        answer = read_answer(completion.text, finish=completion.finish)
        if answer.problem or not all(_is_item(item) for item in answer.items):
            return answer
        told = Recorded(completion.text, completion.finish, completion.prompt_tokens, completion.completion_tokens)
        kept = self._record.put(completion.prompt.tag, told)
        return read_answer(kept.text, finish=kept.finish)

    def _reading(self, requests: Iterable[_Request]) -> Reading:
        claims: list[Claim] = []
        failures: list[Failure] = []
        for request in requests:
            answer = request.answer
            assert answer is not None, "every request is answered, from the record or by the engine"
            problem, message = answer.problem, answer.message
            odd = [item for item in answer.items if not _is_item(item)]
            if odd and not problem:
                problem, message = "wrong-shape", f"{len(odd)} of {len(answer.items)} items are no triples: {odd[0]}"
            claims += [self._claim(item, request) for item in answer.items if _is_item(item)]
            if problem:
                where = f"{request.passage.start}-{request.passage.end}"
                failures.append(Failure(where, problem, message[:300]))
        return Reading(tuple(dict.fromkeys(claims)), tuple(failures))

    def _claim(self, item: dict[str, Any], request: _Request) -> Claim:
        relation = self._ontology.relations.get(item["r"])
        target: Mention | Value = item["o"]
        if relation is not None:
            target = Mention(str(item["o"]), item.get("ot"))
        attributes: list[tuple[str, Mention | Value]] = []
        for name, value in item.items():
            if name not in _KEYS:
                known = relation.attributes.get(name) if relation else None
                is_reference = known is not None and known.type == "reference"
                attributes.append((name, Mention(str(value)) if is_reference else value))
        return Claim(
            subject=Mention(item["s"], item.get("st")),
            relation=item["r"],
            object=target,
            start=request.passage.start,
            end=request.passage.end,
            extractor=self.name,
            source=request.key,
            confidence=CONFIDENCE,
            attributes=tuple(sorted(attributes, key=lambda pair: pair[0])),
        )


def _is_part(name: str, other: str) -> bool:
    """Whether one of two names begins with the other, word by word."""
    shorter, longer = sorted((name.casefold(), other.casefold()), key=len)
    return longer.startswith(shorter) and not longer[len(shorter) :][:1].isalnum()


def _is_item(item: dict[str, Any]) -> bool:
    """Whether an item has the shape of a triple: names as non-empty strings, plain values, nothing nested."""
    strings = [item.get("r"), item.get("s"), *(item[key] for key in ("st", "ot") if key in item)]
    has_names = all(isinstance(value, str) and value.strip() for value in strings)
    return has_names and all(_is_plain(value) for value in item.values()) and str(item.get("o", "")).strip() != ""


def _is_plain(value: Any) -> bool:
    """A finite number, or a string of characters that can be written: JSON can escape halves of characters."""
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= c <= "\udfff" for c in value)
    return isinstance(value, int | float) and math.isfinite(value)


def demand_answer(engine: Engine, prompt: Prompt) -> None:
    """Raises EngineError unless the engine answers what all prompts have in common.

    It then has that in its cache, before requests come side by side that would each compute it.
    """
    probe = Prompt((*prompt.messages[:-1], ("user", "")), max_tokens=1)
    completion = next(iter(engine.complete([probe])), None)
    if completion is None or completion.finish == "error":
        said = completion.text if completion else "it gave no completion"
        raise EngineError(f"the engine does not answer: {said}", hint="start it, or ingest without an LLM")
