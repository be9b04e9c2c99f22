"""The comparison of the live benchmark: what a URL shows beside the one that stood for it."""

from __future__ import annotations

import pytest

from benchmarks.live.comparing import Client, Got, Level, Looks, beside, differ
from benchmarks.live.holdings import units_of
from benchmarks.live.spider import hashed

HOST = "http://a.example"


def looks(path: str, *bodies: str) -> Looks:
    url = HOST + path
    answers = bodies if len(bodies) > 1 else bodies * 2
    return Looks(
        url, [units_of(f"<html><body>{body}</body></html>".encode(), "text/html", url) for body in answers]
    )


def level(one: Looks, other: Looks, got: Got | None = None) -> Level:
    client = Client(0)
    client.known = {one.url: one, other.url: other}
    return beside(client, one.url, other.url, got or Got(set(), hashed, {}, set())).level


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("<p>a 19.99</p>", "<p>a 29.99</p>"),
        ('<img src="/1.jpg">', '<img src="/2.jpg">'),
        ('<img srcset="/1.jpg 1x, /2.jpg 2x">', '<img srcset="/1.jpg 1x, /3.jpg 2x">'),
        ('<div style="background: url(/1.png)"></div>', '<div style="background: url(/2.png)"></div>'),
        ('<iframe src="/1"></iframe>', '<iframe src="/2"></iframe>'),
        ('<video poster="/1.jpg"></video>', '<video poster="/2.jpg"></video>'),
        ('<input name="n" value="one">', '<input name="n" value="two">'),
        ('<meta itemprop="price" content="1.5">', '<meta itemprop="price" content="2.5">'),
        ('<b data-sku="ab">x</b>', '<b data-sku="cd">x</b>'),
        ("<script>var a = {'b': 'one'}</script>", "<script>var a = {'b': 'two'}</script>"),
        (
            '<script type="application/ld+json">{"offers": [{"price": 1}]}</script>',
            '<script type="application/ld+json">{"offers": [{"price": 2}]}</script>',
        ),
    ],
)
def test_whatever_a_spider_could_take_is_lost_where_it_is_on_no_other_page(here, there):
    assert level(looks("/?v=7", here), looks("/?v=8", there)) is Level.LOST


def test_links_alone_may_be_new():
    one, other = looks("/?v=7", '<a href="/x/1">x</a>'), looks("/?v=8", '<a href="/x/2">x</a>')
    assert level(one, other) is Level.NEW_LINKS
    assert level(one, other, Got(set(), hashed, {}, {f"{HOST}/x/1"})) is Level.ELSEWHERE


def test_a_parameter_that_one_url_has_may_be_in_its_links_and_forms():
    one = looks("/x?count=120", '<a href="/y?count=120">x</a><input name="count" value="120">')
    assert level(one, looks("/x", '<a href="/y">x</a>')) is Level.OWN_ADDRESS


def test_what_the_crawl_has_got_from_another_page_is_elsewhere():
    one, other = looks("/?v=7", "<p>one</p>"), looks("/?v=8", "<p>two</p>")
    assert level(one, other, Got({hashed("text", "one")}, hashed, {}, set())) is Level.ELSEWHERE


def test_what_changes_at_each_fetch_is_left_out():
    one = looks("/?v=7", "<p>one</p><i>3</i>", "<p>one</p><i>4</i>")
    other = looks("/?v=8", "<p>one</p><i>5</i>", "<p>one</p><i>6</i>")
    assert level(one, other) is Level.SAME


def test_a_page_that_repeats_its_own_address_in_links_and_fields_shows_nothing_new():
    def page(value: str) -> str:
        return f'<a href="/login?next=%2F%3Fv%3D{value}">x</a><input name="n" value="/?v={value}">'

    assert level(looks("/?v=71", page("71")), looks("/?v=82", page("82"))) is Level.OWN_ADDRESS


def test_a_page_may_show_its_own_address_in_text_and_pictures_and_then_it_differs():
    one, other = (looks(f"/?v={value}", f"<p>number {value}</p>") for value in (71, 82))
    assert level(one, other) is Level.LOST
    one, other = (looks(f"/?v={value}", f'<img src="/{value}.jpg">') for value in (71, 82))
    assert level(one, other) is Level.LOST


def test_a_number_that_has_a_digit_of_the_address_is_not_the_address():
    one, other = (looks(f"/?v={value}", f'<input name="n" value="1{value}">') for value in (7, 8))
    assert level(one, other) is Level.LOST


def test_links_to_the_same_classes_are_no_difference():
    one, other = (looks(f"/?s={value}", f'<a href="/x?t={value}">x</a>') for value in ("ab", "cd"))
    keys = {f"{HOST}/x?t={value}": f"{HOST}/x" for value in ("ab", "cd")}
    assert level(one, other, Got(set(), hashed, keys, set())) in {Level.OWN_ADDRESS, Level.LINKS}


def test_a_difference_counts_in_whichever_direction_it_is():
    more, less = looks("/?v=7", "<p>one</p><p>two</p>"), looks("/?v=8", "<p>one</p>")
    client = Client(0)
    client.known = {more.url: more, less.url: less}
    got = Got(set(), hashed, {}, set())
    assert beside(client, less.url, more.url, got).level is Level.SAME
    assert differ(client, less.url, more.url, got).level is Level.LOST


def test_what_cannot_be_fetched_any_more_is_no_loss():
    client = Client(0)
    client.known = {f"{HOST}/gone": None, f"{HOST}/": looks("/", "<p>one</p>")}
    assert beside(client, f"{HOST}/gone", f"{HOST}/", Got(set(), hashed, {}, set())).level is Level.GONE
