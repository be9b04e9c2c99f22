"""The measures of URL normalization, against their definitions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.learners.normalization import NOTHING, consistency_of, normalization_of
from scrapy_dust.visits.pages import Visit

URLS = [f"u{n}" for n in range(6)]


@given(st.dictionaries(st.sampled_from(URLS), st.sampled_from(URLS), min_size=1))
def test_rates_are_those_of_the_definitions(forms):
    found = normalization_of(forms, {})
    assert found.applying_rate == pytest.approx(sum(forms[url] != url for url in forms) / len(forms))
    assert found.reduction_rate == pytest.approx((len(forms) - len(set(forms.values()))) / len(forms))
    assert found.true_positive_rate is None
    assert found + NOTHING == found


def test_a_true_positive_shows_the_page_of_its_form():
    pages = {"a": 1, "b": 1, "c": 2, "d": 3, "e": 1}
    forms = {"a": "a", "b": "a", "c": "a", "d": "d", "e": "a", "f": "a"}
    found = normalization_of(forms, pages)
    assert (found.judged, found.same) == (3, 2)
    assert normalization_of(forms, pages, {"c"}).true_positive_rate == 1.0


def test_a_form_that_was_never_fetched_shows_what_its_first_url_shows():
    found = normalization_of({"x": "k", "y": "k", "z": "k"}, {"x": 1, "y": 1, "z": 2})
    assert (found.changed, found.judged, found.same) == (3, 2, 1)


def test_a_url_is_consistent_that_shows_the_same_page_again():
    visits = [
        Visit("a", 200, text_digest="1"),
        Visit("a", 200, text_digest="1"),
        Visit("b", 200, text_digest="1"),
        Visit("b", 200, text_digest="2"),
        Visit("c", 200, text_digest="1"),
        Visit("c", 500, text_digest="2"),
        Visit("d", 200),
    ]
    found = consistency_of(visits)
    assert (found.repeated, found.rate, found.inconsistent) == (2, 0.5, {"b"})
    assert consistency_of(visits[:1]).rate is None
