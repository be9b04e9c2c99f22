"""What becomes of pages one after the other: walls are let through, whatever they say; pages with two addresses are copies."""

from __future__ import annotations

import json
import random

import pytest

from scrapy_dust.crawl.seen_contents import Contents
from scrapy_dust.crawl_log.recording import Body
from scrapy_dust.page.aliases import ENOUGH
from scrapy_dust.page.content import content_of
from scrapy_dust.page.volatile import LEAST_SURE
from scrapy_dust.settings import DustSettings
from scrapy_dust.signatures.copies import Kind
from scrapy_dust.signatures.sqlite_store import SqliteStore
from tests.page.building import volatile_in
from tests.prose import document, prose

HOME = "http://shop.test"
HTML = "text/html; charset=utf-8"
FRAME = prose(99, 600)


#: What the test that runs has opened.
_opened: list[SqliteStore] = []


@pytest.fixture(autouse=True)
def stores_are_closed():
    yield
    while _opened:
        _opened.pop().close()


def contents(canonize=str, volatile=None, **settings):
    parsed = DustSettings.parse({"DUST_CONTENT_ERRORS": [], **settings})
    _opened.append(store := SqliteStore(None))
    return Contents(parsed, store, canonize, {"shop.test": volatile} if volatile else {})


def copies(pages, looking=None, kind=HTML):
    """The paths of *pages*, each with its body, that are copies, in their order."""
    looking = looking or contents()
    return [path for path, body in pages if looking.examine(HOME + path, Body(body, kind, None)).is_copy]


def item(number, more=""):
    return document(number, frame=FRAME, more=f"<b class=price>{number}.99</b>{more}")


#: No list of words knows them. Each is longer than many a page.
WALLS = {
    "captcha": document(5001, words=40, title="Ellenőrizze, hogy ember"),
    "cookies": document(
        5002, words=500, title="Sütik", more="<form action=/consent><button>Rendben</button></form>"
    ),
    "expired": document(5003, words=90, title="A munkamenet lejárt", more='<a href="/begin">x</a>'),
    "soft 404": document(5004, words=600, title="Shop", frame=FRAME),
    "shell": document(5005, body=FRAME, title="Shop", more="<div id=app></div><script src=/app.js></script>"),
    "tiny shell": b"<title>Shop</title><div id=app></div><script src=/app.js></script>",
    "home": document(5006, "/1", "/2", words=300, frame=FRAME, more='<link rel=canonical href="/">'),
}
FORMS = {
    "by path": "/item/{0}",
    "by parameter": "/show?item={0}",
    "slugs of common words": "/sale/red-{0}/",
    "of categories": "/{1}/item/{0}",
    "several parameters": "/show?category={1}&item={0}&page=1",
}


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("form", FORMS)
def test_walls_in_place_of_pages_are_let_through(form, wall):
    paths = [FORMS[form].format(n, n % 7) for n in range(70)]
    for begin, end in ((0, 60), (68, 70)):
        pages = [(path, WALLS[wall] if begin <= n < end else item(n)) for n, path in enumerate(paths)]
        assert copies([("/", item(900)), *pages]) == []


@pytest.mark.parametrize("wall", WALLS)
def test_walls_are_let_through_where_pages_have_two_addresses_each(wall):
    def pages(walled):
        chance = random.Random(4)
        for n in range(60):
            body = WALLS[wall] if walled and chance.random() < 0.3 else item(n)
            yield from ((f"/item/{n}", body), (f"/print/{n}", body))

    walled = dict(pages(walled=True))
    lost = {path.rpartition("/")[2] for path in copies(walled.items())}
    # Of two addresses of one page that showed the wall, one came through at least.
    assert len(copies(pages(walled=False))) >= 60 - ENOUGH - 8
    assert all(walled[f"/item/{n}"] == walled[f"/print/{n}"] for n in lost)
    assert not {path for path in copies(walled.items()) if path.startswith("/item/")}


def test_shells_of_several_kinds_of_page_are_let_through():
    shells = {
        name: document(6000, body=FRAME, title=name, more="<script src=/app.js></script>")
        for name in "abcdefghij"
    }
    assert copies((f"/{name}?id={n}", shell) for name, shell in shells.items() for n in range(20)) == []


def test_empty_lists_are_let_through():
    pages = [(f"/find?q={n}", item(n)) for n in range(20)]
    assert copies([*pages, *((f"/find?q={prose(n, 1)}", item(900)) for n in range(20))]) == []


