"""Checks the patterns of a rule file: slots, roles, types and the regular expression, each fault at its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from yaml.nodes import Node

from ingest.rule_language import NEAREST, End, Rule
from ingest.rule_patterns import FIRST_CODE, compile_expression, expand
from ontology.findings import shown
from ontology.schema import Ontology
from ontology.strict_yaml import Source, start


@dataclass(frozen=True, slots=True)
class PatternChecker:
    """Reports faults of patterns to a source. ``pieces`` are those that the file defines."""

    source: Source
    ontology: Ontology
    pieces: Mapping[str, str]

    def check_pattern(self, pattern: str, node: Node, rule: Rule) -> None:
        """Reports what is wrong with a rule's pattern: it must say what subject and object are."""
        groups = self.check_expression(pattern, node, rule=rule)
        if groups is None:
            return
        for role in groups:
            if role != "unit" and rule.role(role) is None:
                self.report_role(role, rule, node)
        self._check_end("subject", rule.subject, groups, node)
        if isinstance(rule.object, End):
            self._check_end("object", rule.object, groups, node)
        elif "value" not in groups and rule.object.constant is None:
            fix = "write {value} or a group (?P<value>…) in the pattern, or 'value: …' for a constant"
            self.source.error(node, "missing-group", "nothing says what the value is", fix)
        elif "value" in groups and rule.object.constant is not None:
            self.source.error(node, "wrong-object", "the value is a constant, and captured too", "keep one")

    def report_role(self, role: str, rule: Rule, node: Node) -> None:
        """Reports a role that the rule does not have."""
        known = ["subject", "object" if isinstance(rule.object, End) else "value", *rule.attributes]
        fix = f"it has {', '.join(known)}"
        self.source.error(node, "unknown-role", f"'{role}' is no part of what this rule states", fix)

    def _check_end(self, role: str, end: End, groups: Sequence[str], node: Node) -> None:
        if role in groups:
            if end.origin or end.name:
                message = f"the {role} is captured, and 'from' or 'name' says otherwise"
                self.source.error(node, "wrong-object", message, "keep one")
        elif role == "object" and not end.origin and end.name is None:
            fix = f"write {{{role}}} in the pattern, or '{role}: {NEAREST}' to take the nearest name before it"
            self.source.error(node, "missing-group", f"nothing says what the {role} is", fix)

    def check_expression(self, pattern: str, node: Node, *, rule: Rule | None) -> list[str] | None:
        """Reports what is wrong with a pattern, guard or piece; the names of its groups when nothing is."""
        import re2

        types = self.ontology.types
        filled = expand(pattern, rule=rule, pieces=self.pieces, types=types, classes=lambda _: chr(FIRST_CODE))
        for fault in filled.faults:
            self.source.error(self._place(node, pattern, fault.at), fault.code, fault.message, fault.fix)
        for role, filler in filled.fillers.items():
            self._check_types(role, filler.types, rule, node)
        if filled.faults:
            return None
        try:
            return list(compile_expression(filled.source).groupindex)
        except re2.error as error:
            told = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
            at = self._place(node, pattern, _fault_offset(told, pattern))
            self.source.error(at, "bad-regex", f"not a regular expression: {_shorten(told)}", _regex_fix(told))
            return None

    def _check_types(self, role: str, types: Sequence[str], rule: Rule | None, node: Node) -> None:
        end = rule.role(role) if rule else None
        if not isinstance(end, End):
            return
        for kind in types:
            if kind not in end.types:
                code = "wrong-domain" if role == "subject" else "wrong-range"
                self.source.error(node, code, f"a {kind} cannot be the {role} here", f"it takes {', '.join(end.types)}")

    def _place(self, node: Node, pattern: str, offset: int) -> int:
        """The index in the file of a character of a scalar, where that is written as it is read; else its start."""
        at = start(node)
        written = self.source.text[at : int(node.end_mark.index)]
        inside = written.find(pattern)
        if inside >= 0:
            return at + inside + offset
        doubled = written.find(pattern.replace("'", "''")) if written.startswith("'") else -1
        return at + doubled + offset + pattern.count("'", 0, offset) if doubled >= 0 else at


def _fault_offset(told: str, pattern: str) -> int:
    """Where in the pattern the piece stands that RE2 complains of; 0 when it stands nowhere."""
    _, _, piece = told.partition(": ")
    at = pattern.rfind(piece) if piece else -1
    return max(at, 0)


def _shorten(told: str) -> str:
    what, _, piece = told.partition(": ")
    return f"{what}: {shown(piece)}" if piece else what


_REGEX_FIXES: Mapping[str, str] = {
    "missing )": "close the parenthesis",
    "unexpected )": "open the parenthesis, or write \\) for the sign itself",
    "missing ]": "close the bracket, or write \\[ for the sign itself",
    "no argument for repetition operator": "put something before it, or a backslash for the sign itself",
    "invalid perl operator": "there is no lookaround in RE2; say it with 'require', 'unless' or 'unless_inside'",
    "invalid escape sequence": "write \\\\ for a backslash; there are no references to groups in RE2",
    "invalid repetition size": "repeat at most 1000 times",
}


def _regex_fix(told: str) -> str:
    return next((fix for words, fix in _REGEX_FIXES.items() if told.startswith(words)), "")
