"""The possible outcomes of comparing two URLs. A module of its own, so that passing outcomes on loads no comparison."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The possible outcomes of comparing one pair of URLs."""

    SAME = "same"
    DIFFERENT = "different"  #: both answer, with different pages that are each stable: a page would be lost
    UNFETCHABLE = "unfetchable"  #: the target does not answer
    UNKNOWN = "unknown"  #: proves nothing
