"""The papers' measures of rules, and one of our own: contents lost.

WWW'07 §3 (precision, discovered redundancy, coverage) and §6; SIGIR'17 (precision, recall, F1 of a replayed crawl). A
cluster is any number or name that is equal for URLs that show the same content.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass


def precision_at(valid: Sequence[bool], k: int) -> float | None:
    """The share of valid rules among the first *k* of a ranked list; None where there are none."""
    first = valid[:k]
    return sum(first) / len(first) if first else None


@dataclass(frozen=True, slots=True)
class Replay:
    """A crawl of a URL list in which a URL is fetched when its key is new."""

    urls: int  #: unique URLs in the list
    clusters: int  #: contents in it
    crawled: int  #: URLs that were fetched
    covered: int  #: contents that were seen

    @property
    def lost(self) -> int:
        """Contents that plain crawling finds and this crawl does not."""
        return self.clusters - self.covered

    @property
    def redundancy(self) -> float:
        """Discovered redundancy: the share of unique URLs that canonization removes."""
        return (self.urls - self.crawled) / self.urls if self.urls else 0.0

    @property
    def coverage(self) -> float:
        """The share of the duplicate URLs that canonization removes. Like the papers' measure, it does not see losses."""
        before = self.urls - self.clusters
        return (self.urls - self.crawled) / before if before else 0.0

    @property
    def precision(self) -> float:
        """The share of fetched URLs that show a new content."""
        return self.covered / self.crawled if self.crawled else 1.0

    @property
    def recall(self) -> float:
        """The share of contents that the crawl finds."""
        return self.covered / self.clusters if self.clusters else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return self.f(1.0)

    def f(self, beta: float) -> float:
        """The weighted F1: recall counts *beta* times as much as precision."""
        total = self.crawled + beta**2 * self.clusters
        return (1 + beta**2) * self.covered / total if total else 1.0


def replay(urls: Iterable[str], clusters: Mapping[str, Hashable], canonize: Callable[[str], str]) -> Replay:
    """The figures of a crawl that comes to *urls* in their order and fetches a URL if its key is new. *clusters*: the
    content of each URL.
    """
    listed = list(dict.fromkeys(urls))
    keys: dict[str, str] = {}
    for url in listed:
        keys.setdefault(canonize(url), url)
    return Replay(
        urls=len(listed),
        clusters=len({clusters[url] for url in listed}),
        crawled=len(keys),
        covered=len({clusters[url] for url in keys.values()}),
    )
