from __future__ import annotations

import json
import random as chance
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.page.site_template import SiteTemplate
from scrapy_dust.page.sketch import describe
from scrapy_dust.page.unitsets import UnitSet, array_of, set_of
from scrapy_dust.page.volatile import LEAST_SURE, LEAST_URLS, Volatile
from scrapy_dust.rule_book import volatile_places
from scrapy_dust.rule_book.volatile_places import FILE, Site, known_places, save_places
from tests.page.building import page, place_named, volatile_in

KIND = "http://s.example/tea/."


def seen(number: int, *said: str) -> UnitSet:
    return set_of(page(f"text h1: Tea {number}", f"media img: {number}.jpg", "text p: All of it", *said))


def groups(urls: int, *more: str) -> list[tuple[str, list[UnitSet]]]:
    """Each URL has a counter that goes on at each fetch, beside what is *more* in the second answer only."""
    return [
        (KIND, [seen(url, f"text .seen: {url + 100}"), seen(url, f"text .seen: {url + 200}", *more)])
        for url in range(urls)
    ]


def aside(volatile: Volatile, *said: str, template: str = KIND) -> list[bool]:
    units = set_of(page(*said))
    in_order = [set_of(page(one))[0] for one in said]
    mask = dict(zip(units.tolist(), volatile.of(template).has(units).tolist(), strict=True))
    return [mask[int(one)] for one in in_order]


def offer(price: str, second: int) -> UnitSet:
    body = f"<h1>Tea</h1><p>All of it, and more</p><p class=now>{price} for one at 10:43:{second:02}</p>"
    described = describe(body.encode(), "text/html", "utf-8", "http://s.example/tea/1").units
    assert described is not None
    return set_of(described)


def test_a_price_beside_a_clock_counts() -> None:
    volatile = volatile_in((KIND, [offer("9.50", n), offer("9.50", n + 20)]) for n in range(LEAST_URLS))
    now, later, dearer = (
        units[~volatile.of(KIND).has(units)].tolist()
        for units in (offer("9.50", 50), offer("9.50", 51), offer("9.90", 50))
    )
    assert now == later
    assert now != dearer


@given(st.integers(1, 8))
def test_a_place_is_volatile_once_several_urls_have_shown_it_to_change(urls: int) -> None:
    volatile = volatile_in(groups(urls))
    assert aside(volatile, "text .seen: 7", "text h1: Tea 7", "media img: 7.jpg") == [
        urls >= LEAST_URLS,
        False,
        False,
    ]


def test_what_is_volatile_on_pages_of_one_kind_is_not_on_others() -> None:
    assert aside(volatile_in(groups(5)), "text .seen: 7", template="http://s.example/coffee/.") == [False]


def test_what_is_volatile_under_several_path_templates_is_so_on_the_whole_site() -> None:
    both = [*groups(3), *(("http://s.example/cups/.", answers) for _, answers in groups(3))]
    assert aside(volatile_in(both), "text .seen: 7", template="http://s.example/coffee/.") == [True]


def test_what_is_volatile_with_several_sets_of_parameters_is_so_on_the_path_and_nowhere_else() -> None:
    kinds = [f"{KIND}?{names}" for names in ("sid=", "sid=&page=")]
    both = [(kind, answers) for kind in kinds for _, answers in groups(3)]
    learned = volatile_in(both)
    assert aside(learned, "text .seen: 7", template=KIND) == [True]
    assert aside(learned, "text .seen: 7", template="http://s.example/coffee/.") == [False]


def test_of_a_place_that_changes_in_part_the_texts_of_a_shape_are_volatile() -> None:
    rows = [f"text td: row {letter}" for letter in "abcdef"]
    learned = volatile_in(
        (KIND, [set_of(page(*rows, f"text td: {url}:0{minute}")) for minute in (1, 2)]) for url in range(4)
    )
    assert aside(learned, "text td: 7:09", "text td: row x") == [True, False]


def test_a_place_that_only_one_answer_has_proves_nothing() -> None:
    """It may be of a wall, or missing behind one."""
    volatile = volatile_in(groups(5, "text .offer: now", "text .offer: or never"))
    assert aside(volatile, "text .offer: now") == [False]


def test_answers_with_hardly_anything_in_common_prove_nothing() -> None:
    wall = set_of(page("text h1: Wait", "text p: Are you human?", "media img: letters.png"))
    volatile = volatile_in(
        (KIND, [seen(url, *map("text li: {}".format, range(9))), wall]) for url in range(5)
    )
    assert not volatile.of(KIND)


@given(st.integers(3, 6), st.integers(1, 3))
def test_what_is_learned_twice_counts_once(urls: int, times: int) -> None:
    once = volatile_in(groups(urls))
    again = once
    for _ in range(times):
        again = again.joined(volatile_in(groups(urls)))
    assert again.changes == once.changes
    assert Volatile().joined(once).changes == once.changes == once.joined(Volatile()).changes


def drawn(url: int, fetch: int, *said: str) -> UnitSet:
    numbers = (chance.Random(f"{url} {fetch} {n}").randrange(10**9) for n in range(5))
    words = [f"text .tip: {str(number).translate(LETTERS)}" for number in numbers]
    return seen(url, *words, *said)


LETTERS = str.maketrans("0123456789", "abcdefghij")


@pytest.mark.parametrize(("more", "sure"), [((), True), (("text .tip: Ask",), False)])
def test_texts_change_in_words_where_hardly_a_page_keeps_a_word(more, sure) -> None:
    learned = volatile_in(
        (KIND, [drawn(url, fetch, *more) for fetch in (1, 2)]) for url in range(10 * LEAST_SURE)
    )
    new = set_of(page("text .tip: Sold out"))
    assert learned.surely(KIND).change_in_words(new).tolist() == [sure]


