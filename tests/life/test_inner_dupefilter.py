"""Promise 2: what the project's own dupefilter lets through for the very same URL is let through."""

from __future__ import annotations

import pytest
from scrapy import FormRequest, Request
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.http import Response

from tests.life.both import Both, Reader
from tests.life.web import Answer, Asked, error, index, notice, page, redirect

HERE = "tests.life.test_inner_dupefilter"


@pytest.fixture
def inside(both):
    """Crawls both ways with a dupefilter of the project's, which ours is told to wrap."""

    def crawl(*args, inner: str, **settings) -> Both:
        wrapped = {"DUPEFILTER_CLASS": "scrapy_dust.DustDupeFilter", "DUST_FALLBACK_DUPEFILTER_CLASS": inner}
        return both(*args, only_ours=wrapped, DUPEFILTER_CLASS=inner, **settings)

    return crawl


class Starting(Reader):
    """Begins as spiders with `start_urls` do: its start requests ask not to be filtered."""

    paths = tuple(f"/p{n}" for n in range(6))

    async def start(self):
        for path in self.paths:
            yield Request(self.url(path), dont_filter=True)


class Again(Starting):
    """Asks for the page again where it was told that cookies are needed."""

    def parse(self, response: Response):
        yield from self.items(response)
        if response.css(".notice"):
            yield Request(response.url)


def needs_a_cookie(asked: Asked) -> Answer:
    if "seen=1" in asked.cookie:
        return page(asked.path)
    return notice("cookies are needed", Set_Cookie=f"seen=1; Path={asked.path}")


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_start_page_that_sets_a_cookie_is_asked_for_again(both, concurrency):
    both(Again, needs_a_cookie, CONCURRENT_REQUESTS=concurrency).check(wanted=6)


class LoggingIn(Starting):
    """Sends a form that leads home, and goes on from there with the callback that it began with."""

    paths = ("/",)

    def parse(self, response: Response):
        if response.css(".notice"):
            yield FormRequest(response.urljoin("/login"), formdata={"user": "me"})
        yield from self.items(response)
        yield from self.links(response)


def a_login(asked: Asked) -> Answer:
    match asked.path:
        case "/login":
            return redirect("/", Set_Cookie="in=1; Path=/")
        case "/" if "in=1" not in asked.cookie:
            return notice("who are you")
        case "/":
            return page("home", "/account", "/?sid=2")
    return page(asked.path)


def test_a_login_that_leads_home_shows_the_home_page(both):
    both(LoggingIn, a_login).check(wanted=2)


class LoggingInByHand(LoggingIn):
    """Asks for the start page itself when it is logged in."""

    def parse(self, response: Response):
        if response.css(".notice"):
            yield FormRequest(response.urljoin("/login"), formdata={"user": "me"}, callback=self.logged_in)
            return
        yield from super().parse(response)

    def logged_in(self, response: Response):
        yield Request(self.url("/"))


def test_a_home_page_that_is_asked_for_after_a_login_is_fetched(both):
    def site(asked: Asked) -> Answer:
        return notice("welcome", Set_Cookie="in=1; Path=/") if asked.path == "/login" else a_login(asked)

    both(LoggingInByHand, site).check(wanted=2)


class Polling(Starting):
    """Asks for the page until it is ready."""

    def parse(self, response: Response):
        yield from self.items(response)
        if response.css(".notice"):
            yield Request(response.url, dont_filter=True)


def ready_the_third_time(asked: Asked) -> Answer:
    return page(asked.path) if asked.before >= 2 else notice("not yet")


def test_polling_goes_on_until_the_page_is_ready(both):
    both(Polling, ready_the_third_time).check(wanted=6)


class Retrying(Reader):
    """Asks again with `response.request.replace`."""

    def parse(self, response: Response):
        yield from self.items(response)
        yield from self.links(response)
        if response.css(".notice"):
            yield response.request.replace(dont_filter=True)


def test_a_callback_may_ask_again_with_the_request_that_it_was_given(both):
    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*(f"/p{n}?sid={sid}" for sid in "ab" for n in range(6)))
        return ready_the_third_time(asked)

    both(Retrying, site).check(wanted=6)


class Window(RFPDupeFilter):
    """Forgets what it has let through when the spider begins another round."""

    def request_seen(self, request: Request) -> bool:
        spider = self.crawler.spider
        if spider.round != getattr(self, "round", 0):
            self.round = spider.round
            self._seen = {}
        fingerprint = self.crawler.request_fingerprinter.fingerprint(request)
        seen = self.__dict__.setdefault("_seen", {})
        return seen.setdefault(fingerprint, request) is not request

    @classmethod
    def from_crawler(cls, crawler):
        made = super().from_crawler(crawler)
        made.crawler = crawler
        return made


