"""A run that somebody ends: whatever computes for long asks now and then whether to go on."""

from __future__ import annotations

from collections.abc import Callable


class Stopped(Exception):
    """The run is to end now. What was settled before stays settled."""


#: Raises `Stopped` where the run is to end, and does nothing else.
Poll = Callable[[], None]


def go_on() -> None:
    """The poll of a run that nobody ends."""
