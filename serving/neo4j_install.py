"""Neo4j Community from Maven Central: the jars of a release, and a Java that runs them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ontoloom.errors import StoreError
from ontoloom.progress import OnProgress, Progress, silent
from serving.engine_install import no_room
from serving.processes import locked

POM = Path(__file__).with_name("neo4j-pom.xml")
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
ROOM = 300_000_000
"""Bytes of the jars of a release, twice: Maven keeps them too."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release of Neo4j. ``java`` are the major versions that it runs on, the one it is best tested with first.

    ``quiet`` are the settings with which it talks to nobody of its own accord.
    """

    version: str
    java: tuple[int, ...]
    main: str
    quiet: tuple[str, ...]


RELEASES: Mapping[str, Release] = {
    "5.26": Release("5.26.31", (17, 21), "org.neo4j.server.CommunityEntryPoint", ("dbms.usage_report.enabled",)),
    "2026": Release(
        "2026.05.0",
        (25, 21),
        "org.neo4j.server.Neo4jCommunity",
        ("dbms.usage_report.enabled", "dbms.fleet_manager.enabled", "server.fleet_discovery.enabled"),
    ),
}
"""What is tested, by the line that it is of: the long-term support and the current one."""
DEFAULT = "5.26"


def release(line: str) -> Release:
    """The release of a line. Raises StoreError for one that is not known."""
    if line not in RELEASES:
        hint = f"known: {', '.join(RELEASES)}"
        raise StoreError(f"there is no Neo4j '{line}' to install", hint=hint, code="neo4j-version")
    return RELEASES[line]


def jars(cache: Path, line: str) -> Path | None:
    """The folder of a complete installation; None where there is none."""
    folder = _folder(cache, release(line))
    return folder / "lib" if (folder / "complete").is_file() else None


def why_not(cache: Path, line: str = DEFAULT) -> str:
    """Why this Neo4j can't be had on this machine, in one line; empty where it is installed or can be."""
    wanted = release(line)
    if find_java(wanted.java) is None:
        found = ", ".join(f"Java {major} in {home}" for home, major in _java_homes()) or "no Java"
        needed = " or ".join(map(str, wanted.java))
        return f"Neo4j {wanted.version} needs Java {needed}; found: {found} (set JAVA_HOME, or install one)"
    if jars(cache, line) is not None:
        return ""
    if shutil.which("mvn") is None:
        return f"Maven fetches Neo4j {wanted.version}, and there is no mvn on the PATH (install maven)"
    return no_room(cache, ROOM)


def install(cache: Path, line: str = DEFAULT, *, on_progress: OnProgress = silent) -> Path:
    """Fetches the jars of a release unless they are complete already, and returns their folder. Raises StoreError.

    The mark of completeness is written last, so that an installation that was killed is begun again.
    """
    if reason := why_not(cache, line):
        raise StoreError(reason, code="neo4j-unavailable")
    wanted = release(line)
    folder = _folder(cache, wanted)
    with locked(folder.with_suffix(".lock")):
        if (found := jars(cache, line)) is not None:
            return found
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _fetch(wanted, folder, on_progress)
        (folder / "complete").write_text(wanted.version)
    return folder / "lib"


def find_java(majors: Sequence[int]) -> Path | None:
    """The home of a Java of one of the major versions, the first that there is in their order."""
    found = {major: home for home, major in reversed(list(_java_homes()))}
    return next((found[major] for major in majors if major in found), None)


def _java_homes() -> Iterator[tuple[Path, int]]:
    """Homes of Java with their major versions: that of JAVA_HOME, that of ``java`` on the PATH, then the system's."""
    given, on_path = os.environ.get("JAVA_HOME"), shutil.which("java")
    homes = [Path(given)] if given else []
    homes += [Path(on_path).resolve().parent.parent] if on_path else []
    homes += sorted(Path("/usr/lib/jvm").glob("*"))
    seen: set[Path] = set()
    for home in (home.resolve() for home in homes):
        if home not in seen and (major := _java_version(home)) is not None:
            seen.add(home)
            yield home, major


def _java_version(home: Path) -> int | None:
    """The major version of the Java in a folder; None where there is none, or one so old that it does not say."""
    if not os.access(home / "bin" / "java", os.X_OK):
        return None
    try:
        stated = re.search(r'^JAVA_VERSION="(\d+)', (home / "release").read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(stated[1]) if stated else None


def _folder(cache: Path, wanted: Release) -> Path:
    return cache / f"neo4j-{wanted.version.replace('.', '-')}"


def _fetch(wanted: Release, folder: Path, on_progress: OnProgress) -> None:
    step = f"install Neo4j {wanted.version}"
    java, maven = find_java(wanted.java), shutil.which("mvn")
    assert java is not None and maven is not None  # noqa: PT018  # why_not has looked for both
    shutil.copyfile(POM, folder / "pom.xml")
    options = ["-B", "-ntp", f"-Dneo4j.version={wanted.version}", "-DincludeScope=runtime", "-DoutputDirectory=lib"]
    on_progress(Progress(step, 0, None, "from Maven Central"))
    told: list[str] = []
    with subprocess.Popen(
        [maven, *options, PLUGIN],
        cwd=folder,
        env={**os.environ, "JAVA_HOME": str(java)},
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            told.append(line.strip())
            on_progress(Progress(step, len(told), None, line.strip().removeprefix("[INFO] ")[:80]))
    if process.returncode:
        reason = next((line for line in told if line.startswith("[ERROR]")), told[-1] if told else "it said nothing")
        raise StoreError(f"cannot {step}: {reason.removeprefix('[ERROR] ')[:300]}", code="neo4j-install")
