"""Counts what rules save on a log: of several URLs with one key the first is fetched, and the others are saved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from scrapy_dust.learners.leftovers import MANY, Left, leftovers
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.pages import Page

#: Pairs that are shown of what no rule explains.
PAIRS_SHOWN = 30
#: URLs that are compared, part by part, to say why they are left.
_LEFT_LOOKED_AT = 3000


@dataclass(frozen=True, slots=True)
class Savings:
    """The savings on one site."""

    urls: int  #: pages in the log
    keys: int  #: what a crawl with the rules would have fetched
    bytes: int  #: of all pages
    bytes_saved: int
    by_rule: Counter[Rule] = field(default_factory=Counter)  #: URLs; of several rules, each has the URL
    bytes_by_rule: Counter[Rule] = field(default_factory=Counter)

    @property
    def saved(self) -> int:
        """The number of URLs that need not be fetched."""
        return self.urls - self.keys


@dataclass(frozen=True, slots=True)
class Remaining:
    """The URLs of one site that would still be fetched although their text was seen, as far as texts tell."""

    urls: int  #: beside the first of each content
    why: Counter[Left]
    looked_at: int  #: so many URLs `why` is about
    pairs: tuple[tuple[str, str], ...]


def savings_of(pages: Sequence[Page], canonizer: Canonizer) -> Savings:
    """The URLs and bytes of *pages* that the rules of *canonizer* save, in all and for each rule."""
    classes: dict[str, list[Page]] = {}
    for page in pages:
        classes.setdefault(canonizer.canonize(page.url), []).append(page)
    by_rule: Counter[Rule] = Counter()
    bytes_by_rule: Counter[Rule] = Counter()
    bytes_saved = 0
    for keeper, *others in classes.values():
        for page in others:
            size = size_of(page)
            bytes_saved += size
            # The URL that is its own key is spared because the other one has become it.
            steps = canonizer.explain(page.url) or canonizer.explain(keeper.url)
            for rule in {step.rule for step in steps}:
                by_rule[rule] += 1
                bytes_by_rule[rule] += size
    return Savings(len(pages), len(classes), sum(map(size_of, pages)), bytes_saved, by_rule, bytes_by_rule)


def size_of(page: Page) -> int:
    """The size of *page* in bytes; 0 if unknown."""
    return sum(page.size) // 2 if page.size else 0


def remaining_of(pages: Iterable[Page], canonizer: Canonizer) -> Remaining:
    """The URLs whose text was seen under another key. Pages that changed their text in the log are left out."""
    truth: dict[str, Hashable] = {
        page.url: page.exact for page in pages if page.text_digest and not page.volatile
    }
    by_content: dict[Hashable, dict[str, str]] = {}
    for url, content in truth.items():
        by_content.setdefault(content, {}).setdefault(canonizer.canonize(url), url)
    again = [list(found.values()) for found in by_content.values() if len(found) > 1]
    again.sort(key=len)
    looked_at = _affordable_groups(again)
    pairs = tuple((urls[0], urls[1]) for urls in again[:PAIRS_SHOWN])
    return Remaining(
        sum(len(urls) - 1 for urls in again),
        leftovers(looked_at, truth, canonizer.canonize),
        len(looked_at),
        pairs,
    )


def _affordable_groups(groups: Iterable[Sequence[str]]) -> list[str]:
    """The URLs whose causes are found out: of all texts that many URLs share, and of as many others as there is time for."""
    found: list[str] = []
    compared = 0
    for urls in groups:
        if len(urls) < MANY:
            compared += len(urls)
            if compared > _LEFT_LOOKED_AT:
                continue
        found += urls
    return found
