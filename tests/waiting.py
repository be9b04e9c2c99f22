"""How long tests wait for what must come. Nothing is measured by it: a busy machine takes its time, and only what hangs is ended."""

from __future__ import annotations

import time
from collections.abc import Callable

#: In seconds.
PATIENCE = 600.0


def wait_until(true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)
