"""What crawls with rules were spared, and which classes of URLs hold several contents: fetched, and compared in full."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from benchmarks.live.comparing import Client, Finding, Got, Level, beside, differ
from benchmarks.live.crawls import Crawl, Page, Site, plain_key
from benchmarks.live.spider import hashed

T = TypeVar("T")
#: A URL, and the one that stands for it.
Pair = tuple[str, str | None]


@dataclass(frozen=True)
class Checks:
    """What is needed to tell what a crawl has lost."""

    site: Site
    plain: Sequence[Crawl]  #: without rules
    client: Client
    most: int  #: URLs, and classes, that are looked at

    @property
    def pages(self) -> dict[str, Page]:
        return {page.asked: page for crawl in self.plain for page in crawl.pages}

    def draw(self, things: Collection[T]) -> list[T]:
        every = list(things)
        return random.Random(0).sample(every, min(self.most, len(every)))

    def equal(self, one: Page | None, other: Page | None) -> bool:
        """Whether two pages that crawls have got hold exactly the same; then nobody need fetch them."""
        return one is not None and other is not None and _whole(one) == _whole(other)

    def findings(
        self,
        name: str,
        rules: str,
        pairs: Sequence[Pair],
        known: Sequence[str],
        whats: set[str],
        compare: Callable[..., Finding],
    ) -> list[Finding]:
        """What *compare* says of pairs that a plain client fetches; of none that there was no time for."""
        self.client.fetch_all(url for pair in pairs for url in pair if url)
        fetched = [pair for pair in pairs if all(url is None or url in self.client.known for url in pair)]
        links = _links(self.client, fetched)
        keys = self.site.keys(name, rules, [*known, *sorted(links)])
        got = Got(whats, hashed, keys, {keys.get(url, url) for url in known})
        return [compare(self.client, url, keeper, got) for url, keeper in fetched]


def suppressed(checks: Checks, crawl: Crawl, rules: str) -> tuple[int, list[Finding]]:
    """How many URLs the crawl was spared, and what of them, or of some drawn at random, it has not got."""
    name = crawl.folder.name
    spared = crawl.suppressed(checks.site.journaled(crawl, rules))
    drawn = checks.draw(sorted(spared))
    got = {page.asked: page for page in reversed(crawl.pages)}
    # What stands for a class may still be in the queue when the budget is spent.
    unfetched = {plain_key(url) for url in spared}
    queued = [url for url in _wanted(crawl) if plain_key(url) not in unfetched]
    keys = checks.site.keys(name, rules, [*drawn, *queued, *got])
    keepers = {keys.get(url, url): url for url in (*queued, *got)}
    pairs = [(url, keepers.get(keys.get(url, url))) for url in drawn]
    before = checks.pages
    equal = [
        (url, keeper) for url, keeper in pairs if keeper and checks.equal(before.get(url), got.get(keeper))
    ]
    known = [*crawl.asked, *got, *(page.url for page in crawl.pages), *_wanted(crawl)]
    whats = {what for page in crawl.pages for _, _, what in page.units}
    others = [pair for pair in pairs if pair not in equal]
    findings = checks.findings(name, rules, others, known, whats, beside)
    return len(spared), [*(Finding(url, keeper, Level.SAME) for url, keeper in equal), *findings]


def _wanted(crawl: Crawl) -> list[str]:
    return [line for line in (crawl.folder / "wanted.txt").read_text("utf-8").split("\n") if line]


def _links(client: Client, pairs: Iterable[Iterable[str | None]]) -> set[str]:
    looks = [client.known.get(url) for pair in pairs for url in pair if url]
    units = [unit for one in looks if one for answer in one.answers for unit in answer]
    return {unit.value for unit in units if unit.kind in {"link", "media"}}


def mixed_classes(checks: Checks, name: str, rules: str) -> tuple[int, list[Finding]]:
    """How many classes of fetched URLs there are with several URLs, and pairs of one class that hold different things.

    One pair for each class at most; URLs are those that crawls without rules have fetched.
    """
    got = checks.pages
    keys = checks.site.keys(name, rules, got)
    classes: dict[str, list[str]] = defaultdict(list)
    for url in got:
        classes[keys.get(url, url)].append(url)
    several = [urls for urls in classes.values() if len(urls) > 1]
    suspects = [_most_different(urls, got) for urls in several]
    pairs = checks.draw([(one, other) for one, other in suspects if not checks.equal(got[one], got[other])])
    found = checks.findings(name, rules, pairs, [*got], set(), differ)
    return len(several), [finding for finding in found if finding.level in {Level.LOST, Level.NEW_LINKS}]


def _most_different(urls: Iterable[str], got: Mapping[str, Page]) -> tuple[str, str]:
    """The first URL of a class, and the one whose page has least in common with its page; links count least."""
    first, *others = urls
    mine = _whole(got[first])

    def difference(url: str) -> tuple[int, int]:
        differing = mine ^ _whole(got[url])
        return sum(kind != "link" for kind, _ in differing), len(differing)

    return first, max(others, key=difference)


def _whole(page: Page) -> frozenset[tuple[str, str]]:
    return frozenset((kind, what) for kind, _, what in page.units)
