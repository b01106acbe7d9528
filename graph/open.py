"""Opens a store by its location: a path is an embedded Ladybug database, ``scheme://…`` is what a plug-in opens."""

from __future__ import annotations

import re
from pathlib import Path

from graph.store import Store
from ontology.schema import Ontology
from ontoloom.plugins import load_plugin

EMBEDDED = "ladybug"


def open_store(location: str | Path, ontology: Ontology, *, read_only: bool = False) -> Store:
    """Opens the store at ``location``; an embedded one is made where there is none, unless ``read_only``.

    Raises StoreError where it cannot be opened, SettingsError where no plug-in knows the scheme.
    """
    scheme = re.match(r"([a-z][a-z0-9+.-]*)://", str(location))
    opener = load_plugin("stores", scheme[1] if scheme else EMBEDDED)
    store: Store = opener(str(location), ontology, read_only=read_only)
    return store
