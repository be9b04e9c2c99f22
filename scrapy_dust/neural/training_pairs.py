"""Makes training pairs: URLs of one page, each with the URL that stands for them (paper §2.2 and §2.3).

URLs are in one cluster whose pages have simhashes within three bits, and equal titles. Where a log has no simhash of
a page, or no title, only equal texts are one cluster. A redirect belongs to the page at its end. The URL that stands
for a cluster has the fewest tokens; of several, the one whose tokens more URLs have, and then the first in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from scrapy_dust.neural.simhashes import centres, parse_simhash
from scrapy_dust.neural.url_tokens import split_url
from scrapy_dust.neural.vocabulary import document_frequencies
from scrapy_dust.visits.pages import Page, SiteLog, with_redirects


def clusters_of(log: SiteLog) -> list[list[str]]:
    """The URLs of each page, in the log's order, lone URLs included. Pages that change are left out."""
    pages = [page for page in with_redirects(log) if not page.volatile]
    near = [
        (page, value) for page in pages if page.title and (value := parse_simhash(page.simhash)) is not None
    ]
    numbers = centres((page.title, value) for page, value in near)
    by_url: dict[str, Hashable] = {
        page.url: ("near", number) for (page, _), number in zip(near, numbers, strict=True)
    }
    members: dict[Hashable, list[str]] = {}
    for page in pages:
        members.setdefault(by_url.get(page.url) or _text_key(page), []).append(page.url)
    return list(members.values())


def _text_key(page: Page) -> Hashable:
    """A value that is equal for pages with equal texts; the URL where the log has no text."""
    return ("text", page.text_digest) if page.text_digest else ("url", page.url)


def targets_of(clusters: Sequence[Sequence[str]], *, singles: bool = False) -> dict[str, str]:
    """The URL that each URL is to be translated to. With *singles*, lone URLs stay as they are."""
    seen = document_frequencies(url for urls in clusters for url in urls)
    found: dict[str, str] = {}
    for urls in clusters:
        if len(urls) > 1:
            target = min(urls, key=lambda url: _target_rank(url, seen))
            found.update((url, target) for url in urls)
        elif singles:
            found[urls[0]] = urls[0]
    return found


def _target_rank(url: str, seen: Counter[str]) -> tuple[int, int, str]:
    """A sort key: the URL of a cluster with the least key is the one that stands for the others."""
    tokens = split_url(url)
    return len(tokens), -sum(seen[token] for token in tokens), url


def duplicates_in(targets: Mapping[str, str]) -> int:
    """The number of URLs in *targets* for which another URL stands."""
    return sum(url != target for url, target in targets.items())
