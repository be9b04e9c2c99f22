"""Mines logs on this machine: runs the pure phases site by site, and measures each.

Beside the papers' phases, edits are learned from the same log; `DUST_LEARNER` chooses between the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from scrapy_dust.believe.campaign import Campaign
from scrapy_dust.believe.candidates import Candidate, candidates_of
from scrapy_dust.believe.decisions import Decision
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.validation import TrialParams
from scrapy_dust.engines.laps import Lap, Laps
from scrapy_dust.engines.results_as_bytes import Ruled
from scrapy_dust.propose.dustbuster.detection import DetectionParams, detect_in_sites
from scrapy_dust.propose.dustbuster.elimination import Elimination, EliminationParams, eliminate_in_sites
from scrapy_dust.propose.dustbuster.likely_parameters import detect_likely_parameters
from scrapy_dust.propose.dustbuster.likely_rules import LikelyParameter, LikelyRule
from scrapy_dust.propose.dustbuster.sketches import Similar, likeness_of
from scrapy_dust.propose.dustbuster.windows import without_windows
from scrapy_dust.propose.edits.edit_detection import Detected, LikelyEdit, detect_edits
from scrapy_dust.propose.edits.edit_learning import EditParams
from scrapy_dust.propose.edits.pooling import NOTHING_POOLED, Answers, Pool, Tallies
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.url.tokens import TOKEN
from scrapy_dust.visits.pages import Page, SiteLog, with_redirects

#: A URL has S envelopes for each of its tokens. A site that makes each URL up of thousands would have us hold
#: what a million honest URLs need; so those are not looked at in phases 1 to 3, where the paper has no limit.
MOST_TOKENS = 500


@dataclass(frozen=True, slots=True)
class Mined:
    """The results of mining the log of one site: of phases 1 to 3, and of the learner of edits."""

    site: str
    log: SiteLog
    too_long: int  #: URLs that were not looked at
    likely: Sequence[LikelyRule]
    elimination: Elimination
    parameters: Sequence[LikelyParameter]
    edits: Sequence[LikelyEdit]
    tallies: Tallies  #: what the log shows of edits of a kind, for other sites
    laps: Mapping[str, Lap]  #: what each phase took
    share: float = 1.0  #: of the site's URLs; less than 1: the others took too much memory
    key: str | None = None  #: a digest of what it depends on; None: nobody looked
    asked: Answers = field(default_factory=dict)  #: what other sites were asked of edits, and said
    #: What an earlier run had found, and was not mined anew: ``rules``, ``edits``.
    taken_over: frozenset[str] = frozenset()
    elsewhere: bool = False  #: *log* is not what it was mined in, but another one, to try rules on

    @property
    def is_taken_over(self) -> bool:
        """Whether an earlier run found all of the result."""
        return self.taken_over == {"rules", "edits"}

    def candidates(
        self, accepted: Iterable[tuple[Rule, int]] = (), *, longest: int | None = None
    ) -> list[Candidate]:
        """The candidates for trials, *accepted* rules with their supports first.

        *longest*: the greatest length of a substring (S). If given, of several rules that are parts of one longer rule
        only one is tried.
        """
        kept: Sequence[LikelyRule] = self.elimination.kept
        if longest is not None:
            urls = [*(page.url for page in self.log.pages), *self.log.redirects]
            kept = without_windows(kept, urls, longest)
        return candidates_of(kept, self.parameters, accepted, self.edits)


@dataclass(frozen=True, slots=True)
class Known:
    """The results of an earlier run for the very same log."""

    key: str | None = None  #: a digest of what they depend on
    rules: Ruled | None = None
    edits: Detected | None = None


NOTHING_KNOWN = Known()


def mine_log(
    site: str,
    log: SiteLog,
    settings: DustSettings,
    *,
    redirects_count: bool = False,
    pool: Pool = NOTHING_POOLED,
    share: float = 1.0,
    known: Known = NOTHING_KNOWN,
) -> Mined:
    """Mine the *log* of one site.

    The papers use pages alone. With *redirects_count*, a URL that redirected to a page counts as one of the page's
    spellings, so that the rules behind redirects are found too. *pool*: evidence of other sites about edits. *share*:
    the part of the site that *log* is. *known*: results of an earlier run.
    """
    (mined,) = mine_logs([Task(site, log, pool, share, known)], settings, redirects_count=redirects_count)
    return mined


@dataclass(frozen=True, slots=True)
class Task:
    """A site to mine; the fields are the parameters of `mine_log`."""

    site: str
    log: SiteLog
    pool: Pool = NOTHING_POOLED
    share: float = 1.0
    known: Known = NOTHING_KNOWN
    laps: Mapping[str, Lap] = field(default_factory=dict)  #: what it took to come so far


def mine_logs(
    tasks: Iterable[Task], settings: DustSettings, *, redirects_count: bool = False
) -> Iterator[Mined]:
    """Mine several sites. Phases 1 and 2 process all sites together, and their time is divided by URLs and rules."""
    begun = [_Begun(task, _of_short_urls(task.log)) for task in tasks]
    if settings.learner != "dust":
        _run_phases_1_and_2([one for one in begun if one.task.known.rules is None], settings, redirects_count)
    for one in begun:
        yield _run_last_phases(one, settings)


@dataclass(slots=True)
class _Begun:
    """A site between the phases, with the results so far."""

    task: Task
    short: SiteLog
    pages: Sequence[Page] = ()
    likely: Sequence[LikelyRule] = ()
    elimination: Elimination | None = None
    laps: Mapping[str, Lap] = field(default_factory=dict)


def _run_phases_1_and_2(sites: Sequence[_Begun], settings: DustSettings, redirects_count: bool) -> None:
    """Run phases 1 and 2 for *sites*."""
    if not sites:
        return
    clock = Laps()
    for site in sites:
        site.pages = with_redirects(site.short) if redirects_count else site.short.pages
    clock.lap("pages")
    likely = detect_in_sites([site.pages for site in sites], detection_params(settings))
    clock.lap("likely")
    eliminations = eliminate_in_sites(likely, elimination_params(settings))
    clock.lap("kept")
    pages, rules = sum(len(site.pages) for site in sites), sum(map(len, likely))
    for site, site.likely, site.elimination in zip(sites, likely, eliminations, strict=True):
        by_pages, by_rules = len(site.pages) / (pages or 1), len(site.likely) / (rules or 1)
        site.laps = {
            phase: lap * (by_rules if phase == "kept" else by_pages) for phase, lap in clock.laps.items()
        }


def _run_last_phases(site: _Begun, settings: DustSettings) -> Mined:
    """Run the phases after phase 2 for *site*."""
    clock = Laps()
    task, known = site.task, site.task.known
    ruled, found = known.rules or Ruled(), known.edits
    if site.elimination is not None:
        ruled = Ruled(site.likely, site.elimination, likely_parameters(site.pages, settings))
        clock.lap("parameters")
    if found is None:
        found = Detected()
        if settings.learner != "dustbuster":
            found = detect_edits(site.short, edit_params(settings), task.pool)
        clock.lap("edits")
    log, short = task.log, site.short
    return Mined(
        task.site,
        log,
        len(log.pages) + len(log.redirects) - len(short.pages) - len(short.redirects),
        ruled.likely,
        ruled.elimination,
        ruled.parameters,
        found.edits,
        found.tallies,
        {**task.laps, **site.laps, **clock.laps},
        task.share,
        known.key,
        found.asked,
        frozenset(part for part in ("rules", "edits") if getattr(known, part) is not None),
    )


def evidence_of(site: str, log: SiteLog, settings: DustSettings, seed: int = 0) -> LogEvidence:
    """The evidence of *log*, whose URLs are drawn in an order that *seed* shuffles."""
    urls = sorted([*(page.url for page in log.pages), *log.redirects])
    Random(f"{seed} {site}").shuffle(urls)  # noqa: S311  A sample, not a secret.
    return LogEvidence(log, urls, settings.sketch_matches)


def tried_by_log(
    site: str,
    candidates: Sequence[Candidate],
    evidence: LogEvidence,
    settings: DustSettings,
    *,
    max_risk: float = 1.0,
    settled: Iterable[Rule] = (),
) -> Sequence[Decision]:
    """The decisions about *candidates* by the log alone. *max_risk*: as in `TrialParams`; *settled*: rules not to be tried."""
    campaign = Campaign(
        candidates,
        evidence,
        replace(trial_params(settings, log_only=True), max_risk=max_risk),
        site=site,
        site_of=site_of,
        passes=settings.passes,
        settled=settled,
    )
    probe = campaign.next_probe()
    assert probe is None  # a trial by the log alone asks for nothing
    return campaign.decisions


def likely_parameters(pages: Sequence[Page], settings: DustSettings) -> list[LikelyParameter]:
    """Phase 3: the parameters of which most pairs of *pages* say that the value does not matter."""
    likeness = likeness_of(pages, Similar(settings.similar), settings.sketch_matches)
    return detect_likely_parameters(pages, likeness, settings.min_support)


def edit_params(settings: DustSettings) -> EditParams:
    """The parameters of learning edits by the project's *settings*."""
    return EditParams(budget=settings.max_loss)


