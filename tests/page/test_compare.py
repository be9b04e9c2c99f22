from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.page.compare import Answer, Same, Verdict, compare
from scrapy_dust.page.knowledge import NOTHING_KNOWN, Aside, Knowledge, Linked, note_linked
from scrapy_dust.page.places import url_value
from scrapy_dust.page.sketch import describe
from scrapy_dust.page.units import MAX_LOGGED, Units, pack, unpack
from scrapy_dust.page.unitsets import array_of, set_of
from scrapy_dust.page.volatile import LEAST_SURE, LEAST_URLS
from tests.page.building import names_of, page, place_named, volatile_in

A, B = "http://s.example/tea?id=1", "http://s.example/tea?id=1&sid=2"
TEA = ("text title: Tea", "text h1: Tea", "text p: Grown in the hills", "media img: tea.jpg")
KINDS = ("text", "link", "media", "field", "data", "group")

units = st.builds(
    "{} {}: {}".format,
    st.sampled_from(KINDS),
    st.sampled_from(["p", "td", "li.item", "#main span.price"]),
    st.integers(1, 60).map("http://s.example/{}".format),
)
pages = st.lists(units, min_size=1, max_size=20, unique=True)


def answer(url: str, *said: str, controls: tuple[Units, ...] = (), canonical: str | None = None) -> Answer:
    return Answer(url, page(*said), names_of(*said), canonical, controls)


def judged(a: Answer, b: Answer, knowledge: Knowledge = NOTHING_KNOWN) -> Verdict:
    """Both ways, which must say the same."""
    found, other_way = compare(a, b, knowledge), compare(b, a, knowledge)
    assert found.same is other_way.same
    assert (found.only_a, found.only_b) == (other_way.only_b, other_way.only_a)
    return found


@given(pages)
def test_a_page_is_never_different_from_itself_and_order_and_repetition_say_nothing(said: list[str]) -> None:
    assert judged(answer(A, *said), answer(B, *reversed(said), *said)).same is not Same.DIFFERENT


@given(pages, st.lists(units, min_size=1, max_size=5))
def test_whatever_only_one_of_two_pages_has_is_seen_and_named(said: list[str], more: list[str]) -> None:
    new = [one for one in more if one not in said]
    found = judged(answer(A, *said), answer(B, *said, *new))
    if not new:
        assert found.same is not Same.DIFFERENT
        return
    assert found.same is not Same.SAME
    if found.same is Same.DIFFERENT:
        # A group alone says what belongs together, and not that there is more.
        is_more = any(not one.startswith("group") for one in new)
        assert found.contains == ("b" if is_more else None)
        assert {one.name for one in found.only_b} == {one.partition(": ")[0] for one in new}


@given(st.sampled_from(KINDS), st.integers(1, 9), st.integers(1, 9))
def test_a_digit_is_enough_to_tell_two_pages_apart(kind: str, one: int, other: int) -> None:
    found = judged(answer(A, *TEA, f"{kind} .price: {one}"), answer(B, *TEA, f"{kind} .price: {other}"))
    assert found.same is (Same.SAME if one == other else Same.DIFFERENT)
    if one != other:
        assert found.why == f"differ in {kind} `.price`"


def test_a_difference_is_confirmed_where_the_page_was_seen_with_it_twice() -> None:
    once, twice = answer(A, *TEA, "text .price: 1"), answer(B, *TEA)
    assert not judged(once, twice).is_confirmed
    assert judged(replace(once, controls=(once.units,)), twice).is_confirmed


def test_what_changes_at_each_fetch_is_set_aside() -> None:
    a = answer(A, *TEA, "text .seen: Seen 7 times", controls=(page(*TEA, "text .seen: Seen 8 times"),))
    b = answer(B, *TEA, "text .seen: Seen 9 times")
    found = judged(a, b)
    assert found.same is Same.SAME
    assert found.set_aside[Aside.VOLATILE] == 3


def test_of_a_place_that_changes_in_part_only_texts_of_the_shape_that_changes_are_set_aside() -> None:
    table = [f"text td: row {letter}" for letter in "abc"]
    a = answer(A, *table, "text td: 12:01", controls=(page(*table, "text td: 12:02"),))
    assert judged(a, answer(B, *table, "text td: 12:03")).same is Same.SAME
    assert judged(a, answer(B, *table[:2], "text td: row x", "text td: 12:03")).same is Same.DIFFERENT


