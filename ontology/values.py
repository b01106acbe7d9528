"""Raw values made canonical by their attribute's type; what is almost right is refused, with what would be right."""

from __future__ import annotations

import math
import re
import sys
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from ontology.findings import did_you_mean, foreign_letter, nearest, shown
from ontology.numerals import LOOSE_NUMBER, multiple, read_decimal
from ontology.quantities import NotInUnit, in_unit
from ontology.schema import Attribute
from ontoloom.errors import OntologyError
from ontoloom.records import Value, canonical_text

Raw = str | int | float | bool | date

MAX_INTEGER = 2**63 - 1
INTEGER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
TIME = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
MOMENT = re.compile(rf"{DATE.pattern}T{TIME}(?:Z|[+-][0-9]{{2}}:[0-9]{{2}})")
PLAIN_URL = re.compile(r"https?://[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?:/[A-Za-z0-9._~/-]*)?")
LOOSE_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ].*)?")


class BadValue(OntologyError):
    """A value that its attribute does not allow. ``fix`` is what would be right; empty when there is no proposal.

    ``meant`` is the value as it should be written, where it can only be that; else empty.
    """

    def __init__(self, message: str, fix: str = "", *, code: str = "bad-value", meant: str = "") -> None:
        super().__init__(message, code=code, hint=fix)
        self.fix = fix
        self.meant = meant


def read_value(attribute: Attribute, raw: Raw) -> Value:
    """The canonical value of one raw value (of one item where the attribute allows many).

    A string is read as people write it into a page; a number, boolean or date as JSON or a table gives it. Texts come
    back in Unicode form C. Raises BadValue.
    """
    read: Any = READERS[attribute.type](attribute, raw)
    value: Value = read
    if attribute.minimum is not None or attribute.maximum is not None:
        _check_range(attribute, read)
    # On bytes it is ten times as fast: no places are counted in characters.
    if attribute.pattern is not None and not compile_pattern(attribute.pattern).fullmatch(read.encode()):
        raise BadValue(
            f"{shown(value)} does not match the pattern of {attribute.name}",
            f"write what matches {attribute.pattern}",
            code="pattern-mismatch",
        )
    return value


def written(attribute: Attribute) -> str:
    """The default of an attribute as a page has it."""
    assert attribute.default is not None
    unit = f" {attribute.unit}" if attribute.type == "quantity" else ""
    return canonical_text(attribute.default) + unit


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Any:
    """A pattern as RE2, which takes linear time whatever the pattern. Raises ``re2.error``."""
    import re2  # here, as checking without patterns needs none of it

    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def pattern_fault(pattern: str) -> str | None:
    """What is wrong with a pattern; None when nothing is."""
    import re2

    try:
        compile_pattern(pattern)
    except re2.error as error:
        return error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
    return None


