from __future__ import annotations

import asyncio

import pytest

from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.addresses import Addresses, is_inside
from scrapy_dust.trials.limits import Limits
from scrapy_dust.trials.rendering import rendering_meta, stays_within

URL = "http://www.shop.example/a?id=1"
LIMITS = Limits(
    "shop.example",
    [URL, "http://shop.example:8080/b", "http://shop.example/cart/add?x=1"],
    DustSettings().never_probe,
)


@pytest.mark.parametrize(
    ("target", "may"),
    [
        ("http://www.shop.example/a", True),
        ("http://m.shop.example/a", True),
        ("http://shop.example/cart/add?x=1", True),  # the crawl had it
        ("http://shop.example/cart/add", False),
        ("https://www.shop.example/a", False),
        ("ftp://www.shop.example/a", False),
        ("http://other.example/a", False),
        ("http://www.shop.example:22/a", False),
        ("http://www.shop.example:99999/a", False),
        ("http://www.shop.example/a?id=1&do=delete", False),
        ("http://www.shop.example/a?token=hidden0123456789abcdef", False),
        ("http://[/a", False),
        ("", False),
    ],
)
def test_what_a_rule_makes_up_stays_on_the_site_and_does_nothing(target, may):
    assert LIMITS.may_compare(URL, target) is may


def test_redirects_may_change_the_scheme_and_no_more():
    assert LIMITS.may_follow("https://www.shop.example/a")
    assert not LIMITS.may_follow("https://login.example/a")
    assert not LIMITS.may_follow("http://www.shop.example/logout")


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1"),
        *("::1", "fe80::1%eth0", "fc00::1", "::ffff:127.0.0.1", "2002:7f00:1::", "224.0.0.1", "nonsense"),
    ],
)
def test_private_addresses_are_inside(address):
    assert is_inside(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:8.8.8.8"])
def test_public_addresses_are_not(address):
    assert not is_inside(address)


@pytest.mark.parametrize(
    ("host", "port", "by_proxy", "may"),
    [
        ("shop.example", 80, False, True),  # known
        ("127.0.0.1", 80, False, False),
        ("127.0.0.1", 80, True, False),
        ("2130706433", 80, True, False),  # the same to many resolvers
        ("localhost", 80, True, False),
        ("m.shop.example", 80, True, True),  # the proxy looks it up
        ("93.184.216.34", 80, False, True),
        ("169.254.169.254", 80, False, False),
    ],
)
def test_no_private_address_is_reached_unless_the_crawl_was_there(host, port, by_proxy, may):
    addresses = Addresses([("http", "shop.example", 80), ("http", "127.0.0.1", 8000)])
    assert asyncio.run(addresses.is_reachable(host, port, by_proxy=by_proxy)) is may


def test_a_site_on_this_machine_is_reached_where_it_was_and_nowhere_else():
    addresses = Addresses([("http", "127.0.0.1", 8000)])
    assert asyncio.run(addresses.is_reachable("localhost", 8000, by_proxy=False)) is not asyncio.run(
        addresses.is_reachable("127.0.0.1", 8001, by_proxy=False)
    )


def test_a_browser_is_asked_for_as_the_crawl_asked_for_it():
    assert rendering_meta(None, URL, {"playwright_page_methods": []}) == {}
    assert rendering_meta("playwright", URL, {"playwright_context": "x"}) == {
        "playwright": True,
        "playwright_context": "x",
    }
    splash = rendering_meta("splash", URL, {"splash": {"args": {"wait": 1}}})["splash"]
    assert splash == {"endpoint": "render.html", "args": {"wait": 1, "url": URL}}


def test_a_browser_sends_no_forms_and_leaves_no_site():
    class Asked:
        def __init__(self, url: str, method: str = "GET", navigates: bool = True) -> None:
            self.url, self.method, self.navigates = url, method, navigates

        def is_navigation_request(self) -> bool:
            return self.navigates

    abort = stays_within(["shop.example"], lambda request: request.url.endswith(".png"))
    assert not abort(Asked(URL))
    assert abort(Asked(URL, "POST"))
    assert abort(Asked("http://other.example/"))
    assert not abort(Asked("http://cdn.example/x.js", navigates=False))
    assert abort(Asked("http://cdn.example/x.png", navigates=False))
