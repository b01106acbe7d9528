"""An ontology as it is in a file, or as it was in a revision of git, with all that it imports."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from pathlib import Path

from ontology import FindingsError, Ontology, read_ontology
from ontoloom.errors import OntologyError


def read_revision(what: str, ontology_file: Path) -> Ontology:
    """The ontology in a file of this name, else the project's as it was in this revision.

    Raises OntologyError where there is neither, or where it has an error.
    """
    if Path(what).is_file():
        return read_ontology(Path(what))
    folder = ontology_file.parent
    with tempfile.TemporaryDirectory() as name:
        _check_out(what, folder, Path(name))
        path = Path(name) / ontology_file.name
        if not path.is_file():
            raise OntologyError(f"there is no {ontology_file.name} in revision '{what}'", code="no-ontology")
        try:
            return read_ontology(path)
        except FindingsError as error:
            first = str(error.findings[0]).removeprefix(f"{name}/")
            raise OntologyError(f"{what}: {first}", code=error.findings[0].code) from None


def _check_out(revision: str, folder: Path, into: Path) -> None:
    """Writes the YAML files of a folder, as they were in a revision."""
    command = ["git", "-C", str(folder), "archive", "--format=tar", revision, "--", ":(glob)**/*.yaml"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise OntologyError(f"there is no file '{revision}', and no git", code="no-git") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1].removeprefix("fatal: ") if said else "git archive failed"
        message = f"'{revision}' is neither a file nor a revision of git with an ontology: {reason}"
        raise OntologyError(message, hint="name a file, or a revision such as HEAD~1 or main", code="no-revision")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(into, filter="data")
