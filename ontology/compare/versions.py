"""Semantic versions: which of two is later, and how far a version is to be raised for a change."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Step = Literal["none", "patch", "minor", "major"]
STEPS: tuple[Step, ...] = ("none", "patch", "minor", "major")
"""The parts of a version that a change can demand to be raised, the weakest first."""
SHIFTED: dict[Step, Step] = {"none": "none", "patch": "patch", "minor": "patch", "major": "minor"}


class Version(NamedTuple):
    """A semantic version without build metadata. ``early`` is what follows the hyphen, empty for a release."""

    major: int
    minor: int
    patch: int
    early: str = ""

    def __str__(self) -> str:
        release = f"{self.major}.{self.minor}.{self.patch}"
        return f"{release}-{self.early}" if self.early else release

    @property
    def release(self) -> Version:
        """The version without what marks it as early."""
        return self._replace(early="")

    def order(self) -> tuple[object, ...]:
        """A key that sorts as https://semver.org says: 1.0.0-alpha.2 < 1.0.0-alpha.10 < 1.0.0-alpha.x < 1.0.0."""
        marks = [(0, int(mark), "") if mark.isdecimal() else (1, 0, mark) for mark in self.early.split(".") if mark]
        return (self.major, self.minor, self.patch, not self.early, marks)


def read_version(text: str) -> Version:
    """The version that ``1.0.0`` or ``1.0.0-beta.1`` names. Raises ValueError where it is none."""
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?", text, re.ASCII)
    if match is None:
        raise ValueError(f"{text!r} is no semantic version")
    return Version(int(match[1]), int(match[2]), int(match[3]), match[4] or "")


def shift(step: Step, version: Version) -> Step:
    """The part that is really raised: below 1.0.0 each stands one place further right, in 0.0.z all in the last."""
    if version.major:
        return step
    shifted = SHIFTED[step]
    return "patch" if shifted == "minor" and not version.minor else shifted


def raised(version: Version, step: Step) -> Version:
    """The lowest version that a part raises it to. An early version only has to become a later one."""
    if step == "none":
        return version
    if version.early or step == "patch":
        return Version(version.major, version.minor, version.patch + (not version.early))
    if step == "minor":
        return Version(version.major, version.minor + 1, 0)
    return Version(version.major + 1, 0, 0)


def is_enough(old: Version, new: Version, step: Step) -> bool:
    """Whether ``new`` is later than ``old`` by a step at least.

    Early versions of what is demanded will do (2.0.0-rc.1 for 2.0.0), and what follows an early version promises
    nothing that the early one did.
    """
    if step == "none":
        return new.order() >= old.order()
    if old.early:
        return new.order() > old.order()
    return new.release.order() >= raised(old, step).order()
