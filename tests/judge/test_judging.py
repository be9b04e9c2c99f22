from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.judge.answers import Fetched, Known
from scrapy_dust.judge.inquiry import Ask, Finding, inquire
from scrapy_dust.judge.judging import SAME_TIME, Judge
from scrapy_dust.page.compare import Answer, Same
from scrapy_dust.page.sketch import describe
from scrapy_dust.visits.outcomes import Outcome

U, V, W = "http://a.example/u", "http://a.example/v", "http://a.example/w"

#: Words of a page → its answer.
Web = Callable[[str], "Fetched"]


def fetched(words: str, url: str = U, status: int | None = 200, more: str = "", marks: str = "") -> Fetched:
    """A page of one paragraph, and *more* markup."""
    body = f"<html><head><title>A title</title></head><body><p>{words}</p>{more}</body></html>"
    page = describe(body.encode(), "text/html", "utf-8", url)
    assert page.units is not None
    shown = Answer(url, page.units, page.names, page.canonical, links=page.links)
    digest, seen = page.text_digest, page.sketch
    return Fetched(url, url, status, shown, digest, seen, frozenset(marks.split()))


def prose(name: str, words: int = 40) -> str:
    return " ".join(f"{name}{number}" for number in range(words))


def logged(page: Fetched) -> Known:
    """As the log has *page*."""
    return Known(page.shown, page.text_digest, page.sketch)


def asked(steps, web: Callable[[str, int], Fetched]) -> tuple[Finding, list[Ask]]:
    """What comes of an inquiry where *web* answers, given a URL and how often it was asked for."""
    asks: list[Ask] = []
    ask = next(steps)
    while True:
        times = sum(one.url == ask.url for one in asks)
        asks.append(ask)
        try:
            made_up = "~" if ask.beside else "~~" if ask.elsewhere else ""
            ask = steps.send(web(f"{ask.url}{made_up}", times))
        except StopIteration as end:
            return end.value, asks


texts = st.lists(
    st.sampled_from([f"{name}." for name in "red green blue one 4.99 5.99 6".split()]),
    min_size=4,
    max_size=20,
    unique=True,
)
pages = texts.map(" ".join).map(fetched)


@given(pages)
def test_a_page_is_the_same_as_itself(page):
    verdict = Judge().compare(page, page)
    assert not verdict.only_a
    assert verdict.same is not Same.DIFFERENT


@given(pages, pages)
def test_whether_two_pages_are_the_same_does_not_depend_on_which_is_first(one, other):
    judge = Judge()
    assert judge.compare(one, other).same is judge.compare(other, one).same


def test_a_page_like_those_for_nonsense_is_no_page_though_it_repeats_what_was_asked_for():
    judge = Judge()
    for name in ("xyz", "abc"):
        judge.learn_nothing(fetched(prose("sorry"), more=f"<h2>There is no {name}</h2>"))
    assert judge.is_nothing(fetched(prose("sorry"), more="<h2>There is no xyz</h2>"))
    assert not judge.is_nothing(fetched(prose("a page"), more="<h2>There is no xyz</h2>"))


def test_one_answer_where_the_log_has_two_pages_is_nobodys():
    judge = Judge()
    wall = prose("log in first")
    judge.learn(fetched(wall), logged(fetched(prose("one"))))
    judge.learn(fetched(wall, V), logged(fetched(prose("two"), V)))
    assert judge.is_nothing(fetched(wall))


def test_what_changed_between_two_answers_to_three_urls_is_volatile_from_then_on():
    judge = Judge()
    for number in range(3):
        url = f"http://a.example/p?id={number}"
        one, other = (
            fetched(prose(f"page{number}"), url, more=f"<b class=ad>{prose(ad, 3)}</b>")
            for ad in (f"x{number}", f"y{number}")
        )
        judge.learn_again(one, other)
    page = fetched(prose("text"), "http://a.example/p?id=9", more="<b class=ad>this</b>")
    other = fetched(prose("text"), "http://a.example/p?id=8", more="<b class=ad>that</b>")
    # That it changes on these two pages, one of them must show.
    again = fetched(prose("text"), "http://a.example/p?id=9", more="<b class=ad>those</b>")
    assert judge.compare(page, other).same is Same.UNKNOWN
    assert judge.compare(page, other, [again]).same is Same.SAME
    assert any(name.endswith("b.ad") for name in judge.names.values())


@pytest.mark.parametrize("known", [None, logged(fetched(prose("a")))])
def test_equal_pages_are_the_same_after_one_fetch_where_the_log_has_one_of_them(known):
    finding, asks = asked(inquire(U, V, Judge(), known), lambda url, _: fetched(prose("a"), url))
    assert finding.outcome is Outcome.SAME
    assert len(asks) == (2 if known is None else 1)


def test_a_price_in_long_text_is_a_difference_and_says_where():
    finding, _ = asked(
        inquire(U, V, Judge(), both_linked=True),
        lambda url, _: fetched(prose("text", 300), url, more=f'<i class="price">{5 if url == U else 6}</i>'),
    )
    assert finding.outcome is Outcome.DIFFERENT
    assert "price" in finding.why


