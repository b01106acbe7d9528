"""Patterns of RE2 → patterns that mean the same in ECMA 262, XPath and Python, which our exports are read with."""

from __future__ import annotations

CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
SAME = frozenset("bBtnrf")
"""Escapes, besides those of signs, that all of them read alike."""


def anchored(pattern: str) -> str | None:
    """The pattern for a whole value, ``^(?:…)$``; None where it uses what only RE2 has, such as ``(?i)`` or ``\\pL``.

    Classes such as ``\\d`` are written out: they hold ASCII alone in RE2, and more in others.
    """
    found: list[str] = []
    within, at = False, 0
    while at < len(pattern):
        sign, following = pattern[at], pattern[at + 1 : at + 2]
        step = 1
        if sign == "\\":
            step, written = 2, _escape(following, within)
            if written is None:
                return None
            found.append(written)
        elif (within and pattern.startswith("[:", at)) or (not within and _is_special_group(pattern, at)):
            return None
        elif not within and sign == "[":
            step = 2 if following == "^" else 1
            first = pattern[at + step : at + step + 1]
            if first == "]":  # a sign here, the end of an empty class in ECMA 262
                step += 1
            found.append(pattern[at : at + step].replace("]", "\\]"))
            within = True
        else:
            found.append("\\[" if within and sign == "[" else sign)
            within = within and sign != "]"
        at += step
    return f"^(?:{''.join(found)})$"


def unanchored(pattern: str) -> str:
    """The pattern for a whole value of one that others search for: the inverse of ``anchored``."""
    whole = pattern.startswith("^") and pattern.endswith("$") and not pattern.endswith("\\$")
    inner = pattern[1:-1] if whole else pattern
    if inner.startswith("(?:") and inner.endswith(")") and _is_one_group(inner):
        inner = inner[3:-1]
    elif whole and "|" in inner:
        whole, inner = False, pattern
    return inner if whole else f"(?s:.*)(?:{pattern})(?s:.*)"


def _is_special_group(pattern: str, at: int) -> bool:
    """Whether a group with a name or flags begins here."""
    return pattern.startswith("(?", at) and not pattern.startswith("(?:", at)


def _escape(sign: str, within: bool) -> str | None:
    """What ``\\`` with a sign is elsewhere."""
    if sign in CLASSES:
        return CLASSES[sign] if within else f"[{CLASSES[sign]}]"
    if sign.lower() in CLASSES and not within:
        return f"[^{CLASSES[sign.lower()]}]"
    if not sign or (sign.isalnum() and sign not in SAME) or (within and sign in "bB"):
        return None
    return f"\\{sign}" if sign not in "'\"#%&,:;<=>@_`~! " else sign


def _is_one_group(pattern: str) -> bool:
    """Whether the bracket that begins a pattern is closed by its last sign."""
    depth = at = 0
    within = False
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        elif within:
            within = sign != "]"
        elif sign == "[":
            within = True
            at += pattern[at + 1 : at + 2] == "^"
            at += pattern[at + 1 : at + 2] == "]"
        else:
            depth += (sign == "(") - (sign == ")")
            if depth == 0 and at < len(pattern) - 1:
                return False
        at += 1
    return depth == 0
