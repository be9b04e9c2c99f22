"""Where crawl logs are: ``<DUST_DIR>/logs/<spider>/<UTC time>-<process>-<random>.jsonl``.

Each crawl has a file of its own, so that no two ever write to one, and names sort as the crawls began.
"""

from __future__ import annotations

import os
import secrets
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from scrapy.utils.project import data_path
from xxhash import xxh3_64_hexdigest

_LONGEST_NAME = 100


def log_dir(dust_dir: str | Path | None) -> Path:
    """The folder of all crawl logs. *dust_dir* is ``DUST_DIR``; None: ``.scrapy/dust`` of the project."""
    return Path(data_path("dust", createdir=True) if dust_dir is None else dust_dir) / "logs"


def spider_log_dir(logs: Path, spider: str) -> Path:
    """The folder of one spider, whatever its name has in it."""
    return logs / _file_name(spider)


def new_log_path(logs: Path, spider: str, now: datetime | None = None) -> Path:
    """A file for a crawl that begins *now*. Nothing is created."""
    began = (now or datetime.now(UTC)).astimezone(UTC)
    name = f"{began:%Y%m%dT%H%M%S.%fZ}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
    return spider_log_dir(logs, spider) / name


def _file_name(spider: str) -> str:
    """*spider* with all but letters, digits, ``_-~`` and inner dots percent-encoded; different names stay so."""
    name = quote(spider, safe="", errors="surrogatepass")
    if name.startswith("."):
        name = "%2E" + name[1:]
    if name.endswith("."):
        name = name[:-1] + "%2E"
    if len(name) > _LONGEST_NAME:
        name = f"{name[:_LONGEST_NAME]}%{xxh3_64_hexdigest(name.encode())}"
    # No name encodes to a percent sign alone.
    return name or "%"
