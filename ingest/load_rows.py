"""Records of CSV, TSV, JSON and JSON lines as documents, through a column mapping."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ingest.column_mapping import ColumnMapping, check_columns, guess_mapping
from ingest.decode import Lines, open_lines, read_text
from ingest.loaded import Loaded, LoadFailure, LoadOptions, Unloadable, join_sections
from ontology.findings import did_you_mean
from ontoloom.errors import InputError
from ontoloom.records import Document

Row = Mapping[str, Any]
Numbered = tuple[int, str | None, Row | Unloadable]
"""Number of a record from 1, its key where the file gives one, and the record or why it cannot be read."""

_CSV_FAULTS = {"unexpected end of data": "a quote that is opened here is never closed"}


def load_rows(
    file: str, records: Iterator[Numbered], *, mapping: ColumnMapping | None, language: str
) -> Iterator[Loaded]:
    """Documents named ``file#id``, or ``file#number`` where no id is mapped. Raises InputError."""
    missing: set[str] | None = None
    seen = 0
    for number, key, row in records:
        seen = number
        if isinstance(row, Unloadable):
            yield LoadFailure(f"{file}#{number}", row.code, row.message)
            continue
        mapping = mapping or guess_mapping(row)
        missing = set(mapping.columns()) - row.keys() if missing is None else missing - row.keys()
        try:
            yield read_row(row, file=file, number=number, key=key, mapping=mapping, language=language)
        except Unloadable as error:
            yield LoadFailure(f"{file}#{number}", error.code, f"record {number}: {error.message}")
    if not seen:
        yield LoadFailure(file, "empty", "there is no record in it")
    for column in sorted(missing or ()):
        yield LoadFailure(file, "missing-column", f"no record has the mapped column '{column}'")


def read_row(row: Row, *, file: str, number: int, key: str | None, mapping: ColumnMapping, language: str) -> Document:
    """One record as a document: the mapped columns joined by blank lines, each in its section. Raises Unloadable."""
    labels = dict(mapping.labels)
    parts = [(section, cell_text(row, column, labels=labels.get(column))) for section, column in mapping.sections()]
    text, sections = join_sections([(section, part) for section, part in parts if part])
    if not text:
        raise Unloadable("empty", "its mapped columns are empty")
    if "\0" in text:
        raise Unloadable("binary", "its text holds a NUL character")
    row_id = key if mapping.id is None else cell_text(row, mapping.id)
    if row_id == "":
        raise Unloadable("no-id", f"its id column '{mapping.id}' is empty")
    document_id = f"{file}#{number if row_id is None else row_id}"
    title = next((part for section, part in parts if section == "title" and part), "")
    return Document(
        id=document_id,
        source=(cell_text(row, mapping.source) if mapping.source else "") or file,
        title=title or document_id,
        text=text,
        sections=sections,
        language=(cell_text(row, mapping.language) if mapping.language else "") or language,
    )


def cell_text(row: Row, column: str, *, labels: str | None = None) -> str:
    """The text of a cell. The strings of a list are joined by blank lines, each after its label. Raises Unloadable."""
    value = row.get(column)
    if isinstance(value, list):
        items = [_scalar_text(item, column) for item in value]
        names = row.get(labels) if labels else None
        if isinstance(names, list) and len(names) == len(items):
            items = [f"{_scalar_text(name, column)}: {item}" for name, item in zip(names, items, strict=True)]
        return "\n\n".join(item for item in items if item)
    return _scalar_text(value, column)


def _scalar_text(value: object, column: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | dict | list):
        raise Unloadable("malformed", f"the column '{column}' does not hold text")
    text = str(value).strip()
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Unloadable("encoding", f"the column '{column}' holds half of a surrogate pair") from None
    return text


def read_header(path: Path, *, options: LoadOptions) -> list[str]:
    """The column names of a CSV or TSV file. Raises Unloadable, OSError."""
    with open_lines(path, options=options) as lines:
        return _header(lines, tabs=path.suffix.lower() == ".tsv")[0]


