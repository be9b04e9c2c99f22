"""Pairs of pages that show a spider different things have different units; those that show the same have the same."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_dust.page.nesting import MAX_ATTRIBUTES
from scrapy_dust.page.places import Kind, kind_of
from scrapy_dust.page.sketch import describe
from scrapy_dust.page.units import Units

ENVIRONMENT = dict(os.environ)
GOLDEN_TOTAL = 12025612157441959550
URL = "http://shop.test/list?id=7&sort=price"
PROSE = " ".join(f"word{i % 97} and so it goes on, line after line." for i in range(60))


def units(body: str, content_type: str = "text/html", url: str = URL) -> Units:
    found = describe(body.encode(), content_type, "utf-8", url).units
    assert found is not None
    return found


def html(inside: str, head: str = "") -> str:
    return f"<!doctype html><html><head><title>Shop</title>{head}</head><body>{inside}</body></html>"


def kinds(found: Units) -> set[Kind]:
    return {Kind(kind) for kind in found.kinds().tolist()}


JSON_LD = '<script type="application/ld+json">{{"@type":"Product","offers":{{"price":{}}}}}</script>'
#: Two rows of two cards each.
CARDS = (2 * "<div class=row>{}</div>").format(*[2 * "<div><h3>{}</h3><b>1</b></div>"] * 2)
TELL_APART = {
    "a short text in Chinese": ("<p>价格216元</p>", "<p>价格217元</p>"),
    "the id of an item": ("<div id=item-17>x</div>", "<div id=item-18>x</div>"),
    "a button that cannot be pressed": ("<button>Buy</button>", "<button disabled>Buy</button>"),
    "an attribute of an element of the site's own": (
        "<x-price amount=3></x-price>",
        "<x-price amount=4></x-price>",
    ),
    "the largest number that may be ordered": ("<input type=number max=3>", "<input type=number max=4>"),
    "a price in JSON in percent encoding": (
        "<div data-state='%7B%22n%22%3A%20%224f1c%22%2C%20%22price%22%3A%2081.42%7D'></div>",
        "<div data-state='%7B%22n%22%3A%20%224f1c%22%2C%20%22price%22%3A%2081.43%7D'></div>",
    ),
    "a price in JSON with escaped quotes": (
        r"<script>s = '{\u0022n\u0022: \u00224f1c\u0022, \u0022price\u0022: 81.42}'</script>",
        r"<script>s = '{\u0022n\u0022: \u00224f1c\u0022, \u0022price\u0022: 81.43}'</script>",
    ),
    "a word beside an escaped quote": (
        r"<script>s = 'a red chair \u0022Tom\u0022'</script>",
        r"<script>s = 'a blue chair \u0022Tom\u0022'</script>",
    ),
    "which column is ticked": (
        "<table><tr><td>a<td>yes<td></table>",
        "<table><tr><td>a<td><td>yes</table>",
    ),
    "which column is ticked in a table of one row": (
        "<h1>x</h1><table><tr><td><td>yes<td></table>",
        "<h1>x</h1><table><tr><td><td><td>yes</table>",
    ),
    "so many stars beside a text": (
        "<h1>x</h1><p>Rated <i class=full></i><i class=full></i><i class=none></i></p>",
        "<h1>x</h1><p>Rated <i class=full></i><i class=none></i><i class=none></i></p>",
    ),
    "the order of a ranking": ("<ol><li>Ann<li>Bob</ol>", "<ol><li>Bob<li>Ann</ol>"),
    "a price in long text": (f"<p>{PROSE} 19.99 {PROSE}", f"<p>{PROSE} 19.98 {PROSE}"),
    "one digit": ("<p>Code 4711", "<p>Code 4712"),
    "a thumbnail": ("<li><img src=/t/1.jpg>x", "<li><img src=/t/2.jpg>x"),
    "a link's target": ("<a href=/item/1>more</a>", "<a href=/item/2>more</a>"),
    "JSON-LD": (JSON_LD.format("1.5"), JSON_LD.format("1.6")),
    "microdata": ("<b itemprop=price content=5>x</b>", "<b itemprop=price content=6>x</b>"),
    "state in a script": ("<script>var s = {price: 5}</script>", "<script>var s = {price: 6}</script>"),
    "its sign": ("<script>var s = {x: 5}</script>", "<script>var s = {x: -5}</script>"),
    "a hidden field": ("<input type=hidden name=p value=a>", "<input type=hidden name=p value=b>"),
    "what is chosen": (
        "<select><option value=a selected>A<option value=b>B</select>",
        "<select><option value=a>A<option value=b selected>B</select>",
    ),
    "an option": ("<select><option value=a>A</select>", "<select><option value=c>A</select>"),
    "a text area": ("<textarea>a</textarea>", "<textarea>b</textarea>"),
    "two numbers in one line": (
        "<p>Goals <b><i>3</i> <i>5</i></b> so far",
        "<p>Goals <b><i>5</i> <i>3</i></b> so far",
    ),
    "the host of a frame": (
        "<iframe src=http://tea.test/shop></iframe>",
        "<iframe src=http://tin.test/shop></iframe>",
    ),
    "a frame": ("<iframe src=/a></iframe>", "<iframe src=/b></iframe>"),
    "an object": ("<object data=/a></object>", "<object data=/b></object>"),
    "a film": (
        "<video poster=/p><source src=/a.mp4></video>",
        "<video poster=/p><source src=/b.mp4></video>",
    ),
    "srcset": ("<img srcset='/a.jpg 1x, /b.jpg 2x'>", "<img srcset='/a.jpg 1x, /c.jpg 2x'>"),
    "a background": ("<i style='background:url(/a.png)'></i>", "<i style='background:url(/b.png)'></i>"),
    "a picture loaded later": ("<img data-src=/a.png>", "<img data-src=/b.png>"),
    "columns": ("<table><tr><td>1<td>2</table>", "<table><tr><td>2<td>1</table>"),
    "swapped prices": (
        "<ul><li><h3>A</h3><b>1</b><li><h3>B</h3><b>2</b></ul>",
        "<ul><li><h3>A</h3><b>2</b><li><h3>B</h3><b>1</b></ul>",
    ),
    "swapped definitions": ("<dl><dt>A<dd>1<dt>B<dd>2</dl>", "<dl><dt>A<dd>2<dt>B<dd>1</dl>"),
    "stars": ("<p class='stars three'><i></i></p>", "<p class='stars four'><i></i></p>"),
    "alternative text": ("<img src=/a alt=x>", "<img src=/a alt=y>"),
    "an attribute of the site's own": ("<div data-stock=3>x</div>", "<div data-stock=4>x</div>"),
    "where a form sends": ("<form action=/a></form>", "<form action=/b></form>"),
    "the number of an item in a fragment": ("<a href='/list#item-7'>x</a>", "<a href='/list#item-8'>x</a>"),
    "how many stars there are": ("<p><i></i><i></i></p>", "<p><i></i><i></i><i></i></p>"),
    "how far a line is indented": ("<pre>if a:\n  b\n  <b>c</b></pre>", "<pre>if a:\n  b\n<b>c</b></pre>"),
    "text that a style sheet puts on the page": (
        "<style>p:after {content: '5.00'}</style>",
        "<style>p:after {content: '6.00'}</style>",
    ),
    "a value of a style": ("<p style='--stock: 5'>x</p>", "<p style='--stock: 6'>x</p>"),
    "which of the rooms is free": (
        "<div class=row><div>Blue</div><div>free</div></div><div class=row><div>Red</div><div>taken</div></div>",
        "<div class=row><div>Blue</div><div>taken</div></div><div class=row><div>Red</div><div>free</div></div>",
    ),
    "prices in cards without classes": (
        "<div><div><h3>A</h3></div><div><i>was</i> <b>5</b></div></div><div><div><h3>B</h3></div><div><i>was</i> <b>6</b></div></div>",
        "<div><div><h3>A</h3></div><div><i>was</i> <b>6</b></div></div><div><div><h3>B</h3></div><div><i>was</i> <b>5</b></div></div>",
    ),
    "so many stars that are pictures": (
        "<h1>x</h1><div><img src=/on><img src=/on><img src=/off></div>",
        "<h1>x</h1><div><img src=/on><img src=/off><img src=/off></div>",
    ),
    "so many stars that are drawn": (
        "<div><svg><use href='#on'/></svg><svg><use href='#on'/></svg><svg><use href='#off'/></svg></div>",
        "<div><svg><use href='#on'/></svg><svg><use href='#off'/></svg><svg><use href='#off'/></svg></div>",
    ),
    "which size is sold out": (
        "<li><button disabled>S</button><li><button>M</button>",
        "<li><button>S</button><li><button disabled>M</button>",
    ),
    "which option cannot be chosen": (
        "<select><option value=s disabled>S<option value=m>M</select>",
        "<select><option value=s>S<option value=m disabled>M</select>",
    ),
    "how many of an option are left": (
        "<select><option value=s data-left=0>S<option value=m data-left=5>M</select>",
        "<select><option value=s data-left=5>S<option value=m data-left=0>M</select>",
    ),
    "which thing is there": (
        "<ul><li><input type=checkbox checked> bath<li><input type=checkbox> bed</ul>",
        "<ul><li><input type=checkbox> bath<li><input type=checkbox checked> bed</ul>",
    ),
    "what is true of a thing": (
        "<ul><li data-stock=true>S<li data-stock=false>M</ul>",
        "<ul><li data-stock=false>S<li data-stock=true>M</ul>",
    ),
    "a rating that is a class": ("<p class='rating r-4'>Rating</p>", "<p class='rating r-5'>Rating</p>"),
    "how long a bar is": ("<td><img src=/bar width=40>", "<td><img src=/bar width=60>"),
    "what a link says about its target": ("<a href=/a rel=tag>x</a>", "<a href=/a rel=author>x</a>"),
    "what is said of which number": (
        "<script>s = {'17': {stock: true}, '18': {stock: false}}</script>",
        "<script>s = {'17': {stock: false}, '18': {stock: true}}</script>",
    ),
    "the URL that a page names as its own": ("<link rel=canonical href=/a>", "<link rel=canonical href=/b>"),
    "the language of another page": (
        "<link rel=alternate hreflang=de href=/a>",
        "<link rel=alternate hreflang=fr href=/a>",
    ),
    "a picture out of a sheet of pictures": (
        "<svg><use xlink:href='/s.svg#on'/></svg>",
        "<svg><use xlink:href='/s.svg#off'/></svg>",
    ),
    "a spot of the page": ("<a href='#red'>x</a>", "<a href='#blue'>x</a>"),
    "whether a text is shown": ("<p style='display: none'>x</p>", "<p style='display: block'>x</p>"),
    "where a text is shown": ("<p style='left: 5px'>x</p>", "<p style='left: 6px'>x</p>"),
    "which seat is red": (
        "<p><i style='color:red'>A</i><i style='color:blue'>B</i></p>",
        "<p><i style='color:blue'>A</i><i style='color:red'>B</i></p>",
    ),
    "a number in a class": ("<p class='thing sku-4711'>x</p>", "<p class='thing sku-4712'>x</p>"),
    "a fraction": (
        "<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>",
        "<math><mfrac><mn>2</mn><mn>1</mn></mfrac></math>",
    ),
    "the order of a formula": (
        "<math><msup><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mi>b</mi></msup></math>",
        "<math><msup><mi>b</mi><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow></msup></math>",
    ),
    "whether a number is a text": ("<script>s = {x: 5}</script>", "<script>s = {x: '5'}</script>"),
    "whether nothing is a text": ("<script>s = {x: null}</script>", "<script>s = {x: 'null'}</script>"),
    "what scripts would do": ("<noscript><img src=/a></noscript>", "<noscript><img src=/b></noscript>"),
}


@pytest.mark.parametrize("name", TELL_APART)
def test_what_differs_has_other_units(name: str) -> None:
    one, other = map(html, TELL_APART[name])

    assert units(one) != units(other)
    assert units(one) == units(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<meta name=description content=a>", "<meta name=description content=b>"),
        ("<link rel=next href=/2>", "<link rel=next href=/3>"),
        ("<meta http-equiv=refresh content='1; url=/a'>", "<meta http-equiv=refresh content='1; url=/b'>"),
        ("<title>a</title>", "<title>b</title>"),
        ("<link rel=preload as=image href=/a.jpg>", "<link rel=preload as=image href=/b.jpg>"),
    ],
)
def test_so_does_what_differs_in_the_head(one: str, other: str) -> None:
    assert units(f"<html><head>{one}</head><body>x") != units(f"<html><head>{other}</head><body>x")


@pytest.mark.parametrize("tag", ["html", "body"])
@pytest.mark.parametrize("name", ["class", "id"])
def test_so_does_what_tags_around_a_document_are_called(tag: str, name: str) -> None:
    page = html("<p>x</p>")

    one, other = (page.replace(f"<{tag}>", f"<{tag} {name}='shop {said}'>") for said in ("free", "taken"))

    assert units(one) != units(other)


@pytest.mark.parametrize(
    ("content_type", "one", "other"),
    [
        ("text/xml", "<r><a>x</a><won/></r>", "<r><a>x</a><lost/></r>"),
        ("application/json", '{"a": 5}', '{"a": "5"}'),
        ("application/json", '[{"a": [1.5e3, "x"]}]', '[{"a": ["1.5e3", "x"]}]'),
        ("application/json", '{"a": [{"n": "x", "p": 1}]}', '{"a": [{"n": "x", "p": 2}]}'),
        (
            "application/json",
            '[{"n": "x", "p": 1}, {"n": "y", "p": 2}]',
            '[{"n": "x", "p": 2}, {"n": "y", "p": 1}]',
        ),
        ("application/json", "[[1, 2], [3, 4]]", "[[1, 3], [2, 4]]"),
        (
            "text/xml",
            "<?xml version='1.0'?><a><b c='1'>x</b></a>",
            "<?xml version='1.0'?><a><b c='2'>x</b></a>",
        ),
        (
            "application/rss+xml",
            "<rss><item><guid>1</guid></item></rss>",
            "<rss><item><guid>2</guid></item></rss>",
        ),
        (
            "text/xml",
            "<s><url><loc>http://shop.test/a</loc><t>1</t></url><url><loc>http://shop.test/b</loc><t>2</t></url></s>",
            "<s><url><loc>http://shop.test/a</loc><t>2</t></url><url><loc>http://shop.test/b</loc><t>1</t></url></s>",
        ),
        (
            "text/xml",
            "<s><i><file>http://a.test/a.pdf</file><t>1</t></i><i><file>http://a.test/b.pdf</file><t>2</t></i></s>",
            "<s><i><file>http://a.test/a.pdf</file><t>2</t></i><i><file>http://a.test/b.pdf</file><t>1</t></i></s>",
        ),
        ("text/plain", f"{PROSE}\n\nthe end 1", f"{PROSE}\n\nthe end 2"),
        ("image/png", "\0a", "\0b"),
    ],
)
def test_so_do_bodies_that_are_no_html(content_type: str, one: str, other: str) -> None:
    assert units(one, content_type) != units(other, content_type)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "<ul><li><h3>A</h3><b>1</b><li><h3>B</h3><b>2</b></ul>",
            "<ul><li><h3>B</h3><b>2</b><li><h3>A</h3><b>1</b></ul>",
        ),
        ("<ul><li>a<li>b</ul>", "<ul><li>b<li>a<li>b</ul>"),
        (
            "<ul><li>a<li>b</ul><ul><li>c<li>d</ul>",
            "<ul><li>d<li>c</ul><ul><li>b<li>a</ul>",
        ),
        ("<div><img src=/a><img src=/b></div>", "<div><img src=/b><img src=/a></div>"),
        (CARDS.format("A", "B", "C", "D"), CARDS.format("D", "B", "C", "A")),
        ("<table><tr><td>1<td>2<tr><td>3<td>4</table>", "<table><tr><td>3<td>4<tr><td>1<td>2</table>"),
        ("<dl><dt>A<dd>1<dt>B<dd>2</dl>", "<dl><dt>B<dd>2<dt>A<dd>1</dl>"),
        ("<p>a  b</p>", "<p>\n a b </p><!-- c -->"),
        ("<img src=http://one.cdn.test/a.png>", "<img src=//two.cdn.test/a.png>"),
        ("<iframe src=/a></iframe>", "<iframe src=http://www.shop.test/a></iframe>"),
        ("<p><a>x</a><a>y</a>", "<p><a>y</a><a>x</a>"),
        ("<a href='/b#top'>x</a>", "<a href=http://shop.test/b>x</a>"),
        (
            "<ul><li style='order: 1'>a<li style='order: 2'>b</ul>",
            "<ul><li style='order: 1'>b<li style='order: 2'>a</ul>",
        ),
        ("<h2 id=a>x<a href='#a'>y</a></h2>", "<h2 id=a>x<a href='#'>y</a></h2>"),
        ("<link rel=canonical href=/a>", "<link rel=canonical href=https://www.shop.test/a>"),
    ],
)
def test_order_repetition_and_spelling_are_nothing_new(one: str, other: str) -> None:
    assert units(html(one)) == units(html(other))


def test_what_stands_alone_on_a_page_is_not_tied_to_the_template_around_it() -> None:
    inside = "<h1>Cup</h1><div class=text><p>one<p>two</div>"
    page, printed = (
        units(html(part)) for part in (f"<ul><li>home</ul>{inside}<div class=foot>x</div>", f"{inside}<p>y")
    )

    assert not {Kind.GROUP} & (kinds(page) | kinds(printed))


@pytest.mark.parametrize("tag", ["div", "section", "li", "article"])
@pytest.mark.parametrize("deep", [0, 11, 40])
def test_what_has_moved_to_another_element_of_its_kind_is_told_apart(tag: str, deep: int) -> None:
    around, after = "<div>" * deep, "</div>" * deep
    one, other = (
        f"{around}<{tag}><h3>A</h3>{a}</{tag}><{tag}><h3>B</h3>{b}</{tag}>{after}"
        for a, b in (("<b>5</b>", ""), ("", "<b>5</b>"))
    )

    assert units(html(one)) != units(html(other))


def test_orders_of_a_list_in_json_are_nothing_new() -> None:
    one = units('[{"n": "x", "p": 1}, {"n": "y", "p": 2}]', "application/json")

    assert one == units('[{"p": 2, "n": "y"}, {"n": "x", "p": 1}]', "application/json")


def test_fields_and_scripts_that_repeat_the_url_are_own() -> None:
    page = "<input name=back value='{0}'><script>var here = '{0}'</script><form action='{0}'></form>"
    other = "http://shop.test/list?id=8&sort=name"

    one = units(html(page.format("%2Flist%3Fid%3D7%26sort%3Dprice")))
    two = units(html(page.format("%2Flist%3Fid%3D8%26sort%3Dname")), url=other)

    assert one == two
    assert Kind.OWN in kinds(one)


def test_a_picture_and_a_text_are_never_own() -> None:
    one, two = (units(html(f"<p>{i}<img src=/img/{i}.jpg>"), url=f"http://a.test/?id={i}") for i in (7, 8))

    assert one != two
    assert Kind.OWN not in kinds(one)


@pytest.mark.parametrize("href", ["/login?next=/list%3Fid%3D7", "/list?page=2", "/7/print", "?a=1"])
def test_links_that_hold_the_pages_url_are_own_links(href: str) -> None:
    assert Kind.OWN_LINK in kinds(units(html(f"<a href='{href}'>x</a>")))


@pytest.mark.parametrize("href", ["/lists", "/77/print", "/about"])
def test_other_links_are_not(href: str) -> None:
    assert Kind.OWN_LINK not in kinds(units(html(f"<a href='{href}'>x</a>")))


def test_what_links_of_a_sitemap_stand_together_with_does_not_depend_on_how_the_page_was_reached() -> None:
    def sitemap(sid: int) -> Units:
        url = "<url><loc>http://shop.test/{}?sid={}</loc><t>{}</t></url>"
        text = f"<s>{url.format('a', sid, 1)}{url.format('b', sid, 2)}</s>"
        return units(text, "text/xml", f"http://shop.test/map?sid={sid}")

    def groups(found: Units) -> set[tuple[int, int]]:
        pairs = zip(found.places.tolist(), found.values.tolist(), strict=True)
        return {(place, value) for place, value in pairs if kind_of(place) is Kind.GROUP}

    assert groups(sitemap(1)) == groups(sitemap(2)) != set()


def test_a_feed_that_names_itself_is_no_other_feed() -> None:
    feed = "<feed><link rel='self' href='{}'/><title>x</title></feed>"
    first, second = "http://a.test/feed", "http://a.test/feed?format=atom"

    assert units(feed.format(first), "text/xml", first) == units(feed.format(second), "text/xml", second)


def test_what_is_to_be_ignored_has_no_units_and_its_words_count() -> None:
    one, two = (html(f"<p>a</p><div class=ad>{said}</div>").encode() for said in ("x", "y"))

    with_one, with_two = (describe(body, "text/html", None, URL, ignore=[".ad"]) for body in (one, two))

    assert with_one.units == with_two.units
    assert with_one.text_digest != with_two.text_digest
    assert with_one.words == describe(one, "text/html", None, URL).words


@pytest.mark.parametrize("selector", [".ad", "div.ad.big", "#x", "DIV#x"])
def test_so_it_is_with_a_document_that_is_not_parsed(selector: str) -> None:
    tangled = "<p " + " ".join(f"a{i}=1" for i in range(MAX_ATTRIBUTES + 1)) + ">"
    pages = (
        html(
            f"{tangled}a<div id=x class='big ad'>{said}<div>{said}<br></div><script>a = '{said}'</script></div>b"
        )
        for said in ("x", "y")
    )

    one, two = (describe(body.encode(), "text/html", None, URL, ignore=[selector]) for body in pages)

    assert one.units == two.units
    assert one.units != describe(html(f"{tangled}a").encode(), "text/html", None, URL).units


def test_a_feed_may_name_itself_without_its_host() -> None:
    feed = "<rss><channel><title>x</title><link>{}</link></channel></rss>"
    first, second = "/feed", "/feed?format=rss"

    one, two = (units(feed.format(path), "text/xml", f"http://a.test{path}") for path in (first, second))

    assert one == two


def test_places_have_names() -> None:
    page = describe(html("<div id=main><p class='b a'>x</p></div>").encode(), "text/html", None, URL)

    assert "text div#main p.a.b" in page.names.values()


#: Whoever changes any of these raises `UNITS_VERSION`.
GOLDEN = "".join(first for first, _ in TELL_APART.values())


def test_units_are_the_same_whatever_the_hash_seed() -> None:
    code = (
        "import sys; from scrapy_dust.page.sketch import describe; from scrapy_dust.page.units import pack;"
        f"print(pack(describe(sys.stdin.buffer.read(), 'text/html', 'utf-8', {URL!r}).units))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=html(GOLDEN).encode(),
            env={**ENVIRONMENT, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(said) == 1
    assert units(html(GOLDEN)).total == GOLDEN_TOTAL


ATTRIBUTE = st.sampled_from(
    [("class", "a b"), ("id", "x"), ("href", "/y"), ("title", "t"), ("data-x", "3"), ("style", "color:red")]
)


@given(st.lists(ATTRIBUTE, unique=True), st.randoms(use_true_random=False))
def test_the_order_of_attributes_does_not_matter(attributes: list[tuple[str, str]], chance: object) -> None:
    def page() -> str:
        return "<a " + " ".join(f'{name}="{value}"' for name, value in attributes) + ">x</a>"

    first = page()
    chance.shuffle(attributes)

    assert units(html(first)) == units(html(page()))


@given(
    st.lists(
        st.sampled_from(["<div>", "<p>a</p>", "</div>", "<b>x</b>", "<img src=a>", "<li>y"]), max_size=12
    )
)
def test_white_space_between_blocks_does_not_matter(parts: list[str]) -> None:
    assert units(html("".join(parts))) == units(html(" \n".join(parts)))


@given(st.text(max_size=200) | st.text("<>\"'=/ abps!-[]{}:,&;", max_size=200))
@example('<"')
def test_garbage_never_raises(text: str) -> None:
    for content_type in ("text/html", "application/json", "text/xml", "text/plain"):
        units(f"<{text}", content_type)
        units(f"<script>{text}", content_type)


@given(st.binary(max_size=200), st.text(max_size=30))
def test_neither_do_bytes_nor_urls(body: bytes, url: str) -> None:
    describe(body, None, None, url)


def test_a_picture_that_is_a_part_of_its_page_is_the_same_on_all_pages() -> None:
    def icon(name: str, url: str) -> set[tuple[int, int]]:
        found = units(html(f'<svg><use href="#{name}"></svg><p style="filter: url(#{name})">x</p>'), url=url)
        return set(zip(found.places.tolist(), found.values.tolist(), strict=True))

    assert icon("star", "http://shop.test/a") == icon("star", "http://shop.test/b?c=d")
    assert icon("star", "http://shop.test/a") != icon("half-a-star", "http://shop.test/a")


def in_base64(**said: object) -> str:
    return base64.b64encode(json.dumps(said).encode()).decode()


def test_json_in_base64_is_read_by_its_keys():
    """One key changes at each fetch; what the others say lasts all the same."""

    def state(stamp: str, size: str) -> Units:
        return units(
            html(f'<script>window.state = "{in_base64(at=stamp, name="chair", size=size)}"</script>')
        )

    first, again, other = state("x7f3", "small"), state("q9k1", "small"), state("q9k1", "large")
    assert len(set(zip(first.places.tolist(), first.values.tolist(), strict=True))) >= 3
    lasting = set(first.values.tolist()) & set(again.values.tolist())
    assert not lasting <= set(other.values.tolist())


@pytest.mark.parametrize(
    "said", ["eyJ", "eyJ!", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "%7B", "W3s=", "eyJ" * 50_000]
)
def test_what_only_looks_like_json_in_another_form_stands_for_itself(said):
    assert units(html(f"<b data-x='{said}'>t</b><script>x = '{said}'</script>")).places.size
