"""Redirects inside a class: counted at the server, nothing is lost and nothing goes round for ever."""

from __future__ import annotations

import re
from itertools import chain

import pytest
from scrapy import Request

from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from tests.crawl.crawling import crawl
from tests.crawl.site import error, page, redirect, serving

PAGES = range(30)

#: Both ends of each redirect in one class.
RULES = (
    Rule.of(Substitute("/", "", start=False, end=True)),
    Rule.of(DropParameter("sid")),
    Rule.of(Substitute("?b=2&a", "?a")),
    Rule.of(Substitute("&b=2", "", end=True)),
)


def trap(path: str):
    if re.fullmatch(r"/dir/\d+", path):
        return redirect(f"{path}/", 301)
    if match := re.fullmatch(r"/b\?b=2&a=(\d+)", path):
        return redirect(f"/b?a={match[1]}&b=2", 301)
    if re.fullmatch(r"/q/\d+", path):
        return redirect(f"{path}?sid=7", 302)
    return page() if re.fullmatch(r"/dir/\d+/|/b\?a=\d+&b=2|/q/\d+\?sid=7", path) else error(404)


@pytest.mark.once
@pytest.mark.parametrize("rules", [RULES, ()], ids=["with rules", "without rules"])
def test_every_page_behind_a_redirect_inside_its_class_arrives(with_rules, rules):
    with serving(trap) as site:
        paths = chain.from_iterable((f"/dir/{n}", f"/q/{n}", f"/b?b=2&a={n}") for n in PAGES)
        result = crawl(
            [site.url(path) for path in paths], with_rules(site, *rules) | {"CONCURRENT_REQUESTS": 16}
        )
    assert len(set(result.got)) == 90
    assert len(site.asked) == 180


@pytest.mark.once
def test_without_us_a_third_of_them_is_lost(with_rules):
    """So that the test above is known to test something."""
    with serving(trap) as site:
        paths = chain.from_iterable((f"/dir/{n}", f"/q/{n}", f"/b?b=2&a={n}") for n in PAGES)
        result = crawl([site.url(path) for path in paths], {"DUST_ENABLED": False, "CONCURRENT_REQUESTS": 16})
    assert len(set(result.got)) == 60


@pytest.mark.parametrize("rules", [RULES, ()], ids=["with rules", "without rules"])
def test_a_url_that_sets_a_cookie_and_comes_back_to_itself_is_fetched_again_once(with_rules, rules):
    with serving(lambda path: redirect("/p?id=1&sid=2")) as site:
        crawl([site.url("/p?id=1&sid=2")], with_rules(site, *rules))
    assert site.asked == ["/p?id=1&sid=2"] * 2


def test_a_bounce_over_a_cookie_page_ends_in_the_page(with_rules):
    answers = iter([redirect("/cookie?to=1"), redirect("/p?id=1&sid=2"), page()])
    with serving(lambda path: next(answers)) as site:
        result = crawl([site.url("/p?id=1&sid=2")], with_rules(site, *RULES))
    assert result.got == [site.url("/p?id=1&sid=2")]


@pytest.mark.once
def test_a_redirect_inside_a_class_would_not_be_filtered_in_shadow_mode_either(with_rules):
    with serving(trap) as site:
        result = crawl(
            [site.url(f"/q/{n}") for n in PAGES], with_rules(site, *RULES) | {"DUST_MODE": "shadow"}
        )
    assert "dust/shadow/filtered" not in result.stats
    assert len(result.got) == 30


def test_a_redirect_to_a_page_that_was_fetched_is_filtered_as_ever(with_rules):
    with serving(lambda path: redirect("/home") if path != "/home" else page()) as site:
        crawl([site.url(path) for path in ("/home", "/a", "/b")], with_rules(site, *RULES))
    assert site.times() == {"/home": 1, "/a": 1, "/b": 1}


class Odd(Request):
    attributes = Request.attributes

    def __init__(self, url, *rest, **options):
        if "sid=x" in url:
            raise TypeError("not this one")
        super().__init__(url, *rest, **options)


def test_a_request_that_cannot_be_made_again_is_filtered_as_ever_whatever_meta_it_was_given(with_rules):
    with serving(lambda path: page()) as site:
        copied = {"redirect_urls": [site.url("/p?sid=x")]}
        result = crawl(
            [Odd(site.url(f"/p?sid={sid}"), meta=copied) for sid in "ab"], with_rules(site, *RULES)
        )
    assert result.got == [site.url("/p?sid=a")]
