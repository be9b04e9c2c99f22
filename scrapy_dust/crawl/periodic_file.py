"""A file that says how a crawl goes: written anew every few seconds, and once more when the crawl ends.

A reader finds the old content or the new one, never a part. A file that cannot be written costs the crawl one line in
its log and nothing else.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from scrapy.utils.asyncio import AsyncioLoopingCall, create_looping_call
from twisted.internet.task import LoopingCall

logger = logging.getLogger(__name__)

#: Device, number, time and size of a file, which tell whether another process has put its own in the place.
_Identity = tuple[int, int, int, int]


class PeriodicFile:
    """A file at *path*, named by the setting *setting*, that gets the result of *content* every *every* seconds."""

    def __init__(
        self,
        path: Path,
        setting: str,
        content: Callable[[], bytes],
        every: float,
        others: Iterable[Path] = (),
    ) -> None:
        """*others*: names to go on under if another crawl writes the same file; without one, both go on writing."""
        self.path, self._setting, self._content, self._every = path, setting, content, every
        self._others = iter(others)
        self._written: _Identity | None = None
        self._has_failed = False
        self._writing: AsyncioLoopingCall | LoopingCall | None = None

    def start(self) -> None:
        """Write the file every *every* seconds from now on."""
        self._writing = create_looping_call(self.write)
        self._writing.start(self._every, now=False)

    def stop(self) -> None:
        """Write the file a last time, and stop."""
        if self._writing is not None and self._writing.running:
            self._writing.stop()
        self.write()

    def write(self) -> None:
        """Write the file as the crawl is now."""
        if self._is_another_crawls():
            self._move()
        content = self._content()
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            beside.write_bytes(content)
            beside.replace(self.path)
            self._written = self._identity()
        except OSError as error:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            if not self._has_failed:
                self._has_failed = True
                said = "%s: %s cannot be written (%s). Check the path and its permissions."
                logger.warning(said, self.path, self._setting, error.strerror)

    def _is_another_crawls(self) -> bool:
        """Whether another crawl has written the file since this one has."""
        now = None if self._written is None else self._identity()
        return now is not None and now != self._written

    def _identity(self) -> _Identity | None:
        """The features by which the file is told from one that another crawl writes; None if there is no file."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size

    def _move(self) -> None:
        """Go on under the next free name, if there is one."""
        other = next(self._others, None)
        if other is None:
            return
        logger.info("%s: another crawl writes this file too. This one goes on in %s.", self.path, other)
        self.path, self._written = other, None
