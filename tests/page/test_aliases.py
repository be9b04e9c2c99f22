"""Which parts of URLs are known not to matter: by several contents, and by none that speaks against it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.page import aliases
from scrapy_dust.page.aliases import ENOUGH, Aliases

HOME = "http://a.test"


def learned(*shown):
    known = Aliases()
    for path, content in shown:
        known.see(path if "://" in path else HOME + path, None, content)
    return known


def are_aliases(known, path, other, canonical=None, content=99):
    return known.are_aliases(HOME + path, canonical, HOME + other, content)


def bearing_out(one, other, contents=ENOUGH):
    """Contents, each at two URLs."""
    return [(form.format(n), n) for n in range(contents) for form in (one, other)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/item/{}?sid=1", "/item/{}?sid=2"),
        ("/item/{}", "/item/{}?ref=mail"),
        ("/item/{}?ref=mail", "/item/{}"),
        ("/item/{}?id=7&sid=1", "/item/{}?id=7&sid=2"),
        ("/item/{}", "/print/{}"),
        ("/{}", "/print/{}"),
        ("/en/item/{}", "/item/{}"),
        ("/a/{}/b?c=1", "/a/{}/x/b?c=1"),
        ("/item/{}/", "/item/{}/index.html"),
        ("/item/{}", "/item/{}/"),
        ("http://a.test/{}", "https://a.test/{}"),
        ("http://a.test/{}", "http://www.a.test/{}"),
    ],
)
def test_a_part_that_several_contents_bear_out_does_not_matter(one, other):
    urls = [form.format(77) for form in (one, other)]
    absolute = [url if "://" in url else HOME + url for url in urls]
    assert learned(*bearing_out(one, other)).are_aliases(*absolute[1:], None, absolute[0], 99)
    assert not learned(*bearing_out(one, other, ENOUGH - 1)).are_aliases(*absolute[1:], None, absolute[0], 99)


def test_one_content_bears_out_nothing_at_however_many_urls():
    wall = [(f"/item/{n}?sid={n % 3}", 5) for n in range(60)]
    known = learned(*wall)
    assert not are_aliases(known, "/item/1?sid=1", "/item/2?sid=1")
    assert not are_aliases(known, "/item/1?sid=1", "/item/1?sid=2")


def test_two_contents_that_differ_in_a_part_speak_against_it_for_good():
    spoken = [("/item/7?sid=1", 7), ("/item/7?sid=2", 8)]
    pairs = bearing_out("/item/{}", "/item/{}?sid=3")
    for shown in ([*spoken, *pairs], [*pairs, *spoken]):
        known = learned(*shown)
        assert not are_aliases(known, "/item/9?sid=1", "/item/9?sid=2")
        # Of these two values nothing spoke against.
        assert are_aliases(known, "/item/9", "/item/9?sid=3")


def test_all_parts_that_differ_must_not_matter():
    known = learned(
        *bearing_out("/item/{}?sid=1", "/item/{}?sid=2"), *bearing_out("/item/{}", "/item/{}?ref=1")
    )
    assert are_aliases(known, "/item/9?ref=1&sid=1", "/item/9?sid=2")
    assert not are_aliases(known, "/item/9?ref=1&id=1", "/item/9?id=2")
    assert not are_aliases(known, "/item/9?ref=1", "/item/8")
    assert not are_aliases(known, "/x/item/9?ref=1", "/item/9")
    assert not are_aliases(known, "/a/item/9?ref=1", "/b/item/8")


def test_a_canonical_counts_where_several_contents_bear_it_out():
    known = Aliases()
    for n in range(ENOUGH):
        for url in (f"{HOME}/{n}", f"{HOME}/x{n}y"):
            known.see(url, f"{HOME}/{n}", n)
    known.see(f"{HOME}/9", f"{HOME}/9", 9)
    assert are_aliases(known, "/other", "/9", f"{HOME}/9", 9)
    assert not are_aliases(known, "/other", "/9", f"{HOME}/9", 8)
    assert not are_aliases(known, "/other", "/9", None, 9)
    known.see(f"{HOME}/page2", f"{HOME}/9", 10)
    assert not are_aliases(known, "/other", "/9", f"{HOME}/9", 9)


def test_a_canonical_that_all_pages_name_bears_out_nothing():
    known = Aliases()
    for n in range(60):
        known.see(f"{HOME}/{n}", f"{HOME}/", 5)
    assert not are_aliases(known, "/61", "/1", f"{HOME}/", 5)


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(aliases, "_KNOWN", 50)
    known = learned(*((f"/{n}/{n % 7}?a={n}&b={n % 5}", n) for n in range(500)))
    assert len(known._known) <= 50
    assert all(len(row) == aliases._SEEN for row in known._seen)


@given(st.text(max_size=60), st.text(max_size=60), st.none() | st.text(max_size=20))
def test_any_urls_can_be_asked_about(url, other, canonical):
    known = Aliases()
    known.see(url, canonical, 1)
    known.see(other, canonical, 1)
    assert not known.are_aliases(url, canonical, other, 1)


def test_long_urls_cost_little_and_are_nobodys_aliases():
    long = f"/{'a/' * 100_000}?" + "b=1&" * 100_000
    known = learned((long, 1), (long + "c", 1))
    assert not are_aliases(known, long, long + "c")
