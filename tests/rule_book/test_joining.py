from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.rule_book import Entry, Evidence, Status
from scrapy_dust.rule_book.joining import join
from tests.rule_book.books import INDEX, SITE, STORY, WWW, book, evidences

FEW_RULES = st.sampled_from((WWW, INDEX, STORY, WWW.reverse, INDEX.reverse))
ENTRIES = st.lists(
    st.builds(
        Entry, FEW_RULES, st.sampled_from(Status), evidences(), comment=st.none() | st.sampled_from("ab")
    ),
    unique_by=lambda entry: entry.rule,
)
BOOKS = ENTRIES.map(lambda entries: book(*entries))


def in_force(one):
    return {entry.rule for entry in one.entries(SITE) if entry.status is Status.VALID}


@pytest.mark.once
@given(BOOKS, BOOKS)
def test_what_is_in_force_does_not_depend_on_who_begins(mine, theirs):
    assert in_force(join(mine, theirs)[0]) == in_force(join(theirs, mine)[0])


@given(BOOKS, BOOKS)
def test_nothing_comes_into_force_that_is_so_in_neither_and_nothing_is_lost(mine, theirs):
    both, _ = join(mine, theirs)
    assert in_force(both) <= in_force(mine) | in_force(theirs)
    rules = {entry.rule for one in (mine, theirs) for entry in one.entries(SITE)}
    assert {entry.rule for entry in both.entries(SITE)} == rules
    disabled = {e.rule for one in (mine, theirs) for e in one.entries(SITE) if e.status is Status.DISABLED}
    assert not in_force(both) & disabled
    comments = {(e.rule, e.comment) for one in (mine, theirs) for e in one.entries(SITE) if e.comment}
    by_rule = {entry.rule: entry.comment or "" for entry in both.entries(SITE)}
    assert all(comment in by_rule[rule] for rule, comment in comments)


@given(BOOKS)
def test_a_book_joined_with_itself_is_what_it_was_but_for_opposites(mine):
    both, differences = join(mine, mine)
    again, _ = join(both, both)
    assert (again, differences) == (both, [])


@given(BOOKS, BOOKS)
def test_a_rule_and_its_reverse_are_not_both_in_force(mine, theirs):
    found = in_force(join(mine, theirs)[0])
    assert not any(rule.reverse in found for rule in found)


def test_where_they_differ_the_careful_side_stands_and_is_named():
    older, newer = Evidence(last_validated="2026-01-01"), Evidence(last_validated="2026-02-01")
    mine = book(Entry(WWW, evidence=newer), Entry(INDEX, evidence=older), Entry(STORY, Status.PROBATION))
    theirs = book(
        Entry(WWW, Status.REFUTED, older, reason="refuted"),
        Entry(INDEX, Status.REFUTED, newer, reason="refuted"),
        Entry(STORY, evidence=older),
    )
    both, differences = join(mine, theirs)
    status = {entry.rule: (entry.status, entry.reason) for entry in both.entries(SITE)}
    assert status == {
        WWW: (Status.VALID, None),
        INDEX: (Status.REFUTED, "refuted"),
        STORY: (Status.VALID, None),
    }
    assert [one.now for one in differences] == [Status.VALID, Status.REFUTED, Status.VALID]


def test_comments_of_both_are_kept():
    mine = book(Entry(WWW, comment="mine"))
    theirs = book(replace(mine.entries(SITE)[0], comment="theirs"))
    assert join(mine, theirs)[0].entries(SITE)[0].comment == "mine / theirs"
