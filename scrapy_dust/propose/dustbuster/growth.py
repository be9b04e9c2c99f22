"""Grows longer rules from bare ones: α → β, then γα → γβ and αδ → βδ, as far as they have support.

Where an envelope is no longer than a bucket allows, no longer one is: buckets only shrink as their context grows. So
an instance of γαδ → γβδ is one of α → β, whose support is no less; and no rule grows from one with too little
support (as in Agrawal and Srikant's Apriori for item sets). Each rule grows in one way only: first to the right, one
token at a time, then to the left. So the rule that it grew from and the new token identify a rule, and nothing is hashed
or compared.

How far an instance may grow is a staircase: for each shorter prefix, the suffix from which on its run of URLs is
small enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from scrapy_dust.propose.dustbuster.envelopes import Layer
from scrapy_dust.propose.dustbuster.instances import Bools, Instances
from scrapy_dust.propose.dustbuster.shared_affixes import Array, Numbers
from scrapy_dust.propose.dustbuster.sorting import edges_of, sorted_with_order
from scrapy_dust.propose.dustbuster.token_arrays import Tokens


@dataclass(frozen=True, slots=True)
class Staircases:
    """How far instances may grow: for each shorter prefix of an instance, the longest suffix whose run of URLs is too large."""

    first: Array  #: per instance: where its entries begin, one a prefix from the empty one on
    low: Numbers  #: by the lower limit
    wide: Numbers  #: by the higher one


def staircases(bare: Instances, layers: Iterable[Layer], urls: int, limits: tuple[int, int]) -> Staircases:
    """For each of the *bare* instances, how far it may grow to the left and to the right: see `Staircases`."""
    sizes = bare.prefix.astype(np.int64) + 1
    ends = np.cumsum(sizes)
    first = ends - sizes
    low, wide = (np.empty(int(sizes.sum()), dtype=np.int16) for _ in limits)
    place = np.zeros(urls, dtype=np.int32)
    for layer in layers:
        rows = np.flatnonzero(bare.prefix >= layer.depth)
        if not len(rows):
            continue
        if layer.common.dtype != low.dtype:
            low, wide = low.astype(layer.common.dtype), wide.astype(layer.common.dtype)
        place[layer.urls] = np.arange(len(layer.urls))
        i, j = place[bare.a[rows]], place[bare.b[rows]]
        at = first[rows] + layer.depth
        low[at], wide[at] = _staircase_steps(layer.common, np.minimum(i, j), np.maximum(i, j), limits)
    return Staircases(first, low, wide)


def _staircase_steps(common: Numbers, i: Numbers, j: Numbers, limits: tuple[int, int]) -> list[Numbers]:
    """For each limit and each pair of places *i* and *j*: the longest suffix that too many URLs share with both."""
    found = [np.full(len(i), np.iinfo(common.dtype).max, dtype=common.dtype) for _ in limits]
    apart = j - i
    for width in range(1, limits[1]):
        rows = np.flatnonzero(apart == width)
        if not len(rows):
            continue
        begin, end = i[rows], j[rows] + 1
        left, right = common[begin], common[end]
        for size in range(width + 1, limits[1] + 1):
            # The next to join is the one that has more in common with the run, on either side.
            next_one = np.maximum(left, right)
            for limit, of_limit in zip(limits, found, strict=True):
                if limit == size:
                    of_limit[rows] = next_one
            if size == limits[1]:
                break
            is_left = left >= right
            begin, end = begin - is_left, end + ~is_left
            np.maximum(begin, 0, out=begin)
            np.minimum(end, len(common) - 1, out=end)
            left = np.where(is_left, np.minimum(left, common[begin]), left)
            right = np.where(is_left, right, np.minimum(right, common[end]))
    return found


@dataclass(frozen=True, slots=True)
class Found:
    """Rules that are longer than their bare ones by one number of tokens, and their instances, rule by rule."""

    instances: Instances
    edges: Array  #: where each rule's instances begin, and where the last one's end
    support: Array
    open: Bools  #: per rule: there may be other instances of it


@dataclass(frozen=True, slots=True)
class _Grown:
    """Instances at one stage of their growth, each with the number of its rule."""

    row: Array  #: of the bare instance
    prefix: Numbers
    suffix: Numbers
    rule: Array  #: ascending
    open: Bools  #: per rule

    def rows(self, chosen: Array | Bools) -> _Grown:
        """The grown instances at the positions *chosen*."""
        return _Grown(
            self.row[chosen], self.prefix[chosen], self.suffix[chosen], self.rule[chosen], self.open
        )


class Growth:
    """Grows rules from the *bare* instances of a layer."""

    def __init__(self, bare: Instances, stairs: Staircases, tokens: Tokens, longest: int, least: int) -> None:
        self._bare, self._stairs, self._tokens = bare, stairs, tokens
        self._longest, self._least = longest, least
        lengths = tokens.lengths()
        self._length = np.maximum(lengths[bare.a], lengths[bare.b])
        self._vocabulary = int(tokens.ids.max(initial=0)) + 1
        ids, offsets = tokens.ids, tokens.offsets
        last = len(ids) - 1
        a, b = (np.minimum(offsets[url] + bare.prefix, last) for url in (bare.a, bare.b))
        #: Where the prefix could be longer, the same two substrings are also reached from another bare instance.
        self._may_turn = ids[a] != ids[b] if last >= 0 else np.zeros(0, dtype=np.bool_)

    def rules(self, rule: Array, is_open: Bools) -> Iterator[Found]:
        """All rules with enough support, and all those that may have other instances. *rule*: the rule of each bare
        instance, ascending; *is_open*: for each rule, whether it may have others.
        """
        row = np.arange(len(self._bare))
        level = _Grown(row, self._bare.prefix, self._bare.suffix, rule, is_open)
        level, found = self._with_enough_support(level, level.rule)
        yield found
        to_right, rules = [level], len(level.open)
        while len(level.row):
            level, found = self._with_enough_support(*self._grow_right(level))
            yield found
            to_right.append(_Grown(level.row, level.prefix, level.suffix, level.rule + rules, level.open))
            rules += len(level.open)
        level = _concatenated(to_right)
        while len(level.row):
            level, found = self._with_enough_support(*self._grow_left(level))
            yield found

    def _grow_right(self, level: _Grown) -> tuple[_Grown, Array]:
        """The instances of *level* that may have one token more on the right, and for each a key of its longer rule."""
        at = self._stairs.first[level.row] + level.prefix
        suffix = level.suffix - 1
        may = self._may_turn[level.row] & (suffix > self._stairs.wide[at]) & (suffix >= 0)
        may &= self._length[level.row] - level.prefix - suffix <= self._longest
        level, suffix = level.rows(may), suffix[may]
        token = self._tokens.ids[self._tokens.offsets[1:][self._bare.a[level.row]] - suffix - 1]
        return _Grown(level.row, level.prefix, suffix, level.rule, level.open), self._keys_with_token(
            level.rule, token
        )

    def _grow_left(self, level: _Grown) -> tuple[_Grown, Array]:
        """The instances of *level* that may have one token more on the left, and for each a key of its longer rule."""
        prefix = level.prefix - 1
        # Of an empty prefix, the entry before is another's, and not asked.
        at = np.maximum(self._stairs.first[level.row] + prefix, 0)
        may = (prefix >= 0) & (level.suffix > self._stairs.wide[at])
        may &= self._length[level.row] - prefix - level.suffix <= self._longest
        level, prefix = level.rows(may), prefix[may]
        token = self._tokens.ids[self._tokens.offsets[self._bare.a[level.row]] + prefix]
        return _Grown(level.row, prefix, level.suffix, level.rule, level.open), self._keys_with_token(
            level.rule, token
        )

    def _keys_with_token(self, rule: Array, token: Numbers) -> Array:
        """A number for each rule with its new token, equal only for the same rule and token."""
        return rule * self._vocabulary + token

    def _with_enough_support(self, level: _Grown, key: Array) -> tuple[_Grown, Found]:
        """The instances whose *key* has enough support, and new numbers for the rules that they show."""
        key, order = sorted_with_order(key)
        level, edges = level.rows(order), edges_of(key)
        is_low = level.suffix > self._stairs.low[self._stairs.first[level.row] + level.prefix]
        sizes = np.diff(edges)
        support = np.add.reduceat(is_low, edges[:-1], dtype=np.int64) if len(sizes) else sizes
        is_open = level.open[level.rule[edges[:-1]]] if len(sizes) else np.zeros(0, dtype=np.bool_)
        enough = (support >= self._least) | is_open
        chosen, sizes = np.repeat(enough, sizes), sizes[enough]
        level, is_low, is_open = level.rows(chosen), is_low[chosen], is_open[enough]
        rule = np.repeat(np.arange(len(sizes)), sizes)
        edges = np.concatenate(([0], np.cumsum(sizes)))
        kept = _Grown(level.row, level.prefix, level.suffix, rule, is_open)
        return kept, Found(self._instances(kept, is_low), edges, support[enough], is_open)

    def _instances(self, level: _Grown, is_low: Bools) -> Instances:
        """The instances of *level* as a table. *is_low*: whether each counts under the lower bucket limit."""
        a, b = self._bare.a[level.row], self._bare.b[level.row]
        return Instances(a, b, level.prefix, level.suffix, is_low, np.ones(len(a), dtype=np.bool_))


def _concatenated(levels: list[_Grown]) -> _Grown:
    """All *levels* in one, one after the other."""
    return _Grown(*(np.concatenate([getattr(level, name) for level in levels]) for name in _Grown.__slots__))
