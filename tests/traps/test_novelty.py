"""What of a page is new."""

from __future__ import annotations

import random

from scrapy_dust.traps.novelty import MOST, Known, New
from scrapy_dust.traps.said import said_by
from tests.traps.sites import CHAINS, chain


def pages(make, count):
    known = Known()
    return [
        known.new("f", url, said_by(body.encode(), is_markup=True))
        for url, body in (make(n) for n in range(1, count))
    ]


def test_a_calendar_brings_nothing_when_all_months_were_seen() -> None:
    months = "january february march april may june july".split()
    found = pages(
        lambda n: (
            f"http://s.test/{n // 7}/{n}",
            f"<p>{months[n % 7]} {n // 7} Mo Tu We 1 2 3 <a href='{n + 1}'>next</a>",
        ),
        100,
    )
    assert set(found[20:]) == {New(0.0, anything=False)}


def test_each_page_of_a_chain_has_something() -> None:
    for kind in CHAINS:
        site = chain(kind, 1000)
        found = pages(
            lambda n, site=site: (f"http://s.test/chain/{n}", site.answer(f"http://s.test/chain/{n}") or ""),
            400,
        )
        assert sum(not one.anything for one in found) <= 4, kind  # numbers that were seen before by chance


def test_known_numbers_side_by_side_as_never_before_are_something() -> None:
    chance = random.Random(1)
    found = pages(
        lambda n: (
            f"http://s.test/tide/x{n}",
            "<p>High {}:{}, low {}:{}".format(*chance.choices(range(24), k=4)),
        ),
        400,
    )
    assert all(one.anything and one.value < 1 for one in found[100:])


def test_a_session_id_in_links_and_fields_is_nothing_new() -> None:
    chance = random.Random(1)
    found = pages(
        lambda n: (
            f"http://s.test/{n}",
            f'<a href="/?sid={chance.getrandbits(64):x}">home</a><input value="{chance.getrandbits(128):032x}">',
        ),
        200,
    )
    assert not any(one.anything for one in found[10:])


def test_a_clock_is_worth_little_and_is_something() -> None:
    found = pages(lambda n: (f"http://s.test/a{n}", f"<p>made in 0.{n * 7919 % 100_003} seconds"), 200)
    assert all(one.anything and one.value < 1 for one in found[2:])


def test_what_a_page_says_of_its_own_url_is_worth_nothing_and_is_something() -> None:
    names = [chr(97 + n % 26) * 3 + chr(97 + n // 26) * 3 for n in range(200)]
    found = pages(lambda n: (f"http://s.test/search?q={names[n]}", f"<p>Nothing found for {names[n]}."), 200)
    assert all(one == New(0.0, anything=True) for one in found[2:])


def test_a_medium_is_worth_most() -> None:
    found = pages(lambda n: (f"http://s.test/{n}", f'<img src="/{n}.png">'), 5)
    assert {one.value for one in found} == {MOST}


def test_a_picture_that_nobody_can_see_is_nothing() -> None:
    for size in ('width="1" height="1"', "style='width:0px'"):
        found = pages(
            lambda n, size=size: (f"http://s.test/{n}", f'<img {size} src="/pixel?{n * 7919}"> word'), 50
        )
        assert not any(one.anything for one in found[2:])


def test_what_is_forgotten_is_new_again() -> None:
    known = Known()
    body = said_by(b"<p>one two three", is_markup=True)
    assert known.new("f", "http://s.test/", body).anything
    assert not known.new("f", "http://s.test/", body).anything
    for n in range(60_000):
        known.new("f", "http://s.test/", said_by(f"<p>word{'x' * (n % 50)}y{n}".encode(), is_markup=True))
    assert known.new("f", "http://s.test/", body).anything


def test_hostile_markup_is_read_in_linear_time() -> None:
    for piece in (b"<", b"<script", b"src=", b"href='", b'value="', b"url(", b"&"):
        said_by(piece * 100_000, is_markup=True)
