"""``store``: the graph as a whole: copied, verified, backed up; its entities merged, its changes listed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from serving import render
from serving.cli_options import JsonOption, StoreOption, settings_of

if TYPE_CHECKING:
    from graph.copy import Copied, Plan
    from graph.store import Store
    from ontology.schema import Ontology

store_app = typer.Typer(no_args_is_help=True, help="The graph store as a whole: copy, verify, back up, merge.")

TypeOption = Annotated[str | None, typer.Option("--type", help="The type of the entities, where a name is of several.")]
ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Remove what the target holds and the source does not, or has otherwise.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")]


def register(app: typer.Typer) -> None:
    for command in (copy, verify, backup, restore, merge, unmerge, merges, log, digest):
        store_app.command()(command)
    app.add_typer(store_app, name="store")


# Whole stores


def copy(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FROM", help="A store: a path or an address.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Another one; it is made where there is none.")],
    replace: ReplaceOption = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Copy a whole graph from one store into another, whatever databases they are, and compare their digests.

        ontoloom store copy .ontoloom/graph neo4j://127.0.0.1:7687
        ontoloom store copy neo4j://127.0.0.1:7687 graph.copy --dry-run

    A copy that was interrupted goes on when it is started again: what is there already is left alone. What the graph
    was before, for AS OF, is not copied: the target's history begins with the copy.
    """
    from graph.copy import StoreSource, compare
    from graph.copy import copy as copy_store
    from graph.open import open_store
    from ontoloom.errors import StoreError

    ontology, locations = _ontology(ctx), [settings_of(ctx, store=one).store_location for one in (source, target)]
    if len({location if "://" in location else str(Path(location).resolve()) for location in locations}) == 1:
        raise StoreError(f"{source} and {target} are one store", hint="name another to copy it to", code="copy-same")
    with open_store(locations[0], ontology, read_only=True) as opened:
        if dry_run:
            with _reading_or_empty(locations[1], ontology) as there:
                _show_plan(compare(StoreSource(opened), there), as_json)
            return
        with _writing(ctx, target, ontology, "store copy") as written, render.progress() as on_progress:
            copied = copy_store(opened, written, replace=replace, on_progress=on_progress)
    _show_copied(copied, as_json)


