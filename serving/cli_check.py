"""``check``: whether what a project folder says holds; for people, scripts, CI and editors."""

from __future__ import annotations

import difflib
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoloom.errors import OntologyError
from serving import render
from serving.cli_options import JsonOption, say_error, settings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ontology.findings import Finding
    from serving.settings import Settings
    from serving.wiring import ProjectCheck


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


def register(app: typer.Typer) -> None:
    app.command()(check)


def check(
    ctx: typer.Context,
    form: Annotated[
        Format, typer.Option("--format", help="text for people, github for annotations, sarif for code scanning.")
    ] = Format.TEXT,
    as_json: JsonOption = False,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what has one right answer, then check again.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what --fix would change, and change nothing.")] = False,
    baseline: Annotated[
        Path | None, typer.Option(help="A file of known findings: only new ones are reported and fail.")
    ] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Write the findings of now to the file of --baseline.")
    ] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Read all pages again, also unchanged ones.")] = False,
) -> None:
    """Check ontology.yaml, wiki pages, rules.yaml and views/; every finding says where, what, and what would be right.

        ontoloom check
        ontoloom check --diff                      what could be mended without judgement
        ontoloom check --fix
        ontoloom check --baseline known.json       fail for new findings only
        ontoloom check --format sarif > check.sarif

    Exit status 0 when there are no errors (warnings alone are fine), 1 when there are, 2 when it could not be checked.
    """
    from serving.wiring import run_check

    settings = settings_of(ctx)
    try:
        if update_baseline and baseline is None:
            raise OntologyError("--update-baseline needs a file", hint="add --baseline FILE", code="no-baseline")
        known = _read_baseline(baseline) if baseline is not None and not update_baseline else None
        with render.progress() as on_progress:
            checked = run_check(settings, cached=not no_cache, on_progress=on_progress)
            if fix and not diff:
                checked = _mend(settings, checked, cached=not no_cache)
        if diff:
            _show_diff(checked.findings)
            return
        findings: Sequence[Finding] = checked.findings
        gone = 0
        if baseline is not None and update_baseline:
            _update_baseline(baseline, findings, settings.project)
        elif known is not None:
            from ontology.baseline import split

            findings, gone = split(findings, known, settings.project)
    except OntologyError as error:
        say_error(error)
        raise typer.Exit(2) from None
    put_aside = 0 if known is None else len(checked.findings) - len(findings)
    _show(Format.JSON if as_json else form, checked, findings, settings, put_aside=put_aside, gone=gone)
    if any(finding.severity == "error" for finding in findings) and not update_baseline:
        raise typer.Exit(1)


def _read_baseline(path: Path) -> Any:
    from ontology.baseline import read_baseline

    return read_baseline(path)


def _update_baseline(path: Path, findings: Sequence[Finding], root: Path) -> None:
    from ontology.baseline import write_baseline

    try:
        number = write_baseline(path, findings, root)
    except OSError as error:
        raise OntologyError(f"{path} cannot be written: {error.strerror}", code="no-baseline") from None
    render.errors.print(f"put {_count(number, 'finding')} aside in {path}", markup=False)


def _mend(settings: Settings, checked: ProjectCheck, *, cached: bool) -> ProjectCheck:
    """Mends as long as there is something to mend: an edit may uncover another fault."""
    from ontology.fixes import mended, write
    from serving.wiring import run_check

    files: set[str] = set()
    number = 0
    for _ in range(5):
        edited = mended(checked.findings)
        if not edited:
            break
        try:
            write({file: new for file, (_, new, _) in edited.items()})
        except OSError as error:
            message = f"{error.filename or 'a file'} cannot be written: {error.strerror}"
            raise OntologyError(message, code="cannot-write") from None
        files |= edited.keys()
        number += sum(made for _, _, made in edited.values())
        checked = run_check(settings, cached=cached)
    render.errors.print(f"mended {_count(number, 'finding')} in {_count(len(files), 'file')}", markup=False)
    return checked


def _show_diff(findings: Sequence[Finding]) -> None:
    from ontology.fixes import mended

    edited = mended(findings)
    for file, (old, new, _) in sorted(edited.items()):
        lines = difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{file}", f"b/{file}"
        )
        for line in lines:
            render.output.print(line.rstrip("\r\n"), markup=False, highlight=False)
    number = sum(made for _, _, made in edited.values())
    render.errors.print(f"{number} of {len(findings)} findings could be mended with --fix", markup=False)


def _show(
    form: Format,
    checked: ProjectCheck,
    findings: Sequence[Finding],
    settings: Settings,
    *,
    put_aside: int,
    gone: int,
) -> None:
    failed = sum(finding.severity == "error" for finding in findings)
    if form is Format.JSON:
        rows = [_as_json(finding) for finding in findings]
        render.write_json({"ok": not failed, "pages": checked.pages, "views": checked.views, "findings": rows})
    elif form is Format.SARIF:
        from importlib.metadata import version

        from ontology.report import to_sarif

        render.write_json(to_sarif(findings, settings.project, version=version("ontoloom")))
    else:
        if form is Format.GITHUB:
            from ontology.report import to_github

            for line in to_github(findings, settings.project):
                sys.stdout.write(f"{line}\n")
        else:
            for finding in findings:
                render.output.print(_in_colour(finding))
        summary = _summary(checked, findings, failed)
        summary += f"; {put_aside} known ones put aside" if put_aside else ""
        summary += f", {gone} of the baseline are gone: update it" if gone else ""
        render.output.print(summary, markup=False)


def _as_json(finding: Finding) -> dict[str, Any]:
    found = {name: getattr(finding, name) for name in ("file", "line", "column", "code", "message", "fix", "severity")}
    return found | {"edit": finding.edit and finding.edit._asdict()}


def _in_colour(finding: Finding) -> str:
    colour = "red" if finding.severity == "error" else "yellow"
    where = render.escape(f"{finding.file}:{finding.line}:{finding.column}:")
    kind = render.escape(f"{finding.severity}[{finding.code}]")
    fix = f"; [green]{render.escape(finding.fix)}[/]" if finding.fix else ""
    return f"[bold]{where}[/] [{colour}]{kind}[/] {render.escape(finding.message)}{fix}"


def _summary(checked: ProjectCheck, findings: Sequence[Finding], failed: int) -> str:
    what = f"ontology, {_count(checked.pages, 'page')}"
    what += f", {_count(checked.rules, 'rule')}" if checked.rules is not None else ""
    what += f", {_count(checked.views, 'view')}" if checked.views else ""
    if not findings:
        return f"{what}: nothing to mend"
    fixable = sum(finding.edit is not None for finding in findings)
    mendable = f" ({fixable} can be mended with --fix)" if fixable else ""
    return f"{what}: {_count(failed, 'error')}, {_count(len(findings) - failed, 'warning')}{mendable}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