def read_csv(path: Path, *, mapping: ColumnMapping | None, options: LoadOptions, where: str) -> Iterator[Numbered]:
    """Records of a CSV or TSV file with a header line, one at a time. Raises InputError, Unloadable, OSError."""
    # The module's own limit, for the whole process, is 128 KiB; ours bounds each line, and a quoted field that is
    # never closed, at the same size.
    csv.field_size_limit(max(csv.field_size_limit(), options.max_line_bytes))
    with open_lines(path, options=options) as lines:
        header, rows = _header(lines, tabs=path.suffix.lower() == ".tsv")
        check_columns(mapping or guess_mapping(header), header, where=where)
        number = 0
        while True:
            line = lines.number + 1
            try:
                cells = next(rows)
            except StopIteration:
                return
            except Unloadable as error:
                number += 1
                yield number, None, error
                continue
            except csv.Error as error:
                number += 1
                yield number, None, Unloadable("malformed", f"line {line}: {_CSV_FAULTS.get(str(error), error)}")
                continue
            if not cells:
                continue
            number += 1
            if len(cells) != len(header):
                message = f"line {line}: {len(cells)} fields, but the header has {len(header)}"
                yield number, None, Unloadable("malformed", message)
            else:
                yield number, None, dict(zip(header, cells, strict=True))


def _header(lines: Lines, *, tabs: bool) -> tuple[list[str], Iterator[list[str]]]:
    first = next(lines, "")
    delimiter = "\t" if tabs else max(",;\t", key=first.count)
    rows = csv.reader(_After(first, lines), delimiter=delimiter, strict=True)
    header = next(rows, [])
    if not any(name.strip() for name in header):
        raise Unloadable("empty", "it has no header line")
    return [name.strip() for name in header], rows


class _After:
    """One line, then the others. A class, because a generator would end at the first line that cannot be read."""

    def __init__(self, first: str, rest: Lines) -> None:
        self._first: str | None = first
        self._rest = rest

    def __iter__(self) -> _After:
        return self

    def __next__(self) -> str:
        if self._first is not None:
            line, self._first = self._first, None
            return line
        return next(self._rest)


def read_json_lines(path: Path, *, options: LoadOptions) -> Iterator[Numbered]:
    """Records of a JSON lines file, one at a time. Raises Unloadable, OSError."""
    number = 0
    with open_lines(path, options=options) as lines:
        while True:
            try:
                line = next(lines)
            except StopIteration:
                return
            except Unloadable as error:
                number += 1
                yield number, None, error
                continue
            if not line.strip():
                continue
            number += 1
            try:
                record = parse_json(line.strip(), line=lines.number)
                if not isinstance(record, dict):
                    raise Unloadable("malformed", f"line {lines.number} is not a JSON object")
                yield number, None, record
            except Unloadable as error:
                yield number, None, error


def read_json(path: Path, *, mapping: ColumnMapping | None, options: LoadOptions) -> Iterator[Numbered]:
    """Records of a JSON file: a list of objects, an object of objects by id, or one object. Raises as ``read_csv``."""
    content = parse_json(read_text(path, options=options), line=1)
    records: list[tuple[str | None, Any]]
    if isinstance(content, list) and content:
        records = [(None, record) for record in content]
    elif isinstance(content, dict) and content and all(isinstance(v, dict) for v in content.values()):
        records = list(content.items())
    elif isinstance(content, dict) and content:
        records = [(None, content)]
    else:
        raise Unloadable("empty" if not content else "malformed", "it holds no list or object of records")
    columns = list(dict.fromkeys(name for _, record in records if isinstance(record, dict) for name in record))
    for column in (mapping or guess_mapping(columns)).columns():
        if column not in columns:
            hint = did_you_mean(column, columns) or f"known: {', '.join(columns[:12])}"
            raise InputError(f"no record has the mapped column '{column}'", code="missing-column", hint=hint)
    for number, (key, record) in enumerate(records, start=1):
        fault = Unloadable("malformed", f"record {number} is not a JSON object")
        yield number, key, record if isinstance(record, dict) else fault


def parse_json(text: str, *, line: int) -> Any:
    """JSON, strictly: a key that is there twice is an error. ``line`` is where the text starts. Raises Unloadable."""
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        where = f"line {line + error.lineno - 1}, column {error.colno}"
        raise Unloadable("malformed", f"{where}: not JSON: {error.msg}") from None
    except RecursionError:
        raise Unloadable("malformed", f"line {line}: nested too deep") from None
    except ValueError as error:
        raise Unloadable("malformed", f"line {line}: {error}") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [key for key, _ in pairs]
        raise ValueError(f"the key '{next(n for n in names if names.count(n) > 1)}' is there twice")
    return record
