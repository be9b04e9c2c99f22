"""Whatever a page holds, its units cost about what its bytes cost, and are at most so many."""

from __future__ import annotations

import time

import pytest

from scrapy_dust.page.reading import MAX_BYTES
from scrapy_dust.page.sketch import describe
from scrapy_dust.page.units import MAX_UNITS, pack

pytestmark = pytest.mark.once

URL = "http://a.test/p?a=1&b=2"
MEGABYTE = 1 << 20
#: Of processor time, for 2 MB; an ordinary page of this size takes a tenth of it here.
SECONDS = 20


def many(*parts: str) -> str:
    """Each of *parts*, with a number in it, until they are 2 MB."""
    count = MAX_BYTES // sum(len(part) + 4 for part in parts)
    return "".join(part.replace("{}", str(i)) for i in range(count) for part in parts)


HTML = {
    "nested tags": "<div>" * 1_000_000,
    "nested tags of many classes": many("<div class=c{}>"),
    "a hundred thousand classes": "".join(f"<p class=c{i:x}x>t</p>" for i in range(100_000)),
    "letters for classes": "".join(f"<p class={chr(97 + i % 26) * (1 + i // 26)}>" for i in range(3000)),
    "a tag with many attributes": "<p " + many("a{}=1 ") + ">",
    "an attribute without end": "<p " + "a" * MAX_BYTES,
    "a script of megabytes": "<script>" + many("var x{} = {};"),
    "a script of quotes": "<script>" + "'\"`\\" * 400_000,
    "a script of comments": "<script>" + "/*/" * 600_000,
    "a script of brackets": "<script>" + "[{" * 900_000,
    "JSON-LD of brackets": "<script type='application/ld+json'>" + "[" * 1_900_000,
    "candidates of a picture": "<img srcset='" + many("/{}.png 1x,") + "'>",
    "commas of candidates": "<img srcset='" + "," * MAX_BYTES,
    "spaces of candidates": "<img srcset='" + "a " * (MAX_BYTES // 2),
    "links to the page itself": many("<a href='?a=1&b=2&c={}'>x</a>"),
    "links encoded often": "<a href='" + "%25" * (MAX_BYTES // 4) + "'>",
    "fragments of fragments": many("<a href='{}" + "#" * 3900 + "ä'>x</a>"),
    "folders above": many("<a href='" + "../" * 1300 + "{}'>x</a>"),
    "styles": "<p style='" + "url(" * (MAX_BYTES // 5),
    "a word without end": "<p>" + "a" * MAX_BYTES,
    "digits without end": "<p>" + "1a" * (MAX_BYTES // 2),
    "white space": "<p>" + " " * MAX_BYTES,
    "end tags": "</b>" * 500_000,
    "quotes in tags": '<p a"' * 400_000,
    "comments": "<!--" * 500_000,
    "rows": "<table>" + "<tr><td>" * 200_000,
    "options": "<select>" + "".join(f"<option value={i}>x" for i in range(3000)),
}


@pytest.mark.parametrize("name", HTML)
def test_html_of_any_kind_costs_no_more_than_seconds(name: str) -> None:
    assert_bounded(HTML[name].encode(), "text/html")


OTHERS = {
    "JSON nested deep": ("application/json", "[" * 100_000 + "]" * 100_000),
    "objects nested deep": ("application/json", '{"a":' * 300_000),
    "a string without end": ("application/json", '["' + "a" * MAX_BYTES),
    "JSON of many keys": ("application/json", "{" + many('"k{}":1,') + "}"),
    "XML nested deep": ("text/xml", "<?xml version='1.0'?>" + "<a>" * 600_000),
    "XML of many names": ("text/xml", "<?xml version='1.0'?>" + many("<a{}>x")),
    "entities that name entities": (
        "text/xml",
        "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'bb'><!ENTITY c '&b;&b;'>]><a>" + "&c;" * 100_000,
    ),
    "CDATA without end": ("text/xml", "<?xml version='1.0'?><a>" + "<![CDATA[" * 200_000),
    "empty blocks": ("text/plain", "\n \n" * 600_000),
}


@pytest.mark.parametrize("name", OTHERS)
def test_so_do_other_bodies(name: str) -> None:
    content_type, body = OTHERS[name]
    assert_bounded(body.encode(), content_type)


def test_of_a_hundred_megabytes_the_beginning_is_read() -> None:
    one = b"<p>word</p>" + b"<p>x</p>" * (12 * MEGABYTE)

    assert_bounded(one, "text/html")
    assert describe(one, "text/html", None, URL).units != describe(one + b"!", "text/html", None, URL).units


def assert_bounded(body: bytes, content_type: str) -> None:
    begun = time.process_time()

    units = describe(body, content_type, "utf-8", URL).units

    assert time.process_time() - begun < SECONDS
    assert units is not None
    assert len(units) <= MAX_UNITS + 1
    assert len(pack(units).content) < 4000
