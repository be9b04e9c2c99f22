"""Hashes of token substrings, in constant time each, and the proof that two of them are the same.

Polynomial hashes modulo 2⁶⁴ over mixed token ids. Equal substrings have equal hashes; unequal ones hardly
ever do, and whoever groups by hash asks `SubstringHashes.same_as_first` before believing it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scrapy_dust.dust.envelopes import Array
from scrapy_dust.dust.tokens import Tokens

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64] | npt.NDArray[np.int32]

_BASE = 0x9E3779B97F4A7C15  # odd, so that powers never vanish
_ONE, _TWO = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mix(values: Hashes) -> Hashes:
    """The finalizer of splitmix64: a bijection that leaves no bit where it was."""
    values = (values ^ (values >> np.uint64(30))) * _ONE
    values = (values ^ (values >> np.uint64(27))) * _TWO
    return values ^ (values >> np.uint64(31))


def powers(count: int) -> Hashes:
    """1, B, B², … modulo 2⁶⁴."""
    table = np.full(max(count, 1), _BASE, dtype=np.uint64)
    table[0] = 1
    return np.multiply.accumulate(table)


class SubstringHashes:
    """Hashes of the substrings between an envelope's prefix and suffix."""

    def __init__(self, tokens: Tokens, mask: int = 2**64 - 1) -> None:
        self._tokens = tokens
        self._mask = np.uint64(mask)
        self._lengths = tokens.lengths()
        total = len(tokens.ids)
        self._powers = powers(int(self._lengths.max(initial=0)) + 1)
        # One running sum over all URLs; differences of it are a substring's polynomial, shifted by its
        # place in the whole. Each URL's tokens are weighted by their place from its start, and the shift is
        # taken out by the inverse power.
        place = np.arange(total) - np.repeat(tokens.offsets[:-1], self._lengths)
        weighted = mix(tokens.ids.astype(np.uint64) + np.uint64(1)) * self._powers[place]
        self._sums = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(weighted, dtype=np.uint64)))
        inverse = np.full(len(self._powers), pow(_BASE, -1, 2**64), dtype=np.uint64)
        inverse[0] = 1
        self._inverse_powers = np.multiply.accumulate(inverse)

    def _of(self, url: Array, prefix: Array, suffix: Array) -> tuple[Hashes, Array]:
        begin = self._tokens.offsets[url] + prefix
        end = self._tokens.offsets[url + 1] - suffix
        polynomial = (self._sums[end] - self._sums[begin]) * self._inverse_powers[prefix]
        return mix(polynomial) & self._mask, end - begin

    def pair_keys(self, a: Array, b: Array, prefix: Array, suffix: Array) -> Hashes:
        """One key per pair of substrings, whichever of the two comes first."""
        (hash_a, length_a), (hash_b, length_b) = self._of(a, prefix, suffix), self._of(b, prefix, suffix)
        swap = self._b_is_greater(hash_a, length_a, hash_b, length_b)
        greater, lesser = np.where(swap, hash_b, hash_a), np.where(swap, hash_a, hash_b)
        return (mix(greater) * np.uint64(3) + mix(lesser)) & self._mask

    @staticmethod
    def _b_is_greater(
        hash_a: Hashes, length_a: Array, hash_b: Hashes, length_b: Array
    ) -> npt.NDArray[np.bool_]:
        greater: npt.NDArray[np.bool_] = (length_b > length_a) | ((length_b == length_a) & (hash_b > hash_a))
        return greater

    def same_as_first(
        self, a: Numbers, b: Numbers, prefix: Numbers, suffix: Numbers, edges: Array
    ) -> npt.NDArray[np.bool_]:
        """For rows grouped by *edges*: whether a row has the two substrings of its group's first row."""
        first = np.repeat(edges[:-1], np.diff(edges))
        straight = self._equal(a, prefix, suffix, first, a) & self._equal(b, prefix, suffix, first, b)
        crossed = ~straight
        if crossed.any():
            straight[crossed] = (
                self._equal(a, prefix, suffix, first, b) & self._equal(b, prefix, suffix, first, a)
            )[crossed]
        return straight

    def _equal(
        self, url: Numbers, prefix: Numbers, suffix: Numbers, first: Array, first_url: Numbers
    ) -> npt.NDArray[np.bool_]:
        """Whether the substring of each row's *url* equals that of its group's first row's *first_url*."""
        begin, end = self._tokens.offsets[url] + prefix, self._tokens.offsets[url + 1] - suffix
        other = self._tokens.offsets[first_url] + prefix
        other_end = self._tokens.offsets[first_url + 1] - suffix
        other, other_end = other[first], other_end[first]
        equal: npt.NDArray[np.bool_] = (end - begin) == (other_end - other)
        length = np.where(equal, end - begin, 0)
        for step in range(int(length.max(initial=0))):
            rows = np.flatnonzero(equal & (length > step))
            equal[rows] = self._tokens.ids[begin[rows] + step] == self._tokens.ids[other[rows] + step]
        return equal
