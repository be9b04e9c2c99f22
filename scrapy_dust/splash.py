"""scrapy-splash 0.11.1, which stopped working with Scrapy 2.16, works again once this module is imported.

Nothing of ours imports it; a project asks for it by the add-on, which also configures scrapy-splash:

    ADDONS = {"scrapy_dust.splash.SplashAddon": 800, "scrapy_dust.Addon": 900}

Three things are put right, and only in scrapy-splash: it imports a function that Scrapy no longer has; its spider
middleware does not take the asynchronous output that Scrapy makes; and it asks the downloader for a slot by a
method that is gone. https://github.com/scrapy-plugins/scrapy-splash/issues/332
Names and signatures are scrapy-splash's, so that a project's subclasses go on working: a spider may be passed, and
need not be.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import scrapy.utils.url
from scrapy import Request, Spider
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.settings import SETTINGS_PRIORITIES
from w3lib.url import canonicalize_url

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings


# It imports this from where Scrapy had it.
_scrapys = vars(scrapy.utils.url)
_is_missing = "canonicalize_url" not in _scrapys
_scrapys.setdefault("canonicalize_url", canonicalize_url)
try:
    import scrapy_splash
except ModuleNotFoundError as missing:
    if missing.name != "scrapy_splash":
        raise
    raise ModuleNotFoundError(
        "scrapy_dust.splash needs scrapy-splash: pip install scrapy-splash.", name=missing.name
    ) from None
finally:
    if _is_missing:
        del _scrapys["canonicalize_url"]


class SplashMiddleware(scrapy_splash.SplashMiddleware):  # type: ignore[misc]
    """Sends requests to Splash."""

    def process_request(self, request: Request, spider: Spider | None = None) -> Any:
        """Process *request* as scrapy-splash does, for the crawl's spider if none is given."""
        return super().process_request(request, spider or self.crawler.spider)

    def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Any:
        """Process *response* as scrapy-splash does, for the crawl's spider if none is given."""
        return super().process_response(request, response, spider or self.crawler.spider)

    def _get_slot_key(self, request_or_response: Request) -> str:
        """The name of the downloader's queue for a request, from the method that Scrapy has today."""
        key: str = self.crawler.engine.downloader.get_slot_key(request_or_response)
        return key


class SplashCookiesMiddleware(scrapy_splash.SplashCookiesMiddleware):  # type: ignore[misc]
    """Keeps cookies of Splash's sessions. scrapy-splash only names the spider in its own log messages."""

    def process_request(self, request: Request, spider: Spider | None = None) -> Any:
        """Add the cookies of the session to *request*; no spider needs to be given."""
        return super().process_request(request, spider)

    def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Any:
        """Keep the cookies that *response* sets in its session; no spider needs to be given."""
        return super().process_response(request, response, spider)


class SplashDeduplicateArgsMiddleware(scrapy_splash.SplashDeduplicateArgsMiddleware):  # type: ignore[misc]
    """Keeps large arguments of Splash once, and not with each request."""

    _crawler: Crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls()
        middleware._crawler = crawler
        return middleware

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Pass each start request through `process_start_requests`, which a project may have extended."""
        async for one in start:
            spider: Any = self._crawler.spider
            for made in self.process_start_requests([one], spider):
                yield made

    def process_start_requests(self, start_requests: Iterable[Any], spider: Spider) -> Iterator[Any]:
        """Process start requests as scrapy-splash does. Items, which may be among them in today's Scrapy, stay as they
        are.
        """
        for one in start_requests:
            yield from super().process_start_requests([one], spider) if isinstance(one, Request) else [one]

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Pass the output of a callback through `process_spider_output`: one thing after the other, or all at once if a
        project has extended that method.
        """
        spider = spider or self._crawler.spider
        if type(self).process_spider_output is not SplashDeduplicateArgsMiddleware.process_spider_output:
            everything = [one async for one in result]
            for made in self.process_spider_output(response, everything, spider):
                yield made
            return
        async for one in result:
            for made in self.process_spider_output(response, [one], spider):
                yield made

    def _process_request(self, request: Request, spider: Any) -> Request:
        """Process *request* as scrapy-splash does, after making the place in *spider* where it keeps large arguments."""
        if not hasattr(spider, "state"):
            spider.state = {}
        spider.state.setdefault(self.local_values_key, {})
        made: Request = super()._process_request(request, spider)
        return made


# So that settings which name scrapy-splash's own middlewares get these.
for _mended in (SplashMiddleware, SplashCookiesMiddleware, SplashDeduplicateArgsMiddleware):
    setattr(scrapy_splash, _mended.__name__, _mended)
    setattr(scrapy_splash.middleware, _mended.__name__, _mended)


#: Scrapy's own is moved: Splash's answers are decoded before anything looks at them.
_DOWNLOADER_MIDDLEWARES = (
    (SplashCookiesMiddleware, 723),
    (SplashMiddleware, 725),
    (HttpCompressionMiddleware, 810),
)


class SplashAddon:
    """Configures scrapy-splash as its documentation asks. Its number must be lower than scrapy-dust's own."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Set nothing: it is enough that this module is loaded before the spiders are."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components of scrapy-splash to *settings*."""
        for component, order in _DOWNLOADER_MIDDLEWARES:
            settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", component, order)
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", SplashDeduplicateArgsMiddleware, 100
        )
        name, fingerprinter = "REQUEST_FINGERPRINTER_CLASS", scrapy_splash.SplashRequestFingerprinter
        if not settings.getpriority(name):  # otherwise somebody has chosen one
            settings.set(name, fingerprinter, SETTINGS_PRIORITIES["addon"])