def test_prices_lists_and_script_data_in_equal_words_are_pages_of_their_own():
    def pages():
        for n in range(48):
            data = json.dumps({"@type": "Product", "sku": n + 5000})
            yield f"/price?v={n}", document(1, words=600, more=f"<b>{n}.99</b>")
            yield f"/list?v={n}", document(2, words=600, more=f'<li><img src="/{n}.jpg">')
            yield (
                f"/data?v={n}",
                document(3, words=600, more=f'<script type="application/ld+json">{data}</script>'),
            )
            yield f"/app?v={n}", document(4, words=600, more=f"<script>state = {data}</script>")
            yield f"/go?v={n}", document(5, words=600, more=f'<a href="/to/{n}">more</a>')

    assert copies(pages()) == []


ALIASES = {
    "with and without a parameter": ("/item/{0}", "/item/{0}?ref=7"),
    "values of a parameter": ("/show?item={0}&sid=1", "/show?item={0}&sid=2"),
    "segments": ("/item/{0}", "/print/{0}"),
    "slashes": ("/item/{0}", "/item/{0}/"),
}


@pytest.mark.parametrize("form", ALIASES)
def test_pages_with_two_addresses_are_copies_once_that_was_seen_of_some(form):
    one, other = ALIASES[form]
    pages = [(form.format(n), item(n)) for n in range(40) for form in (one, other)]
    found = copies(pages)
    assert len(found) >= 40 - 8
    assert set(found) <= {other.format(n) for n in range(40)}


def test_a_canonical_joins_addresses_that_no_parameter_does():
    def pages():
        for n in range(40):
            body = item(n, f'<link rel=canonical href="/{prose(n, 2).replace(" ", "-")}">')
            yield from (
                (f"/{prose(n, 2).replace(' ', '-')}", body),
                (f"/{prose(n + 500, 3).replace(' ', '/')}", body),
            )

    assert len(copies(pages())) >= 40 - 8


@pytest.mark.parametrize("host", ["", "https://www.elsewhere.example"])
def test_the_address_that_a_page_names_as_its_own_joins_or_parts(host):
    def named(name):
        return lambda n: item(n, f'<link rel=canonical href="{host}/{name.format(n)}">')

    def found(one, other):
        pages = ((f"/item/{n}", one(n)) for n in range(40))
        others = ((f"/item/{n}?ref=7", other(n)) for n in range(40))
        return len(copies(page for pair in zip(pages, others, strict=True) for page in pair))

    assert found(named("item/{}"), named("item/{}")) >= 40 - 8
    assert found(named("item/{}"), named("item/{}?ref=7")) >= 40 - 8
    assert found(item, named("item/{}")) >= 40 - 8
    assert found(named("a/{}"), named("b/{}")) == 0


def test_session_ids_in_links_do_not_tell_addresses_apart_where_a_rule_leaves_them_out():
    def linking(n, sid):
        return item(n, "".join(f'<a href="/item/{n + m}?sid={sid}{n}">{m}</a>' for m in range(1, 4)))

    pages = [
        (f"/{form}/{n}", linking(n, sid)) for n in range(40) for sid, form in enumerate(("item", "print"))
    ]
    assert copies(pages) == []
    assert len(copies(pages, contents(lambda url: url.partition("?sid=")[0]))) >= 40 - 8


def test_counters_do_not_tell_addresses_apart_once_their_place_is_known():
    def advertising(n, seed):
        return item(n, f"<aside class=seen>Seen {seed} times</aside>")

    pages = [
        (f"/{form}/{n}", advertising(n, 100 * seed + n))
        for n in range(40)
        for seed, form in enumerate(("item", "print"))
    ]
    assert copies(pages) == []
    answers = [
        (
            f"{HOME}/{form}/.",
            [content_of(advertising(n, seed), HTML, None, HOME).units for seed in (700 + n, 800 + n)],
        )
        for form in ("item", "print")
        for n in range(LEAST_SURE)
    ]
    assert len(copies(pages, contents(volatile=volatile_in(answers)))) >= 40 - 8


def test_files_of_equal_bytes_are_copies():
    pages = [
        ("/1.zip", b"PK" + b"\1" * 500),
        ("/2.zip", b"PK" + b"\2" * 500),
        ("/3.zip", b"PK" + b"\1" * 500),
    ]
    assert copies(pages, kind="application/zip") == ["/3.zip"]


def test_a_page_says_why_it_is_none():
    looking = contents()
    copies([(f"/{n}", item(n)) for n in range(20)], looking)
    assert looking.examine(f"{HOME}/x", Body(item(3), HTML, None)).kind is Kind.WALL
