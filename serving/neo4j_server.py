"""One Neo4j server in a folder of its own: started apart from the command that wants it, found again, ended.

What runs is written to ``state.json`` before the server is ready: a command that was killed while it waited leaves
nothing behind that the next one does not find.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ontoloom.errors import StoreError
from ontoloom.progress import OnProgress, Progress, silent
from serving import neo4j_install
from serving.processes import end_session, identity, locked, start_detached

HOME = ".ontoloom/neo4j"
"""Where a project's server keeps its data, within the project folder."""
PORT_PATIENCE = 5.0
HEAP = "2g"
_OPENED = ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch", "java.base/java.util.concurrent")
_HANDSHAKE = bytes.fromhex("6060b01700040405000000040000000000000000")
_REASON = re.compile(r"(?:Caused by: )?[\w.$]*(?:Error|Exception): (?P<told>.+)")


@dataclass(frozen=True, slots=True)
class Server:
    """A server that was started. ``pid`` is also the number of its session; ``identity`` tells it from a later one."""

    pid: int
    identity: str
    port: int
    version: str

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"


def start(
    cache: Path,
    home: Path,
    *,
    version: str = neo4j_install.DEFAULT,
    port: int | None = None,
    password: str = "",
    heap: str = HEAP,
    options: Mapping[str, str] | None = None,
    timeout: float = 180.0,
    on_progress: OnProgress = silent,
) -> Server:
    """Starts a server on the data in ``home`` unless one is up there already, and waits until it answers.

    ``version`` is a line of ``neo4j_install.RELEASES``; what is missing of it is installed into ``cache``. ``port`` is
    by default a free one. The user is ``neo4j``; without a password everyone on this machine may read and write.
    ``options`` are further lines of ``neo4j.conf``. Raises StoreError.
    """
    lib = neo4j_install.install(cache, version, on_progress=on_progress).resolve()
    home = home.resolve()
    with locked(home / "lock"):
        found = running(home)
        if found is None:
            chosen = _free_port(port)
            log(home).unlink(missing_ok=True)
            quiet = dict.fromkeys(neo4j_install.release(version).quiet, "false")
            _configure(home, chosen, protected=bool(password), options=quiet | dict(options or {}))
            pid = start_detached(
                _command(lib, home, version, heap), environment=_environment(home), log=home / "console.log"
            )
            found = Server(pid, identity(pid) or "", chosen, neo4j_install.release(version).version)
            _write_state(home, found)
        _wait_until_ready(found, home, timeout, on_progress)
        if password:
            _protect(found, password)
    return found


def stop(home: Path, *, patience: float = 60.0) -> bool:
    """Ends the server, by force after ``patience`` seconds; says whether there was one. Its data stay."""
    found = running(home)
    if found is not None:
        end_session(found.pid, patience=patience)
    _state(home).unlink(missing_ok=True)
    return found is not None


