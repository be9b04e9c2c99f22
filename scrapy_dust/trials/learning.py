"""Makes trials out of the records of logs, for `dustmine` and for crawls that learn at their end.

logs → visits by site (`reading.py`) → mined (phases 1–3, edits) → trials (phase 4) → rule book and verdicts
(`concluding.py`)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from scrapy_dust.believe.campaign import Campaign
from scrapy_dust.believe.candidates import Candidate
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.paper_validation import Draw, LiteralCampaign, LiteralParams
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.engines.figures import figures_of
from scrapy_dust.engines.gathering import Shelved, records_of
from scrapy_dust.engines.kept_results import Keeping
from scrapy_dust.engines.laps import Laps
from scrapy_dust.engines.local import Mined, evidence_of, mine_log, trial_params
from scrapy_dust.engines.remembering import parts_of, remembered_in
from scrapy_dust.engines.side_by_side import WORTH, Miner, mined_by, processes_for
from scrapy_dust.errors import DustError
from scrapy_dust.neural.proposing import params_of, proposed_edits
from scrapy_dust.neural.torch_extra import require_torch
from scrapy_dust.page.changing import changing_suspects, grouped
from scrapy_dust.page.places import Names
from scrapy_dust.page.site_log import compared_anew, comparison_of, site_log
from scrapy_dust.page.volatile import Volatile
from scrapy_dust.rule_book import volatile_places
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Status
from scrapy_dust.rule_book.priors import all_priors
from scrapy_dust.rule_book.shards import Shard
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.stopping import Poll, Stopped, never_stop
from scrapy_dust.trials.declarations import by_log
from scrapy_dust.trials.ended import Ended, ended
from scrapy_dust.trials.findings_saver import FindingsSaver
from scrapy_dust.trials.journal import ProbeJournal
from scrapy_dust.trials.reading import Reporter
from scrapy_dust.trials.rest import Rest, said_by
from scrapy_dust.trials.site_trials import SiteReading, SiteTrials
from scrapy_dust.trials.taking_over import TakingOver, keeper
from scrapy_dust.visits.pages import SiteLog, Visit

#: URLs of a site on which a rule is compared with those that a person disabled.
_LOOKED_AT = 5000
#: The sentence for users with ``DUST_SAME = "items"``.
NOTHING_FETCHED = (
    'DUST_SAME is "items": the log alone decides, since only a crawl shows what a spider takes from a page.'
)


def mine(
    visits: Mapping[str, Sequence[Visit]],
    settings: DustSettings,
    reporter: Reporter,
    names: Names = MappingProxyType({}),
    *,
    redirects_count: bool = True,
    state: Path | None = None,
    keep: bool = False,
    processes: int | None = 1,
    shard: Shard | None = None,
    taking: TakingOver | None = None,
) -> Iterator[Mined]:
    """Mine *visits* by phases 1 to 3 and for edits, site by site, the largest first.

    *state*: the folder with what the project's sites have shown of edits, and with what earlier runs have mined;
    *keep*: add to it. *names*: of places of units. *processes*: how many processes of this machine work; None: as
    many as there are processors, if there is enough to do. *shard*: the shard of *visits*. *taking*: takes sites over
    whose trials need not be held again; such a site is left out.
    """
    check_packages(settings)
    is_on_disk = isinstance(visits, Shelved)
    share = visits.share if isinstance(visits, Shelved) else _whole_share
    every = ((site, visits[site], share(site)) for site in _sites_in_turn(visits))
    sites = every if taking is None else taking.left(every)
    remembered = None
    if state is not None:
        remembered = remembered_in(state, settings, redirects_count=redirects_count)
    volatile = volatile_places.known_places(state).volatile()
    miner = Miner(settings, redirects_count, all_priors(state), remembered, volatile)
    many = processes or processes_for(len(visits), records_of(visits))
    least = 0 if processes or is_on_disk else WORTH
    with FindingsSaver(state if keep else None, shard) as saver, ExitStack() as stack:
        keeping = stack.enter_context(Keeping(remembered.memory)) if remembered and keep else None
        for mined in mined_by(miner, sites, many, least):
            _report_taken_over(taking, mined.site, saver, keeping, reporter)
            if keeping is not None:
                keeping.add(parts_of(mined))
            yield finish_mining(mined, settings, reporter, names, saver, state=state if keep else None)
        _report_taken_over(taking, None, saver, keeping, reporter)


def _report_taken_over(
    taking: TakingOver | None,
    site: str | None,
    saver: FindingsSaver,
    keeping: Keeping | None,
    reporter: Reporter,
) -> None:
    """Save and report the findings about the sites taken over whose turn is before that of *site*; None: of all that
    are left.
    """
    for one in () if taking is None else taking.before(site):
        saver.add(one.figures.site, one.figures.pages, one.tallies, one.places)
        if keeping is not None:
            keeping.add(one.parts)
        reporter.mined(one.figures)


def check_packages(settings: DustSettings) -> None:
    """Check that optional packages are installed before mining starts. Raises `DustError`."""
    if settings.learner == "seq2seq":
        require_torch()


def finish_mining(
    mined: Mined,
    settings: DustSettings,
    reporter: Reporter,
    names: Names,
    saver: FindingsSaver,
    *,
    state: Path | None,
) -> Mined:
    """*mined* after the steps that only this process can do: findings are saved and reported, and a network is asked.
    *state*: the folder where the network is kept.
    """
    compared, learned = comparison_of(mined.log), None
    if compared is not None:
        compared.name(names)
        learned = volatile_places.Site(compared.knowledge.volatile, compared.knowledge.names)
    saver.add(mined.site, len(mined.log.pages), mined.tallies, learned)
    if settings.learner == "seq2seq":
        mined = _with_network(mined, settings, state, reporter)
    reporter.mined(figures_of(mined))
    return mined


def _with_network(mined: Mined, settings: DustSettings, state: Path | None, reporter: Reporter) -> Mined:
    """*mined* with the proposals of a neural network that is trained on the log; the network is saved in *state*."""
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


def _sites_in_turn(visits: Mapping[str, Sequence[Visit]]) -> list[str]:
    """The sites of *visits*, those with most records first."""
    if isinstance(visits, Shelved):
        return visits.in_turn()
    return sorted(visits, key=lambda site: (-len(visits[site]), site))


def _whole_share(_site: str) -> float:
    """The share of a site's records that is read where all are in memory: all."""
    return 1.0


