"""An ontology and its wiki pages, checked each by itself and then against each other.

What one page says by itself is worked out once: with a cache, only pages that changed are read again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ontology.check_cache import CheckCache, Checks, Row, Stamp
from ontology.constraints import Breach
from ontology.emit_yaml import scalar
from ontology.facts import Limits, PageFacts, facts_of
from ontology.findings import Edit, Finding, FindingsError
from ontology.page_reader import PageReader
from ontology.pages import page_id
from ontology.plain_pages import PlainReader
from ontology.read import compile_ontology
from ontology.schema import Ontology
from ontology.strict_yaml import Source, read_bytes, read_source
from ontology.vocabulary import Vocabularies
from ontology.wiki import PAGE_SUFFIX, Wiki
from ontoloom.progress import OnProgress, Progress, silent
from ontoloom.uncollected import uncollected

WIKI = "wiki"


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check came to. ``ontology`` is None when it has an error; then no page was read.

    ``pages`` are those whose type and name could be told, sorted by file; only pages without errors among the
    ``findings`` should be believed. ``files`` has the path of each page by its id. ``read`` is how many pages were not
    in the cache.
    """

    ontology: Ontology | None
    pages: tuple[PageFacts, ...]
    findings: tuple[Finding, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    read: int = 0

    @property
    def ok(self) -> bool:
        """Whether there are no errors; warnings may be."""
        return not any(finding.severity == "error" for finding in self.findings)


def check(ontology_file: Path, *, cache: Path | None = None, on_progress: OnProgress = silent) -> Checked:
    """Checks an ontology and the pages in the folder ``wiki`` beside it. Reports everything; raises nothing.

    ``cache`` is a file where what was found is kept for the next time; it may be deleted.
    """
    try:
        source = read_source(ontology_file)
    except FindingsError as error:
        return Checked(None, (), error.findings)
    ontology, findings = compile_ontology(source.text, file=source.file)
    if ontology is None:
        return Checked(None, (), tuple(findings))
    with uncollected():
        return _check_wiki(ontology, findings, Folder(str(ontology_file.parent / WIKI)), cache, on_progress)


def _check_wiki(
    ontology: Ontology, findings: list[Finding], folder: Folder, cache: Path | None, on_progress: OnProgress
) -> Checked:
    began = time.time_ns()
    kept = CheckCache(cache, ontology) if cache is not None else None
    known = kept.known if kept is not None else {}
    checks = dict(_check_pages(ontology, folder, known, stamped=kept is not None, on_progress=on_progress))
    read = sum(checks[path] is not known.get(path) for path in checks)
    if kept is not None and read:
        kept.keep(checks, began=began)
    pages = {facts.id: facts for one in checks.values() if (facts := one.facts) is not None}
    findings += folder.findings
    findings += [Finding(folder.path(path), *row) for path, one in checks.items() for row in one.findings]
    wiki = Wiki(ontology, folder.files, pages, folder.exists)
    findings += located(wiki.check(), folder.files)
    return Checked(ontology, tuple(pages.values()), tuple(sorted(findings)), folder.files, read)


class Folder:
    """The Markdown files below a folder, in order; hidden files and folders are left out, and so is what is no file.

    ``pages`` are their paths within the folder, by page id; ``findings`` tells of folders that cannot be read and of
    ids that are taken.
    """

    def __init__(self, folder: str) -> None:
        self.findings: list[Finding] = []
        self._folder = folder
        self._entries: dict[str, os.DirEntry[str]] = {}
        if os.path.exists(folder):  # an ontology without pages is complete
            self._walk(folder, "")
        self.pages: dict[str, str] = {}
        folded: dict[str, str] = {}
        for path in sorted(path for path, entry in self._entries.items() if is_page(entry)):
            name = page_id(path)
            other = folded.setdefault(name.casefold(), path)
            if other == path:
                self.pages[name] = path
            else:
                message = f"the page id '{name}' is taken by {self.path(other)}"
                self.findings.append(Finding(self.path(path), 1, 1, "duplicate-page", message, "rename the file"))
        self.files = {name: self.path(path) for name, path in self.pages.items()}

    def path(self, within: str) -> str:
        """The path of a file within the folder."""
        return f"{self._folder}/{within}"

    def stamp(self, within: str) -> Stamp:
        """What changes when a file does."""
        stat = self._entries[within].stat()
        return stat.st_size, stat.st_mtime_ns, stat.st_ino

    def exists(self, file: str, target: str) -> bool:
        """Whether a path relative to the folder of a page leads to a file or folder."""
        within, rest = file[len(self._folder) + 1 : file.rfind("/") + 1], target
        while rest.startswith("../") and within:
            rest, within = rest[3:], within[: within.rfind("/", 0, -1) + 1]
        if within + rest in self._entries:
            return True
        try:
            return os.path.exists(os.path.join(os.path.dirname(file), target))
        except (OSError, ValueError):  # a name that is too long, or holds NUL
            return False

    def _walk(self, folder: str, within: str) -> None:
        try:
            with os.scandir(folder) as entries:
                found = [entry for entry in entries if not entry.name.startswith(".")]
        except OSError as error:
            message = f"the folder cannot be read: {error.strerror}"
            self.findings.append(Finding(folder, 1, 1, "unreadable", message, "grant access to it"))
            return
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                self._walk(entry.path, f"{within}{entry.name}/")
            else:
                self._entries[within + entry.name] = entry


def is_page(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.name.lower().endswith(PAGE_SUFFIX) and entry.is_file()
    except OSError:  # a link that leads to itself
        return False


def _check_pages(
    ontology: Ontology, folder: Folder, known: Mapping[str, Checks], *, stamped: bool, on_progress: OnProgress
) -> Iterator[tuple[str, Checks]]:
    """What each page comes to by itself, by its path; known ones are taken as they are where nothing has changed."""
    checker = PageChecker(ontology)
    for done, path in enumerate(folder.pages.values()):
        if not done % 100:
            on_progress(Progress("check pages", done, len(folder.pages), path))
        stamp = folder.stamp(path) if stamped else None
        before = known.get(path)
        if before is not None and before.stamp == stamp:
            yield path, before
        else:
            yield path, checker.check(folder.path(path), stamp)
    on_progress(Progress("check pages", len(folder.pages), len(folder.pages)))


class PageChecker:
    """Works out what pages come to by themselves."""

    def __init__(self, ontology: Ontology) -> None:
        self._limits, vocabularies = Limits(ontology), Vocabularies(ontology)
        self._plain = PlainReader(vocabularies, self._limits)
        self._reader = PageReader(vocabularies)

    def check(self, file: str, stamp: Stamp | None = None) -> Checks:
        with suppress(OSError, UnicodeDecodeError):  # reported below
            facts = self._plain.read(read_bytes(file).decode(), page_id(file))
            if facts is not None:
                return Checks(stamp, facts, ())
        try:
            text = read_source(file).text
        except FindingsError as error:
            return Checks(stamp, None, tuple(map(_row, error.findings)))
        page, findings = self._reader.read(text, file=file)
        facts = facts_of(page, text, self._limits) if page is not None else None
        return Checks(stamp, facts, tuple(map(_row, findings)))


def _row(finding: Finding) -> Row:
    return finding.line, finding.column, finding.code, finding.message, finding.fix, finding.severity, finding.edit


def located(breaches: Iterable[Breach], files: Mapping[str, str]) -> list[Finding]:
    """Breaches as findings; pages that have one are read again to tell line and column."""
    sources: dict[str, Source] = {}
    found = []
    for breach in breaches:
        if breach.page not in sources:
            try:
                sources[breach.page] = read_source(files[breach.page])
            except FindingsError:  # gone since
                sources[breach.page] = Source(files[breach.page], "")
        source = sources[breach.page]
        line, column = source.position(breach.at)
        edit = None
        if breach.right and source.text.startswith(breach.wrong, breach.at):
            edit = Edit(breach.at, breach.at + len(breach.wrong), scalar(breach.right, within=True))
        found.append(Finding(source.file, line, column, breach.code, breach.message, breach.fix, breach.severity, edit))
    return found
