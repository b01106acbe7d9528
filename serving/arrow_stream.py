"""Rows of a SELECT on their way over HTTP: an Arrow stream, whose schema's metadata holds what is known of the rows."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from typing_extensions import Buffer

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
BATCH_ROWS = 10_000
KEY = b"ontoloom"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows with their columns' names and types. ``change`` is the number of the change that they are of."""

    columns: Sequence[tuple[str, str]]
    rows: pa.Table
    truncated: bool
    change: int


def write_stream(found: Rows) -> Iterator[bytes]:
    """The bytes of a stream, batch by batch."""
    columns = [{"name": name, "type": kind} for name, kind in found.columns]
    about = {"columns": columns, "truncated": found.truncated, "change": found.change}
    table = found.rows.replace_schema_metadata({KEY: json.dumps(about, ensure_ascii=False)})
    sink = Sink()
    with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), table.schema) as writer:
        for batch in table.to_batches(max_chunksize=BATCH_ROWS):
            writer.write_batch(batch)
            yield sink.take()
    yield sink.take()


def read_stream(content: bytes) -> Rows:
    """What ``write_stream`` wrote. Raises ValueError for anything else."""
    try:
        with pa.ipc.open_stream(content) as reader:
            table = reader.read_all()
        about = json.loads((table.schema.metadata or {})[KEY])
        columns = [(column["name"], column["type"]) for column in about["columns"]]
        return Rows(columns, table.replace_schema_metadata(None), about["truncated"], about["change"])
    except (pa.ArrowInvalid, OSError, KeyError, TypeError) as error:
        raise ValueError(str(error)) from error


class Sink(io.RawIOBase):
    """A file that gives back what was written to it since last time."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer) -> int:
        part = bytes(data)
        self._parts.append(part)
        return len(part)

    def take(self) -> bytes:
        found, self._parts = b"".join(self._parts), []
        return found
