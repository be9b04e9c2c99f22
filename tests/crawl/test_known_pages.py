"""`DUST_KNOWN`: what an earlier crawl has taken is not asked for again, and nothing that is new is passed over."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any

import pytest
from scrapy.exceptions import CloseSpider, DropItem
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider
from scrapy.spiders import Rule as CrawlRule

from scrapy_dust.crawl.known_pages import FILE, IN_JOB
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import Visitor, crawl, write_rules
from tests.crawl.site import Answer, serving

SID = Rule.of(DropParameter("sid"))
HTML = {"Content-Type": "text/html; charset=utf-8"}


class Shop(Visitor):
    """Listings link to listings and to products; of a product there is one item."""

    def parse(self, response: Response) -> Iterator[Any]:
        self.crawl.got.append(response.url)
        for link in response.css("a"):
            is_product = "/p/" in link.attrib["href"]
            yield response.follow(link, callback=self.product if is_product else self.parse)

    def product(self, response: Response) -> Iterator[Any]:
        self.crawl.got.append(response.url)
        yield {"name": response.css("h1::text").get()}


class AsyncShop(Shop):
    async def product(self, response):
        for one in super().product(response):
            yield one


def shop(pages: Mapping[str, tuple[str, ...]]) -> Callable[[str], Answer]:
    """A page has its links, and its path for a heading; `sid` does not matter."""

    def answer(path: str) -> Answer:
        bare = path.partition("?")[0]
        if bare not in pages:
            return Answer(b"gone", 404)
        links = "".join(f"<a href='{link}'>x</a>" for link in pages[bare])
        return Answer(f"<html><body><h1>{bare}</h1>{links}</body></html>".encode(), 200, HTML)

    return answer


OLD = {"/": ("/list", "/p/1?sid=a"), "/list": ("/p/2?sid=a",), "/p/1": (), "/p/2": ()}
NEW = {"/": ("/list", "/p/1?sid=b"), "/list": ("/p/2?sid=b", "/p/3"), "/p/1": (), "/p/2": (), "/p/3": ()}


def both(settings: Mapping[str, Any], folder: Any, *weeks: Any, rules: Any = ((SID,), (SID,))) -> list[Any]:
    """Crawls, one after the other, of one server whose pages change: pages, the spider, and more settings for each."""
    done, now = [], [shop({})]
    with serving(lambda path: now[0](path)) as site:  # noqa: PLW0108
        for number, (pages, spider, more) in enumerate(weeks):
            now[0] = shop(pages)
            book = write_rules(
                folder / f"rules{number}.json", {site.name: rules[min(number, len(rules) - 1)]}
            )
            given = {**settings, "DUST_RULES": [book], "DUST_KNOWN": "skip", **more}
            result = crawl([site.url("/")], given, spider=spider)
            result.paths = sorted(url.removeprefix(site.url("")) for url in result.got)
            done.append(result)
    return done


@pytest.mark.parametrize("spider", [Shop, AsyncShop])
def test_products_that_are_known_are_not_fetched_again_and_new_ones_are(settings, tmp_path, spider):
    first, second = both(settings, tmp_path, (OLD, spider, {}), (NEW, spider, {}))
    assert first.paths == ["/", "/list", "/p/1?sid=a", "/p/2?sid=a"]
    assert second.paths == ["/", "/list", "/p/3"]
    assert first.stats["dust/known/taken"] == 4
    assert second.stats["dust/known/skipped"] == 2


def test_an_alias_is_known_only_by_the_rules_of_the_day(settings, tmp_path):
    def third_of(name, rules):
        ours = settings | {"DUST_DIR": str(tmp_path / name)}
        (tmp_path / name).mkdir()
        return both(ours, tmp_path / name, (OLD, Shop, {}), (NEW, Shop, {}), rules=rules)[1].paths

    everything = ["/", "/list", "/p/1?sid=b", "/p/2?sid=b", "/p/3"]
    assert third_of("never", ((), ())) == everything
    assert third_of("learned", ((), (SID,))) == ["/", "/list", "/p/3"]
    assert third_of("taken back", ((SID,), ())) == everything


class All(Shop):
    """One callback for all, so that pages with an item link to others, and a listing has an item."""

    def parse(self, response):
        yield from self.product(response)
        for link in response.css("a"):
            yield response.follow(link, callback=self.parse)


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        ("skip", ["/", "/list", "/p/1?sid=b", "/p/2?sid=b", "/p/3"]),
        ("skip-items", ["/"]),
        ("skip-all", ["/"]),
    ],
)
def test_where_one_callback_does_all_the_setting_says_what_is_known(settings, tmp_path, value, paths):
    known = {"DUST_KNOWN": value}
    _, second = both(settings, tmp_path, (OLD, All, known), (NEW, All, known))
    assert second.paths == paths


@pytest.mark.parametrize(("value", "paths"), [("skip-items", ["/", "/list", "/p/3"]), ("skip-all", ["/"])])
def test_listings_give_no_item_and_are_known_only_where_all_is(settings, tmp_path, value, paths):
    known = {"DUST_KNOWN": value}
    _, second = both(settings, tmp_path, (OLD, Shop, known), (NEW, Shop, known))
    assert second.paths == paths


class Failing(Shop):
    """Fails at one product, after its item."""

    def product(self, response):
        yield from super().product(response)
        if "/p/1" in response.url:
            raise ValueError("half of it")


class Dropping:
    def process_item(self, item):
        if item["name"] == "/p/1":
            raise DropItem("not now")
        return item


class Breaking:
    def process_item(self, item):
        if item["name"] == "/p/1":
            raise OSError("the disk is full")
        return item


class Several(Shop):
    """A page of several items may get more."""

    def product(self, response):
        yield from super().product(response)
        if "/p/1" in response.url:
            yield {"name": "variant"}


class Hurried(Shop):
    def product(self, response):
        yield from super().product(response)
        raise CloseSpider("enough")


@pytest.mark.parametrize(
    ("spider", "more", "again"),
    [
        (Failing, {}, ["/p/1?sid=b"]),
        (Shop, {"ITEM_PIPELINES": {Dropping: 1}}, ["/p/1?sid=b"]),
        (Shop, {"ITEM_PIPELINES": {Breaking: 1}}, ["/p/1?sid=b"]),
        (Several, {}, ["/p/1?sid=b"]),
        (Hurried, {}, ["/p/1?sid=b", "/p/2?sid=b"]),
    ],
)
def test_what_a_crawl_did_not_get_whole_is_not_known(settings, tmp_path, spider, more, again):
    _, second = both(settings, tmp_path, (OLD, spider, more), (NEW, Shop, {}))
    assert [path for path in second.paths if path.startswith("/p/")] == sorted([*again, "/p/3"])


def test_a_page_is_fetched_again_after_so_many_days(settings, tmp_path):
    class Later(Shop):
        async def start(self):
            with closing(sqlite3.connect(tmp_path / "dust" / FILE)) as base, base:
                base.execute("UPDATE page SET seen = seen - 31 * 86400 WHERE url LIKE '%/p/1%'")
            async for one in super().start():
                yield one

    days = {"DUST_KNOWN_DAYS": 30}
    _, second, third = both(settings, tmp_path, (OLD, Shop, days), (OLD, Later, days), (OLD, Shop, days))
    assert [path for path in second.paths if path.startswith("/p/")] == ["/p/1?sid=a"]
    assert [path for path in third.paths if path.startswith("/p/")] == []


class Paused(Shop):
    """Is paused after its first product."""

    def product(self, response):
        yield from super().product(response)
        raise CloseSpider("shutdown")


def test_a_paused_job_knows_nothing_before_it_has_ended(settings, tmp_path):
    job = {"JOBDIR": str(tmp_path / "job")}
    first, between, rest, last = both(
        settings, tmp_path, (OLD, Paused, job), (OLD, Shop, {}), (OLD, Shop, job), (OLD, Shop, {})
    )
    assert len([path for path in first.paths if path.startswith("/p/")]) == 1
    assert len([path for path in between.paths if path.startswith("/p/")]) == 2
    assert [path for path in last.paths if path.startswith("/p/")] == []
    assert rest.stats["dust/known/taken"] >= 2
    assert not (tmp_path / "job" / IN_JOB).exists()


class Insisting(Shop):
    def parse(self, response):
        for one in super().parse(response):
            asks_anew = "/p/1" in one.url
            yield one.replace(dont_filter=True) if asks_anew else one.replace(meta={"dust": False})


def test_who_insists_gets_the_page(settings, tmp_path):
    _, second = both(settings, tmp_path, (OLD, Shop, {}), (NEW, Insisting, {}))
    assert "/p/1?sid=b" in second.paths
    assert "/p/2?sid=b" in second.paths


def test_a_file_that_cannot_be_read_costs_no_page(settings, tmp_path, caplog):
    (tmp_path / "dust").mkdir()
    (tmp_path / "dust" / FILE).write_text("no database, but long enough to be taken for one" * 40)
    (first,) = both(settings, tmp_path, (OLD, Shop, {}))
    assert first.paths == ["/", "/list", "/p/1?sid=a", "/p/2?sid=a"]
    assert first.stats["dust/known/failures"] == 1
    assert "The crawl goes on and fetches" in caplog.text


def grown(chance: random.Random, old: Mapping[str, tuple[str, ...]] | None) -> dict[str, tuple[str, ...]]:
    """Listings in a chain, each with products, that get more; the addresses of products have a session."""
    lists = 2 + (0 if old is None else len([path for path in old if path.startswith("/l")]))
    products = 5 + (0 if old is None else len([path for path in old if path.startswith("/p/")]))
    links: dict[str, list[str]] = {"/": ["/l0"], **{f"/l{n}": [f"/l{n + 1}"] for n in range(lists)}}
    links[f"/l{lists - 1}"] = []
    for n in range(products):
        links[chance.choice(list(links))].append(f"/p/{n}?sid={chance.randrange(9)}")
    pages: dict[str, tuple[str, ...]] = {f"/p/{n}": () for n in range(products)}
    return pages | {path: tuple(of) for path, of in links.items()}


@pytest.mark.parametrize("seed", range(8))
def test_on_random_sites_all_that_is_new_comes_and_nothing_comes_twice(settings, tmp_path, seed):
    chance = random.Random(seed)
    weeks = [grown(chance, None)]
    for _ in range(2):
        weeks.append(grown(chance, weeks[-1]))
    crawls = both(settings, tmp_path, *((pages, Shop, {}) for pages in weeks))
    had: set[str] = set()
    for pages, done in zip(weeks, crawls, strict=True):
        products = {path for path in pages if path.startswith("/p/")}
        came = [path.partition("?")[0] for path in done.paths]
        assert sorted(path for path in came if path in products) == sorted(products - had)
        assert sorted(path for path in came if path not in products) == sorted(pages.keys() - products)
        had |= products


def test_a_request_that_another_crawl_cannot_name_is_made(settings, tmp_path):
    class Closures(Shop):
        def parse(self, response):
            for one in super().parse(response):
                yield (
                    one.replace(callback=lambda found, what=1: self.product(found))
                    if "/p/" in one.url
                    else one
                )

    _, second = both(settings, tmp_path, (OLD, Closures, {}), (NEW, Closures, {}))
    assert second.paths == ["/", "/list", "/p/1?sid=b", "/p/2?sid=b", "/p/3"]


def test_the_rules_of_a_crawl_spider_are_told_apart(settings, tmp_path):
    """Both rules have one callback of Scrapy's; only what the second one asks for gives items and leads nowhere."""

    class Ruled(CrawlSpider):
        name = "ruled"
        rules = (
            CrawlRule(LinkExtractor(allow="/list")),
            CrawlRule(LinkExtractor(allow="/p/"), callback="product"),
        )

        def __init__(self, requests, crawl, **_):
            super().__init__(start_urls=list(requests))
            self.crawl = crawl

        def product(self, response):
            self.crawl.got.append(response.url)
            yield {"name": response.css("h1::text").get()}

    first, second = both(settings, tmp_path, (OLD, Ruled, {}), (NEW, Ruled, {}))
    assert first.paths == ["/p/1?sid=a", "/p/2?sid=a"]
    assert second.paths == ["/p/3"]
    assert second.stats["downloader/request_count"] == 3
