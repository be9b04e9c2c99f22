"""The crawl log of one crawl, while it runs: JSON, one object a line, appended.

A record is on its way to the disk a second later at most, if others follow, and lines reach it whole or not
at all, but for the last when the machine stops in the middle of it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

#: Seconds between two flushes, and the bytes that are flushed sooner.
_PATIENCE = 1.0
_FULL = 64 * 1024


class CrawlLogWriter:
    """Appends records to *path*, which only its owner may read; the log may hold what only they may see.

    A full disk raises `OSError` from `write` or `flush`. What was not written by then is given up and counted
    in `lost`; the writer stays usable, and writes again when there is room.
    """

    def __init__(self, path: str | Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = Path(path)
        self.lost = 0  #: records given up
        self._clock = clock
        self._pending = bytearray()
        self._flushed_at = clock()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self.path, "a+b", buffering=0, opener=_open_private)  # noqa: SIM115  Closed in `close`.
        # A line that a crash cut short must not swallow our first one.
        self._broken = self._file.seek(0, os.SEEK_END) > 0 and self._last_byte() != b"\n"

    def write(self, record: Mapping[str, object]) -> None:
        """Add one record. Raises `TypeError` or `ValueError` for what JSON cannot say."""
        line = json.dumps(record, separators=(",", ":"), allow_nan=False)
        if self._file.closed:
            raise ValueError(f"{self.path} is closed; nothing more can be recorded in it.")
        self._pending += line.encode("ascii") + b"\n"
        if len(self._pending) >= _FULL or self._clock() - self._flushed_at >= _PATIENCE:
            self.flush()

    def flush(self) -> None:
        """Hand over to the operating system what is pending."""
        data = b"\n" * self._broken + self._pending
        self._pending = bytearray()
        self._flushed_at = self._clock()
        written = 0
        try:
            while written < len(data):
                written += self._file.write(data[written:]) or 0
        except OSError:
            whole_lines = data.count(b"\n", written) - (self._broken and not written)
            self.lost += whole_lines
            self._broken = data[written - 1 : written] != b"\n" if written else self._broken
            raise
        self._broken = False

    def close(self) -> None:
        """Flush and close; harmless the second time."""
        if self._file.closed:
            return
        try:
            self.flush()
        finally:
            self._file.close()

    def _last_byte(self) -> bytes:
        self._file.seek(-1, os.SEEK_END)
        return self._file.read(1)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
