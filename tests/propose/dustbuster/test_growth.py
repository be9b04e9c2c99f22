"""Rules that somebody made so that a URL grows without end: the URL stays as it is, and soon."""

from __future__ import annotations

import tracemalloc

import pytest

from scrapy_dust.rule_book import Entry
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.parameters import MapValue, SetParameter
from scrapy_dust.rules.path_rewriting import Rewrite
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.sites import site_of

HOME = "http://a.example/"


def doubling(more: str = "") -> Rewrite:
    return Rewrite(("/", 0), ("/", 0, "/", 0, more), ("path",))


@pytest.mark.parametrize(
    ("rules", "url"),
    [
        ([Rule((doubling(),) * 8)], HOME + "abc/d"),
        ([Rule((doubling(str(n)),)) for n in range(50)], HOME + "abc/d"),
        ([Rule.of(SetParameter("a", "v" * 100_000))], HOME + "?" + "a=1&" * 20_000),
        ([Rule((MapValue("a", "1", "v" * 100_000),))], HOME + "?" + "a=1&" * 20_000),
        ([Rule.of(Substitute("a", "/a/a" * 2000))], HOME + "a"),
    ],
    ids=["operations", "edits", "parameters", "values", "substrings"],
)
def test_a_url_that_rules_would_make_grow_without_end_stays_as_it_is(rules, url):
    for rule in rules:
        Entry(rule)  # a rule book may have it
    canonizer = Canonizer({"a.example": rules}, site_of)
    tracemalloc.start()
    key = canonizer.canonize(url)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert key == url == canonizer.canonize(key)
    assert most < 60_000_000


def test_one_long_text_is_put_in_all_the_same():
    rules: list[Rule] = [Rule.of(SetParameter("a", "v" * 5000)), Rule((MapValue("b", "1", "w" * 5000),))]
    key = Canonizer({"a.example": rules}, site_of).canonize(HOME + "?a=1&b=1")
    assert key == HOME + f"?a={'v' * 5000}&b={'w' * 5000}"


def test_a_rewrite_tells_a_capture_twice_at_most():
    with pytest.raises(ValueError, match="more than twice"):
        Entry(Rule((Rewrite(("/", 0), ("/", 0, 0, 0), ("path",)),)))
