"""Says which pages of a crawl are worth another fetch: pages of one kind that have the words of others, and differ in the rest.

Two such pages are one page with a token that is new at each fetch, or they are different pages. Only another fetch of
the same URL can tell. A few fetches show whether anything changes; then a rule may be likely, and its URLs
wait. The rule comes into force when enough URLs have shown that the place surely changes at each fetch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping

from scrapy_dust.online.messages import Worth
from scrapy_dust.page.volatile import LEAST_SURE, LEAST_URLS
from scrapy_dust.visits.pages import SiteLog
from scrapy_dust.visits.strata import template_of

#: How many such pages of a kind are worth the first fetches; and how many are worth all that make a place surely volatile, whatever
#: they save.
_WORTH, _WORTH_ALL = 2 * LEAST_URLS, 2 * LEAST_SURE
#: URLs that are told: the crawl can fetch some of them only.
_TOLD = 100


def worth_another_fetch(log: SiteLog, shown_twice: Mapping[str, bool], urls: Iterable[str]) -> Worth:
    """The URLs of *log* to fetch another time, those of the most frequent kind first, of each kind the latest first.

    *shown_twice*: URLs that were fetched twice, and whether the two pages differed; *urls*: all URLs, in the order in
    which they came.
    """
    kinds: dict[str, dict[Hashable, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    pages = {page.url: page for page in log.pages if page.sketch and page.text_digest}
    for url in reversed(list(urls)):
        if (page := pages.get(url)) is not None:
            kinds[template_of(url)][page.sketch][url] = page.text_digest or ""
    found: list[str] = []
    least = 2 * LEAST_URLS
    for by_words in sorted(map(_alike, kinds.values()), key=lambda groups: -sum(map(len, groups))):
        alike = [url for part in (slice(2), slice(2, None)) for group in by_words for url in group[part]]
        if len(alike) >= _WORTH and _is_open(alike, shown_twice):
            # A few show whether anything changes; only then the others are worth it.
            changes = any(shown_twice.get(url, False) for url in alike)
            found += [url for url in alike[: None if changes else LEAST_URLS] if url not in shown_twice]
            if changes and len(alike) >= _WORTH_ALL:
                least = LEAST_SURE
    return Worth(found[:_TOLD], least)


def _alike(by_words: Mapping[Hashable, Mapping[str, str]]) -> list[list[str]]:
    """Groups of URLs of one kind whose pages have the same words and differ in the rest, for all that is known."""
    return [list(labels) for labels in by_words.values() if len(set(labels.values())) > 1]


def _is_open(urls: Iterable[str], shown_twice: Mapping[str, bool]) -> bool:
    """Whether another fetch can still show that pages of the kind change at each fetch."""
    differed = [shown_twice[url] for url in urls if url in shown_twice]
    return len(differed) < LEAST_SURE and (len(differed) < LEAST_URLS or any(differed))
