"""From visits to trials. `dustmine` does this, and a crawl that learns when it ends.

logs → visits by site (`reading.py`) → mined (phases 1–3, edits) → trials (phase 4) → rule book and verdicts (`concluding.py`)
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from scrapy_dust.dust.campaign import Campaign
from scrapy_dust.dust.candidates import Candidate
from scrapy_dust.dust.evidence import LogEvidence
from scrapy_dust.dust.pages import Visit
from scrapy_dust.dust.rules import Rule
from scrapy_dust.dust.templates import template_hashes
from scrapy_dust.dust.validation import Verdict
from scrapy_dust.engines.gathering import Shelved, records_of
from scrapy_dust.engines.laps import Laps
from scrapy_dust.engines.local import Mined, trial_params
from scrapy_dust.engines.memory import Keeping
from scrapy_dust.engines.remembering import parts_of, remembered_in
from scrapy_dust.engines.side_by_side import Miner, mined_by, processes_for
from scrapy_dust.errors import DustError, RuleBookError
from scrapy_dust.neural.extra import require
from scrapy_dust.neural.proposing import params_of, proposed_edits
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Status
from scrapy_dust.rule_book.priors import known, remember
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.trials.declarations import by_log
from scrapy_dust.trials.journal import ProbeJournal
from scrapy_dust.trials.reading import Reporter
from scrapy_dust.trials.rest import rest_of
from scrapy_dust.trials.site_trials import SiteTrials

#: Pages of a site, from which on it has something to say about others.
_TELLING = 100


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
    candidates += [Candidate((edit,), support=0, narrows=True) for edit in by_log(one.log)]
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
