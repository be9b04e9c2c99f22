"""Which URLs begin with the same tokens, and which end with the same.

The prefixes of all URLs are a tree, as are their suffixes; sorted by their tokens, the URLs with one prefix stand
together. A prefix is known by its length and by the place of the first of its URLs in that order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from scrapy_dust.dust.sorting import edges_of, sorted_with_order
from scrapy_dust.dust.tokens import Tokens

if TYPE_CHECKING:
    from scrapy_dust.dust.tokens import Ids

Array = npt.NDArray[np.int64]
#: Any whole numbers; of URLs and tokens, 32 bits.
Numbers = npt.NDArray[np.signedinteger[Any]]


def shared_prefixes(
    ids: Ids, offsets: Array, places: Array | None = None
) -> Iterator[tuple[int, Array, Array]]:
    """For every length from 0 on: the URLs with a prefix so long that another URL has too, and the place of the
    first of these. Ordered by that. *places* gets the place of each URL that has come to share no prefix.
    """
    lengths = np.diff(offsets)
    vocabulary = int(ids.max(initial=0)) + 1
    alive, start = np.arange(len(lengths)), np.zeros(len(lengths), dtype=np.int64)
    depth = 0
    while len(alive) > 1:
        yield depth, alive, start
        longer = lengths[alive] > depth
        alive, start = alive[longer], start[longer]
        key, order = sorted_with_order(start * vocabulary + ids[offsets[alive] + depth])
        alive, edges, wider = alive[order], edges_of(key), edges_of(start)
        # `start` is in order, before and after: only what has one start is sorted anew.
        first = np.repeat(wider[:-1], np.diff(wider))
        sizes = np.diff(edges)
        start = np.repeat(start[edges[:-1]] + edges[:-1] - first[edges[:-1]], sizes)
        shared = np.repeat(sizes > 1, sizes)
        if places is not None:
            places[alive[~shared]] = start[~shared]
        alive, start = alive[shared], start[shared]
        depth += 1


class Suffixes:
    """The suffixes of URLs."""

    def __init__(self, tokens: Tokens) -> None:
        #: Per URL: where in `place` its suffixes begin, from the one of no tokens to the whole URL.
        self.first = tokens.offsets[:-1] + np.arange(len(tokens))
        #: Of each, the place of the first URL that has it: with its length, it is known by that.
        self.place: Numbers = np.full(len(tokens.ids) + len(tokens), -1, dtype=np.int32)
        #: Per URL: the length of the longest that another URL has too; -1: not even the empty one.
        self.deepest = np.full(len(tokens), -1, dtype=np.int64)
        places = np.zeros(len(tokens), dtype=np.int64)
        for depth, urls, start in shared_prefixes(_reversed(tokens), tokens.offsets, places):
            self.place[self.first[urls] + depth] = start
            self.deepest[urls] = depth
        alone = np.flatnonzero(self.place < 0)
        self.place[alone] = places[np.searchsorted(self.first, alone, side="right") - 1]

    def common(self, one: Array | Numbers, other: Array | Numbers, most: Array) -> Array:
        """How long a suffix each two URLs have in common, *most* at the most."""
        first, second = self.first[one], self.first[other]
        low, high = np.zeros(len(first), dtype=np.int64), most
        for _ in range(int(high.max(initial=0)).bit_length()):
            middle = (low + high + 1) >> 1
            is_common = self.place[first + middle] == self.place[second + middle]
            low = np.where(is_common, middle, low)
            high = np.where(is_common, high, middle - 1)
        return low


def _reversed(tokens: Tokens) -> Ids:
    """The ids of every URL from its end to its start, in the same places."""
    ends = np.repeat(tokens.offsets[:-1] + tokens.offsets[1:] - 1, tokens.lengths())
    ends -= np.arange(len(tokens.ids))
    backwards: Ids = tokens.ids[ends]
    return backwards
