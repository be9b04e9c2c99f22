"""When the URL that stands for a class brings no page, the next alias is fetched: a class never hangs on one URL."""

from __future__ import annotations

import time
from itertools import count

import pytest
from scrapy import Request

from scrapy_dust.crawl.requests import STANDS_FOR
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import Crawl, Visitor, crawl
from tests.crawl.site import HANG_UP, Answer, error, page, redirect, serving

SID = Rule.of(DropParameter("sid"))

ROBOTS = Answer(b"User-agent: *\nDisallow: /p?id=1&sid=bad\n", 200, {"Content-Type": "text/plain"})


def web_where_bad_is(bad: Answer):
    def web(path: str) -> Answer:
        if path == "/robots.txt":
            return ROBOTS
        return bad if "bad" in path else page(words=path)

    return web


@pytest.mark.parametrize(
    "bad",
    [error(404), error(503), HANG_UP, redirect("/p?id=1&sid=bad2"), redirect("ftp://127.0.0.1/x"), page()],
    ids=[
        "404",
        "503 after retries",
        "no answer",
        "a redirect without end",
        "a redirect not followed",
        "robots.txt",
    ],
)
@pytest.mark.parametrize("concurrency", [1, 8])
def test_another_alias_is_fetched_when_the_first_ends_in(with_rules, bad, concurrency):
    with serving(web_where_bad_is(bad)) as site:
        urls = [site.url(f"/p?id=1&sid={sid}") for sid in ("bad", "good", "late")]
        settings = with_rules(site, SID) | {
            "CONCURRENT_REQUESTS": concurrency,
            "REDIRECT_MAX_TIMES": 3,
            "ROBOTSTXT_OBEY": bad.status == 200,
        }
        result = crawl(urls, settings)
    assert result.got == [urls[1]]
    assert site.times()["/p?id=1&sid=late"] == 0
    assert result.stats["dust/kept_alive"] == 1


@pytest.mark.parametrize("bad", [error(503), error(429), HANG_UP], ids=["503", "429", "no answer"])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_aliases_are_not_used_up_while_a_site_sheds_load(with_rules, bad, concurrency):
    fetches, links = count(), [f"/p?id={n}&sid={sid}" for sid in "abc" for n in range(12)]

    def web(path: str) -> Answer:
        if path == "/":
            return page(*links)
        return bad if 3 <= next(fetches) < 12 else page(words=path)

    with serving(web) as site:
        settings = with_rules(site, SID) | {"CONCURRENT_REQUESTS": concurrency, "RETRY_ENABLED": False}
        result = crawl([site.url("/")], settings, follow=True)
    assert len({url.partition("&")[0] for url in result.got}) == 1 + 12


def test_aliases_are_tried_in_the_order_seen_until_one_has_the_page(with_rules):
    with serving(lambda path: error(404) if "bad" in path else page()) as site:
        urls = [site.url(f"/p?id=1&sid={sid}") for sid in ("bad1", "bad2", "bad1", "bad3", "ok1", "ok2")]
        crawl(urls, with_rules(site, SID) | {"CONCURRENT_REQUESTS": 8})
    assert site.asked == [f"/p?id=1&sid={sid}" for sid in ("bad1", "bad2", "bad3", "ok1")]


def test_an_alias_seen_after_its_class_failed_is_fetched_but_no_url_twice(with_rules):
    links = [f"/p?id=1&sid={sid}" for sid in ("bad1", "ok", "ok2")]
    chain = {
        "/": "/p?id=1&sid=bad1",
        "/p?id=1&sid=bad1": "/2",
        "/2": links[0],
        "/3": links[1],
        "/4": links[2],
    }

    def web(path: str) -> Answer:
        if "bad" in path:
            return error(404)
        return page(chain[path]) if path in chain else page()

    with serving(web) as site:
        urls = [site.url(path) for path in ("/", "/2", "/3", "/4")]
        crawl([Request(url, priority=-n) for n, url in enumerate(urls)], with_rules(site, SID), follow=True)
    assert site.times() == dict.fromkeys(("/", "/2", "/3", "/4", links[0], links[1]), 1)


def test_a_page_frees_its_aliases(with_rules):
    with serving(lambda path: page()) as site:
        result = crawl([site.url(f"/p?id=1&sid={n}") for n in range(20)], with_rules(site, SID))
    assert len(site.asked) == 1
    assert result.stats["dust/filtered"] == 19
    assert "dust/heirs" not in result.stats


def test_an_error_that_the_spider_handles_is_no_page_of_the_class(with_rules):
    with serving(web_where_bad_is(error(404))) as site:
        urls = [site.url(f"/p?id=1&sid={sid}") for sid in ("bad", "good")]
        result = crawl(
            [Request(url, meta={"handle_httpstatus_all": True}) for url in urls], with_rules(site, SID)
        )
    assert result.got == urls


