"""One vLLM server for this user: started apart from the command that wants it, found again, ended with all it started.

What runs is written to ``state.json`` before the server is ready: a command that was killed while it waited leaves
nothing behind that the next one does not find.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ontoloom.errors import EngineError
from ontoloom.progress import OnProgress, Progress, silent
from serving import engine_install, model
from serving.processes import end_session, identity, locked, session_members, start_detached

MEMORY = 5_000_000_000
"""Bytes that the server takes with the default model: 2 GB for the KV cache, the rest for vLLM itself."""

_PREFIX = re.compile(r"^(\([^)]*\) )?((INFO|WARNING|ERROR) \d\d-\d\d [\d:]+ )?(\[[^\]]*\] )?")
_ERROR = re.compile(r"[\w.]*(Error|Exception): .+")


@dataclass(frozen=True, slots=True)
class EngineFolders:
    """``cache`` holds the installation and the weights, ``run`` the state, log and lock of one server."""

    cache: Path
    run: Path

    @property
    def log(self) -> Path:
        return self.run / "engine.log"

    @property
    def state(self) -> Path:
        return self.run / "state.json"


@dataclass(frozen=True, slots=True)
class Running:
    """A server that was started. ``pid`` is also the number of its session; ``identity`` tells it from a later one."""

    pid: int
    identity: str
    port: int
    model: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True, slots=True)
class EngineStatus:
    installed: bool
    model_ready: bool
    running: Running | None
    ready: bool
    log: Path


def up(
    folders: EngineFolders, *, port: int | None = None, timeout: float = 900.0, on_progress: OnProgress = silent
) -> Running:
    """Installs what is missing, starts the server unless it is up, and waits until it answers. Raises EngineError."""
    if (found := running(folders)) is not None and is_ready(found):
        return found
    python = engine_install.install(folders.cache, on_progress=on_progress)
    weights = model.prepare_model(folders.cache, on_progress=on_progress)
    return launch(
        lambda port: vllm_command(python, weights, port),
        folders,
        port=port,
        environment=vllm_environment(),
        timeout=timeout,
        on_progress=on_progress,
    )


def launch(
    command: Callable[[int], Sequence[str]],
    folders: EngineFolders,
    *,
    port: int | None = None,
    environment: Mapping[str, str],
    timeout: float,
    on_progress: OnProgress = silent,
) -> Running:
    """Starts a server unless one is already starting or up, and waits for its ``/health``.

    ``command`` makes the command line for a port: the one that is asked for, else a free one.
    """
    on_progress(Progress("start vLLM", 0, None, "waits for another command that starts it"))
    with locked(folders.run / "lock"):
        found = running(folders)
        if found is None:
            _refuse_without_memory()
            _end_orphans(folders)
            chosen = free_port(port)
            pid = start_detached(command(chosen), environment={**os.environ, **environment}, log=folders.log)
            found = Running(pid, identity(pid) or "", chosen, model.NAME)
            _write_state(folders, found)
        _wait_until_ready(found, folders, timeout, on_progress)
    return found


def down(folders: EngineFolders, *, patience: float = 15.0) -> bool:
    """Ends the server with all its processes, by force after ``patience`` seconds; says whether there was one."""
    found = _read_state(folders)
    if found is None:
        return False
    alive = bool(_processes(found))
    if alive:
        end_session(found.pid, patience=patience)
    folders.state.unlink(missing_ok=True)
    return alive


def status(folders: EngineFolders) -> EngineStatus:
    found = running(folders)
    return EngineStatus(
        installed=engine_install.engine_python(folders.cache) is not None,
        model_ready=model.model_folder(folders.cache).is_dir(),
        running=found,
        ready=found is not None and is_ready(found),
        log=folders.log,
    )


def running(folders: EngineFolders) -> Running | None:
    """The server that was started and still lives, ready or not."""
    found = _read_state(folders)
    return found if found is not None and identity(found.pid) == found.identity else None


def is_ready(server: Running) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def log_tail(folders: EngineFolders, lines: int) -> list[str]:
    try:
        return folders.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
    except FileNotFoundError:
        return []


def free_port(wanted: int | None = None) -> int:
    """A port of this machine that nobody listens on. Raises EngineError where the wanted one is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted or 0))
        except OSError as error:
            raise EngineError(
                f"port {wanted} cannot be used: {error.strerror}", hint="choose another: --port"
            ) from error
        return int(probe.getsockname()[1])


