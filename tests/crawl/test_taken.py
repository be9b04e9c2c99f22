"""`DUST_SAME = "items"`: what callbacks take from pages is recorded, and pages are compared by it."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from itemloaders import ItemLoader
from scrapy import Field, Item, Spider
from scrapy.settings import Settings

from scrapy_dust import Addon, TakenMiddleware
from scrapy_dust.crawl_log import log_sources
from scrapy_dust.crawl_log.reader import read_visits
from scrapy_dust.online.learner import OnlineLearner
from scrapy_dust.page.aliases import ENOUGH
from scrapy_dust.page.units import unpack
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Status
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.pages import NOTHING_TAKEN, Visit
from tests.crawl.crawling import Crawl, Visitor, crawl, write_rules
from tests.crawl.site import Answer, Site, serving
from tests.waiting import PATIENCE

PRODUCTS = 12
SESSIONS = ("a1", "b2", "c3", "d4")


@dataclass
class Product:
    name: str
    price: str
    url: str


class LoadedProduct(Item):
    name = Field()
    price = Field()
    url = Field()


def html(said: str) -> Answer:
    return Answer(f"<html><body>{said}</body></html>".encode(), 200, {"Content-Type": "text/html"})


def product_page(number: int, price: int, around: str = "") -> Answer:
    return html(f"<h1>Tea {number}</h1><b>{price} EUR</b>{around}")


def noise(seed: str) -> str:
    """Advertisements and related products: all that is around an item, another at each fetch."""
    drawn = random.Random(seed)
    words = (f"<p>{' '.join(drawn.choice(WORDS) for _ in range(20))}</p>" for _ in range(20))
    return "".join(words) + f'<a href="/ad/{drawn.random()}">x</a>'


WORDS = [f"word{number}" for number in range(300)]


class Shop(Visitor):
    """Takes a product from each page."""

    def parse(self, response: Any) -> Any:
        self.crawl.got.append(response.url)
        yield Product(response.css("h1::text").get(), response.css("b::text").get(), response.url)


def parameters(path: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(path).query))


def asked(site: Site, by: str = "sid", values: tuple[str, ...] = SESSIONS) -> list[str]:
    # Numbers of one length: how a rule does with longer ones is seen anew.
    return [site.url(f"/p?id={10 + number}&{by}={value}") for value in values for number in range(PRODUCTS)]


def visits(folder: Path, spider: str = "visitor") -> list[Visit]:
    return list(read_visits(log_sources(str(folder), spider)))


def taken(folder: Path, spider: str = "visitor") -> dict[str, Any]:
    return {urlsplit(one.url).path: one.taken for one in visits(folder, spider) if one.taken is not None}


def book_after(
    site: Site, folder: Path, urls: list[str], spider: type[Spider] = Shop, **settings: Any
) -> Any:
    """The rules of the site after a crawl that was recorded and learned from, by status."""
    rules = folder / "rules.json"
    said = {"DUST_DIR": str(folder), "DUST_RULES": [str(rules)], "DUST_LEARN": "close", "DUST_SAME": "items"}
    said["CONCURRENT_REQUESTS"] = 4
    done = crawl(urls, {**said, **settings}, spider=spider)
    assert not done.stats.get("dust/record_errors")
    entries = RuleBook.load([str(rules)]).entries(site.name) if rules.exists() else []
    return {str(one.rule): one.status for one in entries}


# What is recorded


class Ways(Visitor):
    """A callback for each way to yield."""

    def parse(self, response: Any) -> Any:
        return getattr(self, f"take_{urlsplit(response.url).path[1:]}")(response)

    def item(self) -> Product:
        return Product("tea", "5", "")

    def take_generator(self, response):
        yield self.item()

    def take_list(self, response):
        return [self.item()]

    def take_one(self, response):
        return self.item()

    async def take_async(self, response):
        return [self.item()]

    async def take_async_generator(self, response):
        yield self.item()

    def take_nothing(self, response):
        return None

    def take_raising(self, response):
        raise ValueError("no")

    def take_raising_late(self, response):
        yield self.item()
        raise ValueError("no")

    async def take_raising_async(self, response):
        yield self.item()
        raise ValueError("no")


def test_all_ways_to_yield_are_one_and_what_fails_has_taken_nothing(tmp_path):
    ways = [name.removeprefix("take_") for name in vars(Ways) if name.startswith("take_")]
    with serving(lambda path: html(f"<p>{path}</p>")) as site:
        crawl(
            [site.url(f"/{way}") for way in ways],
            {"DUST_DIR": str(tmp_path), "DUST_SAME": "items"},
            spider=Ways,
        )
    found = taken(tmp_path)
    assert set(found) == {f"/{way}" for way in ways}
    said = {found[f"/{way}"] for way in ("generator", "list", "one", "async", "async_generator")}
    assert len(said) == 1
    assert NOTHING_TAKEN not in said
    assert {found[f"/{way}"] for way in ways if way.startswith(("raising", "nothing"))} == {NOTHING_TAKEN}


class Handling:
    """A spider middleware that handles what callbacks raise."""

    def process_spider_exception(self, response, exception):
        return []


def test_a_callback_that_failed_has_taken_nothing_though_others_handle_it(tmp_path):
    with serving(lambda path: html(f"<p>{path}</p>")) as site:
        said = {"DUST_DIR": str(tmp_path), "DUST_SAME": "items", "SPIDER_MIDDLEWARES": {Handling: 500}}
        crawl([site.url("/raising_late"), site.url("/raising_async")], said, spider=Ways)
    assert set(taken(tmp_path).values()) == {NOTHING_TAKEN}


class Follows(Shop):
    """Goes on from the first page to all products, and then to copies of them."""

    def parse(self, response: Any) -> Any:
        yield from super().parse(response)
        if response.url.endswith("/first"):
            for number in range(2 * ENOUGH):
                yield response.follow(f"/p?id={number}", callback=self.parse, priority=1)
                yield response.follow(f"/p?id={number}&v=1", callback=self.parse)


def test_a_page_that_was_dropped_as_a_copy_has_taken_nothing(tmp_path):
    def web(path: str) -> Answer:
        number = int(parameters(path).get("id", 0))
        return product_page(number, 5, noise(str(number)) if path != "/first" else "")

    with serving(web) as site:
        said = {"DUST_DIR": str(tmp_path), "DUST_SAME": "items", "DUST_CONTENT_DEDUP": "drop"}
        done = crawl([site.url("/first")], said, spider=Follows)
    found = [one.taken for one in visits(tmp_path) if one.taken is not None]
    assert len(found) == 4 * ENOUGH + 1
    assert found.count(NOTHING_TAKEN) == done.stats["dust/content/dropped"] > 0


class Kinds(Visitor):
    """The same product as a dict, an item, a dataclass, and out of a loader."""

    def parse(self, response: Any) -> Any:
        said = {"name": "tea", "price": "5", "url": response.url}
        path = urlsplit(response.url).path
        if path.startswith("/dict"):
            yield said if path == "/dict" else {**said, "price": "6"}
        elif path.startswith("/item"):
            yield LoadedProduct(said)
        elif path.startswith("/loader"):
            loader = ItemLoader(LoadedProduct(), response=response)
            for name, value in said.items():
                loader.add_value(name, value)
            yield loader.load_item()
        else:
            yield Product(**said)


def test_items_of_all_kinds_are_recorded_without_the_url_of_their_page(tmp_path):
    paths = ["/dict", "/dict6", "/item", "/item2", "/loader", "/dataclass", "/dataclass2"]
    with serving(lambda path: html(f"<p>{path}</p>")) as site:
        crawl(
            [site.url(path) for path in paths],
            {"DUST_DIR": str(tmp_path), "DUST_SAME": "items"},
            spider=Kinds,
        )
    found = taken(tmp_path)
    assert found["/item"] == found["/item2"] == found["/loader"]
    assert found["/dataclass"] == found["/dataclass2"]
    assert len({found[path] for path in ("/dict", "/dict6", "/item", "/dataclass")}) == 4


def test_fields_that_are_named_are_all_that_count(tmp_path):
    with serving(lambda path: html(f"<p>{path}</p>")) as site:
        said = {"DUST_DIR": str(tmp_path), "DUST_SAME": "items", "DUST_CONTENT_FIELDS": ["name"]}
        crawl([site.url(path) for path in ("/dict", "/dict6")], said, spider=Kinds)
    found = taken(tmp_path)
    assert found["/dict"] == found["/dict6"]


class Other(Shop):
    """Another spider of the project, which takes names only."""

    name = "other"

    def parse(self, response: Any) -> Any:
        yield {"name": response.css("h1::text").get()}


def test_each_spider_has_a_log_of_what_it_took(tmp_path):
    def web(path: str) -> Answer:
        return product_page(1, 5 if path == "/a" else 6)

    with serving(web) as site:
        for spider in (Shop, Other):
            urls = [site.url("/a"), site.url("/b")]
            crawl(urls, {"DUST_DIR": str(tmp_path), "DUST_SAME": "items"}, spider=spider)
    prices, names = taken(tmp_path), taken(tmp_path, "other")
    assert prices["/a"] != prices["/b"]
    assert names["/a"] == names["/b"]


class Tabs(Visitor):
    """Takes the part of a page that the URL names."""

    def parse(self, response: Any) -> Any:
        self.crawl.got.append(response.url)
        tab = parameters(response.url).get("tab", "sid")
        yield {tab: response.css(f"#{'abc'['a1b2c3d4'.find(tab) // 2 % 3]}::text").get(), "url": response.url}


def parts(path: str) -> Answer:
    drawn = random.Random(parameters(path)["id"])
    return html("".join(f"<p id={part}>{' '.join(drawn.choices(WORDS, k=9))}</p>" for part in "abc"))


def test_where_pages_are_compared_the_values_of_items_are_recorded_alone(tmp_path):
    with serving(parts) as site:
        crawl([site.url("/p?id=1&tab=a1")], {"DUST_DIR": str(tmp_path)}, spider=Tabs)
    assert taken(tmp_path) == {}
    items = [one.items for one in visits(tmp_path) if one.items is not None]
    assert [len(unpack(one)) for one in items] == [1]


@pytest.mark.parametrize(("spider", "finds"), [(Shop, True), (Tabs, False)])
def test_a_spider_that_takes_another_part_of_a_page_under_each_url_has_no_rule(tmp_path, spider, finds):
    with serving(parts) as site:
        urls = asked(site, "tab")
        found = book_after(
            site, tmp_path, urls, spider, DUST_SAME="page", DUST_LEARNER="dust", DUST_VALIDATION_BUDGET=0
        )
    assert (Status.VALID in found.values()) is finds


@pytest.mark.parametrize(
    ("said", "orders"),
    [
        ({"DUST_SAME": "items"}, [10_010]),
        ({"DUST_SAME": "items", "DUST_LOG_ENABLED": False}, [10_010]),
        ({}, [10_010]),
        ({"DUST_LOG_ENABLED": False}, []),
        ({"DUST_LOG_UNITS": False}, []),
    ],
)
def test_the_middleware_is_the_add_ons_only_where_it_is_wanted(said, orders):
    settings = Settings(said)
    Addon().update_settings(settings)
    known: Mapping[Any, int] = settings["SPIDER_MIDDLEWARES"]
    assert [order for one, order in known.items() if one is TakenMiddleware] == orders


# What is learned from it


def test_the_page_around_an_item_does_not_count(tmp_path):
    def web(path: str) -> Answer:
        number = int(parameters(path)["id"])
        return product_page(number, 5 + number, noise(path))

    with serving(web) as site:
        assert Status.VALID in book_after(site, tmp_path, asked(site)).values()
        asked_before = len(site.asked)
        said = {"DUST_DIR": str(tmp_path), "DUST_RULES": [str(tmp_path / "rules.json")], "DUST_SAME": "items"}
        done = crawl(asked(site, values=("e5", "f6")), said, spider=Shop)
        # Nothing was fetched to validate, and of each product one URL is fetched.
        assert asked_before == PRODUCTS * len(SESSIONS)
        assert len(done.got) == PRODUCTS


def test_by_pages_the_same_site_has_no_rule(tmp_path):
    def web(path: str) -> Answer:
        number = int(parameters(path)["id"])
        return product_page(number, 5 + number, noise(path))

    with serving(web) as site:
        found = book_after(site, tmp_path, asked(site), DUST_SAME="page", DUST_VALIDATION_BUDGET=0)
        assert Status.VALID not in found.values()


def test_pages_are_told_apart_by_a_field_that_the_spider_takes(tmp_path):
    def web(path: str) -> Answer:
        said = parameters(path)
        return product_page(int(said["id"]), 5 + 100 * ("USD", "EUR", "GBP", "CHF").index(said["currency"]))

    with serving(web) as site:
        found = book_after(site, tmp_path, asked(site, "currency", ("USD", "EUR", "GBP", "CHF")))
        assert Status.VALID not in found.values()


class Reader(Visitor):
    """Reads what a page encrypts anew at each fetch."""

    def parse(self, response: Any) -> Any:
        self.crawl.got.append(response.url)
        key, *said = bytes.fromhex(response.css("#sealed::text").get())
        yield {"name": response.css("h1::text").get(), "sealed": bytes(one ^ key for one in said).decode()}


def sealing(by: str) -> Any:
    """Pages with a text that is encrypted by another key at each fetch. The text depends on the parameter *by*."""
    keys = itertools.cycle(range(1, 250, 7))

    def web(path: str) -> Answer:
        said = parameters(path)
        if not path.startswith("/p?") or not said["id"].isdigit():
            return Answer(b"", 404)
        drawn, key = random.Random(f"{said['id']} {said.get(by)}"), next(keys)
        text = " ".join(drawn.choices("amber basin cedar delta ember fjord grove haven".split(), k=3))
        sealed = bytes([key, *(one ^ key for one in text.encode())]).hex()
        about = " ".join(random.Random(said["id"]).choices(WORDS, k=20))
        return html(f"<h1>Tea {said['id']}</h1><p>{about}</p><i id=sealed>{sealed}</i>")

    return web


@pytest.mark.parametrize(
    ("by", "spider", "finds"), [("x", Shop, True), ("x", Reader, True), ("view", Reader, False)]
)
def test_what_only_the_spider_can_read_tells_pages_apart(tmp_path, by, spider, finds):
    with serving(sealing(by)) as site:
        found = book_after(site, tmp_path, asked(site, "view"), spider, DUST_SAME="page")
    assert (Status.VALID in found.values()) is finds, found


class Lists(Visitor):
    """Takes nothing from a list but where it leads."""

    def parse(self, response: Any) -> Any:
        self.crawl.got.append(response.url)
        for link in response.css("a"):
            yield response.follow(link, callback=self.product)

    def product(self, response: Any) -> Any:
        self.crawl.got.append(response.url)
        yield {"name": response.css("h1::text").get(), "url": response.url}


@pytest.mark.parametrize("by", ["sid", "page"])
def test_lists_are_one_where_they_lead_to_the_same(tmp_path, by):
    def web(path: str) -> Answer:
        said = parameters(path)
        if path.startswith("/p"):
            return product_page(int(said["id"]), 5, noise(path))
        first = int(said["c"]) + (100 * SESSIONS.index(said["page"]) if by == "page" else 0)
        sid = said.get("sid", "x")
        links = (f'<a href="/p?id={3 * first + more}&amp;sid={sid}">x</a>' for more in range(3))
        return html("".join(links) + noise(path).partition("<a")[0])

    with serving(web) as site:
        urls = [
            site.url(f"/list?c={number}&{by}={value}") for value in SESSIONS for number in range(PRODUCTS)
        ]
        found = book_after(site, tmp_path, urls, Lists)
        of_lists = [rule for rule, status in found.items() if status is Status.VALID and by in rule]
        assert bool(of_lists) == (by == "sid"), found


class Clock(Visitor):
    """Takes another value at each fetch, too."""

    count = 0

    def parse(self, response: Any) -> Any:
        Clock.count += 1
        yield {"name": response.css("h1::text").get(), "seen": f"at {Clock.count}", "url": response.url}


def test_a_field_that_changes_at_each_fetch_does_not_count_once_two_crawls_have_shown_it(tmp_path):
    with serving(lambda path: product_page(int(parameters(path)["id"]), 5, noise(path))) as site:
        assert Status.VALID not in book_after(site, tmp_path, asked(site), Clock).values()
        assert Status.VALID in book_after(site, tmp_path, asked(site), Clock).values()


def test_a_crawl_learns_from_what_it_takes_while_it_goes_on(tmp_path):
    def web(path: str) -> Answer:
        number = int(parameters(path)["id"])
        return product_page(number, 5 + number, noise(path))

    with serving(web) as site:
        crawl(asked(site), {"DUST_DIR": str(tmp_path), "DUST_SAME": "items"}, spider=Shop)
        for same in ("items", "page"):
            learner = OnlineLearner(DustSettings(same=same))
            for visit in visits(tmp_path):
                learner.see(visit)
            finding = learner.look(site.name)
            assert bool(finding is not None and finding.rules) == (same == "items")


def test_a_rule_of_one_spider_is_not_anothers(tmp_path):
    """Of `currency` the one that takes names only sees nothing; to the other it matters."""

    def web(path: str) -> Answer:
        said = parameters(path)
        return product_page(int(said["id"]), 5 + len(said["currency"]))

    currencies = ("EUR", "DOLLAR", "FRANKEN", "C")
    with serving(web) as site:
        urls = asked(site, "currency", currencies)
        assert Status.VALID in book_after(site, tmp_path, urls, Other).values()
        said = {"DUST_DIR": str(tmp_path), "DUST_RULES": [str(tmp_path / "rules.json")], "DUST_SAME": "items"}
        assert len(crawl(urls, said, spider=Shop).got) == len(urls)
        asked_before = len(site.asked)
        crawl(urls, said, spider=Other)
        assert len(site.asked) == asked_before + PRODUCTS


def dustmine(folder: Path) -> subprocess.CompletedProcess[str]:
    settings = {"DUST_DIR": folder / "dust", "DUST_SAME": "items", "DUST_RULES": folder / "rules.json"}
    said = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    return subprocess.run(
        [sys.executable, "-m", "scrapy", "dustmine", *said],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


@pytest.mark.once
def test_dustmine_fetches_nothing_and_asks_whose_items_count(tmp_path):
    with serving(lambda path: product_page(int(parameters(path)["id"]), 5, noise(path))) as site:
        said = {"DUST_DIR": str(tmp_path / "dust"), "DUST_SAME": "items"}
        crawl(asked(site), said, spider=Shop)
        asked_before = len(site.asked)
        done = dustmine(tmp_path)
        assert done.returncode == 0
        assert 'DUST_SAME is "items": the log alone decides' in done.stderr
        assert "sid" in (tmp_path / "rules.json").read_text()
        assert len(site.asked) == asked_before
        crawl(asked(site), said, spider=Other)
        assert "do not say what a spider took" not in done.stderr
    done = dustmine(tmp_path)
    assert (done.returncode, "--spider" in done.stderr) == (2, True)


@pytest.mark.once
def test_a_log_that_does_not_say_what_was_taken_yields_no_rules(tmp_path):
    with serving(lambda path: product_page(int(parameters(path)["id"]), 5)) as site:
        crawl(asked(site), {"DUST_DIR": str(tmp_path / "dust")}, spider=Shop)
    done = dustmine(tmp_path)
    assert "do not say what a spider took" in done.stderr
    assert not (tmp_path / "rules.json").exists() or "sid" not in (tmp_path / "rules.json").read_text()


# Canaries


def canaries(folder: Path, site: Site, urls: list[str], parameter: str, spider: type[Spider] = Shop) -> Crawl:
    """A crawl with a rule that *parameter* does not matter, in which each URL that it suppresses is a canary."""
    rules = write_rules(folder / "rules.json", {site.name: [Rule.of(DropParameter(parameter))]})
    said = {"DUST_DIR": str(folder), "DUST_RULES": [rules], "DUST_SAME": "items", "DUST_CANARY_RATE": 1}
    return crawl(urls, said, spider=spider)


def test_canaries_are_judged_by_what_is_taken_from_them(tmp_path):
    with serving(lambda path: product_page(int(parameters(path)["id"]), 5, noise(path))) as site:
        done = canaries(tmp_path, site, asked(site), "sid")
        assert done.stats["dust/canaries/same"] == done.stats["dust/canaries"] == PRODUCTS * 3
        assert len(site.asked) == PRODUCTS * 4


def test_a_rule_that_a_canary_refutes_is_given_up(tmp_path):
    def web(path: str) -> Answer:
        return product_page(int(parameters(path)["id"]), 5 + len(parameters(path)["currency"]))

    with serving(web) as site:
        done = canaries(tmp_path, site, asked(site, "currency", ("EUR", "DOLLAR", "FRANKEN")), "currency")
        assert done.stats["dust/canaries/different"] >= 1
        assert done.stats["dust/suspended"] == 1
        assert len(done.got) == PRODUCTS * 3


def test_a_canary_of_which_nothing_is_taken_tells_nothing(tmp_path):
    with serving(lambda path: html(f"<p>{path}</p>")) as site:
        urls = [site.url(f"/nothing?sid={number}") for number in range(5)]
        done = canaries(tmp_path, site, urls, "sid", Ways)
        assert done.stats["dust/canaries/unknown"] == done.stats["dust/canaries"] == 4
        assert len(site.asked) == 5
