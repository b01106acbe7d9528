"""ontoloom's packages have plain names; another package of the same name must not stand in for one of them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

SIBLINGS = ("ontology", "graph", "ingest", "retrieval", "serving")


class IntruderError(ImportError):
    """Another package is found in place of one of ontoloom's."""


def check_siblings(parent: Path, names: Sequence[str] = SIBLINGS) -> None:
    """Raises IntruderError in one line unless Python finds each package directly below ``parent``."""
    for name in names:
        spec = find_spec(name)
        if spec is None:
            raise IntruderError(f"ontoloom's package '{name}' is missing from {parent}; install ontoloom again")
        found = Path(spec.origin or next(iter(spec.submodule_search_locations or ()), "built-in"))
        if found.resolve() != (parent / name / "__init__.py").resolve():
            raise IntruderError(
                f"Python finds {found} in place of ontoloom's own package '{name}'; "
                f"rename it, uninstall it, or take its folder off PYTHONPATH"
            )
