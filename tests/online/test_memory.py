"""What is remembered of pages is what the learner needs of them."""

from __future__ import annotations

from scrapy_dust.dust.pages import Visit
from scrapy_dust.online.memory import SiteMemory


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
