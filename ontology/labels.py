"""What people read about a thing of the ontology: labels, synonyms, description, examples, deprecation."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TypedDict

from yaml.nodes import MappingNode, Node, ScalarNode

from ontology.findings import Edit, did_you_mean, shown
from ontology.schema import Deprecation
from ontology.shapes import Entries, Entry, read_mapping, read_word, read_words
from ontology.strict_yaml import Source, end, is_absent, kind, start

LABEL_KEYS = ("label", "synonyms", "description", "examples", "deprecated")
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?", re.ASCII)


class Labels(TypedDict):
    """The fields of ``schema.Described``."""

    description: str
    synonyms: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]
    translations: tuple[tuple[str, tuple[str, ...]], ...]
    examples: tuple[str, ...]
    deprecated: Deprecation | None


def read_labels(source: Source, found: Entries, *, siblings: Collection[str] = (), own: str = "") -> Labels:
    """What is said under ``LABEL_KEYS``.

    Where it is deprecated, any of ``siblings`` may be used instead, but for its ``own`` name.
    """
    labels = [(tag, word) for tag, entry in _by_language(source, found, "label") for word in _word(source, entry)]
    translations = [(tag, _words(source, entry)) for tag, entry in _by_language(source, found, "synonyms")]
    every = [word for _, word in labels] + [word for _, words in translations for word in words]
    return Labels(
        description=read_description(source, found),
        synonyms=tuple(dict.fromkeys(every)),
        labels=tuple(labels),
        translations=tuple((tag, words) for tag, words in translations if tag),
        examples=_words(source, found["examples"]) if "examples" in found else (),
        deprecated=_read_deprecation(source, found["deprecated"], siblings, own) if "deprecated" in found else None,
    )


def read_description(source: Source, found: Entries) -> str:
    """The description on one line."""
    description = read_word(source, found["description"]) if "description" in found else None
    return " ".join((description or "").split())


def check_version(source: Source, node: Node, version: str) -> None:
    """Reports what is no semantic version. It has no build metadata: the hash of the ontology takes its place."""
    if not VERSION.fullmatch(version):
        padded = ".".join([*version.split("."), "0", "0"][:3])
        right = bool(VERSION.fullmatch(padded))
        fix = f"write {padded}" if right else "write three numbers, as in 1.0.0"
        edit = Edit(start(node), end(source.text, node), padded) if right else None
        source.error(node, "bad-version", f"{shown(version)} is no semantic version", fix, edit=edit)


def _by_language(source: Source, found: Entries, name: str) -> Iterator[tuple[str, Entry]]:
    """What is said under a key: as it stands, under no tag, or under each language's."""
    if name not in found:
        return
    if not isinstance(found[name][1], MappingNode):
        yield "", found[name]
        return
    for tag, entry in read_mapping(source, found[name], f"'{name}'").items():
        if LANGUAGE.fullmatch(tag):
            yield tag, entry
        else:
            message = f"{shown(tag)} is no tag of a language"
            source.error(entry[0], "bad-language", message, "write a tag such as en, zh or pt-BR")


def _word(source: Source, entry: Entry) -> list[str]:
    word = read_word(source, entry)
    return [] if word is None else [word]


def _words(source: Source, entry: Entry) -> tuple[str, ...]:
    return tuple(word for word, _ in read_words(source, entry))


def _read_deprecation(source: Source, entry: Entry, siblings: Collection[str], own: str) -> Deprecation:
    if isinstance(entry[1], ScalarNode) and not is_absent(entry[1]):
        message = f"'deprecated' must be a mapping, not {kind(entry[1])}"
        source.error(entry[1], "wrong-shape", message, "write {since: 1.2.0, use: …}, or {}")
        return Deprecation()
    found = read_mapping(source, entry, "'deprecated'", known=("since", "use"), may_be_empty=True)
    since = read_word(source, found["since"]) if "since" in found else None
    if since is not None:
        check_version(source, found["since"][1], since)
    use = read_word(source, found["use"]) if "use" in found else None
    if use is not None and (use not in siblings or use == own) and not source.partial:
        message = f"{shown(use)} cannot be used instead: there is no such name here"
        fix = did_you_mean(use, [name for name in siblings if name != own])
        source.error(found["use"][1], "unknown-name", message, fix)
    return Deprecation(since or "", use or "")