def prepare(
    mined: Iterable[Mined],
    book: RuleBook,
    verdicts: Verdicts,
    settings: DustSettings,
    *,
    seed: int = 0,
    journal: ProbeJournal | None = None,
    latest: float = 0.0,
    poll: Poll = never_stop,
    taking: TakingOver | None = None,
) -> Iterator[SiteTrials]:
    """The trials with fetches of each site that has something to try, as the site comes. *seed* shuffles the URLs to draw.

    *latest*: when the log ends. Older answers in the *journal* are not used: the site may have changed before the log
    was made. *taking*: is told what later runs need in order to take a site over.
    """
    with keeper(taking) as keep:
        for one in mined:
            read_again = partial(
                _read_site,
                book=book,
                verdicts=verdicts,
                settings=settings,
                seed=seed,
                log_only=False,
                poll=poll,
            )
            reading = read_again(one)
            if reading is None:
                keep(one, None, None)
                continue
            if reading.rest is not None:
                keep(one, None, reading.rest)
            yield SiteTrials(
                reading,
                settings.never_probe,
                renderers=_renderers(one.log, reading.evidence),
                journal=journal,
                not_before=latest,
                anew=partial(_read_anew, one, read_again, settings),
            )


def _read_anew(
    one: Mined,
    read_again: Callable[..., SiteReading | None],
    settings: DustSettings,
    volatile: Volatile,
    nothing: Collection[str],
) -> SiteReading:
    """The trials of the site *one*, its log mined again by the *volatile* places known now, without the URLs that
    showed *nothing*.
    """
    log = compared_anew(one.log, volatile, frozenset(nothing))
    evidence, proposals = grouped(log, volatile)
    mined = one
    if not one.elsewhere:
        mined = mine_log(one.site, proposals, settings, redirects_count=True, share=one.share)
    reading = read_again(replace(mined, log=evidence), whatever=True)
    assert reading is not None
    return reading


