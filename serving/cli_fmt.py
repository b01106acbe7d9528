"""``fmt``: ontology.yaml and wiki pages in canonical order."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ontoloom.errors import OntologyError
from serving import render
from serving.cli_options import settings_of

if TYPE_CHECKING:
    from serving.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(fmt)


def fmt(
    ctx: typer.Context,
    files: Annotated[
        list[Path] | None, typer.Argument(help="Pages, ontologies or folders of them; by default all of the project.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit status 1 where something would be.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; show what would be.")] = False,
) -> None:
    """Put keys into canonical order, in ontology.yaml and in the front matter of pages; comments stay with their keys.

        ontoloom fmt
        ontoloom fmt --check                for CI
        ontoloom fmt --diff wiki/bert.md

    Lines are moved, never rewritten. A file that is not valid YAML is named and left as it is; exit status 1 then.
    """
    from ontology import FindingsError
    from ontology.fixes import write
    from ontology.format import format_ontology, format_page
    from ontology.strict_yaml import read_source
    from serving.wiring import find_ontology

    settings = settings_of(ctx)
    ontology = find_ontology(settings)
    changed: dict[str, str] = {}
    failed = number = 0
    for path in _files(files, settings):
        number += 1
        try:
            old = read_source(path).text
            is_page = path.suffix.lower() == ".md"
            new = (
                format_page(old, file=str(path), ontology=ontology) if is_page else format_ontology(old, file=str(path))
            )
        except FindingsError as error:
            failed += 1
            render.errors.print(str(error.findings[0]), markup=False)
            continue
        if new != old:
            changed[str(path)] = new
            if diff:
                _show(str(path), old, new)
    if not check and not diff:
        try:
            write(changed)
        except OSError as error:
            message = f"{error.filename or 'a file'} cannot be written: {error.strerror}"
            raise OntologyError(message, code="cannot-write") from None
    for file in changed if not diff else ():
        render.output.print(f"{'would change' if check else 'formatted'} {file}", markup=False)
    done = "would be formatted" if check or diff else "formatted"
    render.errors.print(f"{len(changed)} of {number} files {done}", markup=False)
    if failed or (changed and check):
        raise typer.Exit(1)


def _files(given: list[Path] | None, settings: Settings) -> Iterator[Path]:
    """The files that are meant; what is neither a page nor an ontology is refused."""
    from ontology.check import WIKI, Folder

    for path in given or [settings.ontology, settings.ontology.parent / WIKI]:
        if path.is_dir():
            yield from map(Path, Folder(str(path)).files.values())
        elif path.suffix.lower() in (".md", ".yaml", ".yml") and path.is_file():
            yield path
        elif given:
            raise OntologyError(
                f"{path} is no page, no ontology and no folder", hint="name .md or .yaml files", code="no-file"
            )


def _show(file: str, old: str, new: str) -> None:
    lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{file}", f"b/{file}")
    for line in lines:
        render.output.print(line.rstrip("\r\n"), markup=False, highlight=False)
