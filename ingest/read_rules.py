"""Reads ``rules.yaml`` against the ontology; everything that does not hold is reported at its place, all at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ingest.check_patterns import PatternChecker
from ingest.rule_language import BUILT_IN, ORIGINS, SCALES, End, Literal, Rule, RuleSet, known_names
from ontology.findings import Finding, FindingsError, did_you_mean, shown
from ontology.schema import NUMERIC, Attribute, Ontology
from ontology.shapes import Entries, Entry, read_flag, read_mapping, read_number, read_word, read_words
from ontology.strict_yaml import Source, compose, read_source, start
from ontology.values import BadValue, read_value
from ontoloom.names import hash_id
from ontoloom.records import Value

TOP_KEYS = ("ruleset", "version", "description", "confidence", "define", "known", "unless", "unless_inside", "rules")
RULE_KEYS = (
    "name", "relation", "pattern", "subject", "object", "value", "attributes", "sections", "require", "unless",
    "unless_inside", "unless_captured", "ignore_guards", "confidence", "ignore_case",
)  # fmt: skip
END_KEYS = ("from", "type", "name")
LITERAL_KEYS = ("constant", "map", "scale")
_DEFAULT_CONFIDENCE = 0.9


def read_rules(path: Path, ontology: Ontology) -> RuleSet:
    """The rules in a file. Raises FindingsError with all that is wrong with it."""
    source = read_source(path)
    rules, findings = compile_rules(source.text, file=source.file, ontology=ontology)
    if rules is None:
        raise FindingsError(findings)
    return rules


def compile_rules(text: str, *, file: str, ontology: Ontology) -> tuple[RuleSet | None, list[Finding]]:
    """The rules that a text states, None where it has an error, and all findings in the order of the text."""
    source = Source(file, text)
    root = compose(source, block_indent=2)
    rules = None
    if root is not None:
        rules = _Reader(source, ontology, {}).read(root)
    elif not source.failed:
        source.error(0, "empty-file", "the file says nothing", "begin with 'ruleset:', 'version:' and 'rules:'")
    return (None if source.failed else rules), sorted(source.findings)


@dataclass(slots=True)
class _Reader:
    source: Source
    ontology: Ontology
    pieces: dict[str, str]
    confidence: float = _DEFAULT_CONFIDENCE
    unless: tuple[str, ...] = ()
    unless_inside: tuple[str, ...] = ()

    @property
    def _checker(self) -> PatternChecker:
        return PatternChecker(self.source, self.ontology, self.pieces)

    def read(self, root: Node) -> RuleSet:
        top = read_mapping(
            self.source, (root, root), "a rule file", known=TOP_KEYS, required=("ruleset", "version", "rules")
        )
        name = read_word(self.source, top["ruleset"]) if "ruleset" in top else ""
        version = read_word(self.source, top["version"]) if "version" in top else ""
        if "confidence" in top:
            self.confidence = self._confidence(top["confidence"])
        if "define" in top:
            self._define(top["define"])
        self.unless, self.unless_inside = self._guards(top, "unless"), self._guards(top, "unless_inside")
        known = self._known(top["known"]) if "known" in top else ()
        rules = self._rules(top["rules"]) if "rules" in top else ()
        return RuleSet(
            name=name or "",
            version=version or "",
            hash=hash_id("rules", self.source.text),
            rules=rules,
            pieces=self.pieces,
            known=known,
            ontology=self.ontology,
        )

    def _define(self, entry: Entry) -> None:
        """Pieces, each checked by itself once all are known, so that they may name each other in any order."""
        nodes: dict[str, Node] = {}
        for name, (key, node) in read_mapping(self.source, entry, "define").items():
            text = read_word(self.source, (key, node))
            if not name.isidentifier() or not name.islower() or name == "gap":
                fix = "use lower-case letters, digits and _"
                self.source.error(key, "bad-name", f"{shown(name)} cannot name a piece", fix)
            elif name in BUILT_IN:
                self.source.error(key, "taken", f"'{name}' is built in", "choose another name")
            elif text is not None:
                self.pieces[name], nodes[name] = text, node
        for name, node in nodes.items():
            self._checker.check_expression(self.pieces[name], node, rule=None)

    def _known(self, entry: Entry) -> tuple[tuple[str, str, str], ...]:
        names: dict[str, tuple[str, ...]] = {}
        for kind, (key, node) in read_mapping(self.source, entry, "known").items():
            if self._is_type(kind, key):
                names[kind] = tuple(word for word, _ in read_words(self.source, (key, node)))
        return known_names(names)

    def _rules(self, entry: Entry) -> tuple[Rule, ...]:
        node = entry[1]
        if not isinstance(node, SequenceNode):
            self.source.error(node, "wrong-shape", "'rules' is a list", "write '- name: …' items")
            return ()
        rules: list[Rule] = []
        seen: dict[str, Node] = {}
        for item in node.value:
            rule = self._rule(item)
            if rule is None:
                continue
            if rule.name in seen:
                line, _ = self.source.position(start(seen[rule.name]))
                self.source.error(
                    item, "duplicate-rule", f"a rule is named '{rule.name}' already, on line {line}", "rename one"
                )
            seen.setdefault(rule.name, item)
            rules.append(rule)
        return tuple(rules)

    def _rule(self, node: Node) -> Rule | None:
        found = read_mapping(
            self.source, (node, node), "a rule", known=RULE_KEYS, required=("name", "relation", "pattern")
        )
        name = read_word(self.source, found["name"]) if "name" in found else None
        relation = read_word(self.source, found["relation"]) if "relation" in found else None
        if name is None or relation is None or not self._is_said(relation, found["relation"][1]):
            return None
        subject = self._subject(relation, found)
        alone = read_flag(self.source, found["ignore_guards"]) if "ignore_guards" in found else False
        rule = Rule(
            name=name,
            relation=relation,
            patterns=tuple(word for word, _ in self._words(found, "pattern")),
            subject=subject,
            object=self._object(relation, subject, found),
            attributes=self._attributes(relation, found),
            sections=frozenset(word for word, _ in self._words(found, "sections")),
            require=self._guards(found, "require"),
            unless=(*(() if alone else self.unless), *self._guards(found, "unless")),
            unless_inside=(*(() if alone else self.unless_inside), *self._guards(found, "unless_inside")),
            unless_captured=self._capture_guards(found),
            confidence=self._confidence(found["confidence"]) if "confidence" in found else self.confidence,
            ignore_case=read_flag(self.source, found["ignore_case"]) if "ignore_case" in found else False,
        )
        for pattern, at in self._words(found, "pattern"):
            self._checker.check_pattern(pattern, at, rule)
        for role in rule.unless_captured:
            if rule.role(role) is None:
                self._checker.report_role(role, rule, found["unless_captured"][1])
        return rule

    def _words(self, found: Entries, key: str) -> list[tuple[str, Node]]:
        return read_words(self.source, found[key], or_one=True) if key in found else []

    def _guards(self, found: Entries, key: str) -> tuple[str, ...]:
        words = self._words(found, key)
        for guard, node in words:
            self._checker.check_expression(guard, node, rule=None)
        return tuple(guard for guard, _ in words)

    def _capture_guards(self, found: Entries) -> Mapping[str, tuple[str, ...]]:
        if "unless_captured" not in found:
            return {}
        by_role = read_mapping(self.source, found["unless_captured"], "unless_captured")
        return {role: self._guards(by_role, role) for role in by_role}

    def _confidence(self, entry: Entry) -> float:
        number = read_number(self.source, entry)
        if number is not None and not 0 < number <= 1:
            self.source.error(entry[1], "out-of-range", "a confidence is above 0 and at most 1", "write 0.9")
        return number if number is not None else _DEFAULT_CONFIDENCE

    # What a rule states, by the ontology.

    def _is_said(self, relation: str, node: Node) -> bool:
        """Whether the ontology has a relation, or an attribute of some type, of this name."""
        if relation in self.ontology.relations or any(self.ontology.types_with_attribute(relation)):
            return True
        known = [*self.ontology.relations, *sorted({a for t in self.ontology.types.values() for a in t.attributes})]
        message = f"the ontology has no relation or attribute {shown(relation)}"
        self.source.error(node, "unknown-relation", message, did_you_mean(relation, known))
        return False

    def _domain(self, relation: str) -> tuple[str, ...]:
        found = self.ontology.relations.get(relation)
        return found.domain if found else tuple(t.name for t in self.ontology.types_with_attribute(relation))

    def _subject(self, relation: str, found: Entries) -> End:
        domain = self._domain(relation)
        return self._end(found["subject"], domain, "wrong-domain") if "subject" in found else End(domain)

    def _object(self, relation: str, subject: End, found: Entries) -> End | Literal:
        said = self.ontology.relations.get(relation)
        other = "value" if said else "object"
        if other in found:
            kind = "a relation, whose object is an entity" if said else "an attribute, whose object is a value"
            self.source.error(
                found[other][0], "wrong-object", f"'{relation}' is {kind}", f"write '{'object' if said else 'value'}:'"
            )
        if said:
            return self._end(found["object"], said.range, "wrong-range") if "object" in found else End(said.range)
        # Types may differ in what an attribute of theirs holds; a rule says whose it means by the subject's type.
        attribute = self.ontology.types[subject.types[0]].attributes[relation]
        return self._literal(found["value"], attribute) if "value" in found else Literal(attribute)

    def _attributes(self, relation: str, found: Entries) -> Mapping[str, End | Literal]:
        said = self.ontology.relations.get(relation)
        attributes = said.attributes if said else {}
        meanings: dict[str, End | Literal] = {
            name: End(attribute.targets) if attribute.type == "reference" else Literal(attribute)
            for name, attribute in attributes.items()
        }
        written = read_mapping(self.source, found["attributes"], "attributes") if "attributes" in found else {}
        for name, (key, node) in written.items():
            if name not in attributes:
                fix = did_you_mean(name, list(attributes)) or f"'{relation}' has no attributes"
                self.source.error(key, "unknown-attribute", f"'{relation}' has no attribute '{name}'", fix)
            elif attributes[name].type == "reference":
                meanings[name] = self._end((key, node), attributes[name].targets, "wrong-range")
            else:
                meanings[name] = self._literal((key, node), attributes[name])
        return meanings

    def _end(self, entry: Entry, allowed: tuple[str, ...], code: str) -> End:
        """``nearest``, ``document``, a list of these, or a mapping with ``from``, ``type`` and ``name``."""
        key, node = entry
        if not isinstance(node, MappingNode):
            return End(allowed, origin=self._origins(entry))
        what = f"'{key.value}'" if isinstance(key, ScalarNode) else "an end"
        found = read_mapping(self.source, entry, what, known=END_KEYS)
        origin = self._origins(found["from"]) if "from" in found else ()
        name = read_word(self.source, found["name"]) if "name" in found else None
        if "type" not in found:
            return End(allowed, origin=origin, name=name)
        types: list[str] = []
        new = False
        for word, at in read_words(self.source, found["type"], or_one=True):
            kind = word.removesuffix("?")
            new = new or word.endswith("?")
            if not self._is_type(kind, at):
                continue
            if kind not in allowed:
                fix = f"it takes {', '.join(allowed)}"
                self.source.error(at, code, f"a {kind} cannot stand here", fix)
            else:
                types += [t for t in self.ontology.subtypes(kind) if t in allowed]
        return End(tuple(types) or allowed, new=new, origin=origin, name=name)

    def _origins(self, entry: Entry) -> tuple[str, ...]:
        origins = read_words(self.source, entry, or_one=True)
        for word, node in origins:
            if word not in ORIGINS:
                fix = did_you_mean(word, ORIGINS)
                self.source.error(node, "unknown-origin", f"{shown(word)} is no place to look for a name", fix)
        return tuple(word for word, _ in origins)

    def _is_type(self, name: str, node: Node) -> bool:
        if name in self.ontology.types:
            return True
        fix = did_you_mean(name, list(self.ontology.types))
        self.source.error(node, "unknown-type", f"the ontology has no type {shown(name)}", fix)
        return False

    def _literal(self, entry: Entry, attribute: Attribute) -> Literal:
        """A constant, or a mapping with ``constant``, ``map`` or ``scale``."""
        key, node = entry
        if isinstance(node, ScalarNode):
            return Literal(attribute, constant=self._value(entry, attribute))
        what = f"'{key.value}'" if isinstance(key, ScalarNode) else "a value"
        found = read_mapping(self.source, entry, what, known=LITERAL_KEYS)
        mapped = read_mapping(self.source, found["map"], "map") if "map" in found else {}
        scale = self._scale(found["scale"]) if "scale" in found else {}
        if scale and attribute.type not in NUMERIC:
            fix = "use 'map' for words"
            self.source.error(found["scale"][0], "wrong-shape", f"'{attribute.name}' is no number to be scaled", fix)
        values = {words: self._value(pair, attribute) for words, pair in mapped.items()}
        return Literal(
            attribute,
            constant=self._value(found["constant"], attribute) if "constant" in found else None,
            mapped={words: value for words, value in values.items() if value is not None},
            scale=scale,
        )

    def _scale(self, entry: Entry) -> Mapping[str, Decimal]:
        """A mapping of units to factors, or the name of a built-in one."""
        if isinstance(entry[1], MappingNode):
            return {unit: self._factor(pair) for unit, pair in read_mapping(self.source, entry, "scale").items()}
        word = read_word(self.source, entry)
        if word is not None and word not in SCALES:
            fix = "write {thousand: 1000} or one of: " + ", ".join(SCALES)
            self.source.error(entry[1], "unknown-scale", f"{shown(word)} is no scale", fix)
        return SCALES.get(word or "", {})

    def _value(self, entry: Entry, attribute: Attribute) -> Value | None:
        word = read_word(self.source, entry)
        if word is None:
            return None
        try:
            return read_value(attribute, word)
        except BadValue as error:
            self.source.error(entry[1], error.code, error.message, error.fix)
            return None

    def _factor(self, entry: Entry) -> Decimal:
        word = read_word(self.source, entry)
        try:
            factor = Decimal(word or "1")
        except InvalidOperation:
            factor = Decimal(0)
        if not factor.is_finite() or factor <= 0:
            self.source.error(entry[1], "not-a-number", f"{shown(word)} is no factor", "write a number such as 1000")
            return Decimal(1)
        return factor
