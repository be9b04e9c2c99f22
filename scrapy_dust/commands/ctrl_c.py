"""Lets Ctrl-C end a command that is still importing its packages."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def heeding_ctrl_c() -> Iterator[None]:
    """A block of imports that raises `KeyboardInterrupt` at its end: Python loses one that comes while it imports."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before != signal.default_int_handler:
        yield
        return
    came = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        """Note that Ctrl-C came, and interrupt the program as Python does."""
        nonlocal came
        came = True
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt
