"""Finds in a log URLs that may show one page whose parts change at each fetch.

Two URLs of a site that share much of what few pages have, and differ in the rest, show one page with an advertisement
or a clock, or two pages with one long text. Only fetches can tell which. So the results prove nothing: they say which
pages to fetch twice, and which rules are worth a trial.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from scrapy_dust.page.knowledge import sifted
from scrapy_dust.page.places import Kind
from scrapy_dust.page.site_log import LogComparison, compared_for_proposals, comparison_of
from scrapy_dust.page.unitsets import UnitSet, is_of, set_of
from scrapy_dust.page.volatile import Volatile
from scrapy_dust.visits.pages import Page, SiteLog
from scrapy_dust.visits.strata import template_of

#: Pages of a site that are looked at: for suspects, and for groups of pages.
_LOOKED_AT, _GROUPED = 300, 20_000
#: Units of each that are looked at.
_UNITS = 200
#: Pages that share a unit: more of them have it from a template.
_MOST_SHARING = 6
#: Units that two pages must share at the least, and their share of all units of the page that has fewer.
_LEAST, _LEAST_SHARED = 2, 0.15
#: Suspects that are worth telling.
MOST_SUSPECTS = 12


def changing_suspects(log: SiteLog) -> Sequence[str]:
    """URLs of *log* that share much with another URL, and are not known to show the same page."""
    comparison = comparison_of(log)
    if comparison is None:
        return ()
    pages = [page for page in log.pages if _shows_something(page)]
    step = max(1, len(pages) // _LOOKED_AT)
    labels = {page.url: page.text_digest for page in pages}
    # Neighbours in a sorted list are most often aliases, where there are any.
    in_order = sorted(labels)
    urls = [url for begin in range(0, len(pages), 4 * step) for url in in_order[begin : begin + 4]]
    found: dict[str, None] = {}
    for url, other in _alike(_own_units(urls, comparison)):
        if labels[url] != labels[other]:
            found[url] = found[other] = None
        if len(found) >= MOST_SUSPECTS:
            break
    return tuple(found)


def grouped(log: SiteLog, volatile: Volatile) -> tuple[SiteLog, SiteLog]:
    """*log* in two versions: one for evidence, one for proposing rules.

    Pages may change in parts that have no place of their own. As evidence such pages count as changing, so that only
    fetches tell whether two of them are one. For proposals, pages that share much count as one page, and the parts
    that change on pages of the kind are left out.
    """
    comparison = comparison_of(log)
    if comparison is None:
        return log, log
    suggesting = compared_for_proposals(log)
    changing = [
        page
        for page in suggesting.pages
        if _shows_something(page) and volatile.changes_in_part(template_of(page.url))
    ][:_GROUPED]
    if not changing:
        return log, suggesting
    first = _first_of_each(_alike(_own_units([page.url for page in changing], comparison)))
    labels = {page.url: page.text_digest for page in changing}
    evidence = [replace(page, volatile=True) if page.url in labels else page for page in log.pages]
    proposals = [
        replace(page, text_digest=labels[first[page.url]]) if page.url in first else page
        for page in suggesting.pages
    ]
    return replace(log, pages=evidence), replace(suggesting, pages=proposals)


def _shows_something(page: Page) -> bool:
    """Whether *page* has units to compare and a known text."""
    return page.core is not None and page.text_digest is not None


def _own_units(urls: Iterable[str], comparison: LogComparison) -> dict[str, list[int]]:
    """For each page, its texts, pictures and values that count in comparisons."""
    found = {}
    for url in urls:
        answer = comparison.answer(url)
        if answer is not None:
            knowledge = comparison.knowledge
            units: UnitSet = sifted(set_of(answer.units), knowledge, knowledge.places_for(url)).units
            found[url] = units[is_of(units, Kind.TEXT, Kind.MEDIA, Kind.DATA)].tolist()[:_UNITS]
    return found


def _alike(own: Mapping[str, list[int]]) -> Iterator[tuple[str, str]]:
    """Pairs of URLs whose units in *own* have much in common that few pages have; pairs with most in common come
    first.
    """
    having: defaultdict[int, list[str]] = defaultdict(list)
    for url, units in own.items():
        for unit in units:
            having[unit].append(url)
    shared: Counter[tuple[str, str]] = Counter()
    for urls in having.values():
        if 2 <= len(urls) <= _MOST_SHARING:
            shared.update((urls[a], urls[b]) for a in range(len(urls)) for b in range(a + 1, len(urls)))
    for (url, other), count in shared.most_common():
        if count >= max(_LEAST, _LEAST_SHARED * min(len(own[url]), len(own[other]))):
            yield url, other


def _first_of_each(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """For each URL in *pairs*, the first URL of its group: pairs that share a URL belong to one group."""
    first: dict[str, str] = {}

    def find(url: str) -> str:
        """The first URL of the group of *url*. Shortens the way there for later calls."""
        while first.setdefault(url, url) != url:
            first[url] = first[first[url]]
            url = first[url]
        return url

    for url, other in pairs:
        one, two = sorted((find(url), find(other)))
        first[two] = one
    return {url: find(url) for url in list(first)}
