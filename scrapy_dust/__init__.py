"""Learns which URLs of a site show the same page, and keeps Scrapy from fetching them again.

These names are for a project's ``settings.py``. Each is loaded when it is first used: every ``scrapy`` command
imports this package to find our commands, and must not pay for the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy_dust.addon import Addon
    from scrapy_dust.crawl.content_dedup import ContentDedupMiddleware
    from scrapy_dust.crawl.dupefilter import DustDupeFilter
    from scrapy_dust.crawl.fingerprinter import DustRequestFingerprinter
    from scrapy_dust.crawl.http_cache import DustCacheStorage
    from scrapy_dust.crawl.item_dedup import ContentDedupPipeline
    from scrapy_dust.crawl.known_pages import KnownMiddleware
    from scrapy_dust.crawl.log_middleware import CrawlLogMiddleware
    from scrapy_dust.crawl.outcome_middlewares import DustGivenMiddleware, DustOutcomeMiddleware
    from scrapy_dust.crawl.scheduler import DustScheduler
    from scrapy_dust.crawl.taken import TakenMiddleware
    from scrapy_dust.extension import DustExtension

__version__ = "0.1.0"

__all__ = [
    "Addon",
    "ContentDedupMiddleware",
    "ContentDedupPipeline",
    "CrawlLogMiddleware",
    "DustCacheStorage",
    "DustDupeFilter",
    "DustExtension",
    "DustGivenMiddleware",
    "DustOutcomeMiddleware",
    "DustRequestFingerprinter",
    "DustScheduler",
    "KnownMiddleware",
    "TakenMiddleware",
    "__version__",
]

_HOMES = {
    "Addon": "scrapy_dust.addon",
    "ContentDedupMiddleware": "scrapy_dust.crawl.content_dedup",
    "ContentDedupPipeline": "scrapy_dust.crawl.item_dedup",
    "CrawlLogMiddleware": "scrapy_dust.crawl.log_middleware",
    "DustCacheStorage": "scrapy_dust.crawl.http_cache",
    "DustGivenMiddleware": "scrapy_dust.crawl.outcome_middlewares",
    "DustOutcomeMiddleware": "scrapy_dust.crawl.outcome_middlewares",
    "DustScheduler": "scrapy_dust.crawl.scheduler",
    "DustDupeFilter": "scrapy_dust.crawl.dupefilter",
    "DustExtension": "scrapy_dust.extension",
    "DustRequestFingerprinter": "scrapy_dust.crawl.fingerprinter",
    "KnownMiddleware": "scrapy_dust.crawl.known_pages",
    "TakenMiddleware": "scrapy_dust.crawl.taken",
}


def __getattr__(name: str) -> Any:
    """Import the public *name* from its module, when somebody uses it first."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