def _of_short_urls(log: SiteLog) -> SiteLog:
    """*log* without the URLs that are too long to be mined."""
    return replace(
        log,
        pages=[page for page in log.pages if not _is_long(page.url)],
        redirects={url: target for url, target in log.redirects.items() if not _is_long(url)},
    )


def _is_long(url: str) -> bool:
    """Whether *url* has more than `MOST_TOKENS` tokens."""
    return len(url) > MOST_TOKENS and sum(1 for _ in TOKEN.finditer(url)) > MOST_TOKENS


def detection_params(settings: DustSettings) -> DetectionParams:
    """The parameters of phase 1 by the project's *settings*."""
    return DetectionParams(
        max_substring=settings.max_substring,
        bucket_low=settings.bucket_low,
        bucket_high=settings.bucket_high,
        min_support=settings.min_support,
        similar=Similar(settings.similar),
        sketch_matches=settings.sketch_matches,
    )


def elimination_params(settings: DustSettings) -> EliminationParams:
    """The parameters of phase 2 by the project's *settings*."""
    return EliminationParams(
        max_relative_deficiency=settings.max_relative_deficiency,
        max_absolute_deficiency=settings.max_absolute_deficiency,
        max_window=settings.max_window,
    )


def trial_params(settings: DustSettings, *, log_only: bool = False) -> TrialParams:
    """The parameters of trials by the project's *settings*."""
    return TrialParams(
        count=settings.validation_count,
        threshold=settings.refutation_threshold,
        min_support=settings.min_support,
        max_loss=settings.max_loss,
        log_only=log_only,
    )
