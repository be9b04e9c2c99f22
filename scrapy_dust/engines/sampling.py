"""Chooses a part of a site in which URLs with one content stay together, and computes what the part may miss.

The digest of the content decides, if the log has one; else the folder of the URL without its host, since most copies
differ in their host, their last segment or their query. The choice depends on the log alone.
"""

from __future__ import annotations

from hashlib import blake2b
from math import comb

from scrapy_dust.visits.pages import Visit

#: How sure one may be that a rule is found that shows itself often enough.
_SURE = 0.95


def is_in(visit: Visit, share: float) -> bool:
    """Whether *visit* belongs to the chosen part, which is a *share* of the site."""
    key = visit.text_digest or visit.digest or _folder(visit.url)
    hashed = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(hashed) < share * 2**64


def _folder(url: str) -> str:
    """The path of *url* up to its last slash, without the host."""
    path = url.partition("://")[2].partition("?")[0].partition("#")[0].partition("/")[2]
    return path.rpartition("/")[0]


def instances_needed(share: float, least: int) -> int:
    """How many contents must confirm a rule so that, with 95 %, at least *least* of them are in the part.

    Contents are chosen independently, so their number is binomial.
    """
    low, high = least, least
    while _probability_of_too_few(high, share, least) > 1 - _SURE:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        if _probability_of_too_few(middle, share, least) > 1 - _SURE:
            low = middle + 1
        else:
            high = middle
    return low


def _probability_of_too_few(contents: int, share: float, least: int) -> float:
    """The probability that fewer than *least* of so many *contents* are in the part, which is a *share* of all."""
    return sum(
        comb(contents, count) * share**count * (1 - share) ** (contents - count) for count in range(least)
    )
