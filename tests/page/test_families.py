"""What must be told apart and what must be seen to be one, as HTML: by the labels of a log, and by comparing answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.page.compare import Answer, Same, Verdict, compare
from scrapy_dust.page.knowledge import Knowledge
from scrapy_dust.page.places import url_value
from scrapy_dust.page.site_log import LogComparison, compared_for_proposals, site_log
from scrapy_dust.page.sketch import describe
from scrapy_dust.page.units import pack
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import SiteLog, Visit
from tests.page.test_contents import known

HOST = "http://shop.example"
PROSE = (
    "<p>"
    + " ".join(f"word{number} in the prose that all of these pages have." for number in range(60))
    + "</p>"
)
Make = Callable[[int], str]


def html(url: str, title: str, main: str, head: str = "") -> bytes:
    path = url.removeprefix(HOST)
    nav = "".join(
        f'<a href="/{name}" class="{"active" if path.startswith(f"/{name}") else "item"}">{name}</a>'
        for name in ("products", "articles", "help")
    )
    return (
        f"<html><head><title>{title}</title>{head}</head><body><header><img src='/logo.png'><nav>{nav}</nav>"
        f"<a class=login href='/login?next={path.replace('/', '%2F')}'>Log in</a>"
        f"<form action='{path}'><input name=q value=''></form></header>"
        f"<main>{main}</main><footer><p>All rights reserved by the shop</p></footer></body></html>"
    ).encode()


def visit(url: str, body: bytes, canonical: str | None = None) -> Visit:
    said = describe(body, "text/html", None, HOST + url)
    assert said.units is not None
    return Visit(
        HOST + url,
        200,
        text_digest=said.text_digest,
        sketch=said.sketch,
        canonical=said.canonical,
        units=pack(said.units),
    )


def answer(url: str, body: bytes, *controls: bytes) -> Answer:
    said = describe(body, "text/html", None, HOST + url)
    again = [describe(one, "text/html", None, HOST + url).units for one in controls]
    assert said.units is not None
    return Answer(
        HOST + url, said.units, said.names, said.canonical, [one for one in again if one is not None]
    )


def log_of(pages: Mapping[str, bytes]) -> SiteLog:
    articles = {
        f"/articles/{number}": html(
            f"/articles/{number}", f"Article {number}", f"<p>Once upon {number}</p>" * 2
        )
        for number in range(8)
    }
    return site_log([visit(url, body) for url, body in {**pages, **articles}.items()])


APART: dict[str, Make] = {
    "a price": lambda n: f"<span class=price>{n}.99 €</span>",
    "a price in a list": lambda n: "".join(f"<li><b>{i}</b> <i>{i or n + 20}.95</i></li>" for i in range(6)),
    "stock": lambda n: f"<div class=badge>{'Sold out' if n % 3 else 'In stock'}</div>",
    "thumbnails": lambda n: "".join(f"<li><img src='/img/{n}-{i}.jpg'></li>" for i in range(4)),
    "srcset": lambda n: f"<img srcset='/img/{n}.jpg 1x, /img/{n}-big.jpg 2x'>",
    "a background": lambda n: f"<div style=\"background: url('/img/{n}.jpg')\"></div>",
    "links": lambda n: "".join(f"<li><a href='/items/{n}-{i}'>item</a></li>" for i in range(4)),
    "a frame": lambda n: f"<iframe src='/frames/{n}'></iframe>",
    "a film": lambda n: f"<video src='/films/{n}.mp4'></video>",
    "json-ld": lambda n: f'<script type="application/ld+json">{{"@type": "Product", "sku": "s{n}"}}</script>',
    "script state": lambda n: (
        f"<div id=app></div><script>window.state = {{'name': 'thing {n}', 'stock': 4}}</script>"
    ),
    "microdata": lambda n: f"<div itemscope><meta itemprop=price content='{n}.50'></div>",
    "a hidden field": lambda n: f"<form><input type=hidden name=product value='p{n}x'></form>",
    "options": lambda n: f"<select name=size><option value='v{n}'>one<option>two</select>",
    "cells": lambda n: f"<table><tr><td>{n}<td>{n + 1}</tr></table>",
    "column order": lambda n: (
        "<table>"
        + "".join(
            "<tr>" + "".join(f"<td>{cell + row}" for cell in ((1, 9) if n % 2 else (9, 1)))
            for row in range(3)
        )
        + "</table>"
    ),
    "swapped prices": lambda n: "".join(
        f"<li><b>Tea {i}</b><i>{5 + i * (1 if n % 2 else -1)}.00</i></li>" for i in (-1, 1)
    ),
    "one digit in long text": lambda n: f"{PROSE}<p>It weighs {n} grams</p>{PROSE}",
    "a version": lambda n: f"<h1>Manual</h1><p>Version 2.{n}</p>{PROSE}",
}


def differ(make: Make, one: int, other: int) -> bool:
    return make(one) != make(other)


@pytest.mark.parametrize("family", APART)
@given(size=st.integers(4, 8), prose=st.booleans())
def test_every_family_of_different_pages_is_told_apart(family: str, size: int, prose: bool) -> None:
    make = APART[family]
    urls = [f"/products/{chr(97 + number)}?a={number}" for number in range(size)]
    bodies = [html(url, "Product", (PROSE if prose else "") + make(n)) for n, url in enumerate(urls)]
    log = log_of(dict(zip(urls, bodies, strict=True)))
    labels = {page.url: page.text_digest for page in log.pages}
    assert isinstance(log.comparing, LogComparison)
    for n in range(size):
        for m in range(n):
            if differ(make, n, m):
                one, other = labels[HOST + urls[n]], labels[HOST + urls[m]]
                assert one is None or one != other
                assert known(log, urls[n], urls[m]) is not Outcome.SAME
                alone = compare(answer(urls[n], bodies[n]), answer(urls[m], bodies[m]))
                assert alone.same is Same.DIFFERENT
                learned = compare(
                    answer(urls[n], bodies[n]), answer(urls[m], bodies[m]), log.comparing.knowledge
                )
                assert learned.same is not Same.SAME


def product(number: int, more: str = "", head: str = "", url: str = "") -> bytes:
    main = f"<h1>Tea {number}</h1><p class=price>{number}.99</p><img src='/img/{number}.jpg'><p>From hill {number}</p>"
    return html(url, f"Tea {number}", main + more, head)


_clock = count(1)


def _tick() -> int:
    """Another number at each fetch, as ids, clocks and counters of a server."""
    return next(_clock) * 7919 % 1_000_003


CHANGING: dict[str, Callable[[], str]] = {
    "advertisement": lambda: (
        f"<div class=ad><a href='http://ads.example/{_tick()}'><img src='/ads/{_tick()}.gif'></a></div>"
    ),
    "related": lambda: (
        "<ul class=related>"
        + "".join(f"<li><a href='/r/{_tick()}'>Tea {_tick()}</a></li>" for _ in range(4))
        + "</ul>"
    ),
    "token": lambda: f"<form><input type=hidden name=csrf value='a{_tick()}b{_tick()}'></form>",
    "time": lambda: f"<p class=took>Page made in 0.{_tick()} s</p>",
    "counter": lambda: f"<p class=seen>Seen {_tick()} times</p>",
    "words": lambda: (
        "<p>" + " ".join(f"w{i} v{i}" for i in range(40)) + f" five of these are {_tick()} {_tick()} new</p>"
    ),
    "script": lambda: f"<script>var nonce = 'n{_tick()}'; var time = {_tick()};</script>",
}


@pytest.mark.parametrize("family", [*CHANGING, "all at once"])
def test_pages_that_change_at_each_fetch_are_one_page_once_they_were_fetched_again(family: str) -> None:
    def fetched(number: int, url: str) -> bytes:
        parts = CHANGING.values() if family == "all at once" else [CHANGING[family]]
        return product(number, "".join(make() for make in parts), url=url)

    one, other = "/products/a/1", "/products/a/1?ref=mail"
    pair = (
        answer(one, fetched(1, one), fetched(1, one), fetched(1, one)),
        answer(other, fetched(1, other), fetched(1, other)),
    )
    assert compare(*pair, _known()).same is Same.SAME
    third = "/products/a/3"
    different = compare(pair[0], answer(third, fetched(3, third), fetched(3, third)), _known())
    assert different.same is Same.DIFFERENT
    assert different.is_confirmed


def test_places_that_a_url_has_shown_to_change_need_no_further_fetch() -> None:
    def fetched(number: int, url: str) -> bytes:
        return product(number, "".join(make() for make in CHANGING.values()), url=url)

    urls = [f"/products/a/{number}" for number in range(9)]
    twice = [*urls, *urls[:4], *(f"{url}?ref=mail" for url in urls), *(f"{url}?ref=mail" for url in urls[:4])]
    log = site_log(
        [visit(url, fetched(int(url.partition("?")[0][-1]), url)) for url in twice]
        + [visit(f"/articles/{n}", html(f"/articles/{n}", f"A {n}", f"<p>Once {n}</p>")) for n in range(9)]
    )
    assert isinstance(log.comparing, LogComparison)
    for number, url in enumerate(urls):
        outcome, _ = log.comparing.compare(HOST + url, f"{HOST}{url}?ref=mail")
        assert outcome is (Outcome.SAME if number < 4 else Outcome.UNKNOWN)
    labels = {page.url: page.text_digest for page in compared_for_proposals(log).pages if not page.volatile}
    for url in urls:
        assert labels[HOST + url] == labels[HOST + url + "?ref=mail"] is not None
    assert len({labels[HOST + url] for url in urls}) == len(urls)


def _known(key: Callable[[str], str] | None = None) -> Knowledge:
    """What a log of the frame of these pages tells."""
    log = log_of({f"/products/x/{n}": product(n + 50, url=f"/products/x/{n}") for n in range(8)})
    assert isinstance(log.comparing, LogComparison)
    found = log.comparing.knowledge
    return Knowledge(template=found.template, common=found.common, chrome=found.chrome, key=key)


def same_as(
    one: str, other: str, body: bytes, other_body: bytes, key: Callable[[str], str] | None = None
) -> Verdict:
    return compare(answer(one, body), answer(other, other_body), _known(key))


def test_login_links_and_forms_that_repeat_the_url_do_not_tell_a_page_from_itself() -> None:
    one, other = "/products/a/1", "/products/a/1?ref=mail"
    assert same_as(one, other, product(1, url=one), product(1, url=other)).same is Same.SAME


@pytest.mark.parametrize(
    ("named", "other_named"),
    [
        ("", ""),
        ("/products/a/1", "/products/a/1"),
        ("/products/a/1", "/products/a/1?ref=mail"),
        ("", "/products/a/1"),
    ],
)
@pytest.mark.parametrize("host", ["", HOST, "https://www.elsewhere.example"])
def test_the_url_that_a_page_names_as_its_own_does_not_tell_the_page_from_itself(
    named: str, other_named: str, host: str
) -> None:
    one, other = "/products/a/1", "/products/a/1?ref=mail"
    bodies = [
        product(1, head=f'<link rel=canonical href="{host}{name}">' if name else "", url=url)
        for url, name in ((one, named), (other, other_named))
    ]
    assert same_as(one, other, *bodies).same is Same.SAME


def test_pages_that_name_two_others_as_their_own_are_not_one() -> None:
    one, other = "/products/a/1", "/products/a/1?ref=mail"
    bodies = [
        product(1, head=f'<link rel=canonical href="/c/{name}">', url=url)
        for url, name in ((one, "red"), (other, "blue"))
    ]
    assert same_as(one, other, *bodies).same is Same.DIFFERENT


def test_a_page_that_has_nothing_but_the_url_it_names_has_nothing_of_its_own() -> None:
    one, other = (
        answer(url, f'<html><head><link rel=canonical href="{url}"></head><body></body></html>'.encode())
        for url in ("/products/a/1", "/products/a/2")
    )
    verdict = compare(one, other)
    assert verdict.same is Same.UNKNOWN
    assert verdict.nothing_a


def test_session_ids_in_every_link_are_the_rules_own_subject() -> None:
    def with_session(session: int) -> Answer:
        url = f"/products/a/1?sid={session}"
        targets = [f"{HOST}/products/b/{n}?sid={session}" for n in range(5)]
        links = "".join(f"<a href='{target}'>more</a>" for target in targets)
        found = answer(url, product(1, links, url=url))
        return Answer(found.url, found.units, found.names, links={url_value(one): one for one in targets})

    known_rule = _known(lambda url: url.partition("?")[0])
    assert compare(with_session(1), with_session(2), known_rule).same is Same.SAME
    assert compare(with_session(1), with_session(2), _known(str)).same is Same.DIFFERENT


def test_orders_of_a_complete_list_are_one_page_and_parts_of_it_are_not() -> None:
    def listed(url: str, numbers: list[int]) -> bytes:
        rows = "".join(f"<li><b>Tea {n}</b><i>{n}.99</i><img src='/t/{n}.jpg'></li>" for n in numbers)
        return html(url, "Teas", f"<ul>{rows}</ul>")

    one, other = "/products/list?sort=name", "/products/list?sort=price"
    numbers = list(range(12))
    assert same_as(one, other, listed(one, numbers), listed(other, numbers[::-1])).same is Same.SAME
    parts = same_as(one, other, listed(one, numbers[:6]), listed(other, numbers[6:]))
    assert parts.same is Same.DIFFERENT
    more = same_as(one, other, listed(one, numbers), listed(other, numbers[:6]))
    assert more.contains == "a"


def test_a_print_view_without_the_sidebar_is_contained_in_the_page() -> None:
    one, other = "/products/a/1", "/products/a/1?print=1"
    sidebar = "<aside><h2>Teas of the month</h2><p>White tea</p></aside>"
    verdict = same_as(one, other, product(1, sidebar, url=one), product(1, url=other))
    assert verdict.same is Same.DIFFERENT
    assert verdict.contains == "a"
    assert "aside" in verdict.why


def test_a_feed_is_the_same_under_its_two_addresses() -> None:
    def feed(url: str) -> Answer:
        items = "".join(f"<item><title>News {n}</title><link>{HOST}/news/{n}</link></item>" for n in range(5))
        body = f"<?xml version='1.0'?><rss><channel><title>News</title><link>{HOST}/</link><atom:link rel='self' href='{HOST}{url}'/>{items}</channel></rss>"
        said = describe(body.encode(), "application/rss+xml", None, HOST + url)
        assert said.units is not None
        return Answer(HOST + url, said.units, said.names)

    assert compare(feed("/feed"), feed("/feed?ref=1")).same is Same.SAME


def test_why_two_pages_differ_is_said_with_the_place() -> None:
    one, other = "/products/a/1", "/products/a/2"
    assert "`main p.price`" in same_as(one, other, product(1, url=one), product(2, url=other)).why
