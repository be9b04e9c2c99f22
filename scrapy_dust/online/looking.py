"""A look at all that has been seen of a site so far: which rules hold, by the usual trials and admission.

Edits are learned and tried on the pages seen (`believe/campaign.py`); nothing is fetched. A look at a few thousand pages
takes some seconds, so a process beside the crawl does it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from scrapy_dust.believe.campaign import Campaign
from scrapy_dust.believe.candidates import candidates_of
from scrapy_dust.believe.decisions import Decision
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.reach import Shown, held_by
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.engines.local import likely_parameters, mine_log, trial_params
from scrapy_dust.online.extent import ANY_VALUE, limited_to_seen
from scrapy_dust.propose.edits.pooling import NOTHING_POOLED, Pool, Tallies
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import SiteLog, with_redirects


@dataclass(frozen=True, slots=True)
class Looked:
    """The result of a look at a site."""

    decisions: Sequence[Decision]
    tallies: Tallies
    rules: Sequence[Rule] = ()  #: that may come into force, as far as they reach
    held: Mapping[str, Shown] = field(
        default_factory=dict
    )  #: how far, by what rules do, each was seen to hold

    @property
    def likely(self) -> tuple[Rule, ...]:
        """The rules without counterevidence, and with too little evidence."""
        return tuple(
            one.rule
            for one in self.decisions
            if one.verdict is not Verdict.REFUTED
            and not one.tally.contradictions
            and one.rule not in self.rules
        )


def log_changes(log: SiteLog) -> bool:
    """Whether any page of *log* is known to change at each fetch."""
    return any(page.volatile for page in log.pages)


def _is_valid(decision: Decision, refuted: Sequence[Rule]) -> bool:
    """Whether the rule of *decision* may come into force. A refuted rule under another guard needs as much evidence
    as one for any value.

    Among many guards, one always leaves the counterevidence out.
    """
    if decision.verdict is not Verdict.VALID or decision.rule in refuted:
        return False
    again = any(one.everywhere == decision.rule.everywhere for one in refuted)
    return not again or decision.tally.contents >= ANY_VALUE


def look(
    site: str,
    log: SiteLog,
    settings: DustSettings,
    *,
    pool: Pool = NOTHING_POOLED,
    refuted: Sequence[Rule] = (),
) -> Looked:
    """Find the rules that hold by *log*. *refuted*: rules that this crawl has found to be false.

    The papers' first two phases are left out: they would be too slow for repeated looks.
    """
    mined = mine_log(
        site, log, replace(settings, learner="dust"), redirects_count=True, pool=pool.without(site)
    )
    # Where pages change at each fetch, their words may be equal though no two pages are.
    parameters = likely_parameters(with_redirects(log), settings) if log_changes(log) else []
    # A part of a site is all that was seen: that shows less than what the learner makes of a whole log.
    candidates = [
        replace(one, enough=settings.min_support) for one in candidates_of((), parameters, (), mined.edits)
    ]
    if not candidates:
        return Looked((), mined.tallies)
    urls = [page.url for page in log.pages] + list(log.redirects)
    random.Random(site).shuffle(urls)  # noqa: S311  A sample, not a secret.
    evidence = LogEvidence(log, urls, settings.sketch_matches)
    campaign = Campaign(
        candidates,
        evidence,
        replace(trial_params(settings, log_only=True), max_risk=settings.max_risk),
        site=site,
        site_of=site_of,
        passes=settings.passes,
        settled=refuted,
    )
    while campaign.next_probe() is not None:
        raise AssertionError("a trial without fetches asked for one")
    decisions = campaign.decisions
    held = [one.rule for one in decisions if _is_valid(one, refuted)]
    canonizer = Canonizer({site: held}, site_of, settings.passes)
    contents = _contents(log, evidence, canonizer)
    reached = limited_to_seen(held, contents, canonizer)
    held_in = held_by(contents, Canonizer({site: reached}, site_of, settings.passes)) if reached else {}
    return Looked(decisions, mined.tallies, reached, held_in)


def _contents(log: SiteLog, evidence: LogEvidence, canonizer: Canonizer) -> dict[str, str]:
    """The content that each URL of *log* shows. A page that changes at each fetch has the content of the first page of its
    class, if the two differ in nothing else.
    """
    found, firsts = dict[str, str](), dict[str, str]()
    for page in with_redirects(log):
        shown = page.exact
        if shown and page.volatile:
            first = firsts.setdefault(canonizer.canonize(page.url), page.url)
            is_same = first == page.url or evidence.pair(page.url, first).known is Outcome.SAME
            shown = first if is_same else None
        if shown:
            found[page.url] = shown
    return found
