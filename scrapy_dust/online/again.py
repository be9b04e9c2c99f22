"""Says which pages of a crawl are worth another fetch: pages of one kind that have the words of others, and differ in the rest.

Two such pages are one page with a token that is new at each fetch, or they are different pages. Only another fetch of
the same URL can tell. A few fetches show whether anything changes; then a rule may be likely, and what it speaks of
waits. It takes as many URLs as make a place surely volatile for the rule to come into force.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping

from scrapy_dust.page.volatile import LEAST_SURE, LEAST_URLS
from scrapy_dust.visits.pages import SiteLog
from scrapy_dust.visits.strata import template_of

#: Such pages of a kind that are worth the first fetches.
_WORTH = 2 * LEAST_URLS
#: URLs that are told: the crawl can fetch some of them only.
_TOLD = 100


def worth_another_fetch(log: SiteLog, shown_twice: Mapping[str, bool], urls: Iterable[str]) -> list[str]:
    """The URLs of *log* to fetch another time, those of the most frequent kind first, of each kind the latest first.

    *shown_twice*: URLs that were fetched twice, and whether the two pages differed; *urls*: all URLs, in the order in
    which they came.
    """
    kinds: dict[str, dict[Hashable, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for page in log.pages:
        if page.sketch and page.text_digest:
            kinds[template_of(page.url)][page.sketch][page.url] = page.text_digest
    kept = [
        [url for labels in by_words.values() if len(set(labels.values())) > 1 for url in labels]
        for by_words in kinds.values()
    ]
    place = {url: number for number, url in enumerate(urls)}
    found: list[str] = []
    for alike in sorted(kept, key=len, reverse=True):
        if len(alike) >= _WORTH and _is_open(alike, shown_twice):
            # A few show whether anything changes; only then the others are worth it.
            changes = any(shown_twice.get(url, False) for url in alike)
            latest = sorted(alike, key=lambda url: -place.get(url, 0))
            chosen = latest if changes else latest[:LEAST_URLS]
            found += [url for url in chosen if url not in shown_twice]
    return found[:_TOLD]


def _is_open(urls: Iterable[str], shown_twice: Mapping[str, bool]) -> bool:
    """Whether another fetch can still show that pages of the kind change at each fetch."""
    differed = [shown_twice[url] for url in urls if url in shown_twice]
    return len(differed) < LEAST_SURE and (len(differed) < LEAST_URLS or any(differed))
