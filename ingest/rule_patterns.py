"""Patterns with slots to regular expressions for RE2.

A sentence is matched with every known name replaced by one code point for private use that stands for the types it may
have, so a typed slot is a class of such code points, however many names there are. A name that no slot of the pattern
could take is left as it is written, so that it can be matched as words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ingest.rule_language import BUILT_IN, End, Literal, Rule, Slot, find_slots
from ontology.findings import did_you_mean
from ontology.schema import NUMERIC, EntityType, with_subtypes

FIRST_CODE = 0xF0000
PRIVATE = "\U000f0000-\U000fffff"
_AND = "(?:, and |, & |, | and | & )"
_FREE_GROUP = re.compile(r"\\.|\(\?P?<(?P<name>[A-Za-z_]\w*)>", re.DOTALL)
_SPELLED = re.compile(r"[^\W_]+[+#]*")

Classes = Callable[[frozenset[str]], str]
"""Types to the code points of the names that may have one of them, as the inside of a character class."""


@dataclass(frozen=True, slots=True)
class Filler:
    """What a capture may hold. ``unit`` is the expression of one of several; None where there is only one."""

    types: tuple[str, ...] = ()
    new: bool = False
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a pattern, at an offset in it."""

    at: int
    code: str
    message: str
    fix: str = ""


@dataclass(slots=True)
class Expanded:
    """A pattern with its slots filled: what RE2 is given. ``types`` are those that some slot asks for."""

    source: str = ""
    fillers: dict[str, Filler] = field(default_factory=dict)
    types: set[str] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)


def expand(
    pattern: str, *, rule: Rule | None, pieces: Mapping[str, str], types: Mapping[str, EntityType], classes: Classes
) -> Expanded:
    """Fills the slots of a pattern, or of a guard when ``rule`` is None. What cannot be filled is a fault."""
    filling = _Filling(rule, {**BUILT_IN, **pieces}, types, classes, Expanded())
    filling.out.source = filling.free_groups(filling.slots(pattern, depth=0))
    if rule and rule.ignore_case:
        filling.out.source = f"(?i){filling.out.source}"
    return filling.out