class Rounds(Reader):
    """Visits three pages in each of four rounds, and notes how often it has visited them."""

    round = 1
    last = 4
    unfiltered = False

    async def start(self):
        for request in self.visits():
            yield request.replace(dont_filter=self.unfiltered)

    def visits(self):
        for n in range(3):
            yield Request(self.url(f"/p{n}"))

    def parse(self, response: Response):
        yield from self.items(response)
        self.got = getattr(self, "got", 0) + 1
        if self.got == 3 and self.round < self.last:
            self.got = 0
            self.round += 1
            yield from self.visits()


def counting(asked: Asked) -> Answer:
    return page(f"{asked.path} for the {asked.before}. time")


class RoundsFromStart(Rounds):
    """Its first round is not filtered, as start requests are not."""

    unfiltered = True


@pytest.mark.parametrize("spider", [Rounds, RoundsFromStart])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_dupefilter_with_a_window_has_its_word(inside, spider, concurrency):
    inside(spider, counting, inner=f"{HERE}.Window", CONCURRENT_REQUESTS=concurrency).check(wanted=12)


class RoundsOfAliases(RoundsFromStart):
    """Its pages have two aliases, which are asked for in each round."""

    def visits(self):
        for n in range(3):
            yield Request(self.url(f"/p{n}?sid=a"))
            yield Request(self.url(f"/p{n}?sid=b"))


def test_a_window_ends_for_aliases_too(inside):
    def site(asked: Asked) -> Answer:
        return page(f"{asked.path} is there")

    found: Both = inside(RoundsOfAliases, site, inner=f"{HERE}.Window")
    assert len(found.ours.asked) >= 3 * Rounds.last, "each round asks for its pages"


class TenTimes(Reader):
    """Asks for one page until it has had it ten times."""

    paths = ("/ticker",)

    def parse(self, response: Response):
        yield from self.items(response)
        if len(response.css("h1")) and "9." not in response.css("h1::text").get():
            yield Request(response.url)


class TenTimesFromStart(TenTimes):
    async def start(self):
        yield Request(self.url("/ticker"), dont_filter=True)


@pytest.mark.parametrize("spider", [TenTimes, TenTimesFromStart])
def test_base_dupefilter_filters_nothing_of_one_url(inside, spider):
    inside(spider, counting, inner="scrapy.dupefilters.BaseDupeFilter").check(wanted=10)


class Refusing(BaseDupeFilter):
    """Has its own idea of what is a duplicate: whatever has been asked for twice."""

    def __init__(self):
        self.times = {}

    def request_seen(self, request: Request) -> bool:
        self.times[request.url] = self.times.get(request.url, 0) + 1
        return self.times[request.url] > 2


class Twice(Reader):
    """Asks for each page three times, one after the other."""

    paths = tuple(f"/p{n}" for n in range(4))

    def parse(self, response: Response):
        yield from self.items(response)
        yield Request(response.url)


def test_a_dupefilter_that_lets_each_url_through_twice_is_heard_twice(inside):
    inside(Twice, counting, inner=f"{HERE}.Refusing").check(wanted=8)


class Errbacks(Reader):
    """Asks again for what failed, in the errback."""

    def parse(self, response: Response):
        yield from self.items(response)
        for request in self.links(response):
            yield request.replace(errback=self.again)

    def again(self, failure):
        if not failure.request.meta.get("again"):
            yield failure.request.replace(dont_filter=True, meta={"again": True})


@pytest.mark.parametrize("concurrency", [1, 8])
def test_an_errback_that_asks_again_is_heard(both, concurrency):
    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*(f"/p{n}?sid={sid}" for sid in "ab" for n in range(6)))
        return page(asked.path) if asked.before else error(404)

    both(Errbacks, site, CONCURRENT_REQUESTS=concurrency).check(wanted=6)


class Elsewhere(Errbacks):
    """Asks another place for what failed, under a URL that the rules take for the same page."""

    def again(self, failure):
        yield Request(failure.request.url.replace("sid=", "mirror=1&sid="), dont_filter=False)


def test_an_errback_may_ask_for_an_alias_of_what_failed(both):
    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*(f"/p{n}?sid=a" for n in range(6)))
        return page(asked.path) if "mirror" in asked.query else error(404)

    both(Elsewhere, site).check(wanted=6)


class Cookies(Reader):
    """Asks for a page in two sessions, `cookiejar` by `cookiejar`, as shops with currencies need."""

    async def start(self):
        for jar in ("eur", "usd"):
            yield Request(self.url(f"/set/{jar}"), callback=self.set_up, meta={"cookiejar": jar})

    def set_up(self, response: Response):
        jar = response.meta["cookiejar"]
        yield Request(self.url("/p"), dont_filter=True, meta={"cookiejar": jar})


def test_sessions_that_ask_for_one_url_unfiltered_each_get_their_page(both):
    def site(asked: Asked) -> Answer:
        if asked.path.startswith("/set/"):
            return notice("set", Set_Cookie=f"currency={asked.path[5:]}; Path=/")
        return page(f"price in {asked.cookie}")

    both(Cookies, site).check(wanted=2)
