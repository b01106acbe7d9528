"""Documents to passages, and texts to sentences: at paragraphs first, then sentences, then blanks; nothing is lost."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ontoloom.records import Document, Passage

Span = tuple[int, int]


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_BLANK_LINE = re.compile(r"(?:\r\n|\n|\r)[^\S\r\n]*(?:\r\n|\n|\r)\s*")
# A line of its own whatever stands around it: a heading, an item of a list, a row of a table.
_BLOCK_START = re.compile(
    r"(?:\r\n|\n|\r)(?=[^\S\r\n]*(?:#{1,6}[ \t]|[-*+•][ \t]|\d{1,3}[.)][ \t]|\|))|(?<=\|)(?:\r\n|\n|\r)"
)
_HEADING = re.compile(r"[^\S\r\n]*#{1,6}[ \t][^\r\n]*")
# Counted repetitions, so that a page of dots is read once and not once per dot.
_CLOSING = r"[\"'”’»)\]】）」』*_]{0,4}"
_STOP = re.compile(rf"[.!?…]{{1,4}}{_CLOSING}(?=\s)|[。！？]{{1,4}}{_CLOSING}")
_WORDS_BEFORE = re.compile(r"(?:(?P<previous>[^\s(\[]+)\s+)?[(\[{\"“‘'*_]*(?P<word>[^\s(\[{\"“‘'*_]+)$")
_REACH = 60
_WORD_AFTER = re.compile(r"\s*[\"'“‘«(\[*_]*(\S+)")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_NUMBERED_ITEM = re.compile(r"\s*\d{1,3}")
_CJK_CUT = re.compile(rf"[，、；：{_CJK}]")
_NOT_BLANK = re.compile(r"\S")

# Never the end of a sentence: something must follow.
_LEADING = _words("e.g i.e cf vs fig figs eq eqs dr mr mrs ms prof st ca approx")
# Not before a number: "No. 5", "Sept. 2021".
_BEFORE_NUMBER = _words("no nos vol pp p sec ch ref refs jan feb mar apr jun jul aug sep sept oct nov dec")
# Ends a sentence only before a word that starts one: "by Vaswani et al. The …", "in the U.S. It …".
_OPEN = _words("al etc inc ltd corp co resp jr sr dept univ")
_STARTERS = _words(
    """a after all although an and as at because before both but despite during each finally first for from
    furthermore given he hence here however if in instead it its like many moreover most no on one only other our over
    she since some such that the their then there therefore these they this those though through thus to under unlike
    until we what when where whereas whether which while with without"""
)
# Words after which a single letter is somebody's initial: "by J. Smith"; else it is a label: "type B. We".
_BEFORE_NAMES = _words("and by from of see to with")


def split(document: Document, *, max_characters: int = 1200) -> list[Passage]:
    """Passages of at most ``max_characters`` code points, in order; each lies within one section.

    Paragraphs are kept whole and gathered while they fit; one that is too long is cut between sentences, a sentence
    that is too long at a blank (in Chinese and Japanese at any character). Every character of every section that is
    not white space is in exactly one passage.
    """
    if max_characters < 1:
        raise ValueError(f"max_characters must be at least 1, not {max_characters}")
    return [
        Passage(document.id, section.name, start, end, document.text[start:end])
        for section in document.sections
        for start, end in _gather(document.text, section.start, section.end, max_characters)
    ]


def paragraphs(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Spans between blank lines, without surrounding white space."""
    yield from _between(text, start, len(text) if end is None else end, _BLANK_LINE)


def sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Spans of sentences, without surrounding white space; headings, list items and table rows are their own."""
    for paragraph in paragraphs(text, start, end):
        for block in _between(text, *paragraph, _BLOCK_START):
            heading = _HEADING.match(text, *block)
            if heading and heading.end() < block[1]:
                yield _trimmed(text, *heading.span())
                block = _trimmed(text, heading.end(), block[1])
            yield from _cut_at_stops(text, *block)


def _cut_at_stops(text: str, start: int, end: int) -> Iterator[Span]:
    begin = start
    for stop in _STOP.finditer(text, start, end):
        if _ends_sentence(text, begin, stop, end):
            yield _trimmed(text, begin, stop.end())
            begin = stop.end()
    if text[begin:end].strip():
        yield _trimmed(text, begin, end)


def _ends_sentence(text: str, begin: int, stop: re.Match[str], end: int) -> bool:
    if stop.group()[0] in "。！？":
        return True
    after = _WORD_AFTER.match(text, stop.end(), end)
    if after is None:
        return False  # nothing follows, so there is nothing to cut
    follower = after[1]
    if follower[0].islower() and not any(c.isupper() for c in follower):
        return False
    if stop.group()[0] != ".":
        return True
    if _NUMBERED_ITEM.fullmatch(text, begin, stop.start()):
        return False
    before = _WORDS_BEFORE.search(text, max(begin, stop.start() - _REACH), stop.start())
    return before is None or _word_ends_sentence(before["word"], before["previous"] or "", follower)


def _word_ends_sentence(word: str, previous: str, follower: str) -> bool:
    """Whether a full stop after ``word`` ends a sentence when ``follower``, no lower-case word, comes next."""
    folded = word.casefold()
    if folded in _LEADING:
        return False
    if folded in _BEFORE_NUMBER:
        return not follower[0].isdigit()
    if folded in _OPEN or (_INITIALS.fullmatch(word) and not _is_label(word, previous)):
        return follower.strip(",.;:").casefold() in _STARTERS
    return True


def _is_label(word: str, previous: str) -> bool:
    """Whether a single letter is a label (``hepatitis B``) and not an initial (``Geoffrey E. Hinton``)."""
    return len(word) == 1 and previous.islower() and previous not in _BEFORE_NAMES


def _gather(text: str, start: int, end: int, limit: int) -> Iterator[Span]:
    """Paragraphs put together while they fit, the too long ones in pieces."""
    current: Span | None = None
    for paragraph in paragraphs(text, start, end):
        if current and paragraph[1] - current[0] <= limit:
            current = (current[0], paragraph[1])
            continue
        if current:
            yield current
            current = None
        if paragraph[1] - paragraph[0] <= limit:
            current = paragraph
        else:
            yield from _gather_sentences(text, paragraph, limit)
    if current:
        yield current


def _gather_sentences(text: str, paragraph: Span, limit: int) -> Iterator[Span]:
    current: Span | None = None
    for sentence in sentences(text, *paragraph):
        for piece in _pieces(text, *sentence, limit):
            if current and piece[1] - current[0] <= limit:
                current = (current[0], piece[1])
            else:
                if current:
                    yield current
                current = piece
    if current:
        yield current


def _pieces(text: str, start: int, end: int, limit: int) -> Iterator[Span]:
    """A sentence in pieces of at most ``limit``: cut at the last blank, else after CJK, else anywhere."""
    while end - start > limit:
        cut = _last_cut(text, start, start + limit)
        yield _trimmed(text, start, cut)
        rest = _NOT_BLANK.search(text, cut, end)
        start = rest.start() if rest else end
    if start < end:
        yield start, end


def _last_cut(text: str, start: int, stop: int) -> int:
    """Where to cut ``[start, stop)``, given that the text goes on: ``start < cut <= stop``."""
    if text[stop].isspace():
        return stop
    blank = max((text.rfind(sign, start + 1, stop) for sign in " \n\t"), default=-1)
    # A blank far to the left would make a piece of a few words where CJK can be cut close to the limit.
    if blank > start + (stop - start) * 2 // 3:
        return blank
    for at in range(stop, max(start, blank), -1):
        if _CJK_CUT.match(text, at - 1):
            return at
    if blank > start:
        return blank
    while stop > start + 1 and unicodedata.combining(text[stop]):
        stop -= 1
    return stop


def _between(text: str, start: int, end: int, separator: re.Pattern[str]) -> Iterator[Span]:
    for match in separator.finditer(text, start, end):
        if text[start : match.start()].strip():
            yield _trimmed(text, start, match.start())
        start = match.end()
    if text[start:end].strip():
        yield _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Span:
    words = text[start:end]
    return start + len(words) - len(words.lstrip()), start + len(words.rstrip())