@given(st.integers(0, 5))
def test_words_that_change_at_each_fetch_are_no_difference(seed):
    def web(url: str, times: int) -> Fetched:
        ads = f"{'ab'[url == U]}{times}{seed}"
        return fetched(prose("text"), url, more=f"<div id=ad>{prose(ads, 5)}</div>")

    finding, asks = asked(inquire(U, V, Judge(), both_linked=True), web)
    assert finding.outcome is Outcome.SAME
    assert len(asks) <= 4


@pytest.mark.parametrize(("price", "outcome"), [(5, Outcome.SAME), (6, Outcome.DIFFERENT)])
def test_another_url_is_seen_to_show_a_page_by_what_that_has_answered_before(price, outcome):
    def web(url: str, times: int) -> Fetched:
        ads, shown = prose(f"{url[-1]}{times}", 5), price if url == W else 5
        return fetched(prose("text"), url, more=f"<div id=ad>{ads}</div><i>{shown}</i>")

    judge = Judge()
    asked(inquire(U, V, judge, both_linked=True), web)
    finding, asks = asked(inquire(W, V, judge, both_linked=True), web)
    assert finding.outcome is outcome
    assert len(asks) == (3 if outcome is Outcome.SAME else 4)


def changing(name: str, fetch: int, price: str = "4.99", url: str = U) -> Fetched:
    """A text with words that change at each fetch, in the midst of others, and a price beside it."""
    words = prose(name).split()
    words[7], words[30] = f"new{fetch}", f"other{fetch}"
    return fetched(f"{' '.join(words)}.", url, more=f"<b>{price}</b>")


def knowing_what_changes() -> Judge:
    judge = Judge()
    for number in range(3):
        url = f"http://a.example/{chr(97 + number)}"
        judge.learn_again(*(changing(f"p{number}q", 10 * number + fetch, url=url) for fetch in range(2)))
    return judge


def test_where_a_page_changes_as_is_known_the_log_is_as_good_as_a_further_fetch():
    known, known_target = (logged(changing("a", number, url=url)) for number, url in ((1, U), (2, V)))
    steps = inquire(U, V, knowing_what_changes(), known, known_target, both_linked=True)
    finding, asks = asked(steps, lambda url, times: changing("a", 3 + times + 5 * (url == U), url=url))
    assert (finding.outcome, len(asks)) == (Outcome.SAME, 2)


@pytest.mark.parametrize(("seconds", "price"), [(2 * SAME_TIME, "4.99"), (0.0, "3.99")])
def test_it_is_not_where_the_page_may_be_another_one_by_now(seconds, price):
    pages = [changing("a", number, price, url) for number, url in ((1, U), (2, V))]
    known, known_target = (replace(logged(page), at=-seconds) for page in pages)
    steps = inquire(U, V, knowing_what_changes(), known, known_target, both_linked=True)
    _, asks = asked(steps, lambda url, times: changing("a", 3 + times + 5 * (url == U), url=url))
    assert len(asks) == 4


def test_a_page_that_is_another_one_at_each_fetch_says_nothing():
    finding, _ = asked(
        inquire(U, V, Judge(), both_linked=True), lambda url, times: fetched(prose(f"{url[-1]}{times}"), url)
    )
    assert finding.outcome is Outcome.UNKNOWN


def test_a_difference_that_comes_once_by_chance_is_none():
    """A piece of text that one page shows twice and the other not, where pieces come and go at each fetch."""
    pieces = {(U, 0): "ab", (U, 1): "ac", (V, 0): "bc", (V, 1): "cd", (U, 2): "bd", (V, 2): "ad"}

    def web(url: str, times: int) -> Fetched:
        shown = "".join(f"<p>{prose(one, 4)}.</p>" for one in pieces.get((url, times), "abcd"))
        return fetched(prose("text"), url, more=shown)

    finding, _ = asked(inquire(U, V, Judge(), both_linked=True), web)
    assert finding.outcome is not Outcome.DIFFERENT


def test_what_is_shown_beside_any_target_does_not_refute():
    finding, asks = asked(
        inquire(U, V, Judge()), lambda url, _: fetched(prose("a" if url == U else "any name"), url)
    )
    assert finding.outcome is Outcome.UNKNOWN
    assert asks[-1].beside


def test_what_is_shown_beside_any_url_that_the_log_does_not_know_does_not_refute():
    finding, asks = asked(
        inquire(U, V, Judge()), lambda url, _: fetched(prose("a" if url == V else "any name"), url)
    )
    assert finding.outcome is Outcome.UNKNOWN
    assert [ask.url for ask in asks if ask.beside] == [V, U]


@pytest.mark.parametrize("any_name", [V, U])
def test_pages_that_a_crawl_got_differ_though_any_name_beside_one_of_them_shows_the_same(any_name):
    def web(url: str, _: int) -> Fetched:
        texts = {V: "keeper", U: "canary", f"{any_name}~": "keeper" if any_name == V else "canary"}
        return fetched(prose(texts.get(url, "not found")), url)

    finding, asks = asked(inquire(U, V, Judge(), both_shown=True), web)
    assert finding.outcome is Outcome.DIFFERENT
    assert [ask.url for ask in asks if ask.elsewhere] == [any_name]


