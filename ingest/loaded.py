"""What loading comes to: documents, and what could not be read, with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ontoloom.records import Document, Section


@dataclass(frozen=True, slots=True)
class LoadFailure:
    """A file or row that is not a document. ``source`` names it as a document id would.

    Codes: ``empty binary encoding line-too-long too-large malformed front-matter missing-column no-id duplicate-id
    unknown-suffix unreadable``.
    """

    source: str
    code: str
    message: str


Loaded = Document | LoadFailure


class Unloadable(Exception):
    """Raised inside the loaders where a file or line cannot be read; becomes a :class:`LoadFailure`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How bytes become text. Limits are in bytes; ``language`` is that of documents that do not say theirs."""

    encoding: str = "utf-8"
    language: str = "en"
    max_line_bytes: int = 10_000_000
    max_file_bytes: int = 100_000_000


def join_sections(parts: Sequence[tuple[str, str]]) -> tuple[str, tuple[Section, ...]]:
    """Section texts joined by blank lines, and where each section lies. Neighbours of one name become one section."""
    pieces: list[str] = []
    sections: list[Section] = []
    length = 0
    for name, text in parts:
        start = length + 2 if pieces else 0
        pieces.append(text)
        length = start + len(text)
        if sections and sections[-1].name == name:
            start = sections.pop().start
        sections.append(Section(name, start, length))
    return "\n\n".join(pieces), tuple(sections)


def unique(loaded: Iterator[Loaded]) -> Iterator[Loaded]:
    """The same, with a failure in place of every document whose id was there before."""
    seen: set[str] = set()
    for item in loaded:
        if isinstance(item, Document):
            if item.id in seen:
                yield LoadFailure(item.id, "duplicate-id", f"a document with the id '{item.id}' was loaded before")
                continue
            seen.add(item.id)
        yield item
