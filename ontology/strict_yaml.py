"""YAML as a strict format: raw scalars with exact marks, and a finding for everything that YAML lets slip.

Nothing is typed here: ``no`` is the string "no" and ``1.10`` the string "1.10"; who reads the tree knows what it should
be. Refused are duplicate and merge keys, keys that are no scalars, anchors and aliases, tags, directives, several
documents, control characters, line breaks and spaces that look like others, conflict markers and deep nesting.

The tree is that of PyYAML's composer (in C where it was built with libyaml). All marks are code-point indexes into the
whole text, front to back, so that ``text[start(node):end(text, node)]`` is what the author wrote.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from ontology.findings import Edit, Finding, FindingsError, shown
from ontology.plain_yaml import NULLS

CHUNK = 2**18
LARGEST = 2**24
"""Bytes of a page or an ontology: what is larger was not written by hand, and would take minutes."""
MOST_ALIKE = 20
"""Findings of one kind that are told of a file."""
MAX_DEPTH = 64
MAX_SYNTAX_ERRORS = 20
TOO_DEEP = f"nested more than {MAX_DEPTH} deep"

LINE_BREAK = re.compile(r"\r\n|\n|\r")
FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
CONFLICT = re.compile(r"^(?:(?:<{7}|\|{7}|>{7})(?: .*)?|={7})\r?$", re.MULTILINE)
RUNS = ("<<<<<<<", "|||||||", ">>>>>>>", "=======")
# Where an anchor, alias, tag or directive may begin. Text in quotes matches too: the events tell.
SUSPECT = re.compile(r"(?:^|(?<=[\s\[\]{},:\-?'\"]))[&*!]|^%", re.MULTILINE)
ODD_SPACE = re.compile("[\xa0\u1680\u2000-\u200b\u202f\u205f\u2060\u3000]")
SWALLOWED_SPACE = re.compile(f"(?:(?:^|[\r\n])[ \t]*|:){ODD_SPACE.pattern}")


@dataclass(slots=True)
class Source:
    """A text being read, and what was found in it so far. ``partial``: a part was left out because of its syntax."""

    file: str
    text: str
    findings: list[Finding] = field(default_factory=list)
    partial: bool = False
    _lines: list[int] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)

    def position(self, at: int) -> tuple[int, int]:
        """Line and column, from 1, of a code-point index. A byte order mark takes no column, as in any editor."""
        if not self._lines:
            self._lines = [0, *(m.end() for m in LINE_BREAK.finditer(self.text))]
        line = bisect_right(self._lines, at)
        marked = line == 1 and at > 0 and self.text.startswith("\ufeff")
        return line, at - self._lines[line - 1] + (0 if marked else 1)

    def error(self, at: Node | int, code: str, message: str, fix: str = "", *, edit: Edit | None = None) -> None:
        """Adds an error at a node or code-point index."""
        if self._is_enough(code):
            return
        index = at if isinstance(at, int) else at.start_mark.index
        self.findings.append(Finding(self.file, *self.position(index), code, message, fix, edit=edit))

    def warn(self, at: Node | int, code: str, message: str, fix: str = "") -> None:
        """Adds a warning at a node or code-point index."""
        if self._is_enough(code):
            return
        index = at if isinstance(at, int) else at.start_mark.index
        self.findings.append(Finding(self.file, *self.position(index), code, message, fix, "warning"))

    def _is_enough(self, code: str) -> bool:
        """Whether a file has so many findings of a kind that more of them would help nobody."""
        self._counts[code] += 1
        return self._counts[code] > MOST_ALIKE

    @property
    def failed(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)


def read_source(path: Path | str) -> Source:
    """A file as text, line breaks as they are. Raises FindingsError when it cannot be read or is not UTF-8."""
    source = Source(str(path), "")
    try:
        data = read_bytes(path)
    except TooLarge as error:
        source.error(0, "too-large", str(error), "split it")
        raise FindingsError(source.findings) from None
    except OSError as error:
        source.error(0, "unreadable", f"the file cannot be read: {error.strerror or error}")
        raise FindingsError(source.findings) from None
    head = data[:200]
    if len(head) > 7 and max(head[::2].count(0), head[1::2].count(0)) > len(head) // 4:  # letters of UTF-16
        source.error(0, "not-utf-8", "the file is UTF-16", "save the file as UTF-8")
        raise FindingsError(source.findings)
    try:
        source.text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        source.text = data[: error.start].decode("utf-8")
        what = "the file is UTF-16" if wide else f"byte 0x{data[error.start]:02x} is not UTF-8"
        source.error(len(source.text), "not-utf-8", what, "save the file as UTF-8")
        raise FindingsError(source.findings) from None
    return source


class TooLarge(OSError):
    """A file of more bytes than anyone writes by hand."""


def read_bytes(path: Path | str) -> bytes:
    """A file's bytes, in half the time of ``open`` for one that fits into a chunk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # of a pipe, nothing is waited for
    try:
        parts, size = [os.read(descriptor, CHUNK)], CHUNK
        while len(parts[-1]) == CHUNK:
            parts.append(os.read(descriptor, CHUNK))
            size += CHUNK
            if size > LARGEST:
                raise TooLarge(f"the file is larger than {LARGEST // 2**20} MB")
        return parts[0] if len(parts) == 1 else b"".join(parts)
    finally:
        os.close(descriptor)


