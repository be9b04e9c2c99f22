"""Keeps the results of mining each site beside the logs, from one run to the next.

The file is state, not for people: losing it costs time and nothing else. So an unreadable file is begun anew, and one
that cannot be written stays as it is. Each part of a result is kept with a checksum and the digest of all that it
depends on, and is given back only for exactly this digest.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import safe_files

FILE = "mined.sqlite"

#: Bytes that are kept, of the sites that were mined last.
MOST = 256 << 20
#: Sites, and bytes, written at a time.
_BATCH, _BATCH_BYTES = 500, 16 << 20
#: So long a reader waits for a writer, in seconds.
_PATIENCE = 5.0

_TABLE = (
    "CREATE TABLE IF NOT EXISTS mined (site TEXT, part TEXT, key TEXT, checksum BLOB, content BLOB, run INTEGER, "
    "PRIMARY KEY (site, part))"
)
_FIND = "SELECT part, key, checksum, content FROM mined WHERE site = ?"
_PUT = "INSERT OR REPLACE INTO mined VALUES (?, ?, ?, ?, ?, ?)"
_TOUCH = "UPDATE mined SET run = ? WHERE site = ? AND part = ?"


class Part(NamedTuple):
    """One part of the results for a site."""

    site: str
    part: str
    key: str  #: what it depends on
    content: bytes | None  #: None: it is kept already


@dataclass(frozen=True, slots=True)
class Memory:
    """The file of results. It is open only during a call, so that any process may use it."""

    path: str

    def find(self, site: str, keys: Mapping[str, str]) -> dict[str, bytes]:
        """The parts of the results for *site*, by their names, that were saved under these *keys*; other parts are left
        out.
        """
        if not Path(self.path).is_file():
            return {}
        uri = f"{Path(self.path).absolute().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(uri, uri=True, timeout=_PATIENCE)) as database:
                rows = database.execute(_FIND, (_storable(site),)).fetchall()
        except (sqlite3.Error, UnicodeError):
            return {}
        return {
            part: content
            for part, key, checksum, content in rows
            if keys.get(part) == key
            and isinstance(content, bytes)
            and checksum == _checksum(site, part, key, content)
        }

    def keep(self, parts: Sequence[Part], most: int = MOST) -> None:
        """Save *parts* in the place of older ones. If that fails, nothing is saved."""
        with suppress(RuleBookError, OSError, sqlite3.Error):
            safe_files.make_folder(Path(self.path).parent)
            with safe_files.lock(self.path) as file:
                try:
                    _write(file, parts, most)
                except sqlite3.DatabaseError as error:
                    if isinstance(error, sqlite3.OperationalError) and "column" not in str(error):
                        return  # It is busy, or the disk is full; not damaged.
                    file.unlink()
                    _write(file, parts, most)


def _write(file: Path, parts: Iterable[Part], most: int) -> None:
    """Write *parts* into the database *file*, and drop older ones until at most *most* bytes are left."""
    # It tells URLs of the log, and is for whom the log is for.
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    with closing(sqlite3.connect(file, timeout=_PATIENCE)) as database, database:
        database.execute(_TABLE)
        run = 1 + (database.execute("SELECT max(run) FROM mined").fetchone()[0] or 0)
        for one in parts:
            if one.content is None:
                database.execute(_TOUCH, (run, _storable(one.site), one.part))
            elif len(one.content) <= most:
                row = (
                    _storable(one.site),
                    one.part,
                    one.key,
                    _checksum(one.site, one.part, one.key, one.content),
                    one.content,
                    run,
                )
                database.execute(_PUT, row)
        _forget_beyond(database, most)


def _forget_beyond(database: sqlite3.Connection, most: int) -> None:
    """Drop the parts that were mined longest ago, until at most *most* bytes are left."""
    taken = database.execute("SELECT sum(length(content)) FROM mined").fetchone()[0] or 0
    if taken <= most:
        return
    oldest = database.execute("SELECT rowid, length(content) FROM mined ORDER BY run, rowid").fetchall()
    for row, length in oldest:
        if taken <= most:
            return
        database.execute("DELETE FROM mined WHERE rowid = ?", (row,))
        taken -= length


def _checksum(site: str, part: str, key: str, content: bytes) -> bytes:
    head = repr((site, part, key)).encode("utf-8", "surrogatepass")
    return blake2b(head + b"\n" + content, digest_size=16).digest()


def _storable(site: str) -> str:
    """*site* without halves of surrogate pairs, which SQLite does not take."""
    return site.encode("utf-8", "backslashreplace").decode()


class Keeping:
    """Saves the results of a run, some sites at a time, and the rest at its end, however it ends."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._waiting: list[Part] = []
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flush()

    def add(self, parts: Iterable[Part]) -> None:
        """Save *parts*, now or with the next ones."""
        for one in parts:
            self._waiting.append(one)
            self._bytes += len(one.content or b"")
        if len(self._waiting) >= _BATCH or self._bytes >= _BATCH_BYTES:
            self._flush()

    def _flush(self) -> None:
        """Save the parts that wait."""
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        if waiting:
            self._memory.keep(waiting)
