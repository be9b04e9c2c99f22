"""Promise 1: a request is suppressed only for one that the spider handles alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

import pytest
from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.request import fingerprint

from tests.life.both import Both, Reader
from tests.life.web import Answer, Asked, error, index, page, redirect

PAGES = range(6)


def hub_of(*sids: str):
    """A site of six pages, to which its hub links once for each of *sids*."""

    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*(f"/p{n}?sid={sid}" for sid in sids for n in PAGES))
        return page(asked.path)

    return site


class TwoCallbacks(Reader):
    """Of one page it takes the price from one alias and the text from the other."""

    def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            callback = self.price if "sid=a" in link else self.text
            yield response.follow(link, callback=callback)

    def price(self, response: Response):
        yield from self.items(response, kind="price")

    def text(self, response: Response):
        yield from self.items(response, kind="text")


def test_two_aliases_that_go_to_two_callbacks_give_the_items_of_both(both):
    both(TwoCallbacks, hub_of("a", "b")).check(wanted=12)


def test_a_third_alias_is_suppressed_for_the_one_with_its_callback(both):
    found: Both = both(TwoCallbacks, hub_of("a", "b", "c"), CONCURRENT_REQUESTS=8)
    found.check(wanted=12, saved=6)


class ByPattern(CrawlSpider):
    """Its `Rule`s tell by the URL what a page is."""

    name = "by-pattern"
    rules = (
        Rule(LinkExtractor(allow="sid=print"), callback="parse_print"),
        Rule(LinkExtractor(allow="sid="), callback="parse_page"),
    )

    def __init__(self, homes, **_):
        super().__init__()
        self.start_urls = [homes[0] + "/"]

    def parse_print(self, response):
        yield {"print": response.css("h1::text").get()}

    def parse_page(self, response):
        yield {"page": response.css("h1::text").get()}


@pytest.mark.parametrize("first", ["print", "web"])
def test_the_rules_of_a_crawl_spider_each_get_their_pages(both, first):
    second = {"print": "web", "web": "print"}[first]
    both(ByPattern, hub_of(first, second)).check(wanted=12)


def test_a_rule_of_a_crawl_spider_is_spared_its_own_duplicates(both):
    both(ByPattern, hub_of("print", "web", "mobile", "print2")).check(wanted=12, saved=12)


class Following(ByPattern):
    """A rule that only follows links stands beside one that has a callback."""

    rules = (
        Rule(LinkExtractor(allow="sid=follow")),
        Rule(LinkExtractor(allow="sid=item"), callback="parse_page"),
    )


def test_a_rule_without_a_callback_does_not_stand_for_one_that_has_items(both):
    both(Following, hub_of("follow", "item")).check(wanted=6)


def test_a_rule_that_follows_is_not_replaced_by_one_that_does_not(both):
    def site(asked: Asked) -> Answer:
        if asked.path.startswith("/p"):
            return page(asked.path, f"/deeper{asked.path}?sid=item")
        if asked.path.startswith("/deeper"):
            return page(asked.path)
        return index(*(f"/p{n}?sid={sid}" for sid in ("item", "follow") for n in PAGES))

    both(Following, site).check(wanted=12)


class Replacing(ByPattern):
    """`process_request` of a rule sets what the callback goes by."""

    rules = (
        Rule(LinkExtractor(allow="sid=one"), callback="parse_page", process_request="as_one"),
        Rule(LinkExtractor(allow="sid=two"), callback="parse_page", process_request="as_two"),
    )

    def as_one(self, request, response):
        return request.replace(meta={**request.meta, "kind": "one"})

    def as_two(self, request, response):
        return request.replace(meta={**request.meta, "kind": "two"})

    def parse_page(self, response):
        yield {"page": response.css("h1::text").get(), "kind": response.meta["kind"]}


def test_rules_with_one_callback_and_their_own_process_request_are_two(both):
    both(Replacing, hub_of("one", "two")).check(wanted=12)


class Arguments(Reader):
    """Says in `cb_kwargs` for which category a page is wanted."""

    def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            category = link.rpartition("=")[2]
            yield response.follow(link, callback=self.product, cb_kwargs={"category": category})

    def product(self, response: Response, category: str):
        yield from self.items(response, category=category)


@pytest.mark.parametrize("content_dedup", ["off", "drop"])
def test_requests_whose_arguments_the_user_named_are_told_apart(both, content_dedup):
    named = ["callback", "cb_kwargs"]
    both(Arguments, hub_of("a", "b"), DUST_CLASS_BY=named, DUST_CONTENT_DEDUP=content_dedup).check(wanted=12)


class Chained(Reader):
    """Completes each item with the page of its seller. Several items have one, and links say where they come from."""

    def parse(self, response: Response):
        for n in PAGES:
            yield response.follow(f"/p{n % 2}?sid={n}", callback=self.seller, **self.handed_on({"thing": n}))

    def handed_on(self, item):
        return {"cb_kwargs": {"item": item}}

    def seller(self, response: Response, item):
        yield from self.items(response, **item)


class ChainedByMeta(Chained):
    def handed_on(self, item):
        return {"meta": {"_item": item}}

    def seller(self, response: Response):
        yield from self.items(response, **response.meta["_item"])


@dataclass
class Thing:
    thing: int


class ChainedByItem(ChainedByMeta):
    def handed_on(self, item):
        return {"meta": {"thing": Thing(**item)}}

    def seller(self, response: Response):
        yield from self.items(response, thing=response.meta["thing"].thing)


@pytest.mark.parametrize("content_dedup", ["off", "drop"])
@pytest.mark.parametrize("spider", [Chained, ChainedByMeta, ChainedByItem])
def test_an_item_that_a_further_page_completes_gets_that_page(both, spider, content_dedup):
    both(spider, hub_of(), DUST_CONTENT_DEDUP=content_dedup).check(wanted=6)


class Counting(Reader):
    """Yields one item when the last of its pages has come."""

    def parse(self, response: Response):
        left = list(PAGES)
        for n in PAGES:
            yield response.follow(f"/p0?sid={n}", callback=self.one, cb_kwargs={"left": left})

    def one(self, response: Response, left):
        left.pop()
        if not left:
            yield from self.items(response)


def test_pages_that_one_object_counts_all_come(both):
    both(Counting, hub_of()).check(wanted=1)


class Rendering(Reader):
    """Hands options to a middleware in meta, the same for each page."""

    def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, callback=self.items, meta={"options": {"wait": [1, 2]}})


def test_options_that_are_equal_tell_nothing_apart(both):
    both(Rendering, hub_of("a", "b")).check(wanted=6, saved=6)


class Metas(Reader):
    """Says in `meta` for which category a page is wanted, and much that does not matter."""

    def parse(self, response: Response):
        for at, link in enumerate(response.css("a::attr(href)").getall()):
            category = {"a": "shoes", "b": "hats", "c": "hats"}[link.rpartition("=")[2]]
            yield response.follow(link, callback=self.product, meta={"category": category, "at": at})

    def product(self, response: Response):
        yield from self.items(response, category=response.meta["category"])


def test_a_key_of_meta_that_the_user_named_tells_requests_apart_and_no_other_does(both):
    found = both(Metas, hub_of("a", "b", "c"), DUST_CLASS_BY=["callback", "meta:category"])
    found.check(wanted=12, saved=6)


class Errbacks(Reader):
    """Yields an item for each page that is gone."""

    def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            errback = self.gone if "sid=a" in link else self.missing
            yield response.follow(link, callback=self.parse, errback=errback)

    def gone(self, failure):
        yield {"gone": failure.value.response.url.rpartition("/")[2].partition("?")[0]}

    def missing(self, failure):
        yield {"missing": failure.value.response.url.rpartition("/")[2].partition("?")[0]}


def test_two_errbacks_each_hear_of_a_page_that_is_gone(both):
    def site(asked: Asked) -> Answer:
        hub = hub_of("a", "b")(asked)
        return hub if asked.path == "/" else error(404)

    both(Errbacks, site).check(wanted=12)


class Deep(Reader):
    paths = ("/hub",)


def _deep_first(asked: Asked) -> Answer:
    """Its pages link items; the way to their first aliases is three links longer than the limit allows for these."""
    n = asked.path.strip("/").lstrip("abcdefghijklmnopqrstuvwxyz")
    match asked.path.strip("/").rstrip("0123456789"):
        case "hub":
            return index("/shallow0", "/deep0")
        case "deep" if n == "0":
            return index("/deep1")
        case "deep":
            return index(*(f"/p{n}?sid=a" for n in PAGES))
        case "shallow" if n == "0":
            # It comes when the pages have long been there.
            return Answer(index(*(f"/p{n}?sid=b" for n in PAGES)).body, seconds=0.5)
        case "p":
            return index(f"/item{n}")
        case _:
            return page(asked.path)


def test_under_a_depth_limit_a_shallower_alias_is_not_suppressed_for_a_deeper_one(both):
    both(Deep, _deep_first, DEPTH_LIMIT=3, CONCURRENT_REQUESTS=8).check(wanted=6)


def test_under_a_depth_limit_a_deeper_alias_is_still_suppressed(both):
    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return index("/p?sid=a")
        return page(asked.path, *(f"/p?sid={n}" for n in range(9)))

    both(Reader, site, DEPTH_LIMIT=3).check(wanted=1, saved=9)


def test_without_a_depth_limit_depth_does_not_tell_requests_apart(both):
    found: Both = both(Deep, _deep_first, CONCURRENT_REQUESTS=8)
    found.check(wanted=6, saved=6)


class Ordered(Reader):
    """Fetches the deep aliases last, though it has heard of them first."""

    def parse(self, response: Response):
        yield from self.items(response)
        for request in self.links(response):
            priority = -10 if "sid=a" in request.url else -5 if "side" in request.url else 0
            yield request.replace(priority=priority)


def test_a_shallow_alias_that_waits_for_a_deep_one_is_handled_at_its_own_depth(both):
    def site(asked: Asked) -> Answer:
        match asked.path:
            case "/":
                return index("/way", "/side")
            case "/way":
                return index("/farther")
            case "/farther":
                return index(*(f"/p{n}?sid=a" for n in PAGES))
            case "/side":
                return index(*(f"/p{n}?sid=b" for n in PAGES))
            case path if path.startswith("/p"):
                return index(path.replace("/p", "/item"))
            case path:
                return page(path)

    both(Ordered, site, DEPTH_LIMIT=3).check(wanted=6)


class LanguageFingerprinter:
    """A project's own: requests of different languages are different."""

    def fingerprint(self, request):
        return fingerprint(request, include_headers=["Accept-Language"])


