"""A warning where a site is no longer what its rules were learned from."""

from __future__ import annotations

import logging

import pytest

from scrapy_dust.believe.site_profile import Profile
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rule_book.profiles import save_profiles
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import crawl
from tests.crawl.site import page, serving

SID = Rule.of(DropParameter("sid"))


@pytest.fixture
def warned(with_rules, tmp_path, caplog):
    """What a crawl of pages with these queries warns of, and its stat; the log had `sid` in every second URL."""
    caplog.set_level(logging.WARNING, "scrapy_dust.crawl.outdated_rules")

    def run(*queries):
        with serving(lambda path: page()) as site:
            identity = rule_id(site.name, SID)
            profile = Profile(1000, frozenset({"sid", "id"}), {identity: 500})
            settings = with_rules(site, SID) | {"CONCURRENT_REQUESTS": 8, "LOG_LEVEL": "WARNING"}
            save_profiles(tmp_path / "dust", {site.name: profile})
            urls = [site.url(f"/{n}?{query}") for n in range(220 // len(queries)) for query in queries]
            result = crawl(urls, settings)
        said = [one.getMessage() for one in caplog.records if one.name.endswith("outdated_rules")]
        return [one.replace(site.name, "SITE").replace(identity, "ID") for one in said], result.stats[
            "dust/stale_sites"
        ]

    return run


@pytest.mark.once
def test_one_sentence_says_what_is_strange(warned):
    assert warned("src=a") == (
        [
            (
                "The rules of SITE seem out of date: 1 of 1 rules that should have changed 20 URLs or more "
                "changed none (ID); 100% of its URLs have parameters that no log has shown (src). "
                "`scrapy dustmine` tests them anew."
            )
        ],
        1,
    )


@pytest.mark.once
def test_of_a_site_as_it_was_nothing_is_said(warned):
    assert warned("sid=1", "sid=2", "id=1") == ([], 0)
