"""Finds pages that are one content although a few of their words differ, such as a date or a counter.

Two pages are nearly equal when their titles are equal and their sketches agree, if the sketches show more than the
site's template. One such pair proves little: within a site, pages of one template look alike (Henzinger, SIGIR 2006),
and on one shop half of such pairs are different pages.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from scrapy_dust.visits.pages import Page, SiteLog, with_redirects
from scrapy_dust.visits.template_hashes import template_hashes

_FULL = 4  #: hashes of a sketch, below which only equal texts are one content
_OWN = 2  #: of them that no template explains


def near_contents(log: SiteLog) -> dict[str, Hashable | None]:
    """The content of each URL; None for a URL whose content changes."""
    template = template_hashes(log.pages)
    pages = {page.url: page for page in log.pages}
    return {
        page.url: None if page.volatile else _content_name(_self_named_original(page, pages), template)
        for page in with_redirects(log)
    }


def _self_named_original(page: Page, pages: Mapping[str, Page]) -> Page:
    """The page that the site itself names as the same, where title and half of the sketch agree; else *page*."""
    other = pages.get(page.canonical or "")
    if other is None or other.volatile or other.title != page.title:
        return page
    agreeing = sum(x == y for x, y in zip(page.sketch or (), other.sketch or (), strict=False))
    return other if agreeing >= _FULL - _OWN else page


def _content_name(page: Page, template: frozenset[int]) -> Hashable:
    """A value that is equal for nearly equal pages; the digest where the sketch shows little beside the *template*."""
    sketch = page.sketch or ()
    if len(sketch) < _FULL or len(template.intersection(sketch)) > _FULL - _OWN:
        return page.text_digest
    return sketch, page.title
