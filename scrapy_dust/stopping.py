"""Lets somebody end a run: a long computation now and then calls a function, which raises `Stopped` to end it."""

from __future__ import annotations

from collections.abc import Callable


class Stopped(Exception):
    """The run must end now. Results so far stay."""


#: Raises `Stopped` where the run is to end, and does nothing else.
Poll = Callable[[], None]


def never_stop() -> None:
    """A function for runs that nobody ends: it does nothing."""
