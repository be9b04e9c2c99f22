"""One rule as the page shows it: of the rule book, or one that was tried in this run and did not get there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from scrapy_dust.dust.campaign import Decision
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.rules import ParameterRule, Rule
from scrapy_dust.dust.strata import template_of
from scrapy_dust.dust.validation import Verdict
from scrapy_dust.report.pairs import PairShown
from scrapy_dust.report.savings import Savings
from scrapy_dust.rule_book import Entry, Evidence, RuleBook, Status, rule_id
from scrapy_dust.trials.concluding import evidence_of

_Look = Callable[[str, str], PairShown]


@dataclass(frozen=True, slots=True)
class RuleShown:
    """One rule, with what there is to say of it."""

    id: str
    site: str
    text: str
    kind: str  #: plain rules by their names, edits by their families
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
    stratum: str  #: the part of the site that its first example is of
    validated: str | None
    examples: tuple[PairShown, ...]
    doubt: float = 0.0  #: 0 to 1, what is most in need of a person's eyes first; below 0: it is settled
    reason: str | None = None
    comment: str | None = None


def rules_shown(
    book: RuleBook,
    decisions: Iterable[tuple[str, Decision]],
    savings: Mapping[str, Savings],
    look: _Look,
) -> list[RuleShown]:
    """Those of *book* on the sites of *savings*, and what of *decisions* is not in it. *look* at a pair of URLs."""
    return [*_of_book(book, savings, look), *_not_in_book(book, decisions, look)]


def kind_of(rule: Rule) -> str:
    if isinstance(rule, Edit):
        return rule.family
    return "parameter" if isinstance(rule, ParameterRule) else "substring"


def _of_book(book: RuleBook, savings: Mapping[str, Savings], look: _Look) -> Iterator[RuleShown]:
    for site, found in savings.items():
        for entry in book.entries(site):
            counted = found.by_rule[entry.rule], found.bytes_by_rule[entry.rule]
            told = _shown(site, entry.rule, entry.evidence, str(entry.status), counted, look)
            yield replace(told, doubt=_doubt(entry), reason=entry.reason, comment=entry.comment)


def _not_in_book(
    book: RuleBook, decisions: Iterable[tuple[str, Decision]], look: _Look
) -> Iterator[RuleShown]:
    """What was refuted or stayed undecided without ever having been in force."""
    known = {(site, entry.rule) for site in book.sites for entry in book.entries(site)}
    for site, one in decisions:
        if one.verdict is not Verdict.VALID and (site, one.rule) not in known:
            doubt = 0.5 if one.verdict is Verdict.UNDECIDED else -0.5
            told = _shown(site, one.rule, evidence_of(one), str(one.verdict), (one.saves, 0), look)
            yield replace(told, doubt=doubt)


def _shown(
    site: str, rule: Rule, known: Evidence, status: str, saves: tuple[int, int], look: _Look
) -> RuleShown:
    """*saves*: URLs and bytes of this log."""
    return RuleShown(
        id=rule_id(site, rule),
        site=site,
        text=str(rule),
        kind=kind_of(rule),
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
        stratum=template_of(known.examples[0][0]) if known.examples else "",
        validated=known.last_validated,
        examples=tuple(look(*pair) for pair in known.examples),
    )


def _doubt(entry: Entry) -> float:
    known = entry.evidence
    if entry.status is Status.DISABLED:
        return -1.0
    if entry.status is not Status.VALID:
        return 1.0 if entry.status is Status.SUSPENDED else 0.8
    bound = 0.9 if known.unseen_bound is None else known.unseen_bound
    # A page that was seen to be lost is worth more attention than any bound.
    return min(1.0, max(bound, known.loss_bound or 0.0) + (0.5 if known.contradictions else 0.0))
