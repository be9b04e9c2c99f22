"""Retention of crawl logs: by age, by number of crawls and by bytes for each spider; the oldest logs go
first.

The newest log of a spider always stays, and so does one that is being written.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from scrapy_dust.crawl_log.locks import lock_of_log
from scrapy_dust.crawl_log.log_names import crawl_name, is_own_name, time_in_name
from scrapy_dust.crawl_log.remote_logs import RemoteFile

Log = Path | RemoteFile


@dataclass(frozen=True, slots=True)
class Keep:
    """The limits on each spider's logs; None: no limit."""

    days: int | None = None  #: since the crawl began
    crawls: int | None = None  #: so many of the latest
    bytes: int | None = None  #: in all, on the disk

    @property
    def everything(self) -> bool:
        """Whether there is no limit."""
        return self.days is None and self.crawls is None and self.bytes is None


def prune(files: Iterable[Log], keep: Keep, now: datetime | None = None) -> list[Log]:
    """Remove the files that exceed the limits of *keep*, spider by spider. Returns the removed files."""
    if keep.everything:
        return []
    folders: dict[str, dict[str, list[Log]]] = {}
    for file in files:
        if is_own_name(file.name):
            folders.setdefault(str(file.parent), {}).setdefault(crawl_name(file.name), []).append(file)
    removed: list[Log] = []
    for crawls in folders.values():
        for crawl in _files_over_limits(crawls, keep, now or datetime.now(UTC)):
            removed += [file for file in crawls[crawl] if _remove(file)]
    return removed


def logs_below(folder: Path) -> list[Log]:
    """The logs of scrapy-dust below *folder*."""
    return [file for file in sorted(folder.rglob("*")) if is_own_name(file.name) and file.is_file()]


def _files_over_limits(crawls: dict[str, list[Log]], keep: Keep, now: datetime) -> list[str]:
    """The files that exceed the limits, the oldest first."""
    newest_first = sorted(crawls, reverse=True)
    used, surplus = 0, []
    for number, crawl in enumerate(newest_first):
        used += sum(_size_of(file) for file in crawls[crawl])
        too_old = keep.days is not None and now - time_in_name(crawl) > timedelta(days=keep.days)
        too_many = keep.crawls is not None and number >= keep.crawls
        too_large = keep.bytes is not None and used > keep.bytes
        if number and (too_old or too_many or too_large):
            surplus.append(crawl)
    return surplus[::-1]


def _size_of(file: Log) -> int:
    """The bytes of *file*; 0 if it is gone."""
    with suppress(OSError):
        return file.stat().st_size if isinstance(file, Path) else file.size()
    return 0


def _remove(file: Log) -> bool:
    """Remove *file*, and say whether it is gone. A file that is being written stays."""
    try:
        if isinstance(file, Path):
            with lock_of_log(file) as ended:
                if not ended:
                    return False
                file.unlink()
        else:
            file.unlink()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
