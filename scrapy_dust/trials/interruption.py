"""Ends the learning of rules at Ctrl-C or SIGTERM: everything stops within two seconds, and results so far are kept.

Code in the main thread calls `poll`; code in another thread is stopped by an exception there; fetches under way have
a second to come back. A second signal goes to whatever handled signals before.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.signals import engine_started
from scrapy.utils.asyncio import call_later, is_asyncio_available
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.reactor import is_reactor_installed
from twisted.internet.defer import Deferred, DeferredList, FirstError

from scrapy_dust.stopping import Stopped

logger = logging.getLogger(__name__)

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: Seconds for fetches under way to come back.
_GRACE = 1.0
#: Seconds for conclusions from what is known, after everything else has stopped.
_TO_CONCLUDE = 0.5


class Interruption:
    """Handles signals while its ``with`` block runs: the first one ends the work."""

    def __init__(self) -> None:
        self.came = False
        self._until = 0.0  #: when to stop, in seconds, once it came
        self._crawler: Crawler | None = None
        self._before: dict[signal.Signals, Any] = {}
        self._stopping: object = None  # a task that nobody holds may be collected
        self._forced: Deferred[None] = Deferred()
        self._thread: int | None = None  # that computes

    def poll(self) -> None:
        """Raise `Stopped` if a signal has come."""
        if self.came and time.monotonic() > self._until:
            raise Stopped

    def conclude(self) -> None:
        """Take note that all work has stopped, and results are summed up."""
        self._until = time.monotonic() + _TO_CONCLUDE

    def stops(self, crawler: Crawler) -> None:
        """Stop *crawler* when a signal comes. Takes the signals over from Scrapy when the crawl begins."""
        self._crawler = crawler
        crawler.signals.connect(self._handle_signals, signal=engine_started)

    @contextmanager
    def computing(self) -> Iterator[None]:
        """A block in another thread: when a signal comes, `Stopped` is raised there, wherever the code is."""
        self._thread = threading.get_ident()
        try:
            self.poll()
            yield
        finally:
            self._thread = None

    async def unless_forced(self, crawl: Awaitable[None] | Deferred[None]) -> None:
        """Wait for *crawl*; after a signal, only a moment longer."""
        running = crawl if isinstance(crawl, Deferred) else deferred_from_coro(_as_coroutine(crawl))
        waiting = DeferredList([running, self._forced], fireOnOneCallback=True, fireOnOneErrback=True)
        try:
            await maybe_deferred_to_future(waiting)
        except FirstError as error:
            error.subFailure.raiseException()

    def __enter__(self) -> Self:
        self._handle_signals()
        return self

    def __exit__(self, *_: object) -> None:
        self._restore_handlers()

    def _handle_signals(self) -> None:
        """Handle Ctrl-C and SIGTERM from now on; stop at once if one has come."""
        # Python has signals in its main thread only; a crawl in another is not stopped by any.
        if threading.current_thread() is not threading.main_thread():
            return
        if self.came:  # before there was anything to stop
            self._stop_crawl(signal.SIGINT)
            return
        for number in _SIGNALS:
            before = signal.signal(number, self._on_signal)
            if before != self._on_signal:
                self._before[number] = before

    def _restore_handlers(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """Note the signal, stop the thread that computes, and let the event loop stop the crawl."""
        self._restore_handlers()
        self.came = True
        if self._thread is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._thread), ctypes.py_object(Stopped)
            )
        soon = _event_loop_caller()
        if soon is not None:
            soon(partial(self._stop_crawl, number))

    def _stop_crawl(self, number: int) -> None:
        """End the crawl, and no longer wait for it when fetches under way have had a second."""
        logger.info("Learning ends early; send again to force.")
        if self._crawler is None:
            return
        call_later(_GRACE, self._stop_waiting, number)
        stopped = self._crawler.stop_async()
        self._stopping = (
            asyncio.ensure_future(stopped) if is_asyncio_available() else deferred_from_coro(stopped)
        )

    def _stop_waiting(self, number: int) -> None:
        """Let `unless_forced` return although the crawl has not ended."""
        if not self._forced.called:
            self._forced.callback(None)


class InterruptionOfProcess(Interruption):
    """An `Interruption` for a process that does nothing else: a second after the signal, its event loop is dropped."""

    def _stop_waiting(self, number: int) -> None:
        """Send Scrapy the signal twice, so that it drops its event loop."""
        # The first of two signals asks Scrapy to end, the second one makes it.
        for _ in range(2):
            signal.raise_signal(number)


async def _as_coroutine(crawl: Awaitable[None]) -> None:
    """A coroutine that waits for *crawl*, whatever can be awaited."""
    await crawl


@contextmanager
def as_keyboard_interrupt() -> Iterator[None]:
    """In the block, SIGTERM acts like Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _event_loop_caller() -> Callable[[Callable[[], None]], object] | None:
    """A function by which a signal handler can have the event loop call something; None if no loop runs."""
    with suppress(RuntimeError):
        return asyncio.get_running_loop().call_soon_threadsafe
    if not is_reactor_installed():
        return None
    from twisted.internet import reactor

    return reactor.callFromThread  # type: ignore[no-any-return]
