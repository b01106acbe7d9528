"""``ask``, ``search`` and ``select``: three ways to read the graph."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ontoloom.errors import QueryError
from serving import render
from serving.cli_options import EngineOption, JsonOption, StoreOption, settings_of

if TYPE_CHECKING:
    from retrieval.answer import Event
    from serving.provenance import Sourced
    from serving.settings import Settings


DECLINED = 3
"""Exit status of a question that nothing here answers: no error, and no answer either."""


class Format(StrEnum):
    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


def register(app: typer.Typer) -> None:
    app.command()(ask)
    app.command()(search)
    app.command()(select)


def ask(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(help="A question in your own words.")],
    k: Annotated[int | None, typer.Option("-k", min=1, max=1000, help="Triples that it may be answered from.")] = None,
    no_llm: Annotated[bool, typer.Option("--no-llm", help="Answer in the words of the graph alone.")] = False,
    store: StoreOption = None,
    engine: EngineOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question, each sentence with the characters it rests on; or say why nothing here answers it.

        ontoloom ask "How many tokens does Mixtral 8x7B read at once?"

    With an engine (ontoloom engine up) the LLM words the answer; without one the graph's own words are given.
    Exit status 0 with an answer, 3 where it is declined.
    """
    from serving.events import named
    from serving.wiring import answer_events, asking

    settings = settings_of(ctx, store=store, engine=engine, top_k=k)
    with ExitStack() as stack:
        with render.progress() as on_progress:
            parts = stack.enter_context(asking(settings, use_engine=not no_llm, on_progress=on_progress))
        events = answer_events(settings, parts, question)
        if as_json:
            found = [named(event) for event in events]
            render.write_json([{"event": event.name, **event.data} for event in found])
            answered = not any(event.name == "declined" for event in found)
        else:
            answered = show_answer(events)
    if not answered:
        raise typer.Exit(DECLINED)


def show_answer(events: Iterable[Event]) -> bool:
    """Prints sentences as they come, with their citations; says whether there were any."""
    from serving.events import named

    answered = True
    for event in map(named, events):
        if event.name == "sentence":
            citations = "  ".join(event.data["citations"])
            render.output.print(f"{render.escape(event.data['text'])} [dim]\\[{render.escape(citations)}][/]")
        elif event.name == "declined":
            answered = False
            render.output.print(f"no answer: {event.data['reason']}", markup=False)
        elif event.name == "done" and answered:
            note = f" ({event.data['note']})" if event.data["note"] else ""
            render.output.print(f"[dim]— {render.escape(event.data['answerer'] + note)}[/]")
    return answered


