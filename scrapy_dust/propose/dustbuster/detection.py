r"""Phase 1: finds the likely rules of a log, sorted by support.

For every pair of substrings α, β of the URLs, up to S tokens long, the support is the number of envelopes they share,
but for envelopes of overflowing buckets and those whose two pages are unlikely to be similar: |(E(α) ∩ E(β)) \ (O ∪
D)| in the paper's terms (WWW'07 §5.1, figure 1). One run gives the supports under both bucket limits, T_low and
T_high: a bucket that the lower limit admits, the higher admits too.

Most pairs of substrings have too little support. So first only bare instances are made, those whose substrings
neither begin nor end alike (`envelopes`). From those with support the longer ones grow, as long as there is any
support (`growth`). A few more come from URLs that are longer than S (`overlong_envelopes`), and are counted by their hashes.

Only the rules that reach the least support are turned from arrays into Python objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from scrapy_dust.propose.dustbuster.envelopes import Layer, bare_instances, layers, renumbered
from scrapy_dust.propose.dustbuster.growth import Growth, staircases
from scrapy_dust.propose.dustbuster.instances import Bools, Instances, one_table, rules_of
from scrapy_dust.propose.dustbuster.likely_rules import LikelyRule
from scrapy_dust.propose.dustbuster.overlong_envelopes import bare_of, instances_beside_overlong
from scrapy_dust.propose.dustbuster.shared_affixes import Array, Suffixes, sort_from_end
from scrapy_dust.propose.dustbuster.sketches import Likeness, Similar, likeness_of
from scrapy_dust.propose.dustbuster.sketches import joined_likeness as alike
from scrapy_dust.propose.dustbuster.sorting import edges_of, sorted_with_order
from scrapy_dust.propose.dustbuster.substring_hashes import Hashes, SubstringHashes, mix
from scrapy_dust.propose.dustbuster.token_arrays import Tokens, tokens_of
from scrapy_dust.rules.substitution import Substitute, anchored
from scrapy_dust.visits.pages import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionParams:
    """The parameters of phase 1, with the paper's names."""

    max_substring: int = 35  #: S
    bucket_low: int = 6  #: T_low: overflowing beyond it
    bucket_high: int = 11  #: T_high
    min_support: int = 3  #: MS
    similar: Similar = Similar.AUTO
    sketch_matches: int = 4  #: k of 4


#: Places of URLs in layers that are kept until rules grow, at 6 bytes each; with more, layers are made again.
HELD = 100_000_000


def detect_likely_rules(
    pages: Sequence[Page], params: DetectionParams, *, hash_mask: int = 2**64 - 1, held: int = HELD
) -> list[LikelyRule]:
    """The rules with a support of at least MS where buckets may have up to T_low URLs; by descending support, then α,
    then β.

    *hash_mask* weakens the substring hashes, so that a test can see collisions being resolved. *held* is the number
    of places in layers that are kept.
    """
    return detect_in_sites([pages], params, hash_mask=hash_mask, held=held)[0]


def detect_in_sites(
    sites: Sequence[Sequence[Page]],
    params: DetectionParams,
    *,
    hash_mask: int = 2**64 - 1,
    held: int = HELD,
) -> list[list[LikelyRule]]:
    """The likely rules of each of several sites, as `detect_likely_rules` finds them.

    All sites are processed together: for small sites, the passes over arrays cost what they cost for one.
    """
    tokens = tokens_of(page.url for pages in sites for page in pages)
    edges = np.cumsum([0, *map(len, sites)])
    order, common = sort_from_end(tokens, edges)
    tokens = tokens.reordered(order)
    likeness = alike(
        [likeness_of(pages, params.similar, params.sketch_matches) for pages in sites]
    ).reordered(order)
    found: list[list[LikelyRule]] = [[] for _ in sites]
    detection = _Detection(tokens, edges, Suffixes(tokens, common), likeness, params, hash_mask, held)
    for site, likely in detection.rules():
        found[site].append(likely)
    for rules in found:
        rules.sort(key=lambda likely: (-likely.support, *anchored(likely.rule)))
    return found


