"""All that the page shows, as values: of a run of dustmine, the rule book after it, and the journals of past crawls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scrapy_dust.dust.campaign import Decision
from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.rules import ParameterRule, Rule
from scrapy_dust.dust.strata import template_of
from scrapy_dust.dust.validation import Verdict
from scrapy_dust.engines.local import Mined
from scrapy_dust.journal.events import What
from scrapy_dust.journal.places import existing, journals, spider_of
from scrapy_dust.journal.reader import read
from scrapy_dust.report.savings import Remaining, Savings, remaining_of, savings_of
from scrapy_dust.rule_book import Entry, RuleBook, Status, rule_id
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.trials.site_trials import SiteTrials

#: Of what a page can hold, the newest: journals of one crawl each.
CRAWLS_SHOWN = 30


@dataclass(frozen=True, slots=True)
class RuleShown:
    """One rule, with what there is to say of it."""

    id: str
    site: str
    text: str
    kind: str  #: plain rules by their names, edits by their families
    status: str  #: of the rule book, or the verdict of a rule that is not in it
    doubt: float  #: 0 to 1, what is most in need of a person's eyes first; below 0: it is settled
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
    reason: str | None
    comment: str | None
    examples: tuple[tuple[str, str], ...]
    titles: tuple[tuple[str, str], ...] = ()  #: of the examples' pages, where the log has them


@dataclass(frozen=True, slots=True)
class Funnel:
    """How many there were after each step."""

    urls: int
    likely: int
    kept: int
    parameters: int
    edits: int
    tried: int
    valid: int
    refuted: int
    undecided: int
    redundant: int
    fetches: int


@dataclass(frozen=True, slots=True)
class PastCrawl:
    """What a journal tells of one crawl."""

    spider: str
    day: str
    suppressed: int
    returned: int
    tested: int


@dataclass(frozen=True, slots=True)
class Report:
    """The page's content."""

    day: str
    logs: tuple[str, ...]
    passes: int
    rules: Sequence[RuleShown]
    in_force: Mapping[str, Sequence[Rule]]  #: by site, in the order to apply them
    funnel: Funnel
    precision: Sequence[float]  #: of the k rules with most support that were decided, the share that is valid
    savings: Mapping[str, Savings]
    remaining: Mapping[str, Remaining]
    lost_at_most: int
    past: Sequence[PastCrawl]


def report_of(
    mined: Sequence[Mined],
    trials: Sequence[SiteTrials],
    book: RuleBook,
    settings: DustSettings,
    *,
    logs: Sequence[str],
    fetches: int,
    day: str,
) -> Report:
    """*book*: as it is after the run."""
    canonizer = Canonizer(book.rules_by_site(), site_of, settings.passes)
    savings = {one.site: savings_of(one.log.pages, canonizer) for one in mined}
    decisions = [(site.site, one) for site in trials for one in site.campaign.decisions]
    titles = {page.url: page.title or "" for one in mined for page in one.log.pages}
    rules = [
        _with_titles(rule, titles)
        for rule in (
            *_of_book(book, [one.site for one in mined], savings),
            *_not_in_book(book, decisions),
        )
    ]
    return Report(
        day=day,
        logs=tuple(logs),
        passes=settings.passes,
        rules=rules,
        in_force={site: of_site for site, of_site in book.rules_by_site().items() if site in savings},
        funnel=_funnel(mined, trials, decisions, fetches),
        precision=_precision(decisions),
        savings=savings,
        remaining={one.site: remaining_of(one.log.pages, canonizer) for one in mined},
        lost_at_most=sum(site.campaign.lost_at_most for site in trials),
        past=past_crawls(settings.dir),
    )


def _with_titles(rule: RuleShown, titles: Mapping[str, str]) -> RuleShown:
    return replace(rule, titles=tuple((titles.get(a, ""), titles.get(b, "")) for a, b in rule.examples))


def kind_of(rule: Rule) -> str:
    if isinstance(rule, Edit):
        return rule.family
    return "parameter" if isinstance(rule, ParameterRule) else "substring"


