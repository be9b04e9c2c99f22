r"""Phase 1: the likely rules, by support.

For every pair of substrings α, β of the URLs, up to S tokens long, the support is the number of envelopes
they share, but for envelopes of overflowing buckets and those whose two pages are unlikely to be similar:
|(E(α) ∩ E(β)) \\ (O ∪ D)| in the paper's terms (WWW'07 §5.1, figure 1). One run gives the supports under
both bucket limits, T_low and T_high: a bucket that the lower limit admits, the higher admits too.

Most pairs of substrings have too little support. So instances are counted by a hash of their pair first, in a
table of fixed size, and only those are sorted whose count can suffice. Where the instances of a site are more than
`HELD`, they are not kept until all are counted, but made a second time.

What crosses from the arrays to Python objects is only the rules that reached the least support.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scrapy_dust.dust.envelopes import Array, Buckets, buckets
from scrapy_dust.dust.pages import Page
from scrapy_dust.dust.rules import LikelyRule, SubstringRule, anchored, shrinking
from scrapy_dust.dust.sketches import Likeness, Similar, likeness_of
from scrapy_dust.dust.substrings import Hashes, SubstringHashes, mix
from scrapy_dust.dust.tokens import Tokens, tokens_of

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionParams:
    max_substring: int = 35  #: S
    bucket_low: int = 6  #: T_low: overflowing beyond it
    bucket_high: int = 11  #: T_high
    min_support: int = 3  #: MS
    similar: Similar = Similar.AUTO
    sketch_matches: int = 4  #: k of 4


#: Instances kept until all are counted, at 40 bytes each.
HELD = 10_000_000


@dataclass(frozen=True, slots=True)
class Instances:
    """The instance table IT: pairs of URLs with one envelope, whose pages may be similar."""

    a: Numbers  #: URL number
    b: Numbers  #: URL number
    prefix: Numbers  #: tokens of the envelope before the substrings
    suffix: Numbers  #: and after them
    low: npt.NDArray[np.bool_]  #: whether T_low admits the bucket
    key: Hashes  #: of the two substrings, whichever comes first

    def __len__(self) -> int:
        return len(self.a)

    def at(self, chosen: npt.NDArray[np.bool_] | Array) -> Instances:
        return Instances(*(getattr(self, name)[chosen] for name in self.__slots__))


def detect_likely_rules(
    pages: Sequence[Page], params: DetectionParams, *, hash_mask: int = 2**64 - 1, held: int = HELD
) -> list[LikelyRule]:
    """The rules with a support of at least MS under T_low, by descending support, then α, then β.

    *hash_mask* weakens the substring hashes, so that a test can see collisions being resolved. *held* is the
    number of instances that are kept before it is known which are needed.
    """
    tokens = tokens_of(page.url for page in pages)
    likeness = likeness_of(pages, params.similar, params.sketch_matches)
    hashes = SubstringHashes(tokens, hash_mask)

    def made() -> Iterator[Instances]:
        for bucket in buckets(tokens, params.max_substring, params.bucket_high):
            yield _pairs_within(bucket, likeness, hashes, params.bucket_low)

    parts = list(_frequent(made, Counts(len(pages)), params.min_support, held))
    if not sum(map(len, parts)):
        return []
    instances = _concatenate(parts)
    parts.clear()
    rules = _count_support(instances, tokens, hashes, params.min_support)
    return sorted(rules, key=lambda likely: (-likely.support, *anchored(likely.rule)))


def _pairs_within(bucket: Buckets, likeness: Likeness, hashes: SubstringHashes, low: int) -> Instances:
    """Figure 1, lines 14–16: each pair of distinct tuples of a bucket that LikelySimilar lets pass."""
    size = bucket.urls.shape[1]
    left, right = np.triu_indices(size, 1)
    a, b = bucket.urls[:, left].ravel(), bucket.urls[:, right].ravel()
    likely = np.flatnonzero(likeness.likely(a, b))
    a, b, row = a[likely], b[likely], likely // len(left)
    prefix, suffix = bucket.prefix[row], bucket.suffix[row]
    key = hashes.pair_keys(a, b, prefix, suffix)
    small = [array.astype(np.int32) for array in (a, b, prefix, suffix)]
    return Instances(small[0], small[1], small[2], small[3], np.full(len(a), size <= low), key)


def _frequent(
    made: Callable[[], Iterator[Instances]], counts: Counts, least: int, most_held: int
) -> Iterator[Instances]:
    """Of all instances those whose pair may have the least support, and hardly any others."""
    held: list[Instances] = []
    rows = 0
    for part in made():
        counts.add(part.key[part.low])
        rows += len(part)
        if rows <= most_held:
            held.append(part)
        else:
            held.clear()
    for part in held if rows <= most_held else made():
        yield part.at(counts.of(part.key) >= least)


class Counts:
    """How often keys were added, in a table of fixed size: never too few, too many where two share a place."""

    def __init__(self, urls: int) -> None:
        bits = min(max((64 * urls).bit_length(), 10), 26)
        self._shift = np.uint64(64 - bits)
        self._counts = np.zeros(1 << bits, dtype=np.uint32)

    def add(self, keys: Hashes) -> None:
        np.add.at(self._counts, self._place(keys), 1)

    def of(self, keys: Hashes) -> npt.NDArray[np.uint32]:
        return self._counts[self._place(keys)]

    def _place(self, keys: Hashes) -> Array:
        return (mix(keys) >> self._shift).astype(np.int64)


def _concatenate(parts: Sequence[Instances]) -> Instances:
    return Instances(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Instances.__slots__)
    )


def _count_support(
    instances: Instances, tokens: Tokens, hashes: SubstringHashes, least: int
) -> Iterator[LikelyRule]:
    """Figure 1, lines 17–22: group the instances by their two substrings and count."""
    instances = instances.at(np.argsort(instances.key, kind="stable"))
    key = instances.key
    begins = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    edges = np.append(begins, len(key))
    # A hash only suggests that the substrings of a group are the same; the tokens say so.
    same = hashes.same_as_first(instances.a, instances.b, instances.prefix, instances.suffix, edges)
    together = np.logical_and.reduceat(same, begins)
    support = np.add.reduceat(instances.low, begins, dtype=np.int64)
    for group in np.flatnonzero(support >= least).tolist():
        rows = range(int(edges[group]), int(edges[group + 1]))
        if together[group]:
            yield _rule_of(instances, tokens, rows, int(support[group]))
        else:
            for members in _by_substrings(instances, tokens, rows).values():
                of_members = int(instances.low[members].sum())
                if of_members >= least:
                    yield _rule_of(instances, tokens, members, of_members)


def _rule_of(instances: Instances, tokens: Tokens, members: Sequence[int], support: int) -> LikelyRule:
    rule = shrinking(_substrings(instances, tokens, members[0]))
    return LikelyRule(rule=rule, support=support, wide_support=len(members))


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
