"""For how long what waits is held when nothing else is left to fetch: until the process that learns has looked.

A look at all that has come may decide it. Then some of it is fetched, and there is another look; each of them may
decide the rest. All holding together takes a small part of the crawl's time, and of the time that it can save: where
much waits, fetching it takes longer than looks do, however late they come on a machine that is busy.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum

from scrapy_dust.online.gate import LEAST_AT_A_TIME, PART_AT_A_TIME

#: Seconds for which is waited at a time; for all times together, and as a part of what the crawl has taken.
_AT_A_TIME, _FREE, _PART = 3.0, 3.0, 0.05
#: The same for both, as a part of what fetching all that waits would take.
_SAVED = 0.25


class Turn(Enum):
    """What becomes of a request whose turn has come."""

    GO = "go"
    DROP = "drop"  #: it is a duplicate by now, or nothing comes any more where it leads
    WAIT = "wait"  #: queue it again, last
    HOLD = "hold"  #: queue it again, and fetch nothing for now


class Patience:
    """Of one crawl."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._asked: float | None = None  #: when it was asked for a look that has not come
        self._longest = _AT_A_TIME  #: seconds for which that is waited for
        self._held = 0.0
        self._next = 0  #: pages from which on another look is asked for
        self._decided = False  #: the look has come; what it found has still to be put into force

    def asks(self, pages: int, waiting: int = 0) -> bool:
        """What waits, so many requests, is all that is left after so many *pages*. Whether to ask for a look."""
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

    def holds(self) -> bool:
        """Whether nothing that waits is to be fetched now."""
        return self._asked is not None and self._clock() - self._asked < self._longest

    def decided(self) -> None:
        """The look has come."""
        self._decided = True

    def is_over(self, pages: int, *, keys_made: bool) -> bool:
        """Whether holding ends now. *keys_made*: what the look found is in force."""
        if self._asked is None:
            return False
        held = self._clock() - self._asked
        if held < self._longest and not (self._decided and keys_made):
            return False
        self._held += held
        self._asked = None
        self._next = pages + max(LEAST_AT_A_TIME, round(PART_AT_A_TIME * pages))
        return True
