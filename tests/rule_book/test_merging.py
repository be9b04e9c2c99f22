from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.rule_book import Entry, Evidence, Status
from scrapy_dust.rule_book.merging import merge_entries, merge_evidence
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from tests.rule_book.books import INDEX, SITE, STORY, WWW, book, evidences

PROBATION, VALID, SUSPENDED, REFUTED, DISABLED = Status

FEW_RULES = st.sampled_from((WWW, INDEX, STORY, WWW.reverse, INDEX.reverse))
FEW = st.lists(
    st.builds(Entry, FEW_RULES, st.sampled_from(Status), evidences()), unique_by=lambda entry: entry.rule
).map(tuple)


def seen(log: str, day: str = "2026-11-01", **counts: int) -> Evidence:
    return Evidence(**counts, logs=(log,), first_validated=day, last_validated=day)


# --- laws -----------------------------------------------------------------------------------------------------


@given(FEW, FEW)
def test_nothing_known_is_forgotten_or_moved(known, found):
    merged = merge_entries(known, found)
    assert [entry.rule for entry in merged[: len(known)]] == [entry.rule for entry in known]
    assert {entry.rule for entry in merged} <= {entry.rule for entry in (*known, *found)}


@given(FEW, FEW)
def test_what_was_not_found_again_stays_as_it_was(known, found):
    again = {entry.rule for entry in found}
    merged = {entry.rule: entry for entry in merge_entries(known, found)}
    assert all(merged[entry.rule] == entry for entry in known if entry.rule not in again)


@given(FEW, FEW)
def test_what_a_person_disabled_or_a_trial_refuted_is_not_in_force(known, found):
    stopped = {entry.rule for entry in known if entry.status is DISABLED}
    stopped |= {entry.rule for entry in found if entry.status in (SUSPENDED, REFUTED, DISABLED)}
    stopped |= {entry.rule for entry in found if entry.status is PROBATION} - {
        e.rule for e in known if e.status is VALID
    }
    assert not [
        entry for entry in merge_entries(known, found) if entry.rule in stopped and entry.status is VALID
    ]


@pytest.mark.once
@given(FEW, FEW)
def test_a_rule_and_its_reverse_are_never_both_brought_into_force(known, found):
    before = {entry.rule for entry in known if entry.status is VALID}
    after = {entry.rule for entry in merge_entries(known, found) if entry.status is VALID}
    for rule in after - before:
        assert rule.reverse not in after


@given(FEW, FEW)
def test_finding_the_same_twice_changes_nothing_more(known, found):
    found = [replace(one, evidence=replace(one.evidence, logs=("today",))) for one in found]
    once = merge_entries(known, found)
    assert {entry.rule: entry.status for entry in merge_entries(once, found)} == {
        entry.rule: entry.status for entry in once
    }
    evidence = {entry.rule: entry.evidence for entry in once}
    assert all(
        entry.evidence.positive == evidence[entry.rule].positive for entry in merge_entries(once, found)
    )


@given(evidences(), evidences())
def test_counts_never_shrink(old, new):
    both = merge_evidence(old, new)
    for name in ("support", "positive", "negative", "unknown", "contradictions", "log_same", "fetches"):
        assert getattr(both, name) >= max(getattr(old, name), getattr(new, name))


# --- stories --------------------------------------------------------------------------------------------------


def test_a_rule_outlives_the_log_that_taught_it():
    assert book(Entry(WWW)).merge(SITE, []).rules_by_site() == {SITE: (WWW,)}


def test_new_rules_come_after_those_that_are_known():
    assert book(Entry(WWW)).merge(SITE, [Entry(INDEX), Entry(WWW)]).rules_by_site() == {SITE: (WWW, INDEX)}


def test_the_evidence_of_another_log_is_added():
    both = merge_evidence(
        seen("monday", "2026-11-02", positive=5, negative=1, support=7, contents=4, fetches=6),
        seen("tuesday", "2026-11-03", positive=3, contradictions=1, support=4, contents=3, fetches=2),
    )
    assert both == Evidence(
        positive=8,
        negative=1,
        contradictions=1,
        fetches=8,
        support=7,
        contents=4,
        logs=("monday", "tuesday"),
        first_validated="2026-11-02",
        last_validated="2026-11-03",
    )


def test_the_evidence_of_the_same_log_counts_once():
    both = merge_evidence(seen("monday", positive=5, unknown=1), seen("monday", positive=6))
    assert (both.positive, both.unknown, both.logs) == (6, 1, ("monday",))