def vllm_command(python: Path, weights: Path, port: int) -> list[str]:
    # Unbounded white space between tokens lets a small model write blank lines until it is cut off.
    structured = json.dumps({"backend": "xgrammar", "disable_any_whitespace": True})
    return [
        *(str(python), "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", str(weights), "--served-model-name", model.NAME),
        *("--dtype", "bfloat16", "--enforce-eager", "--max-model-len", "4096"),
        *("--host", "127.0.0.1", "--port", str(port), "--structured-outputs-config", structured),
    ]  # fmt: skip


def vllm_environment() -> dict[str, str]:
    return {
        "PYTHONDONTWRITEBYTECODE": "",  # compiling what vLLM imports takes minutes, in each of its processes
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "VLLM_CPU_KVCACHE_SPACE": "2",
        # By default it uses one core.
        "VLLM_CPU_OMP_THREADS_BIND": _cores(),
        "PYTHONWARNINGS": "ignore",
        "PYTHONUNBUFFERED": "1",
    }


def _cores() -> str:
    cores = sorted(os.sched_getaffinity(0))
    contiguous = cores == list(range(cores[0], cores[-1] + 1))
    return f"{cores[0]}-{cores[-1]}" if contiguous and len(cores) > 1 else ",".join(map(str, cores))


def _wait_until_ready(server: Running, folders: EngineFolders, timeout: float, on_progress: OnProgress) -> None:
    begin = time.monotonic()
    while not is_ready(server):
        waited = time.monotonic() - begin
        if identity(server.pid) != server.identity:
            reason = _reason(folders)
            down(folders)
            raise EngineError(f"the engine ended before it was ready: {reason}", hint=f"its log: {folders.log}")
        if waited > timeout:
            down(folders)
            raise EngineError(f"the engine was not ready within {timeout:g} s", hint=f"its log: {folders.log}")
        on_progress(Progress("start vLLM", int(waited), None, _last_line(folders)))
        time.sleep(0.5)


def _last_line(folders: EngineFolders) -> str:
    lines = [line for line in log_tail(folders, 5) if line.strip()]
    return _PREFIX.sub("", lines[-1])[:80] if lines else ""


def _reason(folders: EngineFolders) -> str:
    """The line of the log that tells why: the first error that does not merely point at another one."""
    lines = log_tail(folders, 2000)
    errors = [
        found.group() for line in lines if (found := _ERROR.match(_PREFIX.sub("", line))) and "root cause" not in line
    ]
    told = errors[0] if errors else _last_line(folders)
    return told[:300] or "it wrote nothing"


def _refuse_without_memory() -> None:
    if sys.platform != "linux":
        return
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    free = int(fields["MemAvailable"].split()[0]) * 1024
    if free < MEMORY:
        message = f"the engine needs about {MEMORY / 1e9:.0f} GB of memory; {free / 1e9:.1f} GB are free"
        raise EngineError(message, code="engine-unavailable")


def _end_orphans(folders: EngineFolders) -> None:
    """Ends what a server left behind that was itself killed: its workers hold memory and, perhaps, its port."""
    left = _read_state(folders)
    if left is not None and _processes(left):
        end_session(left.pid)


def _processes(server: Running) -> list[int]:
    """The live processes of a server's session; none when its number now belongs to another process."""
    leader = identity(server.pid)
    return session_members(server.pid) if leader in (None, server.identity) else []


def _read_state(folders: EngineFolders) -> Running | None:
    try:
        return Running(**json.loads(folders.state.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _write_state(folders: EngineFolders, server: Running) -> None:
    temporary = folders.state.with_suffix(".new")
    temporary.write_text(json.dumps(asdict(server)))
    temporary.replace(folders.state)
