from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.rules.grouping import Kind, grouped_rules, name_of, phrases_of
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.parameters import AnyValue, DropParameter
from scrapy_dust.rules.paths import DropSlash
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.spellings import DropWww
from tests.rules.strategies import rules as any_rules

SID, UTM = Rule.of(DropParameter("sid")), Rule.of(DropParameter("utm_source"))


def test_parameters_are_named_in_one_phrase_and_other_rules_as_they_are_written():
    rules = [Rule.of(DropWww()), SID, Rule.of(AnyValue("q")), UTM, Rule.of(DropSlash())]
    assert phrases_of(rules, most=5) == [
        "the parameters sid, utm_source",
        "the values of q",
        "last slash → (left out)",
        "//www. → //",
    ]
    assert phrases_of([SID, UTM], most=1) == ["the parameters sid and 1 more"]


def test_the_names_of_parameters_never_run_into_the_words_of_a_guard():
    in_shops = UTM.under_guard((Condition("/1", "shop"),))
    assert phrases_of([SID, in_shops], most=5) == ["the parameter sid", str(in_shops)]
    assert phrases_of([in_shops], most=5) == [str(in_shops)]


def test_a_rule_that_holds_in_one_part_of_a_site_says_so():
    assert name_of(SID.under_guard((Condition("/1", "shop"),))).startswith("sid, where ")


@given(st.lists(any_rules, unique=True))
def test_every_rule_stands_under_one_heading(rules):
    found = grouped_rules(rules)
    assert sorted(map(str, rules)) == sorted(str(rule) for of_kind in found.values() for rule in of_kind)
    assert list(found) == [kind for kind in Kind if kind in found]
