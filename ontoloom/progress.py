"""The library never prints; it reports progress through one callback type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` of ``total`` units of ``step``; ``total`` is None while unknown. ``detail`` names the current item."""

    step: str
    done: int
    total: int | None = None
    detail: str = ""


OnProgress = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """The default callback."""
