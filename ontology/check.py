"""An ontology and its wiki pages, checked each by itself and then against each other."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from ontology.constraints import check_constraints
from ontology.findings import Finding, FindingsError, did_you_mean, shown
from ontology.pages import Page, PageRef, names_of, parse_page
from ontology.read import compile_ontology
from ontology.schema import Ontology
from ontology.strict_yaml import Source, read_source
from ontoloom.names import name_key
from ontoloom.progress import OnProgress, Progress, silent

WIKI = "wiki"
PAGE_SUFFIX = ".md"

# Code is blanked out before links are looked for: fenced blocks, then spans between equal runs of back quotes.
FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*\r?$|\Z)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]{1,2000}?(?<!`)\1(?!`)")
LINK = re.compile(r"\[[^\[\]\n]*\]\(\s*<?([^()<>\s]+)>?(?:\s+[^()\n]*)?\)")
WIKI_LINK = re.compile(r"\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check came to. ``ontology`` is None when it has an error; then no page was read.

    ``pages`` are those whose type and name could be told, sorted by file; only pages without errors among the
    ``findings`` should be believed.
    """

    ontology: Ontology | None
    pages: tuple[Page, ...]
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no errors; warnings may be."""
        return not any(finding.severity == "error" for finding in self.findings)


@dataclass(slots=True)
class _Wiki:
    """All pages while they are checked: by id, with the source that findings go to, and ids by name key."""

    files: dict[str, Path] = field(default_factory=dict)
    pages: dict[str, Page] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)
    trigrams: dict[str, set[str]] = field(default_factory=dict)


def check(ontology_file: Path, *, on_progress: OnProgress = silent) -> Checked:
    """Checks an ontology and the pages in the folder ``wiki`` beside it. Reports everything; raises nothing."""
    try:
        source = read_source(ontology_file)
    except FindingsError as error:
        return Checked(None, (), error.findings)
    ontology, findings = compile_ontology(source.text, file=source.file)
    if ontology is None:
        return Checked(None, (), tuple(findings))
    wiki = _Wiki()
    findings += _read_pages(ontology, wiki, ontology_file.parent / WIKI, on_progress)
    for page_id, page in wiki.pages.items():
        _check_names(wiki, wiki.sources[page_id], page)
    for page_id, page in wiki.pages.items():
        _check_statements(ontology, wiki, wiki.sources[page_id], page)
        _check_links(wiki, wiki.sources[page_id], page)
    check_constraints(ontology, wiki.pages, lambda page_id, *finding: wiki.sources[page_id].error(*finding))
    findings += [finding for source in wiki.sources.values() for finding in source.findings]
    pages = sorted(wiki.pages.values(), key=lambda page: page.file)
    return Checked(ontology, tuple(pages), tuple(sorted(findings)))


def find_pages(folder: Path, *, on_error: Callable[[OSError], None] | None = None) -> list[Path]:
    """The Markdown files below a folder, sorted; hidden files and folders are left out.

    ``on_error`` is told of folders that cannot be read.
    """
    found: list[Path] = []
    for parent, folders, files in os.walk(folder, onerror=on_error):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (Path(parent, name) for name in files if not name.startswith("."))
        found += [path for path in paths if path.suffix.lower() == PAGE_SUFFIX and path.is_file()]
    return sorted(found, key=lambda path: path.as_posix())


def _read_pages(ontology: Ontology, wiki: _Wiki, folder: Path, on_progress: OnProgress) -> list[Finding]:
    """Fills ``wiki``; gives back the findings of files that cannot be read or have a name that is taken."""
    findings: list[Finding] = []

    def report(error: OSError) -> None:
        if folder.exists():  # an ontology without pages is complete
            message = f"the folder cannot be read: {error.strerror}"
            findings.append(Finding(str(error.filename), 1, 1, "unreadable", message, "grant access to it"))

    paths = find_pages(folder, on_error=report)
    folded: dict[str, Path] = {}
    for done, path in enumerate(paths):
        on_progress(Progress("check pages", done, len(paths), path.name))
        other = folded.setdefault(path.stem.casefold(), path)
        if other != path:
            message = f"the page id '{path.stem}' is taken by {other}"
            findings.append(Finding(str(path), 1, 1, "duplicate-page", message, "rename the file"))
            continue
        wiki.files[path.stem] = path
        try:
            source = read_source(path)
        except FindingsError as error:
            findings += error.findings
            continue
        page, source.findings = parse_page(source.text, file=source.file, ontology=ontology)
        wiki.sources[path.stem] = source
        if page is not None:
            wiki.pages[path.stem] = page
    on_progress(Progress("check pages", len(paths), len(paths)))
    return findings


def _check_names(wiki: _Wiki, source: Source, page: Page) -> None:
    for key, name, at in names_of(page):
        other = wiki.named.setdefault(key, page.id)
        if other != page.id:
            message = f"{shown(name)} already names the page {wiki.pages[other].file}"
            source.error(at, "duplicate-name", message, "merge the pages, or tell the names apart")


def _check_statements(ontology: Ontology, wiki: _Wiki, source: Source, page: Page) -> None:
    for statement in page.statements:
        if not isinstance(statement.object, PageRef):
            continue
        relation = ontology.relations[statement.key]
        if statement.inverse:
            _check_reference(wiki, source, statement.object, relation.inverse, relation.domain)
        else:
            _check_reference(wiki, source, statement.object, statement.key, relation.range)
        for name, value in statement.attributes:
            if isinstance(value, PageRef):
                _check_reference(wiki, source, value, name, relation.attributes[name].targets)


def _check_reference(wiki: _Wiki, source: Source, ref: PageRef, key: str, targets: tuple[str, ...]) -> None:
    if ref.id not in wiki.files:
        source.error(ref.start, "dangling-reference", f"there is no page {shown(ref.id)}", _propose_page(wiki, ref.id))
    elif ref.id in wiki.pages and wiki.pages[ref.id].type not in targets:
        message = f"'{key}' leads to {' or '.join(targets)}, and '{ref.id}' is {wiki.pages[ref.id].type}"
        source.error(ref.start, "wrong-range", message, f"name a page of type {' or '.join(targets)}")


def _propose_page(wiki: _Wiki, wanted: str) -> str:
    """The page that has the wanted text for a name, else the page whose id is most like it."""
    wanted = wanted.removesuffix(PAGE_SUFFIX).rpartition("/")[2]
    named = wiki.named.get(name_key(wanted))
    if named is not None or wanted in wiki.files:
        return f"write {named or wanted}"
    return did_you_mean(wanted, _similar_pages(wiki, wanted))


def _similar_pages(wiki: _Wiki, wanted: str, *, most: int = 50) -> list[str]:
    """The ids that share most trigrams with a text: comparing with each of 10,000 would take a tenth of a second."""
    if len(wiki.files) <= most:
        return list(wiki.files)
    if not wiki.trigrams:
        for page_id in wiki.files:
            for trigram in _trigrams(page_id):
                wiki.trigrams.setdefault(trigram, set()).add(page_id)
    shared: dict[str, int] = defaultdict(int)
    for trigram in _trigrams(wanted):
        for page_id in wiki.trigrams.get(trigram, ()):
            shared[page_id] += 1
    return sorted(shared, key=lambda page_id: (-shared[page_id], page_id))[:most]


def _trigrams(text: str) -> set[str]:
    padded = f" {text.casefold()} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


def _check_links(wiki: _Wiki, source: Source, page: Page) -> None:
    """Warns of links in the prose that lead to no page or file."""
    if source.text.find("[", page.body_start) < 0:
        return
    prose = CODE.sub(_blank, FENCED.sub(_blank, source.text[page.body_start :]))
    for match in WIKI_LINK.finditer(prose):
        wanted = match[1].strip()
        if wanted.removesuffix(PAGE_SUFFIX) not in wiki.files:
            message = f"the link {shown(f'[[{wanted}]]')} leads to no page"
            source.warn(page.body_start + match.start(1), "dead-link", message, _propose_page(wiki, wanted))
    for match in LINK.finditer(prose):
        target = unquote(match[1].partition("#")[0].partition("?")[0])
        if target and not SCHEME.match(target) and not _exists(Path(page.file).parent / target):
            message = f"the link to {shown(match[1])} leads nowhere"
            source.warn(page.body_start + match.start(1), "dead-link", message, _propose_page(wiki, target))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that is too long, or holds NUL
        return False
