"""Gives all methods the same clusters: makes a log whose pages tell only to which cluster they belong (SIGIR 2017,
section 3.1).

Each method compares contents in its own way: digests, sketches with titles, simhashes. These ways differ more than
the methods. In a labelled log, digest and sketch of a page stand for its label, and are equal exactly for pages with
one label; simhashes and titles are left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from scrapy_dust.learners.evaluation import Truth
from scrapy_dust.neural.training_pairs import clusters_of
from scrapy_dust.page.site_log import site_log
from scrapy_dust.visits.pages import Page, SiteLog, Visit


def labelled(log: SiteLog, labels: Mapping[str, Hashable]) -> SiteLog:
    """*log* with digest and sketch of each page made of its label in *labels*, by URL. A page without a label is like
    no other.
    """
    return replace(
        log, pages=[_labelled_page(page, labels.get(page.url)) for page in log.pages], comparing=None
    )


def _labelled_page(page: Page, label: Hashable | None) -> Page:
    """*page* with digest and sketch made of *label* alone; without a label, with neither."""
    digest = None if label is None else blake2b(repr(label).encode(), digest_size=28).digest()
    return Page(
        page.url,
        size=page.size,
        sketch=None
        if digest is None
        else tuple(int.from_bytes(digest[at : at + 7]) for at in range(0, 28, 7)),
        text_digest=None if digest is None else digest.hex(),
        outlinks=page.outlinks,
        content_type=page.content_type,
    )


def labels_by_simhash(visits: Mapping[str, Sequence[Visit]]) -> Truth:
    """The page of each URL by SIGIR 2017, section 2.2: pages are one if their titles are equal and their simhashes
    differ in three bits at most.
    """
    return {
        url: (site, number)
        for site, of_site in visits.items()
        for number, urls in enumerate(clusters_of(site_log(of_site)))
        for url in urls
    }
