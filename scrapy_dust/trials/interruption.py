"""Ctrl-C while rules are learned at the end of a crawl.

Scrapy's own handler would ask the crawl that has ended to end, which waits for us. So the first signal ends the
validation crawl, and a second one is Scrapy's again.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.defer import deferred_from_coro

logger = logging.getLogger(__name__)

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """In its ``with`` block, which must be in a coroutine, signals are ours."""

    def __init__(self) -> None:
        self.came = False
        self._crawler: Crawler | None = None
        self._soon: Callable[[Callable[[], None]], object] | None = None
        self._before: dict[signal.Signals, Any] = {}
        self._stopping: object = None  # a task that nobody holds may be collected

    def stops(self, crawler: Crawler) -> None:
        """*crawler* is what is to be stopped."""
        self._crawler = crawler

    def __enter__(self) -> Self:
        # Python has signals in its main thread only; a crawl in another is not stopped by any.
        if threading.current_thread() is threading.main_thread():
            self._soon = _soon()
            for number in _SIGNALS:
                self._before[number] = signal.signal(number, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._restore()
        self.came = True
        assert self._soon is not None
        self._soon(self._stop)

    def _stop(self) -> None:
        logger.info("Learning ends early; send again to force.")
        if self._crawler is None:
            return
        stopped = self._crawler.stop_async()
        self._stopping = (
            asyncio.ensure_future(stopped) if is_asyncio_available() else deferred_from_coro(stopped)
        )


def _soon() -> Callable[[Callable[[], None]], object]:
    """What has the event loop call something, from within a signal handler."""
    if is_asyncio_available():
        return asyncio.get_running_loop().call_soon_threadsafe
    from twisted.internet import reactor

    return reactor.callFromThread  # type: ignore[no-any-return]