LANGUAGES = ("de", "fr", "it")


class Languages(Reader):
    def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            for language in LANGUAGES:
                yield response.follow(link, callback=self.translated, headers={"Accept-Language": language})

    def translated(self, response: Response):
        yield from self.items(response)


VARYING = {"REQUEST_FINGERPRINTER_CLASS": "tests.life.test_alike_handled.LanguageFingerprinter"}


def _translated(asked: Asked) -> Answer:
    hub = hub_of("a", "b", "c")(asked)
    return hub if asked.path == "/" else page(f"{asked.path} in {asked.headers['accept-language']}")


def test_what_a_fingerprinter_of_the_projects_takes_into_account_tells_requests_apart(both):
    both(Languages, _translated, **VARYING).check(wanted=18, saved=36)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_aliases_that_wait_are_as_many_as_a_fingerprinter_of_the_projects_says(both, concurrency):
    def site(asked: Asked) -> Answer:
        return error(404) if asked.sid == "a" else _translated(asked)

    found = both(Languages, site, CONCURRENT_REQUESTS=concurrency, **VARYING)
    found.check(wanted=18, saved=18)


def test_headers_that_differ_with_each_request_tell_nothing_apart_where_the_project_says_so(both):
    """As where the spider stamps its requests."""

    class Stamped(Languages):
        def parse(self, response: Response):
            for at, link in enumerate(response.css("a::attr(href)").getall()):
                yield response.follow(link, callback=self.translated, headers={"X-At": str(at)})

    both(Stamped, hub_of("a", "b", "c"), DUST_CLASS_BY=["callback", "any_headers"]).check(wanted=6, saved=12)


