"""A link with a token of its own may expire, and is not put last; session ids and ids of pages are no tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.traps.tokens import Tokens

HOST = "http://shop.example"
TOKENS = st.integers(0, 2**60).map(lambda number: f"a{number:015x}7")


def said_of(*urls: str) -> list[bool]:
    tokens = Tokens()
    return [tokens.may_be_in("shop.example", url) for url in urls]


@given(st.lists(TOKENS, min_size=1, max_size=30, unique=True))
def test_a_random_value_that_each_link_has_for_itself_may_be_a_token(values):
    assert all(said_of(*(f"{HOST}/reviews/{n}?t={value}" for n, value in enumerate(values))))


@given(st.lists(TOKENS, min_size=1, max_size=5, unique=True))
def test_a_value_in_several_links_is_a_session_id(values):
    links = [f"{HOST}/p/{n}?sid={value}" for value in values for n in range(4)]
    assert not any(said_of(*links)[1:])


def test_a_value_that_tells_many_pages_apart_is_their_id():
    links = [f"{HOST}/item?id=5f{n:04x}c3b7a9" for n in range(40)]
    assert not any(said_of(*links)[10:])


def test_a_link_that_is_seen_several_times_keeps_its_token():
    links = [f"{HOST}/reviews/{n}?t=a{again}{n:04x}c3b7e9" for n in range(20) for again in range(3)]
    assert all(said_of(*links))
    assert all(said_of(*(link for link in links for _ in range(2))))


def test_plain_values_are_no_tokens():
    assert not any(said_of(*(f"{HOST}/list?page={n}&sort=price&day=2026-11-{n}" for n in range(28))))
    assert not any(said_of(f"{HOST}/a", f"{HOST}/b?c", f"{HOST}/b?c=&d=long-name-of-a-thing"))
