from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.page.site_log import compared_anew, compared_for_proposals, site_log
from scrapy_dust.page.unitsets import set_of
from scrapy_dust.page.volatile import NOTHING_VOLATILE
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import SiteLog, Visit, merge_visits
from tests.page.building import page, volatile_in
from tests.page.sites import FRAME, HOST, OTHERS, article, framed, label, product, shop, shown, visit

many = st.integers(6, 14)


def hash_of(url: str) -> int:
    """The same in each run, and in no order of the URLs."""
    return crc32(url.encode())


def known(log: SiteLog, url: str, other: str) -> Outcome | None:
    return LogEvidence(log, [one.url for one in log.pages]).pair(HOST + url, HOST + other).known


def products(count: int, make: Callable[[int], list[str]] = product) -> dict[str, list[str]]:
    return {f"/products/{number}": make(number) for number in range(count)}


# What must be told apart.

DETAILS = {
    "price": "text #price b: {}.99",
    "stock": "text .badge: {} left",
    "thumbnail": "media ul li img: {}.jpg",
    "target": "link ul li a: http://shop.example/items/{}",
    "json-ld": "data ld offers.price: {}",
    "script": "data script state.id: {}",
    "hidden field": "field form input: id={}",
    "frame": "media iframe: /frame/{}",
    "column order": "group table tr: cells {}",
    "meta": "field meta[keywords]: {}",
}


MENU = [f"text nav a: Part {number}" for number in range(14)]