class Bodies(Reader):
    """Asks some pages with POST, and with HEAD before it decides."""

    def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, callback=self.looked_at, method="HEAD")
            yield response.follow(link, callback=self.page)
            yield response.follow(link, callback=self.page, method="POST", body="q=1")
            yield response.follow(link, callback=self.page, method="POST", body="q=2")

    def looked_at(self, response: Response):
        yield {"size": response.headers["X-Size"].decode()}

    def page(self, response: Response):
        yield from self.items(response)


def test_get_head_and_post_of_one_page_are_not_one_request(both):
    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return hub_of("a", "b")(asked)
        return page(f"{asked.method} {asked.path} {asked.body}", X_Size=asked.path)

    both(Bodies, site).check(wanted=24)


class Ticket(Request):
    """A request of the project's own class, with an attribute more."""

    attributes = (*Request.attributes, "ticket")

    def __init__(self, *args, ticket: str = "", **more):
        self.ticket = ticket
        super().__init__(*args, **more)


class Tickets(Reader):
    """Its callback reads an attribute of the request's."""

    def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            yield Ticket(response.urljoin(link), callback=self.stamped, ticket=link[1:3])

    def stamped(self, response: Response):
        yield from self.items(response, ticket=response.request.ticket)


@pytest.mark.parametrize("job", [False, True])
def test_a_request_of_a_class_of_the_projects_own_stays_what_it_is(both, job):
    def site(asked: Asked) -> Answer:
        return error(404) if asked.sid == "a" else hub_of("a", "b", "c")(asked)

    found = both(Tickets, site, job=job)
    found.check(wanted=6)


