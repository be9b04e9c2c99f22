"""Says how fast validation fetches from one site, and when to leave the site alone. The caller gives the time;
nothing sleeps here.

An answer that says "too much" (429, 503, or repeated 403 and silence) counts for nothing. The site is left alone, as
long as its Retry-After says or else twice as long each time, then it is asked for one page at a time, beginning with
the same page. After too many such answers, or too long a wait, validation gives the site up until another run.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass

#: Seconds of the first pause, where the site does not say how long.
PAUSE = 2.0
#: Requests under way at a time, at most.
_MOST = 8
#: So often one URL is asked for before it is taken for one that is always refused.
_TRIES = 3
#: So many refusals in a row, of the kind that may mean one page alone, are taken for one of all.
_WAVE = 3
#: So many answers after a pause allow one more request at a time.
_RECOVERY = 5


@dataclass(frozen=True, slots=True)
class Patience:
    """How many refusals, and how much waiting, validation accepts from a site."""

    pause: float = PAUSE  #: seconds of the first pause
    longest: float = 180.0  #: seconds to wait for one site, all pauses together


class Pace:
    """The queue of one site. Add URLs with `push`, take them with `next_url`, then report `went_well` or `refused`."""

    def __init__(self, patience: Patience) -> None:
        self.spent = 0  #: requests
        self.paused_until = 0.0
        self.too_long: str | None = None  #: why the site should be given up
        self._patience = patience
        self._queue: deque[str] = deque()
        self._under_way = 0
        self._limit, self._streak = _MOST, 0
        self._pauses = 0  # since it last went well
        self._waited = 0.0
        self._doubtful = 0  # refusals of the other kind in a row
        self._tries: Counter[str] = Counter()

    def push(self, urls: Iterable[str]) -> None:
        """Add *urls* to the queue."""
        self._queue.extend(urls)

    def clear(self) -> None:
        """Empty the queue."""
        self._queue.clear()

    @property
    def is_waiting(self) -> bool:
        """Whether there is a URL to fetch, now or later."""
        return bool(self._queue)

    @property
    def is_idle(self) -> bool:
        """Whether no fetch from the site is under way."""
        return not self._under_way

    def next_url(self, now: float) -> str | None:
        """A URL to fetch now; None if there is none, or it is too early for one more."""
        if not self._queue or now < self.paused_until or self._under_way >= self._limit:
            return None
        self._under_way += 1
        self.spent += 1
        return self._queue.popleft()

    def went_well(self) -> None:
        """Take note that an answer came that says something about its page."""
        self._under_way -= 1
        self._doubtful = self._pauses = 0
        self._streak += 1
        if self._streak >= _RECOVERY and self._limit < _MOST:
            self._limit, self._streak = self._limit + 1, 0

    def keep_distance(self, seconds: float) -> None:
        """Take note that the site asks for *seconds* seconds between two requests. The sender waits so long."""
        if seconds > self._patience.longest:
            self.too_long = f"its robots.txt asks for {seconds:g} seconds between two requests"

    def not_sent(self) -> None:
        """Take note that a request was not sent after all: robots.txt or our own limits forbid it."""
        self._under_way -= 1
        self.spent -= 1

    def refused(self, url: str, status: int | None, retry_after: float | None, now: float) -> bool:
        """Take note of a refusal, or of no answer. Returns whether *url* will be fetched again."""
        self._under_way -= 1
        self._tries[url] += 1
        self._doubtful += 1
        if status not in (429, 503) and self._doubtful < _WAVE:
            once_more = status is None and self._tries[url] == 1
            self._queue.extend([url] if once_more else ())
            return once_more
        if now >= self.paused_until:
            self._pause(retry_after, now)
        if self._tries[url] >= _TRIES or self.too_long:
            return False
        self._queue.append(url)
        return True

    def _pause(self, retry_after: float | None, now: float) -> None:
        """Leave the site alone as long as *retry_after* says, or twice as long as the last time."""
        seconds = self._patience.pause * 2**self._pauses if retry_after is None else retry_after
        self._pauses += 1
        self._limit, self._streak = 1, 0
        if self._waited + seconds > self._patience.longest:
            self.too_long = f"it asks us to wait longer than {self._patience.longest:g} seconds in all"
        self._waited += seconds
        self.paused_until = now + seconds
