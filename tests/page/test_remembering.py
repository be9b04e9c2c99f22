"""What was read before saves time and changes no unit: of other pages, of values, of URLs."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from benchmarks.units import shop
from scrapy_dust.page import unit_reading
from scrapy_dust.page.addresses import Addresses, absolute
from scrapy_dust.page.elements import Memory
from scrapy_dust.page.sketch import describe
from scrapy_dust.page.values import pieces_of, value_of, values_of, values_of_field

URLS = ("http://a.test/list?id=7&sort=price", "http://www.a.test/list", "http://a.test/p/7?sid=f3a1b2c3d4")
FRAME = (
    "<header><a href=/>Home</a><form action=/list><input name=q value=7></form>"
    + "".join(f"<li class=item id=m{n}><a href='/c/{n}?sort=price'>Kind {n}</a>" for n in range(40))
    + "</header>"
)
PARTS = (
    "<div class=card><img src=/i/7.jpg?v=2 alt='a 7'><a href='/p/7?sid=f3a1b2c3d4'>Tea</a><b>3.99</b></div>",
    "<div class=card><img src=i/7.jpg><a href='?page=2'>more</a><b>3.99</b><b>4</b></div>",
    "<table><tr><td>a<td><tr><td><i class=full></i><i class=none></i></table>",
    "<script>var x = {a: 7, 'u': '/list?id=7'};</script><style>p{background:url(/x.png)}</style>",
    "<pre>a\n  b</pre><textarea>x</textarea><select><option value=3 selected>y</select>",
    "<ol><li>Ann<li>Bob</ol><!-- c --><p data-u=/list title='/list?id=7'>x 1 2 3",
)


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    unit_reading._memory = Memory()


def total(body: str, url: str) -> tuple[int, tuple[int, ...]]:
    units = describe(body.encode(), "text/html", "utf-8", url).units
    assert units is not None
    return units.total, tuple((units.places.astype(object) << 32 | units.values).tolist())


def alone(body: str, url: str) -> tuple[int, tuple[int, ...]]:
    kept, unit_reading._memory = unit_reading._memory, Memory()
    try:
        return total(body, url)
    finally:
        unit_reading._memory = kept


def of_frame(parts: list[str], base: str) -> str:
    return f"<html><head>{base}</head><body>{FRAME}<main>{''.join(parts * 3)}</main><div>{''.join(parts)}{FRAME}</div>"


PAGES = st.tuples(
    st.lists(st.sampled_from(PARTS), max_size=3),
    st.sampled_from(["", "", "", "<base href=/sub/>", "<base href='http:///x'>"]),
    st.sampled_from(URLS),
)


@given(st.lists(PAGES, min_size=3, max_size=8), st.randoms(use_true_random=False))
def test_pages_that_were_read_before_do_not_matter(
    pages: list[tuple[list[str], str, str]], chance: random.Random
) -> None:
    unit_reading._memory = Memory()
    for parts, base, url in pages:
        body = of_frame(parts, base)
        if chance.random() < 0.3:
            at = chance.randrange(len(body))
            body = body[:at] + chance.choice(["<", ">", '"', "</div>", "<b>", "7"]) + body[at + 1 :]

        assert total(body, url) == alone(body, url)


def test_frames_are_passed_over() -> None:
    """Beside the test above: there is something to be passed over."""
    said = [of_frame([part], "") for part in PARTS]
    for body in said:
        total(body, URLS[0])
    header = unit_reading._memory.root.opened["header"]

    assert header.known
    assert header.credit > 0
    total(said[0].replace("Tea", "Coffee"), URLS[0])
    assert all(known.rest[1] for known in header.known.values())


def test_nor_do_they_on_pages_of_a_shop() -> None:
    for body, _, _, url in shop(12):
        assert total(body.decode(), url) == alone(body.decode(), url)


def test_a_line_in_html_makes_none_in_xml() -> None:
    feed = b"<?xml version='1.0'?><p><b>x</b><b>y</b></p>"
    before = describe(feed, "text/xml", None, URLS[0]).units
    total("<p><b>x</b><b>y</b></p>", URLS[0])

    assert describe(feed, "text/xml", None, URLS[0]).units == before


def test_a_url_without_a_host_leads_elsewhere_from_each_page() -> None:
    body = "<a href='http://?page=2'>x</a>"
    total(body, "http://a.test/list")

    assert total(body, "http://a.test/other") == alone(body, "http://a.test/other")


URL_PARTS = "/ a b.html .. . ../ ./ // ? x=1 & %41 ä ;p # #t : ~ - http:// a.test A.test :80".split(" ")
SAID = st.lists(st.sampled_from([*URL_PARTS, " ", "\t"]), max_size=8).map("".join)


@given(
    SAID | SAID.map(lambda said: f"http://a.test/{said}"), SAID | SAID.map(lambda said: f"//b.test/{said}")
)
def test_urls_are_resolved_as_ever(base: str, href: str) -> None:
    found = absolute(base, "", href, "utf-8")

    assert Addresses(base, "utf-8", {}).link(href)[0] == (found and found.partition("#")[0])


WORDS = "a1 b2 $3.5 word. 価格 12 x €9 \u00a0 end! 2024-01-02 ü".split(" ")
TEXT = (
    st.text(max_size=60)
    | st.text("ab1 2$€\u2003\n\x1c\ud800価.,x7\u0663'", max_size=60)
    | st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)
)


@given(TEXT)
def test_values_are_as_they_are_said_to_be(text: str) -> None:
    assert value_of(text) == literal_value(text)
    assert values_of(text) == tuple(
        value for piece in pieces_of(text) for value in (literal_value(piece), *literal_numbers(piece))
    )


@given(TEXT, st.sampled_from(["", "name=", "n7="]))
def test_so_are_those_of_fields(text: str, named: str) -> None:
    value, *numbers = values_of_field(text, named)

    assert value == literal_value(named + text)
    found = re.findall(r"(?<![^\W_])[^\W_0-9]*[0-9][^\W_]*", text)
    around = re.sub(r"(?<![^\W_])[^\W_0-9]*[0-9][^\W_]*", "#", text)
    if not 2 <= len(found) <= 12:
        found = []
    assert numbers == [with_shape(f"{around} {place}", said) for place, said in enumerate(found)]


def literal_value(text: str) -> int:
    if not re.search("[0-9]", text):
        return hashed(text) & 0xFFFFFFFF
    return with_shape(shape(text), text)


def literal_numbers(piece: str) -> list[int]:
    numbers = [word for word in piece.split() if re.search("[0-9]", word)]
    if len(numbers) < 2:
        return []
    return [with_shape(f"{shape(piece)} {place}", word) for place, word in enumerate(numbers)]


def shape(text: str) -> str:
    return " ".join(
        "".join(re.findall("[$¢£¤¥₠-⃏]", word)) + "#" if re.search("[0-9]", word) else word
        for word in text.split()
    )


def with_shape(of_shape: str, said: str) -> int:
    return hashed(of_shape) & 0x3FF << 22 | hashed(said) & (1 << 22) - 1


def hashed(text: str) -> int:
    return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
