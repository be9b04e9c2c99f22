"""Hashes of token substrings, each in constant time, and the proof that two substrings are the same.

Polynomial hashes modulo 2⁶⁴ over mixed token ids. Equal substrings have equal hashes; unequal ones hardly ever do,
and code that groups by hash must ask `SubstringHashes.same_as_first`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scrapy_dust.propose.dustbuster.shared_affixes import Array, Numbers
from scrapy_dust.propose.dustbuster.sorting import edges_of, sorted_with_order
from scrapy_dust.propose.dustbuster.token_arrays import Tokens

Hashes = npt.NDArray[np.uint64]

_BASE = 0x9E3779B97F4A7C15  # odd, so that powers never vanish
_ONE, _TWO = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

#: URLs whose tokens are weighted at a time: what is made of them stays in the processor's cache.
_URLS = 4000
#: Tokens compared at a time.
_COMPARED = 4_000_000


def mix(values: Hashes) -> Hashes:
    """*values* scrambled by the end of splitmix64, which maps no two numbers to one."""
    values = (values ^ (values >> np.uint64(30))) * _ONE
    values = (values ^ (values >> np.uint64(27))) * _TWO
    return values ^ (values >> np.uint64(31))


def powers(count: int) -> Hashes:
    """The first *count* powers of the base B of the hashes, modulo 2⁶⁴."""
    table = np.full(max(count, 1), _BASE, dtype=np.uint64)
    table[0] = 1
    return np.multiply.accumulate(table)


class SubstringHashes:
    """Hashes of the substrings between an envelope's prefix and suffix."""

    def __init__(self, tokens: Tokens, mask: int = 2**64 - 1) -> None:
        self._tokens = tokens
        self._mask = np.uint64(mask)
        lengths = tokens.lengths()
        # One running sum over all URLs; differences of it are a substring's polynomial, shifted by its
        # place in the whole. Each URL's tokens are weighted by their place from its start, and the shift is
        # taken out by the inverse power.
        table = powers(int(lengths.max(initial=0)) + 1)
        of_token = mix(np.arange(1, int(tokens.ids.max(initial=0)) + 2, dtype=np.uint64))
        self._sums = np.zeros(len(tokens.ids) + 1, dtype=np.uint64)
        for begin in range(0, len(tokens), _URLS):
            offsets = tokens.offsets[begin : begin + _URLS + 1]
            left, right = int(offsets[0]), int(offsets[-1])
            place = np.arange(left, right) - np.repeat(offsets[:-1], np.diff(offsets))
            np.multiply(of_token[tokens.ids[left:right]], table[place], out=self._sums[left + 1 : right + 1])
        np.cumsum(self._sums, out=self._sums)
        inverse = np.full(len(table), pow(_BASE, -1, 2**64), dtype=np.uint64)
        inverse[0] = 1
        self._inverse_powers = np.multiply.accumulate(inverse)

    def hashes_of(self, url: Numbers, prefix: Numbers, suffix: Numbers) -> Hashes:
        """For each *url*, the hash of its substring from *prefix* to *suffix*."""
        offsets = self._tokens.offsets
        begin, end = offsets[url] + prefix, offsets[1:][url] - suffix
        polynomial = (self._sums[end] - self._sums[begin]) * self._inverse_powers[prefix]
        return mix(polynomial) & self._mask

    def same_as_first(
        self, a: Numbers, b: Numbers, prefix: Numbers, suffix: Numbers, edges: Array
    ) -> npt.NDArray[np.bool_]:
        """For rows grouped by *edges*: whether a row has the same two substrings as its group's first row."""
        first = np.repeat(edges[:-1], np.diff(edges))
        straight = self._equal(a, prefix, suffix, first, a) & self._equal(b, prefix, suffix, first, b)
        crossed = np.flatnonzero(~straight)
        if len(crossed):
            rows = prefix[crossed], suffix[crossed], first[crossed]
            straight[crossed] = self._equal(a[crossed], *rows, b, prefix, suffix) & self._equal(
                b[crossed], *rows, a, prefix, suffix
            )
        return straight

    def _equal(
        self,
        url: Numbers,
        prefix: Numbers,
        suffix: Numbers,
        first: Array,
        first_url: Numbers,
        first_prefix: Numbers | None = None,
        first_suffix: Numbers | None = None,
    ) -> npt.NDArray[np.bool_]:
        """Whether the substring of each row's *url* equals that of its group's first row's *first_url*."""
        first_prefix = prefix if first_prefix is None else first_prefix
        first_suffix = suffix if first_suffix is None else first_suffix
        offsets, ids = self._tokens.offsets, self._tokens.ids
        begin, other = offsets[url] + prefix, offsets[first_url[first]] + first_prefix[first]
        length = offsets[1:][url] - suffix - begin
        equal: npt.NDArray[np.bool_] = length == offsets[1:][first_url[first]] - first_suffix[first] - other
        ascending, order = sorted_with_order(length)
        edges = edges_of(ascending)
        for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            width = int(ascending[start]) if end > start else 0
            step = max(1, _COMPARED // max(width, 1))
            for low in range(start, end, step):
                rows = order[low : min(low + step, end)]
                rows = rows[equal[rows]]
                place = np.arange(width)
                equal[rows] = (ids[begin[rows, None] + place] == ids[other[rows, None] + place]).all(axis=1)
        return equal
