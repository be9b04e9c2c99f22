"""What a parser could be made to choke on is not parsed, and what people write is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from scrapy_dust.page import nesting
from scrapy_dust.page.markup import read_markup
from scrapy_dust.page.nesting import is_tangled

# Takes seconds, and is the same on every Python.
pytestmark = pytest.mark.once


def different(count, after=""):
    return "".join(f"<b id={i}>{after}" for i in range(count))


# Each made the parser work for seconds, minutes or hours, or eat gigabytes, or could do that to a pattern.
HOSTILE = {
    "nested": "<div>" * 1_000_000,
    "unclosed": "<b>" * 700_000,
    "other end tags": "<b></i>" * 300_000,
    "stray end tags": "<div></x>" * 200_000,
    "multiplied": different(5000) + "<p>x</p>" * 5000,
    "multiplied late": "<div>" + different(900) + "</div>" + "<p>x</p>" * 100_000,
    "adopted": different(5000, after="<p>") + "</b>" * 5000,
    "adopted at once": different(50_000, after="<p></b>"),
    "lists": "<ul><li>" * 200_000,
    "items of two kinds": "<li><dd>" * 200_000,
    "items ended from outside": "<ul><object>" + "<dd></ul><li></ul>" * 60_000,
    "tables": "<table><tr><td>" * 100_000,
    "drawings": "<svg>" * 400_000,
    "shapes outside a drawing": "<path/>" * 250_000 + "<div>" * 200_000,
    "cells in a drawing": "<svg>" + "<td>" * 400_000,
    "links in a drawing": "<svg>" + "<a>" * 400_000,
    "titles of drawings": "<svg><title>" + "<div>" * 300_000 + "</title>",
    "templates": "<template>" * 200_000,
    "one template": "<template>" + "<div>" * 300_000 + "</template>",
    "end tags out of reach": "<div><object></div></object>" * 70_000,
    "end tags in tables": "<div><table></div></table>" * 70_000,
    "end tags in attributes": "<div a='</div>'>" * 100_000,
    "end tags in text areas": "<div><textarea></div></textarea>" * 60_000,
    "end tags in scripts": "<div><script><!--<script></script></div>--></script>" * 40_000,
    "end tags in instructions": "<div><? </div>" * 100_000,
    "end tags in CDATA": "<svg>" + ("<g>" * 100 + "<![CDATA[>" + "</g>" * 100 + "]]>") * 2000,
    "comments that end early": "<!--a--!>" + "<div>" * 300_000 + "-->",
    "attributes": "<div " + " ".join(f"a{i}" for i in range(250_000)) + ">",
    "attributes copied": "<b " + " ".join(f"a{i}" for i in range(100_000)) + ">" + "<p>x</p>" * 900,
    "attributes of many bodies": "".join(f"<body a{i}=1>" for i in range(120_000)),
    "open comments": "<div>" * 2000 + "<!--" * 400_000,
    "open scripts": "<div>" * 2000 + "<script" * 200_000,
    "open titles": "<div>" * 2000 + "<title" * 200_000,
    "open quotes": "<div>" * 2000 + "<a x='" * 200_000,
    "open quotes of two kinds": "<div x='><div y=\">" * 100_000,
    "open tags": "<div>" * 2000 + "<a" * 700_000,
    "only signs": "<" * 2_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_document_takes_long(name):
    started = time.process_time()
    read_markup(HOSTILE[name], "http://site.test/", "utf-8")
    assert time.process_time() - started < 10


SITE = """<!doctype html><html lang=en><head><title>A <b> title</title><style>a>b{}</style><body class=x>
<nav><ul><li><a href=/>Home</a><li><a href=/b?x=1&y=2>B</a></ul></nav>
<svg viewBox="0 0 9 9"><title>icon</title><g><path d="M0"/><circle r=1 /></g></svg>
<table><tr><td><p>cell<td><b>bold</b><br><tr><th>x</table>
<select><option>1<option selected>2</select><input type=text><textarea>a <b c</textarea>
<dl><dt>t<dd>d<p>p<dt>t<dd>d</dl><div><p>one<p>two</div><script>if (a<b) document.write("<div>")</script>
<p>An <a name=x><i>old</i> link<a href=y>and <code class="k">new</code></a><img src=a alt="a>b"><hr>
<!-- </div> --><form><button>go</button></form>"""


def test_what_people_write_is_not_tangled_however_long_it_is(monkeypatch):
    monkeypatch.setattr(nesting, "_is_harmless", lambda markup: False)
    assert not is_tangled(SITE * 200)


def test_wrong_nesting_is_forgiven_hundreds_of_times(monkeypatch):
    monkeypatch.setattr(nesting, "_is_harmless", lambda markup: False)
    assert not is_tangled("<div><b><i>x</b></i><font size=1>y</div></span>" * 100)


def test_a_tag_with_very_many_attributes_is_tangled():
    assert is_tangled("<p " + " ".join(f"a{i}=1" for i in range(nesting.MAX_ATTRIBUTES + 1)) + ">")
    assert not is_tangled("<p " + " ".join(f"a{i}=1" for i in range(nesting.MAX_ATTRIBUTES)) + ">")


NAMES = (
    "a b i font code nobr span p div ul li dd dt table tr td caption select option optgroup button form h1 object "
    "marquee template svg g path foreignObject math mi desc title script style textarea br body frameset x"
).split()
token = st.sampled_from(
    [f"<{name}>" for name in NAMES]
    + [f"</{name}>" for name in NAMES]
    + [
        "<path/>",
        "<g/>",
        "<b id=1>",
        "<a b='</div>'>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "'",
        "<? ",
        ">",
        "x",
    ]
)


def depth_of(markup):
    deepest, stack = 0, [(LexborHTMLParser(markup, scripting=True).root, 1)]
    while stack:
        node, depth = stack.pop()
        deepest = max(deepest, depth)
        child = node.child
        while child is not None:
            stack.append((child, depth + 1))
            child = child.next
    return deepest


@given(st.lists(token, max_size=4), st.lists(token, min_size=1, max_size=5))
def test_what_is_not_tangled_has_a_tree_of_bounded_depth(before, repeated):
    times, most = 80, 20
    markup = "".join(before) + "".join(repeated) * times
    nested = nesting._Nesting()
    tokens = nesting._TOKEN.findall(markup)
    if not nested.is_tangled(tokens) and len(nested.open) <= most:
        # Tables have elements that are not counted, three each.
        assert depth_of(markup) <= 2 * most + 20