class _Detection:
    """Phase 1 on the URLs of several *sites*, numbered from their ends."""

    def __init__(
        self,
        tokens: Tokens,
        sites: Array,
        suffixes: Suffixes,
        likeness: Likeness,
        params: DetectionParams,
        hash_mask: int,
        held: int,
    ) -> None:
        self._tokens, self._likeness, self._params = tokens, likeness, params
        self._sites, self._suffixes = sites, suffixes
        self._hashes = SubstringHashes(tokens, hash_mask)
        self._site = np.repeat(np.arange(len(sites) - 1, dtype=np.int32), np.diff(sites))
        self._salt = mix(np.arange(len(sites), dtype=np.uint64))
        self._limits = params.bucket_low, params.bucket_high
        self._room, self._held = held, list[Layer]()

    def rules(self) -> Iterator[tuple[int, LikelyRule]]:
        """The likely rules, each with the number of its site."""
        bare, beside = self._bare_and_other_instances()
        bare, rule, is_open = self._with_support(bare, beside)
        stairs = staircases(bare, self._prefix_layers(), len(self._tokens), self._limits)
        self._held.clear()
        growth = Growth(bare, stairs, self._tokens, self._params.max_substring, self._params.min_support)
        several = [beside]
        for found in growth.rules(rule, is_open):
            sizes = np.diff(found.edges)
            several.append(found.instances.rows(np.repeat(found.open, sizes)))
            closed = np.flatnonzero(~found.open)
            yield from self._likely_rules(
                found.instances.rows(found.edges[closed]), found.support[closed], sizes[closed]
            )
        yield from self._count_and_group(one_table(several))

    def _bare_and_other_instances(self) -> tuple[Instances, Instances]:
        """The instances whose substrings neither begin nor end alike, and those that cannot grow from any of these."""
        params, bare, beside = self._params, list[Instances](), list[Instances]()
        for layer in self._prefix_layers():
            bare += bare_instances(layer, self._tokens, params.max_substring, *self._limits)
            beside += instances_beside_overlong(
                layer, self._tokens, self._suffixes, params.max_substring, self._limits
            )
        return self._without_unlikely(one_table(bare)), self._without_unlikely(one_table(beside))

    def _prefix_layers(self) -> Iterator[Layer]:
        """The layers of shared prefixes. They are gone through twice, and held in between if they are small enough."""
        if self._held:
            yield from self._held
            return
        room = self._room
        for layer in layers(self._tokens, self._sites, self._suffixes):
            room -= len(layer.urls)
            if room >= 0:
                self._held.append(layer)
            else:
                self._held.clear()
            yield layer

    def _without_unlikely(self, instances: Instances) -> Instances:
        """*instances* without those whose two pages LikelySimilar thinks unlikely to be similar (figure 1, line 15)."""
        return instances.rows(np.flatnonzero(self._likeness.likely(instances.a, instances.b)))

    def _rule_keys(self, instances: Instances, prefix: Array, suffix: Array) -> Hashes:
        """For each instance, a number that is equal for equal pairs of substrings on one site, in either order."""
        of_both = self._hashes.hashes_of(instances.a, prefix, suffix) + self._hashes.hashes_of(
            instances.b, prefix, suffix
        )
        return of_both + self._salt[self._site[instances.a]]

    def _with_support(self, bare: Instances, beside: Instances) -> tuple[Instances, Array, Bools]:
        """The *bare* instances sorted by rule, if their rule has enough support, or *beside* has instances that grow
        from them.

        Also the number of each instance's rule and, for each rule, whether *beside* has some.
        """
        keys = self._rule_keys(bare, bare.prefix, bare.suffix)
        beside_keys = np.unique(self._rule_keys(beside, *bare_of(beside, self._tokens)))
        instances, rule = self._grouped_by_rule(bare, keys, beside_keys)
        edges = edges_of(rule)
        if not len(rule):
            return instances, rule, np.zeros(0, dtype=np.bool_)
        first = instances.rows(edges[:-1])
        is_open = np.isin(self._rule_keys(first, first.prefix, first.suffix), beside_keys)
        return instances, rule, is_open

    def _grouped_by_rule(self, instances: Instances, keys: Hashes, always: Hashes) -> tuple[Instances, Array]:
        """*instances* by rule, with the rules' numbers; only those with enough support, or with keys in *always*."""
        if not len(instances):
            return instances, np.zeros(0, dtype=np.int64)
        # As many bits of the hash as go beside the row's number: what has the same is compared by its tokens anyway.
        bits = np.uint64(len(keys).bit_length() + 1)
        key, order = sorted_with_order((keys >> bits).astype(np.int64))
        instances, keys, edges = instances.rows(order), keys[order], edges_of(key)
        enough = np.add.reduceat(instances.low, edges[:-1], dtype=np.int64) >= self._params.min_support
        if len(always):
            enough |= np.logical_or.reduceat(np.isin(keys, always), edges[:-1])
        sizes = np.diff(edges)[enough]
        instances = instances.rows(np.repeat(enough, np.diff(edges)))
        return self._split_collisions(instances, np.concatenate(([0], np.cumsum(sizes))))

    def _split_collisions(self, instances: Instances, edges: Array) -> tuple[Instances, Array]:
        """*instances* grouped by their tokens, where groups by hash, which begin at *edges*, hold different substrings."""
        rule = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
        if not len(rule):
            return instances, rule
        site = self._site[instances.a]
        same = self._hashes.same_as_first(instances.a, instances.b, instances.prefix, instances.suffix, edges)
        same &= site == np.repeat(site[edges[:-1]], np.diff(edges))
        together = np.logical_and.reduceat(same, edges[:-1])
        number = len(edges) - 1
        for group in np.flatnonzero(~together).tolist():
            rows = np.arange(edges[group], edges[group + 1])
            numbers: dict[tuple[int, Substitute], int] = {}
            rules = rules_of(instances.rows(rows), self._tokens)
            for row, one in zip(rows, zip(site[rows].tolist(), rules, strict=True), strict=True):
                rule[row] = numbers.setdefault(one, number + len(numbers))
            number += len(numbers)
        rule, order = sorted_with_order(rule)
        return instances.rows(order), renumbered(rule)

    def _count_and_group(self, instances: Instances) -> Iterator[tuple[int, LikelyRule]]:
        """Figure 1, lines 17–22: group the instances by their two substrings and count."""
        keys = self._rule_keys(instances, instances.prefix, instances.suffix)
        instances, rule = self._grouped_by_rule(instances, keys, keys[:0])
        edges = edges_of(rule)
        if not len(rule):
            return
        support = np.add.reduceat(instances.low, edges[:-1], dtype=np.int64)
        wide = np.add.reduceat(instances.wide, edges[:-1], dtype=np.int64)
        enough = np.flatnonzero(support >= self._params.min_support)
        yield from self._likely_rules(instances.rows(edges[enough]), support[enough], wide[enough])

    def _likely_rules(
        self, instances: Instances, support: Array, wide: Array
    ) -> Iterator[tuple[int, LikelyRule]]:
        """The rules that *instances* show, with *support* under the lower and *wide* under the higher limit."""
        columns = self._site[instances.a].tolist(), support.tolist(), wide.tolist()
        for rule, site, of_rule, of_wide in zip(rules_of(instances, self._tokens), *columns, strict=True):
            yield site, LikelyRule(rule=rule, support=of_rule, wide_support=of_wide)
