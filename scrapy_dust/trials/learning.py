"""From logs to a rule book: read, mine, try, write. What `dustmine` does, and a crawl that learns when it ends.

logs → visits by site → mined (phases 1–3, edits) → trials (phase 4) → rule book and verdicts
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from scrapy_dust.crawl_log.names import log_name
from scrapy_dust.crawl_log.reader import BadLine, read_visits
from scrapy_dust.crawl_log.stores import RemoteFile
from scrapy_dust.dust.campaign import Campaign, Decision
from scrapy_dust.dust.candidates import Candidate
from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.evidence import LogEvidence
from scrapy_dust.dust.pages import Visit
from scrapy_dust.dust.rules import Rule
from scrapy_dust.dust.staleness import Profile, profile_of
from scrapy_dust.dust.templates import template_hashes
from scrapy_dust.dust.validation import Verdict
from scrapy_dust.engines.gathering import Shelved, gather, records_of
from scrapy_dust.engines.laps import Laps
from scrapy_dust.engines.local import Mined, trial_params
from scrapy_dust.engines.memory import Keeping
from scrapy_dust.engines.remembering import parts_of, remembered_in
from scrapy_dust.engines.side_by_side import Miner, mined_by, processes_for
from scrapy_dust.errors import DustError, RuleBookError
from scrapy_dust.neural.extra import require
from scrapy_dust.neural.pieces import Epoch
from scrapy_dust.neural.proposing import params_of, proposed_edits
from scrapy_dust.rule_book import profiles
from scrapy_dust.rule_book.book import RuleBook, update
from scrapy_dust.rule_book.entries import Entry, Evidence, Status, rule_id
from scrapy_dust.rule_book.files import in_project
from scrapy_dust.rule_book.priors import known, remember
from scrapy_dust.rule_book.verdicts import Settled, Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import is_below, netloc_of, site_of
from scrapy_dust.trials.journal import ProbeJournal
from scrapy_dust.trials.rest import rest_of
from scrapy_dust.trials.site_trials import SiteTrials

#: Pages of a site, from which on it has something to say about others.
_TELLING = 100
#: URLs by which a site is known again.
_PROFILED = 20_000
#: Of the hosts that were not asked for.
_OTHERS_KEPT = 1000


class Reporter:
    """What may be watched. Does nothing."""

    def reading(self, visits: int) -> None:
        """So many records have been read."""

    def mined(self, mined: Mined) -> None:
        """All that can be found in a site's log alone is found."""

    def training(self, site: str, epoch: Epoch, most: int) -> None:
        """A network has gone through a site's pairs once more, and will do so *most* times at most."""

    def probing(self, fetches: int, budget: int, decided: int, remaining: int) -> None:
        """So far has the validation come: fetches spent of the budget, rules decided, candidates that are left."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where visits come from."""

    paths: Sequence[str]
    format: str = "auto"
    host: str | None = None  #: only this host and those below it
    base_url: str | None = None  #: where requests went of which an access log does not say it
    log_format: str | None = None  #: of access logs, as the server's configuration has it


@dataclass(frozen=True, slots=True)
class Read:
    """What was read, by site."""

    visits: Mapping[str, Sequence[Visit]]
    logs: tuple[str, ...]  #: the names of the files, as a rule book calls them
    unreadable: int
    named: Sequence[str]  #: the first unreadable lines, with where and why
    passed_over: int  #: lines that show no page
    latest: float = 0.0  #: when the newest record was made, in seconds; 0: the logs do not say
    files: Sequence[Path | RemoteFile] = ()
    other_hosts: tuple[str, ...] = ()  #: some of those that were passed by, where one host was asked for


def read(source: Source, reporter: Reporter, *, most: int | None = None) -> Read:
    """Raises `CrawlLogError` for what cannot be read at all. *most*: bytes that visits may take in memory."""
    reading = read_visits(source.paths, source.format, base_url=source.base_url, log_format=source.log_format)
    times, hosts = _Times(), _OfHost(source.host)
    by_site = gather(hosts.of(times.of(_reported(reading, reporter))), most)
    named = told_of(reading.unreadable)
    logs = tuple(dict.fromkeys(log_name(file.name) for file in reading.files))
    return Read(
        by_site,
        logs,
        reading.unreadable_count,
        named,
        reading.passed_over,
        times.latest(),
        reading.files,
        tuple(hosts.others),
    )


