from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Page, Visit, merge_visits, without_repeats
from tests import oracle
from tests.strategies import logs, pages_of, visit_of, visits


@given(logs())
def test_pages_are_the_papers_url_list(log):
    expected = oracle.unique_records(log)
    assert [oracle.Record(page.url, page.size, page.sketch) for page in pages_of(log)] == expected


@pytest.mark.parametrize("status", [None, 100, 200, 204, 206, 226, 299])
def test_an_answer_that_is_no_redirect_and_no_error_is_a_page(status):
    assert Visit("http://a.example/", status).is_page


@pytest.mark.parametrize("status", [300, 301, 302, 304, 308, 400, 404, 410, 451, 500, 503, 599])
def test_a_redirect_or_an_error_is_no_page(status):
    assert not Visit("http://a.example/", status).is_page


def test_a_url_that_did_not_answer_at_all_is_no_page_even_without_a_status():
    visit = Visit("http://a.example/", failed=True)
    assert not visit.is_page
    assert merge_visits([visit]).failures == {"http://a.example/"}


def test_sizes_span_all_visits_and_the_first_sketch_stays():
    site = merge_visits(
        [
            Visit("u", 200, (30, 30)),
            Visit("u", 404, (1, 1), (9, 9, 9, 9)),
            Visit("u", 200, (10, 20), (1, 2, 3, 4)),
            Visit("u", None, (40, 40), (5, 6, 7, 8)),
        ]
    )
    assert site.pages == (Page("u", size=(10, 40), sketch=(1, 2, 3, 4), again=True),)
    assert not site.failures


def test_a_page_is_volatile_when_its_visits_disagree_on_the_text():
    def volatile(*digests: str | None) -> bool:
        return merge_visits(Visit("u", 200, text_digest=digest) for digest in digests).pages[0].volatile

    assert volatile("x", "y")
    assert volatile("x", None, "y", "x")
    assert not volatile("x", "x")
    assert not volatile("x", None)


def test_redirects_and_failures_are_only_what_never_answered_better():
    site = merge_visits(
        [
            Visit("moved", 301, redirect_to="page"),
            Visit("moved", 404),
            Visit("page", 500),
            Visit("page", 200),
            Visit("page", 302, redirect_to="elsewhere"),
            Visit("gone", 404),
        ]
    )
    assert [page.url for page in site.pages] == ["page"]
    assert site.redirects == {"moved": "page"}
    assert site.failures == {"gone"}


@given(visits())
def test_a_url_is_a_page_a_redirect_or_a_failure_never_two_of_them(log):
    site = merge_visits(log)
    kinds = [*(page.url for page in site.pages), *site.redirects, *site.failures]
    assert len(kinds) == len(set(kinds))
    assert set(kinds) <= {visit.url for visit in log}


@given(logs(), st.randoms())
def test_the_order_of_lines_changes_only_the_order_of_pages(log, random):
    shuffled = random.sample(log, len(log))
    once = {page.url: page.size for page in pages_of(log)}
    assert {page.url: page.size for page in pages_of(shuffled)} == once
    assert merge_visits(map(visit_of, log)).failures == merge_visits(map(visit_of, shuffled)).failures


few_visits = st.lists(
    st.builds(
        Visit,
        url=st.sampled_from(["u", "v"]),
        status=st.sampled_from([200, None, 301, 404]),
        size=st.sampled_from([None, (3, 3), (5, 5), (4, 6)]),
        sketch=st.sampled_from([None, (), (1, 2)]),
        digest=st.sampled_from([None, "d"]),
        text_digest=st.sampled_from([None, "t", "d"]),
        title=st.sampled_from([None, "T", ""]),
        canonical=st.sampled_from([None, "v"]),
        redirect_to=st.sampled_from([None, "u", "v"]),
        duplicate_of=st.sampled_from([None, None, "u", "v"]),
        failed=st.booleans(),
    ),
    max_size=12,
)


@given(few_visits)
def test_repeats_tell_nothing(log):
    assert merge_visits(without_repeats(log)) == merge_visits(log)


def test_a_log_of_many_requests_takes_the_room_of_its_urls():
    requests = [Visit(f"u{n % 3}", 404 if n % 3 == 2 else 200, (n % 7, n % 7)) for n in range(10_000)]
    assert len(list(without_repeats(requests))) < 20


def near_copy(**more):
    """A page, and what the crawl found to be nearly equal to it: of another digest and sketch."""
    return [
        Visit("http://a.example/x", 200, (30, 30), (1, 2, 3, 4), text_digest="x", title="t"),
        Visit("http://a.example/x?s=1", 200, (31, 31), (1, 2, 3, 5), text_digest="y", title="t"),
        Visit("http://a.example/x?s=1", 200, duplicate_of="http://a.example/x", **more),
    ]


def test_what_the_crawl_found_to_be_a_copy_is_evidence_as_an_equal_digest_is():
    log = merge_visits(near_copy())
    original, copy = log.pages
    assert (copy.text_digest, copy.sketch, copy.size) == (original.text_digest, original.sketch, (31, 31))
    known = LogEvidence(log, [page.url for page in log.pages]).pair(copy.url, original.url)
    assert known.known is Outcome.SAME
    without = merge_visits(near_copy()[:2])
    assert LogEvidence(without, []).pair(copy.url, original.url).known is not Outcome.SAME


def test_a_finding_of_another_moment_proves_nothing():
    changed = Visit("http://a.example/x?s=1", 200, text_digest="z")
    _, copy = merge_visits([*near_copy(), changed]).pages
    assert copy.volatile
    assert copy.text_digest == "y"