@pytest.mark.parametrize(("nothing", "outcome"), [(V, Outcome.UNFETCHABLE), (U, Outcome.UNKNOWN)])
def test_the_answer_of_a_whole_site_for_urls_that_cannot_exist_is_no_page(nothing, outcome):
    def web(url: str, _: int) -> Fetched:
        return fetched(prose("not found" if url == nothing or "~" in url else "a"), url)

    finding, _ = asked(inquire(U, V, Judge(), both_shown=True), web)
    assert finding.outcome is outcome


@pytest.mark.parametrize(
    ("status", "outcome"), [(404, "unfetchable"), (500, "unfetchable"), (429, "unknown")]
)
def test_a_target_that_does_not_answer_is_unfetchable_unless_the_answer_is_about_us(status, outcome):
    finding, _ = asked(inquire(U, V, Judge()), lambda url, _: fetched("", url, status if url == V else 200))
    assert finding.outcome == outcome


def test_a_target_that_redirects_to_the_url_each_time_is_the_same_page():
    finding, asks = asked(
        inquire(U, V, Judge()), lambda url, _: replace(fetched(prose("a"), url), final_url=U)
    )
    assert (finding.outcome, len(asks)) == (Outcome.SAME, 2)


def test_a_redirect_that_comes_once_proves_nothing():
    def web(url: str, times: int) -> Fetched:
        return replace(fetched(prose("a"), url), final_url=V if times else U)

    finding, asks = asked(inquire(U, V, Judge()), web)
    assert finding.outcome is Outcome.UNKNOWN
    assert asks[-1].stateless


@pytest.mark.parametrize(("final_url", "outcome"), [(V, "same"), ("http://a.example/", "different")])
def test_a_redirect_of_the_log_counts_where_it_comes_again_without_state(final_url, outcome):
    def web(url: str, _: int) -> Fetched:
        page = fetched(prose(url[-1]), url)
        return replace(page, final_url=final_url) if url == U else page

    finding, asks = asked(inquire(U, V, Judge(), by_redirect=True), web)
    assert finding.outcome == outcome
    assert all(ask.stateless for ask in asks)


def test_links_count_by_the_key_of_what_they_lead_to():
    def web(url: str, _: int) -> Fetched:
        sid = url[-1]
        return fetched(prose("list"), url, more="".join(f"<a href=/p{n}?sid={sid}>p</a>" for n in range(4)))

    assert asked(inquire(U, V, Judge(), both_linked=True), web)[0].outcome is Outcome.DIFFERENT
    found, _ = asked(inquire(U, V, Judge(), both_linked=True, key=lambda url: url.partition("?")[0]), web)
    assert found.outcome is Outcome.SAME


def test_which_links_keys_tell_apart_is_learned_from_the_pages_that_are_seen():
    def linking(url: str, target: str) -> Fetched:
        return fetched(prose("list"), url, more=f"<a href={target}>p</a>")

    judge, one, other = Judge(), linking(U, "/p7?from=a"), linking(V, "/p7?from=b")
    key = lambda url: url.partition("?")[0]
    assert judge.compare(one, other, key=key).same is Same.UNKNOWN
    judge.learn(linking("http://a.example/w", "/p8?from=c"))
    assert judge.compare(one, other, key=key).same is Same.SAME


def test_a_page_that_is_not_the_logs_is_in_the_way():
    known = logged(fetched(prose("a")))
    finding, _ = asked(inquire(U, V, Judge(), known, known), lambda url, _: fetched(prose("captcha", 5), url))
    assert finding.outcome is Outcome.UNKNOWN


def test_a_template_is_learned_from_pages_where_no_log_says_it():
    judge, frame = Judge(), "".join(f"<nav>{prose(f'menu{n}', 2)}</nav>" for n in range(5))
    for number in range(8):
        for kind in ("p", "q"):
            judge.learn(
                fetched(prose(f"{kind}{number}"), f"http://a.example/{kind}/show?id={number}", more=frame)
            )
    assert len(judge.knowledge.template) >= 5


def test_marks_count_only_where_the_sites_pages_do_not_have_them():
    judge = Judge()
    page = fetched(prose("shop"), marks="password")
    assert judge.is_in_the_way(page, None)
    for number in range(5):
        judge.learn(fetched(prose(f"p{number}"), marks="password"))
    assert not judge.is_in_the_way(page, None)
    assert judge.is_in_the_way(replace(page, marks=frozenset({"moved"})), None)


def test_sequences_of_answers_never_raise():
    judge = Judge()
    odd: Sequence[Fetched] = [Fetched(U, U, None), Fetched(U, U, 200), fetched("", U), fetched("x", V, 500)]
    for page in odd:
        judge.learn(page, None)
        judge.learn_nothing(page)
        judge.learn_again(page, page)
        judge.is_nothing(page)
