"""Run trials in a crawl of their own: in a process that has no crawl yet, or at the end of one that has."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scrapy.crawler import AsyncCrawlerProcess, AsyncCrawlerRunner, Crawler, CrawlerProcess, CrawlerRunner
from scrapy.settings import Settings
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.reactorless import is_reactorless

from scrapy_dust.errors import DustError
from scrapy_dust.trials.site_trials import SiteTrials
from scrapy_dust.trials.spider import TrialSpider

#: What a validation crawl must not share with the project's crawls: caches, output, its own canonizing, and
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
}

_ASYNCIO_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"


def trial_settings(settings: Settings) -> Settings:
    """*settings* of a project, made fit for a validation crawl."""
    own = settings.copy()
    own.frozen = False  # those of a crawl are
    own.setdict(TRIAL_SETTINGS, "cmdline")
    # The add-on would put our parts back in; there is nothing for them to do here.
    addons = {name: order for name, order in own.getdict("ADDONS").items() if "scrapy_dust" not in str(name)}
    own.set("ADDONS", addons, "cmdline")
    return own


OnProgress = Callable[[TrialSpider], None]


def run_trials(settings: Settings, trials: Sequence[SiteTrials], budget: int, on_progress: OnProgress) -> int:
    """Fetch until all *trials* are finished or *budget* is spent; gives the number of fetches.

    Starts an event loop and ends it. Raises `DustError` if the crawl could not start. What was decided before
    an interruption stays decided.
    """
    process = _process(trial_settings(settings))
    crawler = process.create_crawler(TrialSpider)
    process.crawl(crawler, trials=trials, budget=budget, on_progress=on_progress)
    process.start()
    return _fetches(crawler)


async def run_trials_here(settings: Settings, trials: Sequence[SiteTrials], budget: int) -> int:
    """`run_trials` in the event loop that runs already."""
    arguments = {"trials": trials, "budget": budget, "on_progress": lambda spider: None}
    own = trial_settings(settings)
    if is_asyncio_available():
        crawler = AsyncCrawlerRunner(own).create_crawler(TrialSpider)
        await crawler.crawl_async(**arguments)
    else:
        crawler = CrawlerRunner(own).create_crawler(TrialSpider)
        await maybe_deferred_to_future(crawler.crawl(**arguments))
    return _fetches(crawler)


def _fetches(crawler: Crawler) -> int:
    if not isinstance(crawler.spider, TrialSpider):
        raise DustError("the validation crawl could not start; the log above says why.")
    return crawler.spider.fetches


def _process(settings: Settings) -> AsyncCrawlerProcess | CrawlerProcess:
    reactor = settings.get("TWISTED_REACTOR")
    plain = settings.getbool("FORCE_CRAWLER_PROCESS") or (reactor and reactor != _ASYNCIO_REACTOR)
    if plain and not is_reactorless():
        return CrawlerProcess(settings)
    return AsyncCrawlerProcess(settings)
