"""Signatures of pages: equal where a spider would get nothing else, and nowhere else."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.page.content import content_of, signature_of, unit_signature
from scrapy_dust.page.knowledge import NOTHING_KNOWN
from scrapy_dust.page.volatile import LEAST_SURE
from tests.page.building import volatile_in
from tests.prose import document

HTML = "text/html; charset=utf-8"
URL = "http://a.test/x"


def content(body, kind=HTML, url=URL):
    return content_of(body, kind, None, url)


def signature(body, kind=HTML, url=URL, scope="a.test", knowledge=NOTHING_KNOWN):
    return unit_signature(content(body, kind, url), url, knowledge, scope, with_words=True)


def page(more=""):
    return document(1, words=600, more=more)


def state(**values):
    return f"<script>window.state = {json.dumps(values)}</script>"


APART = {
    "price": ("<b class=price>19.99</b>", "<b class=price>24.99</b>"),
    "thumbnails": ("<li><img src=/1.jpg><li><img src=/2.jpg>", "<li><img src=/1.jpg><li><img src=/3.jpg>"),
    "link targets": ("<li><a href=/1>more</a>", "<li><a href=/2>more</a>"),
    "JSON-LD": (
        '<script type="application/ld+json">{"@type": "Product", "price": 5}</script>',
        '<script type="application/ld+json">{"@type": "Product", "price": 6}</script>',
    ),
    "script data": (state(stock=5, name="red"), state(stock=6, name="red")),
    "hidden field": ("<input type=hidden name=sku value=7>", "<input type=hidden name=sku value=8>"),
    "option": ("<select><option>S<option>M</select>", "<select><option>S<option>L</select>"),
    "video": ("<video src=/1.mp4></video>", "<video src=/2.mp4></video>"),
    "frame": ("<iframe src=/1></iframe>", "<iframe src=/2></iframe>"),
    "background": ("<i style='background: url(/1.png)'></i>", "<i style='background: url(/2.png)'></i>"),
    "rows": (
        "<table><tr><td>a<td>1<tr><td>b<td>2</table>",
        "<table><tr><td>a<td>2<tr><td>b<td>1</table>",
    ),
    "one item of many": ("<ul><li>a<li>b<li>c</ul>", "<ul><li>a<li>b</ul>"),
    "meta": ("<meta property=og:price content=5>", "<meta property=og:price content=6>"),
}


@pytest.mark.parametrize("family", APART)
def test_what_a_spider_could_take_tells_pages_of_one_long_text_apart(family):
    one, other = APART[family]
    assert signature(page(one)) != signature(page(other))


ONE = {
    "comments": ("<!-- made at noon -->", "<!-- made at one -->"),
    "another order": ("<ul><li>a<li>b<li>c</ul>", "<ul><li>c<li>a<li>b</ul>"),
    "hosts of pictures": ("<img src=//0.cdn.test/a.png>", "<img src=https://1.cdn.test/a.png>"),
    "code": ("<b  class='x y'>w</b>", '<b class="y x">w</b>'),
}


@pytest.mark.parametrize("family", ONE)
def test_what_says_nothing_does_not(family):
    one, other = ONE[family]
    assert signature(page(one)) == signature(page(other))


def test_thousands_of_pages_that_differ_in_one_number_are_told_apart():
    prices = [f"{n / 100:.2f}" for n in range(2_000)]
    assert len({signature(document(1, words=20, more=f"<b>{price}</b>")) for price in prices}) == len(prices)


def test_json_is_compared_by_all_of_its_values():
    rows = [json.dumps({"id": n, "name": "red", "tags": ["a", "b"]}).encode() for n in range(2)]
    assert signature(rows[0], "application/json") != signature(rows[1], "application/json")


def test_a_page_that_repeats_its_own_url_is_the_same_at_another():
    def at(url):
        path = url.removeprefix("http://a.test")
        return signature(
            page(
                f'<form action="{path}"><input name=back value="{path}"></form><a href="{path}#top">top</a>'
            ),
            url=url,
        )

    assert at("http://a.test/x?ref=1") == at("http://a.test/x?ref=2")


def test_links_are_compared_by_their_keys():
    known = replace(NOTHING_KNOWN, key=lambda url: url.partition("?sid=")[0])

    def linking(sid, target="a", knowledge=known):
        more = "".join(f'<a href="/{name}?sid={sid}">{name}</a>' for name in (target, "b", "c"))
        return signature(page(more), url=f"http://a.test/x?from={sid}", knowledge=knowledge)

    assert linking(1) == linking(2)
    assert linking(1) != linking(2, "d")
    assert linking(1, knowledge=NOTHING_KNOWN) != linking(2, knowledge=NOTHING_KNOWN)


def test_a_key_that_all_links_of_a_kind_have_is_no_link():
    known = replace(NOTHING_KNOWN, key=lambda url: url.partition("?")[0])

    def linking(number):
        file = page(f'<a href="/file?id={number}">file</a>')
        return signature(file, url=f"http://a.test/x?size={number}1", knowledge=known)

    assert linking(1) != linking(2)


def test_places_that_change_at_each_fetch_do_not_count():
    def advertising(number):
        return page(f"<aside class=seen>Seen {number} times</aside><p class=own>{number // 10}</p>")

    def known(numbers):
        answers = [
            (f"http://a.test/{path}/.", [content(advertising(n)).units for n in (number, number + 1)])
            for path in ("a", "b")
            for number in numbers
        ]
        return replace(NOTHING_KNOWN, volatile=volatile_in(answers))

    places = known(range(10, 10 * LEAST_SURE, 10))
    assert signature(advertising(1), knowledge=places) == signature(advertising(2), knowledge=places)
    assert signature(advertising(1), knowledge=places) != signature(advertising(11), knowledge=places)
    assert signature(advertising(1)) != signature(advertising(2))


def test_scopes_have_signatures_of_their_own():
    assert signature(page()) != signature(page(), scope="b.test")


@given(st.binary(max_size=50), st.binary(max_size=50), st.sampled_from("ab"), st.sampled_from("ab"))
def test_bytes_are_equal_within_a_scope_only(a, b, scope, other):
    assert (signature_of(a, scope) == signature_of(b, other)) is ((a, scope) == (b, other))


def test_headings_are_part_of_what_must_not_differ_of_near_pages():
    plain, headed = content(document(1)), content(document(1, more="<h1>Red</h1>"))
    assert plain.heading == "Page 1"
    assert headed.heading == "Page 1 Red"
    assert plain.heading_hash != headed.heading_hash
    assert content(b"some words", "text/plain").heading_hash == 0


@pytest.mark.parametrize(
    ("body", "kind", "is_binary"),
    [
        (b"\0\1\2" * 100, "application/zip", True),
        (b"%PDF-1.4 something", "application/pdf", True),
        (b"word " * 600_000, "text/plain", False),  # not read to its end
    ],
)
def test_what_is_not_read_has_its_bytes_only(body, kind, is_binary):
    page = content(body, kind)
    assert page.units is None
    assert page.is_binary is is_binary
    assert len(page.shown) == 0


@given(st.binary(max_size=400), st.sampled_from([HTML, "", "text/plain", "application/json"]))
def test_any_body_can_be_looked_at(body, kind):
    if content(body, kind).units is not None:
        signature(body, kind)