def test_a_list_that_changes_in_part_decides_nothing_until_both_were_seen_twice() -> None:
    def related(*names: str) -> tuple[str, ...]:
        return (*TEA, *(f"media .related img: {name}" for name in names))

    a = answer(A, *related("a", "b", "c"), controls=(page(*related("b", "d", "e")),))
    b = answer(B, *related("f", "b", "g"))
    assert judged(a, b).same is Same.UNKNOWN
    seen_twice = replace(b, controls=(page(*related("h", "b", "a")),))
    assert judged(a, seen_twice).same is Same.SAME
    with_more = replace(b, controls=(page(*related("f", "b", "a")),))
    assert judged(a, with_more).same is Same.DIFFERENT


def test_what_one_page_shows_at_times_and_the_other_never_is_not_the_same() -> None:
    a = answer(A, *TEA, controls=(page(*TEA, "text .offer: Now at 9.99", "text .offer: Only today"),))
    a = replace(a, units=page(*TEA, "text .offer: Only today"))
    assert judged(a, answer(B, *TEA)).same is not Same.SAME


def counted_on(urls: int) -> Knowledge:
    """So many URLs have shown that their counters change."""

    def seen(item: int, count: int) -> Units:
        return page(*TEA, f"text h2: {item}", f"text .seen: {count}")

    answers = (
        ("http://s.example/x/.?id=", [set_of(seen(item, 2)), set_of(seen(item, 3))]) for item in range(urls)
    )
    return Knowledge(volatile=volatile_in(answers))


def test_places_that_are_surely_volatile_are_set_aside_without_a_control() -> None:
    known = counted_on(LEAST_SURE)
    a, b = answer(A, *TEA, "text .seen: 4"), answer(B, *TEA, "text .seen: 5")
    assert judged(a, b).same is Same.DIFFERENT
    assert judged(a, b, known).same is Same.DIFFERENT  # of another path template
    a, b = (replace(one, url=f"http://s.example/x/?id={number}") for number, one in enumerate((a, b)))
    assert judged(a, b, known).same is Same.SAME


@pytest.mark.parametrize("urls", [LEAST_URLS, LEAST_SURE])
def test_what_changes_on_other_pages_counts_where_a_page_keeps_it(urls: int) -> None:
    """Live prices stand beside fixed ones."""
    known = counted_on(urls)
    url, other = "http://s.example/x/?id=1", "http://s.example/x/?id=2"
    a, b = answer(url, *TEA, "text .seen: 4"), answer(other, *TEA, "text .seen: 5")
    a_again, b_again = (replace(one, controls=[one.units]) for one in (a, b))
    assert judged(a_again, b_again, known).same is Same.DIFFERENT
    changing = replace(a, controls=[page(*TEA, "text .seen: 7")])
    assert judged(changing, b, known).same is Same.SAME
    if urls < LEAST_SURE:
        assert judged(a, b, known).same is Same.UNKNOWN


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda n: f"<b>{n}.50 EUR</b>", lambda n: f"<b>{n}.50 USD</b>"),
        (lambda n: f"<b>€{n}.50</b>", lambda n: f"<b>${n}.50</b>"),
        (lambda n: f"<p>{n} a 4 b 5 c 6 d 7 e 8 f</p>", lambda n: f"<p>{n} a 4 b 5 c 6 d 7 e 9 f</p>"),
        (lambda n: f"<i class=c{'ab' * n}x>Ann</i>", lambda n: f"<i class=c{'ba' * n}y>Bob</i>"),
        (lambda n: f"<script>go('a{n}f', 7)</script>", lambda n: f"<script>go('b{n}e', 8)</script>"),
    ],
)
def test_what_lasts_in_a_part_that_changes_counts(
    one: Callable[[int], str], other: Callable[[int], str]
) -> None:
    """A currency beside a live price, a number beside a counter, what has another class each time."""

    def shown(part: Callable[[int], str], number: int) -> Units:
        body = f"<h1>Tea</h1><p>All of it, and more</p><img src=tea.jpg>{part(number)}"
        described = describe(body.encode(), "text/html", "utf-8", A).units
        assert described is not None
        return described

    a = Answer(A, shown(one, 5), controls=[shown(one, 6)])
    same = Answer(B, shown(one, 7), controls=[shown(one, 8)])
    different = Answer(B, shown(other, 7), controls=[shown(other, 8)])
    assert judged(a, same).same is Same.SAME
    assert judged(a, different).same is Same.DIFFERENT


def test_fields_that_repeat_the_pages_own_url_say_nothing() -> None:
    a, b = answer(A, *TEA, "own form: 1", "own .x: 1"), answer(B, *TEA)
    assert judged(a, b).same is Same.SAME