def compose(source: Source, *, end: int | None = None, block_indent: int = 0) -> Node | None:
    """The root node of the text up to ``end``; None when there is none. What is wrong goes to ``source``.

    After a syntax error the block that holds it is left out (it begins with a key indented by at most ``block_indent``
    spaces) and the rest is read, so that all faults of a file are found at once; ``source.partial`` is then true.
    """
    text = _clean(source, source.text[:end])
    conflicts = [m.start() for m in CONFLICT.finditer(text)] if any(run in text for run in RUNS) else []
    if conflicts:
        opening = [at for at in conflicts if text[at] == "<"] or conflicts[:1]
        for at in opening:
            source.error(at, "merge-conflict", "a merge conflict was left in the file", "choose one side")
        source.partial = True
        return None
    for _ in range(MAX_SYNTAX_ERRORS):
        try:
            root = None
            suspect = any(sign in text for sign in "&*!%") and SUSPECT.search(text)
            hazard = _hazard(source, text) if suspect else None
            if hazard is None:
                root = _compose(text)
                hazard = _odd_space(source, root) if root and ODD_SPACE.search(text) else None
        except yaml.YAMLError as error:
            hazard = _report(source, text, error)
        except RecursionError:
            hazard = _report_depth(source, text)
        if hazard is None:
            if root is None or is_absent(root):
                return None
            _inspect(source, root)
            return root
        source.partial = True
        rest = _without_block(text, hazard, block_indent)
        if rest == text:
            break
        text = rest
    return None


def entries(node: MappingNode) -> dict[str, tuple[ScalarNode, Node]]:
    """Keys with their key and value nodes; what was reported when composing (second and merge keys) is left out."""
    found: dict[str, tuple[ScalarNode, Node]] = {}
    for key, value in node.value:
        if isinstance(key, ScalarNode) and not _is_merge(key):
            found.setdefault(key.value, (key, value))
    return found


def is_plain(node: Node) -> bool:
    """Whether a node is a scalar without quotes."""
    return isinstance(node, ScalarNode) and not node.style


def is_absent(node: Node) -> bool:
    """Whether nothing was written: ``key:``."""
    return is_plain(node) and not node.value


def is_null(node: Node) -> bool:
    """Whether a node is one of YAML's words for nothing, without quotes."""
    return is_plain(node) and node.value in NULLS


def start(node: Node) -> int:
    """Code-point index at which a node begins."""
    return int(node.start_mark.index)


def end(text: str, node: Node) -> int:
    """Code-point index at which what a node says ends, before trailing blanks and comments."""
    after = int(node.end_mark.index)
    if isinstance(node, ScalarNode) and not text[after - 1].isspace():  # most
        return after
    while isinstance(node, CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, MappingNode) else last
    first, after = start(node), int(node.end_mark.index)
    return first + len(text[first:after].rstrip())


