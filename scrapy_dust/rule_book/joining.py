"""Joins the rule books of two people. If they differ about a rule, the more careful status counts.

The result does not depend on the order of the two books. Comments of both are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Entry, Status
from scrapy_dust.rule_book.merging import merge_evidence


@dataclass(frozen=True, slots=True)
class Difference:
    """A rule about which the two books differ."""

    site: str
    mine: Entry
    theirs: Entry
    now: Status


def join(mine: RuleBook, theirs: RuleBook) -> tuple[RuleBook, list[Difference]]:
    """*mine* with all rules of *theirs*, in my order and then in theirs, and the rules about which the two books differ."""
    book, differences = mine, []
    for site in sorted({*mine.sites, *theirs.sites}):
        together = {entry.rule: entry for entry in mine.entries(site)}
        for entry in theirs.entries(site):
            known = together.get(entry.rule)
            together[entry.rule] = entry if known is None else _joined_entry(known, entry)
            if known is not None and known.status is not entry.status:
                differences.append(Difference(site, known, entry, together[entry.rule].status))
        book = book.with_site(site, _without_opposites(together.values()))
    return book, differences


def _joined_entry(mine: Entry, theirs: Entry) -> Entry:
    """One entry of *mine* and *theirs*: the status that counts, all evidence, and both comments."""
    standing = _entry_that_counts(mine, theirs)
    # Evidence that names no log may have been counted already, whoever begins.
    old, new = (mine, theirs) if mine.evidence.logs else (theirs, mine)
    comments = dict.fromkeys(one for one in (mine.comment, theirs.comment) if one)
    return replace(
        standing,
        evidence=merge_evidence(old.evidence, new.evidence),
        comment=" / ".join(comments) or None,
        extra={**theirs.extra, **mine.extra},
        evidence_extra={**theirs.evidence_extra, **mine.evidence_extra},
    )


def _entry_that_counts(mine: Entry, theirs: Entry) -> Entry:
    """The entry that counts: a person's, then the later one; of one day, the one against the rule."""
    order = {Status.PROBATION: 0, Status.VALID: 1, Status.SUSPENDED: 2, Status.REFUTED: 3}

    def precedence(entry: Entry) -> tuple[bool, bool, str, int]:
        """A sort key that is greater for the entry that counts."""
        is_proven = entry.status is not Status.PROBATION
        seen = entry.evidence.last_validated or ""
        return entry.status is Status.DISABLED, is_proven, seen, order.get(entry.status, 4)

    return max((mine, theirs), key=precedence)


def _without_opposites(entries: Iterable[Entry]) -> list[Entry]:
    """*entries* in which of a rule and its reverse the one with more evidence alone is in force."""
    found = list(entries)
    in_force = {entry.rule: entry for entry in found if entry.status is Status.VALID}
    kept = []
    for entry in found:
        reverse = None if entry.rule.reverse is None else in_force.get(entry.rule.reverse)
        if (
            entry.status is Status.VALID
            and reverse is not None
            and _evidence_rank(entry) < _evidence_rank(reverse)
        ):
            kept.append(replace(entry, status=Status.PROBATION, reason="its reverse is in force"))
        else:
            kept.append(entry)
    return kept


def _evidence_rank(entry: Entry) -> tuple[int, str, str]:
    """A sort key that is greater for the entry with more pairs of equal pages or, of as many, the later one."""
    return entry.evidence.positive, entry.evidence.last_validated or "", str(entry.rule)
