"""Copies of pages: marked or dropped without a callback, an errback or an error, and never a page that is none."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import TextResponse
from scrapy.settings import Settings

from scrapy_dust import Addon, ContentDedupMiddleware
from scrapy_dust.crawl import content_dedup
from scrapy_dust.crawl_log import read_visits
from scrapy_dust.page.aliases import ENOUGH
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.signatures.sqlite_store import SqliteStore
from scrapy_dust.visits.pages import merge_visits
from tests.crawl.crawling import Visitor, crawl
from tests.crawl.site import Answer, serving
from tests.prose import document, prose

HTML = {"Content-Type": "text/html; charset=utf-8"}


class Follower(Visitor):
    """Follows the links of every page, and makes an item of each."""

    def parse(self, response):
        self.crawl.got.append(response.url)
        yield {"url": response.url, "copy_of": response.meta.get("dust_duplicate_of")}
        if isinstance(response, TextResponse):
            for link in response.css("a"):
                yield response.follow(link, callback=self.parse, errback=self.failed)


class AsyncFollower(Follower):
    async def parse(self, response):
        for one in super().parse(response):
            yield one


def web(pages):
    """A front page that links to all *pages*, which are by path: bytes, or a whole answer."""
    front = document(999_999, *reversed(pages), title="All")  # the last link is followed first
    answers = {
        path: one if isinstance(one, Answer) else Answer(one, 200, HTML) for path, one in pages.items()
    }
    return lambda path: Answer(front, 200, HTML) if path == "/" else answers[path]


#: Pages by which a crawl gets to know what is common on the site, and that the parameter `v` does not matter there.
KNOWN = {f"/k{n}": document(7000 + n) for n in range(10)} | {
    f"/k{n}?v=1": document(7000 + n) for n in range(ENOUGH)
}


def visit(pages, settings, spider=Follower, **more):
    """What a crawl made of *pages*, once it knew the site: the paths of them that the spider got."""
    with serving(web(KNOWN | pages)) as site:
        result = crawl([site.url("/")], settings | more, spider=spider)
        paths = [url.removeprefix(site.url("")) for url in result.got[1:]]
        result.paths = [path for path in paths if path not in KNOWN]
        result.site = site
    return result


def ours(caplog):
    return [
        record for record in caplog.records if not record.name.startswith("scrapy.core.downloader.handlers")
    ]


DROP = {"DUST_CONTENT_DEDUP": "drop"}
TWINS = {
    "/a": document(1),
    "/b": document(2),
    "/a?v=2": document(1),
    "/a?v=3": document(1, more="<!-- made at noon -->"),
}


@pytest.mark.parametrize("spider", [Follower, AsyncFollower])
def test_a_copy_gets_no_callback_no_errback_and_no_error(settings, caplog, spider):
    caplog.set_level(logging.DEBUG, "scrapy_dust")
    result = visit(TWINS, settings | DROP, spider)
    assert result.paths == ["/a", "/b"]
    assert result.failed == []
    assert [record for record in ours(caplog) if record.levelno > logging.INFO] == []
    assert result.stats["dust/content/dropped"] == result.stats["dust/content/copies"] == 2
    assert result.stats["dust/content/copies/body"] == result.stats["dust/content/copies/units"] == 1
    assert result.stats["item_scraped_count"] == 3 + len(KNOWN)
    said = [record.getMessage() for record in caplog.records if record.getMessage().startswith("Dropped")]
    assert said[0].endswith(f"the same bytes as {result.site.url('/a')}.")


def test_a_marked_copy_says_whose_it_is_and_goes_on(settings):
    class Telling(Follower):
        def parse(self, response):
            self.crawl.failed.append(response.meta.get("dust_duplicate_of"))
            # A careless spider hands on what it was given.
            for link in reversed(response.css("a")):
                yield response.follow(link, callback=self.parse, meta=response.meta)

    with serving(web(KNOWN | TWINS)) as site:
        result = crawl([site.url("/")], settings | {"DUST_CONTENT_DEDUP": "mark"}, spider=Telling)
    assert len(result.failed) == 5 + len(KNOWN)
    assert [keeper for keeper in result.failed if keeper is not None] == [site.url("/a")] * 2


def test_links_of_a_copy_are_followed_if_asked_for(settings):
    for follow, got in ((False, ["/a", "/b"]), (True, ["/a", "/b", "/a?v=2", "/a?v=3"])):
        result = visit(TWINS, settings | DROP, DUST_CONTENT_FOLLOW=follow)
        assert result.paths == got
        assert result.stats["item_scraped_count"] == 3 + len(KNOWN)


def test_what_somebody_asked_for_by_name_is_left_alone(settings):
    class Insisting(Follower):
        async def start(self):
            for request in self.requests:
                yield request.replace(callback=self.parse)

        def parse(self, response):
            yield from super().parse(response)
            if not response.meta.get("more"):
                for meta, dont_filter in (({"dust": False}, False), ({}, True)):
                    yield Request(
                        f"{response.url}&{len(meta)}",
                        self.parse,
                        dont_filter=dont_filter,
                        meta={**meta, "more": True},
                    )

    with serving(lambda path: Answer(document(1), 200, HTML)) as site:
        result = crawl([Request(site.url(f"/?{n}")) for n in range(2)], settings | DROP, spider=Insisting)
    assert len(result.got) == 6


SHELL = b"<html><head><title>Shop</title></head><body><div id=app></div><script src=app.js></script></body></html>"
LITTLE = document(5, words=8)
BUSY = document(6, words=50, title="Just a moment...")
LOGIN = document(7, words=90, title="Log in to the forum")
SORRY = document(8, body="Sorry, the page that you are looking for was not found here. " * 3, title="Shop")


@pytest.mark.parametrize("answer", [SHELL, LITTLE, BUSY, LOGIN, SORRY, b"", b"<html></html>"])
def test_pages_that_say_nothing_and_errors_with_status_200_are_no_copies(settings, answer):
    result = visit({f"/a?v={n}": answer for n in range(3)}, settings | DROP)
    assert result.paths == ["/a?v=0", "/a?v=1", "/a?v=2"]
    assert "dust/content/copies" not in result.stats


def test_other_words_for_an_error_can_be_named(settings):
    pages = {f"/a?v={n}": document(7, words=90, title="Ui jui") for n in range(2)}
    assert visit(pages, settings | DROP).paths == ["/a?v=0"]
    assert visit(pages, settings | DROP, DUST_CONTENT_ERRORS=["ui jui"]).paths == ["/a?v=0", "/a?v=1"]


def test_error_statuses_and_answers_that_are_not_whole_are_not_compared(settings):
    class Handling(Follower):
        handle_httpstatus_list = [404, 500]

    pages = {"/1": Answer(document(1), 404, HTML), "/2": Answer(document(1), 404, HTML)}
    assert visit(pages, settings | DROP, Handling).paths == ["/1", "/2"]


def test_pages_of_one_text_around_different_pictures_are_two_pages(settings):
    pages = {f"/{n // 2}?v={n}": document(1, more=f'<img src="/{n // 2}.jpg"><!-- {n} -->') for n in range(4)}
    assert visit(pages, settings | DROP).paths == ["/0?v=0", "/1?v=2"]


def test_answers_that_end_with_their_connection_are_compared(settings):
    pages = {path: Answer(body, 200, HTML, is_sized=False) for path, body in TWINS.items()}
    assert visit(pages, settings | DROP).paths == ["/a", "/b"]


@pytest.mark.parametrize(("flag", "is_compared"), [("partial", True), ("dataloss", False)])
def test_what_scrapy_calls_partial_is_whole_as_far_as_anybody_knows(flag, is_compared):
    request = Request("http://a.test/")
    response = TextResponse(request.url, body=document(1), flags=[flag], request=request)
    assert content_dedup._is_compared(request, response) is is_compared


def test_what_is_no_text_is_compared_by_its_bytes(settings):
    kind = {"Content-Type": "application/zip"}
    pages = {
        "/1": Answer(b"PK" + b"\1" * 500, 200, kind),
        "/2": Answer(b"PK" + b"\2" * 500, 200, kind),
        "/3": Answer(b"PK" + b"\1" * 500, 200, kind),
    }
    assert visit(pages, settings | DROP).paths == ["/1", "/2"]


def test_a_page_whose_callback_failed_keeps_nothing(settings):
    class Failing(Follower):
        def parse(self, response):
            if response.url.endswith("/a"):
                raise ValueError("a mistake of the spider")
            yield from super().parse(response)

    result = visit(
        {"/a": document(1), "/a?v=2": document(1), "/a?v=3": document(1)}, settings | DROP, Failing
    )
    assert result.paths == ["/a?v=2"]


def test_a_copy_that_came_while_the_callback_was_busy_failing_is_asked_for(settings):
    class Slow(Follower):
        busy = False

        async def parse(self, response):
            if response.url.partition("?")[0].endswith("/a") and not self.busy:
                self.busy = True
                while "dust/content/dropped" not in self.crawler.stats.get_stats():  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                raise ValueError("a mistake of the spider")
            for one in super().parse(response):
                yield one

    # Two at a time: what is known must be known before the first of them.
    others = {f"/{n}": document(100 + n) for n in range(4)}
    pages = {"/a": document(1), "/a?v=2": document(1), "/a?v=3": document(1)}
    result = visit(others | pages, settings | DROP | {"CONCURRENT_REQUESTS": 2}, Slow)
    # Where another copy comes before the one that is asked for, both may come.
    assert set(result.paths) - set(others)
    assert result.stats["dust/content/asked_for"] >= 1


def test_other_middlewares_see_the_request_as_it_was_made(settings):
    class Watching:
        def process_spider_output(self, response, result):
            seen.append((response.request.callback.__name__, response.request.meta.get("dust_duplicate_of")))
            yield from result

        async def process_spider_output_async(self, response, result):
            async for one in result:
                yield one
            seen.append((response.request.callback.__name__, response.request.meta.get("dust_duplicate_of")))

    seen: list[tuple[str, str | None]] = []
    visit({"/a": document(1), "/a?v=2": document(1)}, settings | DROP, SPIDER_MIDDLEWARES={Watching: 500})
    assert {name for name, _ in seen} == {"parse"}
    assert sum(keeper is not None for _, keeper in seen) == 1


def test_pages_of_earlier_crawls_count_if_they_share_a_store(settings):
    shared = settings | DROP | {"DUST_CONTENT_STORE": "pages.sqlite"}
    with serving(web(KNOWN | TWINS)) as site:
        for again in (False, True):
            # What an earlier crawl had is no copy of itself, whoever of two comes first.
            assert len(crawl([site.url("/")], shared, spider=Follower).got) == 3 + len(KNOWN), again
        other = crawl([site.url("/a?v=2")], shared, spider=Follower)
        assert other.got == [site.url("/a?v=2")]  # a start URL
    store = SqliteStore(Path(settings["DUST_DIR"], "pages.sqlite"), must_exist=True)
    kept = {"/", "/a", "/b", *(path for path in KNOWN if "?" not in path)}
    assert {row.url for row in store.rows()} == {site.url(path) for path in kept}
    store.close()


def test_a_url_that_had_a_content_of_its_own_is_no_copy_when_that_is_replaced(settings):
    shared = settings | DROP | {"DUST_CONTENT_STORE": "pages.sqlite"}
    answers = {**KNOWN, "/a": document(1), "/a?v=2": document(2)}
    answers["/"] = document(0, *reversed(answers))
    with serving(lambda path: Answer(answers[path], 200, HTML)) as site:
        for number, got in ((2, 3), (1, 3), (1, 2)):
            answers["/a?v=2"] = document(number)
            result = crawl([site.url("/")], shared, spider=Follower)
            assert len(result.got) == got + len(KNOWN)
    assert result.stats["dust/content/copies"] == 1


def test_one_page_by_two_urls_of_a_class_is_no_copy_of_itself(with_rules):
    with serving(lambda path: Answer(document(1), 200, HTML)) as site:
        shared = with_rules(site, Rule.of(DropParameter("sid"))) | DROP | {"DUST_CONTENT_STORE": "p.sqlite"}
        for sid in range(2):

            class Linking(Follower):
                async def start(self, sid=sid):
                    yield Request(site.url("/start"), self.first, meta={"dust": False})

                def first(self, response, sid=sid):
                    yield Request(site.url(f"/x?sid={sid}"), self.parse)

            assert crawl([], shared, spider=Linking).got == [site.url(f"/x?sid={sid}")]


def test_another_site_has_its_own_pages_unless_told_otherwise(settings):
    with serving(web(KNOWN | {"/a": document(1)})) as second:
        for scope in ("site", "all"):
            theirs = [second.url(path) for path in ("/a", *reversed(KNOWN))]
            pages = {"/a": document(1), "/other": document(3, *theirs)}
            result = visit(pages, settings | DROP, DUST_CONTENT_SCOPE=scope)
            assert (second.url("/a") in result.got) is (scope == "site")


def test_a_paused_crawl_knows_its_pages_when_it_goes_on(settings, tmp_path):
    job = settings | DROP | {"JOBDIR": str(tmp_path / "job")}
    assert visit({"/a": document(1)}, job).paths == ["/a"]
    assert (tmp_path / "job" / "dust-pages.sqlite").is_file()


def test_no_failure_of_the_store_reaches_the_crawl(settings, caplog):
    class Breaking(Follower):
        def parse(self, response):
            for one in self.crawler._spidermw_of_test:
                one._contents.store._base.close()
            yield from super().parse(response)

        @classmethod
        def from_crawler(cls, crawler, *args, **kwargs):
            crawler._spidermw_of_test = made
            return super().from_crawler(crawler, *args, **kwargs)

    made = []

    class Watched(ContentDedupMiddleware):
        def __init__(self, crawler):
            super().__init__(crawler)
            made.append(self)

    result = visit(
        TWINS, settings | DROP, Breaking, SPIDER_MIDDLEWARES={Watched: 955, ContentDedupMiddleware: None}
    )
    assert len(result.paths) == 4
    assert result.stats["dust/content/failures"] >= 1
    assert len([record for record in caplog.records if record.levelno >= logging.ERROR]) == 1


def test_findings_stand_in_the_crawl_log_and_mining_reads_them(settings):
    frame = prose(77, 60)
    pages = {f"/{n}": document(n, frame=frame, words=300) for n in range(10)}
    pages["/near"] = document(3, frame=frame, words=300, more="<p>seen 1234 times</p>")
    result = visit(pages, settings | DROP, DUST_CONTENT_NEAR=True)
    assert "/near" not in result.paths
    (log,) = Path(settings["DUST_DIR"], "logs").rglob("*.jsonl")
    findings = [json.loads(line) for line in log.read_text().splitlines() if "duplicate_of" in line]
    assert [(one["url"], one["duplicate_of"], one["duplicate_by"]) for one in findings] == [
        (result.site.url("/near"), result.site.url("/3"), "near")
    ]
    told = {page.url: page for page in merge_visits(read_visits(str(log))).pages}
    near, keeper = told[result.site.url("/near")], told[result.site.url("/3")]
    assert near.text_digest == keeper.text_digest
    assert near.sketch == keeper.sketch
    assert not near.volatile


@pytest.mark.once
def test_near_pages_are_copies_only_where_that_is_asked_for(settings):
    frame = prose(77, 60)
    pages = {f"/{n}": document(n, frame=frame, words=300) for n in range(10)}
    pages["/itself"] = document(50, frame=frame, words=300, more='<link rel=canonical href="/itself">')
    changed = {
        "/counter": document(3, frame=frame, words=300, more="<p>seen 1234 times</p>"),
        "/titled": document(4, frame=frame, words=300, more="<p>seen 1234 times</p>", title="Another"),
        "/canonical": document(50, frame=frame, words=300, more='<link rel=canonical href="/canonical">1234'),
        "/half": document(6, frame=frame, words=150),
    }
    assert len(visit(pages | changed, settings | DROP).paths) == 15
    near = visit(pages | changed, settings | DROP, DUST_CONTENT_NEAR=True)
    assert set(changed) - set(near.paths) == {"/counter"}
    assert near.stats["dust/content/copies/near"] == 1
    strict = visit(pages | changed, settings | DROP, DUST_CONTENT_NEAR={"*": True, near.site.name: 0.999})
    assert len(strict.paths) == 14  # of another port, which is another site
    assert len(visit(pages | changed, settings | DROP, DUST_CONTENT_NEAR=0.999).paths) == 15


@pytest.mark.once
def test_pages_that_differ_only_within_their_boilerplate_are_not_near(settings):
    frame = prose(77, 900)
    pages = {f"/{n}": document(n, frame=frame, words=25, title="One title for all") for n in range(20)}
    assert len(visit(pages, settings | DROP, DUST_CONTENT_NEAR=True).paths) == 20


def test_the_addon_puts_it_in_place_when_it_is_asked_for():
    for action, there in (("off", False), ("mark", True), ("drop", True)):
        made = Settings({"DUST_CONTENT_DEDUP": action})
        Addon().update_settings(made)
        assert (ContentDedupMiddleware in made["SPIDER_MIDDLEWARES"]) is there


def test_by_hand_without_the_addon(settings):
    alone = {"ADDONS": {}, "SPIDER_MIDDLEWARES": {"scrapy_dust.ContentDedupMiddleware": 955}}
    assert visit(TWINS, settings | DROP | alone).paths == ["/a", "/b"]
