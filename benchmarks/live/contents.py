"""How many different contents a crawl has got."""

from __future__ import annotations

from collections import Counter, defaultdict

from benchmarks.live.crawls import Crawl, Page

#: A place is volatile where so many of the URLs that were fetched twice filled it differently.
_VOLATILE = 0.05
#: What makes a content, beside a rule's own traces in links and forms.
_CONTENT = {"text", "media", "binary"}


def volatile_places(*crawls: Crawl) -> frozenset[str]:
    """Places that two crawls without rules found filled differently under one URL."""
    by_url: dict[str, list[Page]] = defaultdict(list)
    for crawl in crawls:
        for page in crawl.pages:
            by_url[page.asked].append(page)
    held, changed = Counter[str](), Counter[str]()
    for one, *others in by_url.values():
        for other in others[:1]:
            first, second = (Counter((place, what) for _, place, what in page.units) for page in (one, other))
            held.update({place for place, _ in first})
            changed.update({place for place, _ in (first - second) + (second - first)})
    return frozenset(place for place, times in changed.items() if times > _VOLATILE * max(held[place], 1))


def contents(crawl: Crawl, volatile: frozenset[str]) -> int:
    """Different texts with their media; links, fields and data are no part of this count."""
    return len({_content(page, volatile) for page in crawl.pages})


def _content(page: Page, volatile: frozenset[str]) -> frozenset[str]:
    return frozenset(what for kind, place, what in page.units if kind in _CONTENT and place not in volatile)
