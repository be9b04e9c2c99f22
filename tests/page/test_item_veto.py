"""The veto of items: pages that show the same are told apart where the spider took what nothing else explains."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import pairwise

import pytest

from scrapy_dust.page.item_values import CHANCE
from scrapy_dust.page.item_veto import NO_ITEMS, Items, items_in
from scrapy_dust.page.places import Kind, name_of, place_of
from scrapy_dust.page.units import pack, units_of
from scrapy_dust.visits.pages import Visit

SHOWN, MADE = Kind.TEXT, Kind.DATA
PAGE = "http://shop.example/p/{}?{}"


def visit(url: str, *said: tuple[Kind, str, int]) -> Visit:
    units = [place_of(kind, f"item Item {field}") << 32 | value for kind, field, value in said]
    return Visit(url, items=pack(units_of(units)))


def names() -> dict[int, str]:
    paths = [f"item Item {field}" for field in ("price", "title", "related")]
    return {place_of(kind, path): name_of(kind, path) for kind in (SHOWN, MADE) for path in paths}


def site(pages: Iterable[tuple[str, list[tuple[Kind, str, int]]]]) -> Items:
    return items_in([visit(url, *said) for url, said in pages])


def by_currency(kind: Kind, *, with_ref: bool = False) -> Items:
    """A price by currency, of twelve products."""
    refs = ("", "&ref=a", "&ref=b") if with_ref else ("",)
    return site(
        (PAGE.format(n, f"cur={cur}{ref}"), [(SHOWN, "title", n), (kind, "price", 50 * n + at)])
        for n in range(1, 13)
        for at, cur in enumerate(("eur", "usd"))
        for ref in refs
    )


EUR, USD = PAGE.format(3, "cur=eur"), PAGE.format(3, "cur=usd")


def test_a_value_that_the_spider_made_tells_pages_apart():
    items = by_currency(MADE)
    items.name(names())
    for is_plain in (True, False):
        assert (
            items.veto(EUR, USD, standing=None if is_plain else ())
            == "the spider took other items: field `price`"
        )


def test_a_value_of_the_page_tells_apart_only_where_nothing_was_set_aside():
    items = by_currency(SHOWN)
    assert items.veto(EUR, USD, standing=()) is None
    assert items.veto(EUR, USD) is not None


def test_a_text_that_both_pages_have_tells_apart_whatever_else_changes():
    """The spider takes the one tab of a page with all tabs that the URL names."""
    items = by_currency(SHOWN)
    assert items.veto(EUR, USD, standing={150, 151}) is not None
    assert items.veto(EUR, USD, standing={150}) is None


def test_pages_that_gave_the_same_are_not_told_apart():
    assert by_currency(MADE, with_ref=True).veto(EUR, f"{EUR}&ref=a") is None


def test_a_page_that_gave_nothing_or_less_is_not_told_apart():
    items = site([(EUR, [(MADE, "price", 1), (MADE, "title", 2)]), (USD, [(MADE, "price", 1)])])
    assert items.veto(EUR, USD) is None
    assert items.veto(EUR, "http://shop.example/other") is None


def test_a_field_that_changes_at_each_fetch_says_nothing():
    again = [visit(PAGE.format(n, "cur=eur"), (MADE, "price", 1000 + n)) for n in range(12)]
    once = [
        visit(PAGE.format(n, f"cur={cur}"), (MADE, "price", 10 * n + len(cur + "x" * (cur == "usd"))))
        for n in range(12)
        for cur in ("eur", "usd")
    ]
    assert items_in(once).veto(EUR, USD) is not None
    assert items_in([*once, *again]).veto(EUR, USD) is None


def test_a_field_that_another_fetch_bears_out_counts():
    items = [
        visit(PAGE.format(n, f"cur={cur}"), (MADE, "price", 10 * n + at))
        for n in range(12)
        for at, cur in enumerate(("eur", "usd"))
    ]
    assert items_in([*items, *items]).veto(EUR, USD) is not None


def test_a_field_that_has_looked_like_chance_says_nothing():
    said = [
        visit(PAGE.format(n, f"cur={cur}"), (MADE, "price", 10 * n + at))
        for n in range(12)
        for at, cur in enumerate(("eur", "usd"))
    ]
    ids = [visit(PAGE.format(n, "cur=gbp"), (CHANCE, "price", 0)) for n in range(12)]
    assert items_in(said).veto(EUR, USD) is not None
    assert items_in([*said, *ids]).veto(EUR, USD) is None


def pairs(items: Items) -> list[tuple[str, str]]:
    urls = sorted(items.urls)
    of_page: dict[str, list[str]] = {}
    for url in urls:
        of_page.setdefault(url.partition("?")[0], []).append(url)
    return [(a, b) for group in of_page.values() for a, b in pairwise(group)]


def test_a_field_that_differs_whatever_differs_in_the_urls_says_nothing():
    noise = site(
        (PAGE.format(n, query), [(MADE, "price", 100 * n + at)])
        for n in range(12)
        for at, query in enumerate(("", "ref=a", "sid=b", "sid=b&utm=c"))
    )
    here, there = PAGE.format(3, "ref=a"), PAGE.format(3, "sid=b")
    assert noise.veto(here, there) is not None
    assert noise.learned(pairs(noise)).veto(here, there) is None


def test_a_field_that_one_parameter_alone_changes_counts():
    items = by_currency(MADE, with_ref=True)
    assert items.learned(pairs(items)).veto(EUR, USD) is not None


def test_a_spider_that_leaves_out_what_it_has_taken_says_nothing():
    lists = site(
        (PAGE.format(n, f"sort={by}"), [(SHOWN, "title", at) for at in taken])
        for n in range(12)
        for by, taken in (("a", range(9)), ("b", range(3)))
    )
    both = site([(EUR, [(SHOWN, "title", 1)]), (USD, [(SHOWN, "title", 2)])])
    together = Items({**lists._of, **both._of})
    assert together.veto(EUR, USD) is not None
    assert together.learned([*pairs(lists), (EUR, USD)]).veto(EUR, USD) is None


def test_parts_of_items_that_come_in_any_order_are_told_apart():
    chance = random.Random(7)
    parts = site(
        (PAGE.format(n % 4, f"pid={n}"), [(MADE, "title", n)]) for n in range(60) if chance.random() < 0.5
    )
    of_a_page = [
        (PAGE.format(page, f"pid={n}"), PAGE.format(page, f"pid={n + 4}"))
        for page in range(4)
        for n in range(page, 56, 4)
    ]
    learned = parts.learned(of_a_page)
    both = [(a, b) for a, b in of_a_page if {a, b} <= set(parts.urls)]
    assert len(both) > 5
    assert all(learned.veto(a, b) for a, b in both)


@pytest.mark.parametrize("items", [NO_ITEMS, items_in([]), items_in([Visit(EUR), Visit(USD)])])
def test_a_log_without_items_says_nothing(items):
    assert not items
    assert items.veto(EUR, USD) is None


def shells(ends: dict[str, tuple[int, int]]) -> Items:
    """Shells of a page under several URLs, from each of which the spider makes up a request: its text, and where it leads."""
    return items_in(
        [
            Visit(
                url,
                items=pack(
                    units_of(
                        [
                            place_of(MADE, "request api") << 32 | text,
                            place_of(Kind.LINK, "request api") << 32 | end,
                        ]
                    )
                ),
            )
            for url, (text, end) in ends.items()
        ]
    )


def test_requests_that_the_spider_made_up_tell_shells_apart():
    items = shells({EUR: (1, 11), USD: (2, 12)})
    assert items.veto(EUR, USD, standing=()) is not None
    assert items.veto(EUR, USD, {11: 7}) is not None


def test_the_pages_at_the_ends_of_such_requests_decide_where_the_log_has_them():
    items = shells({EUR: (1, 11), USD: (2, 12)})
    assert items.veto(EUR, USD, {11: 7, 12: 7}) is None
    assert items.veto(EUR, USD, {11: 7, 12: 8}) is not None


def test_requests_of_one_text_say_nothing_though_they_lead_elsewhere():
    assert shells({EUR: (1, 11), USD: (1, 12)}).veto(EUR, USD) is None


def test_a_field_that_the_spider_took_only_later_silences_no_other():
    """Most aliases were suppressed when the spider took the price; canaries have it, as their keepers have."""
    kept = [visit(PAGE.format(n, "cur=eur"), (SHOWN, "title", n), (MADE, "price", n)) for n in range(30)]
    others = [
        visit(PAGE.format(n, "cur=usd"), (SHOWN, "title", n), *([(MADE, "price", 100 + n)] if n < 4 else []))
        for n in range(30)
    ]
    items = items_in([*kept, *others])
    learned = items.learned((PAGE.format(n, "cur=eur"), PAGE.format(n, "cur=usd")) for n in range(30))
    assert learned.veto(EUR, USD) is not None
