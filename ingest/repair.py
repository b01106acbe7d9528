"""Reads a model's answer, whatever shape it has: what is complete is kept, and what is wrong with it is said.

An answer is JSON, perhaps after thoughts, within a fence or among words, perhaps cut off. There is no guess at what a
model meant beyond that: an item that was cut is dropped, and the answer counts as failed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>", re.IGNORECASE)
_SPACE = re.compile(r"\s*")
_LIST = "triples"


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The items of an answer that can be used, and what is wrong with the rest: ``problem`` is empty when nothing is.

    Problems: ``cut-off empty-answer not-json wrong-shape``; ``message`` says it in one line.
    """

    items: tuple[dict[str, Any], ...]
    problem: str = ""
    message: str = ""


def read_answer(text: str, *, finish: str = "stop") -> ReadAnswer:
    """The objects under ``triples`` in an answer. ``finish`` is the engine's: ``length`` for one that was cut off."""
    said = _THOUGHTS.sub("", text)
    said = said[: opened.start()] if (opened := _OPEN_THOUGHTS.search(said)) else said
    if not said.strip():
        reason = "used up its tokens before it said anything" if finish == "length" else "said nothing"
        return ReadAnswer((), "empty-answer", f"the model {reason}")
    start = _find_list(said)
    if start is not None:
        return _read_list(said, start, finish)
    return _explain(said, finish)


def _find_list(text: str) -> int | None:
    """Where the array of items begins: after ``"triples":``, else an array that is the answer itself."""
    named = re.search(rf'"{_LIST}"\s*:\s*\[', text)
    if named:
        return named.end()
    bare = re.match(r"\s*(?:```\w*\s*)?\[(?=\s*[\]{])", text)
    return bare.end() if bare else None


def _read_list(text: str, position: int, finish: str) -> ReadAnswer:
    decoder = json.JSONDecoder()
    items: list[dict[str, Any]] = []
    odd = 0
    while True:
        position = _skip(text, position)
        if text[position : position + 1] == "]":
            break
        try:
            item, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return _broken(items, text, position, finish)
        if isinstance(item, dict):
            items.append(item)
        else:
            odd += 1
        position = _skip(text, position)
        if text[position : position + 1] == ",":
            position += 1
        elif text[position : position + 1] != "]":
            return _broken(items, text, position, finish)
    if odd:
        return ReadAnswer(tuple(items), "wrong-shape", f"{odd} of the items are no objects")
    return ReadAnswer(tuple(items))


def _broken(items: list[dict[str, Any]], text: str, position: int, finish: str) -> ReadAnswer:
    kept = f"; {len(items)} complete items are kept"
    if finish == "length" or _runs_to_the_end(text, position):
        return ReadAnswer(tuple(items), "cut-off", f"the answer breaks off after {len(text)} characters{kept}")
    near = " ".join(text[position : position + 30].split())
    return ReadAnswer(
        tuple(items), "not-json", f"the answer is no JSON from character {position + 1} on, '{near}'{kept}"
    )


def _runs_to_the_end(text: str, position: int) -> bool:
    """Whether a JSON value that starts here is still open when the text ends, rather than malformed before."""
    try:
        json.loads(text[position:])
    except json.JSONDecodeError as error:
        return error.pos >= len(text.rstrip()) - position or error.msg.startswith("Unterminated string")
    except RecursionError:
        return False
    return True


def _explain(text: str, finish: str) -> ReadAnswer:
    """What is wrong with an answer that holds no list of items."""
    shown = " ".join(text.split())[:60]
    opening = re.search(r"[{\[]", text)
    if opening is None:
        return ReadAnswer((), "cut-off" if finish == "length" else "not-json", f"the answer holds no JSON: '{shown}'")
    try:
        json.JSONDecoder().raw_decode(text, opening.start())
    except (ValueError, RecursionError):
        if finish == "length" or _runs_to_the_end(text, opening.start()):
            return ReadAnswer((), "cut-off", f"the answer breaks off after {len(text)} characters: '{shown}'")
        return ReadAnswer((), "not-json", f"the answer is no JSON: '{shown}'")
    return ReadAnswer((), "wrong-shape", f"the answer has no list '{_LIST}': '{shown}'")


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
