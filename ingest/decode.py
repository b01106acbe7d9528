"""Bytes to text, strictly: what is not text, or not in the stated encoding, is said with line and byte."""

from __future__ import annotations

import codecs
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ingest.loaded import LoadOptions, Unloadable
from ontoloom.errors import InputError

SNIFFED_BYTES = 8192
WIDE_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
BINARY_MARKS = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\x1f\x8b")


def check_encoding(encoding: str) -> None:
    """Raises InputError for an encoding that Python does not know, or that does not decode bytes to text."""
    try:
        b"a".decode(encoding)
    except LookupError:
        hint = "name one such as utf-8, latin-1, cp1252, utf-16 or gb18030"
        raise InputError(f"unknown encoding '{encoding}'", hint=hint) from None
    except UnicodeDecodeError:
        pass  # it is known, and one byte is too little for it


def read_text(path: Path, *, options: LoadOptions) -> str:
    """The whole of a file as text, without a byte order mark. Raises Unloadable, OSError."""
    size = path.stat().st_size
    if size > options.max_file_bytes:
        raise Unloadable("too-large", f"{size} bytes; the limit is {options.max_file_bytes} (max_file_bytes)")
    data = path.read_bytes()
    check_is_text(data[:SNIFFED_BYTES], encoding=options.encoding)
    text = decode(data, encoding=options.encoding, line=1, offset=0).removeprefix("\ufeff")
    if "\0" in text:
        raise Unloadable("binary", f"line {text[: text.index(chr(0))].count(chr(10)) + 1} holds a NUL character")
    if not text.strip():
        raise Unloadable("empty", "nothing in it")
    return text


def check_is_text(head: bytes, *, encoding: str) -> None:
    """Raises Unloadable when the first bytes of a file are those of no text, or of one in UTF-16."""
    if not head:
        raise Unloadable("empty", "nothing in it")
    if is_wide(encoding):
        return
    if head[:2] in WIDE_MARKS:
        raise Unloadable("encoding", f"is in UTF-16, not in {encoding}; say so: --encoding {WIDE_MARKS[head[:2]]}")
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head)
    if b"\0" in head or head.startswith(BINARY_MARKS) or controls * 10 > len(head):
        raise Unloadable("binary", "is binary, not text")


def decode(data: bytes, *, encoding: str, line: int, offset: int) -> str:
    """Text of bytes that begin at ``line`` (from 1) and byte ``offset`` of their file. Raises Unloadable."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        at = line + data.count(b"\n", 0, error.start)
        raise Unloadable(
            "encoding",
            f"line {at}, byte {offset + error.start}: not valid {encoding}; "
            "if it is in another encoding, name it, for example --encoding latin-1",
        ) from None


def is_wide(encoding: str) -> bool:
    """Whether a line feed takes more than one byte, so that bytes cannot be cut into lines before decoding."""
    return "\n".encode(encoding) != b"\n"


@contextmanager
def open_lines(path: Path, *, options: LoadOptions) -> Iterator[Lines]:
    """The lines of a file, read as they are asked for. Raises Unloadable, OSError."""
    with path.open("rb") as stream:
        check_is_text(stream.read(SNIFFED_BYTES), encoding=options.encoding)
        stream.seek(0)
        if not is_wide(options.encoding):
            yield Lines(stream, encoding=options.encoding, limit=options.max_line_bytes)
            return
        with tempfile.TemporaryFile() as narrow:
            rewrite_as_utf8(stream, narrow, encoding=options.encoding)
            yield Lines(narrow, encoding="utf-8", limit=options.max_line_bytes)


def rewrite_as_utf8(source: BinaryIO, target: BinaryIO, *, encoding: str) -> None:
    """Writes a stream again in UTF-8 and rewinds it. Raises Unloadable."""
    decoder = codecs.getincrementaldecoder(encoding)()
    offset = 0
    while block := source.read(1 << 20):
        try:
            target.write(decoder.decode(block).encode())
        except UnicodeError:
            raise Unloadable("encoding", f"not valid {encoding} at or after byte {offset}") from None
        offset += len(block)
    target.seek(0)


class Lines:
    """An iterator over the lines of a stream that holds one line at a time, none longer than ``limit`` bytes.

    ``number`` is that of the last line read. A line that cannot be read raises Unloadable; the next call goes on
    with the line after it.
    """

    def __init__(self, stream: BinaryIO, *, encoding: str, limit: int) -> None:
        self.number = 0
        self._stream = stream
        self._encoding = encoding
        self._limit = limit
        self._offset = 0

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        data = self._stream.readline(self._limit + 1)
        if not data:
            raise StopIteration
        self.number += 1
        offset = self._offset
        self._offset += len(data)
        if len(data) > self._limit and not data.endswith(b"\n"):
            self._skip_line()
            raise Unloadable(
                "line-too-long", f"line {self.number} is longer than {self._limit} bytes, the limit (max_line_bytes)"
            )
        text = decode(data, encoding=self._encoding, line=self.number, offset=offset)
        if "\0" in text:
            raise Unloadable("binary", f"line {self.number} holds a NUL character")
        return text.removeprefix("\ufeff") if offset == 0 else text

    def _skip_line(self) -> None:
        while data := self._stream.readline(1 << 20):
            self._offset += len(data)
            if data.endswith(b"\n"):
                return