def test_links_are_compared_by_the_keys_of_their_urls() -> None:
    def linking(url: str, session: int) -> Answer:
        targets = [f"http://s.example/{name}?sid={session}" for name in ("a", "b", "c")]
        found = answer(url, *TEA, *(f"link a: {target}" for target in targets))
        return replace(found, links={url_value(target): target for target in targets})

    a, b = linking(A, 1), linking(B, 2)
    assert judged(a, b).same is Same.DIFFERENT
    by_key = Knowledge(key=lambda url: url.partition("?")[0])
    assert judged(a, b, by_key).same is Same.SAME
    assert judged(replace(a, links={}), b, by_key).same is Same.UNKNOWN
    assert judged(a, b, Knowledge(key=lambda url: url)).same is Same.DIFFERENT


def test_links_of_a_list_that_all_lead_to_one_answer_are_not_told_apart_by_it() -> None:
    one, other = ([f"http://s.example/get/{n}" for n in numbers] for numbers in ((1, 2), (3, 4)))
    a, b = (answer(url, *TEA, *(f"link li a: {to}" for to in links)) for url, links in ((A, one), (B, other)))
    to_login = Knowledge(shown={url_value(url): 7 for url in (*one, *other)})
    assert judged(a, b, to_login).same is Same.UNKNOWN
    links = {url_value(url): url for url in (*one, *other)}
    by_key = Knowledge(key=lambda url: url.partition("/get/")[0])
    assert judged(replace(a, links=links), replace(b, links=links), by_key).same is not Same.SAME


def test_a_key_that_all_links_of_a_kind_have_does_not_tell_where_they_lead() -> None:
    def linking(file: str, knowledge: Knowledge) -> Same:
        sides = []
        for number, side in enumerate((A, B)):
            target = file.format(number)
            said = answer(side, *TEA, f"link a: {target}")
            sides.append(replace(said, links={url_value(target): target}))
        return judged(*sides, knowledge).same

    by_key = Knowledge(key=lambda url: url.partition("?")[0])
    file, sized = "http://s.example/file?id={}", "http://s.example/tea/7?size={}"
    assert linking(file, by_key) is Same.UNKNOWN
    assert linking(sized, by_key) is Same.UNKNOWN
    seen: Linked = {}
    note_linked(seen, [file.format(7), sized.format(7), "http://s.example/tea/8?size=7"])
    assert linking(file, replace(by_key, linked=seen)) is Same.UNKNOWN
    assert linking(sized, replace(by_key, linked=seen)) is Same.SAME


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/item?x=1&id={id}", "/item?x=2&id={id}", Same.UNKNOWN),
        ("/item?x=1&id={id}", "/item?x=1&id={id}", Same.SAME),
        ("/login?next=%2Ftea%3Fid%3D{id}", "/login?next=%2Ftea%3Fid%3D{id}", Same.SAME),
        ("/login?next=%2Ftea%3Fid%3D{id}", "/login?next=%2Ftea%3Fid%3D{id}&id={id}", Same.SAME),
        ("/edit?x=1&tea={id}&id={id}", "/edit?x=1&id={id}", Same.UNKNOWN),
        ("/tea?id={id}&sort=up", "/tea?id={id}&sort=down", Same.SAME),
    ],
)
def test_links_with_the_pages_parameters_are_its_own_where_they_say_nothing_else(
    one: str, other: str, same: Same
) -> None:
    """As the log has them: nobody has followed these links."""

    def linking(number: int, link: str) -> Answer:
        url, target = f"http://s.example/tea?id={number}", link.format(id=number)
        body = (
            f"<title>Tea</title><h1>Tea</h1><p>Grown in the hills<p>A fine tea<i><a href={target!r}>x</a></i>"
        )
        found = describe(body.encode(), "text/html", "utf-8", url)
        assert found.units is not None
        return Answer(url, found.units)

    known = Knowledge(chrome=array_of([place_named("own_link p i a")]), shown={1: 1})
    assert judged(linking(1, one), linking(2, other), known).same is same


def test_a_link_to_the_page_itself_is_the_same_link_on_both() -> None:
    a, b = answer(A, *TEA, f"own_link nav a: {A}"), answer(B, *TEA, f"link nav a: {B}")
    assert judged(a, b).same is Same.SAME


def test_links_for_the_page_itself_are_set_aside_at_the_places_that_are_known_for_them_only() -> None:
    def chrome(url: str, number: int) -> Answer:
        return answer(url, *TEA, f"own_link .login a: http://s.example/login?next={number}")

    a, b = chrome(A, 1), chrome(B, 2)
    assert judged(a, b).same is Same.DIFFERENT
    assert judged(a, b, Knowledge(chrome=array_of([place_named("own_link .login a")]))).same is Same.SAME


