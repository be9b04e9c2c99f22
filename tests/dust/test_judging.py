from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.dust.inquiry import Ask, inquire
from scrapy_dust.dust.judging import Fetched, Judge, Known, Outcome

U, V = "http://a.example/u", "http://a.example/v"


def fetched(
    words: Iterable[int],
    url: str = U,
    title: str | None = "T",
    status: int | None = 200,
    marks: Iterable[str] = (),
) -> Fetched:
    """A page whose shingles are numbers."""
    shingles = sorted(set(words))
    return Fetched(
        url,
        url,
        status,
        f"{title} {shingles}",
        title,
        np.array(shingles, dtype=np.uint64),
        sketch_of(shingles),
        frozenset(marks),
    )


def sketch_of(shingles: Sequence[int]) -> tuple[int, ...]:
    """Four least values under four orders of all numbers."""
    return tuple(min((n * a % 1_000_003 for n in shingles), default=0) for a in (7919, 104729, 15485863, 3))


def logged(page: Fetched) -> Known:
    """As the log has *page*."""
    return Known(page.text_digest, page.sketch)


texts = st.frozensets(st.integers(0, 60), max_size=60) | st.builds(
    range, st.integers(0, 3), st.integers(50, 53)
)
pages = st.builds(fetched, texts, st.just(U), st.sampled_from((None, "T", "S")))


@st.composite
def judges(draw: st.DrawFn) -> Judge:
    judge = Judge()
    for nothing in draw(st.lists(pages, max_size=2)):
        judge.learn_nothing(nothing)
    for page in draw(st.lists(pages, max_size=12)):
        judge.learn(page)
    return judge


@given(judges(), pages)
def test_a_page_is_the_same_as_itself_unless_it_is_no_content(judge, page):
    assert judge.compare(page, page) is (Outcome.UNKNOWN if judge.is_nothing(page) else Outcome.SAME)


@given(judges(), pages, pages)
def test_whether_two_pages_are_the_same_does_not_depend_on_which_is_first(judge, one, other):
    if not judge.is_nothing(one) and not judge.is_nothing(other):
        assert judge.compare(one, other) is judge.compare(other, one)


@given(judges(), pages, pages)
def test_what_a_site_answers_to_nonsense_proves_no_sameness(judge, one, other):
    if judge.is_nothing(one) or judge.is_nothing(other):
        assert judge.compare(one, other) in (Outcome.UNKNOWN, Outcome.UNFETCHABLE)


def test_near_duplicates_are_the_same_page():
    assert Judge().compare(fetched(range(100)), fetched(range(5, 100))) is Outcome.SAME
    assert Judge().compare(fetched(range(100)), fetched(range(25, 100))) is Outcome.DIFFERENT


def test_a_part_of_a_short_page_is_no_other_page_where_the_site_says_that_it_is_one():
    short, reworded = fetched(range(200)), fetched([*range(192), *range(200, 212)], V)
    judge, template = Judge(), range(100)
    for page in range(20):
        judge.learn(fetched([*template, *range(1000 + page * 50, 1050 + page * 50)], title=f"{page}"))
    assert judge.compare(short, reworded) is Outcome.DIFFERENT
    named = [replace(one, canonical=U) for one in (short, reworded)]
    assert judge.compare(*named) is Outcome.SAME
    assert judge.compare(short, named[1]) is Outcome.SAME  # it is that URL itself
    far = fetched([*range(130), *range(300, 370)], V)
    assert judge.compare(named[0], replace(far, canonical=U)) is Outcome.DIFFERENT
    for title in "ab":  # a site that says so of every page
        other = fetched([*template, *range(3000, 3050), ord(title)], title=title)
        judge.learn(replace(other, canonical=U))
    assert judge.compare(*named) is Outcome.DIFFERENT


