"""How long requests that come last are held back, when nothing else is left to fetch, for the process that learns.

A look of that process at the pages so far may show that the held requests are duplicates. If it does not, some of
them are fetched, and there is another look. All holding takes a small part of the crawl's time, and of the time that
it can save: where many requests wait, fetching them takes longer than looks do, even on a busy machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum

from scrapy_dust.online.gate import LEAST_AT_A_TIME, PART_AT_A_TIME

#: The most seconds of one wait; the seconds that all waits may take; and their part of the crawl's time.
_AT_A_TIME, _FREE, _PART = 3.0, 3.0, 0.05
#: The same for one wait and for all, as a part of the time that fetching all waiting requests would take.
_SAVED = 0.25


class Turn(Enum):
    """The possible ends of a request that leaves the queue."""

    GO = "go"
    DROP = "drop"  #: it is a duplicate by now, or nothing comes any more where it leads
    WAIT = "wait"  #: queue it again, last
    HOLD = "hold"  #: queue it again, and fetch nothing for now


class Patience:
    """Decides how long a crawl holds back the requests that come last."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._asked: float | None = None  #: when it was asked for a look that has not come
        self._longest = _AT_A_TIME  #: seconds for which that is waited for
        self._held = 0.0
        self._next = 0  #: pages from which on another look is asked for
        self._decided = False  #: the look has come; what it found has still to be put into force

    def may_ask(self, pages: int, waiting: int = 0) -> bool:
        """Whether to ask for a look, now that only *waiting* requests are left after *pages* pages."""
        if self._asked is not None or pages < self._next:
            return False
        taken = self._clock() - self._began
        saved = _SAVED * waiting * (taken - self._held) / pages if pages else 0.0
        left = _FREE + _PART * taken + saved - self._held
        if left < 0:
            return False
        self._longest = max(_AT_A_TIME, min(saved, left))
        self._asked, self._decided = self._clock(), False
        return True

    def is_holding(self) -> bool:
        """Whether requests that come last are held back now."""
        return self._asked is not None and self._clock() - self._asked < self._longest

    def note_look(self) -> None:
        """End the wait for a look: the process beside the crawl has looked at all pages."""
        self._decided = True

    def is_over(self, pages: int, *, keys_made: bool) -> bool:
        """Whether holding ends now. *keys_made*: the rules that the look found are in force."""
        if self._asked is None:
            return False
        held = self._clock() - self._asked
        if held < self._longest and not (self._decided and keys_made):
            return False
        self._held += held
        self._asked = None
        self._next = pages + max(LEAST_AT_A_TIME, round(PART_AT_A_TIME * pages))
        return True
