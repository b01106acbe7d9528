"""Documents put aside on disk while the wiki pages among them are gathered, so that memory stays bounded."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from ontoloom.records import Document


class Spool:
    """A temporary file of documents, written once and read in the same order; gone when closed."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="ontoloom-")  # noqa: SIM115 (closed by our own __exit__)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, document: Document) -> None:
        pickle.dump(document, self._file, protocol=pickle.HIGHEST_PROTOCOL)
        self._count += 1

    def __iter__(self) -> Iterator[Document]:
        self._file.seek(0)
        for _ in range(self._count):
            yield pickle.load(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
