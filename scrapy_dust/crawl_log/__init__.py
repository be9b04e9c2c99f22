"""The crawl log: writes our own logs, and reads them and other programs' logs with the same fields.

The names are loaded when first asked for: the process beside a crawl that writes its log needs few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy_dust.crawl_log.log_places import log_dir, log_sources, new_log_path, spider_log_dir
    from scrapy_dust.crawl_log.reader import Reading, read_visits, visits_by_site
    from scrapy_dust.crawl_log.records import record_of_failure, record_of_page, record_of_redirect
    from scrapy_dust.crawl_log.writer import CrawlLogWriter

__all__ = [
    "CrawlLogWriter",
    "Reading",
    "log_dir",
    "log_sources",
    "new_log_path",
    "read_visits",
    "record_of_failure",
    "record_of_page",
    "record_of_redirect",
    "spider_log_dir",
    "visits_by_site",
]

_HOMES = {
    "log_places": ("log_dir", "log_sources", "new_log_path", "spider_log_dir"),
    "reader": ("Reading", "read_visits", "visits_by_site"),
    "records": ("record_of_failure", "record_of_page", "record_of_redirect"),
    "writer": ("CrawlLogWriter",),
}


def __getattr__(name: str) -> Any:
    """Import the public *name* from its module, when somebody uses it first."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
