"""The HTTP cache with rules in force: what it answers is the page of the URL that was asked for."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.extensions.httpcache import DbmCacheStorage

from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import crawl
from tests.crawl.site import error, page, redirect, serving

SID = Rule.of(DropParameter("sid"))


@pytest.fixture
def cached(with_rules, tmp_path):
    def settings(site, **more):
        cache = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
        return with_rules(site, SID) | cache | more

    return settings


@pytest.mark.parametrize("storage", [None, DbmCacheStorage])
def test_a_second_crawl_asks_for_nothing(cached, storage):
    chosen = {} if storage is None else {"HTTPCACHE_STORAGE": storage}
    with serving(lambda path: page(words=path)) as site:
        urls = [site.url(f"/p?id={n}&sid={sid}") for n in range(3) for sid in "abc"]
        crawl(urls, cached(site, **chosen))
        result = crawl(urls, cached(site, **chosen))
    assert len(site.asked) == 3
    assert result.stats["httpcache/hit"] == 3


def test_a_page_is_never_that_of_another_url(cached):
    with serving(lambda path: page(words=path)) as site:
        urls = [site.url(f"/p?sid={sid}") for sid in "ab"]
        crawl(urls, cached(site))
        result = crawl(list(reversed(urls)), cached(site))
    assert result.got == [urls[1]]
    assert site.asked == ["/p?sid=a", "/p?sid=b"]


def test_a_cache_filled_without_rules_stays_warm(cached):
    with serving(lambda path: page()) as site:
        urls = [site.url(f"/p?sid={sid}") for sid in "ab"]
        crawl(urls, cached(site, DUST_MODE="off"))
        crawl(urls, cached(site))
        crawl(list(reversed(urls)), cached(site))
    assert len(site.asked) == 2


def test_a_failure_in_the_cache_is_not_that_of_the_next_alias(cached):
    with serving(lambda path: error(404) if "bad" in path else page()) as site:
        urls = [site.url(f"/p?sid={sid}") for sid in ("bad", "good")]
        for _ in range(2):
            result = crawl(urls, cached(site))
            assert result.got == [urls[1]]
    assert len(site.asked) == 2


def test_a_redirect_inside_a_class_ends_in_the_page_from_the_cache_too(cached):
    with serving(lambda path: redirect("/p?sid=2") if path == "/p" else page()) as site:
        for _ in range(2):
            result = crawl([site.url("/p")], cached(site))
            assert result.got == [site.url("/p?sid=2")]
    assert len(site.asked) == 2


def test_a_redirect_between_urls_that_are_one_for_scrapy_ends_in_the_page_too(cached):
    with serving(lambda path: redirect("/p?a=1&b=2") if path == "/p?b=2&a=1" else page()) as site:
        for _ in range(2):
            assert crawl([site.url("/p?b=2&a=1")], cached(site)).got == [site.url("/p?a=1&b=2")]
    assert len(site.asked) == 2


def test_a_canary_is_not_told_what_it_is_to_find_out(cached):
    with serving(lambda path: page()) as site:
        settings = cached(site, DUST_CANARY_RATE=1)
        crawl([site.url(f"/p?sid={sid}") for sid in "abc"], settings)
    assert len(site.asked) == 3


@pytest.mark.parametrize("first", [error(404), redirect("/p?sid=2")])
def test_a_cache_configured_without_us_loses_no_page_either_and_it_is_said_what_it_may_do(
    cached, first, caplog
):
    by_hand = {
        "ADDONS": {},
        "REQUEST_FINGERPRINTER_CLASS": "scrapy_dust.DustRequestFingerprinter",
        "DUPEFILTER_CLASS": "scrapy_dust.DustDupeFilter",
    }
    with serving(lambda path: first if path == "/p?sid=1" else page()) as site:
        for _ in range(2):
            result = crawl([site.url(f"/p?sid={sid}") for sid in (1, 2)], cached(site) | by_hand)
            assert result.got == [site.url("/p?sid=2")]
    assert "set HTTPCACHE_STORAGE to scrapy_dust.DustCacheStorage" in caplog.text


def test_a_request_that_opts_out_gets_its_own_page(cached):
    with serving(lambda path: page()) as site:
        settings = cached(site)
        crawl([site.url("/p?sid=a"), Request(site.url("/p?sid=b"), meta={"dust": False})], settings)
    assert len(site.asked) == 2