@pytest.mark.parametrize("seconds", [0, 0.3], ids=["a fast login", "a slow login"])
def test_a_page_that_many_classes_redirect_to_is_the_page_of_none_of_them(with_rules, seconds):
    def web(path: str) -> Answer:
        time.sleep(seconds if path == "/login" else 0)
        return redirect("/login") if "old" in path else page()

    with serving(web) as site:
        urls = [site.url(f"/p?id={n}&sid={sid}") for n in range(10) for sid in ("old", "new")]
        crawl(urls, with_rules(site, SID) | {"CONCURRENT_REQUESTS": 8})
    assert all(site.times()[f"/p?id={n}&sid=new"] == 1 for n in range(10))


def test_a_redirect_to_a_page_of_another_class_settles_its_own_when_a_second_alias_is_led_there_too(
    with_rules,
):
    def web(path: str) -> Answer:
        return redirect(path.replace("/old", "/new")) if "/old" in path else page(words=path)

    with serving(web) as site:
        urls = [site.url(f"/old/{n}?sid={sid}") for sid in ("a", "b", "c") for n in range(5)]
        crawl(urls, with_rules(site, SID))
    assert site.times() == {
        f"/{age}/{n}?sid={sid}": 1
        for age, sid in (("old", "a"), ("new", "a"), ("old", "b"))
        for n in range(5)
    }


def test_the_only_class_that_was_led_to_a_login_gets_its_page_by_the_next_alias(with_rules):
    def web(path: str) -> Answer:
        return redirect("/login") if "old" in path else page()

    with serving(web) as site:
        result = crawl([site.url(f"/p?sid={sid}") for sid in ("old", "new", "newer")], with_rules(site, SID))
    assert site.url("/p?sid=new") in result.got
    assert site.times()["/p?sid=newer"] == 0


class Told(Visitor):
    """Notes what its callback is given."""

    def parse(self, response):
        self.crawl.got.append((response.url, response.meta["mine"], response.request.priority))


def test_the_next_alias_keeps_its_own_callback_meta_and_priority(with_rules):
    with serving(web_where_bad_is(error(404))) as site:
        urls = [site.url(f"/p?id=1&sid={sid}") for sid in ("bad", "good")]
        requests = [Request(url, meta={"mine": n}, priority=5 - n) for n, url in enumerate(urls)]
        result = crawl(requests, with_rules(site, SID), spider=Told)
    assert result.got == [(urls[1], 1, 4)]


def test_meta_that_a_spider_copies_on_and_on_does_not_grow(with_rules):
    class Copying(Visitor):
        def parse(self, response):
            self.crawl.got.append(len(response.meta[STANDS_FOR]))
            number = int(response.url.partition("/to")[2].partition("?")[0])
            if number < 12:
                yield Request(response.urljoin(f"/from{number + 1}?sid=a"), meta=response.meta)

    def web(path: str) -> Answer:
        return redirect(path.replace("/from", "/to")) if path.startswith("/from") else page()

    with serving(web) as site:
        result = crawl([site.url("/from0?sid=a")], with_rules(site, SID), spider=Copying)
    assert len(result.got) == 13
    assert max(result.got) == 2


def test_an_alias_is_never_fetched_while_the_one_before_is_only_retried(with_rules):
    answers = iter([error(503), page()])
    with serving(lambda path: next(answers)) as site:
        crawl([site.url(f"/p?id=1&sid={sid}") for sid in "ab"], with_rules(site, SID))
    assert site.asked == ["/p?id=1&sid=a"] * 2


def test_requests_that_ask_not_to_be_filtered_are_not(with_rules):
    with serving(lambda path: page()) as site:
        settings = with_rules(site, SID)
        filtered = Request(site.url("/p?id=1&sid=a"))
        asked = [Request(site.url(f"/p?id=1&sid={sid}"), dont_filter=True) for sid in "bcb"]
        opted_out = [Request(site.url(f"/p?id=1&sid={sid}"), meta={"dust": False}) for sid in "dd"]
        crawl([filtered, *asked, *opted_out], settings)
    assert [path[-1] for path in site.asked] == ["a", "b", "c", "b", "d"]


def test_a_retry_that_a_callback_asks_for_goes_through(with_rules):
    class Again(Visitor):
        def parse(self, response):
            self.crawl.got.append(response.url)
            again = response.request.replace(dont_filter=True)
            yield again if len(self.crawl.got) < 3 else {"url": response.url}

    with serving(lambda path: page()) as site:
        result: Crawl = crawl(
            [site.url(f"/p?id=1&sid={sid}") for sid in "ab"], with_rules(site, SID), spider=Again
        )
    assert site.asked == ["/p?id=1&sid=a"] * 3
    assert len(result.got) == 3