def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="Words, names or a question.")],
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many triples to show.")] = 10,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the triples that fit a query best, with their scores and where they were read.

    ontoloom search "context length of Mixtral" -k 5
    """
    from serving.events import described_hit
    from serving.wiring import asking, find_hits

    settings = settings_of(ctx, store=store)
    with ExitStack() as stack:
        with render.progress() as on_progress:
            parts = stack.enter_context(asking(settings, use_engine=False, on_progress=on_progress))
        hits = [described_hit(hit) for hit in find_hits(parts, query, k=k)]
    if as_json:
        render.write_json(hits)
        return
    rows = [(f"{h['score']:.3f}", h["text"], " + ".join(h["found_by"]), "  ".join(h["citations"])) for h in hits]
    render.show_table(("score", "triple", "found by", "where"), rows)


def select(
    ctx: typer.Context,
    sql: Annotated[str | None, typer.Argument(help="One SELECT statement; '-' reads it from standard input.")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to write the rows.")] = Format.table,
    as_json: JsonOption = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file.", dir_okay=False)] = None,
    provenance: Annotated[bool, typer.Option("--provenance", help="Say where each value comes from.")] = False,
    tables: Annotated[bool, typer.Option("--tables", help="List the tables and their columns.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Write at most so many rows.")] = 10_000,
    timeout: Annotated[float, typer.Option(min=0.1, help="Give up after so many seconds.")] = 30.0,
    store: StoreOption = None,
) -> None:
    """Run a typed SELECT over the graph: a table for each type and each relation. No LLM is involved.

    ontoloom select --tables
    ontoloom select "SELECT * FROM Model WHERE training_method = 'DPO'" --provenance
    ontoloom select "SELECT subject, score_delta FROM superior_to ORDER BY score_delta DESC" --format csv
    """
    settings = settings_of(ctx, store=store)
    if as_json:
        form = Format.json
    if tables:
        _show_tables(settings, as_json=form is Format.json)
        return
    if sql is None:
        raise QueryError("no statement is given", hint='ontoloom select "SELECT name FROM …"; see also --tables')
    if form is Format.parquet and out is None:
        raise QueryError("Parquet goes to a file", hint="name it: --out rows.parquet")
    from serving.wiring import run_select

    statement = sys.stdin.read() if sql == "-" else sql
    found = run_select(settings, statement, sources=provenance, max_rows=limit, timeout=timeout)
    _write(found, form, out, sources=provenance)
    if found.selection.truncated:
        render.errors.print(f"only the first {limit} rows are written (--limit)", markup=False)


def _show_tables(settings: Settings, *, as_json: bool) -> None:
    from graph.tables import describe
    from serving.wiring import find_ontology

    found = describe(find_ontology(settings))
    if as_json:
        rows = [
            {
                "table": table.name,
                "of": table.of,
                "description": table.description,
                "columns": [{"name": c.name, "type": c.type, "hidden": c.hidden} for c in table.columns],
            }
            for table in found
        ]
        render.write_json(rows)
        return
    for table in found:
        render.output.print(f"[bold]{render.escape(table.name)}[/]  {render.escape(table.description)}")
        for column in table.columns:
            if not column.hidden:
                render.output.print(f"  {column.name}: {column.type}", markup=False)
    hidden = sorted({column.name for table in found for column in table.columns if column.hidden})
    render.output.print(f"\nnot shown by *: {', '.join(hidden)}", markup=False)


def _write(found: Sourced, form: Format, out: Path | None, *, sources: bool) -> None:
    names = [column.name for column in found.selection.columns]
    if form is Format.parquet:
        import pyarrow.parquet as pq

        assert out is not None
        pq.write_table(found.selection.rows, out)
        return
    rows = found.selection.rows.to_pylist()
    with render.to_file(out):
        if form is Format.json:
            columns = [{"name": c.name, "type": c.type} for c in found.selection.columns]
            body = {"columns": columns, "rows": rows, "truncated": found.selection.truncated}
            render.write_json(body | ({"sources": found.sources} if sources else {}))
        elif form is Format.csv:
            _write_csv(names, rows, found.sources)
        elif sources:
            show_sourced(found)
        else:
            render.show_table(names, [[row[name] for name in names] for row in rows])
            render.output.print(f"[dim]{len(rows)} rows[/]")


def _write_csv(names: list[str], rows: list[dict[str, object]], sources: list[dict[str, list[str]]]) -> None:
    """Several values in a cell, and the sources of a value, are joined by semicolons."""
    cited = [name for name in names if any(name in row for row in sources)]
    writer = csv.writer(sys.stdout)
    writer.writerow([*names, *(f"source of {name}" for name in cited)])
    for index, row in enumerate(rows):
        values = [";".join(map(str, v)) if isinstance(v, list) else render.cell(v) for v in row.values()]
        writer.writerow([*values, *(";".join(sources[index].get(name, ())) for name in cited)])


def show_sourced(found: Sourced) -> None:
    """Each row as a block: its columns that have a value, one a line, each with where it comes from."""
    names = [column.name for column in found.selection.columns]
    rows = found.selection.rows.to_pylist()
    for row, sources in zip(rows, found.sources, strict=True):
        present = [name for name in names if row[name] is not None and row[name] != []]
        lines = [(name, row[name], "  ".join(sources.get(name, ()))) for name in present]
        render.show_table(("column", "value", "where it comes from"), lines)
        render.output.print()
    render.output.print(f"[dim]{len(rows)} rows[/]")
