"""Stands between a driver and a Neo4j server, and cuts the connection when a commit is answered."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

COMMIT = bytes.fromhex("0002b0120000")
"""The message of Bolt, alone in its chunk. https://neo4j.com/docs/bolt/current/bolt/message/#messages-commit"""


class CuttingProxy:
    """Listens on a free port of this machine; cuts the answers to the next ``cuts`` commits."""

    def __init__(self, port: int) -> None:
        self.cuts = 0
        self.cut = 0
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
                self._sockets += [client, server]
                committing = threading.Event()
                threading.Thread(target=self._to_server, args=(client, server, committing), daemon=True).start()
                threading.Thread(target=self._to_client, args=(server, client, committing), daemon=True).start()

    def _to_server(self, client: socket.socket, server: socket.socket, committing: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if COMMIT in data and self.cuts:
                    self.cuts -= 1
                    committing.set()
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    def _to_client(self, server: socket.socket, client: socket.socket, committing: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if committing.is_set():
                    self.cut += 1
                    break
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)
            server.shutdown(socket.SHUT_RDWR)
