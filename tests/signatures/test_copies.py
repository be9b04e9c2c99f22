"""What makes a page a copy, a page of its own, or nothing to go by."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.page.minhash import minhash_of
from scrapy_dust.signatures.copies import Boilerplate, Errors, Face, bands_of, is_little, resemblance

SETS = st.sets(st.integers(0, 200), min_size=1, max_size=80)


def array(numbers):
    return np.array(sorted(numbers), np.uint64)


@given(SETS, SETS)
def test_resemblance_is_jaccards(a, b):
    expected = len(a & b) / len(a | b) if min(len(a), len(b)) >= 20 else 0.0
    assert resemblance(array(a), array(b)) == pytest.approx(expected)


@given(st.lists(st.sets(st.integers(0, 2**64 - 1), min_size=1, max_size=30), min_size=1, max_size=20))
def test_boilerplate_is_what_a_fifth_of_the_texts_and_three_of_them_have(texts):
    known = Boilerplate()
    for text in texts:
        known.learn(5, array(text))
    for text in texts:
        counts = {shingle: sum(shingle in other for other in texts) for shingle in text}
        least = max(3, 0.2 * len(texts))
        expected = [one for one in sorted(text) if len(texts) < 8 or counts[one] < least]
        assert known.without_boilerplate(5, array(text)).tolist() == expected
    assert known.without_boilerplate(6, array(texts[0])).tolist() == sorted(texts[0])


def test_counts_do_not_overflow():
    known, shingles = Boilerplate(), array(range(5))
    known._counts[:] = np.iinfo(np.uint16).max - 1
    for _ in range(9):
        known.learn(1, shingles)
    known._texts[1] = 10**6
    assert len(known.without_boilerplate(1, shingles)) == 0


@pytest.mark.parametrize(
    ("heading", "beginning", "words", "own", "is_error"),
    [
        ("404 Not Found", "", 300, 15, True),
        ("Page Not Found - Shop", "", 100, 2, True),
        ("Just a moment...", "", 30, 3, True),
        ("How errors are reported", "about an error", 900, 80, False),
        ("A long page about the error 404", "", 900, 80, False),
        ("Shop", "sorry we could not find it page not found", 12, 12, True),
        ("Shop", "page not found is one of the words here", 100, 100, False),
        ("Terror in the logins", "", 100, 100, False),
        ("ページが見つかりません", "", 100, 10, True),
        ("Страница не найдена", "", 100, 10, True),
        ("The moon", "it is far", 100, 100, False),
    ],
)
def test_errors_are_short_and_say_so(heading, beginning, words, own, is_error):
    phrases = ["404", "not found", "error", "login", "just a moment", "見つかりません", "не найдена"]
    assert Errors(phrases).match(heading, beginning, words, own) is is_error
    assert not Errors(()).match(heading, beginning, words, own)


def test_little_is_told_by_units_and_of_html_by_words():
    assert is_little(2, 1000, is_markup=True)
    assert is_little(3, 9, is_markup=True)
    assert not is_little(3, 10, is_markup=True)
    assert not is_little(3, 0, is_markup=False)


def test_other_titles_or_other_canonicals_make_other_pages():
    assert Face(1, None).may_be(Face(1, "c"))
    assert Face(1, "c").may_be(Face(1, "c"))
    assert not Face(1, "c").may_be(Face(1, "d"))
    assert not Face(1, None).may_be(Face(2, None))


def test_more_than_a_few_changes_make_another_page_however_long_it_is():
    page = array(range(10_000))
    assert resemblance(page, array(range(24, 10_024)), 24) > 0.99
    assert resemblance(page, array(range(25, 10_025)), 24) == 0.0


def test_a_heading_that_different_pages_have_says_nothing():
    known = Boilerplate()
    for pages, general in ((1, False), (2, True), (3, True)):
        known.learn_heading(5, 77)
        assert known.is_general(5, 77) is general, pages
    assert not known.is_general(6, 77)
    assert not known.is_general(5, 78)


def test_near_pages_share_a_band_and_others_hardly_ever():
    chance = np.random.default_rng(1)
    near = far = 0
    for _ in range(200):
        page = np.unique(chance.integers(0, 2**63, 300, dtype=np.uint64))
        like, other = page[15:], np.unique(chance.integers(0, 2**63, 300, dtype=np.uint64))
        bands = set(bands_of(1, minhash_of(page)))
        assert len(bands) == 16
        assert all(0 <= band < 2**63 for band in bands)
        near += bool(bands & set(bands_of(1, minhash_of(like))))
        far += bool(bands & set(bands_of(1, minhash_of(other))))
        assert not bands & set(bands_of(2, minhash_of(page)))
    assert (near, far) == (200, 0)
