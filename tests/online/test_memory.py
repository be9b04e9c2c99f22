"""What is remembered of pages is what the learner needs of them."""

from __future__ import annotations

import pytest

from scrapy_dust.online.memory import SiteMemory
from scrapy_dust.page.site_log import comparison_of
from scrapy_dust.page.units import MAX_LOGGED
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Visit
from tests.page.sites import HOST, product, visit


def test_a_page_comes_back_as_it_was() -> None:
    memory = SiteMemory()
    page = Visit(
        "http://s.test/",
        status=200,
        sketch=(1, 2**60),
        text_digest="x",
        title="é",
        canonical="http://s.test/a",
    )
    assert memory.add(page)
    assert list(memory) == [page]


def test_a_page_that_shows_something_else_the_second_time_is_known_to_change() -> None:
    memory = SiteMemory()
    memory.add(Visit("http://s.test/", status=200, text_digest="x"))
    assert not memory.add(Visit("http://s.test/", status=200, text_digest="y"))
    assert [page.volatile for page in memory.log().pages] == [True]


def test_a_page_in_units_that_changes_is_known_to_change_and_by_its_first_answer() -> None:
    memory = SiteMemory()
    for count in range(2):
        for number in range(6):
            memory.add(visit(f"/products/{number}", *product(number, f"text .seen: {count * 9 + number}")))
    log = memory.log()
    assert len(memory) == len(log.pages) == 6
    assert all(page.volatile for page in log.pages)
    page = memory.page(f"{HOST}/products/1")
    assert page is not None
    assert page.units == visit("/products/1", *product(1, "text .seen: 1")).units


def test_failures_are_not_remembered() -> None:
    memory = SiteMemory()
    assert not memory.add(Visit("http://s.test/", status=500))
    assert len(memory) == 0


def test_a_large_site_keeps_what_suggests_rules() -> None:
    memory = SiteMemory(most=100)
    for number in range(1000):
        memory.add(Visit(f"http://s.test/{number}", status=200, text_digest=str(number)))
        if number < 30:
            memory.add(Visit(f"http://s.test/{number}?sid=1", status=200, text_digest=str(number)))
    assert len(memory) <= 125
    assert sum("sid" in url for url in memory.urls) > 20
    assert memory.seen == 1030


@pytest.mark.once
def test_what_a_page_takes_is_known_and_bounded() -> None:
    memory = SiteMemory(most=100)
    texts = [f"text .{n}: {n}" for n in range(3 * MAX_LOGGED)]
    for number in range(300):
        memory.add(visit(f"/products/{number}", *product(number, *texts)))
    assert len(memory) <= 125
    assert memory.size <= 4300 * len(memory)


def test_pages_that_differ_where_earlier_crawls_saw_others_change_may_be_one_or_not() -> None:
    before = SiteMemory()
    for count in range(4):
        for number in range(6):
            url = f"/products/{number}" + "?sid=1" * (count % 2)
            before.add(visit(url, *product(number, f"text .seen: {count * 9 + number}")))
    comparison = comparison_of(before.log())
    assert comparison is not None
    memory = SiteMemory(volatile=comparison.knowledge.volatile)
    for count in range(2):
        for number in range(6):
            url = f"/products/{number}" + "?sid=1" * count
            memory.add(visit(url, *product(number, f"text .seen: {count * 9 + number}")))
    log = memory.log()
    assert all(page.volatile for page in log.pages)
    assert log.comparing is not None
    for number in range(6):
        url = f"{HOST}/products/{number}"
        assert log.comparing.compare(url, f"{url}?sid=1")[0] is Outcome.UNKNOWN
