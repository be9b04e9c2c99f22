"""Finds which rules refine which (WWW'07, Lemma 5.3).

A rule refines another if removing the same context from both ends of its two sides leaves the other's sides. So for
each rule, all ways to remove context that its sides share are looked up by hash. A hash only suggests that sides are
the same; their tokens prove it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from scrapy_dust.propose.dustbuster.instances import Bools
from scrapy_dust.propose.dustbuster.shared_affixes import Array
from scrapy_dust.propose.dustbuster.substring_hashes import Hashes, SubstringHashes, mix
from scrapy_dust.propose.dustbuster.token_arrays import Tokens, tokens_of
from scrapy_dust.rules.substitution import Substitute


@dataclass(frozen=True, slots=True)
class _Stripped:
    """Rules without some of the context that their sides share."""

    rule: Array
    left: Array  #: tokens that are taken off their beginnings
    right: Array  #: and off their ends

    def __len__(self) -> int:
        return len(self.rule)

    def rows(self, chosen: Bools | Array) -> _Stripped:
        """The stripped rules at the positions *chosen*."""
        return _Stripped(self.rule[chosen], self.left[chosen], self.right[chosen])


def refinements(
    rules: Sequence[Substitute], site: Array, last: Array, *, hash_mask: int = 2**64 - 1
) -> tuple[Array, Array]:
    """Pairs of positions: a rule, and a rule of the same *site* that it refines.

    *last*: for each rule the last one that may be compared with it. A pair may appear more than once. *hash_mask*
    weakens the hashes, so that a test can see collisions being resolved.
    """
    sides = _Sides(rules, site, hash_mask)
    index = _Index(sides.keys(sides.whole()))
    found = [(site[:0], site[:0])]
    for stripped in sides.stripped():
        row, wide = index.positions_of(sides.keys(stripped))
        narrow = stripped.rule[row]
        compared = np.maximum(narrow, wide) <= last[np.minimum(narrow, wide)]
        row, wide = row[compared], wide[compared]
        same = sides.same(stripped.rows(row), wide)
        found.append((stripped.rule[row[same]], wide[same]))
    narrow, wide = (np.concatenate(part) for part in zip(*found, strict=True))
    return narrow, wide


class _Index:
    """An index to look up the positions of many keys at once."""

    def __init__(self, keys: Hashes) -> None:
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        self._count = np.searchsorted(self._keys, self._keys, side="right") - np.arange(len(keys))
        # Where those begin whose first bits are 0, 1, 2…: hashes are spread so evenly that few have the same.
        bits = len(keys).bit_length() + 1
        self._shift = np.uint64(64 - bits)
        self._first = np.searchsorted(self._keys, np.arange(2**bits, dtype=np.uint64) << self._shift)

    def positions_of(self, sought: Hashes) -> tuple[Array, Array]:
        """The keys among *sought* that the index has, with their positions; a key with several positions appears several times."""
        place, last = self._first[sought >> self._shift], len(self._keys) - 1
        rows = np.flatnonzero(place <= last)
        while len(rows):
            rows = rows[self._keys[place[rows]] < sought[rows]]
            place[rows] += 1
            rows = rows[place[rows] <= last]
        known = np.flatnonzero(self._keys[np.minimum(place, last)] == sought)
        count = self._count[place[known]]
        return np.repeat(known, count), self._order[np.repeat(place[known], count) + _count_up(count)]


class _Sides:
    """The sides of rules as tokens: rule *i* has the sides 2 *i* and 2 *i* + 1."""

    def __init__(self, rules: Sequence[Substitute], site: Array, hash_mask: int) -> None:
        self._site, self._salt = site, mix(site.astype(np.uint64))
        self._tokens = tokens_of(chain.from_iterable((rule.alpha, rule.beta) for rule in rules))
        self._hashes = SubstringHashes(self._tokens, hash_mask)
        # The tokens of any text have anchors; those that the rule has not do not belong to its sides.
        self._before = np.fromiter((not rule.start for rule in rules), dtype=np.int64, count=len(rules))
        self._after = np.fromiter((not rule.end for rule in rules), dtype=np.int64, count=len(rules))
        lengths = self._tokens.lengths() - np.repeat(self._before + self._after, 2)
        self._alpha, self._beta = lengths[::2], lengths[1::2]

    def whole(self) -> _Stripped:
        """All rules, with nothing stripped from their sides."""
        none = np.zeros_like(self._alpha)
        return _Stripped(np.arange(len(none)), none, none)

    def stripped(self) -> Iterator[_Stripped]:
        """All rules with some of the common beginning and end of their sides stripped, in every way."""
        tokens, shorter = self._tokens, np.minimum(self._alpha, self._beta)
        alpha, beta = tokens.offsets[:-1:2] + self._before, tokens.offsets[1:-1:2] + self._before
        left = _common_tokens(tokens, alpha, beta, shorter, step=1)
        right = _common_tokens(tokens, alpha + self._alpha - 1, beta + self._beta - 1, shorter, step=-1)
        for taken in range(int(left.max(initial=0)) + 1):
            rule = np.flatnonzero(left >= taken)
            count = np.minimum(right[rule], shorter[rule] - taken) + (taken > 0)
            rule = np.repeat(rule, count)
            yield _Stripped(rule, np.full_like(rule, taken), _count_up(count) + (taken == 0))

    def keys(self, sides: _Stripped) -> Hashes:
        """For each rule, a number that is equal for equal pairs of sides on one site, in either order."""
        before, after = self._before[sides.rule] + sides.left, self._after[sides.rule] + sides.right
        alpha, beta = (self._hashes.hashes_of(2 * sides.rule + side, before, after) for side in (0, 1))
        return alpha + beta + self._salt[sides.rule]

    def same(self, narrow: _Stripped, wide: Array) -> Bools:
        """Whether the stripped sides of each rule in *narrow* equal the sides of the rule in *wide*, on one site."""
        begin = self._before[narrow.rule] + narrow.left
        taken = narrow.left + narrow.right
        alpha, beta = (
            (self._tokens.offsets[2 * narrow.rule + side] + begin, lengths[narrow.rule] - taken)
            for side, lengths in enumerate((self._alpha, self._beta))
        )
        one, other = (
            (self._tokens.offsets[2 * wide + side] + self._before[wide], lengths[wide])
            for side, lengths in enumerate((self._alpha, self._beta))
        )
        straight = self._are_equal(alpha, one) & self._are_equal(beta, other)
        crossed = self._are_equal(alpha, other) & self._are_equal(beta, one)
        same: Bools = (straight | crossed) & (self._site[narrow.rule] == self._site[wide])
        return same

    def _are_equal(self, one: tuple[Array, Array], other: tuple[Array, Array]) -> Bools:
        """Whether two stretches of tokens are equal, each given by where it begins and how long it is."""
        (begin, length), (other_begin, other_length) = one, other
        equal: Bools = length == other_length
        rows = np.flatnonzero(equal)
        equal[rows] = (
            _common_tokens(self._tokens, begin[rows], other_begin[rows], length[rows], step=1) == length[rows]
        )
        return equal


def _common_tokens(tokens: Tokens, one: Array, other: Array, most: Array, *, step: int) -> Array:
    """How many tokens are equal from the positions *one* and *other* on, in the direction of *step*, up to *most*."""
    found = np.zeros_like(most)
    rows = np.flatnonzero(most > 0)
    while len(rows):
        place = step * found[rows]
        rows = rows[tokens.ids[one[rows] + place] == tokens.ids[other[rows] + place]]
        found[rows] += 1
        rows = rows[found[rows] < most[rows]]
    return found


def _count_up(counts: Array) -> Array:
    """0, 1, 2… up to below each of *counts*, one run after the other."""
    ends = np.cumsum(counts)
    return np.arange(int(counts.sum())) - np.repeat(ends - counts, counts)
