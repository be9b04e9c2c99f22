"""A crawl that learns while it goes on saves what it can, and loses no page."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dust.online.learner import OnlineLearner
from scrapy_dust.online.replaying import Arrivals, OnlineCrawl, online, with_keys, with_knowledge
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.pages import Visit


def visit(url: str, content: object) -> Visit:
    sketch = tuple(hash((content, place)) for place in range(4))
    return Visit(url, status=200, text_digest=f"text of {content}", title=f"{content}", sketch=sketch)


def arrivals(pages: dict[str, object]) -> Arrivals:
    return Arrivals(
        "s.test", list(pages), {url: [visit(url, content)] for url, content in pages.items()}, pages
    )


def with_sessions(contents: int, each: int) -> dict[str, object]:
    """URLs of a site that puts a session id into each link, another one each time."""
    urls = [
        (number, f"http://s.test/p/{number}?sid={number * 31 + turn}x{turn}")
        for turn in range(each)
        for number in range(contents)
    ]
    return {url: number for number, url in urls}


def crawled(pages: dict[str, object]) -> OnlineCrawl:
    return online(arrivals(pages), DustSettings())


def test_session_ids_are_seen_through_in_the_first_crawl() -> None:
    crawl = crawled(with_sessions(60, 5))
    assert crawl.lost == 0
    assert crawl.avoided > 0.8 * crawl.redundant


def test_pages_of_a_list_are_all_fetched() -> None:
    pages: dict[str, object] = {f"http://s.test/list?page={n}": n for n in range(300)}
    assert crawled(pages).avoided == 0


def test_a_language_that_comes_late_and_was_translated_is_fetched() -> None:
    # Five languages show what English shows; the sixth does not.
    tongues = ["en", "da", "de", "es", "fr", "it"]
    pages: dict[str, object] = {f"http://s.test/m/{t}/p{n}.html": n for t in tongues for n in range(30)}
    pages |= {f"http://s.test/m/ko/p{n}.html": f"ko {n}" for n in range(30)}
    crawl = crawled(pages)
    assert crawl.lost == 0
    assert crawl.avoided > 0


def test_a_rule_of_one_part_of_a_site_loses_nothing_in_the_next_one() -> None:
    # What is true of all logs, which come first, is false of the graphs, too few for another look.
    pages: dict[str, object] = {
        f"http://s.test/repo/log/{n}x{n * 37 % 11}{rev}": f"log {n}"
        for n in range(60)
        for rev in ("", "?revcount=30")
    }
    pages |= {
        f"http://s.test/repo/graph/{n}x{n * 37 % 11}{rev}": f"graph {n} {rev}"
        for n in range(8)
        for rev in ("", "?revcount=30")
    }
    crawl = crawled(pages)
    assert crawl.lost == 0
    assert crawl.avoided > 0


def test_what_waits_is_fetched_in_the_end_if_nothing_decides_it() -> None:
    # Two contents under two URLs each suspect the parameter; then it tells pages apart.
    pages: dict[str, object] = {f"http://s.test/{n}": n for n in range(40)}
    pages |= {f"http://s.test/{n}?view=all": n if n < 2 else f"all of {n}" for n in range(40)}
    assert crawled(pages).lost == 0


@settings(deadline=None, max_examples=20)
@given(st.dictionaries(st.integers(0, 200), st.integers(0, 30), min_size=1, max_size=60))
def test_without_rules_every_url_is_fetched_once(numbers: dict[int, int]) -> None:
    of = arrivals({f"http://s.test/{n}": content for n, content in numbers.items()})
    crawl = with_keys(of, str)
    assert sorted(crawl.fetched) == sorted(of.urls)
    assert with_knowledge(of).lost == 0
    assert len(with_knowledge(of).fetched) == crawl.contents


def test_where_all_sites_are_too_much_the_one_seen_longest_ago_is_forgotten() -> None:
    learner = OnlineLearner(DustSettings(), most_bytes=60_000)
    for site in range(50):
        for page in range(10):
            learner.see(visit(f"http://s{site}.test/{page}", page))
    assert len(learner) <= 100
    assert learner.look("s0.test") is None
