"""The names that stand in a passage: what the LLM may choose its subjects and objects from.

A grammar that offers only words of the passage grounds a small model by construction and bounds its output. Names are
runs of capitalised words, single words with capitals or digits inside (``GPT-4``, ``mT5``), and whatever the caller
already knows by name. A word with a capital only because it starts a sentence is not one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ontoloom.names import name_key

_WORD = re.compile(r"[^\W_](?:[\w+#]|[.&/\-](?=\w)|['’](?=\w)(?!s\b))*")
_SENTENCE_END = re.compile(r"[.!?:;。！？]\s*$|\n\s*$|^\s*$")
_VERB = re.compile(r"\s(?:is|was|has|had|can|will|may|[a-z]{2,}(?:[^s]s|ed))\b")
_QUANTITY = re.compile(r"\d[\d.,]*[A-Za-z]{0,2}")
_CONNECTORS = frozenset(["of", "for", "the", "de", "la", "von", "van", "der", "du"])
_LISTED = """
a about above across after again against all also although among an and another any are as at be because been
before being below between both but by can could despite did do does doing down due during each either even ever
every few finally first firstly for from further furthermore given had has have having he hence her here his how
however i if in indeed instead into is it its itself just last later less like many may might more moreover most
much must my nevertheless no nor not now of off on once one only or other our out over own per perhaps rather
recent recently same second secondly several she should since so some still such than that the their them then
there therefore these they this those though three through thus to too two under unlike until up upon us using via
was we were what when where whereas which while who whom whose why will with within without would yet you your
people authors researchers scientists experiments results evaluations
"""
_FUNCTION_WORDS = frozenset(_LISTED.split())
_DATES = (
    "january february march april may june july august september october november december jan feb mar apr jun jul aug"
    " sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday"
)
_CALENDAR = frozenset(_DATES.split())
_LONGEST_NAME = 60


def find_names(text: str, *, known: Iterable[str] = (), limit: int = 24) -> list[str]:
    """Names in ``text`` in order of appearance, one spelling for each, at most ``limit``.

    ``known`` are spellings that are in the text for certain; they come first and are never left out for ``limit``.
    """
    found: dict[str, str] = {}
    for name in known:
        found.setdefault(name_key(name), name)
    lowered = {word for word in _words_of(text) if word.islower()}
    for name in _runs(text, lowered):
        if len(found) >= limit:
            break
        if len(name) <= _LONGEST_NAME:
            found.setdefault(name_key(name), name)
    return list(found.values())


def _words_of(text: str) -> list[str]:
    return [match.group() for match in _WORD.finditer(text)]


def _runs(text: str, lowered: set[str]) -> Iterable[str]:
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        if run and not _adjoins(text, run[-1], word):
            yield from _named(text, run, lowered)
            run = []
        if _is_name_like(word.group()) or (run and (word.group() in _CONNECTORS or word.group().isdigit())):
            run.append(word)
        elif run:
            yield from _named(text, run, lowered)
            run = []
    yield from _named(text, run, lowered)


def _adjoins(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    gap = text[left.end() : right.start()]
    return gap.isspace() and gap.count("\n") < 2


def _is_name_like(word: str) -> bool:
    return any(c.isupper() for c in word) or (any(c.isdigit() for c in word) and any(c.isalpha() for c in word))


def _named(text: str, run: list[re.Match[str]], lowered: set[str]) -> Iterable[str]:
    """The name within a run: without function words at its ends, and not just the first word of a sentence."""
    while run and (run[-1].group() in _CONNECTORS or run[-1].group().lower() in _FUNCTION_WORDS):
        run = run[:-1]
    while run and run[0].group().lower() in _FUNCTION_WORDS:
        run = run[1:]
    if not run:
        return
    first = run[0].group()
    if all(word.group().lower() in _CALENDAR or _QUANTITY.fullmatch(word.group()) for word in run):
        return
    is_plain = len(run) == 1 and first.isalpha() and (first[1:].islower() or len(first) == 1)
    if is_plain and (first.lower() in lowered or _only_starts_sentences(first, text)):
        return
    name = text[run[0].start() : run[-1].end()]
    yield " ".join(name.split())


def _only_starts_sentences(word: str, text: str) -> bool:
    """Whether a word owes its capital to its place. One that a verb follows is taken for a name: "Falcon is …"."""
    places = list(re.finditer(rf"\b{re.escape(word)}\b", text))
    starts = (_SENTENCE_END.search(text[max(0, place.start() - 3) : place.start()]) for place in places)
    return all(starts) and not any(_VERB.match(text, place.end()) for place in places)