class Kind:
    """What a project takes of a kind of page, as page objects do."""

    def __init__(self, kind: str):
        self.kind = kind

    def parse(self, response: Response):
        yield {"kind": self.kind, "content": response.css("h1::text").get()}


class PageObjects(Reader):
    """Its callbacks are methods of objects of one class."""

    kinds = {"a": Kind("price"), "b": Kind("text")}

    def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, callback=self.kinds[link[-1]].parse)


class Partials(Reader):
    """Its callbacks are one function with arguments filled in."""

    def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, callback=partial(self.of_kind, kind=link[-1]))

    def of_kind(self, response: Response, kind: str):
        yield from self.items(response, kind=kind)


class Replaced(Reader):
    """Two functions of one name."""

    def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, callback=self.one() if link[-1] == "a" else self.two())

    def one(self):
        def parse_page(response):
            return self.items(response, kind="one")

        return parse_page

    def two(self):
        def parse_page(response):
            return self.items(response, kind="two")

        return parse_page


@pytest.mark.parametrize("spider", [PageObjects, Partials, Replaced])
def test_callbacks_are_told_apart_by_more_than_their_names(both, spider):
    both(spider, hub_of("a", "b")).check(wanted=12)


class Idle(Reader):
    """Asks for more when there is nothing left to do, past its callbacks."""

    @classmethod
    def from_crawler(cls, crawler, **arguments):
        spider = super().from_crawler(crawler, **arguments)
        crawler.signals.connect(spider.more, signal=signals.spider_idle)
        return spider

    def more(self):
        if not hasattr(self, "asked_for_more"):
            self.asked_for_more = True
            for n in PAGES:
                self.crawler.engine.crawl(Request(self.url(f"/p{n}?sid=z"), callback=self.late))
            raise DontCloseSpider

    def late(self, response: Response):
        yield from self.items(response, kind="late")


def test_what_is_asked_for_when_the_spider_is_idle_is_told_apart_too(both):
    both(Idle, hub_of("a", "b")).check(wanted=12, saved=6)


class Inline(Reader):
    """Downloads an alias in the middle of a callback, and asks for it in the ordinary way afterwards."""

    async def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            if "sid=a" in link:
                found = await self.crawler.engine.download_async(Request(response.urljoin(link)))
                for item in self.items(found, kind="inline"):
                    yield item
            else:
                yield response.follow(link, callback=self.ordinary)

    def ordinary(self, response: Response):
        yield from self.items(response, kind="ordinary")


def test_what_a_callback_downloads_by_itself_stands_for_nothing(both):
    both(Inline, hub_of("a", "b")).check(wanted=12)


class Redirected(TwoCallbacks):
    """Two callbacks, of which one asks for URLs that redirect to those of the other."""


def test_a_redirect_to_a_page_that_another_callback_has_is_followed(both):
    def site(asked: Asked) -> Answer:
        if asked.path.startswith("/p") and asked.sid == "b":
            return redirect(f"{asked.path}?sid=c")
        return hub_of("a", "b")(asked)

    both(Redirected, site, CONCURRENT_REQUESTS=4).check(wanted=12)


class Asking(Reader):
    """Asks for each page of a link in a way of its own."""

    def links(self, response: Response):
        for request in super().links(response):
            yield request.replace(**self.way(request.url[-1]))

    def way(self, sid: str) -> dict:
        raise NotImplementedError


class InLanguages(Asking):
    def way(self, sid: str) -> dict:
        return {"headers": {"Accept-Language": {"a": "de", "b": "en", "c": "de"}[sid]}}