def backup(
    ctx: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.", dir_okay=False)],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write all that the graph holds, with its ontology, to one compressed and checksummed file.

        ontoloom store backup graph.backup

    It can be restored into any sort of store. What the graph was before, for AS OF, is not in it.
    """
    from graph.archive import backup as write_backup
    from ontoloom.errors import StoreError
    from serving.access import reading

    settings, ontology = settings_of(ctx, store=store), _ontology(ctx)
    if path.exists() and not force:
        raise StoreError(f"{path} is there already", hint="name another file, or: --force", code="backup-file")
    with reading(settings, ontology) as opened, render.progress() as on_progress:
        text = settings.ontology.read_text("utf-8")
        header = write_backup(opened, path, ontology_text=text, on_progress=on_progress)
    if as_json:
        render.write_json({"file": path, "bytes": path.stat().st_size, "backup": header})
        return
    size = f"{path.stat().st_size / 1e6:,.1f} MB"
    render.output.print(
        f"{path}: {header.documents:,} documents, {header.triples:,} triples, {header.merges:,} merges, {size}\n"
        f"digest {header.digest}\nread it back with: ontoloom store restore {shlex.quote(str(path))}",
        markup=False,
    )


def restore(
    ctx: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="What 'store backup' wrote.", dir_okay=False)],
    replace: ReplaceOption = False,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read a backup into the store, and compare digests. A damaged file is refused before anything is written.

        ontoloom store restore graph.backup
        ontoloom store restore graph.backup --store neo4j://127.0.0.1:7687 --replace

    A restore that was interrupted goes on when it is started again. In a folder without ontology.yaml the one in the
    backup is written first.
    """
    from graph.archive import Archive
    from graph.archive import restore as read_backup
    from graph.copy import compare

    settings = settings_of(ctx, store=store)
    with render.progress() as on_progress:
        archive = Archive(path, on_progress=on_progress)
        if archive.header.ontology_text and not settings.ontology.exists() and not dry_run:
            settings.ontology.write_text(archive.header.ontology_text, "utf-8")
            render.errors.print(f"wrote {settings.ontology}, as it is in the backup", markup=False)
        ontology = _ontology(ctx)
        if dry_run:
            with _reading_or_empty(settings.store_location, ontology) as there:
                _show_plan(compare(archive, there), as_json)
            return
        with _writing(ctx, store, ontology, "store restore") as opened:
            restored = read_backup(archive, opened, replace=replace, on_progress=on_progress)
    _show_copied(restored, as_json)


def verify(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="Show at most so many faults.")] = 100,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look for faults: what others wrote into the database, dangling evidence, orphan entities, names that mislead.

        ontoloom store verify

    Everything is worked out again from what documents said. Exit status 1 where a fault is found; that evidence rests
    on other versions of the ontology is told, and is none.
    """
    from graph.inspect import INFORMATION, inspect
    from serving.access import reading

    settings = settings_of(ctx, store=store)
    with reading(settings, _ontology(ctx)) as opened, render.progress() as on_progress:
        change, found = opened.last_change(), list(islice(inspect(opened, on_progress=on_progress), 100_000))
    faults = [fault for fault in found if fault.code not in INFORMATION]
    notes = [fault for fault in found if fault.code in INFORMATION]
    if as_json:
        render.write_json({"change": change, "faults": faults, "notes": notes})
    else:
        for note in notes:
            render.output.print(f"note: {note.where}: {note.message} [{note.code}]", markup=False)
        if faults:
            render.show_table(("fault", "where", "what"), [(f.code, f.where, f.message) for f in faults[:limit]])
        if len(faults) > limit:
            render.output.print(f"… and {len(faults) - limit:,} more (--limit)", markup=False)
        verdict = f"{len(faults):,} faults" if faults else f"change {change}: no faults"
        render.output.print(verdict, markup=False)
    if faults:
        raise typer.Exit(1)


def digest(ctx: typer.Context, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Print a hash of all that the graph says: equal for equal content, whatever the order it came in.

    ontoloom store digest
    """
    from serving.access import reading

    with reading(settings_of(ctx, store=store), _ontology(ctx)) as opened:
        value = opened.digest()
    if as_json:
        render.write_json({"digest": value})
    else:
        render.output.print(value)


def log(
    ctx: typer.Context,
    since: Annotated[int, typer.Option(min=0, help="Only changes after this number.")] = 0,
    limit: Annotated[int, typer.Option(min=1, help="Show at most so many, the last ones.")] = 50,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the changes of the graph: when, which documents, how many entities and triples.

    ontoloom store log --since 120
    """
    from serving.access import reading

    with reading(settings_of(ctx, store=store), _ontology(ctx)) as opened:
        shown = list(opened.changes(max(since, opened.last_change() - limit)))
    if as_json:
        render.write_json({"changes": shown})
        return
    rows = [
        (c.number, c.time.astimezone().isoformat(" ", "seconds"), len(c.documents), len(c.entities), len(c.triples),
         _first(c.documents))
        for c in shown
    ]  # fmt: skip
    render.show_table(("change", "time", "documents", "entities", "triples", ""), rows)


def _first(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


# Merges


def merge(
    ctx: typer.Context,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="A name or an id.")],
    into: Annotated[str, typer.Argument(metavar="INTO", help="Which it is: a name or an id.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; kept with the merge.")] = "",
    type_name: TypeOption = None,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say that one entity is another: what documents say of it, before and after, is said of the other.

        ontoloom store merge 'GPT-4 Turbo' GPT-4 --reason 'the same weights'

    Documents are kept as they are, so that a merge can be taken back: ontoloom store unmerge.
    """
    from serving.find_entity import find_entity

    ontology = _ontology(ctx)
    with _opened(ctx, store, ontology, "store merge", read_only=dry_run) as opened:
        merged, kept = (find_entity(opened, text, type_name) for text in (entity, into))
        if dry_run:
            render.output.print(f"would merge {merged.name} ({merged.id}) into {kept.name} ({kept.id})", markup=False)
            return
        change = opened.merge(merged.id, kept.id, reason=reason)
    if as_json:
        render.write_json({"change": change, "entity": merged, "into": kept, "reason": reason})
        return
    undo = f"ontoloom store unmerge {shlex.quote(merged.id)}" + (f" --store {shlex.quote(store)}" if store else "")
    render.output.print(f"change {change}: {merged.name} is {kept.name} now\ntake it back with: {undo}", markup=False)


def unmerge(
    ctx: typer.Context,
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="What was merged: its name then, or its id.")],
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a merge back: the entity is again what documents say of it.

    ontoloom store merges
    ontoloom store unmerge 'GPT-4 Turbo'
    """
    from serving.find_entity import find_merge

    with _opened(ctx, store, _ontology(ctx), "store unmerge", read_only=dry_run) as opened:
        found = find_merge(opened, entity)
        if dry_run:
            render.output.print(f"would take back that {found.name} is {found.into}", markup=False)
            return
        change = opened.unmerge(found.entity)
    if as_json:
        render.write_json({"change": change, "merge": found})
    else:
        render.output.print(f"change {change}: {found.name} is itself again", markup=False)


def merges(
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Also those that were taken back.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List merges: what was merged into what, by which change, and why.

    ontoloom store merges --all
    """
    from serving.access import reading

    with reading(settings_of(ctx, store=store), _ontology(ctx)) as opened:
        found = [one for one in opened.merges() if every or one.undone is None]
        names = {entity: one.name for entity, one in opened.entities([one.into for one in found]).items()}
    if as_json:
        render.write_json({"merges": found})
        return
    if not found:
        render.output.print("no entities are merged")
        return
    rows = [(one.name, names.get(one.into, one.into), one.type, one.made, one.undone, one.reason) for one in found]
    render.show_table(("entity", "is", "type", "change", "taken back", "reason"), rows)


