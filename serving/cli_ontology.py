"""``diff``, ``export`` and ``import``: the ontology compared with another one, and in other languages."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ontoloom.errors import OntologyError
from serving import render
from serving.cli_options import JsonOption, settings_of

if TYPE_CHECKING:
    from ontology.schema import Ontology


class DiffFormat(StrEnum):
    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


class ExportFormat(StrEnum):
    JSON_SCHEMA = "json-schema"
    SHACL = "shacl"
    OWL = "owl"
    LINKML = "linkml"
    PYDANTIC = "pydantic"
    GRAPHQL = "graphql"
    NEO4J = "neo4j"
    MERMAID = "mermaid"
    SVG = "svg"
    HTML = "html"
    YAML = "yaml"


class ImportFormat(StrEnum):
    LINKML = "linkml"
    OWL = "owl"
    JSON_LD = "json-ld-context"
    TEXT2KGBENCH = "text2kgbench"


OutputOption = Annotated[Path | None, typer.Option("--output", "-o", help="A file to write; '-' or none for output.")]


def register(app: typer.Typer) -> None:
    app.command()(diff)
    app.command()(export)
    app.command("import")(import_)


def diff(
    ctx: typer.Context,
    old: Annotated[str, typer.Argument(help="An ontology file, or a revision of git.")] = "HEAD",
    new: Annotated[
        str | None, typer.Argument(help="The same; the project's ontology of now where none is given.")
    ] = None,
    form: Annotated[
        DiffFormat, typer.Option("--format", help="text for people, markdown for a pull request.")
    ] = DiffFormat.TEXT,
    as_json: JsonOption = False,
) -> None:
    """Compare two ontologies: each change named, what it breaks, and the version that it calls for.

        ontoloom diff                             what has changed since the last commit
        ontoloom diff main --format markdown      for a pull request
        ontoloom diff v1.yaml v2.yaml --json

    Exit status 1 where the version was not raised as far as the changes call for. docs/diff.md has the rules.
    """
    from ontology.compare import diff as differences
    from ontology.compare import report
    from serving.revisions import read_revision

    settings = settings_of(ctx)
    before = read_revision(old, settings.ontology)
    after = (
        read_revision(new, settings.ontology)
        if new is not None
        else read_revision(str(settings.ontology), settings.ontology)
    )
    difference = differences.diff(before, after)
    if as_json or form is DiffFormat.JSON:
        render.write_json(report.as_json(difference))
    else:
        text = report.as_text if form is DiffFormat.TEXT else report.as_markdown
        typer.echo(text(difference), nl=False)
    if not difference.enough:
        raise typer.Exit(1)


def export(
    ctx: typer.Context,
    form: Annotated[ExportFormat, typer.Argument(metavar="FORMAT", help="The language to write.")],
    output: OutputOption = None,
    around: Annotated[
        str | None, typer.Option(help="Of a diagram (mermaid, svg): this type and what is next to it.")
    ] = None,
    edition: Annotated[
        str, typer.Option(help="Of neo4j: 'community', or 'enterprise' for all its constraints.")
    ] = "community",
) -> None:
    """Write the ontology in another language.

    ontoloom export html -o ontology.html            a reference for people, with a diagram
    ontoloom export json-schema -o pages.schema.json for YAML editors: completion and errors in front matter
    ontoloom export shacl, owl, linkml, pydantic, graphql, neo4j, mermaid, svg, yaml
    """
    from serving.wiring import find_ontology

    ontology = find_ontology(settings_of(ctx))
    if around is not None and around not in ontology.types:
        from ontology.findings import did_you_mean

        raise OntologyError(
            f"there is no type '{around}'", hint=did_you_mean(around, list(ontology.types)), code="unknown-type"
        )
    if edition not in ("community", "enterprise"):
        raise OntologyError(f"there is no edition '{edition}'", hint="write community or enterprise", code="edition")
    write(exporter(form, around=around, edition=edition)(ontology), output)


def exporter(form: ExportFormat, *, around: str | None = None, edition: str = "community") -> Callable[[Ontology], str]:
    """What writes an ontology in a language. Each is imported when it is wanted: some need a library."""
    if form is ExportFormat.JSON_SCHEMA:
        from ontology.exports.json_schema import to_json_schema

        return lambda ontology: render.to_json(to_json_schema(ontology), indent=2) + "\n"
    if form is ExportFormat.SHACL:
        from ontology.exports.rdf import to_shacl

        return to_shacl
    if form is ExportFormat.OWL:
        from ontology.exports.rdf import to_owl

        return to_owl
    if form is ExportFormat.LINKML:
        from ontology.exports.linkml import to_linkml

        return to_linkml
    if form is ExportFormat.PYDANTIC:
        from ontology.exports.pydantic import to_pydantic

        return to_pydantic
    if form is ExportFormat.GRAPHQL:
        from ontology.exports.graphql import to_graphql

        return to_graphql
    if form is ExportFormat.NEO4J:
        from ontology.exports.neo4j import to_neo4j

        return lambda ontology: to_neo4j(ontology, "enterprise" if edition == "enterprise" else "community")
    if form is ExportFormat.MERMAID:
        from ontology.exports.mermaid import to_mermaid

        return lambda ontology: to_mermaid(ontology, around=around)
    if form is ExportFormat.SVG:
        from ontology.exports.svg import to_svg

        return lambda ontology: to_svg(ontology, around=around)
    if form is ExportFormat.HTML:
        from ontology.exports.html import to_html

        return to_html
    from ontology.write_yaml import write_ontology

    return write_ontology


def import_(
    form: Annotated[ImportFormat, typer.Argument(metavar="FORMAT", help="The language that the file is in.")],
    file: Annotated[Path, typer.Argument(help="The file to read.", exists=True, dir_okay=False)],
    output: OutputOption = None,
) -> None:
    """Read an ontology in another language and write it as ontology.yaml.

        ontoloom import linkml schema.yaml -o ontology.yaml
        ontoloom import owl wine.ttl

    What could not be kept is said on standard error. A file that is there already is not overwritten.
    """
    data = file.read_bytes()
    if form is ImportFormat.OWL:
        from ontology.importers.owl import import_owl

        text, notes = import_owl(data, file=str(file))
    else:
        from ontology.importers.jsonld_context import import_jsonld_context
        from ontology.importers.linkml import import_linkml
        from ontology.importers.text2kgbench import import_text2kgbench

        read = {
            ImportFormat.LINKML: import_linkml,
            ImportFormat.JSON_LD: import_jsonld_context,
            ImportFormat.TEXT2KGBENCH: import_text2kgbench,
        }[form]
        text, notes = read(data.decode("utf-8", "replace"), file=str(file))
    for note in notes:
        render.errors.print(f"note: {note}", markup=False)
    if output is not None and str(output) != "-" and output.exists():
        message = f"{output} is there already"
        raise OntologyError(message, hint="name another file, or none to see the result", code="exists")
    write(text, output)


def write(text: str, output: Path | None) -> None:
    if output is None or str(output) == "-":
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OntologyError(f"{output} cannot be written: {error.strerror}", code="cannot-write") from None
    render.errors.print(f"wrote {output}", markup=False)