@lru_cache(maxsize=4096)
def compile_expression(source: str) -> Any:
    """An RE2 object. Raises ``re2.error``."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = 32 << 20
    return re2.compile(source, options)


@dataclass(slots=True)
class _Filling:
    rule: Rule | None
    pieces: Mapping[str, str]
    types: Mapping[str, EntityType]
    classes: Classes
    out: Expanded

    def slots(self, pattern: str, *, depth: int, at: int | None = None) -> str:
        """The pattern with its slots filled. Inside a piece all faults are placed ``at`` the slot that names it."""
        done, parts = 0, []
        for slot in find_slots(pattern):
            parts.append(pattern[done : slot.start])
            parts.append(self._slot(slot, depth=depth, at=slot.start if at is None else at))
            done = slot.end
        return "".join([*parts, pattern[done:]])

    def free_groups(self, source: str) -> str:
        """Lets a named group that stands for an entity match a known name too; notes what the group may hold."""

        def widen(match: re.Match[str]) -> str:
            role = match["name"]
            meaning = self.rule.role(role) if role and self.rule else None
            if role is None or role in self.out.fillers or not isinstance(meaning, End):
                return match.group()
            self._take(role, Filler(meaning.types, new=True))
            return f"{match.group()}{self._class(meaning.types)}|"

        return _FREE_GROUP.sub(widen, source)

    def _slot(self, slot: Slot, *, depth: int, at: int) -> str:
        if slot.gap is not None:
            return f"(?:[^ ;{PRIVATE}]+ ){{0,{slot.gap}}}?"
        role = slot.role
        what = slot.what
        if role is None and len(what) == 1 and self._is_role(what[0]):
            role, what = what[0], ()
        meaning = self.rule.role(role) if role and self.rule else None
        if role and role != "unit" and meaning is None:
            return self._fault(at, "unknown-role", f"'{role}' is no part of what this rule states", self._roles())
        unit, filler = self._body(slot, what, meaning, depth=depth, at=at)
        source = f"{unit}(?:{_AND}{unit})*" if slot.many else unit
        if role is None:
            self.out.types.update(filler.types)
            return source
        if role in self.out.fillers:
            return self._fault(at, "twice", f"'{role}' is there twice", "give each alternative a pattern of its own")
        self._take(role, Filler(filler.types, filler.new, unit if slot.many else None))
        return f"(?P<{role}>{source})"

    def _body(
        self, slot: Slot, what: tuple[str, ...], meaning: End | Literal | None, *, depth: int, at: int
    ) -> tuple[str, Filler]:
        """One filling of a slot, as an expression, and what a capture of it may hold."""
        if not what and isinstance(meaning, Literal):
            expression = value_expression(meaning)
            fix = "name a piece, as in {value:number}, or write a group, (?P<value>…)"
            return expression or self._fault(at, "no-words", "the slot does not say which words", fix), Filler()
        if not what and isinstance(meaning, End):
            return self._named(meaning.types, new=slot.new or meaning.new)
        if all(name in self.types for name in what):
            return self._named(with_subtypes(self.types, what), new=slot.new)
        if len(what) == 1 and what[0] in self.pieces:
            if depth > 20:
                return self._fault(
                    at, "cycle", f"the piece '{what[0]}' is defined by itself", "break the circle"
                ), Filler()
            inner = f"(?:{self.slots(self.pieces[what[0]], depth=depth + 1, at=at)})"
            if isinstance(meaning, End):
                return f"(?:{self._class(meaning.types)}|{inner})", Filler(meaning.types, new=True)
            return inner, Filler()
        unknown = next(name for name in what if name not in self.types)
        fix = did_you_mean(unknown, [*self.types, *self.pieces, *self._role_names()])
        return self._fault(at, "unknown-slot", f"'{unknown}' is no type, piece or role", fix), Filler()

    def _named(self, types: tuple[str, ...], *, new: bool) -> tuple[str, Filler]:
        known = self._class(types)
        return (f"(?:{known}|{BUILT_IN['name']})" if new else known), Filler(types, new)

    def _class(self, types: tuple[str, ...]) -> str:
        return f"[{self.classes(frozenset(types))}]"

    def _take(self, role: str, filler: Filler) -> None:
        self.out.fillers[role] = filler
        self.out.types.update(filler.types)

    def _is_role(self, name: str) -> bool:
        return name in self._role_names() and name not in self.types

    def _role_names(self) -> list[str]:
        if self.rule is None:
            return []
        return ["subject", "object" if isinstance(self.rule.object, End) else "value", *self.rule.attributes]

    def _roles(self) -> str:
        return f"it has {', '.join(self._role_names())}" if self.rule else "guards have no roles"

    def _fault(self, at: int, code: str, message: str, fix: str) -> str:
        self.out.faults.append(Fault(at, code, message, fix))
        return "(?:)"


def value_expression(literal: Literal) -> str | None:
    """What ``{value}`` matches by the attribute's type; None for free text, of which nothing is known."""
    kind = literal.attribute.type
    spellings = [spelling for option in literal.attribute.values for spelling in (option.name, *option.synonyms)]
    if kind == "enum" or literal.mapped:
        listed = sorted({*spellings, *literal.mapped}, key=lambda s: (-len(s), s))
        return f"(?i:{'|'.join(spelling_expression(s) for s in listed)})"
    if kind in NUMERIC:
        units = sorted(literal.scale, key=lambda s: (-len(s), s))
        unit = f"(?:[ -]?(?i:{'|'.join(map(re.escape, units))}))?" if units else ""
        return rf"\b{BUILT_IN['number']}{unit}\b"
    return BUILT_IN[kind] if kind in ("date", "url") else None


def spelling_expression(spelling: str) -> str:
    """Any spelling with the same letters and digits: ``Apache-2.0`` for ``Apache 2.0``."""
    words = [re.escape(word) for word in _SPELLED.findall(spelling)]
    if not words:
        return re.escape(spelling)
    left = r"\b" if words[0][0].isascii() else ""
    right = r"\b" if words[-1][-1].isascii() and words[-1][-1].isalnum() else ""
    return left + "[ ._-]?".join(words) + right
