"""Opening of the store of signatures that a setting or an option names."""

from __future__ import annotations

import errno
import logging
import sqlite3
from pathlib import Path

from scrapy.utils.project import data_path

from scrapy_dust.errors import SignatureStoreError
from scrapy_dust.settings import DustSettings
from scrapy_dust.signatures.redis_store import RedisStore
from scrapy_dust.signatures.sqlite_file import put_aside
from scrapy_dust.signatures.sqlite_store import SqliteStore

logger = logging.getLogger(__name__)

AnyStore = SqliteStore | RedisStore

#: In a JOBDIR: what a paused crawl has seen.
JOB_FILE = "dust-pages.sqlite"


def open_store(settings: DustSettings, jobdir: str | None = None) -> AnyStore:
    """Open the store that ``DUST_CONTENT_STORE`` names: a file or a ``redis://`` URL; else one for this crawl alone.

    A crawl whose disk is full does without the file. Raises `SignatureStoreError` where the file is another program's, or cannot
    be read.
    """
    where, keep_days = settings.content_store, settings.content_keep_days
    if where is None:
        return open_for_crawl(jobdir, JOB_FILE, keep_days)
    if is_redis(where):
        return RedisStore(where, keep_days)
    try:
        return SqliteStore(store_path(where, settings.dir), keep_days)
    except SignatureStoreError as error:
        if not _is_full(error.__cause__):
            raise
        said = "%s This crawl compares its pages with each other, and with those of no other crawl."
        logger.warning(said, error)
        return SqliteStore(None, keep_days)


def _is_full(error: BaseException | None) -> bool:
    """Whether *error* says that the disk is full."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    # Of the codes of SQLite the last eight bits are the kind; a disk that is nearly full fails in other ways, too.
    kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return kind in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def open_for_crawl(jobdir: str | None, name: str, keep_days: int | None = None) -> SqliteStore:
    """Open the store of one crawl, in its JOBDIR or in a temporary file. A damaged file is put aside."""
    if not jobdir:
        return SqliteStore(None, keep_days)
    path = Path(jobdir, name)
    try:
        return SqliteStore(path, keep_days)
    except SignatureStoreError as error:
        logger.warning("%s It is put aside, and copies of what it held come again.", error)
    try:
        put_aside(path)
        return SqliteStore(path, keep_days)
    except (OSError, SignatureStoreError):
        return SqliteStore(None, keep_days)


def is_redis(where: str) -> bool:
    """Whether *where* names a Redis."""
    return where.startswith(("redis://", "rediss://", "unix://"))


def store_path(where: str, dust_dir: str | None) -> Path:
    """The path of a store's file. A relative one is below ``DUST_DIR``, or below ``.scrapy/dust`` if that is a URI."""
    folder = Path(data_path("dust")) if dust_dir is None or "://" in dust_dir else Path(dust_dir)
    return folder / where
