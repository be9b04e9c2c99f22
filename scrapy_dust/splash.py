"""scrapy-splash 0.11.1, which stopped working with Scrapy 2.16, works again once this module is imported.

Nothing of ours imports it; a project asks for it by the add-on, which also configures scrapy-splash:

    ADDONS = {"scrapy_dust.splash.SplashAddon": 800, "scrapy_dust.Addon": 900}

Three things are put right, and only in scrapy-splash: it imports a function that Scrapy no longer has; its spider
middleware does not take the asynchronous output that Scrapy makes; and it asks the downloader for a slot by a
method that is gone. https://github.com/scrapy-plugins/scrapy-splash/issues/332
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import scrapy.utils.url
from scrapy import Request
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

    def process_request(self, request: Request) -> Any:
        return super().process_request(request, self.crawler.spider)

    def process_response(self, request: Request, response: Response) -> Any:
        return super().process_response(request, response, self.crawler.spider)

    def _get_slot_key(self, request_or_response: Request) -> str:
        key: str = self.crawler.engine.downloader.get_slot_key(request_or_response)
        return key


class SplashCookiesMiddleware(scrapy_splash.SplashCookiesMiddleware):  # type: ignore[misc]
    """Keeps cookies of Splash's sessions."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(debug=crawler.settings.getbool("SPLASH_COOKIES_DEBUG"))
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_request(self, request: Request) -> Any:
        return super().process_request(request, self._crawler.spider)

    def process_response(self, request: Request, response: Response) -> Any:
        return super().process_response(request, response, self._crawler.spider)


class SplashDeduplicateArgsMiddleware(scrapy_splash.SplashDeduplicateArgsMiddleware):  # type: ignore[misc]
    """Keeps large arguments of Splash once, and not with each request."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for one in start:
            yield self._with_arguments_once(one)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for one in result:
            yield self._with_arguments_once(one)

    def _with_arguments_once(self, one: Any) -> Any:
        if not isinstance(one, Request):
            return one
        spider: Any = self._crawler.spider
        if not hasattr(spider, "state"):
            spider.state = {}
        spider.state.setdefault(self.local_values_key, {})
        return self._process_request(one, spider)


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
        """Nothing to set: that this module is loaded before the spiders are is what they need."""

    def update_settings(self, settings: BaseSettings) -> None:
        for component, order in _DOWNLOADER_MIDDLEWARES:
            settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", component, order)
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", SplashDeduplicateArgsMiddleware, 100
        )
        name, fingerprinter = "REQUEST_FINGERPRINTER_CLASS", scrapy_splash.SplashRequestFingerprinter
        if not settings.getpriority(name):  # otherwise somebody has chosen one
            settings.set(name, fingerprinter, SETTINGS_PRIORITIES["addon"])
