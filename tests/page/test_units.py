"""Units are packed for the log and come back as they were."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.page.places import VALUE, Kind, as_kind, kind_of, place_of, url_value
from scrapy_dust.page.units import MAX_LOGGED, MAX_UNITS, pack, units_of, unpack
from scrapy_dust.visits.pages import PackedUnits

UNIT = st.builds(
    lambda place, value: place << 32 | value,
    st.integers(0, (1 << 24) - 1),
    st.integers(0, VALUE).map(lambda value: value & VALUE),
)


@given(st.lists(UNIT, max_size=MAX_LOGGED))
def test_what_is_packed_comes_back(units: list[int]) -> None:
    made = units_of(units)

    back = unpack(pack(made))

    assert back == made
    assert (back.places == made.places).all()
    assert (back.values == made.values).all()
    pairs = zip(back.places.tolist(), back.values.tolist(), strict=True)
    assert sorted(place << 32 | value for place, value in pairs) == sorted(set(units))


@given(st.lists(UNIT, max_size=9))
def test_the_documentation_says_how_to_read_what_is_packed(units: list[int]) -> None:
    page = (Path(__file__).parents[2] / "docs/crawl-log.md").read_text()
    (code,) = re.findall(r"```python\n(letters = .*?)```", page, re.DOTALL)
    read: dict[str, object] = {"record": {"units": pack(units_of(units)).content.decode()}}

    exec(code, read)

    short = [(unit >> 32, (unit & VALUE) >> 22 << 14 | unit & 0x3FFF) for unit in sorted(set(units))]
    assert read["units"] == short


def test_of_many_units_a_log_keeps_some() -> None:
    made = units_of(7 << 32 | value for value in range(3 * MAX_LOGGED))

    back = unpack(pack(made))

    assert len(back) == MAX_LOGGED
    assert back.total == made.total
    assert made.whole
    assert not back.whole


@given(st.lists(UNIT, max_size=40), st.randoms(use_true_random=False))
def test_the_total_knows_neither_order_nor_repetition(units: list[int], chance: object) -> None:
    shuffled = [*units, *units[:5]]
    chance.shuffle(shuffled)

    assert units_of(shuffled).total == units_of(units).total


def test_the_total_knows_each_unit() -> None:
    units = [7 << 32 | value for value in range(3 * MAX_UNITS)]

    assert units_of(units).total != units_of(units[:-1]).total
    assert not units_of(units).whole


def test_of_too_many_units_like_pages_keep_the_same() -> None:
    units = [7 << 32 | value for value in range(3 * MAX_UNITS)]
    few = units_of(units)
    others = units_of([*units[30:], 8 << 32])

    assert len(few) == MAX_UNITS
    assert len(np.intersect1d(few.values, others.values)) > 0.95 * MAX_UNITS


def test_units_stand_by_place_and_value() -> None:
    made = units_of([2 << 32 | 5, 1 << 32 | 9, 2 << 32 | 4, 1 << 32 | 3])

    assert made.places.tolist() == [1, 1, 2, 2]
    assert made.values.tolist() == [3, 9, 4, 5]


@pytest.mark.parametrize("content", [b"abcz", b"\0", b"ggggggggggA", "Aä".encode()])
def test_what_was_not_packed_is_not_unpacked(content: bytes) -> None:
    with pytest.raises(ValueError, match="units"):
        unpack(PackedUnits(content, 0))


def test_a_place_tells_its_kind() -> None:
    place = place_of(Kind.OWN_LINK, "div#main a")

    assert kind_of(place) is Kind.OWN_LINK
    assert as_kind(place, Kind.LINK) == place_of(Kind.LINK, "div#main a")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.test/x#top", "http://a.test/x"),
        ("http://a.test", "http://a.test/"),
        ("http://a.test?q", "http://a.test/?q"),
    ],
)
def test_a_fragment_and_a_path_left_out_are_no_other_target(one: str, other: str) -> None:
    assert url_value(one) == url_value(other)


def test_how_links_are_written_does_not_decide_which_texts_of_a_long_page_are_kept() -> None:
    texts = [7 << 32 | value for value in range(3 * MAX_LOGGED)]
    of_links = place_of(Kind.LINK, "a")
    kept = []
    for host in ("s.example", "www.s.example"):
        links = [of_links << 32 | url_value(f"http://{host}/{number}") for number in range(30)]
        kept.append(unpack(pack(units_of([*texts, *links]))))

    assert kept[0].total != kept[1].total
    assert kept[0].total_of_rest == kept[1].total_of_rest
    assert all(one.has_all_links for one in kept)
    of_texts = [one.values[one.places == 7].tolist() for one in kept]
    assert of_texts[0] == of_texts[1]


def test_of_a_page_of_links_not_all_are_said_to_be_there() -> None:
    of_links = place_of(Kind.LINK, "a")
    made = units_of(of_links << 32 | url_value(f"http://s.example/{n}") for n in range(2 * MAX_LOGGED))

    assert made.has_all_links
    assert not unpack(pack(made)).has_all_links
