"""Makes the list of rules on the page: the rules of the rule book, and the rules that this run tried and did not accept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from scrapy_dust.believe.decisions import Decision
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.report.pairs import PairShown
from scrapy_dust.report.savings import Savings
from scrapy_dust.rule_book import Entry, Evidence, RuleBook, Status, rule_id
from scrapy_dust.rules.rule import Rule
from scrapy_dust.trials.concluding import evidence_of

#: A rule seen on fewer pages than these has little evidence.
_LITTLE = 10

_Look = Callable[[str, str], PairShown]


@dataclass(frozen=True, slots=True)
class RuleShown:
    """One rule with its evidence, ready to be shown."""

    id: str
    site: str
    text: str
    kind: str  #: the families of its operations
    status: str  #: of the rule book, or the verdict of a rule that is not in it
    saves: int  #: URLs of this log
    bytes: int
    support: int
    same: int
    different: int
    unanswered: int
    open: int
    from_log: int
    contents: int
    fetches: int
    merges: int
    wrong: int | None
    unseen: float | None
    validated: str | None
    examples: tuple[PairShown, ...]
    doubt: float = 0.0  #: 0 to 1, what is most in need of a person's eyes first; below 0: it is settled
    waits: str = ""  #: why the rule is on probation or in doubt, as a sentence
    reason: str | None = None
    comment: str | None = None


def rules_shown(
    book: RuleBook,
    decisions: Iterable[tuple[str, Decision]],
    savings: Mapping[str, Savings],
    look: _Look,
    max_risk: float,
) -> list[RuleShown]:
    """The rules of *book* on the sites of *savings*, then the rules of *decisions* that the book lacks.

    *look* compares two URLs. *max_risk*: the risk up to which a rule is put in force.
    """
    return [*_rules_in_book(book, savings, look, max_risk), *_rules_not_in_book(book, decisions, look)]


def _rules_in_book(
    book: RuleBook, savings: Mapping[str, Savings], look: _Look, max_risk: float
) -> Iterator[RuleShown]:
    """The rules of *book* on the sites of *savings*, with the reason for which a rule waits."""
    for site, found in savings.items():
        for entry in book.entries(site):
            counted = found.by_rule[entry.rule], found.bytes_by_rule[entry.rule]
            told = _rule_shown(site, entry.rule, entry.evidence, str(entry.status), counted, look)
            waits = _why_waiting(entry, max_risk)
            yield replace(told, doubt=_doubt(entry), waits=waits, reason=entry.reason, comment=entry.comment)


def _rules_not_in_book(
    book: RuleBook, decisions: Iterable[tuple[str, Decision]], look: _Look
) -> Iterator[RuleShown]:
    """The rules that this run refuted or left undecided, and that the book does not have."""
    known = {(site, entry.rule) for site in book.sites for entry in book.entries(site)}
    for site, one in decisions:
        if one.verdict is not Verdict.VALID and (site, one.rule) not in known:
            doubt = 0.5 if one.verdict is Verdict.UNDECIDED else -0.5
            told = _rule_shown(site, one.rule, evidence_of(one), str(one.verdict), (one.saves, 0), look)
            yield replace(told, doubt=doubt, reason=f"pages {one.why}" if one.why else None)


def _rule_shown(
    site: str, rule: Rule, known: Evidence, status: str, saves: tuple[int, int], look: _Look
) -> RuleShown:
    """A rule with the evidence *known*. *saves*: the URLs and bytes of this log that the rule saves."""
    return RuleShown(
        id=rule_id(site, rule),
        site=site,
        text=str(rule),
        kind=rule.family,
        status=status,
        saves=saves[0],
        bytes=saves[1],
        support=known.support,
        same=known.positive,
        different=known.contradictions,
        unanswered=known.unanswered,
        open=known.unknown,
        from_log=known.log_same,
        contents=known.contents,
        fetches=known.fetches,
        merges=known.merges,
        wrong=None if known.loss_bound is None else round(known.loss_bound * known.merges),
        unseen=known.unseen_bound,
        validated=known.last_validated,
        examples=tuple(look(*pair) for pair in known.examples),
    )


def _why_waiting(entry: Entry, max_risk: float) -> str:
    """Why a rule on probation, or in doubt, suppresses nothing."""
    known = entry.evidence
    if entry.status is Status.SUSPENDED:
        return (
            "A test in a crawl showed another page. The rule is tested again before it suppresses anything."
        )
    if entry.status is not Status.PROBATION:
        return ""
    if not known.positive:
        return "No log has shown two URLs of this rule yet: it was imported, or written by a person."
    pages = f"{known.contents} page" + "s" * (known.contents != 1)
    little = ", which is little evidence" if known.contents < _LITTLE else ""
    if known.unseen_bound is None:
        return f"Seen on {pages} without a contradiction{little}. That does not yet prove it for other URLs."
    return (
        f"Seen on {pages} without a contradiction{little}. For other URLs, up to {known.unseen_bound:.0%} of its merges may be wrong; "
        f"a rule is put in force at {max_risk:.0%}."
    )


def _doubt(entry: Entry) -> float:
    """How much the rule needs a person's eyes, from 0 to 1; below 0, a person has decided already."""
    known = entry.evidence
    if entry.status is Status.DISABLED:
        return -1.0
    if entry.status is not Status.VALID:
        return 0.8 if entry.status is Status.PROBATION else 1.0
    bound = 0.9 if known.unseen_bound is None else known.unseen_bound
    # A page that was seen to be lost is worth more attention than any bound.
    return min(1.0, max(bound, known.loss_bound or 0.0) + (0.5 if known.contradictions else 0.0))
