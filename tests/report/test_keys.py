"""The report's script gives the keys that Python does, whatever the rules."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.sites import site_of
from tests import strategies
from tests.exchange.generated import SITES, some_rules, some_urls
from tests.report.keys_in_node import NODE, keys_of
from tests.rules import strategies as language

pytestmark = [pytest.mark.once, pytest.mark.skipif(NODE is None, reason="there is no node")]

RULES = st.lists((strategies.rules() | language.rules).filter(language.is_meant), max_size=6, unique=True)
URLS = st.lists(strategies.urls() | language.urls, min_size=1, max_size=30)


def test_the_page_gives_10_000_urls_the_keys_that_python_does():
    by_site = {site: some_rules(seed, 40) for seed, site in enumerate(SITES)}
    urls = list(some_urls(5, 10_000))
    canonize = Canonizer(by_site, site_of).canonize
    assert keys_of([(urls, by_site)]) == [[canonize(url) for url in urls]]


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(RULES, URLS), min_size=20, max_size=40))
def test_the_page_knows_every_operation(several):
    site = "a.example"
    asked = [([url for url in urls if site_of(url) == site], {site: rules}) for rules, urls in several]
    wanted = [[Canonizer(by_site, site_of).canonize(url) for url in urls] for urls, by_site in asked]
    assert keys_of(asked) == wanted


def test_a_page_knows_what_it_does_not_know():
    [[told]] = keys_of([(["http://b.example/"], {"a.example": []})])
    assert told is None
