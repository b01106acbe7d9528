"""Extraction by rules: sentence by sentence, in linear time, each claim with the words that state it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from ingest.compile_rules import CompiledRules
from ingest.judge import Trust
from ingest.lexicon import Lexicon, lexicon_of
from ingest.read_rules import read_rules
from ingest.rule_language import RuleSet
from ingest.rule_matches import Context, read_matches, without_repeats
from ingest.rule_sentences import Antecedents, CleanSentence, Reading, clean_sentence, find_names
from ingest.split import paragraphs, sentences
from ontoloom.names import hash_id, name_key
from ontoloom.protocols import Reading as Read
from ontoloom.records import Claim, Document, Passage

__all__ = ["Lexicon", "RuleExtractor", "RuleSet", "lexicon_of", "read_rules"]

RULES_VERSION = "1"
"""To be raised when the same rules come to other claims, so that documents are read again."""


class RuleExtractor:
    """An extractor that reads claims by the rules of a rule file; known names come from it and from the lexicon.

    ``fingerprint`` covers the rules, not the lexicon: of that, what a document comes to depends on the names in its
    text alone, which the pipeline accounts for by document. Patterns are compiled when the first document comes.
    """

    name = "rules"
    trust: Trust = "exact"

    def __init__(self, rules: RuleSet, lexicon: Lexicon | None = None) -> None:
        given = lexicon.names if lexicon else ()
        taken = {(name_key(name), kind) for name, _, kind in given}
        own = [entry for entry in rules.known if (name_key(entry[0]), entry[2]) not in taken]
        self._lexicon = Lexicon([*given, *own])
        self._rules = rules
        self._antecedents = Antecedents(rules.ontology)
        self.fingerprint = hash_id("rules", RULES_VERSION, rules.hash, rules.ontology.hash)

    @cached_property
    def _compiled(self) -> CompiledRules:
        return CompiledRules(self._rules, self._lexicon)

    def extract(self, batch: Sequence[tuple[Document, Sequence[Passage]]]) -> list[Read]:
        """One reading per document. A rule cannot fail on a text, so there are no failures."""
        return [Read(tuple(self._read_document(document, passages))) for document, passages in batch]

    def _read_document(self, document: Document, passages: Sequence[Passage]) -> Iterator[Claim]:
        topic = [reading for named in find_names(document.title, self._lexicon) for reading in named.readings]
        for passage in passages:
            for paragraph in paragraphs(document.text, passage.start, passage.end):
                before: CleanSentence | None = None
                for start, end in sentences(document.text, *paragraph):
                    sentence = self._prepare(document.text, start, end, before, topic)
                    rules = self._rules
                    context = Context(rules.ontology, rules.name, document, passage.section, sentence, topic)
                    yield from without_repeats(self._read_sentence(context))
                    before = sentence

    def _prepare(
        self, text: str, start: int, end: int, before: CleanSentence | None, topic: Sequence[Reading]
    ) -> CleanSentence:
        words, offsets = clean_sentence(text, start, end)
        sentence = CleanSentence(words, offsets, find_names(words, self._lexicon), before)
        taken = {place for named in sentence.names for place in range(named.start, named.end)}
        stand_ins = [n for n in self._antecedents.find(sentence, topic) if n.start not in taken]
        if stand_ins:
            sentence.names = sorted([*sentence.names, *stand_ins], key=lambda named: named.start)
        return sentence

    def _read_sentence(self, context: Context) -> Iterator[Claim]:
        for pattern, marked in self._compiled.find(context.sentence):
            if not pattern.rule.sections or context.section in pattern.rule.sections:
                yield from read_matches(context, pattern, marked)
