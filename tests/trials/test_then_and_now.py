"""A fetch that does not see what the crawl saw does not overrule the log."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.crawl.site import serving
from tests.trials.running import html, log_of, prose, tried

PRODUCTS = range(60)
PATHS = [f"/p?id={number}&unit={unit}" for number in PRODUCTS for unit in ("piece", "box")]


def shop(price):
    """A shop in which *price* gives the element with the price, by product and unit."""

    def web(path):
        number, _, unit = path.removeprefix("/p?id=").partition("&unit=")
        if not number.isdecimal() or unit not in ("piece", "box"):
            return html("not found")
        return html(f"{prose(number)}</p>{price(int(number), unit)}<p>{prose(f'more {number}')}")

    return web


def of_crawl(number, unit):
    """One box in eight has a price of its own."""
    return f"<p class=price>{100 + 7 * number + (unit == 'box' and number % 8 == 3)}.20</p>"


NOW = {
    "the crawl was logged in": lambda number, unit: "<p class=price>Log in to see prices</p>",
    "the crawl had a header that shows prices": lambda number, unit: "",
    "the offer is over": lambda number, unit: of_crawl(number, "piece"),
}


def crawled(site, web):
    """The log of a crawl that has fetched a page a second."""
    began = datetime.now(UTC) - timedelta(minutes=10)
    return {
        site.name: [
            replace(visit, fetched_at=(began + timedelta(seconds=number)).isoformat())
            for number, visit in enumerate(log_of(site, PATHS, web))
        ]
    }


@pytest.mark.parametrize("why", NOW)
def test_what_the_log_has_seen_to_differ_stands(why):
    with serving(shop(NOW[why])) as site:
        found = tried(crawled(site, shop(of_crawl)))
    assert not any("unit" in rule for rule in found.valid)


def test_a_page_that_changed_between_two_answers_of_the_crawl_is_one_page_all_the_same():
    """Prices rise while the crawl goes on, between some products' two URLs."""

    def first(number, unit):
        return f"<p class=price>{100 + 7 * number - (unit == 'piece' and number % 8 == 3)}.20</p>"

    with serving(shop(lambda number, unit: first(number, "box"))) as site:
        found = tried(crawled(site, shop(first)))
    assert any("unit" in rule for rule in found.valid)


def test_a_notice_that_some_answers_had_keeps_no_rule_out():
    def then(number, unit):
        notice = (
            f"<p class=flash>Order {7000 + number} is on its way</p>"
            if number % 9 == 4 and unit == "box"
            else ""
        )
        return f"<p class=price>{100 + 7 * number}.20</p>{notice}"

    with serving(shop(lambda number, unit: then(number, "piece"))) as site:
        found = tried(crawled(site, shop(then)))
    assert any("unit" in rule for rule in found.valid)
