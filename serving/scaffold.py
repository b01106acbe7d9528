"""Makes a project folder: the bundled example, or a small start of one's own with comments that say what goes where."""

from __future__ import annotations

import re
import shutil
from importlib.resources import files
from pathlib import Path

from ontoloom.errors import InputError

TEMPLATES = Path(__file__).with_name("templates")
EXAMPLE = "ai-infra"
DERIVED = ".ontoloom"


def write_project(folder: Path) -> list[Path]:
    """Writes the templates of a new project; returns the files. Raises InputError where one is there already."""
    name = re.sub("[^A-Za-z0-9_-]+", "-", folder.resolve().name).strip("-_")
    return _copy(TEMPLATES, folder, name=name if name[:1].isalpha() else f"project-{name}".strip("-"))


def copy_example(folder: Path) -> list[Path]:
    """Copies the bundled example; returns the files. Raises InputError where one is there already."""
    return _copy(example_folder(), folder)


def example_folder() -> Path:
    """The bundled example: in a checkout beside the packages, in an installation within ``ontoloom``."""
    package = Path(str(files("ontoloom")))
    for found in (package.parent / "examples" / EXAMPLE, package / "examples" / EXAMPLE):
        if (found / "ontology.yaml").is_file():
            return found
    raise InputError("the bundled example is missing from this installation", hint="install ontoloom again")


def _copy(source: Path, folder: Path, *, name: str = "") -> list[Path]:
    """Copies a tree, or nothing of it where a file is in the way; ``PROJECT`` in the texts becomes ``name``."""
    found = [path.relative_to(source) for path in sorted(source.rglob("*")) if path.is_file()]
    wanted = [path for path in found if DERIVED not in path.parts]
    taken = [path for path in wanted if (folder / path).exists()]
    if taken:
        raise InputError(f"{folder / taken[0]} is there already", hint="name another folder: ontoloom init FOLDER")
    try:
        for path in wanted:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / path, folder / path)
            if name:
                text = (folder / path).read_text(encoding="utf-8").replace("PROJECT", name)
                (folder / path).write_text(text, encoding="utf-8")
        if not (folder / ".gitignore").exists():
            (folder / ".gitignore").write_text(f"{DERIVED}/\n")
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from None
    return [folder / path for path in wanted]
