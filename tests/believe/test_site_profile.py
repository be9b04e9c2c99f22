from __future__ import annotations

import pytest

from scrapy_dust.believe.site_profile import (
    MOST_NAMES,
    Encounter,
    names_in,
    profile_of,
    sentence_on_untestable,
)
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of

SITE = "a.example"
SID, REF = Rule.of(DropParameter("sid")), Rule.of(DropParameter("ref"))
CANONIZER = Canonizer({SITE: [SID, REF]}, site_of)


def urls(count, query):
    return [f"http://a.example/{n}?{query}" for n in range(count)]


LOG = [*urls(300, "sid=1"), *urls(100, "ref=2&id=3"), *urls(600, "id=4")]


def profile(of=LOG):
    return profile_of(of, CANONIZER, str)


def signs(met, *, forbidden=()):
    encounter = Encounter(profile())
    for url in met:
        encounter.count_url(url, {str(step.rule) for step in CANONIZER.explain(url)})
        if url not in forbidden:
            encounter.count_answer(url)
    return encounter.signs([str(SID), str(REF)])


def test_a_profile_counts_what_a_log_shows():
    found = profile()
    assert (found.urls, found.names, found.uses) == (
        1000,
        {"sid", "ref", "id"},
        {str(SID): 300, str(REF): 100},
    )


def test_a_site_like_the_one_of_the_log_has_no_signs():
    assert signs(LOG) == []
    assert signs(LOG[::2]) == []


def test_rules_that_should_have_changed_many_urls_and_changed_none():
    assert signs(urls(500, "id=4")) == [
        f"2 of 2 rules that should have changed 20 URLs or more changed none ({SID}, {REF})"
    ]
    # One that is used speaks for the site; of two, one is half.
    assert signs([*urls(400, "id=4"), *urls(100, "sid=1")]) == [
        f"1 of 2 rules that should have changed 20 URLs or more changed none ({REF})"
    ]


def test_parameters_that_no_log_had():
    assert signs([*LOG, *urls(300, "src=mail&sid=1")]) == [
        "23% of its URLs have parameters that no log has shown (src)"
    ]
    assert signs([*LOG, *urls(200, "src=mail&sid=1")]) == []


def test_urls_that_are_never_fetched_come_into_no_log_and_say_nothing_of_parameters():
    forbidden = urls(300, "src=mail&sid=1")
    assert signs([*LOG, *forbidden], forbidden=set(forbidden)) == []


@pytest.mark.parametrize("count", [10, 199])
def test_few_urls_are_no_sign(count):
    assert signs(urls(count, "src=1")) == []


def test_a_site_that_makes_names_up_says_nothing_by_them():
    found = profile([f"http://a.example/?p{n}=1" for n in range(MOST_NAMES + 100)])
    assert (found.has_names, found.names) == (False, frozenset())
    met = Encounter(found)
    for url in urls(300, "src=1"):
        met.count_url(url, ())
        met.count_answer(url)
    assert met.signs([]) == []


def test_names_of_parameters_are_those_of_rules():
    assert names_in("http://a.example/;v=1?a=1&b=2;c=3#d=4") >= {"a", "b"}


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ({"same": 15, "unknown": 15}, None),
        ({"same": 5, "different": 4, "unknown": 8, "unfetchable": 3}, "11 of 20 URLs fetched to test rules could not be compared"),
        ({"unknown": 19}, None),
    ],
)  # fmt: skip
def test_canaries_that_say_nothing(outcomes, said):
    assert sentence_on_untestable(outcomes) == said
