"""Parameters that a crawl has seen not to matter."""

from __future__ import annotations

from scrapy_dust.traps.idle import Idle

SITE = "s.test"


def walk(pages):
    idle = Idle()
    for url, said in pages:
        idle.came(SITE, f"http://s.test{url}", lambda said=said: said)
    return idle


def visits(name, values, said=lambda page, value: page):
    return [(f"/p{page}?{name}={value}", said(page, value)) for value in values for page in range(3)]


def test_a_parameter_is_idle_whose_pages_say_the_same_with_other_values() -> None:
    assert walk(visits("sid", "abc")).of(SITE) == {"sid"}


def test_pages_of_one_content_are_not_enough() -> None:
    assert walk([(f"/p?sid={n}", 1) for n in range(20)]).of(SITE) == frozenset()


def test_a_parameter_matters_whose_pages_differ() -> None:
    assert walk(visits("id", "abcdef", lambda page, value: hash((page, value)))).of(SITE) == frozenset()


def test_a_part_of_a_path_is_idle_whose_ids_do_not_matter() -> None:
    ids = [f"{n * 7919:06x}a1" for n in range(100, 104)]
    pages = [(f"/{one}/p/{page}", page) for one in ids for page in range(3)]
    idle = walk(pages)
    assert idle.of(SITE) == {"/0"}
    idle.fetched(SITE, "http://s.test/p/7", lambda: 1)
    assert idle.was_fetched(SITE, f"http://s.test/{ids[0]}/p/7")
    assert not idle.was_fetched(SITE, f"http://s.test/{ids[0]}/p/8")


def test_an_id_in_a_path_matters_whose_pages_differ() -> None:
    assert walk([(f"/thing/{n * 7919:08x}a1", n) for n in range(20)]).of(SITE) == frozenset()


def test_without_the_parameter_a_page_says_the_same_too() -> None:
    pages = [(f"/p{page}{query}", page) for query in ("?utm=1", "", "?utm=1", "") for page in range(4)]
    assert walk(pages).of(SITE) == {"utm"}


def test_a_parameter_that_stands_there_once_more_is_not_the_same() -> None:
    """What differs is `q`, not the id."""
    pages = [
        (f"/p{page}?{query}&sid={sid}", hash((page, query)))
        for sid in "ab"
        for page in range(4)
        for query in ("q=1", "q=1&q=1")
    ]
    assert walk(pages).of(SITE) == {"sid"}


def test_two_parameters_are_told_one_by_one() -> None:
    pages = [(f"/list?page={page}&sid={sid}", page) for sid in "abcd" for page in range(4)]
    assert walk(pages).of(SITE) == {"sid"}


def test_what_repeats_a_page_that_has_come_is_known_whatever_its_idle_parameters() -> None:
    idle = walk(visits("sid", "abc"))
    idle.fetched(SITE, "http://s.test/new?id=1&sid=7", lambda: 1)
    assert idle.was_fetched(SITE, "http://s.test/new?sid=9&id=1")
    assert not idle.was_fetched(SITE, "http://s.test/new?id=2&sid=9")


def test_repetitions_that_are_other_pages_make_their_parameters_matter_again() -> None:
    idle = walk(visits("sid", "abc"))
    for n in range(200):
        for sid in "xy":
            idle.fetched(SITE, f"http://s.test/new/{n}?sid={sid}", lambda sid=sid: hash(sid))
    assert idle.of(SITE) == frozenset()


def test_repetitions_that_say_the_same_do_not() -> None:
    idle = walk(visits("sid", "abc"))
    for n in range(200):
        for sid in "xy":
            idle.fetched(SITE, f"http://s.test/new/{n}?sid={sid}", lambda n=n: n)
    assert idle.of(SITE) == {"sid"}


def test_a_page_is_not_read_before_another_that_may_be_the_same_has_come_twice() -> None:
    idle, read = Idle(), []
    for value in "abc":
        idle.came(SITE, f"http://s.test/p?sid={value}", lambda value=value: read.append(value) or 1)
    assert read == ["b", "c"]
    idle.came("other.test", "http://other.test/p", lambda: read.append("other"))
    assert read == ["b", "c"]
