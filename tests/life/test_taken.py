"""Promise 3: a class has its page when the spider has taken it; till then its next alias is tried."""

from __future__ import annotations

import random

import pytest
from scrapy.exceptions import DropItem, IgnoreRequest
from scrapy.http import Response

from tests.life.both import Both, Reader
from tests.life.web import Answer, Asked, error, index, notice, page, redirect, words

HERE = "tests.life.test_taken"
PAGES = range(6)
CONCURRENCIES = pytest.mark.parametrize("concurrency", [1, 8])


def hub(*sids: str) -> Answer:
    """Links to each page once for each of *sids*."""
    return index(*(f"/p{n}?sid={sid}" for sid in sids for n in PAGES))


def site_whose_first_alias(first):
    """*first*: what the first alias of each page answers; the others show the page."""

    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return hub("a", "b", "c")
        if asked.sid == "a":
            return first(asked) if callable(first) else first
        return page(asked.path)

    return site


def cut_off(asked: Asked) -> Answer:
    whole = page(asked.path).body
    return Answer(whole[: whole.index(b"<h1>")], length=len(whole))


def head_only(asked: Asked) -> Answer:
    """As a server sends that gives up: the status and a beginning, without a length, and without an end."""
    whole = page(asked.path).body
    return Answer(whole[: whole.index(b"<h1>")], headers={"Content-Type": "text/html", "X-Flags": "partial"})


def captcha_of(asked: Asked) -> Answer:
    """Of each page it is another, and says nothing that another does not say."""
    return notice(f"Please type what you see to go on. {words(str(asked.number), 1)}")


SOFT = {
    "202": notice("Accepted. The page is being made.", status=202),
    "204": Answer(status=204),
    "205": Answer(status=205),
    "206": notice("the first part", status=206, Content_Range="bytes 0-99/5000"),
    "an empty 200": Answer(),
    "a page of spaces": Answer(b" \n\t "),
    "a page without words": Answer(b"<html><head></head><body></body></html>"),
    "a cut off answer": cut_off,
    "a partial answer": head_only,
    "a captcha": notice(
        "Please type the letters that you see in the picture, to show that you are a person."
    ),
    "a captcha with a token": captcha_of,
    "an expired session": notice("Your session has expired. Please begin again at our home page."),
    "maintenance": notice(
        "We are working on our site, and are back in an hour. Thank you for your patience."
    ),
    "a busy server": notice("Slow down", status=200, Retry_After="1"),
}


class Flagging:
    """Flags answers as Scrapy's handler does where a server closes the connection in the place of saying a length."""

    def process_response(self, request, response: Response):
        flags = response.headers.get("X-Flags", b"").decode()
        return response.replace(flags=[flags]) if flags else response


@pytest.mark.parametrize("soft", SOFT)
@CONCURRENCIES
def test_the_next_alias_is_tried_where_the_first_answers_with(both, soft, concurrency):
    found = both(
        Reader,
        site_whose_first_alias(SOFT[soft]),
        CONCURRENT_REQUESTS=concurrency,
        DOWNLOAD_FAIL_ON_DATALOSS=False,
        DOWNLOADER_MIDDLEWARES={f"{HERE}.Flagging": 1000},
    )
    found.check(wanted=6)


def test_whole_pages_of_a_server_that_says_no_length_are_pages(both):
    def site(asked: Asked) -> Answer:
        answer = hub("a", "b", "c") if asked.path == "/" else page(asked.path)
        return Answer(answer.body, headers={**answer.headers, "X-Flags": "partial"})

    found: Both = both(Reader, site, DOWNLOADER_MIDDLEWARES={f"{HERE}.Flagging": 1000})
    found.check(wanted=6, saved=12)


@pytest.mark.parametrize("status", [203, 226])
def test_a_status_that_shows_the_page_is_a_page(both, status):
    def site(asked: Asked) -> Answer:
        return hub("a", "b", "c") if asked.path == "/" else page(asked.path, status=status)

    both(Reader, site).check(wanted=6, saved=12)


def test_pages_that_are_all_soft_failures_are_asked_for_no_more_often_than_by_scrapy(both):
    def site(asked: Asked) -> Answer:
        return page("home", *hub_links()) if asked.path == "/" else SOFT["a captcha"]

    def hub_links():
        return [f"/p{n}?sid={sid}" for sid in "abc" for n in PAGES]

    both(Reader, site).check(wanted=1)


