"""The crawl log after real crawls: one record for each answer and each failure, and never a crawl that suffers."""

from __future__ import annotations

import gzip
import json
import logging
from datetime import datetime
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.http.request import NO_CALLBACK

from scrapy_dust.crawl_log import read_visits
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import Visitor, crawl
from tests.crawl.site import HANG_UP, Answer, error, page, redirect, serving

HTML = {"Content-Type": "text/html; charset=utf-8"}


@pytest.fixture
def records(settings):
    def read():
        files = sorted(Path(settings["DUST_DIR"], "logs").rglob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    return read


def test_a_page_is_recorded_with_all_that_mining_needs(settings, records):
    with serving(lambda path: page("/x", words="ten words of a page that says what it has to say")) as site:
        crawl([site.url("/a")], settings)
    (record,) = records()
    assert record["url"] == site.url("/a")
    assert (record["status"], record["title"], record["outlinks"]) == (200, "t", 1)
    assert record["content_type"] == HTML["Content-Type"]
    assert len(record["sketch"]) == 4
    assert record["size"] == record["wire_size"] > 50
    assert 0 < record["latency"] < 10
    assert record["fetched_at"].endswith("Z")
    (visit,) = read_visits(settings["DUST_DIR"])
    assert visit.is_page
    assert visit.text_digest == record["text_digest"]


@pytest.mark.parametrize("log_units", [True, False])
def test_units_are_recorded_unless_told_otherwise(settings, records, log_units):
    with serving(lambda path: page("/x", words="ten words of a page that says what it has to say")) as site:
        crawl([site.url("/a")], settings | {"DUST_LOG_UNITS": log_units})
    (record,) = records()
    assert bool(record.get("units")) is log_units
    assert record["sketch"]


def test_what_an_answer_says_of_its_parameters_is_recorded_and_no_long_text(settings, records):
    said = {"/a": 'params=("sid"), key-order', "/b": "x" * 1001}

    def web(path):
        return Answer(page().body, 200, {**HTML, "No-Vary-Search": said[path]} if path in said else HTML)

    with serving(web) as site:
        crawl([site.url(path) for path in ("/a", "/b", "/c")], settings)
        assert {record["url"]: record.get("no_vary_search") for record in records()} == {
            site.url("/a"): said["/a"],
            site.url("/b"): None,
            site.url("/c"): None,
        }
    assert {visit.no_vary_search for visit in read_visits(settings["DUST_DIR"])} == {said["/a"], None}


def test_each_answer_and_each_failure_is_one_record(settings, records):
    answers = {
        "/page": page(),
        "/moved": redirect("/page2", 301),
        "/page2": page(),
        "/404": error(404),
        "/503": error(503),
        "/silent": HANG_UP,
        "/refresh": Answer(b'<meta http-equiv="refresh" content="0;url=/page3">', 200, HTML),
        "/page3": page(),
    }
    with serving(answers.__getitem__) as site:
        paths = ("/page", "/moved", "/404", "/503", "/silent", "/refresh")
        result = crawl([site.url(path) for path in paths], settings)
    seen = [(record["url"].removeprefix(site.url("")), record.get("status")) for record in records()]
    assert sorted(seen, key=str) == sorted(
        [
            ("/page", 200),
            ("/moved", 301),
            ("/page2", 200),
            ("/404", 404),
            # Each of two attempts.
            ("/503", 503),
            ("/503", 503),
            ("/silent", None),
            ("/silent", None),
            ("/refresh", 200),
            ("/page3", 200),
        ],
        key=str,
    )
    by_url = {record["url"]: record for record in records()}
    assert by_url[site.url("/moved")]["redirect_to"] == site.url("/page2")
    assert by_url[site.url("/silent")]["error"].startswith("scrapy.exceptions.")
    assert result.stats["dust/recorded"] == 10


@pytest.mark.parametrize("meta", [{"handle_httpstatus_list": [302]}, {"dont_redirect": True}])
def test_a_redirect_that_the_spider_handles_is_recorded_once(settings, records, meta):
    with serving(lambda path: redirect("/b")) as site:
        crawl([Request(site.url("/a"), meta=meta)], settings)
    assert [(record["status"], record["redirect_to"]) for record in records()] == [(302, site.url("/b"))]


def test_what_is_no_page_of_the_crawl_is_not_recorded(settings, records):
    class Downloads(Visitor):
        async def start(self):
            for request in self.requests:
                if request.callback is NO_CALLBACK:
                    await self.crawler.engine.download_async(request)
                else:
                    yield request.replace(callback=self.parse)

    robots = Answer(b"User-agent: *\nDisallow: /secret", 200, {"Content-Type": "text/plain"})
    with serving(lambda path: robots if path == "/robots.txt" else page()) as site:
        requests = [
            Request(site.url("/media"), callback=NO_CALLBACK),
            Request(site.url("/secret")),
            Request(site.url("/post"), method="POST"),
            Request(site.url("/head"), method="HEAD"),
            Request(site.url("/trial"), meta={"dust_trial": True}),
            Request("data:,hello"),
            Request(site.url("/page")),
        ]
        crawl(requests, settings | {"ROBOTSTXT_OBEY": True}, spider=Downloads)
    assert [record["url"] for record in records()] == [site.url("/page")]


def test_a_compressed_page_is_sketched_as_it_reads_and_both_sizes_are_kept(settings, records):
    html = page(words="word " * 2000)
    zipped = Answer(gzip.compress(html.body), 200, {**html.headers, "Content-Encoding": "gzip"})
    with serving(lambda path: zipped if path == "/zipped" else html) as site:
        crawl([site.url("/plain"), site.url("/zipped")], settings)
    plain, compressed = records()
    assert compressed["digest"] == plain["digest"]
    assert compressed["size"] == plain["size"]
    assert compressed["wire_size"] == len(zipped.body) < plain["wire_size"]


def test_pages_from_the_http_cache_are_flagged_and_dated_by_their_fetch(settings, records, tmp_path):
    with serving(lambda path: page()) as site:
        cache = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
        for _ in range(2):
            crawl([site.url("/a")], settings | cache)
    fetched, cached = records()
    assert len(site.asked) == 1
    assert cached["flags"] == ["cached"]
    assert "flags" not in fetched
    assert "latency" not in cached
    assert abs(_seconds(cached) - _seconds(fetched)) < 1


def _seconds(record):
    return datetime.fromisoformat(record["fetched_at"]).timestamp()


def test_a_canary_is_marked_and_not_what_a_spider_makes_of_its_meta(with_rules, records):
    class Copying(Visitor):
        def parse(self, response):
            if response.meta.get("dust_canary"):
                yield Request(response.urljoin("/other"), meta=response.meta)

    with serving(lambda path: page()) as site:
        settings = with_rules(site, Rule.of(DropParameter("sid"))) | {"DUST_CANARY_RATE": 1}
        crawl([site.url(f"/p?sid={sid}") for sid in "ab"], settings, spider=Copying)
    of_pages = [record for record in records() if "items" not in record]
    assert [record.get("canary") for record in of_pages] == [None, True, None]


class Browser:
    """A download handler that follows redirects on its own, as a browser does."""

    def process_request(self, request):
        request.meta["redirect_urls"] = [request.url]
        url = request.url.replace("/from", "/to")
        flags = ["playwright"] if request.meta.get("playwright") else []
        return HtmlResponse(url, body=b"<p>rendered</p>", encoding="utf-8", flags=flags)


def test_where_a_browser_followed_a_redirect_both_urls_are_recorded(settings, records):
    crawl(["http://example.com/from"], settings | {"DOWNLOADER_MIDDLEWARES": {Browser: 950}})
    moved, page_ = records()
    assert (moved["url"], moved["status"]) == ("http://example.com/from", 302)
    assert moved["redirect_to"] == page_["url"] == "http://example.com/to"


def test_a_fragment_is_recorded_where_a_browser_rendered_the_page_and_nowhere_else(settings, records):
    url = "http://example.com/app#/route"
    with_browser = settings | {"DOWNLOADER_MIDDLEWARES": {Browser: 950}}
    crawl([Request(url, meta={"playwright": True}), Request(url + "2", dont_filter=True)], with_browser)
    assert [(record["url"], record.get("rendered")) for record in records()] == [
        (url, "playwright"),
        ("http://example.com/app", None),
    ]


def test_what_no_handler_has_rendered_is_not_said_to_be(settings, records):
    with serving(lambda path: page() if path == "/a" else HANG_UP) as site:
        crawl([Request(site.url(path), meta={"playwright": True}) for path in ("/a#x", "/b#x")], settings)
        asked, failed = records()[0], records()[-1]
    assert (asked["url"], asked.get("rendered")) == (site.url("/a"), None)
    assert (failed["url"], failed["rendered"]) == (site.url("/b#x"), "playwright")


class Renderer:
    """Does to a request what scrapy-splash does."""

    def process_request(self, request):
        if not request.meta.get("_splash_processed"):
            meta = {**request.meta, "_splash_processed": True, "splash": {"args": {"url": request.url}}}
            return request.replace(url=self.endpoint, method="POST", meta=meta, priority=1)
        return None

    def process_response(self, request, response):
        return response.replace(url=request.meta["splash"]["args"]["url"])


def test_a_rendered_page_is_recorded_under_its_own_url(with_rules, records):
    with serving(lambda path: page(words=path)) as site:
        Renderer.endpoint = site.url("/render.html")
        settings = with_rules(site, Rule.of(DropParameter("sid"))) | {
            "DOWNLOADER_MIDDLEWARES": {Renderer: 725}
        }
        result = crawl([site.url(f"/p?sid={sid}") for sid in "ab"], settings)
    assert [(record["url"], record["rendered"]) for record in records()] == [(site.url("/p?sid=a"), "splash")]
    assert result.got == [site.url("/p?sid=a")]
    assert site.asked == ["/render.html"]


@pytest.mark.parametrize("off", [{"DUST_LOG_ENABLED": False}, {"DUST_ENABLED": False}])
def test_nothing_is_recorded_when_told_so(settings, records, off):
    with serving(lambda path: page()) as site:
        crawl([site.url("/")], settings | off)
    assert not Path(settings["DUST_DIR"]).exists()


def test_a_log_that_cannot_be_written_is_said_once_and_the_crawl_goes_on(settings, tmp_path, caplog):
    Path(settings["DUST_DIR"]).write_text("no folder")
    caplog.set_level(logging.ERROR)
    with serving(lambda path: page()) as site:
        result = crawl([site.url(f"/{n}") for n in range(5)], settings)
    assert len(result.got) == 5
    assert result.stats["dust/record_errors"] == 5
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(said) == 1
    assert "The crawl goes on" in said[0]
