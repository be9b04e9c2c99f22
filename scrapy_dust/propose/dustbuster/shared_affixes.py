"""Finds which URLs begin with the same tokens, and which end with the same.

The prefixes of the URLs of a site are a tree, as are their suffixes. URLs are numbered in the order of their tokens
from the last to the first (`sort_from_end`). So URLs with one suffix have consecutive numbers, and the common ending
of two URLs is the shortest common ending of neighbours between them. URLs that are processed together are near in
memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scrapy_dust.propose.dustbuster.sorting import edges_of, sorted_with_order
from scrapy_dust.propose.dustbuster.token_arrays import Tokens

Array = npt.NDArray[np.int64]
#: Any whole numbers; of URLs and tokens, 32 bits.
Numbers = npt.NDArray[np.signedinteger[Any]]
Heights = npt.NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True)
class Shared:
    """The URLs whose first tokens, or last tokens, another URL of the site has too, for one number of tokens."""

    depth: int  #: so many
    urls: Array  #: those that have the same together, and among these the lesser numbers first
    start: Array  #: per URL: the place of the first that has the same, among the site's URLs sorted by their tokens
    edges: Array  #: where those begin that have the same


def shared_prefixes(tokens: Tokens, sites: Array) -> Iterator[Shared]:
    """The shared prefixes of every length. *sites*: the number of the first URL of each site, and of all URLs."""
    return _shared_beginnings(tokens, sites, tokens.offsets[:-1], 1, np.empty(len(tokens), dtype=np.int64))


def _shared_beginnings(
    tokens: Tokens, sites: Array, begin: Array, step: int, places: Array
) -> Iterator[Shared]:
    """The beginnings that URLs share from token *begin* on, in the direction of *step*.

    *places* receives the place of each URL when the URLs of each site are sorted by these tokens.
    """
    ids, lengths = tokens.ids, tokens.lengths()
    vocabulary = int(ids.max(initial=0)) + 1
    urls, sizes = np.arange(len(tokens)), np.diff(sites)
    start = np.repeat(sites[:-1], sizes)
    places[:] = start
    shared = np.repeat(sizes > 1, sizes)
    urls, start = urls[shared], start[shared]
    depth = 0
    while len(urls):
        edges = edges_of(start)
        yield Shared(depth, urls, start, edges)
        longer = lengths[urls] > depth
        if not longer.all():
            places[urls[~longer]] = start[~longer]
            urls, start = urls[longer], start[longer]
            edges = edges_of(start)
        key = start * vocabulary + ids[begin[urls] + step * depth]
        if (key[1:] < key[:-1]).any():
            key, order = sorted_with_order(key)
            urls = urls[order]
        # `start` is in order, before and after: only what has one start is sorted anew.
        first, wider = np.repeat(edges[:-1], np.diff(edges)), edges_of(key)
        sizes = np.diff(wider)
        start = np.repeat(start[wider[:-1]] + wider[:-1] - first[wider[:-1]], sizes)
        shared = np.repeat(sizes > 1, sizes)
        places[urls[~shared]] = start[~shared]
        urls, start = urls[shared], start[shared]
        depth += 1


def sort_from_end(tokens: Tokens, sites: Array) -> tuple[Array, Heights]:
    """The order of all URLs, sorted by their last tokens site by site, and how many each shares with the one before."""
    common: Heights = np.zeros(len(tokens), dtype=np.min_scalar_type(int(tokens.lengths().max(initial=0))))
    places = np.empty(len(tokens), dtype=np.int64)
    for shared in _shared_beginnings(tokens, sites, tokens.offsets[1:] - 1, -1, places):
        edges = shared.edges
        place = np.arange(len(shared.urls)) + np.repeat(shared.start[edges[:-1]] - edges[:-1], np.diff(edges))
        place[edges[:-1]] = -1
        common[place[place >= 0]] = shared.depth
    return sorted_with_order(places)[1], common


class Suffixes:
    """The suffixes of URLs that are numbered in the order of `sort_from_end`."""

    def __init__(self, tokens: Tokens, common: Heights) -> None:
        self._common = common
        count = len(tokens)
        #: Per URL: where in `place` its suffixes begin, from the one of no tokens to the whole URL.
        self.first = tokens.offsets[:-1] + np.arange(count)
        #: For each suffix, the first URL that has it; this URL and the length identify the suffix.
        self.place: Numbers = np.repeat(np.arange(count, dtype=np.int32), tokens.lengths() + 1)
        shared = np.maximum(common, np.append(common[1:], common[:0].dtype.type(0))[:count])
        urls, depth = np.arange(count), 0
        while len(urls):
            begins = common[urls] < depth
            begins[0] = True
            sizes = np.diff(np.append(np.flatnonzero(begins), len(urls)))
            self.place[self.first[urls] + depth] = np.repeat(urls[begins], sizes)
            depth += 1
            urls = urls[shared[urls] >= depth]
        self._least, self._level = _range_minima(common)

    def common(self, one: Array | Numbers, other: Array | Numbers) -> Array:
        """The length of the suffix that two different URLs of a site share."""
        low, high = np.minimum(one, other), np.maximum(one, other)
        # The least of a range is that of two ranges that cover it and are as long as a power of two.
        level = self._level[high - low]
        base = level * len(self._level)
        found: Array = np.minimum(
            self._least[base + low + 1], self._least[base + high + 1 - (1 << level)]
        ).astype(np.int64)
        return found


def _range_minima(values: Heights) -> tuple[Heights, Array]:
    """For each k the least of 2ᵏ *values* from each position on; and for each length the greatest k that fits."""
    level = np.zeros(len(values) + 1, dtype=np.int64)
    levels = [np.append(values, values[:1])] if len(values) else [values]
    width = 1
    while 2 * width <= len(values):
        before = levels[-1]
        levels.append(before.copy())
        np.minimum(before[:-width], before[width:], out=levels[-1][:-width])
        width *= 2
        level[width:] += 1
    return np.concatenate(levels), level
