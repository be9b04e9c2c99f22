"""A look at all that has been seen of a site so far: which rules hold, by the usual trials and admission.

Edits are learned and tried on the pages seen (`dust/campaign.py`); nothing is fetched. A look at a few thousand pages
takes some seconds, so a process beside the crawl does it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from scrapy_dust.dust.campaign import Campaign
from scrapy_dust.dust.decisions import Decision
from scrapy_dust.dust.edits.pooling import NOTHING_POOLED, Pool, Tallies
from scrapy_dust.dust.evidence import LogEvidence
from scrapy_dust.dust.pages import SiteLog, with_redirects
from scrapy_dust.dust.reach import Shown, held_by
from scrapy_dust.dust.validation import Verdict
from scrapy_dust.engines.local import mine_log, trial_params
from scrapy_dust.online.extent import ANY_VALUE, as_far_as_seen
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of


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

    The papers' phases would be too slow for repeated looks.
    """
    mined = mine_log(
        site, log, replace(settings, learner="dust"), redirects_count=True, pool=pool.without(site)
    )
    # A part of a site is all that was seen: that shows less than what the learner makes of a whole log.
    candidates = [replace(one, enough=settings.min_support) for one in mined.candidates()]
    if not candidates:
        return Looked((), mined.tallies)
    urls = [page.url for page in log.pages] + list(log.redirects)
    random.Random(site).shuffle(urls)  # noqa: S311  A sample, not a secret.
    campaign = Campaign(
        candidates,
        LogEvidence(log, urls, settings.sketch_matches),
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
    contents = {
        page.url: shown for page in with_redirects(log) if (shown := page.exact) and not page.volatile
    }
    reached = as_far_as_seen(held, contents, Canonizer({site: held}, site_of, settings.passes))
    held_in = held_by(contents, Canonizer({site: reached}, site_of, settings.passes)) if reached else {}
    return Looked(decisions, mined.tallies, reached, held_in)
