"""A real Neo4j for tests: started once, emptied between tests, killed and started again where a test wants that."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from graph.neo4j_session import quote
from serving import neo4j_server
from serving.processes import session_members
from serving.settings import default_cache

if TYPE_CHECKING:
    from neo4j import Driver

SETTINGS = {
    "db.tx_log.preallocate": "false",
    "db.tx_log.rotation.size": "16m",
    # Else every test plans its queries again, for a handful of nodes more or less.
    "dbms.cypher.min_replan_interval": "1h",
}
EMPTY = "MATCH (n) WITH n LIMIT 20000 DETACH DELETE n RETURN count(*) AS gone"


class LiveServer:
    """A server without a password on one port and one folder, whatever process it runs in just now."""

    def __init__(self, home: Path, version: str, *, heap: str = "512m") -> None:
        self.home = home
        self.version = version
        self._heap = heap
        self.process = self._start(None)

    @property
    def url(self) -> str:
        """For the driver: ``bolt://127.0.0.1:port``."""
        return self.process.url

    @property
    def location(self) -> str:
        """For ``open_store``: ``neo4j://127.0.0.1:port``."""
        return neo4j_server.store_location(self.process)

    def driver(self) -> Driver:
        from neo4j import GraphDatabase

        return GraphDatabase.driver(self.url)

    def clear(self) -> None:
        """Deletes every node and edge."""
        with self.driver() as driver:
            while driver.execute_query(EMPTY).records[0]["gone"]:
                pass

    def empty(self) -> None:
        """Deletes every node, edge, constraint and index."""
        self.clear()
        with self.driver() as driver:
            for record in driver.execute_query("SHOW CONSTRAINTS YIELD name").records:
                driver.execute_query(f"DROP CONSTRAINT {quote(record['name'])}")
            for record in driver.execute_query("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'").records:
                driver.execute_query(f"DROP INDEX {quote(record['name'])}")

    def kill(self) -> None:
        """SIGKILL; returns when the process is gone."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)
        while neo4j_server.running(self.home) is not None:
            time.sleep(0.05)

    def restart(self) -> None:
        """Starts it again on the same folder and port, and waits until it answers."""
        self.process = self._start(self.process.port)

    def stop(self) -> None:
        neo4j_server.stop(self.home)
        assert not session_members(self.process.pid)

    def _start(self, port: int | None) -> neo4j_server.Server:
        return neo4j_server.start(
            default_cache(), self.home, version=self.version, port=port, heap=self._heap, options=SETTINGS
        )
