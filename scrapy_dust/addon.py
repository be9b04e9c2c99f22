"""The add-on: puts the parts of scrapy-dust into a project's settings, beside what is set there.

Settings of a project, a spider, another add-on or a person are respected: a component of ours that is ordered
elsewhere, or None, stays so, and a fingerprinter or dupefilter that was configured before is wrapped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import load_object

from scrapy_dust.crawl.content_dedup import ContentDedupMiddleware
from scrapy_dust.crawl.dupefilter import DustDupeFilter
from scrapy_dust.crawl.fingerprinter import DustRequestFingerprinter
from scrapy_dust.crawl.http_cache import DustCacheStorage
from scrapy_dust.crawl.known_pages import KnownMiddleware
from scrapy_dust.crawl.log_middleware import CrawlLogMiddleware
from scrapy_dust.crawl.outcome_middlewares import DustGivenMiddleware, DustOutcomeMiddleware
from scrapy_dust.crawl.scheduler import DustScheduler
from scrapy_dust.crawl.taken import TakenMiddleware
from scrapy_dust.crawl.two_way_check import TwoWayMiddleware
from scrapy_dust.errors import in_one_sentence
from scrapy_dust.extension import DustExtension
from scrapy_dust.settings import DustSettings, setting_name

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: Bodies are decoded here, attempts that will be retried are still seen, and so are pages with a meta refresh.
LOG_MIDDLEWARE_ORDER = 585

#: Outermost: what fails there was not retried or otherwise mended. Innermost: what comes there comes to the spider.
OUTCOME_ORDERS = {"DOWNLOADER_MIDDLEWARES": 1, "SPIDER_MIDDLEWARES": 10_000}

#: Outermost: what comes there goes to the pipelines.
GIVEN_MIDDLEWARE_ORDER = 0

#: Next to the spider: whatever else looks at responses has seen them, and what a callback makes comes here first.
CONTENT_MIDDLEWARE_ORDER = 955

#: Farther from the spider than what sees whether a callback yields anything.
KNOWN_MIDDLEWARE_ORDER = 9_990

#: Nearer still to the spider: what a callback yields is recorded as the spider made it.
TAKEN_MIDDLEWARE_ORDER = 10_010


class Addon:
    """The add-on of scrapy-dust: ``ADDONS = {"scrapy_dust.Addon": 900}``.

    The add-on with the highest number is asked last, and so knows the settings of all others.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components to *settings*. Raises `ValueError`, in one sentence, for a wrong ``DUST_*`` setting."""
        with in_one_sentence():
            ours = DustSettings.from_settings(settings)
        if not ours.enabled:
            return
        settings.setdefault_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES", CrawlLogMiddleware, LOG_MIDDLEWARE_ORDER
        )
        for middlewares, order in OUTCOME_ORDERS.items():
            settings.setdefault_in_component_priority_dict(middlewares, DustOutcomeMiddleware, order)
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", DustGivenMiddleware, GIVEN_MIDDLEWARE_ORDER
        )
        settings.setdefault_in_component_priority_dict("EXTENSIONS", DustExtension, 500)
        if ours.content_dedup != "off":
            middleware = TwoWayMiddleware if ours.content_dedup == "paper" else ContentDedupMiddleware
            settings.setdefault_in_component_priority_dict(
                "SPIDER_MIDDLEWARES", middleware, CONTENT_MIDDLEWARE_ORDER
            )
        if ours.known != "off":
            settings.setdefault_in_component_priority_dict(
                "SPIDER_MIDDLEWARES", KnownMiddleware, KNOWN_MIDDLEWARE_ORDER
            )
        if ours.same == "items" or (ours.log_enabled and ours.log_units):
            settings.setdefault_in_component_priority_dict(
                "SPIDER_MIDDLEWARES", TakenMiddleware, TAKEN_MIDDLEWARE_ORDER
            )
        _wrap_configured_class(settings, "REQUEST_FINGERPRINTER_CLASS", DustRequestFingerprinter)
        # `scrapy shell` turns the dupefilter off at this priority, and hangs on a second fetch of one URL if it
        # is turned on again.
        if settings.getpriority("DUPEFILTER_CLASS") != SETTINGS_PRIORITIES["command"]:
            _wrap_configured_class(settings, "DUPEFILTER_CLASS", DustDupeFilter)
        if ours.mode == "enforce" or ours.traps != "off":
            _wrap_configured_class(settings, "SCHEDULER", DustScheduler)
        if settings.getbool("HTTPCACHE_ENABLED"):
            _wrap_configured_class(settings, "HTTPCACHE_STORAGE", DustCacheStorage)


def _wrap_configured_class(settings: BaseSettings, name: str, ours: type) -> None:
    """Set our class *ours* as the setting *name*. The class that was set before goes into a fallback setting, by which
    *ours* finds and wraps it.
    """
    underneath = setting_name(f"fallback_{name}")
    configured = settings.get(name)
    # Not issubclass(): Scrapy takes whatever has a scheduler's methods for a subclass of any scheduler.
    if ours in load_object(configured).__mro__:
        return
    if settings.get(underneath) is None:  # otherwise somebody has chosen what to put underneath
        settings.set(underneath, configured, "addon")
    settings.set(name, ours, max(settings.getpriority(name) or 0, SETTINGS_PRIORITIES["addon"]))
