"""Suspicions kept up to date a page at a time are those that a look at all pages finds."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.online.suspicions import Suspicion, Suspicions
from scrapy_dust.propose.edits.candidates import edits_between
from scrapy_dust.rules.rule import Rule
from scrapy_dust.url.parts import parts_of

_PARTS = st.tuples(
    st.sampled_from(["", "/a", "/b", "/a/index.html", "/b/index.html", "/a/"]),
    st.lists(st.sampled_from(["id=1", "id=2", "sid=x", "sid=y", "sort=up"]), max_size=3, unique=True),
)
URLS = _PARTS.map(
    lambda parts: f"http://s.test{parts[0] or '/'}" + ("?" + "&".join(parts[1]) if parts[1] else "")
)
SITES = st.dictionaries(URLS, st.integers(0, 4), max_size=14)


def literally(edit: Rule, pages: dict[str, int]) -> tuple[int, int]:
    """How many contents an edit makes one, and how many forms it gives different ones: all pages looked at."""
    groups: dict[str, list[int]] = defaultdict(list)
    for url, content in pages.items():
        groups[edit.apply(url)].append(content)
    changed = {edit.apply(url) for url in pages if edit.apply(url) != url}
    groups = {form: shown for form, shown in groups.items() if form in changed and len(shown) > 1}
    return (
        len({shown[0] for shown in groups.values() if len(set(shown)) == 1}),
        sum(len(set(shown)) > 1 for shown in groups.values()),
    )


@given(SITES, st.data())
def test_a_suspicion_counts_what_a_look_at_all_pages_finds_in_whatever_order_they_come(
    pages: dict[str, int], data: st.DataObject
) -> None:
    pairs = list(combinations(pages, 2))
    edits = [e for a, b in pairs for e in edits_between(parts_of(a), parts_of(b))]
    for edit in data.draw(st.lists(st.sampled_from(edits), max_size=3)) if edits else []:
        suspicion = Suspicion(edit)
        seen: dict[str, int] = {}
        for url in data.draw(st.permutations(list(pages))):
            seen[url] = pages[url]
            suspicion.see(url, pages[url], seen)
        assert (suspicion.held, suspicion.failed) == literally(edit, pages)


@given(SITES)
def test_what_is_suspected_counts_the_pages_of_before_it_was_thought_of(pages: dict[str, int]) -> None:
    suspicions = Suspicions()
    for url, content in pages.items():
        suspicions.see(url, content)
    for one in suspicions:
        assert (one.held, one.failed) == literally(one.edit, pages)


def test_one_content_makes_nobody_suspicious_and_two_do() -> None:
    suspicions = Suspicions()
    suspicions.see("http://s.test/1", "one")
    suspicions.see("http://s.test/1?sid=a", "one")
    assert not list(suspicions)
    suspicions.see("http://s.test/2?sid=b", "two")
    suspicions.see("http://s.test/2", "two")
    assert any(str(edit) == "sid=* → (left out)" for edit in suspicions.probable())


def test_what_fails_as_often_as_it_holds_is_not_grave() -> None:
    suspicions = Suspicions()
    for number in range(4):
        suspicions.see(f"http://s.test/{number}", number)
        suspicions.see(f"http://s.test/{number}?page=2", number if number < 2 else f"{number}, page 2")
    assert all("page" not in str(edit) for edit in suspicions.probable())
