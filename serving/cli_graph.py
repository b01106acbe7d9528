"""``ingest``, ``status``, ``quarantine`` and ``gaps``: what is written to the graph, what it holds, what it lacks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from serving import render
from serving.cli_options import EngineOption, JsonOption, StoreOption, settings_of

if TYPE_CHECKING:
    from graph.store import Counts
    from ingest.column_mapping import ColumnMapping
    from ingest.summary import Summary
    from ontoloom.records import Quarantined


def register(app: typer.Typer) -> None:
    app.command()(ingest)
    app.command()(status)
    app.command()(quarantine)
    app.command()(gaps)


def ingest(
    ctx: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files and folders; by default the project's own documents and pages.")
    ] = None,
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", help="Which column holds what: field=COLUMN, or a YAML file. May be repeated."),
    ] = None,
    no_llm: Annotated[bool, typer.Option("--no-llm", help="Read with the rules alone.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be found; change nothing.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Remove documents that are not among these any more.")] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Read everything anew into a new store.")] = False,
    no_index: Annotated[bool, typer.Option("--no-index", help="Leave the vector index for later.")] = False,
    store: StoreOption = None,
    engine: EngineOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read documents and pages into the graph, under the ontology. Unchanged documents are skipped.

        ontoloom ingest
        ontoloom ingest papers.csv --map id=doi --map title=Title --map abstract=Summary
        ontoloom ingest --no-llm notes/

    Rules read everything; the LLM reads titles and abstracts where an engine is up (ontoloom engine up). A run that
    was interrupted or killed can simply be repeated. A running 'ontoloom serve', which holds the store, is handed the
    job. Exit status 1 when a document failed.
    """
    from serving.access import holder
    from serving.wiring import run_ingest

    settings = settings_of(ctx, store=store, engine=engine)
    held = holder(settings)
    with render.progress() as on_progress:
        job: dict[str, Any] = {
            "mapping": _mapping(mapping),
            "use_llm": not no_llm,
            "prune": prune,
            "index": not no_index,
        }
        if held is not None and held.url and not dry_run and not rebuild:
            from serving.hand_over import hand_over

            render.errors.print(f"handed to the service at {held.url}", markup=False)
            summary = hand_over(held, paths or [], **job, on_progress=on_progress)
        else:
            summary = run_ingest(
                settings, paths or [], **job, dry_run=dry_run, rebuild=rebuild, on_progress=on_progress
            )
    if as_json:
        render.write_json(summary)
    else:
        show_summary(summary, dry_run=dry_run)
    if summary.failed:
        raise typer.Exit(1)


def _mapping(given: list[str] | None) -> ColumnMapping | None:
    if not given:
        return None
    from ingest.column_mapping import parse_mapping, read_mapping

    if len(given) == 1 and given[0].endswith((".yaml", ".yml")):
        return read_mapping(Path(given[0]))
    return parse_mapping(given)


def show_summary(summary: Summary, *, dry_run: bool = False) -> None:
    """What became of each document, what was found, and what failed."""
    rows = [
        ("documents", summary.loaded),
        ("  admitted", summary.admitted),
        ("  unchanged", summary.unchanged),
        ("  nothing found", summary.empty),
        ("  all quarantined", summary.quarantined),
        ("  failed", summary.failed),
    ]
    rows += [("read again", summary.reread)] * bool(summary.reread) + [("removed", summary.pruned)] * bool(
        summary.pruned
    )
    rows += [("triples read", summary.triples), ("claims quarantined", sum(summary.refused.values()))]
    if summary.usage.sent or summary.usage.replayed:
        rows += [("LLM requests", summary.usage.sent), ("  answers from the record", summary.usage.replayed)]
    rows += [("triples in the graph", sum(summary.counts.triples.values()))]
    title = f"{'would be ' if dry_run else ''}ingested in {summary.seconds:.1f} s"
    render.show_table(("", ""), rows, title=title)
    for failure in summary.failures[:20]:
        where = f":{failure.where}" if failure.where else ""
        render.output.print(f"failed: {failure.document}{where}: {failure.message} [{failure.code}]", markup=False)
    if len(summary.failures) > 20:
        render.output.print(f"… and {len(summary.failures) - 20} more (--json lists all)", markup=False)
    for note in summary.notes:
        render.output.print(f"note: {note}", markup=False)