# What they share


def _ontology(ctx: typer.Context) -> Ontology:
    from serving.wiring import find_ontology

    return find_ontology(settings_of(ctx))


@contextmanager
def _opened(
    ctx: typer.Context, store: str | None, ontology: Ontology, command: str, *, read_only: bool
) -> Iterator[Store]:
    from serving.access import reading

    if read_only:
        with reading(settings_of(ctx, store=store), ontology) as opened:
            yield opened
    else:
        with _writing(ctx, store, ontology, command) as opened:
            yield opened


@contextmanager
def _writing(ctx: typer.Context, store: str | None, ontology: Ontology, command: str) -> Iterator[Store]:
    """A store to write to. The note of who writes is about the project's own store, and no other."""
    from graph.open import open_store
    from serving.access import writing

    settings, own = settings_of(ctx, store=store), settings_of(ctx)
    if settings.store_location == own.store_location:
        with writing(settings, ontology, command=command) as opened:
            yield opened
    else:
        with open_store(settings.store_location, ontology) as opened:
            yield opened


@contextmanager
def _reading_or_empty(location: str, ontology: Ontology) -> Iterator[Store]:
    """A store to compare with; an empty one for the time being where there is none."""
    import tempfile

    from graph.open import open_store

    if "://" in location or Path(location).exists():
        with open_store(location, ontology, read_only=True) as opened:
            yield opened
        return
    with tempfile.TemporaryDirectory(prefix="ontoloom-") as folder, open_store(Path(folder) / "none", ontology) as none:
        yield none


def _show_plan(plan: Plan, as_json: bool) -> None:
    if as_json:
        render.write_json(plan)
        return
    rows = [
        ("documents to write", len(plan.missing)),
        ("documents that are there", plan.unchanged),
        ("documents that differ (--replace)", len(plan.differing)),
        ("documents to remove (--replace)", len(plan.surplus)),
        ("merges to make", plan.merges),
        ("merges to take back (--replace)", len(plan.undone)),
    ]
    render.show_table(("", ""), rows, title="would be copied")


def _show_copied(copied: Copied, as_json: bool) -> None:
    if as_json:
        render.write_json(copied)
        return
    rows = [
        ("documents written", copied.written),
        ("documents that were there", copied.unchanged),
        ("documents removed", copied.removed),
        ("merges made", copied.merges),
    ]
    render.show_table(("", ""), rows)
    render.output.print(f"digests are equal: {copied.digest}", markup=False)
