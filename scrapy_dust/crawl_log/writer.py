"""The crawl log of one crawl, while it runs: JSON, one object a line, appended.

Each record is handed to the operating system at once, which takes two microseconds, so that a crawl that is
killed loses none; a machine that stops loses what its kernel had not written yet. Lines reach the file whole or
not at all, but for the last when the machine stops, or the disk is full, in the middle of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from io import FileIO
from pathlib import Path

from scrapy_dust.crawl_log.locks import is_same_file, lock_together

Record = Mapping[str, object]

#: Gives an object as JSON in one line, in ASCII.
as_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class CrawlLogWriter:
    """A writer of records to *path*, which only its owner may read, since a log may hold what only the
    owner may see.

    *hide* makes of a record what may be written. A full disk raises `OSError` from `write`. What was not written
    by then is given up and counted in `lost`; the writer stays usable, and writes again when there is room.
    """

    def __init__(self, path: str | Path, hide: Callable[[Record], Record] | None = None) -> None:
        self.path = Path(path)
        self.lost = 0  #: records given up
        self._hide = hide
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = _open_with_lock(self.path)
        # A line that a crash cut short must not swallow our first one.
        self._broken = self._file.seek(0, os.SEEK_END) > 0 and self._last_byte() != b"\n"

    def write(self, record: Record) -> None:
        """Append one record. Raises `TypeError` or `ValueError` for what JSON cannot hold."""
        self.write_line(as_json(record if self._hide is None else self._hide(record)))

    def write_line(self, line: str) -> None:
        """Append one record, given as *line* of JSON in ASCII, in which nothing has to be hidden."""
        if self._file.closed:
            raise ValueError(f"{self.path} is closed; nothing more can be recorded in it.")
        data = b"\n" * self._broken + line.encode("ascii") + b"\n"
        written = 0
        try:
            while written < len(data):
                written += self._file.write(data[written:]) or 0
        except OSError:
            self.lost += 1
            self._broken = data[written - 1 : written] != b"\n" if written else self._broken
            raise
        self._broken = False

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._file.close()

    def _last_byte(self) -> bytes:
        """The last byte of the file: a line break, unless the last line is incomplete."""
        self._file.seek(-1, os.SEEK_END)
        return self._file.read(1)


def _open_with_lock(path: Path) -> FileIO:
    """The file at *path*, opened with a lock that tells other processes that it is being written."""
    while True:
        file = open(path, "a+b", buffering=0, opener=_open_private)  # noqa: SIM115  Closed in `close`.
        lock_together(file.fileno())
        # A moment ago it was nobody's, and may have been taken away as a log that has ended.
        if is_same_file(path, file.fileno()):
            return file
        file.close()


def _open_private(path: str, flags: int) -> int:
    """Open *path* so that a new file is its owner's alone to read."""
    return os.open(path, flags, 0o600)
