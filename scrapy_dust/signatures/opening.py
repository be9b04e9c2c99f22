"""Which store is meant."""

from __future__ import annotations

from pathlib import Path

from scrapy.utils.project import data_path

from scrapy_dust.signatures.redis import RedisStore
from scrapy_dust.signatures.sqlite import SqliteStore

AnyStore = SqliteStore | RedisStore

#: In a JOBDIR: what a paused crawl has seen.
JOB_FILE = "dust-pages.sqlite"


def open_store(
    where: str | None, dust_dir: str | None, keep_days: int | None, jobdir: str | None = None
) -> AnyStore:
    """*where* is ``DUST_CONTENT_STORE``: a file, or a ``redis://`` URL; None: this crawl only.

    Raises `SignatureStoreError`.
    """
    if where is None:
        return open_for_crawl(jobdir, JOB_FILE, keep_days)
    if is_redis(where):
        return RedisStore(where, keep_days)
    return SqliteStore(store_path(where, dust_dir), keep_days)


def open_for_crawl(jobdir: str | None, name: str, keep_days: int | None = None) -> SqliteStore:
    """Of one crawl: in its JOBDIR, or gone with it."""
    return SqliteStore(Path(jobdir, name) if jobdir else None, keep_days)


def is_redis(where: str) -> bool:
    return where.startswith(("redis://", "rediss://", "unix://"))


def store_path(where: str, dust_dir: str | None) -> Path:
    """A relative path is below ``DUST_DIR``, where that is a folder, and else below ``.scrapy/dust``."""
    folder = Path(data_path("dust")) if dust_dir is None or "://" in dust_dir else Path(dust_dir)
    return folder / where