def _read_text(attribute: Attribute, raw: Raw) -> str:
    """A string is one line whose blanks are single; a text keeps its lines."""
    if not isinstance(raw, str):
        raise BadValue(f"{attribute.name} is text, not {shown(raw)}", "write it in quotes", code="not-a-string")
    text = raw.strip() if attribute.type == "text" else " ".join(raw.split())
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if text and text.isprintable():
        return text
    if not text:
        raise BadValue(f"{attribute.name} is empty", "write a value or leave it out", code="empty-value")
    odd = next((c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t\r"), None)
    if odd is not None:
        raise BadValue(
            f"the character U+{ord(odd):04X} is not allowed in {attribute.name}", "remove it", code="bad-character"
        )
    return text


def _read_integer(attribute: Attribute, raw: Raw) -> int:
    if isinstance(raw, float) and raw.is_integer():
        raw = int(raw)
    if isinstance(raw, int) and not isinstance(raw, bool):
        value = raw
    elif isinstance(raw, str) and INTEGER.fullmatch(text := raw.strip()):
        value = int(text) if len(text) <= 20 else MAX_INTEGER + 1
    else:
        message = f"{shown(raw)} is no integer, as {_named(attribute)} must be"
        raise BadValue(message, _number_fix(attribute, raw), code="not-an-integer")
    if abs(value) > MAX_INTEGER:
        raise BadValue(f"{attribute.name} does not fit into 64 bits", "write a smaller number", code="out-of-range")
    return value


def _read_number(attribute: Attribute, raw: Raw) -> float:
    value = math.nan
    if isinstance(raw, str) and NUMBER.fullmatch(text := raw.strip()):
        value = float(text)
    elif isinstance(raw, int | float) and not isinstance(raw, bool) and abs(raw) <= sys.float_info.max:
        value = float(raw)
    if math.isfinite(value):
        return value + 0.0  # turns -0.0 into 0.0
    message = f"{shown(raw)} is no number, as {_named(attribute)} must be"
    raise BadValue(message, _number_fix(attribute, raw), code="not-a-number")


def _read_boolean(attribute: Attribute, raw: Raw) -> bool:
    if isinstance(raw, bool):
        return raw
    if raw in ("true", "false"):
        return raw == "true"
    word = str(raw).strip().casefold()
    meant = "true" if word in ("yes", "y", "on", "1", "true") else "false"
    sure = meant == "true" or word in ("no", "n", "off", "0", "false")
    fix = f"write {meant}" if sure else "write true or false"
    message = f"{attribute.name} is true or false, not {shown(raw)}"
    raise BadValue(message, fix, code="not-a-boolean", meant=meant if sure else "")


def _read_date(attribute: Attribute, raw: Raw) -> date:
    if isinstance(raw, date) and not isinstance(raw, datetime):
        return raw
    text = str(raw).strip()
    if DATE.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            message = f"{shown(raw)} is no day of the calendar"
            raise BadValue(message, "write a day that exists as YYYY-MM-DD", code="not-a-date") from None
    meant = loose_date(text)
    fix = f"write {meant or 'YYYY-MM-DD'}"
    meant = meant if len(text) <= 10 else ""  # else a time would be lost
    raise BadValue(
        f"{shown(raw)} is no date, as {attribute.name} must be",
        fix,
        code="not-a-date",
        meant=meant,
    )


def _read_datetime(attribute: Attribute, raw: Raw) -> str:
    """A moment in UTC, to the second or as fine as it was written."""
    moment, text = raw, str(raw).strip()
    if isinstance(raw, str) and MOMENT.fullmatch(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            message = f"{shown(raw)} is no moment of the calendar"
            raise BadValue(message, "write one that exists", code="not-a-datetime") from None
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        with suppress(OverflowError):  # an offset may lead out of the calendar
            return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    loose = re.fullmatch(rf"({DATE.pattern})(?:[T ]+({TIME}))?", text)
    fix = f"write {loose[1]}T{loose[2] or '00:00'}Z" if loose else "write YYYY-MM-DDThh:mm:ssZ"
    raise BadValue(f"{shown(raw)} is no moment, as {attribute.name} must be", fix, code="not-a-datetime")


def _read_quantity(attribute: Attribute, raw: Raw) -> float:
    """A number with its unit, converted to that of the attribute; a mere number, from JSON, is in that unit."""
    if not isinstance(raw, str):
        return _read_number(attribute, raw)
    text, unit = raw.strip(), attribute.unit
    try:
        value = in_unit(text, unit)
    except NotInUnit:
        message = f"{shown(raw)} cannot be converted to {unit}, which {attribute.name} is in"
        raise BadValue(message, f"write it in {unit}", code="wrong-unit") from None
    if value is None:
        loose = LOOSE_NUMBER.fullmatch(text) if len(text) <= 40 else None
        bare = loose is not None and not loose[2] and not loose[3]
        fix = f"write {text} {unit}" if bare else f"write a number and its unit, as in 80 {unit}"
        raise BadValue(f"{shown(raw)} is no quantity, as {attribute.name} must be", fix, code="not-a-quantity")
    return _read_number(attribute, value)


def _read_enum(attribute: Attribute, raw: Raw) -> str:
    text = unicodedata.normalize("NFC", raw.strip()) if isinstance(raw, str) else canonical_text(raw)
    names = [value.name for value in attribute.values]
    if isinstance(raw, str) and text in names:
        return text
    meant = {s.casefold(): value.name for value in attribute.values for s in value.synonyms}
    meant |= {name.casefold(): name for name in names}
    close = nearest(text, list(meant))
    fix = f"write {meant[close]}" if close is not None else did_you_mean(text, names)
    odd = foreign_letter(text, meant[close]) if close is not None else ""
    fix += f"; {odd}" if odd else ""
    message = f"{shown(raw)} is no value of {attribute.name}"
    raise BadValue(message, fix, code="not-in-enum", meant=meant.get(text.casefold(), ""))


def _read_url(attribute: Attribute, raw: Raw) -> str:
    text = raw.strip() if isinstance(raw, str) else ""
    if PLAIN_URL.fullmatch(text):
        return text
    try:
        parts = urlsplit(text)
        valid = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if valid and not any(c.isspace() or not c.isprintable() for c in text):
        return text
    domain = re.fullmatch(r"(?:www\.)?[\w-]+(?:\.[\w-]+)+(?:/\S*)?", text)
    fix = f"write https://{text}" if domain else "write the whole address, from https:// on"
    raise BadValue(f"{shown(raw)} is no URL, as {attribute.name} must be", fix, code="not-a-url")


def _read_reference(attribute: Attribute, raw: Raw) -> Value:
    targets = " or ".join(attribute.targets)
    raise BadValue(f"{attribute.name} names an entity, not the value {shown(raw)}", f"name one of type {targets}")


READERS: dict[str, Callable[[Attribute, Raw], Any]] = {
    "string": _read_text,
    "text": _read_text,
    "integer": _read_integer,
    "number": _read_number,
    "boolean": _read_boolean,
    "date": _read_date,
    "datetime": _read_datetime,
    "quantity": _read_quantity,
    "enum": _read_enum,
    "url": _read_url,
    "reference": _read_reference,
}


def _check_range(attribute: Attribute, value: int | float) -> None:
    low, high = attribute.minimum, attribute.maximum
    if low is not None and value < low:
        limit = f"at least {canonical_text(low)}"
    elif high is not None and value > high:
        limit = f"at most {canonical_text(high)}"
    else:
        return
    raise BadValue(f"{attribute.name} is {canonical_text(value)}, out of range", f"write {limit}", code="out-of-range")


def _named(attribute: Attribute) -> str:
    return f"{attribute.name} ({attribute.unit})" if attribute.unit else attribute.name


def _number_fix(attribute: Attribute, raw: Raw) -> str:
    """``128K`` → ``write 131072`` in tokens (K is 1024 there), else ``write 128000``; ``16 GB`` → ``write 16``."""
    text = unicodedata.normalize("NFKC", raw).strip() if isinstance(raw, str) and len(raw) <= 40 else ""
    match = LOOSE_NUMBER.fullmatch(text)
    value = read_decimal(match[1]) if match else None
    if match is None or value is None:
        return f"write {'an integer' if attribute.type == 'integer' else 'a number'}"
    suffix, rest, unit = match[2], match[3], attribute.unit.casefold()
    written = f"{suffix} {rest}".strip().casefold()
    scale = multiple(suffix, unit)
    if scale is not None and rest.casefold() in ("", unit) and written != unit:
        value *= scale
    elif written not in ("", unit, "%"):
        return f"write the number alone{f', in {attribute.unit}' if attribute.unit else ''}"
    if value == value.to_integral_value():
        return f"write {value.to_integral_value():f}"
    return "write an integer" if attribute.type == "integer" else f"write {value:f}"


def loose_date(text: str) -> str:
    """A day as it should be written, where it is written with year, month and day in this order; else empty."""
    match = LOOSE_DATE.fullmatch(text)
    try:
        return str(date(int(match[1]), int(match[2]), int(match[3]))) if match else ""
    except ValueError:
        return ""