def told_of(unreadable: Iterable[BadLine]) -> list[str]:
    return [f"{line.path}, line {line.line}: {line.reason}" for line in unreadable]


def _reported(visits: Iterable[Visit], reporter: Reporter) -> Iterator[Visit]:
    for number, visit in enumerate(visits, start=1):
        yield visit
        if number % 20_000 == 0:
            reporter.reading(number)


class _Times:
    """When visits were made, as they pass."""

    def __init__(self) -> None:
        self._newest = ""

    def of(self, visits: Iterable[Visit]) -> Iterator[Visit]:
        for visit in visits:
            if visit.fetched_at is not None and visit.fetched_at > self._newest:
                self._newest = visit.fetched_at
            yield visit

    def latest(self) -> float:
        return seconds_of(self._newest)


def seconds_of(moment: str) -> float:
    """As a log says it; 0: it does not."""
    try:
        newest = datetime.fromisoformat(moment)
    except ValueError:
        return 0.0
    return (newest if newest.tzinfo is not None else newest.replace(tzinfo=UTC)).timestamp()


class _OfHost:
    """The visits of one host and of those below it; without a *host*, all."""

    def __init__(self, host: str | None) -> None:
        self._wanted = None if host is None else host.lower()
        self.others: dict[str, None] = {}  #: hosts that were passed by, the first of them

    def of(self, visits: Iterable[Visit]) -> Iterator[Visit]:
        for visit in visits:
            if self._wanted is None or self._is_meant(visit.url):
                yield visit

    def _is_meant(self, url: str) -> bool:
        if self._wanted is not None and is_below(url, self._wanted):
            return True
        if len(self.others) < _OTHERS_KEPT:
            self.others[netloc_of(url)] = None
        return False


def mine(
    visits: Mapping[str, Sequence[Visit]],
    settings: DustSettings,
    reporter: Reporter,
    *,
    redirects_count: bool = True,
    state: Path | None = None,
    keep: bool = False,
    processes: int | None = 1,
) -> Iterator[Mined]:
    """Phases 1 to 3, and edits, site by site, the largest first.

    *state*: the folder with what the project's sites have shown of edits, and what earlier runs have mined; with *keep*
    this one adds to it. *processes* of this machine work; None: as many as there are processors, where there is enough to do.
    """
    begin(settings)
    pool = known(state)
    in_turn = _in_turn(visits)
    taken = visits.share if isinstance(visits, Shelved) else _whole
    sites = ((site, visits[site], taken(site)) for site in in_turn)
    remembered = None
    if state is not None and settings.remember_mining:
        remembered = remembered_in(state, settings, pool, redirects_count=redirects_count)
    miner = Miner(settings, redirects_count, pool, remembered)
    with ExitStack() as stack:
        keeping = stack.enter_context(Keeping(remembered.memory)) if remembered and keep else None
        for mined in mined_by(miner, sites, processes or _processes_for(visits)):
            if keeping is not None:
                keeping.add(parts_of(mined))
            yield finished(mined, settings, reporter, state=state, keep=keep)


def begin(settings: DustSettings) -> None:
    """What must be here is here, before hours are spent. Raises `DustError`."""
    if settings.learner == "seq2seq":
        require()


def finished(
    mined: Mined, settings: DustSettings, reporter: Reporter, *, state: Path | None, keep: bool
) -> Mined:
    """What is done here with what an engine has found in a site."""
    if keep and state is not None and len(mined.log.pages) >= _TELLING:
        # What cannot be kept costs later sites a little evidence, and nothing else.
        with suppress(RuleBookError):
            remember(state, mined.site, mined.tallies)
    if settings.learner == "seq2seq":
        mined = _with_network(mined, settings, state if keep else None, reporter)
    reporter.mined(mined)
    return mined


def _with_network(mined: Mined, settings: DustSettings, state: Path | None, reporter: Reporter) -> Mined:
    """With what a network proposes that is trained on the log; it is kept in *state*."""
    clock = Laps()
    proposed = proposed_edits(
        mined.site,
        mined.log,
        params_of(settings.network, settings.network_epochs),
        least=settings.min_support,
        folder=None if state is None else state / "models",
        watch=reporter.training,
    )
    known = {one.rule for one in mined.edits}
    edits = [*mined.edits, *(one for one in proposed if one.rule not in known)]
    clock.lap("network")
    return replace(mined, edits=edits, laps={**mined.laps, **clock.laps})


