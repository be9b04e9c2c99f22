"""The places of journals, ``<DUST_DIR>/journal/<spider>/``, and of requests that the next crawl of a spider is to make.

Both are on this machine also where ``DUST_DIR`` is a URI.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from scrapy.utils.project import data_path

from scrapy_dust.crawl_log.log_names import crawl_name, is_own_name, rank_in_crawl
from scrapy_dust.crawl_log.log_places import log_dir, spider_log_dir


def journal_dir(dust_dir: str | Path | None, spider: str | None = None) -> Path:
    """The folder of all journals, or of one spider's."""
    return _below(dust_dir, "journal", spider)


def existing_journal_dir(dust_dir: str | Path | None) -> Path | None:
    """The folder of all journals; None where there is none. No folder is made."""
    if dust_dir is None and not Path(data_path("dust")).is_dir():
        return None
    folder = journal_dir(dust_dir)
    return folder if folder.is_dir() else None


def requeue_dir(dust_dir: str | Path | None, spider: str | None = None) -> Path:
    """The folder with the requests that the next crawl of a spider is to fetch."""
    return _below(dust_dir, "requeue", spider)


def journals(folder: Path) -> list[Path]:
    """The files below *folder* in the order of their crawls; of a file that is being gzipped, the complete one."""
    # While a segment is gzipped, one look may come too early for the one file and too late for the other.
    looks = (file for _ in range(2) for file in folder.rglob("*"))
    found = {file for file in looks if is_own_name(file.name) and not file.is_dir()}
    by_name = sorted(found, key=lambda file: (crawl_name(file.name), rank_in_crawl(file.name)))
    return list({(file.parent, crawl_name(file.name)): file for file in reversed(by_name)}.values())[::-1]


def spider_of(segment: Path) -> str:
    """The spider whose folder *segment* is in. A very long name is cut."""
    return unquote(segment.parent.name)


def _below(dust_dir: str | Path | None, name: str, spider: str | None) -> Path:
    """The folder *name* in the folder of state, or the part of *spider* in it."""
    folder = log_dir(dust_dir).parent / name
    return folder if spider is None else spider_log_dir(folder, spider)
