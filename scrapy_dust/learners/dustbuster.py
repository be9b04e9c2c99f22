"""DustBuster (Bar-Yossef, Keidar, Schonfeld, WWW 2007; thesis 2006) as published, on a log alone.

Phases 1 to 3 are those of scrapy-dust, which are the paper's. Phase 4 is its figures 3 and 4: rules by
descending support, shrinking direction first, at most N URLs each, ε; refinements of a valid rule are
removed. Where the paper fetches, this looks into the training log: a pair whose second URL is not in it says
nothing, and another one is drawn. Parameter rules come after substring rules (thesis §5.3 does not say).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from scrapy_dust.learners.interface import Learned, learned_by_rules
from scrapy_dust.propose.dustbuster.detection import DetectionParams, detect_likely_rules
from scrapy_dust.propose.dustbuster.elimination import EliminationParams, eliminate_redundant
from scrapy_dust.propose.dustbuster.likely_parameters import detect_likely_parameters
from scrapy_dust.propose.dustbuster.sketches import Similar, likeness_of
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.pages import Page, SiteLog


@dataclass(frozen=True, slots=True)
class DustBuster:
    """The learner of the paper, with its parameters."""

    similar: Similar = Similar.SKETCH
    count: int = 100  #: N
    threshold: float = 0.05  #: ε
    min_support: int = 3  #: MS

    @property
    def name(self) -> str:
        """The name of the method in tables, with the test of similarity if that is not the sketch."""
        return "dustbuster" if self.similar is Similar.SKETCH else f"dustbuster-{self.similar}"

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Phases 1 to 3 on *log*, then the paper's validation, with the log in the place of fetches."""
        return learned_by_rules(site, list(self._valid_rules(log.pages)) if log.pages else [])

    def _valid_rules(self, pages: Sequence[Page]) -> Iterator[Rule]:
        """The rules that the paper's four phases accept on *pages*."""
        params = DetectionParams(similar=self.similar, min_support=self.min_support)
        likely = eliminate_redundant(detect_likely_rules(pages, params), EliminationParams()).kept
        likeness = likeness_of(pages, self.similar)
        candidates: list[tuple[Rule, ...]] = [
            (Rule.of(one.rule), Rule.of(one.rule.reversed())) for one in likely
        ]
        candidates += [one.rules for one in detect_likely_parameters(pages, likeness, self.min_support)]
        contents = {page.url: page.sketch or page.text_digest or page.url for page in pages}
        urls = [page.url for page in pages]
        # A sample, and always the same one.
        Random(0).shuffle(urls)  # noqa: S311
        found: list[Rule] = []
        for directions in candidates:
            if any(directions[0].refines(other) for other in found):
                continue
            valid = next((rule for rule in directions if self._is_valid(rule, urls, contents)), None)
            if valid is not None:
                found.append(valid)
                yield valid

    def _is_valid(self, rule: Rule, urls: Iterable[str], contents: Mapping[str, Hashable]) -> bool:
        """Figure 3, ValidateRule: until (1 − ε)N examples or εN counterexamples, or the URLs run out."""
        positive = negative = 0
        for url in urls:
            target = rule.apply(url)
            if target == url or target not in contents:
                continue
            same = contents[url] == contents[target]
            positive, negative = positive + same, negative + (not same)
            if negative >= self.threshold * self.count:
                return False
            if positive >= (1 - self.threshold) * self.count:
                return True
        return positive >= self.min_support and negative < self.threshold * (positive + negative)