class Raising(Reader):
    """Its callback has a bug, which the first alias of each page shows."""

    def parse(self, response: Response):
        self.stumble(response)
        return super().parse(response)

    def stumble(self, response: Response):
        if "sid=a" in response.url:
            raise ValueError("a bug of the spider's")


class RaisingLater(Raising):
    """A generator that has yielded something before its bug shows."""

    def parse(self, response: Response):
        yield {"seen": response.url.rpartition("/")[2].partition("?")[0]}
        self.stumble(response)
        yield from self.items(response)
        yield from self.links(response)


class RaisingInACoroutine(Raising):
    async def parse(self, response: Response):
        self.stumble(response)
        return [*self.items(response), *self.links(response)]


class RaisingInAnAsyncGenerator(Raising):
    async def parse(self, response: Response):
        yield {"seen": response.url.rpartition("/")[2].partition("?")[0]}
        self.stumble(response)
        for found in (*self.items(response), *self.links(response)):
            yield found


@pytest.mark.parametrize("spider", [Raising, RaisingLater, RaisingInACoroutine, RaisingInAnAsyncGenerator])
@CONCURRENCIES
def test_the_next_alias_is_tried_where_the_callback_raises(both, spider, concurrency):
    found: Both = both(
        spider, site_whose_first_alias(lambda asked: page(asked.path)), CONCURRENT_REQUESTS=concurrency
    )
    assert found.lost == []
    assert found.plain.items.keys() >= {f'{{"content": "/p{n}"}}' for n in PAGES}


class DroppingAnswers:
    """A middleware of the project's that has no use for the first alias."""

    def process_response(self, request, response):
        if "sid=a" in request.url:
            raise IgnoreRequest("of no use")
        return response

    def process_spider_input(self, response):
        if "sid=a" in response.url:
            raise IgnoreRequest("of no use")


class RefusingRequests:
    def process_request(self, request):
        if "sid=a" in request.url:
            raise IgnoreRequest("not that one")


class RaisingOnOutput:
    async def process_spider_output_async(self, response, result):
        async for one in result:
            if "sid=a" in response.url:
                raise ValueError("a bug of the middleware's")
            yield one

    def process_spider_output(self, response, result):
        for one in result:
            if "sid=a" in response.url:
                raise ValueError("a bug of the middleware's")
            yield one


class KeepingBack:
    """Lets nothing through of what the spider makes of the first alias."""

    async def process_spider_output_async(self, response, result):
        async for one in result:
            if "sid=a" not in response.url:
                yield one

    def process_spider_output(self, response, result):
        return (one for one in result if "sid=a" not in response.url)


class Emptying:
    """Gives the spider an empty answer where it does not like what came."""

    def process_response(self, request, response):
        return response.replace(body=b"") if "sid=a" in request.url else response


MIDDLEWARES = {
    "an inner downloader middleware drops the answer": ("DOWNLOADER_MIDDLEWARES", "DroppingAnswers", 990),
    "an outer downloader middleware drops the answer": ("DOWNLOADER_MIDDLEWARES", "DroppingAnswers", 0),
    "a downloader middleware refuses the request": ("DOWNLOADER_MIDDLEWARES", "RefusingRequests", 500),
    "a downloader middleware empties the answer": ("DOWNLOADER_MIDDLEWARES", "Emptying", 950),
    "an inner spider middleware drops the answer": ("SPIDER_MIDDLEWARES", "DroppingAnswers", 990),
    "an outer spider middleware drops the answer": ("SPIDER_MIDDLEWARES", "DroppingAnswers", 1),
    "an inner spider middleware fails": ("SPIDER_MIDDLEWARES", "RaisingOnOutput", 990),
    "an outer spider middleware fails": ("SPIDER_MIDDLEWARES", "RaisingOnOutput", 1),
    "an inner spider middleware keeps all back": ("SPIDER_MIDDLEWARES", "KeepingBack", 990),
}


@pytest.mark.parametrize("how", MIDDLEWARES)
@CONCURRENCIES
def test_the_next_alias_is_tried_where(both, how, concurrency):
    room, name, order = MIDDLEWARES[how]
    settings = {room: {f"{HERE}.{name}": order}, "CONCURRENT_REQUESTS": concurrency}
    both(Reader, site_whose_first_alias(lambda asked: page(asked.path)), **settings).check(wanted=6)