def test_other_titles_ask_for_more_likeness():
    here, there = fetched(range(100), title="One"), fetched(range(5, 100), title="Two")
    assert Judge().compare(here, there) is Outcome.DIFFERENT
    assert Judge().compare(here, fetched(range(1, 100), title="Two")) is Outcome.SAME


def test_pages_that_share_only_their_template_are_different():
    judge, template = Judge(), range(1000, 1400)
    for page in range(20):
        judge.learn(fetched([*template, *range(page * 15, page * 15 + 15)]))
    here, there = fetched([*template, *range(500, 515)]), fetched([*template, *range(600, 615)])
    assert judge.compare(here, there) is Outcome.DIFFERENT
    assert Judge().compare(here, there) is Outcome.SAME  # what comparing whole texts would have said


def test_of_pages_that_are_hardly_more_than_template_only_equal_text_is_proof():
    judge, template = Judge(), range(1000, 1400)
    for page in range(20):
        judge.learn(fetched([*template, *range(page * 15, page * 15 + 15)]))
    here = fetched([*template, 1, 2])
    assert judge.compare(here, fetched([*template, 1, 3])) is Outcome.UNKNOWN
    assert judge.compare(here, fetched([*template, 1, 3], title="S")) is Outcome.DIFFERENT
    assert judge.compare(here, fetched([*template, 1, 2], V)) is Outcome.SAME


def test_variants_of_one_page_do_not_make_a_template_of_it():
    judge = Judge()
    for page in range(12):
        judge.learn(fetched(range(1000 + page * 100, 1100 + page * 100), title=f"page {page}"))
    for variant in range(6):
        judge.learn(fetched([*range(97), 500 + variant], f"{U}{variant}"))
    assert judge.compare(fetched(range(100)), fetched(range(3, 103))) is Outcome.SAME


def test_where_all_pages_have_one_title_their_template_is_known_by_their_texts():
    judge, template = Judge(), range(1000, 1400)
    for page in range(20):
        judge.learn(fetched([*template, *range(page * 15, page * 15 + 15)], title=None if page % 2 else "T"))
    here, there = fetched([*template, *range(500, 515)]), fetched([*template, *range(600, 615)])
    assert judge.compare(here, there) is Outcome.DIFFERENT


def test_many_copies_of_one_page_do_not_make_a_template_of_it():
    judge = Judge()
    for n in range(50):
        judge.learn(fetched(range(100), f"{U}{n}"))
    assert judge.compare(fetched(range(100)), fetched(range(3, 103))) is Outcome.SAME


# --- inquiries ------------------------------------------------------------------------------------------------------


def ask(
    answer: Callable[[str, int], Fetched],
    known: Known | None = None,
    judge: Judge | None = None,
    *,
    known_target: Known | None = None,
    both_linked: bool = True,
    thorough: bool = False,
) -> tuple[Outcome, list[str]]:
    """Run an inquiry on a site that is a function of a URL and of how often it was asked for."""
    inquiry = inquire(U, V, judge or Judge(), known, known_target, both_linked=both_linked, thorough=thorough)
    asked: list[str] = []
    at_hand: dict[str, Fetched] = {}
    wanted = next(inquiry)
    while True:
        if wanted.beside:
            wanted = Ask(f"{wanted.url}-nonsense")
        if wanted.again or wanted.url not in at_hand:
            at_hand[wanted.url] = answer(wanted.url, asked.count(wanted.url))
            asked.append(wanted.url)
        try:
            wanted = inquiry.send(at_hand[wanted.url])
        except StopIteration as end:
            return end.value, asked


def test_a_target_that_shows_what_the_log_has_costs_one_fetch():
    page = fetched(range(100), V)
    assert ask(lambda url, nth: page, logged(page)) == (Outcome.SAME, [V])


def test_a_target_that_redirects_to_the_url_is_the_same_page():
    assert ask(lambda url, nth: replace(fetched(range(9), V), final_url=U)) == (Outcome.SAME, [V])


