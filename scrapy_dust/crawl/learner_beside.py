"""The process that learns beside a crawl, as the crawl sees it: messages go both ways, and the crawl never waits.

While the process looks at a site it reads nothing; messages that the pipe has no room for wait here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from scrapy_dust.crawl.recorder import start_beside
from scrapy_dust.online.messages import Begin, messages_in, to_message


class LearnerBeside:
    """Starts the process that learns beside one crawl, and exchanges messages with it."""

    def __init__(self, begin: Begin) -> None:
        self._process = start_beside("scrapy_dust.online.process")
        self._heard, self._to_tell = bytearray(), bytearray()
        self.send(begin)

    def send(self, message: object) -> None:
        """Send *message* to the process, now or as soon as the pipe has room."""
        self._to_tell += to_message(message)
        self._send_waiting()

    def received(self) -> Iterator[object]:
        """The messages that the process has sent since the last call."""
        self._send_waiting()
        assert self._process.stdout is not None
        with suppress(BlockingIOError):
            while data := os.read(self._process.stdout.fileno(), 1 << 16):
                self._heard += data
        yield from messages_in(self._heard)

    def _send_waiting(self) -> None:
        assert self._process.stdin is not None
        try:
            # None: the pipe is full.
            while self._to_tell and (taken := self._process.stdin.write(self._to_tell)) is not None:
                del self._to_tell[:taken]
        except OSError:  # it has ended
            self._to_tell.clear()

    @property
    def exit_status(self) -> int | None:
        """The exit status of the process; None while it runs."""
        return self._process.poll()

    def close(self) -> None:
        """End the process."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.kill()
        self._process.wait()
