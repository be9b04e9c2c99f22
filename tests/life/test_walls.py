"""An answer of which nothing comes, or that many pages give alike, is no page until other aliases have shown the same."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.exceptions import DropItem
from scrapy.http import Response

from scrapy_dust.crawl.suspected_walls import Belief, Walls
from tests.life.both import Reader
from tests.life.test_taken import CONCURRENCIES
from tests.life.web import Answer, Asked, index, notice, page, redirect

HERE = "tests.life.test_walls"
PAGES = range(6)
WALL = page("Please wait a moment")


def site_with(first, sids: str = "abcd", walls: str = "a"):
    """*first*: what the aliases *walls* of each page answer."""

    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*(f"/p{n}?sid={sid}" for sid in sids for n in PAGES))
        if asked.path == "/login":
            return notice("Log in")
        return first(asked) if asked.sid and asked.sid in walls else page(asked.path)

    return site


class Details(Reader):
    """Its pages have a callback of their own, which asks for nothing."""

    def parse(self, response: Response):
        for request in self.links(response):
            yield request.replace(callback=self.detail)

    def detail(self, response: Response):
        yield from self.items(response)


@pytest.mark.parametrize("walls", ["a", "ab", "abc"])
@CONCURRENCIES
def test_a_wall_of_which_the_spider_makes_nothing_is_no_page(both, walls, concurrency):
    site = site_with(lambda asked: notice("Please wait"), walls=walls)
    both(Details, site, CONCURRENT_REQUESTS=concurrency).check(wanted=6)


@pytest.mark.parametrize("walls", ["a", "ab", "abc"])
@CONCURRENCIES
def test_a_wall_of_which_the_spider_makes_an_item_is_no_page(both, walls, concurrency):
    both(Details, site_with(lambda asked: WALL, walls=walls), CONCURRENT_REQUESTS=concurrency).check(wanted=7)


@pytest.mark.parametrize("walls", ["a", "ab"])
@CONCURRENCIES
def test_a_login_under_many_urls_is_no_page(both, walls, concurrency):
    """Redirects lead each page to a login of its own, all of which look alike."""

    def site(asked: Asked) -> Answer:
        if asked.path.startswith("/login"):
            return WALL
        return site_with(lambda asked: redirect(f"/login{asked.path}"), walls=walls)(asked)

    both(Details, site, CONCURRENT_REQUESTS=concurrency).check(wanted=7)


class Picky:
    """An item pipeline that wants no item of a wall, and fails with some."""

    def process_item(self, item):
        if item["content"].startswith("wait for"):
            raise DropItem("not ready")
        if item["content"].startswith("hold"):
            raise ValueError("a bug")
        return item


@pytest.mark.parametrize("said", ["wait for", "hold"])
@pytest.mark.parametrize("walls", ["a", "ab"])
def test_a_page_whose_items_are_dropped_is_no_page(both, said, walls):
    site = site_with(lambda asked: page(f"{said} {asked.path}"), walls=walls)
    both(Details, site, ITEM_PIPELINES={f"{HERE}.Picky": 300}).check(wanted=6)


class Swallowing:
    def process_spider_exception(self, response, exception):
        return []


def test_a_callback_whose_error_a_middleware_swallows_has_taken_no_page(both):
    class Failing(Details):
        def detail(self, response: Response):
            if response.css(".notice"):
                raise ValueError("a wall")
            yield from self.items(response)

    site = site_with(lambda asked: notice(f"wait for {asked.path}"), walls="ab")
    both(Failing, site, SPIDER_MIDDLEWARES={f"{HERE}.Swallowing": 20_000}).check(wanted=6)


class Renewing(Details):
    """Where its session has expired it asks for the page with another one."""

    def detail(self, response: Response):
        new = response.css("a.new::attr(href)").get()
        if new:
            yield response.follow(new, self.detail)
        else:
            yield from self.items(response)


@pytest.mark.parametrize("sids", ["a", "abc"])
@CONCURRENCIES
def test_a_spider_that_asks_for_the_page_with_another_session_gets_it(both, sids, concurrency):
    def expired(asked: Asked) -> Answer:
        link = f'<a class="new" href="{asked.path}?sid=new">go on</a>'
        return Answer(f"<html><body><p>expired {link}</p></body></html>".encode())

    site = site_with(expired, sids=sids, walls=sids)
    both(Renewing, site, CONCURRENT_REQUESTS=concurrency).check(wanted=6)


def test_pages_that_truly_yield_nothing_are_not_all_fetched_under_all_urls(both):
    """The spider only looks at them; a few are tried more often."""

    class Looking(Details):
        def detail(self, response: Response):
            return None

        def links(self, response: Response):
            yield {"hub": 1}
            yield from (one for one in super().links(response))

        def parse(self, response: Response):
            for one in self.links(response):
                yield one.replace(callback=self.detail) if isinstance(one, Request) else one

    found = both(Looking, site_with(lambda asked: WALL, sids="abcdefgh", walls=""))
    found.check(wanted=1, saved=6 * 7 - 3 * 4)


def test_pages_that_no_rule_joins_and_that_are_alike_are_not_all_fetched_under_all_urls(both):
    """`/p0` to `/p5` are one page, of which no rule knows."""
    site = site_with(lambda asked: WALL, sids="abcdefgh", walls="abcdefgh")
    both(Details, site).check(wanted=1, saved=6 * 7 - 3 * 4)


def test_items_are_seen_whichever_middlewares_are_there(both):
    """By hand the outermost may be left out: then what callbacks yield counts, whatever becomes of it."""
    settings = {"SPIDER_MIDDLEWARES": {"scrapy_dust.DustGivenMiddleware": None}}
    both(Details, site_with(lambda asked: notice("Please wait")), only_ours=settings).check(wanted=6)


def test_a_kind_of_answer_is_a_wall_once_a_class_shows_something_else():
    walls = Walls()
    assert [walls.note_nothing("callback", of) for of in (b"0", b"1", b"2", b"3")] == [Belief.NONE] * 3 + [
        Belief.UNSURE
    ]
    assert walls.note_something("callback", b"digest", b"1") == (Belief.PAGE, [b"0", b"2", b"3"])
    assert walls.note_nothing("callback", b"4") is Belief.NONE


def test_a_kind_of_answer_is_believed_once_several_aliases_have_shown_it():
    walls = Walls()
    assert [walls.note_nothing("callback", b"0") for _ in range(6)] == [Belief.NONE] * 4 + [Belief.UNSURE] * 2


def test_two_classes_that_show_one_page_are_believed():
    walls = Walls()
    shown = [walls.note_something("callback", b"digest", of)[0] for of in (b"0", b"1", b"2")]
    assert shown == [Belief.PAGE, Belief.UNSURE, Belief.NONE]
