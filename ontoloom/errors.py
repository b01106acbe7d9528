"""The errors that a user can cause and mend; everything else is a bug and keeps its traceback.

::

    OntoloomError             one line: where, what, how to fix it; exit status 1; a stable code in the API
    ├── SettingsError         a setting or variable is unknown or mistyped
    ├── OntologyError         ontology.yaml, a page or a rules file does not hold; carries the findings
    ├── InputError            a document or table cannot be read
    ├── StoreError            the graph store cannot be opened, or its content is not as it should be
    ├── EngineError           the LLM engine is down, late, or answered what cannot be used
    ├── ProjectionError       an index or columnar table is missing, damaged, or was made with another model
    └── QueryError            a SELECT or a question that cannot be run; carries line and column
"""

from __future__ import annotations


class OntoloomError(Exception):
    """A user's mistake or a condition that a user can mend, said in one line."""

    code = "error"

    def __init__(self, message: str, *, code: str | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class SettingsError(OntoloomError):
    code = "settings"


class OntologyError(OntoloomError):
    code = "ontology"


class InputError(OntoloomError):
    code = "input"


class StoreError(OntoloomError):
    code = "store"


class EngineError(OntoloomError):
    code = "engine"


class ProjectionError(OntoloomError):
    code = "projection"


class QueryError(OntoloomError):
    """A SELECT or question that cannot be run. ``line`` and ``column`` count from 1; 0 when there is no position."""

    code = "query"

    def __init__(
        self, message: str, *, code: str | None = None, hint: str = "", line: int = 0, column: int = 0
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.line = line
        self.column = column

    def __str__(self) -> str:
        where = f"{self.line}:{self.column}: " if self.line else ""
        return where + super().__str__()
