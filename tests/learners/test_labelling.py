"""One clustering for all methods: whoever reads the pages, and however, finds the same ones."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.learners import clusters
from scrapy_dust.learners.labelling import labelled, labels_by_simhash
from scrapy_dust.learners.measures import Replay
from scrapy_dust.neural import training_pairs
from scrapy_dust.visits.pages import Page, SiteLog, Visit

labels = st.dictionaries(
    st.sampled_from([f"http://a.example/{n}" for n in range(9)]), st.integers(0, 3), min_size=1
)


def grouped(by_url):
    groups = {}
    for url, label in by_url.items():
        groups.setdefault(label, set()).add(url)
    return sorted(map(sorted, groups.values()))


@given(labels)
def test_whoever_reads_a_labelled_log_finds_its_labels(by_url):
    # What the pages say themselves is something else.
    pages = [
        Page(url, sketch=(1, 2, 3, n % 2), text_digest=str(n % 5), title=str(n % 2), simhash=f"{n % 3:016x}")
        for n, url in enumerate(by_url)
    ]
    log = labelled(SiteLog([*pages, Page("http://a.example/none", text_digest="0")]), by_url)
    wanted = grouped(by_url | {"http://a.example/none": None})
    assert grouped(clusters.clusters_of(log)) == wanted
    assert sorted(map(sorted, training_pairs.clusters_of(log))) == wanted
    assert grouped({page.url: page.exact for page in log.pages}) == wanted


def test_the_papers_clusters_have_equal_titles_and_simhashes_within_three_bits():
    def visit(name, simhash, title):
        return Visit(
            f"http://a.example/{name}", 200, simhash=f"{simhash:016x}", title=title, text_digest=name
        )

    visits = [visit("a", 0, "t"), visit("b", 7, "t"), visit("c", 15, "t"), visit("d", 0, "other")]
    assert grouped(labels_by_simhash({"a.example": visits})) == [
        ["http://a.example/a", "http://a.example/b"],
        ["http://a.example/c"],
        ["http://a.example/d"],
    ]


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 50), st.sampled_from((0.5, 1.0, 2.0)))
def test_the_weighted_f1_is_the_weighted_harmonic_mean(covered, in_vain, lost, beta):
    crawl = Replay(urls=500, clusters=covered + lost, crawled=covered + in_vain, covered=covered)
    weight = beta**2
    mean = (1 + weight) / (1 / crawl.precision + weight / crawl.recall)
    assert math.isclose(crawl.f(beta), mean)
    assert crawl.f1 == crawl.f(1.0)
