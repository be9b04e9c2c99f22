"""Finds the parts of sketches that come from a site's template: hashes that many different pages have.

A log has no text, only the least hashes of each page's shingles. A hash that many pages of different text share comes
from the template around their contents, and does not make two pages alike. Henzinger (SIGIR 2006) found that
templates are why near-duplicate detection fails within a site.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from scrapy_dust.visits.pages import Page

#: Different texts to have seen before hashes are called template, and the share and number that must have one.
_TEXTS = 8
_SHARE, _LEAST = 0.05, 3


def template_hashes(pages: Iterable[Page]) -> frozenset[int]:
    """The hashes in sketches of *pages* that come from the site's template. Pages of equal text count once."""
    sketches = {page.text_digest: page.sketch for page in pages if page.sketch and page.text_digest}
    if len(sketches) < _TEXTS:
        return frozenset()
    frequency = Counter(value for sketch in sketches.values() for value in set(sketch))
    least = max(_LEAST, _SHARE * len(sketches))
    return frozenset(value for value, count in frequency.items() if count >= least)