def kind(node: Node) -> str:
    """What a node is, for messages."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    return "nothing" if is_absent(node) else shown(node.value)


def _clean(source: Source, text: str) -> str:
    """The text with characters that YAML refuses or takes for line breaks replaced, each by one, after reporting."""
    if text.startswith("\ufeff"):
        message, fix = "the file begins with a byte order mark", "save it as UTF-8 without BOM"
        source.error(0, "byte-order-mark", message, fix, edit=Edit(0, 1, ""))
        text = "\n" + text[1:]
    if text.replace("\n", " ").isprintable():  # as most are: it takes a tenth of the time
        return text
    for match in islice(FORBIDDEN.finditer(text), MOST_ALIKE):
        sign = f"U+{ord(match.group()):04X}"
        source.error(match.start(), "control-character", f"the character {sign} is not allowed here", "remove it")
    return FORBIDDEN.sub(" ", text)


LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def _compose(text: str) -> Node | None:
    loader = LOADER(text)
    loader.resolve = lambda *_: ""  # tags are not used, and resolving them is a quarter of the time
    loader.descend_resolver = loader.ascend_resolver = lambda *_: None
    root: Node | None = loader.get_single_node()
    return root


def _events(text: str) -> Iterator[tuple[Any, int]]:
    """The parser's events, each with the code-point index at which it begins."""
    for event in yaml.parse(text, Loader=LOADER):
        yield event, event.start_mark.index  # type: ignore[union-attr]  # the stubs allow marks to be absent


def _hazard(source: Source, text: str) -> int | None:
    """Reports the first anchor, alias, tag or directive and returns its index. Reads events, so no quote fools it."""
    for event, at in _events(text):
        if isinstance(event, yaml.DocumentStartEvent) and (event.version or event.tags):
            source.error(text.index("%", at), "directive", "YAML directives are not allowed", "remove the line")
        elif isinstance(event, yaml.AliasEvent):
            source.error(at, "alias", f"the alias *{event.anchor} is not allowed", "write the value out")
        elif isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            source.error(at, "anchor", f"the anchor &{event.anchor} is not allowed", "remove it; write values out")
        elif getattr(event, "tag", None) is not None:
            tag = text[at : at + 40].split()[0]
            fix = "remove it" if tag.startswith("!!") else "remove it, or put quotes around the value"
            source.error(at, "tag", f"the tag {shown(tag)} is not allowed", fix)
        else:
            continue
        return at
    return None


SYNTAX_FIXES = {
    "mapping values are not allowed": "put quotes around a value that holds ': '; check the indentation",
    "sequence entries are not allowed": "put the first list item on a line of its own",
    "cannot start any token": "put quotes around the value",
    "while scanning an alias": "put quotes around the value",
    "could not find expected ':'": "write 'key: value'",
    "did not find expected key": "indent keys of one mapping by the same number of spaces",
    "expected <block end>": "indent keys of one mapping by the same number of spaces",
    "unexpected end of stream": "close the quotes",
    "']'": "close the list with ]",
    "'}'": "close the mapping with }",
}


def _report(source: Source, text: str, error: yaml.YAMLError) -> int:
    """Adds a syntax error; returns the index of the block to leave out."""
    mark, context_mark = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    context, problem = str(getattr(error, "context", None) or ""), str(getattr(error, "problem", None) or error)
    at = min(mark.index if mark else 0, len(text))
    opener = context_mark.index if context_mark and ("flow" in context or "quoted" in context) else at
    if "quoted" in context or LINE_BREAK.search(text, opener, at):
        at = opener  # left open, which the parser noticed only later
    odd = _swallowed_space(text, context_mark.index if context_mark and "simple key" in context else at, at)
    if odd is None and context_mark and (problem == "could not find expected ':'" or "scanning an alias" in context):
        at = opener = int(context_mark.index)  # the parser notices only later
    if "another document" in problem or "<document start>" in problem:
        source.error(at, "several-documents", "a second YAML document begins here", "keep one document in a file")
    elif "nesting depth" in problem:
        return _report_depth(source, text)
    elif text[at : at + 1] == "\t":
        source.error(at, "tab-indentation", "a tab cannot indent YAML", "use spaces")
    elif odd is not None:
        _report_odd_space(source, odd)
    elif (wide := text.find("：", at, text.find("\n", at))) >= 0:
        source.error(wide, "syntax", "the colon U+FF1A is no YAML colon", "replace it by ':' and a space")
    else:
        fix = next((fix for words, fix in SYNTAX_FIXES.items() if words in problem or words in context), "")
        source.error(at, "syntax", ": ".join(part for part in (context, problem) if part), fix)
    return min(at, opener)