def test_a_link_that_only_one_of_two_names_of_a_page_has_in_it_is_the_same_link_on_both() -> None:
    # One page of a forum under two names: its link for another order has the parameters of one of the names.
    links = [f"http://s.example/thread?rep=2&sort={order}" for order in ("author", "date", "length")]
    a = answer(A, *TEA, *(f"own_link ul.see a: {link}" for link in links))
    b = answer(B, *TEA, *(f"link ul.see a: {link}" for link in links))
    knowledge = Knowledge(chrome=array_of([place_named("own_link ul.see a")]))
    assert judged(a, b, knowledge).same is Same.SAME
    more = answer(B, *TEA, *(f"link ul.see a: {link}" for link in [*links, "http://s.example/elsewhere"]))
    assert judged(a, more, knowledge).same is Same.DIFFERENT


def test_a_link_that_both_pages_have_tells_them_apart_for_neither_though_each_is_for_another_of_them() -> (
    None
):
    # `story?id=2` has 2 in it, and so has its link to `thread?rep=2`; under the other name that is a link like any other.
    short, thread = "http://s.example/story_2", "http://s.example/thread?rep=2"
    a = answer(A, *TEA, f"own_link ul.see a: {thread}", f"link ul.see a: {short}")
    b = answer(short, *TEA, f"link ul.see a: {thread}", f"own_link ul.see a: {short}")
    shown = {url_value(thread): 1, url_value(short): 2, url_value(A): 2}
    knowledge = Knowledge(chrome=array_of([place_named("own_link ul.see a")]), shown=shown)
    assert judged(a, b, knowledge).same is Same.SAME
    gone = answer(short, *TEA, f"own_link ul.see a: {short}")
    assert judged(a, gone, knowledge).same is Same.DIFFERENT


def test_pages_without_anything_of_their_own_are_not_told_to_be_the_same() -> None:
    template = Knowledge(template=set_of(page(*TEA)))
    assert judged(answer(A, *TEA), answer(B, *TEA), template).same is Same.UNKNOWN
    one_more = answer(A, *TEA, "text p: No items")
    assert judged(one_more, replace(one_more, url=B), template).same is Same.UNKNOWN
    more = [f"text li: item {number}" for number in range(3)]
    assert judged(answer(A, *TEA, *more), answer(B, *TEA, *more), template).same is Same.SAME
    shell = judged(answer(A, *TEA, *more), answer(B, *TEA), template)
    assert shell.same is Same.UNKNOWN
    assert shell.nothing_b
    assert not shell.nothing_a


def test_of_pages_too_long_to_be_kept_whole_nothing_is_said_but_that_they_differ() -> None:
    lines = [f"text li: item {number}" for number in range(5000)]
    a, b = answer(A, *lines), answer(B, *lines)
    assert judged(a, b).same is Same.SAME
    assert judged(a, answer(B, *lines[1:])).same in (Same.UNKNOWN, Same.DIFFERENT)
    assert judged(a, answer(B, *lines[:2500])).same is Same.DIFFERENT


def _long(host: str, *more: str, links: int = 20) -> Answer:
    """A page as a log has it: with more texts than are kept."""
    texts = [f"text p: paragraph {number}" for number in range(2 * MAX_LOGGED)]
    linked = [f"http://{host}/{number}" for number in range(links)]
    made = answer(f"http://{host}/page", *texts, *(f"link a: {url}" for url in linked), *more)
    return replace(made, units=unpack(pack(made.units)), links={url_value(url): url for url in linked})


_ONE_HOST = Knowledge(key=lambda url: url.replace("//www.", "//"))


def test_a_long_page_under_two_hosts_is_one_page_however_its_links_are_written() -> None:
    assert judged(_long("s.example"), _long("www.s.example"), _ONE_HOST).same is Same.SAME


@pytest.mark.parametrize("path", ["search", "search?q=", "a/b/c.html"])
def test_a_link_that_is_another_one_in_its_host_alone_is_no_difference_though_nothing_is_beside_it(
    path: str,
) -> None:
    def linking(host: str) -> Answer:
        url = f"http://{host}/{path}"
        return replace(answer(f"http://{host}/page", *TEA, f"link a: {url}"), links={url_value(url): url})

    assert judged(linking("s.example"), linking("www.s.example"), _ONE_HOST).same is Same.SAME
    assert judged(linking("s.example"), linking("www.s.example"), Knowledge(key=str)).same is not Same.SAME


def test_a_text_more_on_a_long_page_is_not_overlooked() -> None:
    found = judged(_long("s.example"), _long("www.s.example", "text b: 19.99"), _ONE_HOST)
    assert found.same is not Same.SAME


def test_links_of_a_long_page_that_may_not_all_be_there_tell_nothing() -> None:
    one, other = (_long(host, links=MAX_LOGGED) for host in ("s.example", "www.s.example"))
    assert judged(one, other, _ONE_HOST).same is Same.UNKNOWN