def test_a_difference_counts_only_after_a_control_fetch():
    def answer(url: str, nth: int) -> Fetched:
        return fetched(range(100) if url == U else range(200, 300), url)

    assert ask(answer) == (Outcome.DIFFERENT, [V, U, U])


def test_where_many_pairs_are_the_same_a_few_words_in_one_place_refute_nothing():
    """Of a short page they are much: shingles enough to make two pages of it."""
    short, reworded = fetched(range(95)), fetched([*range(85), *range(200, 215)], V)
    answers = {U: short, V: reworded}
    assert ask(lambda url, nth: answers[url]) == (Outcome.DIFFERENT, [V, U, U])
    assert ask(lambda url, nth: answers[url], thorough=True) == (Outcome.UNKNOWN, [V, U, U])
    answers[V] = replace(reworded, title="S")
    assert ask(lambda url, nth: answers[url], thorough=True) == (Outcome.DIFFERENT, [V, U, U, V])


def test_where_many_pairs_are_the_same_a_difference_counts_only_if_both_pages_stay_what_they_are():
    def stable(url: str, nth: int) -> Fetched:
        return fetched(range(100) if url == U else range(200, 300), url)

    def changing(url: str, nth: int) -> Fetched:
        return fetched(range(100) if url == U else range(200 + 200 * nth, 300 + 200 * nth), url)

    assert ask(stable, thorough=True) == (Outcome.DIFFERENT, [V, U, U, V])
    assert ask(changing, thorough=True) == (Outcome.UNKNOWN, [V, U, U, V])
    assert ask(stable, thorough=True, known_target=logged(fetched(range(200, 300), V))) == (
        Outcome.DIFFERENT,
        [V, U, U],
    )


def test_a_page_that_differs_from_itself_says_nothing():
    def answer(url: str, nth: int) -> Fetched:
        return fetched(range(1000 * nth + (url == V) * 500, 1000 * nth + 400 + (url == V) * 500), url)

    assert ask(answer) == (Outcome.UNKNOWN, [V, U, U])


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (404, Outcome.UNFETCHABLE),
        (410, Outcome.UNFETCHABLE),
        (400, Outcome.UNFETCHABLE),
        (500, Outcome.UNFETCHABLE),
        (302, Outcome.UNFETCHABLE),
        (401, Outcome.UNKNOWN),
        (403, Outcome.UNKNOWN),
        (429, Outcome.UNKNOWN),
        (503, Outcome.UNKNOWN),
        (None, Outcome.UNKNOWN),
    ],
)
def test_a_target_that_does_not_answer_refutes_unless_the_server_only_refuses(status, outcome):
    assert ask(lambda url, nth: fetched((), url, status=status)) == (outcome, [V])


@pytest.mark.parametrize("status", [404, 503, None])
def test_a_url_that_is_gone_says_nothing(status):
    """Figure 3, line 8: fetch u failed."""
    answers = {V: fetched(range(9), V), U: fetched((), U, status=status)}
    assert ask(lambda url, nth: answers[url]) == (Outcome.UNKNOWN, [V, U])


def test_a_soft_404_is_a_target_that_does_not_answer():
    judge = Judge()
    judge.learn_nothing(fetched(range(50)))
    answers = {V: fetched(range(50), V), U: fetched(range(200), U)}
    assert ask(lambda url, nth: answers[url], judge=judge, both_linked=False)[0] is Outcome.UNFETCHABLE
    assert ask(lambda url, nth: answers[V], logged(answers[V]), judge)[0] is Outcome.UNKNOWN


@given(judges(), st.data())
def test_different_is_never_said_without_looking_at_the_url_twice(judge, data):
    def answer(url: str, nth: int) -> Fetched:
        page: Fetched = data.draw(pages)
        return replace(
            page, url=url, final_url=data.draw(st.sampled_from((U, V))), status=data.draw(statuses)
        )

    statuses = st.sampled_from((200, 200, 200, 200, 404, 503, None))
    # Nothing that an answer is equal to: what the crawl has seen would be the second look.
    known = data.draw(st.sampled_from((None, logged(fetched(range(50), title="seen")))))
    outcome, asked = ask(answer, known, judge, both_linked=False)
    assert len(asked) <= 4
    if outcome is Outcome.DIFFERENT:
        assert asked == [V, U, U, f"{V}-nonsense"]


