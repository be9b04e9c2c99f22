"""Buckets: the substrings that share an envelope.

The envelope of a substring is what stands before and after it in its URL (paper §4). The paper writes a
table of all substrings with their envelopes and sorts it. Nothing of the kind is stored here:

- A prefix that no other URL has cannot be in a bucket of two, and neither can a suffix. Sharing is monotone:
  where a prefix is shared, so are all shorter ones. So the envelopes worth a look are, per URL, a rectangle:
  prefixes up to the longest shared one, suffixes likewise.
- Shared prefixes and suffixes get numbers, exact ones: equal numbers, equal tokens. An envelope is the pair
  of its numbers in one 64-bit key, and a bucket a run of equal keys. No text is made or compared.
- The keys are made and sorted in portions, so that memory does not grow with the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scrapy_dust.dust.tokens import Tokens

if TYPE_CHECKING:
    from scrapy_dust.dust.tokens import Ids

Array = npt.NDArray[np.int64]

#: Envelopes made at a time; a portion is larger only where one prefix alone has more. What is made of half a million
#: stays in the processor's cache: four million take a third more time.
PORTION = 500_000


@dataclass(frozen=True, slots=True)
class Buckets:
    """Some buckets of one size. Row *b* is a bucket; its members share prefix and suffix."""

    urls: Array  #: buckets × size: the URL of each member
    prefix: Array  #: per bucket: tokens before the substring
    suffix: Array  #: per bucket: tokens after it


def buckets(tokens: Tokens, longest: int, largest: int) -> Iterator[Buckets]:
    """All buckets of 2 to *largest* substrings of up to *longest* tokens, sizes mixed, each bucket once."""
    if len(tokens) < 2:
        return
    lengths = tokens.lengths()
    prefixes = shared_prefixes(tokens.ids, tokens.offsets)
    suffixes = shared_prefixes(_reversed(tokens), tokens.offsets)
    first = tokens.offsets[:-1] + np.arange(len(tokens))
    deepest_suffix = _shared_depth(suffixes, first, lengths)

    at = np.flatnonzero(prefixes >= 0)
    at = at[np.argsort(prefixes[at], kind="stable")]
    url = np.searchsorted(first, at, side="right") - 1
    before = at - first[url]
    # Suffixes of r tokens leave a substring of length n - before - r, which is at least 0 and at most S.
    least = np.maximum(0, lengths[url] - before - longest)
    most = np.minimum(deepest_suffix[url], lengths[url] - before)
    count = np.maximum(0, most - least + 1)
    for begin, end in _portions(prefixes[at], count):
        yield from _buckets_of(
            url[begin:end],
            before[begin:end],
            least[begin:end],
            count[begin:end],
            prefixes[at[begin:end]],
            suffixes,
            first,
            largest,
        )


def shared_prefixes(ids: Ids, offsets: Array) -> Array:
    """For every URL and every length 0…n, in one flat array: the number of that prefix, or -1 where no
    other URL begins with it. Equal numbers mean equal prefixes; numbers grow with the length.
    """
    lengths = np.diff(offsets)
    first = offsets[:-1] + np.arange(len(lengths))
    numbers = np.full(int(offsets[-1]) + len(lengths), -1, dtype=np.int64)
    vocabulary = int(ids.max(initial=0)) + 1
    alive = np.arange(len(lengths))
    group = np.zeros(len(lengths), dtype=np.int64)
    depth = taken = 0
    while len(alive) > 1:
        numbers[first[alive] + depth] = taken + group
        taken += int(group.max()) + 1
        longer = lengths[alive] > depth
        alive, group = alive[longer], group[longer]
        key = group * vocabulary + ids[offsets[alive] + depth]
        _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
        shared = counts > 1
        renumbered = np.cumsum(shared) - 1
        kept = shared[inverse]
        alive, group = alive[kept], renumbered[inverse[kept]]
        depth += 1
    return numbers


def _reversed(tokens: Tokens) -> Ids:
    """The ids of every URL from its end to its start, in the same places."""
    ends = np.repeat(tokens.offsets[:-1] + tokens.offsets[1:] - 1, tokens.lengths())
    backwards: Ids = tokens.ids[ends - np.arange(len(tokens.ids))]
    return backwards


def _shared_depth(numbers: Array, first: Array, lengths: Array) -> Array:
    """Per URL, the length of its longest shared prefix; -1 where not even the empty one is shared."""
    shared = np.concatenate(([0], np.cumsum(numbers >= 0)))
    depth: Array = shared[first + lengths + 1] - shared[first] - 1
    return depth


def _portions(prefix: Array, count: Array) -> Iterator[tuple[int, int]]:
    """Cut the sorted *prefix* array where it changes, so that each part makes about `PORTION` envelopes."""
    made = np.cumsum(count)
    starts = np.flatnonzero(np.concatenate(([True], prefix[1:] != prefix[:-1], [True])))
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


def _buckets_of(
    url: Array,
    before: Array,
    least: Array,
    count: Array,
    prefix: Array,
    suffixes: Array,
    first: Array,
    largest: int,
) -> Iterator[Buckets]:
    total = int(count.sum())
    if total < 2:
        return
    entry = np.repeat(np.arange(len(url)), count)
    ends = np.cumsum(count)
    after = least[entry] + np.arange(total) - (ends - count)[entry]
    key = ((prefix - prefix[0])[entry] << 32) | suffixes[first[url[entry]] + after]
    crowded = _not_alone(key)
    key, entry, after = key[crowded], entry[crowded], after[crowded]
    order = np.argsort(key, kind="stable")
    key = key[order]
    edges = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1], [True])))
    sizes = np.diff(edges)
    for size in range(2, largest + 1):
        rows = edges[:-1][sizes == size]
        if len(rows):
            members = order[rows[:, None] + np.arange(size)]
            head = members[:, 0]
            yield Buckets(urls=url[entry[members]], prefix=before[entry[head]], suffix=after[head])


def _not_alone(key: Array) -> npt.NDArray[np.bool_]:
    """False only for keys that stand alone: most do, and need no sorting. A small counting table."""
    bits = max(8, len(key).bit_length() + 1)
    slot = (key.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits)
    slot = slot.astype(np.int64)
    crowded: npt.NDArray[np.bool_] = (np.bincount(slot, minlength=1 << bits) > 1)[slot]
    return crowded
