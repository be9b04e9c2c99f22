"""Which rule is to blame for two URLs of one class that show different pages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.blame import decisive_rules, rules_at_work
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.sites import site_of
from tests.strategies import rules, urls

SITE = "a.example"
SID, REF = Rule.of(DropParameter("sid")), Rule.of(DropParameter("ref"))
INDEX = Rule.of(Substitute("/index.html", "/", end=True))


def canonizer(*of_site):
    return Canonizer({SITE: of_site}, site_of)


def test_a_rule_is_evidence_where_the_pair_is_one_class_because_of_it():
    known = canonizer(SID, REF, INDEX)
    assert decisive_rules(known, SITE, "http://a.example/p?sid=1", "http://a.example/p?sid=2") == (SID,)
    assert decisive_rules(known, SITE, "http://a.example/p?sid=1&ref=x", "http://a.example/p?ref=x") == (SID,)
    both = decisive_rules(known, SITE, "http://a.example/p?sid=1&ref=x", "http://a.example/p")
    assert both == (REF, SID)


def test_the_keepers_rules_count_too():
    assert decisive_rules(canonizer(SID), SITE, "http://a.example/p", "http://a.example/p?sid=2") == (SID,)


def test_where_each_has_a_stand_in_all_are_meant():
    twice = Rule.of(Substitute("?sid=1", "", end=True))
    known = canonizer(SID, twice)
    pair = "http://a.example/p?sid=1", "http://a.example/p"
    assert decisive_rules(known, SITE, *pair) == rules_at_work(known, *pair) == (SID,)


def test_two_classes_are_nobodys_fault():
    assert decisive_rules(canonizer(SID), SITE, "http://a.example/p?sid=1", "http://a.example/q") == ()


@given(st.lists(rules(), max_size=4, unique=True), urls(), urls())
def test_some_rule_is_to_blame_for_each_two_urls_of_a_class_and_it_was_at_work(known, url, keeper):
    of = canonizer(*known)
    found = decisive_rules(of, SITE, url, keeper)
    assert set(found) <= set(rules_at_work(of, url, keeper))
    if url != keeper and of.canonize(url) == of.canonize(keeper):
        assert found


@given(st.lists(rules(), min_size=1, max_size=4, unique=True), urls())
def test_a_canonizer_that_dropped_a_rule_is_one_that_never_had_it(known, url):
    of = canonizer(*known)
    of.canonize(url)
    of.drop(SITE, known[0])
    assert of.canonize(url) == canonizer(*known[1:]).canonize(url)
