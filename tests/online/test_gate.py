"""What is done with each new URL while its site is being learned."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.online.gate import EARLY, Gate, Step
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of

SESSION = Rule.of(DropParameter("sid"))
URLS = [f"http://s.test/p?sid={number}" for number in range(30)]


def gate_with(*likely: Rule, led: tuple[Rule, ...] = ()) -> Gate:
    gate = Gate("s.test", site_of)
    gate.change((), likely, ["http://s.test/p"], led)
    return gate


def test_a_few_of_the_urls_of_a_likely_rule_are_fetched_early_and_the_others_wait_for_the_next_look() -> None:
    gate = gate_with(SESSION)
    for _ in range(3):
        assert [gate.step(url) for url in URLS] == [Step.EARLY] * EARLY + [Step.WAIT] * (len(URLS) - EARLY)
        gate.allow_more_early()


@given(st.sampled_from(URLS))
def test_none_is_fetched_early_where_a_redirect_declares_the_rule(url):
    assert gate_with(SESSION, led=(SESSION,)).step(url) is Step.WAIT


@given(st.integers(0, 99))
def test_what_no_likely_rule_speaks_of_is_fetched(number):
    assert gate_with(SESSION).step(f"http://s.test/q{number}") is Step.FETCH