def _in_turn(visits: Mapping[str, Sequence[Visit]]) -> list[str]:
    if isinstance(visits, Shelved):
        return visits.in_turn()
    return sorted(visits, key=lambda site: (-len(visits[site]), site))


def _whole(_site: str) -> float:
    return 1.0


def _processes_for(visits: Mapping[str, Sequence[Visit]]) -> int:
    return processes_for(len(visits), records_of(visits))


def prepare(
    mined: Iterable[Mined],
    book: RuleBook,
    verdicts: Verdicts,
    settings: DustSettings,
    *,
    seed: int = 0,
    log_only: bool = False,
    journal: ProbeJournal | None = None,
    latest: float = 0.0,
) -> list[SiteTrials]:
    """The trials of all sites that have something to try. *seed* shuffles the URLs to draw.

    *latest*: when the log ends. What the *journal* has from before is not believed: the log may have come to be
    because the site is another one since.
    """
    trials = []
    for one in mined:
        accepted, disabled, candidates = _to_try(one, book)
        if not candidates:
            continue
        rest = partial(rest_of, one, settings=settings)
        rests = not log_only and verdicts.rests.get(one.site) == rest(book, verdicts)
        urls = [page.url for page in one.log.pages] + list(one.log.redirects)
        random.Random(f"{seed} {one.site}").shuffle(urls)  # noqa: S311  A sample, not a secret.
        evidence = LogEvidence(one.log, urls, settings.sketch_matches)
        settled = disabled | _refuted(verdicts, one.site, candidates)
        campaign = partial(
            Campaign,
            [] if rests else candidates,
            evidence,
            trial_params(settings, log_only=log_only),
            site=one.site,
            site_of=site_of,
            passes=settings.passes,
            settled=settled,
        )
        known = {*accepted, *settled}
        trials.append(
            SiteTrials(
                campaign(),
                evidence,
                settings.never_probe,
                template=template_hashes(one.log.pages),
                renderers=_renderers(evidence),
                journal=journal,
                not_before=latest,
                # Of whom nothing will be asked, it need not be known how it answers.
                at_rest=log_only or rests or (bool(known) and _is_at_rest(campaign(), known)),
                rest=None if log_only else rest,
                standing=len(accepted) if rests else 0,
            )
        )
    return trials


def _to_try(one: Mined, book: RuleBook) -> tuple[list[Rule], set[Rule], list[Candidate]]:
    """The site's rules in force, those that a person disabled, and what is worth a trial."""
    entries = book.entries(one.site)
    accepted = [entry for entry in entries if entry.status is Status.VALID]
    candidates = one.candidates([(entry.rule, entry.evidence.support) for entry in accepted])
    # From elsewhere: nothing in this log spoke for them yet, so the log's own come first.
    candidates += [
        Candidate((entry.rule,), support=0) for entry in entries if entry.status is Status.UNPROVEN
    ]
    disabled = {entry.rule for entry in entries if entry.status is Status.DISABLED}
    return [entry.rule for entry in accepted], disabled, candidates


def _is_at_rest(campaign: Campaign, known: Collection[Rule]) -> bool:
    """Whether *campaign*, which is spent by this, decides nothing but what is *known*, and asks for nothing."""
    nothing_to_ask = campaign.next_probe() is None and campaign.finished
    return nothing_to_ask and all(decision.rule in known for decision in campaign.decisions)


def _renderers(evidence: LogEvidence) -> dict[str, str]:
    pages = ((url, evidence.page_of(url)) for url in evidence.urls)
    return {url: page.rendered for url, page in pages if page is not None and page.rendered}


def _refuted(verdicts: Verdicts, site: str, candidates: Iterable[Candidate]) -> set[Rule]:
    """What was refuted, and what goes with it: a pair of different pages refutes all rules of a candidate."""
    refuted = {rule: one for rule, one in verdicts.of(site).items() if one.verdict is Verdict.REFUTED}
    contradicted = {rule for rule, one in refuted.items() if one.tally.contradictions}
    together = (one.rules for one in candidates if not contradicted.isdisjoint(one.rules))
    return set(refuted).union(*together)


def decide_from_log(trials: Iterable[SiteTrials]) -> None:
    """Run trials of which nothing can be fetched."""
    for site in trials:
        if site.campaign.next_probe() is not None:
            raise DustError(f"{site.site}: a trial without fetches asked for one.")


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
