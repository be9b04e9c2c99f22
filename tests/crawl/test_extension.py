"""The sentence at the end of a crawl."""

from __future__ import annotations

import logging

import pytest

from scrapy_dust.dust.rules import ParameterRule
from scrapy_dust.rule_book.entries import rule_id
from tests.crawl.crawling import crawl
from tests.crawl.site import error, page, serving

SID = ParameterRule("sid")


@pytest.fixture
def summary(caplog):
    caplog.set_level(logging.INFO, "scrapy_dust.crawl.extension")

    def only():
        (record,) = (one for one in caplog.records if one.name == "scrapy_dust.crawl.extension")
        assert record.levelno == logging.INFO
        return record.getMessage()

    return only


def test_what_was_saved_and_by_which_rule(with_rules, summary):
    with serving(lambda path: error(404) if "bad" in path else page()) as site:
        urls = [site.url(f"/p?id={n}&sid={sid}") for n in range(3) for sid in ("a", "b", "c")]
        crawl([*urls, site.url("/q?sid=bad"), site.url("/q?sid=good")], with_rules(site, SID))
        identity = rule_id(site.name, SID)
    assert summary() == (
        f"1 rule saved 6 requests ({identity}: 7); 0 URLs fetched to test rules, "
        "1 page got by another alias after the first had failed."
    )


def test_what_would_have_been_saved_in_shadow_mode(with_rules, summary):
    with serving(lambda path: page()) as site:
        crawl([site.url(f"/p?sid={sid}") for sid in "abc"], with_rules(site, SID) | {"DUST_MODE": "shadow"})
    assert summary().startswith("1 rule would have saved 2 requests")


def test_without_rules_it_says_how_to_get_some(settings, summary):
    with serving(lambda path: page()) as site:
        crawl([site.url("/")], settings)
    assert summary() == "No rules yet; recorded 1 answer. `scrapy dustmine` makes rules of them."
