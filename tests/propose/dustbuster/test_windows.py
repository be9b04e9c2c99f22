"""Of rules that are windows on one longer rule one is left, and what they merge stays the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.propose.dustbuster.detection import DetectionParams, detect_likely_rules
from scrapy_dust.propose.dustbuster.elimination import EliminationParams, eliminate_redundant
from scrapy_dust.propose.dustbuster.sketches import Similar
from scrapy_dust.propose.dustbuster.windows import without_windows
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.pages import Page
from tests.strategies import dusty_sites, logs, pages_of


def kept_in(pages, longest, support=1):
    params = DetectionParams(max_substring=longest, min_support=support, similar=Similar.NONE)
    return eliminate_redundant(detect_likely_rules(pages, params), EliminationParams()).kept


def instances(likely, urls):
    rule = Rule.of(likely.rule)
    return {(url, rule.apply(url)) for url in urls if rule.apply(url) in urls and rule.apply(url) != url}


@given(logs() | dusty_sites().map(lambda site: site.log), st.integers(1, 6))
def test_all_that_is_merged_stays_merged_and_the_order_too(log, longest):
    pages = pages_of(log)
    urls, kept = {page.url for page in pages}, kept_in(pages_of(log), longest)
    left = without_windows(kept, sorted(urls), longest)
    assert left == [one for one in kept if one in left]
    assert set().union(*(instances(one, urls) for one in kept)) == set().union(
        *(instances(one, urls) for one in left)
    )


def test_windows_on_one_long_rule_are_one_rule():
    pages = [
        Page(f"http://a.example/{side}/b/c/d/e/f/{n}.html") for n in range(4) for side in ("old/x/y", "new")
    ]
    kept = kept_in(pages, 8, support=4)
    assert len(kept) > 1
    assert len(without_windows(kept, [page.url for page in pages], 8)) == 1
    assert without_windows(kept, [page.url for page in pages], 9) == list(kept)
