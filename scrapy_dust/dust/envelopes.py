"""Buckets: the substrings that share an envelope.

The envelope of a substring is what stands before and after it in its URL (paper §4). The paper writes a
table of all substrings with their envelopes and sorts it. Nothing of the kind is stored here:

- A prefix that no other URL has cannot be in a bucket of two. Sharing is monotone: where a prefix is shared, so are
  all shorter ones. So prefixes are gone through by their length, as long as they are shared.
- What URLs with one prefix have after it is sorted from the end. Then a bucket is a run of neighbours that have so
  many of their last tokens in common, and their neighbours on both sides have not. The longer the suffix, the
  fewer they are: one run is a bucket for all suffixes longer than what it has in common with its neighbours, up to
  what is common to all in it. No envelope is looked at that makes no bucket: most stand alone, or overflow.
- That holds where no substring is longer than S. Where one is, all envelopes are made and sorted.

No text is made or compared, and work is done in portions: of each token, one number is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scrapy_dust.dust.sharing import Array, Numbers, Suffixes, shared_prefixes
from scrapy_dust.dust.sorting import edges_of, sorted_with_order
from scrapy_dust.dust.tokens import Tokens

#: URLs looked at together, and envelopes made together; more only where one prefix alone has more. What is made of
#: so many stays in the processor's cache.
URLS, ENVELOPES = 50_000, 500_000


@dataclass(frozen=True, slots=True)
class Buckets:
    """Some buckets of one size. Row *b* is a bucket; its members share prefix and suffix."""

    urls: Numbers  #: buckets × size: the URL of each member
    prefix: int  #: tokens before the substrings
    suffix: Numbers  #: per bucket: tokens after it


@dataclass(frozen=True, slots=True)
class _Prefixed:
    """URLs with shared prefixes of one length, those with the same prefix together."""

    depth: int
    urls: Array
    prefix: Array
    rest: Array  #: tokens after it

    def part(self, begin: int, end: int) -> _Prefixed:
        part = slice(begin, end)
        return _Prefixed(self.depth, self.urls[part], self.prefix[part], self.rest[part])


def buckets(tokens: Tokens, longest: int, largest: int) -> Iterator[Buckets]:
    """All buckets of 2 to *largest* substrings of up to *longest* tokens, sizes mixed, each bucket once."""
    lengths, suffixes = tokens.lengths(), Suffixes(tokens)
    for depth, urls, prefix in shared_prefixes(tokens.ids, tokens.offsets):
        some = _Prefixed(depth, urls, prefix, lengths[urls] - depth)
        for begin, end in _portions(prefix, np.ones(len(urls), dtype=np.int64), URLS):
            part = some.part(begin, end)
            if int(part.rest.max()) <= longest:
                yield from _runs(part, suffixes, largest)
            else:
                yield from _by_envelopes(part, suffixes, longest, largest)


def _portions(prefix: Array, count: Array, together: int) -> Iterator[tuple[int, int]]:
    """Cut the sorted *prefix* array where it changes, so that each part makes about *together* of *count*."""
    made = np.cumsum(count)
    starts = edges_of(prefix)
    begin = 0
    while begin < len(prefix):
        already = int(made[begin - 1]) if begin else 0
        reach = int(np.searchsorted(made, already + together, side="right"))
        cut = int(np.searchsorted(starts, max(reach, begin + 1), side="right")) - 1
        end = int(starts[cut])
        if end <= begin:
            end = int(starts[cut + 1])
        yield begin, end
        begin = end


def _runs(some: _Prefixed, suffixes: Suffixes, largest: int) -> Iterator[Buckets]:
    """Buckets of substrings none of which is too long."""
    # A rest that is the end of another stands before it.
    place = suffixes.place[suffixes.first[some.urls] + some.rest].astype(np.int64)
    key = _packed(_packed(_counted(some.prefix), place), some.rest)
    _, order = sorted_with_order(key)
    urls = some.urls[order]
    common = _common_suffixes(urls, some.rest[order], some.prefix[order], suffixes)
    count, within = len(urls), common[1:-1]
    for size in range(2, min(largest, count) + 1):
        if size > 2:
            within = np.minimum(within[:-1], common[size - 1 : count])
        outside = np.maximum(common[: count - size + 1], common[size:])
        rows = np.flatnonzero(within > outside)
        if len(rows):
            times = within[rows] - outside[rows]
            suffix = np.repeat(outside[rows] + 1 - (np.cumsum(times) - times), times) + np.arange(times.sum())
            members = urls[rows[:, None] + np.arange(size)].astype(np.int32)
            yield Buckets(np.repeat(members, times, axis=0), some.depth, suffix.astype(np.int32))


def _counted(ascending: Array) -> Array:
    """0, 1, 2… in the place of the different numbers: as few bits as can be."""
    sizes = np.diff(edges_of(ascending))
    return np.repeat(np.arange(len(sizes)), sizes)


def _packed(upper: Array, lower: Array) -> Array:
    return (upper << int(lower.max(initial=0)).bit_length()) | lower


def _common_suffixes(urls: Array, rest: Array, prefix: Array, suffixes: Suffixes) -> Numbers:
    """How long a suffix of their rests each has in common with the one before it; -1 where it has another prefix,
    and for the first, and after the last.
    """
    first, place = suffixes.first[urls], suffixes.place
    one, other = first[:-1], first[1:]
    low, high = np.zeros(len(one), dtype=np.int64), np.minimum(rest[:-1], rest[1:])
    for _ in range(int(high.max(initial=0)).bit_length()):
        middle = (low + high + 1) >> 1
        is_common = place[one + middle] == place[other + middle]
        low = np.where(is_common, middle, low)
        high = np.where(is_common, high, middle - 1)
    common = np.full(len(urls) + 1, -1, dtype=np.int32)
    common[1:-1] = np.where(prefix[:-1] == prefix[1:], low, -1)
    return common


def _by_envelopes(some: _Prefixed, suffixes: Suffixes, longest: int, largest: int) -> Iterator[Buckets]:
    """Buckets of substrings some of which are too long, and in none."""
    # Suffixes of r tokens leave a substring of length rest - r, which is at least 0 and at most S.
    least = np.maximum(0, some.rest - longest)
    most = np.minimum(suffixes.deepest[some.urls], some.rest)
    count = np.maximum(0, most - least + 1)
    for begin, end in _portions(some.prefix, count, ENVELOPES):
        yield from _sorted_envelopes(
            some.part(begin, end), suffixes, least[begin:end], count[begin:end], largest
        )


def _sorted_envelopes(
    some: _Prefixed, suffixes: Suffixes, least: Array, count: Array, largest: int
) -> Iterator[Buckets]:
    total = int(count.sum())
    if total < 2:
        return
    suffix = np.arange(total) + np.repeat(least - (np.cumsum(count) - count), count)
    place = suffixes.place[np.repeat(suffixes.first[some.urls], count) + suffix].astype(np.int64)
    key = _packed(_packed(np.repeat(_counted(some.prefix), count), place), suffix)
    key, order = sorted_with_order(key)
    edges = edges_of(key)
    sizes = np.diff(edges)
    url = np.repeat(some.urls, count)
    for size in range(2, largest + 1):
        rows = edges[:-1][sizes == size]
        if len(rows):
            members = url[order[rows[:, None] + np.arange(size)]]
            yield Buckets(members.astype(np.int32), some.depth, suffix[order[rows]].astype(np.int32))