def status(ctx: typer.Context, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Show what the graph holds, and whether an engine is up.

    ontoloom status
    """
    from serving.access import reading
    from serving.wiring import find_ontology, project_status

    settings = settings_of(ctx, store=store)
    with reading(settings, find_ontology(settings)) as opened:
        found = project_status(settings, opened)
    if as_json:
        render.write_json(found)
        return
    counts: Counts = found["counts"]
    render.output.print(
        f"store: {found['store']} (change {found['change']}), ontology {found['ontology']}", markup=False
    )
    render.output.print(f"engine: {found['engine']}\n", markup=False)
    statuses = [(f"documents {name}", number) for name, number in found["documents"].items()]
    pieces = [("pieces of evidence", counts.evidence), ("quarantined claims", sum(counts.quarantined.values()))]
    render.show_table(("", ""), [("documents", counts.documents), *statuses, *pieces])
    render.output.print()
    render.show_table(("type", "entities"), counts.entities.items())
    render.output.print()
    render.show_table(("relation or attribute", "triples"), counts.triples.items())


def quarantine(
    ctx: typer.Context,
    code: Annotated[
        list[str] | None, typer.Option(help="Only claims refused for this reason. May be repeated.")
    ] = None,
    document: Annotated[str | None, typer.Option(help="Only claims of this document.")] = None,
    extractor: Annotated[str | None, typer.Option(help="Only claims that this extractor made, such as llm.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Show at most so many.")] = 50,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List claims that were read and not admitted, with the reason and the place.

    ontoloom quarantine
    ontoloom quarantine --code wrong-range --document documents/mixtral.md
    """
    from serving.access import reading
    from serving.wiring import find_ontology

    settings = settings_of(ctx, store=store)
    with reading(settings, find_ontology(settings)) as opened:
        found = [
            item
            for item in opened.quarantined(document)
            if (not code or item.code in code) and extractor in (None, item.claim.extractor)
        ]
    counts = dict(Counter(item.code for item in found).most_common())
    if as_json:
        render.write_json({"counts": counts, "claims": [quarantined_row(item) for item in found[:limit]]})
        return
    if not found:
        render.output.print("no claims are quarantined")
        return
    render.show_table(("reason", "claims"), counts.items())
    render.output.print()
    columns = ("reason", "where", "claim", "why")
    render.show_table(columns, [_shown(quarantined_row(item)) for item in found[:limit]])
    if len(found) > limit:
        render.output.print(f"… {len(found) - limit} more (--limit)", markup=False)


def gaps(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="Show at most so many.")] = 20,
    examples: Annotated[int, typer.Option(min=0, help="Claims to show of each.")] = 2,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what documents say and the ontology has no word for: refused relations, types and attributes, counted.

        ontoloom gaps
        ontoloom gaps --json

    Each comes with some of its claims and a piece of YAML that would admit them, to be looked over and pasted.
    """
    from graph.gaps import find_gaps
    from serving.access import reading
    from serving.wiring import find_ontology

    settings = settings_of(ctx, store=store)
    ontology = find_ontology(settings)
    with reading(settings, ontology) as opened:
        found = find_gaps(opened.quarantined(), ontology, examples=examples)
    if as_json:
        rows = [
            {
                "kind": gap.kind, "name": gap.name, "of": gap.of, "claims": gap.count, "documents": gap.documents,
                "examples": [quarantined_row(item) for item in gap.examples], "patch": gap.patch,
            }
            for gap in found[:limit]
        ]  # fmt: skip
        render.write_json({"gaps": rows, "all": len(found)})
        return
    if not found:
        render.output.print("no claim was refused for want of a word")
    for gap in found[:limit]:
        of = f" of {gap.of}" if gap.of else ""
        claims = f"{gap.count} claim{'s' * (gap.count > 1)} in {gap.documents} document{'s' * (gap.documents > 1)}"
        render.output.print(
            f"[bold]{render.escape(gap.kind)} '{render.escape(gap.name)}'[/]{render.escape(of)}: {claims}"
        )
        for item in gap.examples:
            _, where, claim, _ = _shown(quarantined_row(item))
            render.output.print(f"    {where}: {claim}", markup=False)
        render.output.print(gap.patch, markup=False)
    if len(found) > limit:
        render.output.print(f"… {len(found) - limit} more (--limit)", markup=False)


def quarantined_row(item: Quarantined) -> dict[str, Any]:
    claim = item.claim
    return {
        "code": item.code,
        "document": item.document,
        "start": claim.start,
        "end": claim.end,
        "subject": claim.subject.name,
        "relation": claim.relation,
        "object": render.plain(getattr(claim.object, "name", claim.object)),
        "extractor": claim.extractor,
        "message": item.message,
    }


def _shown(row: dict[str, Any]) -> tuple[str, str, str, str]:
    where = f"{row['document']}:{row['start']}-{row['end']}"
    return row["code"], where, f"{row['subject']} — {row['relation']} → {row['object']}", row["message"]
