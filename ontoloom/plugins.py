"""Plug-ins are plain entry points. The parts that ontoloom brings are found in the same way as anyone else's.

::

    ontoloom.stores       scheme    (location, ontology, *, read_only) -> graph.store.Store
    ontoloom.embedders    name      () -> ontoloom.protocols.Embedder
    ontoloom.engines      scheme    (url, *, model) -> ontoloom.protocols.Engine
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import Any, Literal

from ontoloom.errors import SettingsError

Group = Literal["stores", "loaders", "extractors", "embedders", "searchers", "engines"]


def plugin_names(group: Group) -> list[str]:
    """The names that are installed in a group, sorted."""
    return sorted({point.name for point in entry_points(group=f"ontoloom.{group}")})


def load_plugin(group: Group, name: str) -> Any:
    """The object that a plug-in's entry point names.

    Raises SettingsError where there is none of that name, several that differ, or where it cannot be imported.
    """
    found = entry_points(group=f"ontoloom.{group}", name=name)
    if not found:
        known = plugin_names(group)
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"installed: {', '.join(known) or 'none'}"
        raise SettingsError(f"no plug-in '{name}' among ontoloom.{group}", hint=hint, code="unknown-plugin")
    targets = sorted({point.value for point in found})
    if len(targets) > 1:
        raise SettingsError(
            f"several plug-ins of ontoloom.{group} are called '{name}': {', '.join(targets)}",
            hint="uninstall all but one",
        )
    try:
        return next(iter(found)).load()
    except (ImportError, AttributeError) as error:
        raise SettingsError(f"the plug-in '{name}' of ontoloom.{group} cannot be imported: {error}") from error
