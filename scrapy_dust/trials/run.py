"""Runs trials in a crawl of their own: in a process without a crawl, or at the end of a crawl."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess, AsyncCrawlerRunner, Crawler, CrawlerProcess, CrawlerRunner
from scrapy.settings import SETTINGS_PRIORITIES, Settings
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.misc import load_object
from scrapy.utils.reactorless import is_reactorless

from scrapy_dust.errors import DustError
from scrapy_dust.settings import DustSettings
from scrapy_dust.stopping import Stopped
from scrapy_dust.trials.interruption import Interruption
from scrapy_dust.trials.manners import MIDDLEWARES
from scrapy_dust.trials.pacing import PAUSE, Patience
from scrapy_dust.trials.rendering import stays_within
from scrapy_dust.trials.site_trials import SiteTrials
from scrapy_dust.trials.spending import OnProgress, OnText, Spent
from scrapy_dust.trials.spider import TrialSpider

#: Settings that a validation crawl must not share with the project's crawls: caches, output, its own canonizing, and
#: limits that speak of another crawl. Identity, delays, robots.txt, proxies and cookies stay as they are.
TRIAL_SETTINGS = {
    "HTTPCACHE_ENABLED": False,
    "DUST_ENABLED": False,
    "DUPEFILTER_CLASS": "scrapy.dupefilters.RFPDupeFilter",
    "REQUEST_FINGERPRINTER_CLASS": "scrapy.utils.request.RequestFingerprinter",
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "ITEM_PIPELINES": {},
    "SPIDER_MIDDLEWARES": {},
    "FEEDS": {},
    "JOBDIR": None,
    "CLOSESPIDER_TIMEOUT": 0,
    "CLOSESPIDER_ITEMCOUNT": 0,
    "CLOSESPIDER_PAGECOUNT": 0,
    "CLOSESPIDER_ERRORCOUNT": 0,
    "CLOSESPIDER_TIMEOUT_NO_ITEM": 0,
    "CLOSESPIDER_PAGECOUNT_NO_ITEM": 0,
    "DEPTH_LIMIT": 0,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "LOG_INSTALL_ROOT_HANDLER": False,
    "LOGSTATS_INTERVAL": 0,
    "STATS_DUMP": False,
    # Whether or not the project's crawls do: see `_is_unbound`.
    "ROBOTSTXT_OBEY": True,
}

_ASYNCIO_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"


def trial_settings(settings: Settings, sites: Iterable[str] = ()) -> Settings:
    """The *settings* of a project, changed for a validation crawl of *sites*."""
    own = settings.copy()
    own.frozen = False  # those of a crawl are
    own.setdict(TRIAL_SETTINGS, "cmdline")
    # The add-on would put our parts back in; there is nothing for them to do here.
    own.set(
        "ADDONS",
        {addon: order for addon, order in own.getdict("ADDONS").items() if not _is_ours(addon)},
        "cmdline",
    )
    for middleware, place in MIDDLEWARES.items():
        own.set_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", middleware, place)
    before = own.get("PLAYWRIGHT_ABORT_REQUEST")
    before = load_object(before) if before is not None else None
    own.set("PLAYWRIGHT_ABORT_REQUEST", stays_within(sites, before), "cmdline")
    return own


def _is_ours(addon: Any) -> bool:
    """Whether *addon* is the one that turns scrapy-dust on; the one for scrapy-splash is not."""
    return bool(load_object(addon).__module__ == "scrapy_dust.addon")


def run_trials(
    settings: Settings,
    trials: Sequence[SiteTrials],
    own: DustSettings,
    on_progress: OnProgress,
    interruption: Interruption,
    on_text: OnText | None = None,
) -> Spent:
    """Fetch until all *trials* are finished or the budget is spent. *on_text* is called with the words of each page.

    Starts an event loop and ends it. Raises `DustError` if the crawl could not start. Decisions made before an
    *interruption* stay.
    """
    process = _crawler_process(trial_settings(settings, [site.site for site in trials]))
    crawler = process.create_crawler(TrialSpider)
    interruption.stops(crawler)
    process.crawl(crawler, **_spider_arguments(settings, trials, own, on_progress), on_text=on_text)
    process.start()
    return _cost_of_crawl(crawler, trials, interruption)


async def run_trials_here(
    settings: Settings,
    trials: Sequence[SiteTrials],
    own: DustSettings,
    on_progress: OnProgress,
    interruption: Interruption,
) -> Spent:
    """Do the same as `run_trials` in the event loop that runs already."""
    arguments = _spider_arguments(settings, trials, own, on_progress)
    of_trials = trial_settings(settings, [site.site for site in trials])
    if is_asyncio_available():
        crawler = AsyncCrawlerRunner(of_trials).create_crawler(TrialSpider)
        interruption.stops(crawler)
        await interruption.unless_forced(crawler.crawl_async(**arguments))
    else:
        crawler = CrawlerRunner(of_trials).create_crawler(TrialSpider)
        interruption.stops(crawler)
        await interruption.unless_forced(crawler.crawl(**arguments))
    return _cost_of_crawl(crawler, trials, interruption)


def _spider_arguments(
    settings: Settings, trials: Sequence[SiteTrials], own: DustSettings, on_progress: OnProgress
) -> dict[str, Any]:
    return {
        "trials": trials,
        "budget": own.validation_budget,
        "on_progress": on_progress,
        "patience": Patience(PAUSE, own.validation_patience),
        "unbound": _is_unbound(settings),
        "render_meta": own.render_meta,
        "ignore": own.ignore,
    }


def _is_unbound(settings: Settings) -> bool:
    """Whether the project has set by itself that its crawls do not obey robots.txt; Scrapy's default does not count.

    Then URLs of the crawl may be fetched again. URLs that a rule makes up must be allowed by robots.txt all the
    same.
    """
    said = (settings.getpriority("ROBOTSTXT_OBEY") or 0) > SETTINGS_PRIORITIES["default"]
    return said and not settings.getbool("ROBOTSTXT_OBEY")


def _cost_of_crawl(crawler: Crawler, trials: Iterable[SiteTrials], interruption: Interruption) -> Spent:
    """The cost of the crawl that has ended; if nobody stopped it, the log decides what is still open."""
    if not isinstance(crawler.spider, TrialSpider):
        raise DustError("the validation crawl could not start; the log above says why.")
    if not interruption.came and not crawler.spider.interrupted:
        with suppress(Stopped):
            for site in trials:
                site.campaign.believe_the_log()
    interruption.conclude()
    return Spent(crawler.spider.fetches, crawler.spider.interrupted or interruption.came)


def _crawler_process(settings: Settings) -> AsyncCrawlerProcess | CrawlerProcess:
    reactor = settings.get("TWISTED_REACTOR")
    plain = settings.getbool("FORCE_CRAWLER_PROCESS") or (reactor and reactor != _ASYNCIO_REACTOR)
    if plain and not is_reactorless():
        return CrawlerProcess(settings)
    return AsyncCrawlerProcess(settings)
