"""Finds the clusters of a training log: URLs that show the same page. Most of the published methods learn from them.

Their papers made clusters from content: KDD'08 and WSDM'10 from shingles, SIGIR'17 from sketches plus equal titles,
"prioritizing precision". Here: all hashes of the sketch and the title are equal, or the digest is where a page has no
sketch. A redirect belongs to the page at its end. Two pages that are like a third one need not be in one cluster.
"""

from __future__ import annotations

from collections.abc import Hashable

from scrapy_dust.visits.pages import Page, SiteLog, with_redirects

#: Hashes of a whole sketch. Equal sketches of pages with fewer shingles say little.
_FULL = 4


def clusters_of(log: SiteLog) -> dict[str, Hashable]:
    """A label for each URL of *log*, equal for URLs of one cluster; a page of which nothing is known is alone."""
    return {page.url: content_of(page) for page in with_redirects(log)}


def content_of(page: Page) -> Hashable:
    """A value that is equal for pages of one cluster: sketch and title, else the digest of the text, else the URL."""
    if page.sketch and len(page.sketch) >= _FULL:
        return page.sketch, page.title
    return page.text_digest or page.url


def duplicate_clusters(clusters: dict[str, Hashable]) -> list[list[str]]:
    """The clusters of two URLs and more, in the log's order."""
    members: dict[Hashable, list[str]] = {}
    for url, cluster in clusters.items():
        members.setdefault(cluster, []).append(url)
    return [urls for urls in members.values() if len(urls) > 1]
