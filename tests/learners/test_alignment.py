"""Aligned URLs: what is the same in all, what varies, what some lack."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.learners.alignment import TOKEN, as_columns, best_alignment, consensus_of


def shown(*urls):
    return [("|".join(sorted(column.tokens)) + "?" * column.gap) for column in consensus_of(urls)]


def test_what_some_lack_is_a_gap_and_what_differs_in_place_is_a_variant():
    assert shown("/a/12", "/b/12?x", "/a/12") == ["/", "a|b", "/", "12", "??", "x?"]


def test_letters_and_digits_are_not_variants_of_one_another():
    assert shown("/a", "/1") == ["/", "a?", "1?"]


URLS = st.lists(st.text(alphabet="ab1/?", max_size=8), min_size=1, max_size=5)


@given(urls=URLS)
def test_each_url_can_be_read_off_the_consensus(urls):
    consensus = consensus_of(urls)
    for url in urls:
        places = {0}
        tokens = TOKEN.findall(url)
        for column in consensus:
            here = {at + 1 for at in places if at < len(tokens) and tokens[at] in column.tokens}
            places = here | (places if column.gap else set())
        assert len(tokens) in places


@given(a=st.text(alphabet="ab1/", max_size=8), b=st.text(alphabet="ab1/", max_size=8))
def test_single_urls_score_their_longest_common_subsequence(a, b):
    x, y = TOKEN.findall(a), TOKEN.findall(b)
    best = [[0] * (len(y) + 1) for _ in range(len(x) + 1)]
    for i, left in enumerate(x):
        for j, right in enumerate(y):
            best[i + 1][j + 1] = max(best[i][j + 1], best[i + 1][j], best[i][j] + (left == right))
    assert best_alignment(as_columns(a), as_columns(b))[0] == best[-1][-1]
