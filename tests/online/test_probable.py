"""What is probable by the pages seen so far is what a count of all pages finds."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.online.looking import probable
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.pages import Page, SiteLog

_PARTS = st.tuples(
    st.sampled_from(["", "/a", "/b", "/a/index.html", "/b/index.html", "/a/"]),
    st.lists(st.sampled_from(["id=1", "id=2", "sid=x", "sid=y", "sort=up"]), max_size=3, unique=True),
)
URLS = _PARTS.map(
    lambda parts: f"http://s.test{parts[0] or '/'}" + ("?" + "&".join(parts[1]) if parts[1] else "")
)
SITES = st.dictionaries(URLS, st.sampled_from("abcde"), max_size=14)


def log_of(shown: dict[str, str]) -> SiteLog:
    return SiteLog([Page(url, text_digest=content) for url, content in shown.items()])


def literally(edit: Rule, pages: dict[str, str]) -> tuple[int, int]:
    """How many contents an edit makes one, and how many forms it gives different ones."""
    groups: dict[str, list[str]] = defaultdict(list)
    for url, content in pages.items():
        form = url
        while (changed := edit.apply(form)) != form:
            form = changed
        groups[form].append(content)
    several = [shown for shown in groups.values() if len(shown) > 1]
    return (
        len({shown[0] for shown in several if len(set(shown)) == 1}),
        sum(len(set(shown)) > 1 for shown in several),
    )


@given(SITES)
def test_what_is_probable_is_borne_out_by_several_contents_and_seldom_contradicted(
    pages: dict[str, str],
) -> None:
    for edit in probable(log_of(pages)):
        held, failed = literally(edit, pages)
        assert held > 1
        assert held >= 10 * failed


@given(SITES)
def test_the_order_of_pages_decides_nothing(pages: dict[str, str]) -> None:
    backwards = dict(reversed(list(pages.items())))
    assert probable(log_of(pages)) == probable(log_of(backwards))


def test_one_content_makes_nothing_probable_and_two_do() -> None:
    once = {"http://s.test/1": "one", "http://s.test/1?sid=a": "one"}
    assert not probable(log_of(once))
    twice = once | {"http://s.test/2?sid=b": "two", "http://s.test/2": "two"}
    assert any(str(edit) == "sid=* → (left out)" for edit in probable(log_of(twice)))


def test_what_fails_as_often_as_it_holds_is_not_probable() -> None:
    pages = {f"http://s.test/{number}": f"page {number}" for number in range(4)}
    pages |= {f"http://s.test/{number}?page=2": f"page {number}" for number in range(2)}
    pages |= {f"http://s.test/{number}?page=2": f"page {number}, 2" for number in range(2, 4)}
    assert all("page=*" not in str(edit) for edit in probable(log_of(pages)))


def test_what_rules_in_force_say_already_is_not_said_again() -> None:
    pages = {f"http://s.test/{n}?sid={s}": f"page {n}" for n in range(4) for s in "ab"}
    (rule,) = [one for one in probable(log_of(pages)) if str(one) == "sid=* → (left out)"]
    assert not probable(log_of(pages), [rule])
