"""Validation on a crawl whose contents are known: what would be fetched is answered from its file."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from scrapy_dust.believe.campaign import Campaign
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.paper_validation import LiteralCampaign, LiteralParams
from scrapy_dust.believe.validation import Pair, TrialParams, Verdict
from scrapy_dust.crawl_log.visit_fields import visit_of
from scrapy_dust.engines.local import Mined, mine_log
from scrapy_dust.page.site_log import site_log
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Page, SiteLog


@dataclass(slots=True)
class Answers:
    """A site that answers from a file. Counts what is asked for."""

    contents: Mapping[str, int]
    keeps: bool  #: what was fetched is not fetched again
    knows: bool  #: the log has the texts of its pages
    fetches: int = 0
    _fetched: set[str] = field(default_factory=set)

    def look(self, pair: Pair) -> Outcome:
        self._fetch(pair.target)
        there = self.contents.get(pair.target)
        if there is None:
            return Outcome.UNFETCHABLE
        here = self.contents.get(pair.url)
        if here != there or not self.knows:
            self._fetch(pair.url)
        if here == there:
            return Outcome.SAME
        self.fetches += self.keeps * (
            1 + (not self.knows)
        )  # the controls, which are always fetches of their own
        return Outcome.DIFFERENT

    def _fetch(self, url: str) -> None:
        if not self.keeps or url not in self._fetched:
            self.fetches += 1
            self._fetched.add(url)


def replay(path: Path, urls: int) -> Iterator[str]:
    """The rules of the first *urls* of a crawl, by each test."""
    contents: dict[str, int] = {}
    of_text: dict[str, int] = {}
    visits = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in islice(lines, urls):
            record = json.loads(line)
            # The file's clusters end at a host; equal texts are one content on whichever host.
            cluster = of_text.setdefault(record["text_digest"], record["cluster_strict"])
            contents[record["url"]] = cluster
            visits.append(visit_of(record))
    site = site_of(visits[0].url)
    assert site is not None
    mined = mine_log(site, site_log(visits), DustSettings(learner="dustbuster"), redirects_count=True)
    bare = SiteLog([Page(page.url) for page in mined.log.pages])
    sized = SiteLog([Page(page.url, size=page.size) for page in mined.log.pages])
    yield f"## A real crawl: the first {urls:,} URLs of {path.parent.name}"
    yield ""
    yield "| | rules valid | refuted | undecided | fetches | per decided rule | URLs saved | pages lost | stated bound |"
    yield "|---|" + "---:|" * 8
    ours = TrialParams()
    for name, log, params, answers in (
        ("papers' test", bare, None, Answers(contents, keeps=False, knows=False)),
        ("ours, URLs alone", bare, ours, Answers(contents, keeps=True, knows=False)),
        ("ours, sizes", sized, ours, Answers(contents, keeps=True, knows=False)),
        ("ours, contents", mined.log, ours, Answers(contents, keeps=True, knows=True)),
    ):
        yield f"| {name} | " + " | ".join(_conducted(mined, log, params, answers)) + " |"


def _campaign(mined: Mined, log: SiteLog, params: TrialParams | None) -> Campaign | LiteralCampaign:
    urls = [page.url for page in log.pages]
    random.Random(0).shuffle(urls)
    evidence = LogEvidence(log, urls)
    if params is not None:
        return Campaign(mined.candidates(), evidence, params, site=mined.site, site_of=site_of)
    return LiteralCampaign(
        mined.candidates(),
        evidence,
        LiteralParams(),
        site=mined.site,
        draw_for=lambda rule: random.Random(str(rule)).choice,
    )


def _conducted(mined: Mined, log: SiteLog, params: TrialParams | None, answers: Answers) -> Iterator[str]:
    """*params*: None: figures 3 and 4."""
    campaign = _campaign(mined, log, params)
    while (probe := campaign.next_probe()) is not None:
        campaign.record(probe, answers.look(probe.pair))
    verdicts = [one.verdict for one in campaign.decisions]
    rules = [one.rule for one in campaign.decisions if one.verdict is Verdict.VALID]
    counts = [verdicts.count(one) for one in (Verdict.VALID, Verdict.REFUTED, Verdict.UNDECIDED)]
    yield from (f"{count:,}" for count in counts)
    yield f"{answers.fetches:,}"
    yield f"{answers.fetches / max(1, counts[0] + counts[1]):.1f}"
    saved, lost = _replayed(Canonizer({mined.site: rules}, site_of), answers.contents)
    yield f"{saved:,}"
    yield f"{lost:,}"
    yield "none" if campaign.lost_at_most is None else f"{campaign.lost_at_most:,}"


def _replayed(canonizer: Canonizer, contents: Mapping[str, int]) -> tuple[int, int]:
    """URLs that are not fetched, and contents that are not seen, if the first URL of each key is fetched."""
    seen: dict[str, int] = {}
    for url, content in contents.items():
        seen.setdefault(canonizer.canonize(url), content)
    return len(contents) - len(seen), len(set(contents.values())) - len(set(seen.values()))
