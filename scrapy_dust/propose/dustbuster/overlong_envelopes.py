"""Finds instances in envelopes whose buckets look small only because some of their substrings exceed S.

If a run of URLs has a substring that is too long, its bucket is smaller than the run, and may be within a limit that
the run exceeds. Then a longer envelope may have a larger bucket, so that growth from bare instances misses some. Such
envelopes are few where few URLs are long; they are made and sorted here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scrapy_dust.propose.dustbuster.envelopes import Layer, cut_places, packed, renumbered
from scrapy_dust.propose.dustbuster.instances import Instances
from scrapy_dust.propose.dustbuster.shared_affixes import Array, Numbers, Suffixes
from scrapy_dust.propose.dustbuster.sorting import edges_of, sorted_with_order
from scrapy_dust.propose.dustbuster.token_arrays import Tokens

#: Envelopes made together, more only where one prefix alone has more.
ENVELOPES = 500_000


def instances_beside_overlong(
    layer: Layer, tokens: Tokens, suffixes: Suffixes, longest: int, limits: tuple[int, int]
) -> Iterator[Instances]:
    """The instances that a limit on buckets admits only because the bucket lacks substrings that are longer than S."""
    rest = tokens.lengths()[layer.urls] - layer.depth
    if int(rest.max(initial=0)) <= longest:
        return
    crowded = [_longest_crowded_suffix(layer.common, limit) for limit in limits]
    # A suffix of r tokens leaves a substring of length rest - r.
    least = np.maximum(0, rest - longest)
    most = np.minimum(
        _longest_suffix_shared_with(np.flatnonzero(rest > longest), layer, rest, suffixes), crowded[0]
    )
    count = np.maximum(0, most - least + 1)
    prefix = np.cumsum(layer.common[:-1] == -1)
    for begin, end in cut_places(prefix, count, ENVELOPES):
        part = slice(begin, end)
        some = layer.urls[part], prefix[part], least[part], count[part], crowded[1][part]
        yield from _instances_of_envelopes(layer.depth, *some, suffixes, limits)


def _longest_crowded_suffix(common: Numbers, limit: int) -> Numbers:
    """For each URL, the longest suffix at which its run has more than *limit* URLs; -1 if there is none."""
    count = len(common) - 1
    found = np.full(count, -1, dtype=common.dtype)
    if count > limit:
        of_run = np.lib.stride_tricks.sliding_window_view(common[1:-1], limit).min(axis=1)
        for place in range(limit + 1):
            some = found[place : place + len(of_run)]
            np.maximum(some, of_run, out=some)
    return found


def _longest_suffix_shared_with(overlong: Array, layer: Layer, rest: Array, suffixes: Suffixes) -> Array:
    """For each URL, the longest suffix that it shares with one of *overlong* with the same prefix; -1 if there is none."""
    group = np.cumsum(layer.common[:-1] == -1)
    after = np.searchsorted(overlong, np.arange(len(group)))
    found = np.full(len(group), -1, dtype=np.int64)
    # In the order of their ends, nobody shares more than the next on either side.
    for other in (np.maximum(after - 1, 0), np.minimum(after, len(overlong) - 1)):
        nearest = overlong[other]
        rows = np.flatnonzero(group[nearest] == group)
        near = nearest[rows]
        shared = np.minimum(rest[rows], rest[near])
        apart = np.flatnonzero(rows != near)
        of_two = suffixes.common(layer.urls[rows[apart]], layer.urls[near[apart]])
        shared[apart] = np.minimum(shared[apart], of_two)
        found[rows] = np.maximum(found[rows], shared)
    return found


def _instances_of_envelopes(
    depth: int,
    urls: Numbers,
    prefix: Array,
    least: Array,
    count: Array,
    crowded: Numbers,
    suffixes: Suffixes,
    limits: tuple[int, int],
) -> Iterator[Instances]:
    """The instances in the envelopes of *urls* whose prefix has *depth* tokens and whose suffix has *least* tokens or
    more.

    *count*: the number of suffixes of each URL; *crowded*: see `_longest_crowded_suffix`.
    """
    total = int(count.sum())
    if total < 2:
        return
    suffix = np.arange(total) + np.repeat(least - (np.cumsum(count) - count), count)
    place = suffixes.place[np.repeat(suffixes.first[urls], count) + suffix].astype(np.int64)
    key, order = sorted_with_order(packed(packed(np.repeat(renumbered(prefix), count), place), suffix))
    edges = edges_of(key)
    sizes = np.diff(edges)
    row = np.repeat(np.arange(len(urls)), count)
    for size in range(2, limits[1] + 1):
        begin = edges[:-1][sizes == size]
        left, right = np.triu_indices(size, 1)
        a, b = (row[order[begin[:, None] + side]].ravel() for side in (left, right))
        of_pair = np.repeat(suffix[order[begin]], len(left))
        low, wide = np.full(len(a), size <= limits[0]), of_pair <= crowded[a]
        chosen = low | wide
        yield Instances(
            a=urls[a[chosen]],
            b=urls[b[chosen]],
            prefix=np.full(int(chosen.sum()), depth, dtype=np.int32),
            suffix=of_pair[chosen].astype(np.int32),
            low=low[chosen],
            wide=wide[chosen],
        )


def bare_of(instances: Instances, tokens: Tokens) -> tuple[Numbers, Numbers]:
    """The lengths of prefix and suffix of the shortest instances from which *instances* would grow."""
    ids, begin, end = tokens.ids, tokens.offsets[:-1], tokens.offsets[1:]
    lengths = tokens.lengths()
    prefix, suffix = instances.prefix.copy(), instances.suffix.copy()
    shorter = np.minimum(lengths[instances.a], lengths[instances.b])
    for grown, first, second, step in (
        (prefix, begin[instances.a], begin[instances.b], 1),
        (suffix, end[instances.a] - 1, end[instances.b] - 1, -1),
    ):
        rows = np.flatnonzero(prefix + suffix < shorter)
        while len(rows):
            at = step * grown[rows].astype(np.int64)
            rows = rows[ids[first[rows] + at] == ids[second[rows] + at]]
            grown[rows] += 1
            rows = rows[(prefix + suffix)[rows] < shorter[rows]]
    return prefix, suffix