class WithCookies(Asking):
    def way(self, sid: str) -> dict:
        return {"cookies": {"shop": {"a": "paris", "b": "rome", "c": "paris"}[sid]}}


class WithJars(Asking):
    def way(self, sid: str) -> dict:
        jar = {"a": 1, "b": 2, "c": 1}[sid]
        return {"meta": {"cookiejar": jar}, "cookies": {"jar": str(jar)}}


class WithCredentials(Asking):
    def way(self, sid: str) -> dict:
        return {"headers": {"Authorization": {"a": "Basic x", "b": "Basic y", "c": "Basic x"}[sid]}}


def telling(asked: Asked) -> Answer:
    if asked.path == "/":
        return hub_of("a", "b", "c")(asked)
    said = [asked.headers.get(name, "") for name in ("accept-language", "cookie", "authorization")]
    return page(f"{asked.path} {said}")


@pytest.mark.parametrize("spider", [InLanguages, WithCookies, WithJars, WithCredentials])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_what_is_asked_for_in_another_way_is_another_page(both, spider, concurrency):
    """And what is asked for in the same way is one."""
    both(spider, telling, CONCURRENT_REQUESTS=concurrency).check(wanted=12, saved=6)


class WithoutRedirects(Asking):
    """Takes the redirect itself of some URLs, and the page behind it of others."""

    def way(self, sid: str) -> dict:
        flags = {"dont_redirect": True, "handle_httpstatus_all": True}
        return {"meta": flags if sid == "b" else {"dont_redirect": False}}

    def items(self, response: Response):
        if "/p" in response.url:
            yield {"status": response.status, "path": urlsplit(response.url).path}

    def links(self, response: Response):
        yield from super().links(response) if "/p" not in response.url else ()


def test_meta_by_which_scrapy_gives_another_answer_tells_requests_apart(both):
    def site(asked: Asked) -> Answer:
        if asked.path.startswith("/p") and asked.sid == "b":
            return redirect(f"{asked.path}?sid=a")
        return hub_of("a", "b", "c")(asked)

    both(WithoutRedirects, site).check(wanted=12)


@pytest.mark.parametrize("spider", [InLanguages, WithCookies, WithCredentials])
def test_a_redirect_is_asked_for_as_its_origin_was(both, spider):
    """Though by then middlewares have added to its headers."""

    def site(asked: Asked) -> Answer:
        if asked.path == "/" or "on" in asked.query:
            return telling(asked)
        return redirect(f"{asked.url}&on=1")

    both(spider, site).check(wanted=12, saved=6)


def test_headers_that_scrapy_sets_tell_nothing_apart(both):
    """A spider asks again with the request that came back, whose headers middlewares have added to."""

    class Again(Reader):
        def parse(self, response: Response):
            for request in self.links(response):
                yield request.replace(callback=self.first)

        def first(self, response: Response):
            yield response.request.replace(url=f"{response.url}&x=1", callback=self.items)

    set_cookie = {"Set-Cookie": "seen=1"}

    def site(asked: Asked) -> Answer:
        return hub_of("a", "b", "c")(asked) if asked.path == "/" else page(asked.path, **set_cookie)

    both(Again, site).check(wanted=6, saved=24)


class Text(str):
    """As lxml has them."""

    __slots__ = ()


class WithTexts(Reader):
    """Hands the text of each link on, as `CrawlSpider` does."""

    def links(self, response: Response):
        for number, request in enumerate(super().links(response)):
            yield request.replace(meta={"link_text": Text(f"page {number}")})


def test_texts_of_links_tell_nothing_apart(both):
    both(WithTexts, hub_of("a", "b", "c")).check(wanted=6, saved=12)


class Sizes(Reader):
    """Asks for the sizes of pages alone."""

    def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, callback=self.looked_at, method="HEAD")

    def looked_at(self, response: Response):
        yield {"size": response.headers["X-Size"].decode()}


def test_answers_that_show_nothing_are_no_evidence_against_a_rule(both):
    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*(f"/p{n}?sid={sid}" for sid in "abcdefgh" for n in range(6)))
        return page(asked.path, X_Size=asked.path)

    found: Both = both(Sizes, site, DUST_CANARY_RATE=1)
    found.check(wanted=6)
    assert found.ours.said == []
    assert found.ours.stats.get("dust/controls", 0) == 0
