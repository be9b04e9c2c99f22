"""What trials have decided goes into the rule book, and beside the logs what is to be remembered of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from scrapy_dust.dust.campaign import Decision
from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.staleness import Profile, profile_of
from scrapy_dust.dust.validation import Verdict
from scrapy_dust.rule_book import profiles
from scrapy_dust.rule_book.book import RuleBook, update
from scrapy_dust.rule_book.entries import Entry, Evidence, Status, rule_id
from scrapy_dust.rule_book.files import in_project
from scrapy_dust.rule_book.verdicts import Settled, Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.trials.site_trials import SiteTrials

#: URLs by which a site is known again.
_PROFILED = 20_000


def conclude(
    trials: Sequence[SiteTrials], settings: DustSettings, logs: Sequence[str], verdicts_path: Path
) -> RuleBook:
    """Put what was decided into the first rule book and the state beside the logs. Raises `RuleBookError`."""
    today = datetime.now(UTC).date().isoformat()
    book = update(in_project(settings.rules[0]), lambda book: with_decisions(book, trials, logs, today))
    verdicts = Verdicts.load(verdicts_path)
    for site in trials:
        settled = [
            Settled(one.rule, one.verdict, one.tally, today)
            for one in site.campaign.decisions
            if one.verdict is not Verdict.VALID
        ]
        verdicts = verdicts.with_settled(site.site, settled)
    # Not the one book that was written: a run begins with all of them.
    known = RuleBook.load([in_project(path) for path in settings.rules])
    for site in trials:
        rest = site.rest(known, verdicts) if site.rest is not None and site.is_settled else None
        verdicts = verdicts.with_rest(site.site, rest)
    verdicts.save(verdicts_path)
    profiles.remember(verdicts_path.parent, dict(_profiles(trials, known, settings)))
    return book


def _profiles(
    trials: Iterable[SiteTrials], book: RuleBook, settings: DustSettings
) -> Iterator[tuple[str, Profile]]:
    """What the sites look like to which rules belong."""
    rules = book.rules_by_site()
    canonizer = Canonizer(rules, site_of, settings.passes)
    for site in trials:
        if rules.get(site.site):
            yield site.site, profile_of(site.urls[:_PROFILED], canonizer, partial(rule_id, site.site))


def with_decisions(book: RuleBook, trials: Iterable[SiteTrials], logs: Sequence[str], today: str) -> RuleBook:
    """*book* with what was decided."""
    for site in trials:
        entries = [_entry(decision, today, logs) for decision in site.campaign.decisions]
        book = book.merge(site.site, [entry for entry in entries if entry is not None])
    return book


def _entry(decision: Decision, today: str, logs: Sequence[str]) -> Entry | None:
    if decision.verdict is Verdict.UNDECIDED:
        return None
    evidence = replace(evidence_of(decision), first_validated=today, last_validated=today, logs=tuple(logs))
    if decision.verdict is Verdict.VALID:
        return Entry(decision.rule, Status.VALID, evidence)
    return Entry(decision.rule, Status.SUSPENDED, evidence, reason=f"refuted on {today}")


def evidence_of(decision: Decision) -> Evidence:
    """What one run found out, as a rule book counts it."""
    tally, bounds = decision.tally, decision.bounds
    return Evidence(
        support=decision.support,
        positive=tally.positive,
        negative=tally.negative,
        unknown=tally.unknown,
        contradictions=tally.contradictions,
        log_same=tally.from_log,
        contents=tally.contents,
        fetches=decision.fetches,
        merges=bounds.merges if bounds else 0,
        loss_bound=share_of(bounds.wrong, bounds.merges) if bounds else None,
        unseen_bound=round(bounds.unseen, 4) if bounds else None,
        examples=decision.examples,
    )


def share_of(wrong: int, merges: int) -> float:
    return round(wrong / merges, 4) if merges else 0.0
