"""Gathers the values that the report shows: from a run of dustmine, the rule book after the run, and the journals of
past crawls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from scrapy_dust.believe.decisions import Decision
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.crawl_log.remote_logs import RemoteFile
from scrapy_dust.engines.local import Mined
from scrapy_dust.journal.events import What
from scrapy_dust.journal.journal_places import existing_journal_dir, journals, spider_of
from scrapy_dust.journal.reader import read
from scrapy_dust.report.pairs import Pairs, PairShown, archived
from scrapy_dust.report.rules_shown import RuleShown, rules_shown
from scrapy_dust.report.savings import Remaining, Savings, remaining_of, savings_of
from scrapy_dust.rule_book import RuleBook
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.trials.ended import Ended, lost_at_most

#: The number of past crawls on the page, the newest ones.
CRAWLS_SHOWN = 30
#: The number of pairs on the page that no rule explains.
LEFT_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Funnel:
    """The number of rules after each step of a run."""

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
    """One crawl, as its journal tells it: URLs that rules suppressed, gave back, and fetched to test rules."""

    spider: str
    day: str
    suppressed: int
    returned: int
    tested: int


@dataclass(frozen=True, slots=True)
class Report:
    """The content of the report, before it becomes HTML."""

    day: str
    logs: tuple[str, ...]
    passes: int
    rules: Sequence[RuleShown]
    in_force: Mapping[str, Sequence[Rule]]  #: by site, in the order to apply them
    funnel: Funnel
    savings: Mapping[str, Savings]
    left: Sequence[PairShown]  #: of what no rule explains
    remaining: Mapping[str, Remaining]
    lost_at_most: int | None  #: None: the papers' test bounds nothing
    past: Sequence[PastCrawl]


def report_of(
    mined: Sequence[Mined],
    trials: Sequence[Ended],
    book: RuleBook,
    settings: DustSettings,
    *,
    logs: Sequence[str],
    fetches: int,
    day: str,
    texts: Mapping[str, Sequence[str]] = MappingProxyType({}),
    files: Iterable[Path | RemoteFile] = (),
) -> Report:
    """Gather the report. *book*: the rule book after the run; *texts*: words of fetched pages by URL; *files*: the log's files."""
    canonizer = Canonizer(book.rules_by_site(), site_of, settings.passes)
    savings = {one.site: savings_of(one.log.pages, canonizer) for one in mined}
    decisions = [(site.site, one) for site in trials for one in site.decisions]
    remaining = {one.site: remaining_of(one.log.pages, canonizer) for one in mined}
    left = _pairs_in_turn(remaining.values())
    pairs = [*left, *_example_pairs(book, savings), *(pair for _, one in decisions for pair in one.examples)]
    look = Pairs(mined, {**archived(files, pairs), **texts}).look
    return Report(
        day=day,
        logs=tuple(logs),
        passes=settings.passes,
        rules=rules_shown(book, decisions, savings, look, settings.max_risk),
        in_force={site: of_site for site, of_site in book.rules_by_site().items() if site in savings},
        funnel=_funnel(mined, trials, decisions, fetches),
        savings=savings,
        remaining=remaining,
        left=[look(*pair) for pair in left],
        lost_at_most=lost_at_most(trials),
        past=past_crawls(settings.dir),
    )


def _example_pairs(book: RuleBook, sites: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The pairs of URLs that show the rules of *sites* at work, as the rule book has them."""
    for site in sites:
        for entry in book.entries(site):
            yield from entry.evidence.examples


def _pairs_in_turn(remaining: Iterable[Remaining]) -> list[tuple[str, str]]:
    """The first pairs to show of URLs that no rule explains: of all sites in turn, one pair each, then the second pairs."""
    found = [one.pairs for one in remaining]
    most = max(map(len, found), default=0)
    return [pairs[turn] for turn in range(most) for pairs in found if turn < len(pairs)][:LEFT_SHOWN]


def _funnel(
    mined: Sequence[Mined],
    trials: Sequence[Ended],
    decisions: Sequence[tuple[str, Decision]],
    fetches: int,
) -> Funnel:
    """Count the rules after each step of the run."""
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
        undecided=verdicts[Verdict.UNDECIDED] + sum(site.remaining for site in trials),
        redundant=sum(site.redundant for site in trials),
        fetches=fetches,
    )


def past_crawls(dust_dir: str | Path | None) -> list[PastCrawl]:
    """The crawls of the newest journals, the oldest crawl first; an empty list without journals."""
    folder = existing_journal_dir(dust_dir)
    found = []
    for segment in journals(folder)[-CRAWLS_SHOWN:] if folder else []:
        counts: Counter[What] = Counter()
        day, last = "", set[str]()
        for _, event in read([segment]):
            day = day or event.at[:10]
            if event.what is What.PUT_LAST:
                last.add(event.url)
            elif event.what is What.RETURNED and event.url in last:
                last.remove(event.url)  # its turn has come: no rule suppressed it
            else:
                counts[event.what] += 1
                last.discard(event.url)
        if counts:
            past = counts[What.SUPPRESSED], counts[What.RETURNED], counts[What.TESTED]
            found.append(PastCrawl(spider_of(segment), day, *past))
    return found