class DroppingItems:
    """An item pipeline that does not want what the first alias gives, since it looks at URLs."""

    def process_item(self, item):
        if "sid=a" in item["url"]:
            raise DropItem("not from there")
        return {"content": item["content"]}


class WithUrls(Reader):
    def items(self, response: Response, **more):
        for item in super().items(response, **more):
            yield item | {"url": response.url}


def test_the_next_alias_is_tried_where_a_pipeline_drops_the_items(both):
    site = site_whose_first_alias(lambda asked: page(asked.path))
    both(WithUrls, site, ITEM_PIPELINES={f"{HERE}.DroppingItems": 300}).check(wanted=6)


def test_the_next_alias_is_tried_where_robots_txt_forbids_the_first(both):
    def site(asked: Asked) -> Answer:
        if asked.path == "/robots.txt":
            return Answer(b"User-agent: *\nDisallow: /*sid=a\n", headers={"Content-Type": "text/plain"})
        return site_whose_first_alias(lambda asked: page(asked.path))(asked)

    both(Reader, site, ROBOTSTXT_OBEY=True, CONCURRENT_REQUESTS=1).check(wanted=6)


def test_the_next_alias_is_tried_where_the_first_leads_off_the_site(both):
    class AtHome(Reader):
        allowed_domains = ("127.0.0.1",)

    away = redirect("http://localhost:1/elsewhere")
    both(AtHome, site_whose_first_alias(away)).check(wanted=6)


@pytest.mark.parametrize("status", [401, 403, 404, 410, 429, 500, 503])
def test_the_next_alias_is_tried_where_a_spider_handles_the_error_of_the_first(both, status):
    class Handling(Reader):
        handle_httpstatus_list = (status,)

    both(Handling, site_whose_first_alias(error(status)), RETRY_ENABLED=False).check(wanted=6)


class AskingTwice(Reader):
    """Asks for the page again with the request that it was given, where it is told to wait."""

    def parse(self, response: Response):
        yield from self.items(response)
        yield from self.links(response)
        if response.css(".notice") and not response.meta.get("again"):
            yield response.request.replace(dont_filter=True, meta={**response.meta, "again": True})


@CONCURRENCIES
def test_the_next_alias_is_tried_where_a_retry_of_the_callbacks_fails_too(both, concurrency):
    wait = notice("Please wait a moment, we are preparing what you asked for.")
    both(AskingTwice, site_whose_first_alias(wait), CONCURRENT_REQUESTS=concurrency).check(wanted=6)


def test_each_alias_is_tried_until_one_has_the_page(both):
    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return hub(*"abcdefg")
        failing = dict(zip("abcdef", [*list(SOFT.values())[:5], error(404)], strict=True))
        answer = failing.get(asked.sid, page(asked.path))
        return answer(asked) if callable(answer) else answer

    both(Reader, site).check(wanted=6)


class ByForm(Reader):
    """Makes items only where the URL has no parameter, and follows all links."""

    def items(self, response: Response, **more):
        if "?" not in response.url:
            yield from super().items(response, **more)


@CONCURRENCIES
@pytest.mark.parametrize(("aliases", "is_mixed"), [(2, False), (4, False), (8, True)])
def test_a_spider_that_makes_items_of_one_form_of_a_url_gets_each_item(both, concurrency, aliases, is_mixed):
    """The link to the home page, which each page has, was asked for long before: the page brought nothing new."""
    things = [f"/p{n}" for n in range(12)]
    links = [*(f"{path}?sid={sid}" for sid in range(aliases) for path in things), *things]
    if is_mixed:
        random.Random(aliases).shuffle(links)

    def site(asked: Asked) -> Answer:
        return index(*links) if asked.path == "/" else page(asked.path, "/")

    both(ByForm, site, CONCURRENT_REQUESTS=concurrency).check(wanted=12)


@CONCURRENCIES
def test_pages_of_which_no_item_is_made_cost_a_spider_that_makes_items_a_few_aliases(both, concurrency):
    class Elsewhere(Reader):
        def items(self, response: Response, **more):
            if "/item" in response.url:
                yield from super().items(response, **more)

    links = [f"/{kind}{n}?sid={sid}" for kind in ("list", "item") for n in range(8) for sid in range(8)]

    def site(asked: Asked) -> Answer:
        return index(*links) if asked.path == "/" else page(asked.path, "/")

    both(Elsewhere, site, CONCURRENT_REQUESTS=concurrency).check(wanted=8, saved=80)
