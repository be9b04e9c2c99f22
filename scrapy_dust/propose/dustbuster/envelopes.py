"""Finds envelopes that substrings share, and the shortest instances in them.

The envelope of a substring is what stands before and after it in its URL (paper §4); the substrings with one envelope
are its bucket. The paper writes a table of all substrings with their envelopes and sorts it. No such table is made:

- A prefix that no other URL has cannot be in a bucket of two. Where a prefix is shared, so are all shorter ones. So
  prefixes are processed by their length, as long as they are shared: each length is a layer.
- The rests of URLs with one prefix are sorted from the end. Then a bucket is a run of neighbours that have so
  many of their last tokens in common, and whose neighbours on both sides have not.
- An instance is bare when its two substrings neither begin nor end alike. All others are bare ones with some of the
  envelope added to both substrings (`growth`), so only the bare ones are looked for here.

A run is a bucket if none of its substrings is longer than S; `overlong_envelopes` handles the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from scrapy_dust.propose.dustbuster.instances import Instances
from scrapy_dust.propose.dustbuster.shared_affixes import Array, Numbers, Suffixes, shared_prefixes
from scrapy_dust.propose.dustbuster.sorting import edges_of, sorted_with_order
from scrapy_dust.propose.dustbuster.token_arrays import Tokens

#: URLs sorted together, more only where one prefix alone has more: so many stay in the processor's cache.
URLS = 50_000


@dataclass(frozen=True, slots=True)
class Layer:
    """The URLs with shared prefixes of one length: those with one prefix together, sorted from the end."""

    depth: int  #: tokens in the prefix
    urls: Numbers
    #: How long a suffix of what follows the prefix each has in common with the URL before it; -1 where that one has
    #: another prefix, for the first, and after the last.
    common: Numbers


def layers(tokens: Tokens, sites: Array, suffixes: Suffixes) -> Iterator[Layer]:
    """The layers, ascending: each has the prefixes of one length that several URLs share. *sites*: see `shared_prefixes`."""
    lengths = tokens.lengths()
    height: type[np.signedinteger[Any]] = (
        np.int16 if int(lengths.max(initial=0)) < np.iinfo(np.int16).max else np.int32
    )
    for shared in shared_prefixes(tokens, sites):
        urls, prefix = shared.urls, shared.start
        ordered: Numbers = np.empty(len(urls), dtype=np.int32)
        common: Numbers = np.full(len(urls) + 1, -1, dtype=height)
        for begin, end in cut_places(prefix, np.ones(len(urls), dtype=np.int64), URLS):
            some = urls[begin:end], prefix[begin:end], lengths[urls[begin:end]] - shared.depth
            ordered[begin:end], common[begin + 1 : end] = _sort_from_end(*some, suffixes)
        yield Layer(shared.depth, ordered, common)


def cut_places(prefix: Array, count: Array, together: int) -> Iterator[tuple[int, int]]:
    """Cuts the sorted *prefix* only where it changes: begin and end of parts whose *count* adds up to about
    *together* each.
    """
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


def _sort_from_end(urls: Array, prefix: Array, rest: Array, suffixes: Suffixes) -> tuple[Array, Array]:
    """URLs with one prefix sorted by their *rest* from its end, and how much neighbours have in common.

    *urls* come sorted from their ends, and mostly that is the same order. It differs where a prefix and a suffix that
    two URLs share overlap in one of them: then its rest is the end of the other's, and must stand before all of
    these.
    """
    same = prefix[1:] == prefix[:-1]
    common = np.where(same, suffixes.common(urls[:-1], urls[1:]), -1)
    is_end = np.zeros(len(urls), dtype=np.bool_)
    is_end[:-1] = common >= rest[:-1]
    is_end[1:] |= common >= rest[1:]
    if not is_end.any():
        return urls, common
    order = _put_ends_first(urls, prefix, rest, np.flatnonzero(is_end), suffixes)
    urls, rest = urls[order], rest[order]
    common = common[np.minimum(order[:-1], len(common) - 1)]
    new = np.flatnonzero(np.diff(order) != 1)
    common[new] = np.where(same[new], suffixes.common(urls[new], urls[new + 1]), -1)
    return urls, np.minimum(common, np.minimum(rest[:-1], rest[1:]))


def _put_ends_first(urls: Array, prefix: Array, rest: Array, ends: Array, suffixes: Suffixes) -> Array:
    """An order of *urls* in which a rest that ends other rests stands before these. *ends*: rests that may be such."""
    others = np.delete(np.arange(len(urls)), ends)
    # The first URL that has it. Where a rest is the end of no other one, that may as well be its own.
    place = suffixes.place[suffixes.first[urls[ends]] + rest[ends]].astype(np.int64)
    _, order = sorted_with_order(packed(packed(renumbered(prefix[ends]), place), rest[ends]))
    ends = ends[order]
    bits = max(int(urls.max()).bit_length(), int(place.max()).bit_length())
    at = np.searchsorted((prefix[others] << bits) | urls[others], (prefix[ends] << bits) | place[order])
    at += np.arange(len(ends))
    found: Array = np.empty(len(urls), dtype=np.int64)
    is_other = np.ones(len(urls), dtype=np.bool_)
    is_other[at] = False
    found[at], found[is_other] = ends, others
    return found


def renumbered(ascending: Array) -> Array:
    """*ascending* numbers replaced by 0, 1, 2…: equal numbers stay equal, and few bits are needed."""
    sizes = np.diff(edges_of(ascending))
    return np.repeat(np.arange(len(sizes)), sizes)


def packed(upper: Array, lower: Array) -> Array:
    """The numbers *upper* and *lower* as one number, with *upper* in the high bits."""
    return (upper << int(lower.max(initial=0)).bit_length()) | lower


def bare_instances(layer: Layer, tokens: Tokens, longest: int, low: int, largest: int) -> Iterator[Instances]:
    """The instances in *layer* whose two substrings neither begin nor end alike, from runs of up to *largest* URLs.

    Those from runs of up to *low* URLs count under the lower bucket limit too. *longest*: S, the most tokens of a
    substring.
    """
    urls, lengths = layer.urls, tokens.lengths()
    rest = lengths[urls] - layer.depth
    after = tokens.ids[np.minimum(tokens.offsets[urls] + layer.depth, len(tokens.ids) - 1)]
    for size, i, j, suffix in _pairs_of_runs(layer, largest):
        shorter, longer = np.minimum(rest[i], rest[j]), np.maximum(rest[i], rest[j])
        # They end differently, since no more of them is common. Of the empty one, nothing can be taken off.
        is_bare = ((after[i] != after[j]) | (shorter == suffix)) & (longer - suffix <= longest)
        count = int(is_bare.sum())
        yield Instances(
            a=urls[i[is_bare]],
            b=urls[j[is_bare]],
            prefix=np.full(count, layer.depth, dtype=np.int32),
            suffix=suffix[is_bare].astype(np.int32),
            low=np.full(count, size <= low),
            wide=np.ones(count, dtype=np.bool_),
        )


def _pairs_of_runs(layer: Layer, largest: int) -> Iterator[tuple[int, Array, Array, Array]]:
    """For each size of a run: the places of two of its URLs, and how much the two have in common at their ends."""
    common, count = layer.common, len(layer.urls)
    within = common[1:-1]
    of_one_prefix = int(np.diff(np.flatnonzero(common < 0)).max())
    for size in range(2, min(largest, of_one_prefix) + 1):
        if size > 2:
            within = np.minimum(within[:-1], common[size - 1 : count])
        outside = np.maximum(common[: count - size + 1], common[size:])
        rows = np.flatnonzero(within > outside)
        if not len(rows):
            continue
        if size == 2:
            yield size, rows, rows + 1, within[rows]
            continue
        # Two that have more in common are in a smaller run, and found there.
        parts = np.zeros((len(rows), size), dtype=np.int8)
        inside = common[rows[:, None] + np.arange(1, size)]
        np.cumsum(inside == within[rows, None], axis=1, out=parts[:, 1:])
        left, right = np.triu_indices(size, 1)
        row, pair = np.nonzero(parts[:, left] != parts[:, right])
        yield size, rows[row] + left[pair], rows[row] + right[pair], within[rows[row]]
