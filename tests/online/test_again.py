"""Which pages of a crawl are worth another fetch."""

from __future__ import annotations

from collections.abc import Mapping

from scrapy_dust.online.again import worth_another_fetch
from scrapy_dust.page.volatile import LEAST_SURE, LEAST_URLS
from scrapy_dust.visits.pages import Page, SiteLog

FORMS = [f"http://s.test/login?next={n}" for n in range(60)]


def page(url: str, shown: str, words: int = 1) -> Page:
    return Page(url, text_digest=shown, sketch=(words, 2, 3, 4))


def worth(pages: list[Page], shown_twice: Mapping[str, bool] | None = None) -> list[str]:
    return list(worth_another_fetch(SiteLog(pages, {}), shown_twice or {}, [one.url for one in pages]).urls)


WITH_TOKENS = [page(url, url) for url in FORMS]


CHANGED = {FORMS[0]: True}


def test_pages_with_the_same_words_that_differ_in_the_rest_are_the_latest_first() -> None:
    assert worth(WITH_TOKENS, CHANGED) == FORMS[:0:-1]


def test_a_few_are_fetched_to_see_whether_anything_changes() -> None:
    assert worth(WITH_TOKENS) == FORMS[: -LEAST_URLS - 1 : -1]


def test_pages_that_are_known_to_be_one_are_not() -> None:
    assert worth([page(url, "a form") for url in FORMS]) == []


def test_it_takes_no_more_than_two_pages_with_the_same_words() -> None:
    assert worth([page(url, url, words=n // 2) for n, url in enumerate(FORMS)], CHANGED) == FORMS[:0:-1]


def test_pages_with_words_of_their_own_are_not() -> None:
    assert worth([page(url, url, words=n) for n, url in enumerate(FORMS)]) == []


def test_few_pages_are_not_worth_it() -> None:
    assert worth(WITH_TOKENS[: 2 * LEAST_URLS - 1]) == []
    assert worth(WITH_TOKENS[: 2 * LEAST_URLS]) != []


def test_kinds_with_more_such_pages_come_first() -> None:
    few = [page(f"http://s.test/item?n={n}", f"item {n}", words=7) for n in range(10)]
    both = worth([*few, *WITH_TOKENS])
    assert both == [*worth(WITH_TOKENS), *worth(few)]


def test_it_ends_when_enough_have_changed_or_the_first_have_not() -> None:
    assert (
        len(worth(WITH_TOKENS, dict.fromkeys(FORMS[: LEAST_SURE - 1], True))) == len(FORMS) - LEAST_SURE + 1
    )
    assert worth(WITH_TOKENS, dict.fromkeys(FORMS[:LEAST_SURE], True)) == []
    assert worth(WITH_TOKENS, dict.fromkeys(FORMS[:LEAST_URLS], False)) == []
