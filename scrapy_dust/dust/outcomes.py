"""What can come of comparing two URLs. By itself, so that who only passes it on does not load what compares."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """What one pair of URLs says about a rule."""

    SAME = "same"
    DIFFERENT = "different"  #: both answer, with different pages that are each stable: a page would be lost
    UNFETCHABLE = "unfetchable"  #: the target does not answer
    UNKNOWN = "unknown"  #: proves nothing
