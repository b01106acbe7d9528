"""A real PostgreSQL for tests: Debian's package, in a folder of its own, on a Unix socket only."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = "postgres"
"""Who the server runs as where the tests run as root, which it refuses."""


def find_programs() -> Path | None:
    """The folder of the newest ``initdb`` and ``pg_ctl``."""
    places = [*Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")]
    on_path = shutil.which("pg_ctl")
    newest = sorted(places, key=lambda path: float(path.parent.parent.name))
    if newest:
        return newest[-1].parent
    return Path(on_path).resolve().parent if on_path else None


def missing_postgres() -> str:
    return "" if find_programs() else "there is no PostgreSQL (Debian: apt-get install postgresql)"


@contextmanager
def running_postgres() -> Iterator[str]:
    """The address of a server with an empty database; gone afterwards."""
    programs = find_programs()
    assert programs is not None
    as_user = as_postgres()
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # a short path: that of a socket has at most 107 bytes
    if as_user:
        shutil.chown(folder, USER)
    try:
        data = str(folder / "data")
        command = [str(programs / "initdb"), "-D", data, "-A", "trust", "-U", USER, "-E", "UTF8", "-N"]
        run([*command, "--locale=C.UTF-8"], as_user)
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        control = [str(programs / "pg_ctl"), "-D", data, "-w"]
        run([*control, "-l", str(folder / "log"), "-o", options, "start"], as_user)
        try:
            yield f"postgresql://{USER}@/postgres?host={folder}"
        finally:
            run([*control, "-m", "immediate", "stop"], as_user)
    finally:
        shutil.rmtree(folder)


def as_postgres() -> str | None:
    if os.geteuid() != 0:
        return None
    pwd.getpwnam(USER)
    return USER


def run(command: list[str], user: str | None) -> None:
    done = subprocess.run(command, user=user, capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stdout + done.stderr
