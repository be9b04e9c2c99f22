"""What ``dustmine --no-validate`` would learn from the training log: substring and parameter rules it proves alone.

Redirects count as spellings of the page at their end, and no page is fetched, so that all that the log leaves
open stays undone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from scrapy_dust.dust.campaign import Campaign, Candidate, candidates_of
from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.detection import detect_likely_rules
from scrapy_dust.dust.elimination import eliminate_redundant
from scrapy_dust.dust.evidence import LogEvidence
from scrapy_dust.dust.pages import SiteLog, with_redirects
from scrapy_dust.dust.parameters import detect_likely_parameters
from scrapy_dust.dust.rules import Rule
from scrapy_dust.dust.sketches import Similar, likeness_of
from scrapy_dust.dust.validation import Verdict
from scrapy_dust.engines.local import detection_params, elimination_params, trial_params
from scrapy_dust.learners.learner import Learned, unchanged
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of


@dataclass(frozen=True, slots=True)
class Mined:
    settings: DustSettings = field(default_factory=DustSettings)
    name: str = "dustmine"

    def learn(self, site: str, log: SiteLog) -> Learned:
        if not log.pages:
            return Learned(unchanged)
        rules = self._valid(site, log)
        canonizer = Canonizer({site: rules}, site_of, self.settings.passes)
        return Learned(canonizer.canonize, tuple(map(str, rules)))

    def _valid(self, site: str, log: SiteLog) -> list[Rule]:
        urls = [page.url for page in log.pages] + list(log.redirects)
        Random(f"0 {site}").shuffle(urls)  # noqa: S311  A sample, not a secret.
        campaign = Campaign(
            self._candidates(log),
            LogEvidence(log, urls, self.settings.sketch_matches),
            trial_params(self.settings, log_only=True),
            site=site,
            site_of=site_of,
            passes=self.settings.passes,
        )
        probe = campaign.next_probe()
        assert probe is None  # a trial by the log alone asks for nothing
        return [one.rule for one in campaign.decisions if one.verdict is Verdict.VALID]

    def _candidates(self, log: SiteLog) -> list[Candidate]:
        settings, pages = self.settings, with_redirects(log)
        likely = detect_likely_rules(pages, detection_params(settings))
        kept = eliminate_redundant(likely, elimination_params(settings)).kept
        likeness = likeness_of(pages, Similar(settings.similar), settings.sketch_matches)
        return candidates_of(kept, detect_likely_parameters(pages, likeness, settings.min_support))
