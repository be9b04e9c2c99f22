"""The sentence at the end of a crawl."""

from __future__ import annotations

import itertools
import logging
import re

import pytest
from scrapy import Request

from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import Visitor, crawl
from tests.crawl.site import error, page, serving

SID = Rule.of(DropParameter("sid"))


@pytest.fixture
def summary(caplog):
    caplog.set_level(logging.INFO, "scrapy_dust.extension")

    def only():
        (record,) = (one for one in caplog.records if one.name == "scrapy_dust.extension")
        assert record.levelno == logging.INFO
        return record.getMessage()

    return only


def test_what_was_saved_and_by_which_rule(with_rules, summary, tmp_path):
    with serving(lambda path: error(404) if "bad" in path else page(words=path)) as site:
        urls = [site.url(f"/p?id={n}&sid={sid}") for n in range(3) for sid in ("a", "b", "c")]
        crawl([*urls, site.url("/q?sid=bad"), site.url("/q?sid=good")], with_rules(site, SID))
        identity = rule_id(site.name, SID)
    assert summary() == (
        f"1 rule saved 6 requests (by {identity}); 1 page fetched under another URL, since the first one failed. "
        f"What was not fetched is listed in {tmp_path / 'dust' / 'journal' / 'visitor'}; "
        "`scrapy dustrules explain URL` says why."
    )


def test_what_would_have_been_saved_in_shadow_mode(with_rules, summary):
    with serving(lambda path: page()) as site:
        crawl([site.url(f"/p?sid={sid}") for sid in "abc"], with_rules(site, SID) | {"DUST_MODE": "shadow"})
    assert summary().startswith("1 rule would have saved 2 requests")


class Listing(Visitor):
    """Makes an item of what the request has handed on."""

    def parse(self, response):
        yield {"list": response.meta["list"], "rank": response.cb_kwargs.get("rank"), "words": "tea"}


@pytest.mark.parametrize(("by", "is_said"), [(["callback"], True), (["callback", "meta:list"], False)])
def test_texts_that_requests_hand_on_into_items_are_named_unless_rules_tell_requests_apart_by_them(
    with_rules, summary, by, is_said
):
    with serving(lambda path: page(words=path)) as site:
        asked = [
            Request(site.url(f"/p?id={n}&sid={sid}"), meta={"list": f"offers of {sid}"})
            for n in range(3)
            for sid in "ab"
        ]
        crawl(asked, with_rules(site, SID) | {"DUST_CLASS_BY": by}, spider=Listing)
    assert ('DUST_CLASS_BY with "meta:list" does' in summary()) is is_said


@pytest.mark.once
def test_what_would_have_been_lost_in_shadow_mode(with_rules, summary):
    def web(path):
        kept = path if path.startswith("/wrong") else path.partition("?")[0]
        return page(words=" ".join(f"{kept} {number}" for number in range(30)))

    with serving(web) as site:
        urls = [
            site.url(f"/{kind}/{n}?sid={sid}") for kind in ("right", "wrong") for n in "12" for sid in "abc"
        ]
        result = crawl(urls, with_rules(site, SID) | {"DUST_MODE": "shadow"})
    assert len(result.got) == 12
    # Three that say the same are enough to know the rule by.
    lost = result.stats["dust/shadow/different"]
    assert lost >= 3
    assert (
        "; of 8 that were compared, 4 show the page that would have been fetched, "
        f"and {lost} another one that would have been lost"
    ) in summary()
    assert result.stats.get("dust/shadow/open", 0) == 4 - lost
    assert result.stats["dust/shadow/bytes"] > 1000
    assert "dust/suspended" not in result.stats


@pytest.mark.once
def test_pages_that_show_the_same_are_not_asked_for_again_in_shadow_mode(with_rules, summary):
    times = itertools.count()

    def web(path):
        """Each answer has its paragraphs in another order, and its own URL in a link."""
        begin = next(times)
        order = [(begin + number) % 20 for number in range(20)]
        paragraphs = [f"<p>{path.partition('?')[0]} says {number} times {number}</p>" for number in order]
        return page(words=f"<a href='{path}'>here</a>{''.join(paragraphs)}")

    with serving(web) as site:
        urls = [site.url(f"/{n}?sid={sid}") for n in range(9) for sid in "abc"]
        result = crawl(urls, with_rules(site, SID) | {"DUST_MODE": "shadow", "DUST_CANARY_RATE": 1})
    assert len(site.asked) == len(urls)
    assert result.stats["dust/shadow/same"] == 18


def test_what_was_suspended_is_said(with_rules, summary):
    texts = lambda path: page(words=" ".join(f"{path} {number}" for number in range(30)))
    with serving(texts) as site:
        urls = [site.url(f"/p?sid={n}") for n in range(9)]
        crawl(urls, with_rules(site, SID) | {"DUST_CANARY_RATE": 1})
    said = summary()
    # Two are enough; those that were being compared at the same time may be told of too.
    assert re.search(
        r"1 rule saved 0 requests; 8 URLs let through to test the rules \([2-8] of them showed another page\)",
        said,
    )
    assert "; 1 rule suspended as no longer true, 0 URLs offered again." in said


def test_a_crawl_that_learns_says_that_it_will(settings, summary):
    with serving(lambda path: page()) as site:
        crawl([site.url("/")], settings | {"DUST_LEARN": "close", "DUST_VALIDATION_BUDGET": 0})
    assert summary() == "Recorded 1 answer; rules are learned from the log now."


def test_without_rules_it_says_how_to_get_some(settings, summary):
    with serving(lambda path: page()) as site:
        crawl([site.url("/")], settings)
    assert (
        summary()
        == f"No rules yet in {settings['DUST_RULES'][0]}; recorded 1 answer. `scrapy dustmine` makes rules of them."
    )
