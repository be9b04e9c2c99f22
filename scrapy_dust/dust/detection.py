r"""Phase 1: the likely rules, by support.

For every pair of substrings α, β of the URLs, up to S tokens long, the support is the number of envelopes
they share, but for envelopes of overflowing buckets and those whose two pages are unlikely to be similar:
|(E(α) ∩ E(β)) \\ (O ∪ D)| in the paper's terms (WWW'07 §5.1, figure 1). One run gives the supports under
both bucket limits, T_low and T_high: a bucket that the lower limit admits, the higher admits too.

What crosses from the arrays to Python objects is only the rules that reached the least support.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scrapy_dust.dust.envelopes import Array, Buckets, buckets
from scrapy_dust.dust.pages import Page
from scrapy_dust.dust.rules import LikelyRule, SubstringRule, anchored, shrinking
from scrapy_dust.dust.sketches import Likeness, Similar, likeness_of
from scrapy_dust.dust.substrings import SubstringHashes
from scrapy_dust.dust.tokens import Tokens, tokens_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionParams:
    max_substring: int = 35  #: S
    bucket_low: int = 6  #: T_low: overflowing beyond it
    bucket_high: int = 11  #: T_high
    min_support: int = 3  #: MS
    similar: Similar = Similar.AUTO
    sketch_matches: int = 4  #: k of 4


@dataclass(frozen=True, slots=True)
class Instances:
    """The instance table IT: pairs of URLs with one envelope, whose pages may be similar."""

    a: Array  #: URL number
    b: Array  #: URL number
    prefix: Array  #: tokens of the envelope before the substrings
    suffix: Array  #: and after them
    low: npt.NDArray[np.bool_]  #: whether T_low admits the bucket

    def __len__(self) -> int:
        return len(self.a)

    def at(self, chosen: npt.NDArray[np.bool_] | Array) -> Instances:
        return Instances(
            self.a[chosen], self.b[chosen], self.prefix[chosen], self.suffix[chosen], self.low[chosen]
        )


def detect_likely_rules(
    pages: Sequence[Page], params: DetectionParams, *, hash_mask: int = 2**64 - 1
) -> list[LikelyRule]:
    """The rules with a support of at least MS under T_low, by descending support, then α, then β.

    *hash_mask* weakens the substring hashes, so that a test can see collisions being resolved.
    """
    tokens = tokens_of(page.url for page in pages)
    likeness = likeness_of(pages, params.similar, params.sketch_matches)
    found = [
        part
        for bucket in buckets(tokens, params.max_substring, params.bucket_high)
        for part in _pairs_within(bucket, likeness, params.bucket_low)
    ]
    if not found:
        return []
    rules = _count_support(_concatenate(found), tokens, params.min_support, hash_mask)
    return sorted(rules, key=lambda likely: (-likely.support, *anchored(likely.rule)))


def _pairs_within(bucket: Buckets, likeness: Likeness, low: int) -> Iterator[Instances]:
    """Figure 1, lines 14–16: each pair of distinct tuples of a bucket that LikelySimilar lets pass."""
    size = bucket.urls.shape[1]
    for left in range(size - 1):
        for right in range(left + 1, size):
            a, b = bucket.urls[:, left], bucket.urls[:, right]
            likely = likeness.likely(a, b)
            if likely.any():
                yield Instances(
                    a[likely],
                    b[likely],
                    bucket.prefix[likely],
                    bucket.suffix[likely],
                    np.full(int(likely.sum()), size <= low),
                )


def _concatenate(parts: Sequence[Instances]) -> Instances:
    return Instances(
        np.concatenate([part.a for part in parts]),
        np.concatenate([part.b for part in parts]),
        np.concatenate([part.prefix for part in parts]),
        np.concatenate([part.suffix for part in parts]),
        np.concatenate([part.low for part in parts]),
    )


def _count_support(instances: Instances, tokens: Tokens, least: int, hash_mask: int) -> Iterator[LikelyRule]:
    """Figure 1, lines 17–22: group the instances by their two substrings and count."""
    hashes = SubstringHashes(tokens, hash_mask)
    key = hashes.pair_keys(instances.a, instances.b, instances.prefix, instances.suffix)
    _, group = np.unique(key, return_inverse=True)
    frequent = np.bincount(group, weights=instances.low)[group] >= least
    instances, group = instances.at(frequent), group[frequent]
    order = np.argsort(group, kind="stable")
    instances, group = instances.at(order), group[order]
    edges = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1], [True])))[: len(group) + 1]
    # A hash only suggests that the substrings of a group are the same; the tokens say so.
    same = hashes.same_as_first(instances.a, instances.b, instances.prefix, instances.suffix, edges)
    for begin, end in itertools.pairwise(edges.tolist()):
        if same[begin:end].all():
            yield from _rule_of(instances, tokens, range(begin, end), least)
        else:
            for members in _by_substrings(instances, tokens, range(begin, end)).values():
                yield from _rule_of(instances, tokens, members, least)


def _rule_of(
    instances: Instances, tokens: Tokens, members: Sequence[int], least: int
) -> Iterator[LikelyRule]:
    rows = np.asarray(members)
    support = int(instances.low[rows].sum())
    if support >= least:
        rule = shrinking(_substrings(instances, tokens, members[0]))
        yield LikelyRule(rule=rule, support=support, wide_support=len(rows))


def _by_substrings(
    instances: Instances, tokens: Tokens, members: Sequence[int]
) -> dict[SubstringRule, list[int]]:
    exact: dict[SubstringRule, list[int]] = {}
    for row in members:
        exact.setdefault(shrinking(_substrings(instances, tokens, row)), []).append(row)
    return exact


def _substrings(instances: Instances, tokens: Tokens, row: int) -> SubstringRule:
    prefix, suffix = int(instances.prefix[row]), int(instances.suffix[row])

    def substring(url: int) -> str:
        return tokens.text(int(tokens.offsets[url]) + prefix, int(tokens.offsets[url + 1]) - suffix)

    return SubstringRule(
        alpha=substring(int(instances.a[row])),
        beta=substring(int(instances.b[row])),
        start=prefix == 0,
        end=suffix == 0,
    )
