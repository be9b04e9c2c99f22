"""What is a trap, and what must never be taken for one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.online import traps
from scrapy_dust.online.traps import SUSPICIOUS, UNREAD, Fate, Traps, form_of, without_own_numbers

LIMIT = 40


def month(n):
    return f"http://s.test/cal/{2000 + n // 12}/{n % 12 + 1:02}"


def days(n):
    names = "January February March April May June July August September October November December".split()
    return f"{names[n % 12]} {2000 + n // 12} Mo Tu We Th Fr Sa Su".encode().split() + [
        str(day).encode() for day in range(1, 29)
    ]


def walk(limit, many, url=month, words=days):
    """Pages that are found one from another."""
    watched = Traps(limit)
    for n in range(many):
        watched.came(url(n), url(n - 1) if n else None, lambda n=n: words(n))
    return watched


def test_a_calendar_without_end_goes_last_and_then_nowhere():
    assert walk(LIMIT, UNREAD + 24).fate(month(9999), month(9998)) is Fate.FETCH
    late = walk(LIMIT, UNREAD + 49 + SUSPICIOUS)
    assert late.fate(month(9999), month(9998)) is Fate.LAST
    later = walk(LIMIT, UNREAD + 49 + LIMIT)
    assert later.fate(month(9999), month(9998)) is Fate.CAP


def test_what_a_page_links_that_is_no_trap_is_fetched():
    watched = walk(LIMIT, UNREAD + 49 + LIMIT)
    assert watched.fate(month(9999), None) is Fate.FETCH
    assert watched.fate(month(9999), "http://s.test/") is Fate.FETCH
    assert watched.fate("http://s.test/other", month(3)) is Fate.FETCH


def test_numbered_pages_that_each_say_something_are_no_trap():
    watched = walk(
        LIMIT,
        600,
        lambda n: f"http://s.test/story/{n}",
        lambda n: [b"the", b"story", b"of", f"hero{chr(97 + n % 26)}{chr(97 + n // 26)}".encode()],
    )
    assert watched.fate("http://s.test/story/600", "http://s.test/story/599") is Fate.FETCH


def test_pages_of_measurements_are_no_trap():
    watched = walk(LIMIT, 600, words=lambda n: [b"rain", str(n * 7919 % 100_003).encode(), b"mm"])
    assert watched.fate(month(9999), month(9998)) is Fate.FETCH


def test_an_archive_whose_items_come_later_waits_and_is_not_capped():
    watched = Traps(LIMIT)
    for n in range(400):
        archive = f"http://s.test/list?page={n}"
        watched.came(archive, f"http://s.test/list?page={n - 1}", lambda: [b"older", b"newer", b"items"])
        # Nobody knows which page led there.
        watched.came(f"http://s.test/item/{n}", None, lambda n=n: [b"item", f"name{n}".encode(), b"sold"])
    assert watched.fate("http://s.test/list?page=400", "http://s.test/list?page=399") is Fate.LAST


def test_a_form_that_leads_to_something_new_does_not_even_wait():
    watched = Traps(LIMIT)
    for n in range(400):
        archive = f"http://s.test/list?page={n}"
        watched.came(archive, f"http://s.test/list?page={n - 1}", lambda: [b"older", b"newer", b"items"])
        watched.came(f"http://s.test/item/{n}", archive, lambda n=n: [b"item", f"name{n}".encode(), b"sold"])
    assert watched.fate("http://s.test/list?page=400", "http://s.test/list?page=399") is Fate.FETCH


def test_what_was_capped_comes_again_when_the_site_shows_something_new():
    watched = walk(LIMIT, UNREAD + 49 + LIMIT)
    assert watched.fate(month(9999), month(9998)) is Fate.CAP
    assert watched.came("http://s.test/news", None, lambda: None) == [form_of(month(1))]
    assert watched.fate(month(9999), month(9998)) is Fate.LAST


def test_a_page_that_cannot_be_read_counts_as_new():
    assert walk(LIMIT, 600, words=lambda n: None).fate(month(9999), month(9998)) is Fate.FETCH


def test_another_site_is_not_asked():
    watched = walk(LIMIT, UNREAD + 49 + LIMIT)
    for _ in range(3):
        watched.came("http://other.test/news", None, lambda: None)
    assert watched.fate(month(9999), month(9998)) is Fate.CAP


def test_forms():
    assert form_of("http://s.test/cal/2031/05?d=7&v=month#x") == "http://s.test/cal/0/0?d=0&v=month"
    assert form_of("http://s.test/s/a81f3c9e07?q=1") == form_of("http://s.test/s/9c04ab17de?q=2")
    assert form_of("http://s.test/article12") == "http://s.test/article0"
    assert form_of("http://s.test/a/b/a/b/a") == form_of("http://s.test/a/b/b/a/a/a/b")
    assert form_of("http://s.test/a/b/a/b") == "http://s.test/a/b/a/b"


@given(
    st.lists(st.sampled_from([b"7", b"8.", b"06", b"x5y", b"word", b"12", b"2031-05"]), max_size=8),
    st.integers(0, 12),
)
def test_own_numbers_are_those_that_differ_by_one_at_most(words, number):
    def literal(word):
        digits = "0123456789"
        said, text, at = "", word.decode(), 0
        if any(letter.isalpha() for letter in text):
            return word
        while at < len(text):
            end = at
            while end < len(text) and text[end] in digits:
                end += 1
            if end > at:
                said += "#" if abs(int(text[at:end]) - number) <= 1 else text[at:end]
                at = end
            else:
                said += text[at]
                at += 1
        return said.encode()

    assert without_own_numbers(words, f"http://s9.test/p/{number}") == [literal(word) for word in words]


def read_literally(pages):
    """How many of the last pages that were read said nothing new."""
    known, barren, unread, pause = set(), 0, 0, 0
    for n, words in enumerate(pages, 1):
        if n <= UNREAD:
            continue
        if unread:
            unread -= 1
            continue
        runs = {tuple(words[at : at + 3]) for at in range(len(words) - 2)}
        is_new = not runs <= known
        barren = 0 if is_new else barren + 1
        pause = min(max(16, n // 16), pause * 2 + 1) if is_new else 0
        unread = pause
        known |= runs
    return barren


@given(
    st.sampled_from((0, 100, 700)),
    st.lists(st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]), min_size=3, max_size=5), max_size=60),
    st.integers(0, 60),
)
def test_pages_are_new_as_a_literal_reading_has_it(different, pages, same):
    stories = [
        [b"story", b"of", f"hero{chr(97 + n % 26)}{chr(97 + n // 26)}".encode()] for n in range(different)
    ]
    pages = [[b"x"] * 3] * UNREAD + stories + pages + pages[-1:] * same
    watched = Traps(3)
    for n, words in enumerate(pages):
        watched.came(month(n), month(n - 1), lambda words=words: words)
    expected = Fate.CAP if read_literally(pages) >= 3 else Fate.FETCH
    assert watched.fate(month(9999), month(9998)) is expected


def test_where_a_page_was_found_is_asked_for_as_long_as_that_makes_a_difference():
    watched = walk(LIMIT, UNREAD + 55)
    assert watched.asks_for_parents
    watched.came("http://s.test/news", month(3), lambda: None)
    assert not watched.asks_for_parents
    assert not walk(LIMIT, 600, words=lambda n: [b"some", b"thing", str(n * 7919).encode()]).asks_for_parents


def test_memory_has_a_bound_and_what_is_forgotten_is_new_again(monkeypatch):
    monkeypatch.setattr(traps, "_FORMS", 50)
    monkeypatch.setattr(traps, "_SITES", 10)
    monkeypatch.setattr(traps, "_OF_ALL", 400)
    watched = Traps(LIMIT)
    for n in range(UNREAD * 3):
        for form in range(70):
            for at in range(2):
                watched.came(
                    f"http://s{n % 30}.test/f{'x' * (form % 60)}/{n}",
                    None,
                    lambda n=n, at=at: [f"w{n}-{at}-{k}".encode() for k in range(20)],
                )
    assert len(watched._forms) <= 50
    assert len(watched._quiet) <= 10
    assert watched._runs == sum(len(form.known) for form in watched._forms.values()) <= 420
