"""Which rules are in force: not for hosts that are left alone, and told apart when nothing has tested them for long."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from scrapy import Request, Spider
from scrapy.utils.test import get_crawler

from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.rule_book import Entry, Evidence, RuleBook, rule_id
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import QUIET, crawl, write_rules
from tests.crawl.site import page, serving

SID, REF = Rule.of(DropParameter("sid")), Rule.of(DropParameter("ref"))


def crawler_with(settings):
    return get_crawler(Spider, QUIET | settings)


@pytest.mark.parametrize(
    ("domain", "host", "is_left_alone"),
    [
        ("a.test", "http://a.test", True),
        ("a.test", "http://shop.A.test:8080", True),
        ("shop.a.test", "http://a.test", False),
        ("shop.a.test", "https://user@shop.a.test", True),
        ("hop.a.test", "http://shop.a.test", False),
        (".a.test", "http://a.test", True),
    ],
)
def test_no_rule_speaks_of_a_host_that_is_to_be_left_alone(settings, tmp_path, domain, host, is_left_alone):
    write_rules(tmp_path / "dust-rules.json", {"a.test": [SID]})
    rules = rules_of(crawler_with(settings | {"DUST_SKIP_DOMAINS": [domain]}))
    url = f"{host}/p?id=1&sid=2"
    assert (rules.canonize(url) == url) is is_left_alone
    assert rules.canonizer.covers(url) is not is_left_alone


def test_a_host_that_is_left_alone_is_crawled_as_without_rules(with_rules):
    with serving(lambda path: page()) as site:
        urls = [site.url(f"/p?id=1&sid={n}") for n in range(4)]
        result = crawl(urls, with_rules(site, SID) | {"DUST_SKIP_DOMAINS": site.name})
    assert result.got == urls


def test_other_hosts_left_alone_are_other_keys(settings, tmp_path):
    write_rules(tmp_path / "dust-rules.json", {"a.test": [SID]})
    versions = {
        rules_of(crawler_with(settings | {"DUST_SKIP_DOMAINS": domains})).version
        for domains in ([], ["shop.a.test"])
    }
    assert len(versions) == 2


@pytest.mark.parametrize(("age", "is_stale"), [(200, True), (100, False), (None, False)])
def test_a_rule_is_stale_when_nothing_has_tested_it_for_long(settings, tmp_path, age, is_stale):
    tested = None if age is None else (datetime.now(UTC).date() - timedelta(days=age)).isoformat()
    entry = Entry(SID, evidence=Evidence(last_validated=tested))
    RuleBook().with_site("a.test", [entry]).save(tmp_path / "dust-rules.json")
    assert rules_of(crawler_with(settings)).stale == ({rule_id("a.test", SID)} if is_stale else set())
    assert not rules_of(crawler_with(settings | {"DUST_MAX_AGE": 0})).stale


def test_a_rule_that_is_suspended_changes_no_key_any_more(settings, tmp_path):
    write_rules(tmp_path / "dust-rules.json", {"a.test": [SID, REF]})
    crawler = crawler_with(settings)
    fingerprint = crawler.request_fingerprinter.fingerprint
    requests = [Request(f"http://a.test/p?sid={n}&ref={n}") for n in range(2)]
    assert len({fingerprint(one) for one in requests}) == 1
    rules_of(crawler).suspend("a.test", SID)
    assert len({fingerprint(one) for one in requests}) == 2
    assert fingerprint(requests[0]) == fingerprint(Request("http://a.test/p?sid=0"))


@pytest.mark.parametrize("room", ["addon", "crawl.online"])
def test_a_crawl_that_has_nothing_to_compare_loads_nothing_to_compare_with(room):
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, scrapy_dust.{room}; print('numpy' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
