"""What a check found: where, a stable code, what is wrong and what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal, NamedTuple

from ontoloom.errors import OntologyError

Severity = Literal["error", "warning"]


class Edit(NamedTuple):
    """What puts a file right: ``text`` in the place of its characters from ``start`` to ``end``, in code points."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One finding. ``line`` and ``column`` count from 1, from the top of the file, in code points.

    ``fix`` is what would be right, in words a person can act on; empty when there is no proposal.
    """

    file: str
    line: int
    column: int
    code: str
    message: str
    fix: str = ""
    severity: Severity = "error"
    edit: Edit | None = field(default=None, compare=False, repr=False)
    """Where there is one right answer that needs no judgement."""

    def __str__(self) -> str:
        proposal = f"; {self.fix}" if self.fix else ""
        return f"{self.file}:{self.line}:{self.column}: {self.severity}[{self.code}] {self.message}{proposal}"


class FindingsError(OntologyError):
    """Raised where something must hold and does not; carries every finding, so that all can be mended at once."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        first = self.findings[0]
        more = f" (and {len(self.findings) - 1} more)" if len(self.findings) > 1 else ""
        super().__init__(f"{first}{more}", code=first.code)


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name that is most like ``name``, case aside; None when none is near."""
    by_folded = {k.casefold(): k for k in known}
    close = get_close_matches(name.casefold(), list(by_folded), n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """``did you mean 'X'?``, else the known names when they are few, else nothing."""
    close = nearest(name, known)
    if close is not None:
        return f"did you mean '{close}'?" + (f" {odd}" if (odd := foreign_letter(name, close)) else "")
    return f"known: {', '.join(known)}" if 0 < len(known) <= 12 else ""


def foreign_letter(name: str, right: str) -> str:
    """Which letter of a name only looks like that of the right one; empty where none does."""
    pairs = zip(name.casefold(), right.casefold(), strict=True) if len(name) == len(right) else ()
    odd = next((name[at] for at, (a, b) in enumerate(pairs) if a != b and a.isalpha() and not a.isascii()), "")
    return f"'{odd}' is U+{ord(odd):04X}, a letter of another script" if odd and right.isascii() else ""


def shown(value: object, *, limit: int = 60) -> str:
    """A value as messages show it: quoted, on one line, cut when long."""
    text = value if isinstance(value, str) else str(value)
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return "'" + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text) + "'"