def _of_book(book: RuleBook, sites: Iterable[str], savings: Mapping[str, Savings]) -> Iterable[RuleShown]:
    for site in sites:
        found = savings[site]
        for entry in book.entries(site):
            yield _shown(site, entry, found.by_rule[entry.rule], found.bytes_by_rule[entry.rule])


def _shown(site: str, entry: Entry, saves: int, size: int) -> RuleShown:
    known = entry.evidence
    return RuleShown(
        id=rule_id(site, entry.rule),
        site=site,
        text=str(entry.rule),
        kind=kind_of(entry.rule),
        status=str(entry.status),
        doubt=_doubt(entry),
        saves=saves,
        bytes=size,
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
        reason=entry.reason,
        comment=entry.comment,
        examples=known.examples,
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


def _not_in_book(book: RuleBook, decisions: Iterable[tuple[str, Decision]]) -> Iterable[RuleShown]:
    """What was refuted or stayed undecided without ever having been in force."""
    known = {(site, entry.rule) for site in book.sites for entry in book.entries(site)}
    for site, one in decisions:
        if one.verdict is Verdict.VALID or (site, one.rule) in known:
            continue
        tally = one.tally
        yield RuleShown(
            id=rule_id(site, one.rule),
            site=site,
            text=str(one.rule),
            kind=kind_of(one.rule),
            status=str(one.verdict),
            doubt=0.5 if one.verdict is Verdict.UNDECIDED else -0.5,
            saves=one.saves,
            bytes=0,
            support=one.support,
            same=tally.positive,
            different=tally.contradictions,
            unanswered=max(0, tally.negative - tally.contradictions),
            open=tally.unknown,
            from_log=tally.from_log,
            contents=tally.contents,
            fetches=one.fetches,
            merges=0,
            wrong=None,
            unseen=None,
            stratum=template_of(one.examples[0][0]) if one.examples else "",
            validated=None,
            reason=None,
            comment=None,
            examples=one.examples,
        )


def _funnel(
    mined: Sequence[Mined],
    trials: Sequence[SiteTrials],
    decisions: Sequence[tuple[str, Decision]],
    fetches: int,
) -> Funnel:
    verdicts = Counter(one.verdict for _, one in decisions)
    return Funnel(
        urls=sum(len(one.log.pages) for one in mined),
        likely=sum(len(one.likely) for one in mined),
        kept=sum(len(one.elimination.kept) for one in mined),
        parameters=sum(len(one.parameters) for one in mined),
        edits=sum(len(one.edits) for one in mined),
        tried=len(decisions),
        valid=verdicts[Verdict.VALID],
        refuted=verdicts[Verdict.REFUTED],
        undecided=verdicts[Verdict.UNDECIDED] + sum(site.campaign.remaining for site in trials),
        redundant=sum(len(site.campaign.redundant) for site in trials),
        fetches=fetches,
    )


def _precision(decisions: Iterable[tuple[str, Decision]]) -> list[float]:
    """Precision@k, as §5.3 of the paper draws it, over what was decided."""
    decided = [one for _, one in decisions if one.verdict is not Verdict.UNDECIDED]
    decided.sort(key=lambda one: -one.support)
    valid, found = 0, []
    for k, one in enumerate(decided, start=1):
        valid += one.verdict is Verdict.VALID
        found.append(valid / k)
    return found


def past_crawls(dust_dir: str | Path | None) -> list[PastCrawl]:
    """What the newest journals tell, the oldest of them first; none where there is no journal."""
    folder = existing(dust_dir)
    found = []
    for segment in journals(folder)[-CRAWLS_SHOWN:] if folder else []:
        counts: Counter[What] = Counter()
        day = ""
        for _, event in read([segment]):
            counts[event.what] += 1
            day = day or event.at[:10]
        if counts:
            past = counts[What.SUPPRESSED], counts[What.RETURNED], counts[What.TESTED]
            found.append(PastCrawl(spider_of(segment), day, *past))
    return found
