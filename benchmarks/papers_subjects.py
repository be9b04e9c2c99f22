"""The sites that `benchmarks.papers` looks at, and what the papers' phases find there."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks import two_way
from scrapy_dust.believe.candidates import Candidate, candidates_of
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.paper_validation import LiteralCampaign, LiteralParams
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.crawl_log import read_visits
from scrapy_dust.propose.dustbuster.detection import DetectionParams, detect_likely_rules
from scrapy_dust.propose.dustbuster.elimination import EliminationParams, eliminate_redundant
from scrapy_dust.propose.dustbuster.likely_rules import LikelyRule
from scrapy_dust.propose.dustbuster.sketches import Similar
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of
from scrapy_dust.visits.pages import Page, SiteLog, Visit, merge_visits


@dataclass(frozen=True)
class Subject:
    """A site, with what its URLs show where that is known."""

    name: str
    like: str  #: which of the papers' sites it stands for
    lines: int
    pages: tuple[Page, ...]
    clusters: dict[str, int] = field(default_factory=dict)  #: contents; none: nothing can be validated
    records: dict[str, dict[str, object]] = field(default_factory=dict)

    @cached_property
    def site(self) -> str:
        return site_of(self.pages[0].url) or ""

    def slices(self, parts: int) -> list[tuple[Page, ...]]:
        """Logs with all URLs of a content, or none: a split of URLs would tear the pairs apart."""
        return [
            tuple(page for page in self.pages if self.clusters[page.url] % parts == part)
            for part in range(parts)
        ]

    def without(self, pages: Iterable[Page]) -> list[Page]:
        urls = {page.url for page in pages}
        return [page for page in self.pages if page.url not in urls]


def of_list(path: Path, name: str, like: str, host: str | None = None) -> Subject:
    """A crawl whose file says what each URL shows."""
    visits, clusters, records = [], {}, {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            if host is not None and urlsplit(record["url"]).netloc != host:
                continue
            size, sketch = record.get("size"), record.get("sketch")
            visits.append(
                Visit(
                    record["url"],
                    record.get("status"),
                    None if size is None else (size, size),
                    tuple(sketch) if sketch else None,
                    text_digest=record.get("text_digest"),
                )
            )
            clusters[record["url"]] = record.get("cluster_strict")
            records[record["url"]] = record
    pages = merge_visits(visits).pages
    known = {page.url: clusters[page.url] for page in pages}
    if None in known.values():
        known = {}
    return Subject(name, like, len(visits), tuple(pages), known, records)


def of_access_log(path: Path, name: str, like: str) -> Subject:
    visits = list(read_visits(path, base_url=f"http://{name}.test"))
    return Subject(f"{name}, access log", like, len(visits), tuple(merge_visits(visits).pages))


def of_example() -> list[Subject]:
    """The project's own example, crawled here: it is made in the likeness of the papers' four sites."""
    like = {"forum": "forum", "academic": "academic", "bignews": "large news", "smallnews": "small news"}
    with tempfile.TemporaryDirectory() as folder:
        options = argparse.Namespace(example=True, start=[])
        with two_way.web(options):
            command = [sys.executable, "-m", "benchmarks.two_way", "--example", *options.start]
            command += ["--hosts", *options.hosts]
            subprocess.run(
                [*command, "--round", "all", "--dir", folder], check=True, env=os.environ, capture_output=True
            )
        visits = list(read_visits(next(Path(folder, "dust", "logs").rglob("*.jsonl"))))
    found = []
    for name, stands_for in like.items():
        of_site = [visit for visit in visits if site_of(visit.url) == f"{name}.test"]
        pages = tuple(replace(page, core=None) for page in merge_visits(of_site).pages)
        numbers = count()
        contents: dict[object, int] = {}
        clusters = {page.url: contents.setdefault(page.text_digest, next(numbers)) for page in pages}
        found.append(Subject(f"example, {name}", stands_for, len(of_site), pages, clusters))
    return found


# -- the papers' phases


@dataclass(frozen=True, slots=True)
class Found:
    likely: Sequence[LikelyRule]
    kept: Sequence[LikelyRule]


def phases(pages: Sequence[Page], similar: Similar, matches: int = 4) -> Found:
    likely = detect_likely_rules(pages, DetectionParams(similar=similar, sketch_matches=matches))
    return Found(likely, eliminate_redundant(likely, EliminationParams()).kept)


class _EachRule(LiteralCampaign):
    """Figure 3 for every rule: none is left out since it refines a valid one."""

    def _refines_valid(self, candidate: Candidate) -> bool:
        return False


def _campaign(
    kind: type[LiteralCampaign], candidates: Iterable[Candidate], pages: Sequence[Page], params: LiteralParams
) -> LiteralCampaign:
    urls = [page.url for page in pages]
    random.Random(0).shuffle(urls)
    campaign = kind(
        candidates,
        LogEvidence(SiteLog(tuple(pages)), urls),
        replace(params, log_only=True),
        site=site_of(urls[0]) or "",
        draw_for=lambda rule: random.Random(str(rule)).choice,
    )
    campaign.next_probe()
    return campaign


def validities(kept: Sequence[LikelyRule], pages: Sequence[Page], params: LiteralParams) -> list[bool]:
    """Of each rule, whether it is valid in at least one direction. *pages* are those of the test list."""
    candidates = candidates_of(kept, [])
    campaign = _campaign(_EachRule, candidates, pages, params)
    valid = {one.rule for one in campaign.decisions if one.verdict is Verdict.VALID}
    return [not valid.isdisjoint(one.rules) for one in candidates]


def validated(kept: Sequence[LikelyRule], pages: Sequence[Page], params: LiteralParams) -> list[Rule]:
    """Figure 4: the valid rules, without refinements of valid ones."""
    campaign = _campaign(LiteralCampaign, candidates_of(kept, []), pages, params)
    return [one.rule for one in campaign.decisions if one.verdict is Verdict.VALID]


def canonizer(subject: Subject, rules: Sequence[Rule]) -> Canonizer:
    return Canonizer({subject.site: rules}, site_of)