@pytest.mark.parametrize("detail", DETAILS)
@given(count=many, share=st.integers(1, 6))
def test_one_detail_tells_pages_apart_whatever_share_of_a_site_has_it(
    detail: str, count: int, share: int
) -> None:
    """The rest of the pages is equal in all of its words."""
    same = product("x")
    pages = {
        f"/products/{number}": [*same, DETAILS[detail].format(number // share)] for number in range(2 * count)
    }
    log = shop(pages)
    for number in range(2 * count):
        for other in range(number):
            if number // share != other // share:
                outcome = known(log, f"/products/{number}", f"/products/{other}")
                assert outcome is not Outcome.SAME
                one, two = label(log, f"/products/{number}"), label(log, f"/products/{other}")
                assert one is None or one != two


@given(st.integers(2, 9), st.booleans())
def test_a_badge_that_most_pages_have_still_tells_those_apart_that_have_another(
    sold_out: int, own: bool
) -> None:
    def badge(number: int) -> list[str]:
        said = "Sold out" if number % 10 == sold_out else "In stock"
        return [*(product(number) if own else product("x")), f"text .badge: {said}"]

    log = shop(products(30, badge))
    for number in range(30):
        for other in range(number):
            if (number % 10 == sold_out) is not (other % 10 == sold_out):
                assert label(log, f"/products/{number}") != label(log, f"/products/{other}") or not own
                assert known(log, f"/products/{number}", f"/products/{other}") is not Outcome.SAME


@given(many)
def test_thin_pages_whose_pictures_alone_differ_are_different_although_ids_are_in_every_attribute(
    count: int,
) -> None:
    pages = {
        f"/photos/{number}": [
            "text title: Photo",
            f"media img: /img/{number}-2.jpg",
            f"own div: {number}",
            f"own_link .next a: {HOST}/photos/{number}?size=large",
        ]
        for number in range(count)
    }
    log = shop(pages)
    assert known(log, "/photos/0", "/photos/1") is Outcome.DIFFERENT


@given(many)
def test_lists_whose_links_alone_differ_are_different_although_the_links_repeat_the_pages_id(
    count: int,
) -> None:
    """The places hold few links for the page itself, under two path templates: as a menu does."""
    pages: dict[str, list[str]] = {}
    for number in range(count):
        for kind in ("lists", "tables"):
            item = f"/{kind}/{number}/item"
            pages[f"/{kind}/{number}"] = [*product("x"), f"own_link ul a: {HOST}{item}"]
            pages[item] = article(f"{kind} {number}")
    log = shop(pages)
    assert known(log, "/lists/0", "/lists/1") is not Outcome.SAME
    assert label(log, "/lists/0") is None or label(log, "/lists/0") != label(log, "/lists/1")


@given(many)
def test_pages_of_a_list_with_equal_words_are_different_by_what_they_link_to(count: int) -> None:
    pages = {f"/list?page={n}": [*product("x"), f"link li a: {HOST}/products/{n}"] for n in range(count)}
    log = shop(pages | products(count))
    assert known(log, "/list?page=1", "/list?page=2") is Outcome.DIFFERENT


def test_links_that_nobody_has_followed_leave_it_open() -> None:
    pages = {f"/list?page={n}": [*product("x"), f"link li a: {HOST}/far/{n}"] for n in range(9)}
    log = shop(pages)
    assert known(log, "/list?page=1", "/list?page=2") is None
    assert label(log, "/list?page=1") != label(log, "/list?page=2")


@given(many, st.sampled_from(["/file?id={}", "/files/{}.zip", "/get/{}/now"]))
def test_what_shows_on_any_url_of_a_kind_does_not_say_which_of_them_a_link_leads_to(
    count: int, form: str
) -> None:
    """Files that ask everybody to log in, and what links them is about."""
    files = {f"/products/{n}?size={size}": form.format(7 * n + size) for n in range(count) for size in (1, 2)}
    pages = {url: product(url[10], f"link .file a: {HOST}{file}") for url, file in files.items()}
    log = shop(pages | dict.fromkeys(files.values(), article("log in")))
    for number in range(min(count, 10)):
        one, other = (f"/products/{number}?size={size}" for size in (1, 2))
        assert label(log, one) != label(log, other)
        assert known(log, one, other) is None


# What must be seen to be one.


@given(many, st.sampled_from(["?sid={}", ";sid={}", "/at-{}"]))
def test_a_cart_that_all_sessions_show_does_not_tell_a_page_from_itself(count: int, session: str) -> None:
    ends = [session.format(code) for code in ("a7", "b8", "c9")]
    pages = {
        f"/products/{n}{end}": product(n, f"link .cart a: {HOST}/cart{end}")
        for n in range(count)
        for end in ends
    }
    log = shop(pages | {f"/cart{end}": article("cart") for end in ends})
    for number in range(count):
        shown = {label(log, f"/products/{number}{end}") for end in ends}
        assert len(shown) == 1
        assert None not in shown


@given(many)
def test_session_ids_in_every_link_of_a_page_do_not_tell_it_from_itself(count: int) -> None:
    def at(session: int) -> dict[str, list[str]]:
        return {
            f"/products/{number}?sid={session}": product(
                number, *(f"link .more a: {HOST}/products/{other}?sid={session}" for other in range(count))
            )
            for number in range(count)
        }

    log = shop(at(1) | at(2))
    for number in range(count):
        assert known(log, f"/products/{number}?sid=1", f"/products/{number}?sid=2") is Outcome.SAME
        assert label(log, f"/products/{number}?sid=1") == label(log, f"/products/{number}?sid=2")
    assert label(log, "/products/0?sid=1") != label(log, "/products/1?sid=1")


@given(many)
def test_login_links_that_repeat_the_pages_url_do_not_tell_it_from_itself(count: int) -> None:
    def chrome(url: str) -> list[str]:
        return [f"own_link .login a: {HOST}/login?next={url}", f"own form: {url}"]

    pages = {
        f"/products/{number}{end}": product(number, *chrome(f"%2Fproducts%2F{number}{end}"))
        for number in range(count)
        for end in ("", "?ref=top")
    }
    articles = {
        f"/news/{number}": article(f"n{number}", *chrome(f"%2Fnews%2F{number}")) for number in range(9)
    }
    log = shop(pages | articles)
    for number in range(count):
        assert label(log, f"/products/{number}") == label(log, f"/products/{number}?ref=top") is not None
    assert label(log, "/products/0") != label(log, "/products/1")


def test_order_and_repetition_and_the_marks_of_a_menu_say_nothing() -> None:
    items = [f"text li: item {number}" for number in range(9)]
    log = shop({"/list?sort=up": items, "/list?sort=down": [*reversed(items), *items]} | products(9))
    assert label(log, "/list?sort=up") == label(log, "/list?sort=down") is not None


@given(st.permutations(range(8)))
def test_places_that_change_at_each_fetch_are_set_aside_once_they_are_known(counts: list[int]) -> None:
    def changing(number: int, count: int) -> list[str]:
        ads = [f"media .ad img: {count}-{ad}.gif" for ad in range(3)]
        related = [f"text .related a: Product {(number + count * 7 + step) % 97}" for step in range(4)]
        return product(
            number, f"text footer: Made in 0.{count} s", f"field input: csrf={count}", *ads, *related
        )

    groups = (
        (f"{HOST}/products/0/.", [set_of(page(*FRAME, *changing(number, count))) for count in (11, 12, 13)])
        for number in range(4)
    )
    pages = {
        f"/products/{number}{end}": changing(number, 20 + counts[number] * 2 + (end != ""))
        for number in range(8)
        for end in ("", "?a=1")
    }
    volatile = volatile_in(
        (template.replace("/0/.", suffix), answers)
        for template, answers in groups
        for suffix in ("/.", "/.?a=")
    )
    without, log = shop(pages), compared_for_proposals(shop(pages, volatile))
    for number in range(8):
        urls = f"/products/{number}", f"/products/{number}?a=1"
        assert label(without, urls[0]) != label(without, urls[1])
        assert label(log, urls[0]) == label(log, urls[1]) is not None
    assert label(log, "/products/0") != label(log, "/products/1")


def test_what_urls_that_were_asked_for_twice_show_to_change_may_stand_still_on_others_of_their_kind() -> None:
    pages = [(f"/products/{n}", product(n, f"text .seen: Seen {n} times")) for n in range(9)]
    again = [(f"/products/{n}", product(n, f"text .seen: Seen {n + 20} times")) for n in range(3)]
    log = site_log(framed([*pages, *again, *OTHERS]))
    assert {one.url for one in log.pages if one.volatile} == {f"{HOST}/products/{n}" for n in range(9)}
    proposing = compared_for_proposals(log)
    assert not any(one.volatile for one in proposing.pages)
    assert label(proposing, "/products/7") is not None


def test_links_to_pages_that_change_at_each_fetch_lead_to_one_page_once_it_is_known_what_changes() -> None:
    def back_to(url: str) -> list[str]:
        return [f"own_link .login a: {HOST}/login?next={url}"]

    def form(number: int, time: int) -> tuple[str, list[str]]:
        token, url = f"field form input: token={number}-{time}", f"/login?next=%2Fproducts%2F{number}"
        return url, [*LOGIN, token, *back_to(f"%2Flogin%3Fnext%3D%252Fproducts%252F{number}")]

    pages = [(f"/products/{n}", product(n, *back_to(f"%2Fproducts%2F{n}"))) for n in range(30)]
    forms = [form(number, 0) for number in range(30)]
    again = [form(number, 1) for number in range(20)]
    urls = "/login?next=%2Fproducts%2F28", "/login?next=%2Fproducts%2F29"

    assert known(site_log(framed([*pages, *forms, *OTHERS])), *urls) is not Outcome.SAME
    log = site_log(framed([*pages, *forms, *again, *OTHERS]))
    assert known(log, *urls) is Outcome.SAME
    assert known(log, "/products/28", "/products/29") is Outcome.DIFFERENT


def test_a_url_whose_answers_differ_beyond_what_is_known_to_change_is_volatile() -> None:
    pages = [*products(9).items(), ("/products/3", product(3, "text .new: Only today"))]
    log = site_log(framed([*pages, *OTHERS]))
    assert [one.url for one in log.pages if one.volatile] == [f"{HOST}/products/3"]


# Pages with nothing of their own.

WALL = ["text title: Wait", "text h1: Are you human?", "text p: Type the letters", "media img: letters.png"]
LOGIN = ["text title: Login", "text label: Name", "text label: Password", "text button: Go", "own form: x"]


@given(st.sets(st.integers(0, 29), min_size=3, max_size=12))
def test_a_captcha_in_place_of_some_pages_says_nothing(walled: set[int]) -> None:
    log = shop(products(30, lambda number: WALL if number in walled else product(number)))
    for number in range(30):
        assert (label(log, f"/products/{number}") is None) is (number in walled)
    first, second, *_ = sorted(walled)
    assert known(log, f"/products/{first}", f"/products/{second}") is Outcome.UNKNOWN
    other = next(number for number in range(30) if number not in walled)
    assert known(log, f"/products/{first}", f"/products/{other}") is Outcome.UNKNOWN


def test_a_url_that_shows_a_wall_once_and_a_page_once_shows_the_page() -> None:
    pages = products(12, lambda number: WALL if number < 4 else product(number))
    log = site_log(framed([*pages.items(), *OTHERS, ("/products/0", product(0))]))
    assert label(log, "/products/0") is not None
    assert label(log, "/products/1") is None


@given(many)
def test_a_login_form_at_its_own_address_is_a_page(count: int) -> None:
    log = shop(products(count) | {f"/login?next=%2Fproducts%2F{number}": LOGIN for number in range(count)})
    shown_there = {label(log, f"/login?next=%2Fproducts%2F{number}") for number in range(count)}
    assert len(shown_there) == 1
    assert None not in shown_there


@given(many)
def test_the_shell_of_an_application_says_nothing(count: int) -> None:
    shell = ["text title: App", "media script: app.js", "data script: boot", "field meta[viewport]: wide"]
    log = site_log([visit(f"/app/{number}/{kind}", *shell) for number in range(count) for kind in "ab"])
    assert known(log, "/app/0/a", "/app/1/a") is Outcome.UNKNOWN


@given(many)
def test_empty_lists_and_pages_that_say_not_found_with_success_are_equal_for_lack_of_anything(
    count: int,
) -> None:
    empty = ["text title: List", "text .none: No items"]
    pages = products(count)
    lists = {
        f"/lists/{number}": product(f"list {number}") if number % 2 else empty for number in range(3 * count)
    }
    log = shop(pages | lists | {f"/products/gone-{n}": ["text h1: Not found"] for n in range(3)})
    assert known(log, "/lists/0", "/lists/2") is Outcome.UNKNOWN
    assert known(log, "/products/gone-0", "/products/gone-1") is Outcome.UNKNOWN


def test_in_whichever_order_pages_came_they_are_one_and_told_apart_as_before() -> None:
    pages = {**products(9), "/products/1?a=b": product(1), "/gone": ["text p: Not here"]}
    visits = [*framed([*pages.items(), *OTHERS]), visit("/products/2", *FRAME, *product(2, "text .ad: 1"))]
    # Answers to one URL stay in their order.
    shuffled = sorted(visits, key=lambda one: (hash_of(one.url), one.url))
    assert shuffled != visits
    assert site_log(shuffled) == site_log(visits)


@given(
    st.sampled_from(["text p.stock: In stock", "media img.stock: in.png", "data ld stock: in"]), st.booleans()
)
def test_what_most_pages_have_tells_those_apart_that_lack_it_and_so_does_what_few_have(
    mark: str, is_of_most: bool
) -> None:
    kinds = [f"/{kind}/{number}" for kind in ("books", "music", "films") for number in range(6)]
    with_mark = {url: [*MENU, *product(url), mark] for url in kinds}
    bare = {url: [*MENU, *product(url)] for url in kinds}
    pages, variants = (with_mark, bare) if is_of_most else (bare, with_mark)
    shown = pages | {f"{url}?v=1": said for url, said in variants.items()}
    log = site_log([visit(url, *said) for url, said in shown.items()])
    assert label(log, "/books/1") != label(log, "/books/1?v=1")
    assert known(log, "/books/1", "/books/1?v=1") is Outcome.DIFFERENT


def test_what_is_no_page_has_no_part_in_what_pages_have_in_common() -> None:
    kinds = [f"/{kind}/{number}" for kind in ("books", "music") for number in range(5)]
    pages = {url: [*MENU, *product(url)] for url in kinds}
    printed = {f"/print{url}": product(url, "text #note: Printed") for url in kinds}
    lists = {f"/lists/{number}": [*MENU, *article(number)] for number in range(3)}
    shown = {**pages, **printed, **lists, "/gone": ["text #note: Nothing here"]}
    log = site_log([visit(url, *said) for url, said in shown.items()])
    assert label(log, "/print/books/1") != label(log, "/books/1")
    anew = compared_anew(log, NOTHING_VOLATILE, {f"{HOST}/gone"})
    assert label(anew, "/print/books/1") == label(anew, "/books/1") is not None
    assert known(anew, "/gone", "/books/1") is Outcome.UNKNOWN


# Logs of different making.


def test_a_log_without_units_is_what_it_was() -> None:
    visits = [Visit(f"{HOST}/{number}", status=200, text_digest=f"{number % 3}") for number in range(9)]
    assert site_log(visits) == merge_visits(visits)


def test_pages_without_units_say_nothing_beside_pages_with_units() -> None:
    old = [
        Visit(f"{HOST}/products/{n}?old=1", 200, text_digest="words", sketch=(1, 2, 3, 4)) for n in range(5)
    ]
    log = site_log([*framed([*products(9).items(), *OTHERS]), *old])
    assert (
        known(log, "/products/1?old=1", "/products/2?old=1") is not Outcome.SAME
        or shown(log, "/products/1?old=1").core is None
    )
    assert known(log, "/products/1?old=1", "/products/1") is None
    assert label(log, "/products/1?old=1") is None


def test_hardly_any_page_with_units_leaves_a_log_to_its_texts() -> None:
    old = [Visit(f"{HOST}/old/{n}", 200, text_digest="words") for n in range(60)]
    visits = [*framed(products(9)), *old]
    assert site_log(visits) == merge_visits(sorted(visits, key=lambda visit: visit.url))


def test_units_that_cannot_be_read_are_as_if_there_were_none() -> None:
    from dataclasses import replace  # noqa: PLC0415

    from scrapy_dust.visits.pages import PackedUnits  # noqa: PLC0415

    visits = framed([*products(9).items(), *OTHERS])
    broken = replace(visits[0], units=PackedUnits(b"\0\0\0\xff\0", 1))
    log = site_log([broken, *visits[1:]])
    assert label(log, "/products/0") is None


def test_why_two_urls_differ_is_said_in_places() -> None:
    log = shop(products(9))
    assert log.comparing is not None
    outcome, why = log.comparing.compare(f"{HOST}/products/1", f"{HOST}/products/2")
    assert outcome is Outcome.DIFFERENT
    assert why.startswith("differ in ")


def test_pages_of_which_a_log_has_a_sample_only_are_never_proved_to_be_one_by_it() -> None:
    """Of 600 units one differs; most samples do not have it."""
    items = [f"text li: item {number}" for number in range(600)]
    pages = {
        f"/lists/{number}": [*items[:-1], f"text li: item {number % 2}{number % 2}x"] for number in range(6)
    }
    log = shop(pages | products(9))
    assert known(log, "/lists/0", "/lists/1") is not Outcome.SAME
    assert known(log, "/lists/0", "/lists/2") is Outcome.SAME