def test_the_newest_bound_stands_and_the_oldest_examples():
    old = replace(seen("1", "2026-11-02"), loss_bound=0.5, examples=(("a", "b"),))
    new = replace(
        seen("2", "2026-11-03"), loss_bound=0.01, examples=(("a", "b"), ("c", "d"), ("e", "f"), ("g", "h"))
    )
    assert merge_evidence(old, new).loss_bound == merge_evidence(new, old).loss_bound == 0.01
    assert merge_evidence(old, seen("3", "2026-11-04")).loss_bound == 0.5
    assert merge_evidence(old, seen("3", "2026-11-04", contradictions=1)).loss_bound is None
    assert merge_evidence(old, new).examples == (("a", "b"), ("c", "d"), ("e", "f"))


def test_the_last_ten_logs_are_named():
    evidence = Evidence()
    for number in range(12):
        evidence = merge_evidence(evidence, seen(f"log {number}", positive=1))
    assert evidence.positive == 12
    assert evidence.logs == tuple(f"log {number}" for number in range(2, 12))


def test_a_rule_refuted_now_says_so_with_the_reason():
    known = book(Entry(WWW), Entry(INDEX))
    now = known.merge(SITE, [Entry(WWW, REFUTED, seen("2", contradictions=1), reason="two pages differ")])
    assert now.rules_by_site() == {SITE: (INDEX,)}
    assert now.entries(SITE)[0].reason == "two pages differ"
    unexplained = known.merge(SITE, [Entry(WWW, REFUTED, seen("2", contradictions=1))])
    assert unexplained.entries(SITE)[0].reason == "refuted on 2026-11-01"


def test_a_rule_refuted_before_it_was_in_force_is_not_taken_up():
    assert book().merge(SITE, [Entry(WWW, REFUTED)]).entries(SITE) == ()


@pytest.mark.parametrize(
    ("evidence", "status"),
    [
        (seen("monday", positive=9), REFUTED),
        (seen("tuesday", positive=9, contradictions=1), REFUTED),
        (seen("tuesday", positive=9, negative=1), VALID),
        (seen("monday", "2026-11-02", positive=9), VALID),
    ],
)
def test_a_refuted_rule_returns_by_new_evidence_without_contradiction(evidence, status):
    known = book(Entry(WWW, REFUTED, seen("monday"), reason="two pages differ"))
    entry = known.merge(SITE, [Entry(WWW, VALID, evidence)]).entries(SITE)[0]
    assert (entry.status, entry.reason) == (status, None if status is VALID else "two pages differ")


def test_a_disabled_rule_stays_disabled_and_keeps_its_comment():
    known = book(Entry(WWW, DISABLED, reason="by hand", comment="ours"))
    entry = known.merge(SITE, [Entry(WWW, VALID, seen("2", positive=9), comment="theirs")]).entries(SITE)[0]
    assert (entry.status, entry.reason, entry.comment) == (DISABLED, "by hand", "ours")
    assert entry.evidence.positive == 9


@pytest.mark.parametrize("status", [VALID, DISABLED])
def test_the_reverse_of_a_rule_in_force_or_disabled_is_not_taken_up(status):
    assert book(Entry(WWW, status)).merge(SITE, [Entry(WWW.reverse)]).entries(SITE) == (Entry(WWW, status),)


def test_the_reverse_of_a_rule_refuted_now_is_taken_up():
    now = book(Entry(WWW)).merge(SITE, [Entry(WWW.reverse), Entry(WWW, REFUTED)])
    assert now.rules_by_site() == {SITE: (Rule.of(Substitute("http://", "http://www.", start=True)),)}


def test_a_rule_from_elsewhere_comes_into_force_by_evidence_of_our_own():
    elsewhere = Entry(INDEX, PROBATION, reason="imported", extra={"imported": {"format": "csv"}})
    (proven,) = merge_entries([elsewhere], [Entry(INDEX, evidence=seen("a", positive=9))])
    assert (proven.status, proven.reason, proven.extra) == (VALID, None, elsewhere.extra)
    (refuted,) = merge_entries([elsewhere], [Entry(INDEX, REFUTED, seen("a", contradictions=1))])
    assert refuted.status is REFUTED


def test_a_rule_from_elsewhere_changes_nothing_about_what_is_known():
    known = (Entry(WWW), Entry(INDEX, DISABLED, reason="by hand"))
    assert merge_entries(known, [Entry(WWW, PROBATION), Entry(INDEX, PROBATION)]) == known
    assert merge_entries([Entry(WWW)], [Entry(WWW.reverse, PROBATION)]) == (Entry(WWW),)
