"""What a spider took, as units: which yields are the same, and which are others."""

from __future__ import annotations

import pytest

from scrapy_dust.page.taking import Taken

URL = "http://s.example/p?id=1&sid=a"


def units(*items: dict[str, object], url: str = URL, fields: tuple[str, ...] = ()) -> set[int]:
    taken = Taken(url, fields)
    for item in items:
        taken.add_item("Product", item)
    return set(taken.units)


TEA, MINT = {"name": "tea", "price": 5}, {"name": "mint", "price": 6}


def test_the_order_of_items_does_not_count_and_their_number_does():
    assert units(TEA, MINT) == units(MINT, TEA)
    assert units(TEA, TEA) != units(TEA)


@pytest.mark.parametrize(
    "others",
    [
        ({"name": "tea", "price": 6}, {"name": "mint", "price": 5}),
        ({"name": "tea", "price": 5}, {"name": "mint", "price": "6 EUR"}),
        ({"name": "tea", "price": 5}, {"name": "mint"}),
        (TEA,),
    ],
)
def test_other_values_are_others_and_so_are_values_of_another_item(others):
    assert units(TEA, MINT) != units(*others)


def test_what_belongs_together_within_an_item_is_told():
    def sold(small: int, large: int) -> dict[str, object]:
        return {"name": "tea", "sizes": [{"size": "S", "price": small}, {"size": "L", "price": large}]}

    assert units(sold(5, 9)) == units(sold(5, 9))
    assert units(sold(5, 9)) != units(sold(9, 5))


def test_what_is_empty_is_not_there():
    assert units({**TEA, "more": None, "text": "", "tags": [], "by": {}}) == units(TEA)


@pytest.mark.parametrize(
    "said",
    ["{url}", "/p?id=1&sid={sid}", "see {url} for more", "http://share.example/?u={url}", "{quoted}"],
)
def test_the_pages_own_url_does_not_count(said):
    def item(sid: str) -> set[int]:
        url = f"http://s.example/p?id=1&sid={sid}"
        quoted = url.replace("/", "%2F").replace(":", "%3A")
        return units({**TEA, "where": said.format(url=url, sid=sid, quoted=quoted)}, url=url)

    assert item("a") == item("b")


def test_another_url_in_an_item_is_a_link():
    taken = Taken(URL)
    taken.add_item("Product", {"image": "http://cdn.example/1.jpg"})
    assert list(taken.links.values()) == ["http://cdn.example/1.jpg"]
    assert units({"image": "http://cdn.example/1.jpg"}) != units({"image": "http://cdn.example/2.jpg"})


def test_only_the_fields_that_are_named_count():
    assert units(TEA, fields=("name",)) == units({**TEA, "price": 7}, fields=("name",))


def requested(callback: str, url: str, sent: bytes | None = None, **data: object) -> set[int]:
    taken = Taken(URL)
    taken.add_request(callback, url, data, sent)
    return set(taken.units)


def test_requests_are_told_by_callback_target_body_and_what_is_handed_on():
    first = requested("parse", "http://s.example/a")
    assert first == requested("parse", "http://s.example/a#top")
    assert first != requested("product", "http://s.example/a")
    assert first != requested("parse", "http://s.example/b")
    assert first != requested("parse", "http://s.example/a", b"POST x")
    assert first != requested("parse", "http://s.example/a", price=5)
    assert requested("parse", "http://s.example/a", price=5) != requested(
        "parse", "http://s.example/a", price=6
    )


def test_an_item_that_holds_itself_is_read_to_an_end():
    item: dict[str, object] = {"name": "tea"}
    item["left"], item["right"] = item, item
    assert units(item)
