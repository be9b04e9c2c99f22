"""The values of items that a log keeps: those that can come from the page alone."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from hashlib import md5
from random import Random
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.page.item_values import CHANCE, ItemFields, ItemValues
from scrapy_dust.page.places import Kind, kind_of, url_value

URL = "http://shop.example/p/7?ref=homepage&sid=a1b2c3d4"
TEXT = (
    "<h1>Green tea &amp; honey</h1><p>1,034 people look at this</p><script>{'a': 'caf\\u00e9 noir'}</script>"
)
#: Each field has had another value before, and many of them.
BEFORE = [{"field": value} for value in ("before", 700, 300, 500, 100, 900, 200, 800, 400, 600)]


def kinds(
    *items: Any, text: str = TEXT, given_to: tuple[tuple[str, object], ...] = (), before: Any = BEFORE
) -> list[Kind]:
    known = ItemFields()
    for item in before:
        ItemValues(URL, (), known, lambda: TEXT).add_item("Item", item)
    values = ItemValues(URL, (), known, lambda: text, given_to)
    for item in items:
        values.add_item("Item", item)
    return sorted(kind for unit in values.units if (kind := kind_of(unit >> 32)) is not CHANCE)


def chance(seed: int = 1) -> Any:
    return Random(seed)


@pytest.mark.parametrize(
    "value",
    [
        URL,
        "/p/7",
        "/p/8?ref=homepage",
        "p8.html?ref=homepage",
        "p8.html;jsessionid=0a1b",
        "//cdn.example/x.png",
        "http://elsewhere.example/x",
        "seen at ref=homepage",
        "a1b2c3d4",
        "<b>Green tea</b>",
    ],
)
def test_urls_markup_and_what_repeats_the_pages_url_say_nothing(value):
    assert kinds({"field": value}) == []


@pytest.mark.parametrize("seconds", [0, 86_399, 1_763_640_000.123])
def test_the_clock_says_nothing(seconds):
    now = datetime.now(UTC)
    said = [now.isoformat(), str(now), str(now.date()), f"{now:%d.%m.%Y}", f"{now:%d/%m/%y}"]
    said += [now.timestamp(), int(now.timestamp()), int(now.timestamp() * 1000), now, f"{now:%H:%M}"]
    assert kinds(*({"field": value} for value in said), {"field": 1_000_000_000 + seconds}) == []


def test_ids_made_by_chance_or_of_the_url_say_nothing():
    random = chance()
    said = [str(UUID(int=random.getrandbits(128))) for _ in range(20)]
    said += [md5(str(n).encode(), usedforsecurity=False).hexdigest() for n in range(20)]
    said += [random.random(), random.getrandbits(64), "x7Qk20aZ"]  # type: ignore[list-item]
    assert kinds(*({"field": value} for value in said)) == []


def test_of_an_id_only_its_field_is_told():
    said = [str(UUID(int=number << 40)) for number in (7**20, 7**21)]
    units = []
    for value in said:
        values = ItemValues(URL, (), (known := ItemFields()), lambda: "")
        known.constants("Item id", frozenset())
        values.add_item("Item", {"id": value})
        units.append(values.units)
    assert units[0] == units[1] != []


@pytest.mark.parametrize("words", ["", "item number "])
def test_a_counter_says_nothing(words):
    known = ItemFields()
    for number in range(100, 200):
        values = ItemValues(URL, (), known, lambda: "")
        values.add_item("Item", {"n": f"{words}{number}" if words else number})
        assert {kind_of(unit >> 32) for unit in values.units} <= {CHANCE}


@pytest.mark.parametrize("value", [True, None, b"bytes", object(), "", "ab", 5])
def test_flags_and_short_values_say_nothing(value):
    assert kinds({"field": value}) == []


def test_what_the_request_or_a_header_brought_says_nothing():
    assert kinds({"field": "from the list of offers"}, given_to=(("", "from the list of offers"),)) == []
    assert kinds({"field": "from the list of offers"}) == [Kind.DATA]


def test_what_the_request_handed_on_is_noted_where_the_page_does_not_show_it():
    brought = [
        ("meta:list", "offers"),
        ("meta:title", "green tea"),
        ("meta:from", "homepage"),
        ("", "inside"),
    ]
    values = ItemValues(URL, (), ItemFields(), lambda: TEXT, brought)
    values.add_item("Item", {"a": "offers", "b": "green tea", "c": "homepage", "d": "inside"})
    assert values.handed_on == {"meta:list"}


def test_what_a_header_says_says_nothing():
    for headers in ([], ["not so random words"]):
        values = ItemValues(URL, (), (known := ItemFields()), lambda: TEXT, (), lambda: headers)  # noqa: B023
        known.constants("Item field", frozenset())
        values.add_item("Item", {"field": "not so random words"})
        assert len(values.units) == (not headers)


@pytest.mark.parametrize(
    "value",
    [
        "Green tea & honey",
        "green TEA & honey",
        "honey, green tea",
        "1034 people look at this",
        "café noir",
        ["Green tea & honey"],
        {"a": [{"b": "Green tea & honey"}]},
    ],
)
def test_what_stands_on_the_page_is_told_as_such(value):
    assert kinds({"field": value}) == [Kind.TEXT]


def test_a_number_that_stands_on_the_page_says_nothing():
    assert kinds({"field": 1034}, {"field": "1,034"}, {"field": Decimal(1034)}) == []


def test_words_that_the_spider_puts_around_what_stands_on_the_page_say_nothing():
    before = [{"field": "exactly 12 viewers"}]
    assert kinds({"field": "exactly 1034 viewers"}, before=before) == []


@pytest.mark.parametrize("value", [4737, "4737", "47.37", "a secret word", "100-small", Decimal("47.35")])
def test_what_the_spider_made_of_the_page_is_told_as_such(value):
    assert kinds({"field": value}) == [Kind.DATA]


@given(st.permutations("one of the words of a value that a page shows".split()))
def test_the_order_of_words_does_not_count_in_a_value_that_is_made_of_several_texts(words):
    said = []
    for value in (" ".join(words), "one of the words of a value that a page shows"):
        texts = value.replace(" ", "<br>")
        values = ItemValues(URL, (), ItemFields(), lambda: texts)  # noqa: B023
        values.add_item("Item", {"field": value})
        said.append(values.units)
    assert said[0] == said[1] != []


def test_only_the_fields_that_a_user_names_count():
    values = ItemValues(URL, ["title"], ItemFields(), lambda: TEXT)
    values.add_item("Item", {"title": "Green tea & honey", "about": "people look at this"})
    assert list(values.names.values()) == ["text item Item title"]


@given(
    st.recursive(
        st.none() | st.text() | st.floats() | st.integers(),
        lambda one: st.lists(one) | st.dictionaries(st.text(), one),
    )
)
def test_whatever_a_field_holds_is_taken(value):
    kinds({"field": value}, text="some text")


def test_one_segment_or_value_of_the_pages_url_is_what_the_spider_took_there():
    assert kinds({"field": "homepage"}) == [Kind.DATA]
    assert kinds({"field": 7}, text="") == [Kind.DATA]
    assert kinds({"field": "a1b2c3d4"}) == []


def test_a_number_does_not_stand_on_a_page_that_has_it_in_a_cipher_alone():
    cipher = "0f12ab34cd56ef" * 20
    assert kinds({"field": "12.34"}, text=f"<p>{cipher}</p>") == [Kind.DATA]
    assert kinds({"field": "12.34"}, text=f"<p>{cipher}</p><b>12.34</b>") == []


def made_up(*urls: str, text: str = "", page: str = URL, sent: str = "") -> set[int]:
    """Where the requests for *urls* lead that a callback is said to have made up."""
    values = ItemValues(page, (), ItemFields(), lambda: text)
    for url in urls:
        values.add_request("parse_api", url, sent)
    return {unit & 0xFFFFFFFF for unit in values.units if kind_of(unit >> 32) is Kind.LINK}


API = "http://s.example/api/specs/8"


@pytest.mark.parametrize(
    "text",
    [
        f'<a href="{API}">',
        '<a href="/api/specs/8">',
        '<script>{"next": "\\/api\\/specs\\/8"}</script>',
        '<a href="/api/specs/8&amp;x=1">',
    ],
)
def test_a_request_for_a_link_of_the_page_is_not_made_up(text):
    assert made_up(API, text=text) == set()
    assert made_up(API, text="<p>8 specs</p>") == {url_value(API)}


def test_a_link_may_be_relative_to_the_folder_of_the_page():
    page = "http://s.example/api/list"
    assert made_up("http://s.example/api/specs/8", page=page, text='<a href="specs/8">') == set()


def test_a_form_that_is_sent_is_made_up_however_it_reads():
    assert made_up(API, text=API, sent="POST a=1") == {url_value(API + "POST a=1")}


def test_many_requests_are_a_list_and_not_made_up():
    assert made_up(*(f"http://s.example/api/{number}" for number in range(100, 120))) == set()


def test_a_page_with_very_many_values_says_nothing():
    values = ItemValues(URL, (), ItemFields(), lambda: TEXT)
    values.add_item("Item", {"field": "homepage"})
    assert values.units
    values.add_item("Item", {"rows": list(range(10_000))})
    assert values.units == []
