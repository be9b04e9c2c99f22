"""A URL taken apart, and put together again."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dust.propose.dustbuster.likely_parameters import parameters
from scrapy_dust.url.parts import parts_of
from tests.rules.strategies import any_text, urls
from tests.strategies import any_urls


@given(url=urls | any_text | any_urls() | st.text("a=&;?#/:", max_size=20))
def test_taking_a_string_apart_loses_nothing(url):
    assert parts_of(url).url == url


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("/p?a&b=2", [("a", None), ("b", "2")]),
        ("/p;a=1", [("a", "1")]),
        ("/p;a=1/q;b=2;c?d=4", [("a", "1"), ("b", "2"), ("d", "4")]),
        ("/?a=1;b=2", [("a", "1"), ("b", "2")]),
        ("/?a=1;b", [("a", "1;b")]),
        ("/?a;b=1&c=2", [("a", None), ("b", "1"), ("c", "2")]),
        ("/?C=N;O=D#;x=1", [("C", "N"), ("O", "D")]),
    ],
)
def test_parameters_are_separated_as_people_mean_them(url, found):
    assert list(parts_of(url).parameters) == found


@given(url=urls | any_urls())
@example("http://a.example/p;?b=1")
def test_what_phase_3_finds_in_a_url_are_its_parameters(url):
    here = [(one.name, url[one.value_begin : one.end]) for one in parameters(url)]
    assert here == [(name, value) for name, value in parts_of(url).parameters if name and value is not None]


@given(url=urls | st.text("a=&;?#/:", max_size=20))
@example("http://a.example?a;=;a=")
def test_a_query_put_together_anew_is_read_as_it_was(url):
    parts = parts_of(url)
    for order in (parts.query or (), (parts.query or ())[::-1]):
        again = parts.with_query(order)
        assert parts_of(again.url).query == again.query
