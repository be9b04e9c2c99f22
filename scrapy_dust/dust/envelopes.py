"""Buckets: the substrings that share an envelope.

The envelope of a substring is what stands before and after it in its URL (paper §4). The paper writes a
table of all substrings with their envelopes and sorts it. Nothing of the kind is stored here:

- A prefix that no other URL has cannot be in a bucket of two, and neither can a suffix. Sharing is monotone:
  where a prefix is shared, so are all shorter ones. So the envelopes worth a look are, per URL, a rectangle:
  prefixes up to the longest shared one, suffixes likewise.
- Shared suffixes get numbers, exact ones: equal numbers, equal tokens. Prefixes are gone through by their length,
  and those of one length are numbered alike. An envelope is the pair of its numbers in one 64-bit key, and a bucket
  a run of equal keys. No text is made or compared.
- The keys are made and sorted in portions, so that memory does not grow with the envelopes: of each token, one
  number is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scrapy_dust.dust.sorting import edges_of, sorted_with_order
from scrapy_dust.dust.tokens import Tokens

if TYPE_CHECKING:
    from scrapy_dust.dust.tokens import Ids

Array = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]

#: Envelopes made at a time; a portion is larger only where one prefix alone has more. What is made of half a million
#: stays in the processor's cache: four million take a third more time.
PORTION = 500_000


@dataclass(frozen=True, slots=True)
class Buckets:
    """Some buckets of one size. Row *b* is a bucket; its members share prefix and suffix."""

    urls: Numbers  #: buckets × size: the URL of each member, ascending
    prefix: int  #: tokens before the substrings
    suffix: Numbers  #: per bucket: tokens after it


def buckets(tokens: Tokens, longest: int, largest: int) -> Iterator[Buckets]:
    """All buckets of 2 to *largest* substrings of up to *longest* tokens, sizes mixed, each bucket once."""
    lengths = tokens.lengths()
    suffixes, deepest = _shared_suffixes(tokens)
    for depth, urls, prefix in shared_prefixes(tokens.ids, tokens.offsets):
        # Suffixes of r tokens leave a substring of length n - depth - r, which is at least 0 and at most S.
        least = np.maximum(0, lengths[urls] - depth - longest)
        most = np.minimum(deepest[urls], lengths[urls] - depth)
        count = np.maximum(0, most - least + 1)
        first = _first(tokens.offsets)[urls] + least
        for begin, end in _portions(prefix, count):
            part = slice(begin, end)
            envelopes = _Envelopes(depth, urls[part], prefix[part], first[part], least[part], count[part])
            yield from _buckets_of(envelopes, suffixes, largest)


def shared_prefixes(ids: Ids, offsets: Array) -> Iterator[tuple[int, Array, Array]]:
    """For every length from 0 on: the URLs with a prefix so long that another URL has too, and its number. Equal
    numbers mean equal prefixes. Ordered by number, then by URL.
    """
    lengths = np.diff(offsets)
    vocabulary = int(ids.max(initial=0)) + 1
    alive, group = np.arange(len(lengths)), np.zeros(len(lengths), dtype=np.int64)
    depth = 0
    while len(alive) > 1:
        yield depth, alive, group
        longer = lengths[alive] > depth
        alive, group = alive[longer], group[longer]
        key, order = sorted_with_order(group * vocabulary + ids[offsets[alive] + depth])
        edges = edges_of(key)
        sizes = np.diff(edges)
        shared = sizes > 1
        alive = alive[order[np.repeat(shared, sizes)]]
        group = np.repeat(np.arange(np.count_nonzero(shared)), sizes[shared])
        depth += 1


def _first(offsets: Array) -> Array:
    """Where, in an array of a number for each length 0…n of each URL, those of each URL begin."""
    return offsets[:-1] + np.arange(len(offsets) - 1)


def _shared_suffixes(tokens: Tokens) -> tuple[Numbers, Array]:
    """For every URL and every length 0…n, in one flat array: the number of that suffix, where it is shared.
    And, per URL, the length of the longest; -1 where not even the empty one is shared.
    """
    numbers = np.full(len(tokens.ids) + len(tokens), -1, dtype=np.int32)
    deepest = np.full(len(tokens), -1, dtype=np.int64)
    first, taken = _first(tokens.offsets), 0
    for depth, urls, suffix in shared_prefixes(_reversed(tokens), tokens.offsets):
        numbers[first[urls] + depth] = taken + suffix
        taken += int(suffix[-1]) + 1
        deepest[urls] = depth
    return numbers, deepest


def _reversed(tokens: Tokens) -> Ids:
    """The ids of every URL from its end to its start, in the same places."""
    ends = np.repeat(tokens.offsets[:-1] + tokens.offsets[1:] - 1, tokens.lengths())
    ends -= np.arange(len(tokens.ids))
    backwards: Ids = tokens.ids[ends]
    return backwards


def _portions(prefix: Array, count: Array) -> Iterator[tuple[int, int]]:
    """Cut the sorted *prefix* array where it changes, so that each part makes about `PORTION` envelopes."""
    made = np.cumsum(count)
    starts = edges_of(prefix)
    begin = 0
    while begin < len(prefix):
        already = int(made[begin - 1]) if begin else 0
        reach = int(np.searchsorted(made, already + PORTION, side="right"))
        cut = int(np.searchsorted(starts, max(reach, begin + 1), side="right")) - 1
        end = int(starts[cut])
        if end <= begin:
            end = int(starts[cut + 1])
        yield begin, end
        begin = end


@dataclass(frozen=True, slots=True)
class _Envelopes:
    """Of some URLs, with prefixes of one length, ordered by prefix: each with suffixes of *count* lengths."""

    depth: int
    urls: Array
    prefix: Array
    first: Array  #: where the number of the shortest suffix stands
    least: Array  #: its length
    count: Array


def _buckets_of(some: _Envelopes, suffixes: Numbers, largest: int) -> Iterator[Buckets]:
    total = int(some.count.sum())
    if total < 2:
        return
    begins = np.cumsum(some.count) - some.count
    at = np.arange(total)
    at += np.repeat(some.first - begins, some.count)
    suffix = suffixes[at].astype(np.int64)
    suffix += np.repeat((some.prefix - some.prefix[0]) << int(suffix.max()).bit_length(), some.count)
    key, order = sorted_with_order(suffix)
    edges = edges_of(key)
    sizes = np.diff(edges)
    fitting = (sizes > 1) & (sizes <= largest)
    starts, sizes = edges[:-1][fitting], sizes[fitting]
    url = np.repeat(np.arange(len(some.urls), dtype=np.int32), some.count)
    for size in range(2, largest + 1):
        rows = starts[sizes == size]
        if len(rows):
            members = url[order[rows[:, None] + np.arange(size)]]
            head = members[:, 0]
            length = at[order[rows]] - some.first[head] + some.least[head]
            yield Buckets(some.urls[members].astype(np.int32), some.depth, length.astype(np.int32))
