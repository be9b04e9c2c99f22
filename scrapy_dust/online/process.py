"""The process that learns beside a crawl: it reads the crawl's log as the log grows, and sends rules to the crawl.

The crawl only reads the answers. Standard input brings the start message, and rules that the crawl found to be false;
when it ends, the process ends. Standard output brings the answers, each with its length before it. Another process
has already described the pages in the log, so that nothing is described twice.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from scrapy_dust.crawl_log import read_visits
from scrapy_dust.crawl_log.visit_fields import Unreadable, visit_of
from scrapy_dust.errors import CrawlLogError
from scrapy_dust.online import messages
from scrapy_dust.online.learner import OnlineLearner
from scrapy_dust.online.messages import Begin, Compare, Decide, Refuted
from scrapy_dust.rule_book import volatile_places
from scrapy_dust.rule_book.priors import all_priors
from scrapy_dust.visits.pages import Visit

#: Seconds between two looks into the log.
_PAUSE = 0.2
#: Seconds of rest for each second that looks took: looks cost a fifth of a core at most.
_REST = 4.0
#: Seconds that are spent on sites where URLs wait, at a time.
_TO_DECIDE = 2.0
#: Seconds for which the log is waited for to have a canary and its keeper.
_TO_COMPARE = 2.0
#: Bytes of the log that are read at a time.
_AT_A_TIME = 1 << 20


class Tail:
    """Reads the records of a log that is being written."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self._rest = b""

    def new(self) -> Iterator[Visit]:
        """The records that the crawl has written since the last call."""
        while data := self._file.read(_AT_A_TIME):
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                try:
                    yield visit_of(json.loads(line))
                except (ValueError, Unreadable, AttributeError):
                    continue  # cut short by a full disk; the crawl has said so

    def close(self) -> None:
        """Close the log."""
        self._file.close()


class LearningProcess:
    """Learns rules from the log that a crawl is writing, and exchanges messages with the crawl."""

    def __init__(self, incoming: int, out: BinaryIO) -> None:
        self._incoming, self._out = incoming, out
        self._heard = bytearray()
        self._learner: OnlineLearner | None = None
        self._tail: Tail | None = None
        self._to_compare: list[tuple[Compare, float]] = []  #: with the time until which it may wait

    def run(self) -> None:
        """Work until the crawl ends."""
        rest_until = 0.0
        with selectors.DefaultSelector() as selector:
            selector.register(self._incoming, selectors.EVENT_READ)
            while not selector.select(_PAUSE) or self._listen():
                if self._tail is None or self._learner is None:
                    continue
                for visit in self._tail.new():
                    self._learner.see(visit)
                self._compare(self._learner)
                if time.monotonic() >= rest_until:
                    rest_until = time.monotonic() + self._look(self._learner)
        if self._tail is not None:
            self._tail.close()

    def _listen(self) -> bool:
        """Read messages. False if the crawl has ended."""
        data = os.read(self._incoming, 1 << 16)
        self._heard += data
        for message in messages.messages_in(self._heard):
            if isinstance(message, Begin):
                self._tail = Tail(Path(message.log))
                self._learner = OnlineLearner(
                    message.settings,
                    all_priors(message.state),
                    in_force=message.rules,
                    volatile=volatile_places.known_places(message.state).volatile(),
                )
                self._read_again(self._learner, message.logs)
            elif isinstance(message, Refuted) and self._learner is not None:
                self._learner.refute(message.site, message.rule)
            elif isinstance(message, Compare):
                self._to_compare.append((message, time.monotonic() + _TO_COMPARE))
            elif isinstance(message, Decide):
                self._decide()
        return bool(data)

    @staticmethod
    def _read_again(learner: OnlineLearner, logs: Sequence[str]) -> None:
        """Read what the job had seen before it was paused, as far as its logs are there."""
        for log in logs:
            with suppress(CrawlLogError, OSError):
                for visit in read_visits(log):
                    learner.see(visit)

    def _decide(self) -> None:
        """Read the rest of the log, look at all undecided sites while there is time, and say so."""
        if self._tail is not None and self._learner is not None:
            for visit in self._tail.new():
                self._learner.see(visit)
            until = time.monotonic() + _TO_DECIDE
            for site in self._learner.undecided():
                self._look_at(self._learner, site)
                if time.monotonic() > until:
                    break
        self._say(messages.Decided())

    def _look(self, learner: OnlineLearner) -> float:
        """Look for rules on the sites that have grown enough. Returns for how many seconds to rest then."""
        began = time.process_time()
        for site in learner.due():
            self._look_at(learner, site)
        return (time.process_time() - began) * _REST

    def _compare(self, learner: OnlineLearner) -> None:
        """Answer questions about canaries, as soon as the log has both pages."""
        waiting, self._to_compare = self._to_compare, []
        for asked, until in waiting:
            is_same = learner.showed_the_same(asked.canary, asked.keeper)
            if is_same is None and time.monotonic() < until:
                self._to_compare.append((asked, until))
            else:
                self._say(messages.Compared(asked.canary, bool(is_same)))

    def _look_at(self, learner: OnlineLearner, site: str) -> None:
        """Look at *site*, and send the crawl the new rules."""
        finding = learner.look(site)
        if finding is not None:
            self._say(finding)

    def _say(self, message: object) -> None:
        self._out.write(messages.to_message(message))
        self._out.flush()


if __name__ == "__main__":
    # Ctrl-C reaches all processes of a group; this one ends with the crawl.
    for interruption in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interruption, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(5)
    LearningProcess(sys.stdin.fileno(), sys.stdout.buffer).run()