def test_where_numbers_change_alone_the_words_around_them_do_not() -> None:
    learned = volatile_in(groups(4 * LEAST_SURE))
    new = set_of(page("text .seen: 7 times"))
    assert learned.surely(KIND).has(new).tolist() == [True]
    assert learned.surely(KIND).change_in_words(new).tolist() == [False]


@pytest.mark.parametrize(("fixed", "sure"), [(0, True), (1, False)])
def test_what_stays_on_one_kind_of_page_is_not_surely_volatile_on_others(
    fixed: int, sure: bool, tmp_path: Path
) -> None:
    kinds = [(f"http://s.example/{url}/.", answers) for url, (_, answers) in enumerate(groups(LEAST_SURE))]
    kinds += [("http://s.example/fixed/.", 2 * [seen(1, "text .seen: 5")])] * fixed
    learned = volatile_in(kinds)
    new = set_of(page("text .seen: 7"))
    assert learned.surely(KIND).has(new).tolist() == [sure]
    save_places(tmp_path, {"s.example": Site(learned)})
    again = known_places(tmp_path).sites["s.example"].volatile.joined(learned)
    assert again.surely(KIND).has(new).tolist() == [sure]


# On disk.


def site() -> Site:
    return Site(volatile_in(groups(4)), {place_named("text .seen"): "text .seen"})


def test_what_is_remembered_is_known_to_the_next_run(tmp_path: Path) -> None:
    save_places(tmp_path, {"s.example": site()})
    save_places(tmp_path, {"t.example": site()})
    found = known_places(tmp_path)
    assert set(found.sites) == {"s.example", "t.example"}
    assert aside(found.sites["s.example"].volatile, "text .seen: 7", "text h1: 7") == [True, False]
    assert found.sites["s.example"].names == site().names
    assert found.warning is None


def test_the_newest_template_is_known_to_the_next_run_and_an_old_one_stays_where_none_was_learned(
    tmp_path: Path,
) -> None:
    old, new = (
        SiteTemplate(*(array_of(range(first, first + count)) for count in (3, 2, 1))) for first in (7, 9)
    )
    save_places(tmp_path, {"s.example": replace(site(), template=old)})
    save_places(tmp_path, {"s.example": Site(template=new)})
    save_places(tmp_path, {"s.example": site()})
    found = known_places(tmp_path).knowledge()["s.example"]
    kept = (found.common.tolist(), found.template.tolist(), found.chrome.tolist())
    assert kept == ([9, 10, 11], [9, 10], [9])
    assert aside(found.volatile, "text .seen: 7") == [True]


def test_nothing_learned_writes_nothing(tmp_path: Path) -> None:
    save_places(tmp_path, {"s.example": Site()})
    assert not (tmp_path / FILE).exists()
    assert known_places(tmp_path).sites == {} == known_places(None).sites


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b'{"format": 4, "sites": {"s": ', "is not JSON"),
        (b'{"format": 9, "sites": {}}', "it has format 9; this version reads 4"),
        (b"[]", "must be an object"),
        (
            b'{"format": 4, "sites": {"s": {"templates": {"t": [[1, 2, "x", 4, 5, 6, 7, 8]]}, "names": {}}}}',
            "seven counts",
        ),
        (b'{"format": 4, "sites": {"s": {"templates": {}, "names": {"x": "y"}}}}', "of no place"),
        (
            b'{"format": 4, "sites": {"s": {"templates": {}, "names": {}, "common": {"common": "0x"}}}}',
            "no list of units",
        ),
    ],
)
def test_a_torn_or_foreign_file_is_told_in_one_sentence_and_begun_anew(
    tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / FILE).write_bytes(content)
    found = known_places(tmp_path)
    assert found.sites == {}
    assert found.warning is not None
    assert said in found.warning
    assert found.warning.startswith(str(tmp_path / FILE))
    save_places(tmp_path, {"s.example": site()})
    assert set(known_places(tmp_path).sites) == {"s.example"}


def test_the_file_says_which_format_it_has_and_is_the_same_each_time(tmp_path: Path) -> None:
    save_places(tmp_path, {"s.example": site()})
    before = (tmp_path / FILE).read_bytes()
    save_places(tmp_path, {"s.example": site()})
    assert (tmp_path / FILE).read_bytes() == before
    assert json.loads(before)["format"] == volatile_places.FORMAT


@pytest.mark.parametrize("urls", [LEAST_URLS, LEAST_SURE - 1, LEAST_SURE])
def test_it_is_known_how_many_more_urls_would_make_all_places_sure(urls: int) -> None:
    assert volatile_in(groups(urls)).lacking(KIND) == LEAST_SURE - urls


def test_of_a_template_that_does_not_change_nothing_is_lacking() -> None:
    assert volatile_in([]).lacking(KIND) == 0


def test_a_unit_that_the_third_answer_has_not_was_there_by_chance() -> None:
    drawn = [["one", "two"], ["two", "three"], ["four", "five"]]
    answers = [seen(1, *(f"text .more: {said}" for said in some)) for some in drawn]
    place = place_named("text .more")
    for number, survived in ((2, 1), (3, 0)):
        changes = volatile_in([(KIND, answers[:number])]).changes[KIND][place]
        assert (changes.urls, changes.survived, changes.emptied) == (1, survived, 1 - survived)


def test_what_changes_under_several_sets_of_parameters_changes_on_the_whole_path() -> None:
    one, other = f"{KIND}?a=", f"{KIND}?b="
    volatile = volatile_in([(one, groups(1)[0][1]), (other, groups(2)[1][1]), (other, groups(3)[2][1])])
    assert place_named("text .seen") in volatile.changing(f"{KIND}?c=")
    assert not volatile_in(groups(2)).changing(KIND)
