"""Requests that wait on the disk, by class: heirs for whom there is no room in memory.

In a job's JOBDIR they outlive a pause. Without one they are in a file that SQLite makes where there is room for
temporary files, and that is gone with the crawl.
"""

from __future__ import annotations

import logging
import pickle
import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scrapy.utils.request import request_from_dict

if TYPE_CHECKING:
    from scrapy import Request, Spider

logger = logging.getLogger(__name__)

#: In a JOBDIR.
HEIRS_FILE = "dust-heirs.sqlite"

#: The name by which SQLite knows a file that it removes by itself.
TEMPORARY = ""

_TABLE = "CREATE TABLE IF NOT EXISTS heirs (key BLOB, url TEXT, request BLOB, UNIQUE (key, url))"


class HeirsOnDisk:
    """An `Overflow`. *spider* tells whose methods the callbacks are; nothing is opened until it is used."""

    def __init__(self, path: str, spider: Callable[[], Spider]) -> None:
        self._path, self._spider = path, spider
        self._database: sqlite3.Connection | None = None

    def put(self, key: bytes, url: str, heir: Request) -> bool:
        frozen = freeze(heir, self._spider())
        if frozen is None:
            return False
        self._open().execute("INSERT OR IGNORE INTO heirs VALUES (?, ?, ?)", (key, url, pickle.dumps(frozen)))
        return True

    def take(self, key: bytes) -> tuple[str, Request] | None:
        database = self._open()
        oldest = "SELECT rowid, url, request FROM heirs WHERE key = ? ORDER BY rowid LIMIT 1"
        found = database.execute(oldest, (key,)).fetchone()
        if found is None:
            return None
        row, url, frozen = found
        database.execute("DELETE FROM heirs WHERE rowid = ?", (row,))
        # Of our own writing, as Scrapy's queues beside it are.
        return url, request_from_dict(pickle.loads(frozen), spider=self._spider())  # noqa: S301

    def forget(self, key: bytes) -> None:
        self._open().execute("DELETE FROM heirs WHERE key = ?", (key,))

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self._database = sqlite3.connect(self._path, isolation_level=None)
            # A power cut may take the last of them; a crawl that is killed loses none.
            self._database.execute("PRAGMA synchronous = OFF")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute(_TABLE)
        return self._database


def freeze(request: Request, spider: Spider) -> dict[str, Any] | None:
    """*request* as Scrapy's disk queues keep it; None if its callback is no method of the spider."""
    try:
        frozen = request.to_dict(spider=spider)
        pickle.dumps(frozen)
    except (ValueError, TypeError, AttributeError, pickle.PicklingError) as error:
        logger.debug(
            "Cannot be kept on the disk: %(request)s (%(error)s).", {"request": request, "error": error}
        )
        return None
    return frozen
