"""A backup: what documents said, and the merges that hold, as lines of JSON in one compressed file.

The first line says what the file is and what is in it, and the last one the checksum of all that stands before it. The
file is as good for any sort of store: a graph is written into one store and read back into another.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from io import IOBase
from pathlib import Path
from typing import Any

import pyarrow as pa

from graph.copy import Copied, StoreSource, holding, transfer
from graph.encode import decode_attributes, decode_claim, decode_value, encode_attributes, encode_claim, value_kind
from graph.store import Merge, Store
from ontology.schema import Ontology
from ontoloom.errors import StoreError
from ontoloom.progress import OnProgress, Progress, silent
from ontoloom.records import (
    Document,
    Entity,
    EntityRef,
    Evidence,
    Extraction,
    Failure,
    Quarantined,
    Section,
    Triple,
    canonical_text,
)

FORMAT = "ontoloom-backup"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Header:
    """What a backup says of itself. ``ontology_text`` is the source of the ontology, where it was at hand."""

    ontology: str
    ontology_version: str
    ontology_hash: str
    ontology_text: str
    digest: str
    documents: int
    triples: int
    merges: int
    change: int
    time: str


def backup(store: Store, path: Path, *, ontology_text: str = "", on_progress: OnProgress = silent) -> Header:
    """Writes all that a store holds to a file. It has its name when it is complete; a file of that name makes way.

    Raises StoreError where the file cannot be written, or the store changes meanwhile.
    """
    header = _describe(store, ontology_text)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        _write_file(unfinished.open("wb"), header, store, on_progress)
        with unfinished.open("rb+") as written:
            os.fsync(written.fileno())
        if store.last_change() != header.change:
            raise StoreError("the store changed while it was backed up", hint="back it up again", code="backup-moving")
        unfinished.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}", code="backup-file") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return header


def restore(path: Path | Archive, store: Store, *, replace: bool = False, on_progress: OnProgress = silent) -> Copied:
    """Makes the graph in a store that of a backup, and compares digests; what is there already is left alone.

    With ``replace`` documents and merges that the backup does not have make way; without, they are an error. Raises
    StoreError where the file is damaged or none of ours, before anything is written.
    """
    archive = path if isinstance(path, Archive) else Archive(path, on_progress=on_progress)
    if archive.header.ontology != store.ontology.name:
        message = f"{archive.path} is of the ontology '{archive.header.ontology}', the store of '{store.ontology.name}'"
        raise StoreError(message, hint="restore it in its own project", code="backup-ontology")
    return transfer(archive, store, replace=replace, on_progress=on_progress)


# Writing


def _describe(store: Store, ontology_text: str) -> Header:
    ontology: Ontology = store.ontology
    change, counts = store.last_change(), store.counts()
    return Header(
        ontology.name,
        ontology.version,
        ontology.hash,
        ontology_text,
        store.digest(),
        counts.documents,
        sum(counts.triples.values()),
        len(holding(store)),
        change,
        datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _write_file(file: IOBase, header: Header, store: Store, on_progress: OnProgress) -> None:
    """Writes and closes it."""
    checksum = blake2b(digest_size=16)
    with pa.CompressedOutputStream(pa.PythonFile(file, "w"), "zstd") as out:

        def write(line: dict[str, Any]) -> None:
            text = json.dumps(line, separators=(",", ":")).encode() + b"\n"
            checksum.update(text)
            out.write(text)

        write({"format": FORMAT, "version": VERSION, **asdict(header)})
        source = StoreSource(store)
        said = source.said()
        for done, extraction in enumerate(source.extractions(list(said))):
            on_progress(Progress("back up documents", done, len(said), extraction.document.id))
            write({"said": said[extraction.document.id], **encode_extraction(extraction)})
        on_progress(Progress("back up documents", len(said), len(said)))
        for merge in source.merges():
            write({"merge": asdict(merge)})
        write({"checksum": checksum.hexdigest()})


def encode_extraction(extraction: Extraction) -> dict[str, Any]:
    """An extraction as JSON knows it; ``decode_extraction`` takes it back."""
    d = extraction.document
    pieces: dict[str, list[Any]] = {}
    for e in extraction.evidence:
        piece = [e.start, e.end, e.extractor, e.source, float(e.confidence), e.ontology_version]
        pieces.setdefault(e.triple, []).append(piece)
    return {
        "document": [d.id, d.source, d.title, d.text, d.kind, d.language],
        "sections": [[s.name, s.start, s.end] for s in d.sections],
        "fingerprint": extraction.fingerprint,
        "entities": [[e.id, e.type, e.name, list(e.aliases), e.page == d.id] for e in extraction.entities],
        "triples": [[*_encode_triple(t), pieces.get(t.id, [])] for t in extraction.triples],
        "quarantined": [[encode_claim(q.claim), q.code, q.message, q.ontology_version] for q in extraction.quarantined],
        "failures": [[f.where, f.code, f.message] for f in extraction.failures],
    }


def _encode_triple(triple: Triple) -> list[Any]:
    value = triple.object.id if isinstance(triple.object, EntityRef) else canonical_text(triple.object)
    attributes = encode_attributes(triple.attributes)
    return [triple.subject, triple.relation, value_kind(triple.object), value, attributes, list(triple.identifying)]


def decode_extraction(line: dict[str, Any]) -> Extraction:
    """The extraction that ``encode_extraction`` wrote."""
    document_id, source, title, text, kind, language = line["document"]
    sections = tuple(Section(*section) for section in line["sections"])
    document = Document(document_id, source, title, text, sections, kind, language)
    triples, evidence = [], []
    for subject, relation, value_type, value, attributes, identifying, pieces in line["triples"]:
        found = EntityRef(value) if value_type == "entity" else decode_value(value_type, value)
        triple = Triple(subject, relation, found, decode_attributes(attributes), tuple(identifying))
        triples.append(triple)
        evidence += [Evidence(triple.id, document_id, *piece) for piece in pieces]
    return Extraction(
        document,
        tuple(
            Entity(entity, type_name, name, tuple(aliases), document_id if defines else None)
            for entity, type_name, name, aliases, defines in line["entities"]
        ),
        tuple(triples),
        tuple(evidence),
        tuple(
            Quarantined(document_id, decode_claim(claim), code, message, version)
            for claim, code, message, version in line["quarantined"]
        ),
        tuple(Failure(*failure) for failure in line["failures"]),
        line["fingerprint"],
    )


# Reading


class Archive:
    """A backup that was read through once, and holds (``graph.copy.Source``). Raises StoreError where it does not."""

    def __init__(self, path: Path, *, on_progress: OnProgress = silent) -> None:
        self.path = path
        self._said: dict[str, str] = {}
        self._merges: list[Merge] = []
        self.header = self._read_through(on_progress)

    def said(self) -> dict[str, str]:
        return self._said

    def merges(self) -> list[Merge]:
        return self._merges

    def digest(self) -> str:
        return self.header.digest

    def extractions(self, documents: Sequence[str]) -> Iterator[Extraction]:
        wanted = set(documents)
        with _open_lines(self.path) as lines:
            for _, line in lines:
                if "document" in line and line["document"][0] in wanted:
                    yield decode_extraction(line)

    def _read_through(self, on_progress: OnProgress) -> Header:
        """Compares the checksum, which stands at the end, with that of all lines before it; then believes the first."""
        checksum, stated = blake2b(digest_size=16), None
        with _open_lines(self.path) as lines:
            first: Any
            text, first = next(lines, (b"", None))
            readable = isinstance(first, dict) and (first.get("format"), first.get("version")) == (FORMAT, VERSION)
            total = first["documents"] if readable else None
            checksum.update(text)
            for text, line in lines:
                if isinstance(line, dict) and "checksum" in line:
                    stated = line["checksum"]
                    break
                checksum.update(text)
                if readable and "merge" in line:
                    self._merges.append(Merge(**line["merge"]))
                elif readable:
                    self._said[line["document"][0]] = line["said"]
                    on_progress(Progress("check the backup", len(self._said), total))
            if stated is None and not readable:
                return self._header(first)
            if stated != checksum.hexdigest() or next(lines, None) is not None:
                raise _damaged(self.path, "it is cut off" if stated is None else "its checksum does not match")
        return self._header(first)

    def _header(self, line: Any) -> Header:
        if not isinstance(line, dict) or line.pop("format", None) != FORMAT:
            raise _foreign(self.path)
        version = line.pop("version", None)
        if version != VERSION:
            message = f"{self.path} is a backup of format {version}, this ontoloom reads {VERSION}"
            raise StoreError(message, hint="use the ontoloom that wrote it", code="backup-version")
        return Header(**line)


@contextmanager
def _open_lines(path: Path) -> Iterator[Iterator[tuple[bytes, Any]]]:
    """The lines of a backup, as bytes and as JSON. Whatever cannot be read on the way is one error."""
    try:
        with path.open("rb") as file:
            if file.read(4) != b"\x28\xb5\x2f\xfd":  # what a zstd frame begins with (RFC 8878, 3.1.1)
                raise _foreign(path)
            file.seek(0)
            with pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd") as stream:
                yield _lines(stream)
    except (pa.ArrowException, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise _damaged(path, " ".join(str(error).split())) from None
    except OSError as error:
        if error.strerror is None:  # what Arrow says of a stream that it cannot decompress
            raise _damaged(path, " ".join(str(error).split())) from None
        raise StoreError(f"{path}: cannot be read: {error.strerror}", code="backup-file") from None


def _lines(stream: pa.NativeFile) -> Iterator[tuple[bytes, Any]]:
    rest = b""
    while chunk := stream.read(2**20):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line + b"\n", json.loads(line)
    if rest:
        raise ValueError("it is cut off")


def _foreign(path: Path) -> StoreError:
    return StoreError(
        f"{path} is not a backup of ontoloom", hint="ontoloom store backup writes one", code="not-a-backup"
    )


def _damaged(path: Path, why: str) -> StoreError:
    return StoreError(f"{path} is damaged: {why}", hint="use another backup", code="backup-damaged")
