"""Writes the decisions of trials into the rule book, and the refuted rules into a file beside the logs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from scrapy_dust.believe.decisions import Decision
from scrapy_dust.believe.site_profile import Profile, profile_of
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.rule_book import profiles, shards, verdicts, volatile_places
from scrapy_dust.rule_book.book import RuleBook, update
from scrapy_dust.rule_book.entries import Entry, Evidence, Status, most_shown, rule_id
from scrapy_dust.rule_book.safe_files import in_project
from scrapy_dust.rule_book.shards import Shard
from scrapy_dust.rule_book.verdicts import PastVerdict, Verdicts
from scrapy_dust.rule_book.volatile_places import Site
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.trials.ended import Ended


def conclude(
    trials: Sequence[Ended],
    settings: DustSettings,
    logs: Sequence[str],
    verdicts_path: Path,
    shard: Shard | None = None,
) -> RuleBook:
    """Write all decisions into the first rule book, or into the part of a *shard*, and into the state beside the
    logs.

    Returns the rule book with all that is known then. Raises `RuleBookError`.
    """
    today = datetime.now(UTC).date().isoformat()
    # Before anything is locked: to sum up may take a while.
    decided = {site.site: _entries(site, today, logs) for site in trials}
    # Without fetches each run decides the same, and a run with fetches may decide otherwise: what looks different in a log may be
    # what changes at each fetch.
    settled = {
        site.site: () if site.is_by_log else _failed_verdicts(site.decisions, today) for site in trials
    }
    path = in_project(settings.rules[0])
    if shard is None:
        update(path, lambda book: book.merge_sites(decided))
    else:
        shards.write_part(shard.path_of_part(path), shard, decided)
    # Not the one book that was written: a run begins with all of them.
    known = RuleBook.load([in_project(path) for path in settings.rules])
    if shard is not None:
        known = known.merge_sites(decided)
    _save_verdicts(verdicts_path, trials, settled, known)
    volatile_places.save_places(
        verdicts_path.parent, {site.site: Site(site.volatile, site.names, site.template) for site in trials}
    )
    before = profiles.known_profiles(verdicts_path.parent)
    profiles.save_profiles(verdicts_path.parent, dict(_profiles(trials, known, settings, before)))
    return known


def _save_verdicts(
    path: Path, trials: Sequence[Ended], settled: Mapping[str, Sequence[PastVerdict]], book: RuleBook
) -> None:
    """Save the verdicts of the sites that were tried; other processes may save those of other sites."""

    def with_new_verdicts(known: Verdicts) -> Verdicts:
        """The verdicts *known*, with those of this run."""
        for name, of_site in settled.items():
            known = known.with_verdicts(name, of_site)
        return known

    foreseen = with_new_verdicts(Verdicts.load(path))
    rests = {
        site.site: site.rest(book, foreseen) if site.rest is not None and site.is_settled else None
        for site in trials
    }

    def with_rests(known: Verdicts) -> Verdicts:
        """The same, with the digests of sites at rest, so that the next run can skip these sites."""
        known = with_new_verdicts(known)
        for name, rest in rests.items():
            known = known.with_rest(name, rest)
        return known

    verdicts.update(path, with_rests)


def _failed_verdicts(decisions: Iterable[Decision], today: str) -> list[PastVerdict]:
    """The verdicts of rules that were refuted or stay undecided."""
    return [
        PastVerdict(one.rule, one.verdict, one.tally, today)
        for one in decisions
        if one.verdict in (Verdict.REFUTED, Verdict.UNDECIDED)
    ]


def _profiles(
    trials: Iterable[Ended], book: RuleBook, settings: DustSettings, before: Mapping[str, Profile]
) -> Iterator[tuple[str, Profile]]:
    """The profiles of the sites that have rules; of sites that were taken over, as *before*."""
    rules = book.rules_by_site()
    canonizer = Canonizer(rules, site_of, settings.passes)
    for site in trials:
        if not site.urls:
            if site.site in before:
                yield site.site, before[site.site]
        elif rules.get(site.site):
            yield site.site, profile_of(site.urls, canonizer, partial(rule_id, site.site))


def with_decisions(book: RuleBook, trials: Iterable[Ended], logs: Sequence[str], today: str) -> RuleBook:
    """*book* with the decisions of *trials*."""
    return book.merge_sites({site.site: _entries(site, today, logs) for site in trials})


def _entries(site: Ended, today: str, logs: Sequence[str]) -> list[Entry]:
    """The entries that the rule book gets by the decisions about *site*."""
    entries = (_entry(decision, today, logs) for decision in site.decisions)
    return [entry for entry in entries if entry is not None]


def _entry(decision: Decision, today: str, logs: Sequence[str]) -> Entry | None:
    """The entry that the rule book gets by *decision*; None if nothing is decided."""
    if decision.verdict is Verdict.UNDECIDED:
        return None
    evidence = replace(evidence_of(decision), first_validated=today, last_validated=today, logs=tuple(logs))
    if decision.verdict is Verdict.REFUTED:
        return Entry(decision.rule, Status.REFUTED, evidence, reason=_reason_of_refutation(decision, today))
    status = Status.VALID if decision.verdict is Verdict.VALID else Status.PROBATION
    return Entry(decision.rule, status, evidence)


def _reason_of_refutation(decision: Decision, today: str) -> str:
    return f"refuted on {today}: pages {decision.why}" if decision.why else f"refuted on {today}"


def evidence_of(decision: Decision) -> Evidence:
    """The evidence of one *decision*, as a rule book keeps it."""
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
        shown=most_shown(decision.shown),
        examples=decision.examples,
    )


def share_of(wrong: int, merges: int) -> float:
    """*wrong* as a share of *merges*, the URLs that got the key of another one."""
    return round(wrong / merges, 4) if merges else 0.0
