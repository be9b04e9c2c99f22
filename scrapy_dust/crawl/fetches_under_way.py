"""Classes of which a URL is being fetched, and which of these URLs take much longer than answers take here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

#: A URL takes too long after this many seconds, at least.
_PATIENCE = 5.0
#: The most seconds that count between two looks: while the crawl itself stands still, no site is late.
_COUNTED = 0.3
#: A URL takes too long after this many times the average time of an answer, at least.
_TIMES = 8.0
#: Or when so many less urgent requests have passed it, for each request that may be fetched at a time.
_OTHERS = 2

#: The most classes that are measured; the oldest is forgotten for a new one.
_FETCHING = 1000


@dataclass(slots=True)
class _Fetched:
    """A class of which a URL is being fetched."""

    since: float
    priority: int
    others: int = 0  #: less urgent requests that were fetched since
    is_answered: bool = False


class FetchesUnderWay:
    """The classes of which a URL is out of the queue. *at_a_time*: the number of requests that may be fetched at a time."""

    def __init__(self, at_a_time: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = _OTHERS * at_a_time, clock
        #: Seconds without the time in which the crawl itself stood still, and when the clock was looked at.
        self._now, self._looked = 0.0, clock()
        self._fetched: dict[bytes, _Fetched] = {}
        self._answers, self._seconds = 0, 0.0

    def __contains__(self, class_key: bytes) -> bool:
        return class_key in self._fetched

    def class_begins(self, class_key: bytes, priority: int) -> None:
        """Measure how long the class *class_key* takes, whose URL has left the queue now. A retry does not start anew."""
        self._fetched.setdefault(class_key, _Fetched(self._now, priority))
        if len(self._fetched) > _FETCHING:
            del self._fetched[next(iter(self._fetched))]

    def passed_by(self, priority: int) -> bool:
        """Count a request of this *priority* that is fetched. Returns whether a more urgent one takes too long by now."""
        more_urgent = [one for one in self._fetched.values() if priority < one.priority]
        for fetched in more_urgent:
            fetched.others += 1
        return any(fetched.others == self._most for fetched in more_urgent)

    def class_answered(self, class_key: bytes) -> None:
        """Stop measuring how long the class *class_key* takes: its answer has come."""
        fetched = self._fetched.get(class_key)
        if fetched is not None and not fetched.is_answered:
            self._answers += 1
            self._seconds += self._now - fetched.since
            fetched.is_answered = True

    def class_decided(self, class_key: bytes) -> None:
        """Forget the class *class_key*: its outcome is known."""
        self._fetched.pop(class_key, None)

    def clear(self) -> None:
        """Forget all classes: nothing is being fetched."""
        self._fetched.clear()

    def late_classes(self, keeps_others: Callable[[bytes], bool]) -> Iterator[bytes]:
        """Each class that takes too long and *keeps_others* waiting. Its time begins anew."""
        looked = self._clock()
        self._now += min(looked - self._looked, _COUNTED)
        self._looked = looked
        now, usual = self._now, self._seconds / self._answers if self._answers else 0.0
        patience = max(_PATIENCE, _TIMES * usual)
        for of, fetched in list(self._fetched.items()):
            is_late = fetched.others >= self._most or now - fetched.since > patience
            if is_late and not fetched.is_answered and keeps_others(of):
                fetched.since, fetched.others = now, 0
                yield of