@pytest.mark.parametrize("missing", [U, V])
def test_a_page_and_a_soft_error_that_are_both_linked_are_different(missing):
    """If the soft error is fetched first, its status says success, and the page would never be fetched."""
    judge = Judge()
    judge.learn_nothing(fetched(range(500, 600)))

    def answer(url: str, nth: int) -> Fetched:
        return fetched(range(500, 600) if url == missing else range(100), url)

    assert ask(answer, judge=judge, both_linked=True)[0] is Outcome.DIFFERENT
    alone = ask(answer, judge=judge, both_linked=False)[0]
    assert alone is (Outcome.UNKNOWN if missing == U else Outcome.UNFETCHABLE)


# --- what stands in front of pages ----------------------------------------------------------------------------------


def test_two_pages_that_the_log_has_different_and_that_now_are_one_are_no_content():
    """A login, a consent, a captcha: what stands in front of pages shows the same in place of each."""
    judge, wall = Judge(), fetched(range(900, 960), title="Sign in")
    here, there = fetched(range(100)), fetched(range(200, 300), V)
    assert (
        ask(lambda url, nth: replace(wall, url=url, final_url=url), logged(here), judge)[0] is Outcome.UNKNOWN
    )
    judge.learn(wall, logged(here))
    assert not judge.is_nothing(wall)
    judge.learn(replace(wall, url=V), logged(there))
    assert judge.is_nothing(wall)


def test_a_page_that_is_not_what_the_log_has_proves_neither_sameness_nor_difference():
    old = logged(fetched(range(100)))
    changed = fetched(range(500, 600))
    assert ask(lambda url, nth: replace(changed, url=url, final_url=url), old)[0] is Outcome.UNKNOWN
    answers = {U: changed, V: fetched(range(700, 800), V)}
    assert ask(lambda url, nth: answers[url], old)[0] is Outcome.UNKNOWN
    assert ask(lambda url, nth: answers[url])[0] is Outcome.DIFFERENT


def test_a_captcha_in_place_of_a_made_up_target_refutes_nothing():
    page = fetched(range(100))
    answers = {U: page, V: fetched(range(500, 550), V, marks=["captcha"])}
    answered = ask(lambda url, nth: answers.get(url, fetched(range(9), url)), logged(page), both_linked=False)
    assert answered == (Outcome.UNKNOWN, [V])


def test_what_every_page_of_a_site_has_marks_none():
    judge = Judge()
    for page in range(5):
        judge.learn(fetched(range(100 * page, 100 * page + 50), marks=["password"]))
    assert not judge.is_marked(fetched(range(900, 950), marks=["password"]))
    assert judge.is_marked(fetched(range(900, 950), marks=["captcha"]))


def test_empty_pages_say_nothing():
    empty = fetched((), marks=["empty"])
    assert Judge().compare(empty, replace(empty, url=V)) is Outcome.UNKNOWN


def test_a_made_up_target_that_shows_what_any_name_beside_it_shows_refutes_nothing():
    """The "not found" of one folder, which no survey has seen, or a page that any name leads to."""
    page = fetched(range(100))
    answered = ask(
        lambda url, nth: page if url == U else fetched(range(500, 560), url), logged(page), both_linked=False
    )
    assert answered == (Outcome.UNKNOWN, [V, U, f"{V}-nonsense"])


@given(judges(), pages, st.booleans())
def test_what_the_log_has_never_stands_in_the_way_of_itself(judge, page, marked):
    marks = frozenset({"password"} if marked else ())
    assert not judge.is_in_the_way(replace(page, marks=marks), logged(page))
