"""Markdown and plain text as documents: where the title, the abstract and the body lie in the file as it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass

from yaml.nodes import MappingNode, ScalarNode

from ingest.loaded import Unloadable
from ontology.strict_yaml import Source, compose, end, entries, start
from ontoloom.records import Section

_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?P<yaml>(?s:.*?))^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<text>.*?))??(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(?P<marks>=+|-+)[ \t]*$")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_LONGEST_TITLE = 150


@dataclass(frozen=True, slots=True)
class Layout:
    """The parts of a text. ``source`` and ``language`` are what its front matter says, else empty."""

    title: str
    sections: tuple[Section, ...]
    source: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    line_start: int
    line_end: int
    start: int
    end: int


def lay_out_markdown(text: str, *, file: str, trusted: bool = False) -> Layout:
    """Title (first heading of level 1, else the front matter's), abstract (what is under such a heading), body.

    The front matter belongs to no section, but where it alone gives the title, that value is the title's span.
    ``trusted``: a wiki page, whose front matter is checked elsewhere. Raises Unloadable.
    """
    body_start, said = _read_front_matter(text, file=file, strict=not trusted)
    headings = list(_headings(text, body_start))
    first = next((h for h in headings if h.level == 1 and h.end > h.start), None)
    named = said.get("name" if trusted else "title")
    title = (first.start, first.end) if first else named or (0, 0)
    sections = [Section("title", *title)] if title[1] > title[0] else []
    cuts = [(first.line_start, first.line_end)] if first else []
    abstract = next((h for h in headings if text[h.start : h.end].strip(" :*").casefold() == "abstract"), None)
    if abstract:
        until = (h.line_start for h in headings if h.line_start > abstract.line_start and h.level <= abstract.level)
        stop = next(until, len(text))
        cuts.append((abstract.line_start, stop))
        sections.append(Section("abstract", abstract.line_end, stop))
    sections += _rest(text, body_start, sorted(cuts))
    naming = named if trusted and named else title
    return Layout(
        title=text[slice(*naming)],
        sections=_trim(text, sections),
        source=text[slice(*said.get("source", (0, 0)))],
        language=text[slice(*said.get("language", (0, 0)))],
    )


def lay_out_text(text: str) -> Layout:
    """Plain text: its first line is the title when it is short, ends no sentence and is followed by a blank line."""
    lines = re.match(r"\s*(?P<title>[^\r\n]+?)[ \t]*(?:\r?\n)[ \t]*\r?\n", text)
    if not lines or len(lines["title"]) > _LONGEST_TITLE or lines["title"][-1] in ".!;:,。！；：":
        return Layout("", _trim(text, [Section("body", 0, len(text))]))
    sections = [Section("title", *lines.span("title")), Section("body", lines.end(), len(text))]
    return Layout(lines["title"], _trim(text, sections))


def _read_front_matter(text: str, *, file: str, strict: bool) -> tuple[int, dict[str, tuple[int, int]]]:
    """Where the text proper starts, and the spans of the front matter's scalars by key."""
    match = _FRONT_MATTER.match(text)
    if not match:
        return 0, {}
    # The opening line is blanked out, so that marks count from the top of the file.
    source = Source(file, " " * 3 + text[3 : match.end("yaml")])
    root = compose(source)
    if strict and source.failed:
        raise Unloadable("front-matter", str(source.findings[0]))
    if not isinstance(root, MappingNode):
        return match.end(), {}
    spans = {}
    for key, (_, node) in entries(root).items():
        if isinstance(node, ScalarNode):
            quotes = len(node.style or "") if node.style in ("'", '"') else 0
            spans[key] = (start(node) + quotes, end(source.text, node) - quotes)
    return match.end(), spans


def _headings(text: str, begin: int) -> list[_Heading]:
    """ATX and underlined headings outside of fenced code."""
    found: list[_Heading] = []
    fence, previous = "", (begin, begin)
    for line in _LINE.finditer(text, begin):
        words = line.group().rstrip("\r\n")
        mark = _FENCE.match(words)
        if mark and (not fence or mark["fence"].startswith(fence)):
            fence = "" if fence else mark["fence"]
        elif not fence:
            atx, under = _ATX.match(words), _UNDERLINE.match(words)
            if atx:
                at = line.start() + (atx.start("text") if atx["text"] else len(words))
                found.append(_Heading(len(atx["marks"]), *line.span(), at, at + len(atx["text"] or "")))
            elif under and text[slice(*previous)].strip():
                level = 1 if under["marks"][0] == "=" else 2
                found.append(_Heading(level, previous[0], line.end(), *_trimmed(text, *previous)))
        is_paragraph = not fence and not mark and not (found and found[-1].line_end == line.end())
        previous = line.span() if is_paragraph else (line.end(), line.end())
    return found


def _rest(text: str, begin: int, cuts: list[tuple[int, int]]) -> list[Section]:
    sections = []
    for start_, end_ in [*cuts, (len(text), len(text))]:
        if text[begin:start_].strip():
            sections.append(Section("body", begin, start_))
        begin = max(begin, end_)
    return sections


def _trim(text: str, sections: list[Section]) -> tuple[Section, ...]:
    trimmed = (Section(s.name, *_trimmed(text, s.start, s.end)) for s in sections)
    return tuple(sorted((s for s in trimmed if s.end > s.start), key=lambda s: s.start))


def _trimmed(text: str, begin: int, stop: int) -> tuple[int, int]:
    words = text[begin:stop]
    first = begin + len(words) - len(words.lstrip())
    return first, max(first, begin + len(words.rstrip()))
