"""A part of a text may last while the text changes: words, and numbers that move by little."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.page.compare import Answer, Same, Verdict, compare
from scrapy_dust.page.knowledge import Knowledge
from scrapy_dust.page.own import end_of
from scrapy_dust.page.reading import read_words
from scrapy_dust.page.sketch import describe
from scrapy_dust.page.unitsets import array_of, places_of, set_of
from scrapy_dust.page.volatile import Group, learn_volatile
from scrapy_dust.page.wording import Wording, parts_of, wording_of
from scrapy_dust.visits.strata import template_of

HTML = "text/html"
TEA = "http://s.example/tea"
words = st.text("bcdfghjklm", min_size=4, max_size=8)
texts = st.lists(
    st.sampled_from(["tea", "5", "a b c", "1,200.50", "x&amp;y", "<i>in</i>", "&lt;"]), max_size=9
)


def body(said: str) -> bytes:
    items = "".join(f"<li>{word}</li>" for word in "green black white red oolong mint ginger lemon".split())
    return f"<html><body><h1>Tea</h1><ul>{items}</ul><div class=now>{said}</div></body></html>".encode()


def read(said: str, url: str = TEA) -> Wording:
    found = read_words(body(said), HTML, "utf-8", url, ())
    assert found is not None
    wording = wording_of(found)
    assert wording is not None
    return wording


def answer(url: str, *said: str) -> Answer:
    """What *url* has shown at several fetches."""
    first, *others = [describe(body(one), HTML, "utf-8", url).units for one in said]
    assert first is not None
    return Answer(
        url,
        first,
        controls=[one for one in others if one is not None],
        wordings=[read(one, url) for one in said],
    )


def known(pages: Sequence[Sequence[str]]) -> Knowledge:
    """What is learned from *pages* that were fetched several times each."""
    answers = [answer(f"{TEA}?id={number}", *said) for number, said in enumerate(pages)]
    units = [[set_of(one.units), *map(set_of, one.controls)] for one in answers]
    parts = [
        parts_of(of_one, one.wordings, [other.wordings[0] for other in answers if other is not one])
        for of_one, one in zip(units, answers, strict=True)
    ]
    groups = (Group(template_of(one.url), *both) for one, *both in zip(answers, units, parts, strict=True))
    return Knowledge(volatile=learn_volatile(groups))


def judged(a: Sequence[str], b: Sequence[str], knowledge: Knowledge) -> Verdict:
    return compare(answer(f"{TEA}?id=100", *a), answer(f"{TEA}?id=101", *b), knowledge)


def pages(said: Callable[[int, int], str], number: int = 30, fetches: int = 2) -> list[list[str]]:
    return [
        [said(page, 7919 * (2 * page + fetch) % 1000) for fetch in range(fetches)] for page in range(number)
    ]


def in_letters(number: int) -> str:
    return "".join("bcdfghjklm"[int(digit)] for digit in f"{number:04}")


@given(texts)
def test_texts_stand_where_their_units_stand(said: list[str]) -> None:
    markup = body(" <b>and</b> ".join(said))
    units = describe(markup, HTML, "utf-8", TEA).units
    found = read_words(markup, HTML, "utf-8", TEA, ())
    assert units is not None
    assert found is not None
    places = set(places_of(set_of(units)).tolist())
    assert {place for place, text in found.texts if text.strip()} <= places


@given(words, words, st.lists(words, min_size=4, max_size=4, unique=True))
def test_a_word_that_lasts_beside_one_that_is_drawn_tells_pages_apart(
    a: str, b: str, drawn: list[str]
) -> None:
    first, second, third, fourth = drawn
    verdict = judged([f"{a} {first}", f"{a} {second}"], [f"{b} {third}", f"{b} {fourth}"], Knowledge())
    other = judged([f"{a} {first}", f"{a} {second}"], [f"{a} {third}", f"{a} {fourth}"], Knowledge())
    assert other.same is Same.SAME
    if a != b and not {a, b} & set(drawn):
        assert verdict.same is Same.DIFFERENT
        assert verdict.is_where_more_changes


def link(url: str) -> str:
    return f'<a href="{url.replace("&", "&amp;")}">x</a>'


@given(
    st.sampled_from(
        ["/buy?t={}&v={}", "/{}/{}.zip", "http://o.example/?u=http%3A%2F%2Fs.example%2F%3Ft%3D{}%26v%3D{}"]
    )
)
def test_what_lasts_in_a_link_beside_a_token_tells_pages_apart(form: str) -> None:
    seven, eight = (
        [link(form.format(f"{number}a{number}b{number}", value)) for number in range(begin, begin + 2)]
        for begin, value in ((100, "seven"), (200, "eight"))
    )
    again = [link(form.format(f"{number}c{number}d{number}", "seven")) for number in (300, 400)]
    assert judged(seven, eight, Knowledge()).same is Same.DIFFERENT
    assert judged(seven, again, Knowledge()).same is Same.SAME


@given(st.sampled_from(["http", "https"]), st.sampled_from(["s.example", "www.s.example"]))
def test_the_pages_own_url_in_a_link_with_a_token_tells_nothing(scheme: str, host: str) -> None:
    def shown(url: str, number: int) -> str:
        return link(f"/login?t={number}a{number}b{number}&back={quote(url, safe='')}")

    a, b = f"{TEA}?id=100", f"{scheme}://{host}/tea?id=101"
    here = answer(a, shown(a, 100), shown(a, 200))
    assert compare(here, answer(b, shown(b, 300), shown(b, 400))).same is Same.SAME


@given(st.text("abcdefghij/?=&", max_size=12))
def test_links_without_a_token_have_no_words(url: str) -> None:
    found = read_words(body(link(f"/{url}")), HTML, "utf-8", TEA, ())
    assert found is not None
    assert not found.links


def test_texts_of_which_a_part_lasts_are_not_surely_volatile() -> None:
    noise = known(pages(lambda page, chance: in_letters(chance)))
    prices = known(pages(lambda page, chance: f"{page + 100} {in_letters(chance)}"))
    names = known(pages(lambda page, chance: f"{in_letters(page)} {in_letters(chance + 5000)}"))
    jitter = known(pages(lambda page, chance: f"{page + 100}{chance:03}"))
    alone = answer(f"{TEA}?id=100", "100 bbbb")
    assert [bool(one.sure_places_for(alone.url)) for one in (noise, prices, names, jitter)] == [True] + 3 * [
        False
    ]
    assert [bool(one.telling_places_for(alone.url)) for one in (noise, prices, names, jitter)] == [
        False,
        *(3 * [True]),
    ]


def test_nobody_can_tell_what_lasts_in_texts_whose_words_are_not_known() -> None:
    prices = known(pages(lambda page, chance: f"{page + 100} {in_letters(chance)}"))
    a, b = ["100 bbbb", "100 cccc"], ["200 dddd", "200 ffff"]
    assert judged(a, b, prices).same is Same.DIFFERENT
    of_log = [
        Answer(one.url, one.units, controls=one.controls)
        for one in (answer(f"{TEA}?id=100", *a), answer(f"{TEA}?id=101", *b))
    ]
    verdict = compare(*of_log, prices)
    assert verdict.same is Same.UNKNOWN
    assert verdict.is_unread


def test_numbers_that_are_nearer_to_each_other_than_to_those_of_the_other_url_tell_pages_apart() -> None:
    jitter = known(pages(lambda page, chance: f"{page + 100}{chance:03}"))
    near, far = ["100500", "100900", "100700"], ["100600", "100800", "100400"]
    assert judged(near, far, jitter).same is Same.SAME
    assert judged(near, ["230500", "230900"], jitter).same is Same.DIFFERENT


def test_numbers_that_differ_on_one_page_as_they_do_between_pages_are_noise() -> None:
    counters = known(pages(lambda page, chance: f"seen {chance * 37 + 1000} times"))
    assert counters.sure_places_for(f"{TEA}?id=100")
    verdict = judged(["seen 1001 times", "seen 1090 times"], ["seen 9001 times", "seen 9090 times"], counters)
    assert verdict.same is Same.SAME


@given(st.sampled_from(["a", "b"]))
def test_a_link_to_one_of_both_pages_is_no_difference(name: str) -> None:
    def shown(number: int) -> str:
        return link(f"/tea?id={name}&t={number}a{number}b{number}")

    a, b = (
        answer(f"{TEA}?id={one}", shown(first), shown(first + 1)) for one, first in (("a", 100), ("b", 300))
    )
    assert compare(a, b).same is Same.SAME


def test_links_to_pages_of_the_log_keep_no_parts() -> None:
    def shown(page: int, number: int) -> str:
        return link(f"/item?of={page}&t={number}a{number}b{number}")

    answers = [
        answer(f"{TEA}?id={page}", shown(page, 100 + page), shown(page, 200 + page)) for page in (1, 2)
    ]
    units = [set_of(answers[0].units), *map(set_of, answers[0].controls)]
    others = [answers[1].wordings[0]]
    assert len(parts_of(units, answers[0].wordings, others).kept)
    known = array_of([end_of("http://s.example/item?of=1&t=4d5e6f7a8b")])
    assert not len(parts_of(units, answers[0].wordings, others, known).kept)
