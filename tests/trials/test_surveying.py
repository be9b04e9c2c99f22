"""What a survey takes for the answer of a site that has nothing to show."""

from __future__ import annotations

from scrapy_dust.judge.answers import Fetched
from scrapy_dust.judge.judging import Judge
from scrapy_dust.trials.surveying import Kind, SiteSurvey, Wanted, survey
from tests.judge.test_judging import fetched, logged, prose

LIST = "http://a.example/list"
ORDERS = [f"{LIST}?order=name", f"{LIST}?order=date"]
ENTRIES = "".join(f"<li>{prose(name, 3)}</li>" for name in "abcdefgh")


def learned(shown: str) -> Judge:
    """A judge that knows what the site answers to two orders that cannot exist."""
    asked = [one for one in survey(ORDERS, {url: url for url in ORDERS}) if one.kind is Kind.VALUES]
    judge = Judge()
    surveyed = SiteSurvey(judge, asked)
    for number, wanted in enumerate(asked):
        surveyed.learn(wanted, listed(shown, wanted.url), logged(listed(f"order {number}", wanted.made_of)))
    return judge


def listed(order: str, url: str) -> Fetched:
    return fetched(order, url, more=f"<ul>{ENTRIES}</ul>")


def test_values_that_cannot_exist_are_made_for_pages_that_differ() -> None:
    made = [one for one in survey(ORDERS, {url: url for url in ORDERS}) if one.kind is Kind.VALUES]
    assert [one.made_of for one in made] == ORDERS
    assert all(isinstance(one, Wanted) and one.url not in ORDERS for one in made)


def test_a_page_that_shows_whatever_its_parameters_are_is_a_page() -> None:
    assert not learned("order 0").is_nothing(listed("order 0", LIST))


def test_what_is_shown_for_values_that_cannot_exist_and_is_no_page_of_the_log_is_nothing() -> None:
    judge = Judge()
    asked = [one for one in survey(ORDERS, {url: url for url in ORDERS}) if one.kind is Kind.VALUES]
    surveyed = SiteSurvey(judge, asked)
    for number, wanted in enumerate(asked):
        page = fetched(prose("there is no such order"), wanted.url)
        surveyed.learn(wanted, page, logged(listed(f"order {number}", wanted.made_of)))
    assert judge.is_nothing(fetched(prose("there is no such order"), LIST))
