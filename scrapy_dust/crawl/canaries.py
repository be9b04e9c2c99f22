"""Canaries: a few of the URLs that rules suppress, fetched all the same through the crawl's own queue.

Which ones, a hash decides that is another each day: so all workers of a crawl choose alike, and no URL is left
out for ever. Their pages come to the spider like any other. What each of them says about the rules is told by
comparing it with its keeper's page: at once where the bytes are the same, or where a redirect leads to the keeper;
else by an inquiry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import xxhash
from scrapy import signals

from scrapy_dust.crawl.requests import CANARY, canary_of, target_url
from scrapy_dust.dust.outcomes import Outcome

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_dust.crawl.inquiries import Inquiries
    from scrapy_dust.crawl.readings import Readings
    from scrapy_dust.crawl.rules import CrawlRules

#: So many pages are remembered by a hash of their bytes: some 10 MB.
BODIES_REMEMBERED = 100_000

#: So many keepers are waited for, each by so many canaries at most. Others are compared with a new fetch.
EARLY_HELD = 16

#: A canary is fetched a little before what was queued with it: until it is judged, its rule goes on suppressing.
AHEAD = 1


@dataclass(frozen=True, slots=True)
class Canary:
    """A URL that rules would have suppressed, fetched to test them."""

    url: str
    keeper: str  #: what stands for it
    key: str  #: of their class, in hex


class Canaries:
    """Of one crawl. *concluded* is told what each canary showed; *mark* is what marks one in its meta.

    *reading*: what pages said is kept, and only where that differs is there an inquiry.
    """

    def __init__(
        self,
        crawler: Crawler,
        rules: CrawlRules,
        concluded: Callable[[Canary, Outcome], None],
        mark: str = CANARY,
        may_inquire: Callable[[Canary], bool] = lambda canary: True,
        *,
        reading: bool = False,
    ) -> None:
        self._rules, self._mark = rules, mark
        self._concluded, self._may_inquire = concluded, may_inquire
        self._crawler = crawler
        self._inquiries: Inquiries | None = None  #: from the first one on
        self._readings = _readings() if reading else None
        self._day = datetime.now(UTC).date().isoformat()
        self._bodies: dict[int, int] = {}  #: hash of a URL → of what it showed, the oldest first
        self._landings: dict[
            str, str
        ] = {}  #: where canaries were redirected to → the class of the first of them
        #: Keepers that have not come yet, by hash → the canaries that came before them.
        self._expected: dict[int, list[tuple[Canary, Response, Request]]] = {}
        crawler.signals.connect(self._spider_idle, signal=signals.spider_idle)
        crawler.signals.connect(self._response_received, signal=signals.response_received)

    def are_chosen(self, url: str) -> bool:
        """Whether URLs such as this one are canaries by chance alone."""
        rate = self._rules.settings.canary_rate
        return rate > 0 and _hash(f"{self._day} {url}") < rate * 2**64

    def are_being_judged(self) -> bool:
        return self._inquiries is not None and self._inquiries.are_under_way

    def send(self, request: Request, key: bytes, keeper: str | None, *, early: bool = False) -> None:
        """*request* is let through as a canary. Without a *keeper* to compare it with, nothing is learned.

        *early*: the keeper itself has not come yet.
        """
        request.meta[self._mark] = {"url": target_url(request), "keeper": keeper, "key": key.hex()}
        if early and len(self._expected) < EARLY_HELD and keeper is not None:
            self._expected.setdefault(_hash(keeper), [])
        elif self._mark == CANARY and not early:
            request.priority += AHEAD

    def _response_received(self, response: Response, request: Request, spider: Spider) -> None:
        if not (200 <= response.status < 300 and self._rules.cover(target_url(request))):
            return
        known = canary_of(request, self._mark)
        if known is None:
            self._remember(request, response)
        elif known["keeper"] is not None:
            self._judge(Canary(**known), response, request)

    def _remember(self, request: Request, response: Response) -> None:
        body = xxhash.xxh3_64_intdigest(response.body)
        urls = {target_url(request), *request.meta.get("redirect_urls", ())[:1]}
        if self._readings is not None:
            self._readings.keep(urls, response)
        for url in urls:
            self._bodies[_hash(url)] = body
            for held in self._expected.pop(_hash(url), ()):
                self._judge(*held)
        while len(self._bodies) > BODIES_REMEMBERED:
            del self._bodies[next(iter(self._bodies))]

    def _judge(self, canary: Canary, response: Response, request: Request) -> None:
        if self._rules.canonize(canary.url) != self._rules.canonize(canary.keeper):
            return  # it tests nothing any more: a rule was suspended meanwhile
        held = self._expected.get(_hash(canary.keeper))
        if held is not None and len(held) < EARLY_HELD:
            held.append((canary, response, request))
            return
        outcome = self._at_once(canary, response, request)
        if outcome is None and self._readings is not None:
            same = self._readings.are_the_same(canary.url, canary.keeper, response)
            outcome = Outcome.SAME if same else None
        if outcome is not None:
            self._concluded(canary, outcome)
        elif self._may_inquire(canary):
            self._inquire(canary, response, request)

    def _inquire(self, canary: Canary, response: Response, request: Request) -> None:
        if self._inquiries is None:
            # Not loaded before: it brings all that compares texts.
            from scrapy_dust.crawl.inquiries import Inquiries  # noqa: PLC0415

            self._inquiries = Inquiries(self._crawler, self._concluded)
        self._inquiries.begin(canary, response, request)

    def _spider_idle(self, spider: Spider) -> None:
        """Keepers that have not come by now do not come."""
        expected, self._expected = self._expected, {}
        for held in expected.values():
            for canary, response, request in held:
                self._judge(canary, response, request)

    def _at_once(self, canary: Canary, response: Response, request: Request) -> Outcome | None:
        if "cached" in response.flags:  # says what was, not what is
            return Outcome.UNKNOWN
        if response.body and self._bodies.get(_hash(canary.keeper)) == xxhash.xxh3_64_intdigest(
            response.body
        ):
            return Outcome.SAME
        if response.url == canary.url or target_url(request) == canary.url:
            return None
        if response.url == canary.keeper:
            return Outcome.SAME
        if self._rules.canonize(response.url) == self._rules.canonize(canary.url):
            return None
        # A page to which several classes redirect is a login, a home or an error page, and no canary's own.
        first = self._landings.setdefault(response.url, canary.key)
        return None if first == canary.key else Outcome.UNKNOWN


def _readings() -> Readings:
    # Not loaded before: it brings all that compares texts.
    from scrapy_dust.crawl.readings import Readings  # noqa: PLC0415

    return Readings()


def _hash(text: str) -> int:
    return xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"))
