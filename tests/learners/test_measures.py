from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.learners.measures import precision_at, replay

# URL → what it shows, and URL → key, over so few of each that they meet.
crawls = st.lists(st.sampled_from("abcdefgh"), max_size=12).flatmap(
    lambda urls: st.tuples(
        st.just(urls),
        st.fixed_dictionaries({url: st.integers(0, 3) for url in "abcdefgh"}),
        st.fixed_dictionaries({url: st.sampled_from("ABCD") for url in "abcdefgh"}),
    )
)


@given(crawls)
def test_a_replay_counts_what_a_crawl_by_keys_fetches(crawl):
    urls, clusters, keys = crawl
    fetched, seen = [], set()
    for url in urls:
        if keys[url] not in seen:
            seen.add(keys[url])
            fetched.append(url)
    found = replay(urls, clusters, keys.__getitem__)
    assert found.urls == len(set(urls))
    assert found.crawled == len(fetched)
    assert found.covered == len({clusters[url] for url in fetched})
    assert found.lost == len({clusters[url] for url in urls} - {clusters[url] for url in fetched})


@given(crawls)
def test_fetching_everything_loses_nothing_and_saves_nothing(crawl):
    urls, clusters, _ = crawl
    found = replay(urls, clusters, lambda url: url)
    assert found.lost == 0
    assert found.redundancy == found.coverage == 0
    assert found.recall == 1
    assert found.precision == (found.clusters / found.urls if urls else 1)


@given(crawls)
def test_fetching_each_content_once_is_perfect(crawl):
    urls, clusters, _ = crawl
    found = replay(urls, clusters, lambda url: str(clusters[url]))
    assert (found.precision, found.recall, found.f1, found.lost) == (1, 1, 1, 0)
    assert found.coverage == (1 if found.urls > found.clusters else 0)


@given(crawls)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(crawl):
    urls, clusters, keys = crawl
    found = replay(urls, clusters, keys.__getitem__)
    assert 0 <= found.precision <= 1
    assert 0 <= found.recall <= 1
    assert found.f1 == pytest.approx(2 * found.precision * found.recall / (found.precision + found.recall))
    assert found.lost == found.clusters - found.covered >= 0


def test_discovered_redundancy_is_the_share_of_unique_urls_that_go():
    """WWW'07 section 6: (Ub - Ua) / Ub."""
    found = replay(
        ["a/", "a", "b", "b", "c/"], dict.fromkeys(("a/", "a", "b", "c/"), 0), lambda u: u.rstrip("/")
    )
    assert (found.urls, found.crawled) == (4, 3)
    assert found.redundancy == 0.25


def test_coverage_is_the_share_of_duplicates_that_go():
    """WWW'07 section 3: 2 of 3 duplicate URLs are not there any more after canonization."""
    clusters = {"a": 1, "a/": 1, "b": 2, "b/": 2, "c": 3, "x": 3}
    assert replay(clusters, clusters, lambda url: url.rstrip("/")).coverage == pytest.approx(2 / 3)


def test_precision_at_k_is_the_share_of_valid_rules_among_the_first_k():
    valid = [True, True, False, True]
    assert [precision_at(valid, k) for k in (1, 2, 3, 4)] == [1, 1, 2 / 3, 3 / 4]
    assert precision_at(valid, 9) == 3 / 4
    assert precision_at([], 5) is None
