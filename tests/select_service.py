"""A project with the bundled example in its graph, and a real server over it that answers SELECTs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import uvicorn

from retrieval.index import VectorIndex
from serving.access import writing
from serving.http import Parts, make_app
from serving.scaffold import copy_example
from serving.settings import Settings, read_settings
from serving.wiring import find_ontology, open_columns, run_ingest

TRAINED = """\
-- Models that were trained with a method.
-- param method: Model.training_method = 'DPO'
SELECT name FROM Model WHERE training_method = $method ORDER BY name
"""


def make_project(folder: Path) -> Settings:
    """The example, read with its rules, and a saved view."""
    copy_example(folder)
    (folder / "views" / "trained.sql").write_text(TRAINED)
    settings = read_settings({"project": folder, "engine": "none"})
    run_ingest(settings, [], use_llm=False, index=False)
    return settings


@contextmanager
def serving(settings: Settings) -> Iterator[tuple[str, Parts]]:
    """The address of a server that runs in a thread. It has no vectors: SELECT needs none."""
    with writing(settings, find_ontology(settings), command="serve") as store:
        no_vectors = cast("VectorIndex", None)
        parts = Parts(settings, store, open_columns(settings, store), no_vectors, threading.Lock())
        config = uvicorn.Config(make_app(parts), port=0, log_level="error", timeout_graceful_shutdown=5)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", parts
        finally:
            server.should_exit = True
            thread.join()