def _report_depth(source: Source, text: str) -> int:
    """Adds a finding at the first node that is nested too deep, or before it where the parser stops; its index."""
    depth = at = 0
    with suppress(yaml.YAMLError):
        for event, index in _events(text):
            at = index
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                break
    source.error(at, "too-deep", TOO_DEEP, "check for brackets that are never closed")
    return at


def _without_block(text: str, at: int, indent: int) -> str:
    """The text with the block that holds ``at`` blanked out; the same text where no block can be told."""
    begin = rf"(?:^|(?<=\r)) {{0,{indent}}}[^\s#\-\]}},%]"
    starts = [m.start() for m in re.finditer(begin, text, re.MULTILINE)]
    block = bisect_right(starts, at) - 1
    if block < 0:
        return text
    first = starts[block]
    after = starts[block + 1] if block + 1 < len(starts) else len(text)
    return text[:first] + re.sub(r"[^\r\n]", " ", text[first:after]) + text[after:]


def _inspect(source: Source, root: Node) -> None:
    """Reports what the composer lets pass in keys and depth, anywhere in the tree."""
    pending: list[tuple[Node, int]] = [(root, 1)]
    while pending:
        node, depth = pending.pop()
        if type(node) is ScalarNode:
            continue
        if depth > MAX_DEPTH:
            source.error(node, "too-deep", TOO_DEEP, "flatten it")
        elif type(node) is MappingNode:
            _inspect_keys(source, node)
            for key, value in node.value:
                if type(value) is not ScalarNode:
                    pending.append((value, depth + 1))
                if type(key) is not ScalarNode:
                    pending.append((key, depth + 1))
        else:
            pending += [(item, depth + 1) for item in node.value if type(item) is not ScalarNode]


def _is_merge(key: ScalarNode) -> bool:
    return key.value == "<<" and is_plain(key)


def _inspect_keys(source: Source, node: MappingNode) -> None:
    seen: dict[str, Node] = {}
    for key, _ in node.value:
        if type(key) is not ScalarNode:
            source.error(key, "bad-key", "a key must be a plain word", "write 'key: value'")
        elif _is_merge(key):
            source.error(key, "merge-key", "the merge key << is not allowed", "write the keys out")
        elif key.value in seen:
            line, _ = source.position(start(seen[key.value]))
            source.error(
                key, "duplicate-key", f"the key {shown(key.value)} is there already, on line {line}", "keep one"
            )
        else:
            seen[key.value] = key


def _odd_space(source: Source, root: Node) -> int | None:
    """Reports the first plain scalar that swallowed a blank meant as indentation, or as the one after a colon."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, MappingNode):
            pending.extend(part for pair in reversed(node.value) for part in reversed(pair))
        elif isinstance(node, SequenceNode):
            pending.extend(reversed(node.value))
        elif is_plain(node):
            match = SWALLOWED_SPACE.search(source.text[start(node) : int(node.end_mark.index)])
            if match:
                return _report_odd_space(source, start(node) + match.end() - 1)
    return None


def _swallowed_space(text: str, first: int, last: int) -> int | None:
    """Where a blank that is none to YAML stands in front of what it took for a key, between two indexes' lines."""
    line_start = max(text.rfind("\n", 0, first), text.rfind("\r", 0, first)) + 1
    match = SWALLOWED_SPACE.search(text[line_start : last + 1])
    return line_start + match.end() - 1 if match else None


def _report_odd_space(source: Source, at: int) -> int:
    sign = source.text[at]
    name = "a no-break space" if sign == "\xa0" else f"the blank U+{ord(sign):04X}"
    fix = "replace it by an ordinary space"
    source.error(at, "odd-space", f"{name} is no YAML space", fix, edit=Edit(at, at + 1, " "))
    return at
