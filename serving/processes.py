"""Detached processes that later commands must find again and never mistake for another one with the same number."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path


def start_detached(command: Sequence[str], *, environment: Mapping[str, str], log: Path) -> int:
    """Starts a command in a session of its own, its output in ``log``; returns its number, also that of its group."""
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), write, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(command[0], list(command), environment, file_actions=files, setsid=True)


def identity(pid: int) -> str | None:
    """What tells this process from a later one with the same number: when it began, in which run of the machine.

    None when there is no such process, or it is dead and only waits to be reaped.
    """
    with suppress(ChildProcessError, OSError):
        os.waitpid(pid, os.WNOHANG)
    fields = _stat(pid)
    if fields is None or fields[0] in "ZX":
        return None
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}:{fields[19]}"


def session_members(session: int) -> list[int]:
    """The live processes of a session. Its number is not given to another while one of them lives."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = _stat(int(entry.name))
            if fields is not None and int(fields[3]) == session and fields[0] not in "ZX":
                found.append(int(entry.name))
    return found


def end_session(session: int, *, patience: float = 15.0) -> None:
    """Asks all processes of a session to end and, after ``patience`` seconds, kills those that did not."""
    for sign, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, 30.0)):
        for pid in session_members(session):
            with suppress(ProcessLookupError):
                os.kill(pid, sign)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            identity(session)  # reaps it where it is a child of ours
            if not session_members(session):
                return
            time.sleep(0.1)


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Holds a lock that ends with this process, however it ends. Raises BlockingIOError where it may not wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield


def _stat(pid: int) -> list[str] | None:
    """Fields 3 (state) and following of ``/proc/<pid>/stat``; the name before them may hold blanks and brackets."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