def _read_site(
    one: Mined,
    *,
    book: RuleBook,
    verdicts: Verdicts,
    settings: DustSettings,
    seed: int,
    log_only: bool,
    poll: Poll,
    whatever: bool = False,
) -> SiteReading | None:
    """The trials to hold on *one* site and all that its log says for them; None if there is nothing to try, unless
    *whatever*.
    """
    if settings.validation_test == "paper":
        return _read_for_paper(one, book, settings, seed, log_only=log_only, poll=poll)
    accepted, disabled, candidates = _rules_to_try(one, book, settings.max_substring)
    suspects = () if log_only else changing_suspects(one.log)
    if not (candidates or suspects or whatever):
        return None
    rest = None if log_only else Rest(one.site, said_by(one.log), settings)
    rests = rest is not None and verdicts.rests.get(one.site) == rest(book, verdicts)
    evidence = evidence_of(one.site, one.log, settings, seed)
    settled = disabled | _refuted_rules(verdicts, one.site, candidates)
    campaign = partial(
        Campaign,
        [] if rests else candidates,
        evidence,
        replace(trial_params(settings, log_only=log_only), max_risk=settings.max_risk),
        site=one.site,
        site_of=site_of,
        passes=settings.passes,
        settled=settled,
        poll=poll,
    )
    known = {*accepted, *settled}
    return SiteReading(
        campaign(),
        evidence,
        comparison_of(one.log),
        evidence.template,
        # Nothing will be asked of such a site, so nobody need know how the site answers.
        is_at_rest=log_only or rests or (bool(known) and _is_at_rest(campaign(), known)),
        rest=rest,
        standing=len(accepted) if rests else 0,
        suspects=suspects,
        is_by_log=log_only,
    )


def _read_for_paper(
    one: Mined, book: RuleBook, settings: DustSettings, seed: int, *, log_only: bool, poll: Poll
) -> SiteReading | None:
    """The trials of WWW'07 figure 4: without a survey, of all rules but those that a person disabled."""
    entries = book.entries(one.site)
    candidates = one.candidates(
        [(entry.rule, entry.evidence.support) for entry in entries if entry.status is Status.VALID]
    )
    if not candidates:
        return None

    def draw_for(rule: Rule) -> Draw:
        """A function that draws examples for *rule*, always the same ones."""
        return random.Random(f"{seed} {one.site} {rule}").choice  # noqa: S311  A sample, not a secret.

    evidence = evidence_of(one.site, one.log, settings, seed)
    campaign = LiteralCampaign(
        candidates,
        evidence,
        LiteralParams(
            settings.validation_count, settings.refutation_threshold, settings.sketch_matches, log_only
        ),
        site=one.site,
        draw_for=draw_for,
        disabled=[entry.rule for entry in entries if entry.status is Status.DISABLED],
        poll=poll,
    )
    return SiteReading(campaign, evidence, is_at_rest=True)


