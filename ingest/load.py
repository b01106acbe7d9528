"""Files and folders to documents. What cannot be read is a failure with its reason, beside the documents that can."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.column_mapping import ColumnMapping, check_columns, guess_mapping
from ingest.decode import check_encoding, read_text
from ingest.load_markdown import lay_out_markdown, lay_out_text
from ingest.load_rows import Numbered, load_rows, read_csv, read_header, read_json, read_json_lines
from ingest.loaded import Loaded, LoadFailure, LoadOptions, Unloadable, unique
from ontoloom.errors import InputError
from ontoloom.records import Document

__all__ = ["ColumnMapping", "LoadFailure", "LoadOptions", "Loaded", "count", "load"]

MARKDOWN = (".md", ".markdown")
DELIMITED = (".csv", ".tsv")
JSON_LINES = (".jsonl", ".ndjson")
SUFFIXES = (*MARKDOWN, ".txt", *DELIMITED, ".json", *JSON_LINES)
WIKI = "wiki"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    id: str
    in_wiki: bool


def load(
    paths: Sequence[Path],
    *,
    mapping: ColumnMapping | None = None,
    encoding: str = "utf-8",
    language: str = "en",
    max_line_bytes: int = 10_000_000,
    max_file_bytes: int = 100_000_000,
) -> Iterator[Loaded]:
    """Documents of files and folders, in the order of ``paths`` and within a folder by name.

    A file below a given folder has its path there as id; a file given by itself its name; a row of a table
    ``file#id``. A Markdown file in or below a folder named ``wiki`` is a page. CSV and JSON lines are read by line.
    Without a mapping the usual column names are taken (``id title abstract body text source url language``).

    Raises InputError at once for a path that is not there, a folder without documents, an unknown encoding, and
    a CSV file that lacks a mapped column; a JSON file that lacks one is a failure when its turn comes.
    """
    options = LoadOptions(encoding, language, max_line_bytes, max_file_bytes)
    check_encoding(encoding)
    files = find_files(paths)
    for file in files:
        _check_header(file, mapping=mapping, options=options)
    return unique(item for file in files for item in _load_file(file, mapping=mapping, options=options))


def count(paths: Sequence[Path], *, mapping: ColumnMapping | None = None, encoding: str = "utf-8") -> int:
    """About how many documents ``load`` will come to, for a progress bar: rows of tables, other files as one."""
    total = 0
    for file in find_files(paths):
        suffix = file.path.suffix.lower()
        options = LoadOptions(encoding)
        try:
            if suffix in DELIMITED:
                total += sum(1 for _ in read_csv(file.path, mapping=mapping, options=options, where=file.id))
            elif suffix in JSON_LINES:
                total += sum(1 for _ in read_json_lines(file.path, options=options))
            elif suffix == ".json":
                total += sum(1 for _ in read_json(file.path, mapping=mapping, options=options))
            else:
                total += 1
        except (Unloadable, InputError, OSError):
            total += 1
    return total


def find_files(paths: Sequence[Path]) -> list[_File]:
    """The files to load. Raises InputError for a path that is not there and a folder in which nothing can be loaded."""
    found: list[_File] = []
    for path in paths:
        if path.is_dir():
            within = _walk(path)
            if not within:
                raise InputError(f"{path}: no documents in this folder", hint=f"loaded are {' '.join(SUFFIXES)}")
            found += within
        elif path.exists():
            found.append(_File(path, path.name, path.resolve().parent.name == WIKI))
        else:
            raise InputError(f"{path}: no such file or folder")
    return found


def _walk(folder: Path) -> list[_File]:
    found: list[_File] = []
    is_wiki = folder.resolve().name == WIKI
    passed_over: Counter[str] = Counter()
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(parent, name)
            if name.startswith(".") or name.upper().startswith("README"):
                continue
            if path.suffix.lower() in SUFFIXES:
                relative = path.relative_to(folder)
                found.append(_File(path, relative.as_posix(), is_wiki or WIKI in relative.parts[:-1]))
            elif path.suffix.lower() not in (".yaml", ".yml", ".toml", ".sql"):
                passed_over[path.suffix.lower() or name] += 1
    if passed_over:
        kinds = ", ".join(f"{n} {suffix}" for suffix, n in sorted(passed_over.items()))
        logger.warning("%s: passed over files of kinds that are not loaded: %s", folder, kinds)
    return sorted(found, key=lambda file: file.id)


def _check_header(file: _File, *, mapping: ColumnMapping | None, options: LoadOptions) -> None:
    if file.path.suffix.lower() not in DELIMITED:
        return
    try:
        header = read_header(file.path, options=options)
    except (Unloadable, OSError):
        return  # said when the file's turn comes
    check_columns(mapping or _guess(header, file), header, where=file.id)


def _guess(header: list[str], file: _File) -> ColumnMapping:
    try:
        return guess_mapping(header)
    except InputError as error:
        raise InputError(f"{file.id}: {error.message}", hint=error.hint) from None


def _load_file(file: _File, *, mapping: ColumnMapping | None, options: LoadOptions) -> Iterator[Loaded]:
    try:
        if file.path.suffix.lower() in (*MARKDOWN, ".txt"):
            yield _load_document(file, options)
        else:
            records = _read_records(file, mapping=mapping, options=options)
            yield from load_rows(file.id, records, mapping=mapping, language=options.language)
    except Unloadable as error:
        yield LoadFailure(file.id, error.code, error.message)
    except InputError as error:
        yield LoadFailure(file.id, "missing-column", str(error))
    except OSError as error:
        yield LoadFailure(file.id, "unreadable", error.strerror or str(error))


def _load_document(file: _File, options: LoadOptions) -> Document:
    text = read_text(file.path, options=options)
    is_markdown = file.path.suffix.lower() in MARKDOWN
    is_page = is_markdown and file.in_wiki
    layout = lay_out_markdown(text, file=file.id, trusted=is_page) if is_markdown else lay_out_text(text)
    return Document(
        id=file.id,
        source=layout.source or file.id,
        title=layout.title or file.path.stem,
        text=text,
        sections=layout.sections,
        kind="page" if is_page else "document",
        language=layout.language or options.language,
    )


def _read_records(file: _File, *, mapping: ColumnMapping | None, options: LoadOptions) -> Iterator[Numbered]:
    suffix = file.path.suffix.lower()
    if suffix in DELIMITED:
        return read_csv(file.path, mapping=mapping, options=options, where=file.id)
    if suffix in JSON_LINES:
        return read_json_lines(file.path, options=options)
    if suffix == ".json":
        return read_json(file.path, mapping=mapping, options=options)
    raise Unloadable("unknown-suffix", f"files of this kind are not loaded; loaded are {' '.join(SUFFIXES)}")
