"""The paths of crawl logs: ``<DUST_DIR>/logs/<spider>/<UTC time>-<process>-<random>.jsonl``.

Each crawl has a file of its own, so that no two ever write to one, and names sort as the crawls began. Where
DUST_DIR is a URI, logs are written below a folder of this machine and moved there when their crawls have ended.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from scrapy.utils.project import data_path
from xxhash import xxh3_64_hexdigest

from scrapy_dust.crawl_log.log_names import new_name
from scrapy_dust.crawl_log.remote_logs import is_uri, remote_files, uri_below

_LONGEST_NAME = 100


def log_dir(dust_dir: str | Path | None) -> Path:
    """The folder of this machine below which crawls write logs. Its parent is the folder of the state.

    *dust_dir* is ``DUST_DIR``; None: ``.scrapy/dust`` of the project.
    """
    if dust_dir is None:
        return Path(data_path("dust", createdir=True)) / "logs"
    if is_uri(dust_dir):
        return Path(data_path("dust", createdir=True)) / "spool" / _file_name(str(dust_dir)) / "logs"
    return Path(dust_dir) / "logs"


def log_sources(dust_dir: str | Path | None, spider: str | None = None) -> list[str]:
    """The places with logs of one spider or of all: a folder, a URI, both, or none.

    Raises `CrawlLogError` for a URI that cannot be read.
    """
    logs = log_dir(dust_dir)
    folder = logs if spider is None else spider_log_dir(logs, spider)
    found = [str(folder)] if any(file.is_file() for file in folder.rglob("[!.]*")) else []
    if dust_dir is not None and is_uri(dust_dir):
        uri = uri_below(str(dust_dir), "logs", *([] if spider is None else [_file_name(spider)]))
        found += [uri] * bool(remote_files(uri))
    return found


def spider_log_dir(logs: Path, spider: str) -> Path:
    """The log folder of one spider. Characters of its name that a file system may not allow are percent-encoded."""
    return logs / _file_name(spider)


def spiders_in(dust_dir: str | Path | None) -> list[str]:
    """The folders of the spiders that have logs on this machine."""
    return sorted(file.name for file in log_dir(dust_dir).glob("*") if any(file.glob("[!.]*")))


def new_log_path(logs: Path, spider: str, now: datetime | None = None) -> Path:
    """The path of the log of a crawl that begins *now*. Nothing is created."""
    return spider_log_dir(logs, spider) / new_name(now or datetime.now(UTC))


def _file_name(spider: str) -> str:
    """*spider* as a file name: all but letters, digits, ``_-~`` and inner dots are percent-encoded."""
    name = quote(spider, safe="", errors="surrogatepass")
    if name.startswith("."):
        name = "%2E" + name[1:]
    if name.endswith("."):
        name = name[:-1] + "%2E"
    if len(name) > _LONGEST_NAME:
        name = f"{name[:_LONGEST_NAME]}%{xxh3_64_hexdigest(name.encode())}"
    # No name encodes to a percent sign alone.
    return name or "%"