def _rules_to_try(one: Mined, book: RuleBook, longest: int) -> tuple[list[Rule], set[Rule], list[Candidate]]:
    """Three parts of a site's rules: those in force, those that a person disabled, and the candidates for trials."""
    entries = book.entries(one.site)
    accepted = [entry for entry in entries if entry.status is Status.VALID]
    candidates = one.candidates([(entry.rule, entry.evidence.support) for entry in accepted], longest=longest)
    # Nothing in this log spoke for them yet, so the log's own come first.
    candidates += [
        Candidate((entry.rule,), support=0) for entry in entries if entry.status is Status.PROBATION
    ]
    candidates += [Candidate((edit,), support=0, narrows=True) for edit in by_log(one.log)]
    disabled = {entry.rule for entry in entries if entry.status is Status.DISABLED}
    tried = {rule for candidate in candidates for rule in candidate.rules} - {one.rule for one in accepted}
    urls = [page.url for page in one.log.pages]
    disabled |= _rules_with_merges_of(disabled, tried, urls[:: len(urls) // _LOOKED_AT + 1])
    return [entry.rule for entry in accepted], disabled, candidates


def _rules_with_merges_of(
    disabled: Collection[Rule], tried: Iterable[Rule], urls: Sequence[str]
) -> set[Rule]:
    """Those of *tried* that give some two URLs one key which a *disabled* rule alone gives one key as well.

    A person who disables `ref=*` does not want `?ref=home$ → $` instead.
    """
    found = set[Rule]()
    for rule in tried if disabled else ():
        changed = ((url, rule.apply(url)) for url in urls if rule.may_change(url))
        merged = (pair for pair in changed if pair[0] != pair[1])
        if any(one.apply(url) == one.apply(target) for url, target in merged for one in disabled):
            found.add(rule)
    return found


def _is_at_rest(campaign: Campaign, known: Collection[Rule]) -> bool:
    """Whether *campaign*, without any fetch, decides only rules that are *known*. It cannot be used afterwards."""
    nothing_to_ask = campaign.next_probe() is None and campaign.finished
    return nothing_to_ask and all(decision.rule in known for decision in campaign.decisions)


def _renderers(log: SiteLog, evidence: LogEvidence) -> dict[str, str]:
    """The browser that made the page, for each URL of the log whose page a browser made."""
    if not any(page.rendered for page in log.pages):
        return {}
    pages = ((url, evidence.page_of(url)) for url in evidence.urls)
    return {url: page.rendered for url, page in pages if page is not None and page.rendered}


def _refuted_rules(verdicts: Verdicts, site: str, candidates: Iterable[Candidate]) -> set[Rule]:
    """The rules refuted earlier, and the other rules of their candidates: a pair of different pages refutes them all."""
    refuted = {rule: one for rule, one in verdicts.of_site(site).items() if one.verdict is Verdict.REFUTED}
    contradicted = {rule for rule, one in refuted.items() if one.tally.contradictions}
    together = (one.rules for one in candidates if not contradicted.isdisjoint(one.rules))
    return set(refuted).union(*together)


def on_another_log(
    mined: Iterable[Mined], visits: Mapping[str, Sequence[Visit]], settings: DustSettings
) -> Iterator[Mined]:
    """*mined*, to be tried on the *visits* of another log (thesis, section 6.1). Sites that the log lacks are left out."""
    for one in mined:
        if one.site in visits:
            yield replace(one, log=site_log(visits[one.site], same=settings.same), elsewhere=True)


def decided_from_log(
    mined: Iterable[Mined],
    book: RuleBook,
    verdicts: Verdicts,
    settings: DustSettings,
    *,
    seed: int = 0,
    poll: Poll = never_stop,
    taking: TakingOver | None = None,
) -> Iterator[Ended]:
    """The ends of trials for which nothing can be fetched, until somebody stops them. *seed* shuffles the URLs to draw.

    A site is tried as it comes, so that nobody need hold the logs of all sites. *taking*: is told what later runs need in order to
    take a site over.
    """
    with suppress(Stopped), keeper(taking) as keep:
        for one in mined:
            reading = _read_site(
                one, book=book, verdicts=verdicts, settings=settings, seed=seed, log_only=True, poll=poll
            )
            if reading is None:
                keep(one, None, None)
                continue
            if reading.campaign.next_probe() is not None:
                raise DustError(f"{one.site}: a trial without fetches asked for one.")
            end = ended(SiteTrials(reading))
            keep(one, end, None)
            yield end
