"""What is measured, against whom."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import RequestFingerprinter
from scrapy.utils.test import get_crawler

from scrapy_dust.addon import Addon
from scrapy_dust.crawl.fingerprinter import DustRequestFingerprinter
from scrapy_dust.propose.dustbuster.detection import DetectionParams, detect_likely_rules
from scrapy_dust.propose.dustbuster.elimination import EliminationParams, eliminate_redundant
from scrapy_dust.propose.dustbuster.sketches import Similar
from scrapy_dust.rule_book import Entry, RuleBook
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.sites import site_of
from scrapy_dust.visits.pages import Page
from tests import oracle

SITES = 50


@dataclass(frozen=True, slots=True)
class Result:
    what: str
    ours: float  #: CPU seconds, best of the rounds
    theirs: float
    rival: str
    megabytes: float | None = None  #: of input, where there is a point in it

    @property
    def said(self) -> str:
        ratio = self.theirs / self.ours
        said = f"{ratio:.1f} times as fast" if ratio >= 1 else f"{1 / ratio:.2f} times as slow"
        if self.megabytes is None:
            return said
        return f"{said}; {self.megabytes / self.ours:.0f} MB/s against {self.megabytes / self.theirs:.0f}"


def best(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> tuple[float, float]:
    """The best CPU time of each, in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for run, taken in zip((ours, theirs), times, strict=True):
            begun = time.process_time()
            run()
            taken.append(time.process_time() - begun)
    return min(times[0]), min(times[1])


def dusty_urls(count: int, host: str = "www.site.test", seed: int = 7) -> list[str]:
    """URLs of 20 to 30 tokens with aliases, numbered pages and session ids."""
    chance = random.Random(seed)
    words = [f"w{i}" for i in range(40)]
    urls: dict[str, None] = {}
    while len(urls) < count:
        folder = "/".join(chance.choices(words, k=3))
        number = chance.randrange(count)
        story = chance.choice(("story?id=", "story_", "story.php?id=", "print/story_"))
        rest = chance.choice(("", f"?sid={chance.randrange(4)}", "/index.html", "/"))
        urls[f"http://{host}/{folder}/{story}{number}{rest}"] = None
    return list(urls)


def mining(*, quick: bool) -> Result:
    """Phases 1 and 2 against the literal transcription of the papers' figures."""
    urls = dusty_urls(300 if quick else 3000)
    pages = [Page(url) for url in urls]
    lines: list[dict[str, object]] = [{"url": url} for url in urls]

    def ours() -> object:
        likely = detect_likely_rules(pages, DetectionParams(similar=Similar.NONE))
        return eliminate_redundant(likely, EliminationParams()).kept

    def theirs() -> object:
        records = oracle.unique_records(lines)
        return oracle.kept_rules(records, 35, 6, 11, 3, 0.05, 1, 1100, oracle.likely_similar_always)

    taken = best(ours, theirs, 1)
    return Result(f"phases 1 and 2, {len(urls)} URLs", *taken, "the literal transcription")


def _rules() -> dict[str, list[Rule]]:
    rules: list[Rule] = [
        Rule.of(Substitute("/index.html", "/", end=True)),
        Rule.of(Substitute("story_", "story?id=")),
        Rule.of(DropParameter("sid")),
    ]
    return {f"site{i}.test": rules for i in range(SITES)}


def _site_urls(quick: bool) -> list[str]:
    count = 40 if quick else 400
    return [url for i in range(SITES) for url in dusty_urls(count, f"www.site{i}.test", seed=i)]


def fingerprinting(*, quick: bool) -> Result:
    """Our fingerprinter without rules against the one it wraps."""
    crawler = get_crawler(Spider, {"DUST_RULES": []})
    fingerprinter, plain = DustRequestFingerprinter.from_crawler(crawler), RequestFingerprinter(crawler)
    urls = _site_urls(quick)

    def with_(fingerprint: Callable[[Request], bytes]) -> Callable[[], object]:
        return lambda: [fingerprint(Request(url)) for url in urls]

    taken = best(with_(fingerprinter.fingerprint), with_(plain.fingerprint), 5)
    return Result(
        f"fingerprints without rules, {len(urls)} requests", *taken, "Scrapy's RequestFingerprinter"
    )


def filtering(*, quick: bool) -> Result:
    """Our dupefilter and fingerprinter with rules against Scrapy's own two, on requests of which many are DUST."""
    urls = _site_urls(quick)
    book = RuleBook()
    for site, rules in _rules().items():
        book = book.with_site(site, [Entry(rule) for rule in rules])
    with TemporaryDirectory() as folder:
        path = Path(folder, "rules.json")
        book.save(path)
        with_rules = get_crawler(Spider, {"DUST_RULES": [str(path)], "ADDONS": {Addon: 900}})
        without = get_crawler(Spider)

    def fill(crawler: Crawler) -> Callable[[], object]:
        crawler.spider = crawler._create_spider("benchmark")

        def run() -> list[bool]:
            dupefilter = build_from_crawler(load_object(crawler.settings["DUPEFILTER_CLASS"]), crawler)
            return [dupefilter.request_seen(Request(url)) for url in urls]

        return run

    taken = best(fill(with_rules), fill(without), 3)
    return Result(
        f"requests filtered, 3 rules a site, {len(urls)} requests", *taken, "Scrapy's RFPDupeFilter"
    )


def canonizing(*, quick: bool) -> Result:
    """Canonical form and fingerprint against Scrapy's fingerprint alone."""
    canonizer = Canonizer(_rules(), site_of)
    plain = RequestFingerprinter()
    urls = _site_urls(quick)
    taken = best(
        lambda: [canonizer.canonize(url) for url in urls],
        lambda: [plain.fingerprint(Request(url)) for url in urls],
        5,
    )
    return Result(
        f"canonical forms, 3 rules a site, {len(urls)} URLs", *taken, "Scrapy's RequestFingerprinter"
    )
