"""Lets somebody end a run: long computations call a function now and then that raises `Stopped`."""

from __future__ import annotations

from collections.abc import Callable


class Stopped(Exception):
    """The run must end now. Results so far stay."""


#: Raises `Stopped` where the run is to end, and does nothing else.
Poll = Callable[[], None]


def never_stop() -> None:
    """A function for runs that nobody ends: it does nothing."""
