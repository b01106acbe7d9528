"""Rules to what a sentence is matched with: patterns in groups, each with an RE2 set that says which of them match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ingest.lexicon import Lexicon
from ingest.rule_language import Rule, RuleSet
from ingest.rule_matches import Pattern
from ingest.rule_patterns import FIRST_CODE, Expanded, compile_expression, expand
from ingest.rule_sentences import CleanSentence, Marked
from ontoloom.names import name_key

_SET_MEMORY = 256 << 20
"""Bytes that a set may take for its automaton. RE2's default, 8 MiB, is too little for some hundred patterns, and a
set that runs out of memory matches nothing."""

Types = frozenset[str]


@dataclass(frozen=True, slots=True)
class _Group:
    """Patterns whose slots ask for the same types, so that they see a sentence under the same marking."""

    types: Types
    patterns: tuple[Pattern, ...]
    prefilter: Any


class CompiledRules:
    """The patterns of a rule file for the names of a lexicon."""

    def __init__(self, rules: RuleSet, lexicon: Lexicon) -> None:
        self._rules = rules
        self._codes: dict[Types, str] = {}
        wanted: dict[Types, list[tuple[Rule, str]]] = {}
        for rule in rules.rules:
            for pattern in rule.patterns:
                wanted.setdefault(Types(self._expand(pattern, rule).types), []).append((rule, pattern))
        self._codes = self._assign_codes(list(wanted), lexicon)
        self._groups = [self._compile_group(types, listed) for types, listed in wanted.items()]
        # Of all patterns, for sentences that name nothing a group asks for: those look the same to every such group.
        self._places = [(number, at) for number, group in enumerate(self._groups) for at in range(len(group.patterns))]
        self._prefilter = _compile_set([pattern.source for group in self._groups for pattern in group.patterns])

    def find(self, sentence: CleanSentence) -> Iterator[tuple[Pattern, Marked]]:
        """The patterns that match a sentence, each with the marking under which it does."""
        present = Types(reading.type for named in sentence.names for reading in named.readings)
        unmarked = [self._places[index] for index in self._prefilter.Match(sentence.text) or ()]
        views = {Types(): (sentence.mark(Types(), self._codes), b"")}
        for number, group in enumerate(self._groups):
            types = group.types & present
            if types not in views:
                marked = sentence.mark(types, self._codes)
                views[types] = marked, marked.text.encode()
            marked, encoded = views[types]
            if types:
                matching = sorted(group.prefilter.Match(encoded) or ())
            else:
                matching = [at for home, at in unmarked if home == number]
            yield from ((group.patterns[at], marked) for at in matching)

    def _assign_codes(self, markings: Sequence[Types], lexicon: Lexicon) -> dict[Types, str]:
        """One code point for each set of types that a name can have under one of the markings."""
        borne: dict[str, set[str]] = {}
        for name, _, kind in lexicon.names:
            borne.setdefault(name_key(name), set()).add(kind)
        found = {Types([kind]) for kind in self._rules.ontology.types}
        found |= {types & marking for types in map(Types, borne.values()) for marking in markings}
        found |= {Types(pair) for marking in markings for pair in combinations(sorted(marking), 2)}
        ordered = sorted(sorted(types) for types in found if types)
        return {Types(types): chr(FIRST_CODE + number) for number, types in enumerate(ordered)}

    def _compile_group(self, types: Types, listed: Sequence[tuple[Rule, str]]) -> _Group:
        patterns = tuple(self._compile_pattern(rule, pattern) for rule, pattern in listed)
        return _Group(types, patterns, _compile_set([pattern.source for pattern in patterns]))

    def _compile_pattern(self, rule: Rule, pattern: str) -> Pattern:
        filled = self._expand(pattern, rule)
        expression = compile_expression(filled.source)
        return Pattern(
            rule=rule,
            source=filled.source,
            expression=expression,
            groups=expression.groupindex,
            fillers=filled.fillers,
            require=self._compile_guards(rule.require, rule),
            unless=self._compile_guards(rule.unless, rule),
            unless_inside=self._compile_guards(rule.unless_inside, rule),
            unless_captured={role: self._compile_guards(guards, rule) for role, guards in rule.unless_captured.items()},
        )

    def _compile_guards(self, guards: Sequence[str], rule: Rule) -> tuple[Any, ...]:
        flag = "(?i)" if rule.ignore_case else ""
        return tuple(compile_expression(flag + self._expand(guard, None).source) for guard in guards)

    def _expand(self, pattern: str, rule: Rule | None) -> Expanded:
        return expand(
            pattern, rule=rule, pieces=self._rules.pieces, types=self._rules.ontology.types, classes=self._class_of
        )

    def _class_of(self, types: Types) -> str:
        """The codes of all names that may be of one of ``types``."""
        return "".join(code for bearing, code in self._codes.items() if bearing & types) or chr(FIRST_CODE)


def _compile_set(sources: Sequence[str]) -> Any:
    """An RE2 set that tells the indices of all patterns that match somewhere."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _SET_MEMORY
    prefilter = re2.Set.SearchSet(options)
    for source in sources:
        prefilter.Add(source)
    prefilter.Compile()
    return prefilter