def running(home: Path) -> Server | None:
    """The server that was started and still lives, ready or not."""
    try:
        found = Server(**json.loads(_state(home).read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return found if identity(found.pid) == found.identity else None


def store_location(server: Server, *, user: str = "") -> str:
    """The location of the graph store on a server, as ``--store`` takes it."""
    return f"neo4j://{user}@127.0.0.1:{server.port}" if user else f"neo4j://127.0.0.1:{server.port}"


def is_ready(server: Server) -> bool:
    """Whether it answers the handshake of Bolt, which it does once its databases are up."""
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
            connection.sendall(_HANDSHAKE)
            return len(connection.recv(4, socket.MSG_WAITALL)) == 4
    except OSError:
        return False


def log(home: Path) -> Path:
    """What the server writes for people; what Java itself says goes to ``console.log``."""
    return home / "logs" / "neo4j.log"


def log_tail(home: Path, lines: int) -> list[str]:
    """The last lines that the server wrote."""
    try:
        return log(home).read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
    except FileNotFoundError:
        return []


def _free_port(wanted: int | None) -> int:
    """A port that nobody listens on. One that is asked for may be held a moment longer by a server that was killed."""
    give_up = time.monotonic() + PORT_PATIENCE
    while True:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", wanted or 0))
                return int(probe.getsockname()[1])
            except OSError as error:
                if time.monotonic() > give_up:
                    message = f"port {wanted} cannot be used: {error.strerror}"
                    raise StoreError(message, hint="choose another: --port", code="neo4j-port") from error
        time.sleep(0.1)


def _command(lib: Path, home: Path, version: str, heap: str) -> list[str]:
    release = neo4j_install.release(version)
    java = neo4j_install.find_java(release.java)
    assert java is not None  # install has looked for it
    return [
        str(java / "bin" / "java"),
        f"-Xmx{heap}",
        "-XX:+ExitOnOutOfMemoryError",
        *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED),
        *("-cp", f"{lib}/*:{home}/plugins/*", release.main),  # as the script of Neo4j itself has it
        *(f"--home-dir={home}", f"--config-dir={home / 'conf'}"),
    ]


def _environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NEO4J_", "JAVA_TOOL_"))}
    return {**kept, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}


def _configure(home: Path, port: int, *, protected: bool, options: Mapping[str, str]) -> None:
    settings = {
        "server.default_listen_address": "127.0.0.1",
        "server.default_advertised_address": "127.0.0.1",
        "server.bolt.listen_address": f"127.0.0.1:{port}",
        "server.bolt.advertised_address": f"127.0.0.1:{port}",
        "server.http.enabled": "false",
        "server.https.enabled": "false",
        "dbms.security.auth_enabled": str(protected).lower(),
        "server.memory.pagecache.size": "512m",
        **options,
    }
    (home / "conf").mkdir(parents=True, exist_ok=True)
    lines = [f"{name}={value}\n" for name, value in settings.items()]
    (home / "conf" / "neo4j.conf").write_text("".join(lines))


def _protect(server: Server, password: str) -> None:
    """Gives a new server its password; on one that has one, tries it. Raises StoreError where it is another."""
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError, ClientError

    with suppress(AuthError), GraphDatabase.driver(server.url, auth=("neo4j", password)) as driver:
        driver.verify_connectivity()
        return
    try:
        with GraphDatabase.driver(server.url, auth=("neo4j", "neo4j")) as driver:
            change = "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password"
            driver.execute_query(change, password=password, database_="system")
    except AuthError:
        message = f"the Neo4j at {server.url} has another password"
        raise StoreError(message, hint="set ONTOLOOM_NEO4J_PASSWORD", code="neo4j-password") from None
    except ClientError as error:
        raise StoreError(f"the password won't do: {error.message}", code="neo4j-password") from None


def _wait_until_ready(server: Server, home: Path, timeout: float, on_progress: OnProgress) -> None:
    begin = time.monotonic()
    while not is_ready(server):
        waited = time.monotonic() - begin
        if identity(server.pid) != server.identity:
            reason = _reason(home)
            stop(home)
            raise StoreError(f"Neo4j ended before it was ready: {reason}", hint=f"its log: {log(home)}")
        if waited > timeout:
            stop(home)
            raise StoreError(f"Neo4j was not ready within {timeout:g} s", hint=f"its log: {log(home)}")
        on_progress(Progress("start Neo4j", int(waited), None, _last_line(home)))
        time.sleep(0.2)


def _reason(home: Path) -> str:
    """The line of its logs that tells why: the last cause that is named."""
    console = (home / "console.log").read_text(encoding="utf-8", errors="replace").splitlines()
    told = [line for line in (*console, *log_tail(home, 200)) if line.strip()]
    causes = [found["told"] for line in told if (found := _REASON.search(line))]
    return (causes or told or ["it wrote nothing"])[-1][:300]


def _last_line(home: Path) -> str:
    lines = [line for line in log_tail(home, 5) if line.strip()]
    return re.sub(r"^[\d-]+ [\d:.+]+ \w+ +", "", lines[-1])[:80] if lines else ""


def _state(home: Path) -> Path:
    return home / "state.json"


def _write_state(home: Path, server: Server) -> None:
    temporary = _state(home).with_suffix(".new")
    temporary.write_text(json.dumps(asdict(server)))
    temporary.replace(_state(home))
