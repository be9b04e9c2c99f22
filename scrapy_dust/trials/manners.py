"""Downloader middlewares that keep every request of a validation crawl within its limits.

`TrialLimits` stops requests that must not be sent, `TrialRobots` obeys robots.txt, and `TrialIdentity`, next to the
network, stops requests into private networks and removes credentials meant for another host. A stopped request ends
in `IgnoreRequest`, and its pair counts for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import TextResponse
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

from scrapy_dust.sites import site_of
from scrapy_dust.trials.addresses import Addresses, is_inside
from scrapy_dust.trials.declarations import by_robots
from scrapy_dust.trials.limits import netloc_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

    from scrapy_dust.trials.pacing import Pace
    from scrapy_dust.trials.site_trials import SiteTrials


def _goes_to_renderer(request: Request) -> bool:
    """Whether *request* is scrapy-splash's own to its server, for a page whose request was checked before."""
    return bool(request.meta.get("_splash_processed"))


class TrialLimits:
    """Lets only GET pass, and redirects only to URLs that the limits of the site allow."""

    def process_request(self, request: Request) -> None:
        """Stop *request* unless validation may send it, and keep its cookies apart from those of other hosts."""
        if _goes_to_renderer(request):
            return
        if request.method != "GET" or request.body:
            raise IgnoreRequest(f"validation does not send {request.method}")
        site = request.cb_kwargs.get("site")
        if site is not None and request.meta.get("redirect_urls") and not site.limits.may_follow(request.url):
            raise IgnoreRequest("validation does not follow this redirect")
        # Scrapy would ask again at once where a server says that it is asked too much; `trials/pacing.py` waits.
        request.meta["dont_retry"] = True
        # Each host has its own cookies, and its own slot after a redirect from another.
        host = urlsplit(request.url).netloc.rpartition("@")[2].lower()
        stranger = request.meta.get("dust_stranger", "")
        request.meta["cookiejar"] = f"dust-trials {host} {stranger}".rstrip()
        if request.meta.get("redirect_urls"):
            request.meta.pop("download_slot", None)


class RobotsUnavailable(IgnoreRequest):
    """The robots.txt of a site cannot be fetched now, so nothing else of the site may be."""

    def __init__(self, status: int | None, response: Response | None) -> None:
        super().__init__("robots.txt cannot be had")
        self.status, self.response = status, response


class TrialRobots(RobotsTxtMiddleware):
    """Scrapy's robots.txt middleware, made stricter: all requests wait for the robots.txt, and a failure forbids all.

    Scrapy lets the third request and later ones pass meanwhile. A Crawl-delay becomes the delay of its host.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._unavailable: dict[str, RobotsUnavailable] = {}  # RFC 9309, 2.3.1.4: everything is disallowed

    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Hold *request* until the robots.txt of its host allows it; a request to a renderer passes."""
        if not _goes_to_renderer(request):
            await super().process_request(request)

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """The robots.txt of *request*'s host; waits while it is being fetched."""
        netloc = urlparse_cached(request).netloc
        found = self._parsers.get(netloc)
        if isinstance(found, Deferred) and not found.called:
            mine: Deferred[RobotParser | None] = Deferred()
            found.addCallback(_forward_to(mine))
            parser = await maybe_deferred_to_future(mine)
        else:
            if found is None:
                self._unavailable.pop(netloc, None)
            parser = await super().robot_parser(request)
        if netloc in self._unavailable:
            self._parsers.pop(netloc, None)  # whoever comes later asks again
            raise self._unavailable[netloc]
        self._obey_crawl_delay(parser, request)
        return parser

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        """Take the robots.txt in *response*: its rules, the site's declarations in it, or that all is forbidden for now."""
        if response.status >= 500 or response.status == 429:
            self._unavailable[netloc] = RobotsUnavailable(response.status, response)
        site: Any = request.cb_kwargs.get("site")
        is_its_own = site is not None and site_of(response.url) == site.site
        if is_its_own and response.status == 200 and isinstance(response, TextResponse):
            site.declared(by_robots(response.text, response.url))
        await super()._parse_robots(response, netloc, request)

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        """Take note that the robots.txt of *netloc* could not be fetched, so that all is forbidden for now."""
        self._unavailable[netloc] = RobotsUnavailable(None, None)
        super()._robots_error(exc, netloc)

    def _obey_crawl_delay(self, parser: RobotParser | None, request: Request) -> None:
        """Keep the Crawl-delay in the robots.txt, *parser*, between requests to the host of *request*."""
        agent = self._robotstxt_useragent or request.headers.get(b"User-Agent", self._default_useragent)
        delay = parser.crawl_delay(agent) if parser is not None and agent is not None else None
        if not delay:
            return
        site = request.cb_kwargs.get("site")
        if site is not None:
            paces: dict[str, Pace] = self.crawler.spider.paces  # type: ignore[union-attr]
            paces[site.site].keep_distance(delay)
        key = urlparse_cached(request).hostname or ""
        downloader = self.crawler.engine.downloader
        known = downloader.per_slot_settings.get(key, {})
        delay = max(delay, known.get("delay", 0.0), self.crawler.settings.getfloat("DOWNLOAD_DELAY"))
        downloader.per_slot_settings[key] = {**known, "delay": delay, "jitter": 0.0}
        if key in downloader.slots:
            slot = downloader.slots[key]
            slot.delay, slot.jitter = max(delay, slot.delay), 0.0
        # AutoThrottle would make it as short as the server answers.
        request.meta["autothrottle_dont_adjust_delay"] = True


def _forward_to(waiting: Deferred[RobotParser | None]) -> Any:
    """A callback that passes the robots.txt on to *waiting* too."""

    def tell(parser: RobotParser | None) -> RobotParser | None:
        """Pass *parser* on, and return it for the next callback."""
        waiting.callback(parser)
        return parser

    return tell


class TrialIdentity:
    """Stops requests to private addresses that the crawl did not use, and keeps credentials from new hosts."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        trials: Sequence[SiteTrials] = crawler.spider.trials  # type: ignore[union-attr]
        known = {netloc for site in trials for netloc in site.limits.netlocs}
        return cls(Addresses(known))

    async def process_request(self, request: Request) -> None:
        """Stop *request* if it goes into a private network; remove credentials if its host is new to the crawl."""
        if _goes_to_renderer(request):
            return
        _, host, port = netloc_of(request.url)
        by_proxy = bool(request.meta.get("proxy"))
        if not await self._addresses.is_reachable(host, port, by_proxy=by_proxy):
            raise IgnoreRequest("validation does not enter private networks")
        if not self._addresses.is_known(host, port):
            for name in ("Cookie", "Authorization"):
                request.headers.pop(name, None)

    def process_response(self, request: Request, response: Response) -> Response:
        """Stop *response* if it came from a private network after all."""
        # The name may have got another address between our look and the request.
        address = response.ip_address
        if address is None or request.meta.get("proxy") or _goes_to_renderer(request):
            return response
        _, host, port = netloc_of(request.url)
        if is_inside(str(address)) and not self._addresses.is_own(host, str(address), port):
            raise IgnoreRequest("validation does not enter private networks")
        return response


#: Their places: before everything else, instead of Scrapy's own, and after all that adds headers.
MIDDLEWARES = {TrialLimits: 5, RobotsTxtMiddleware: None, TrialRobots: 100, TrialIdentity: 790}
