r"""Phase 1: the likely rules, by support.

For every pair of substrings α, β of the URLs, up to S tokens long, the support is the number of envelopes
they share, but for envelopes of overflowing buckets and those whose two pages are unlikely to be similar:
|(E(α) ∩ E(β)) \\ (O ∪ D)| in the paper's terms (WWW'07 §5.1, figure 1). One run gives the supports under
both bucket limits, T_low and T_high: a bucket that the lower limit admits, the higher admits too.

Most pairs of substrings have too little support. So instances are counted first by a hash of their pair, in a
table of fixed size (`counting`), whether their pages are similar or not; and only those of pairs whose count can
suffice are made, judged, sorted and compared by their tokens. Where a site's buckets have more members than `HELD`,
they are not kept until all are counted, but made a second time.

What crosses from the arrays to Python objects is only the rules that reached the least support.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scrapy_dust.dust.counting import Counts
from scrapy_dust.dust.envelopes import Buckets, buckets
from scrapy_dust.dust.pages import Page
from scrapy_dust.dust.rules import LikelyRule, SubstringRule, anchored
from scrapy_dust.dust.sharing import Array, Numbers
from scrapy_dust.dust.sketches import Likeness, Similar, likeness_of
from scrapy_dust.dust.sorting import edges_of, sorted_with_order
from scrapy_dust.dust.substrings import Hashes, SubstringHashes
from scrapy_dust.dust.tokens import Tokens, tokens_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionParams:
    max_substring: int = 35  #: S
    bucket_low: int = 6  #: T_low: overflowing beyond it
    bucket_high: int = 11  #: T_high
    min_support: int = 3  #: MS
    similar: Similar = Similar.AUTO
    sketch_matches: int = 4  #: k of 4


#: Members of buckets that are kept until all are counted, at some 6 bytes each.
HELD = 80_000_000

#: Instances sorted at a time.
_SORTED = 4_000_000


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
    number of members of buckets that are kept before it is known which are needed.
    """
    tokens = tokens_of(page.url for page in pages)
    likeness = likeness_of(pages, params.similar, params.sketch_matches)
    hashes = SubstringHashes(tokens, hash_mask)
    parts = [part for part in _frequent(tokens, hashes, likeness, params, held) if len(part)]
    rules = _count_support(parts, tokens, hashes, params.min_support)
    return sorted(rules, key=lambda likely: (-likely.support, *anchored(likely.rule)))


def _frequent(
    tokens: Tokens, hashes: SubstringHashes, likeness: Likeness, params: DetectionParams, most_held: int
) -> Iterator[Instances]:
    """The instances of all pairs of substrings that may have the least support, and of hardly any others."""
    held: list[Buckets] = []
    members = 0
    counts = Counts(len(tokens))
    for some in buckets(tokens, params.max_substring, params.bucket_high):
        if some.urls.shape[1] <= params.bucket_low:
            counts.add(_pair_keys(hashes.of(some)).ravel())
        members += some.urls.size
        if members <= most_held:
            held.append(some)
        else:
            held.clear()
    enough = counts.at_least(params.min_support)
    again: Iterable[Buckets] = (
        held if members <= most_held else buckets(tokens, params.max_substring, params.bucket_high)
    )
    for some in again:
        of_members = hashes.of(some)
        keys = _pair_keys(of_members)
        yield _pairs_within(some, of_members, keys, enough.of(keys), likeness, params.bucket_low)


def _pair_keys(of_members: Hashes) -> Hashes:
    """Of the pairs within each bucket, buckets × pairs: equal for equal pairs, whichever comes first."""
    if of_members.shape[1] == 2:
        return of_members[:, :1] + of_members[:, 1:]
    left, right = np.triu_indices(of_members.shape[1], 1)
    return of_members[:, left] + of_members[:, right]


def _pairs_within(
    some: Buckets,
    of_members: Hashes,
    keys: Hashes,
    wanted: npt.NDArray[np.bool_],
    likeness: Likeness,
    low: int,
) -> Instances:
    """Figure 1, lines 14–16: each wanted pair of distinct tuples of a bucket that LikelySimilar lets pass."""
    size = some.urls.shape[1]
    left, right = np.triu_indices(size, 1)
    row, pair = np.nonzero(wanted)
    a, b = some.urls[row, left[pair]], some.urls[row, right[pair]]
    # The greater hash first, so that the two are nearly always in the same order wherever they come together.
    swap = of_members[row, right[pair]] > of_members[row, left[pair]]
    a, b = np.where(swap, b, a), np.where(swap, a, b)
    likely = np.flatnonzero(likeness.likely(a, b))
    row = row[likely]
    return Instances(
        a=a[likely],
        b=b[likely],
        prefix=np.full(len(row), some.prefix, dtype=np.int32),
        suffix=some.suffix[row],
        low=np.full(len(row), size <= low),
        key=keys[row, pair[likely]],
    )


def _count_support(
    parts: list[Instances], tokens: Tokens, hashes: SubstringHashes, least: int
) -> Iterator[LikelyRule]:
    """Figure 1, lines 17–22: group the instances by their two substrings and count."""
    if not parts:
        return
    shift = np.uint64(64 - (sum(map(len, parts)) // _SORTED).bit_length())
    if shift == 64:
        yield from _count_some(_concatenate(parts), tokens, hashes, least)
        return
    for number in range(1 << (64 - int(shift))):
        some = [part.at((part.key >> shift) == number) for part in parts]
        yield from _count_some(_concatenate(some), tokens, hashes, least)


def _concatenate(parts: Sequence[Instances]) -> Instances:
    return Instances(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Instances.__slots__)
    )


def _count_some(
    instances: Instances, tokens: Tokens, hashes: SubstringHashes, least: int
) -> Iterator[LikelyRule]:
    if not len(instances):
        return
    # As many bits of the hash as go beside the row's number: what has the same is compared by its tokens anyway.
    bits = np.uint64(len(instances).bit_length() + 1)
    key, order = sorted_with_order((instances.key >> bits).astype(np.int64))
    instances, edges = instances.at(order), edges_of(key)
    support = np.add.reduceat(instances.low, edges[:-1], dtype=np.int64)
    # A hash only suggests that the substrings of a group are the same; the tokens say so.
    enough = support >= least
    instances = instances.at(np.repeat(enough, np.diff(edges)))
    edges, support = np.concatenate(([0], np.cumsum(np.diff(edges)[enough]))), support[enough]
    if not len(support):
        return
    same = hashes.same_as_first(instances.a, instances.b, instances.prefix, instances.suffix, edges)
    together = np.logical_and.reduceat(same, edges[:-1])
    wide = np.diff(edges)
    rules = _rules_of(instances.at(edges[:-1][together]), tokens)
    for rule, of_rule, of_wide in zip(
        rules, support[together].tolist(), wide[together].tolist(), strict=True
    ):
        yield LikelyRule(rule=rule, support=of_rule, wide_support=of_wide)
    for group in np.flatnonzero(~together).tolist():
        yield from _told_apart(instances.at(np.arange(edges[group], edges[group + 1])), tokens, least)


def _told_apart(instances: Instances, tokens: Tokens, least: int) -> Iterator[LikelyRule]:
    """Of instances with one hash and several pairs of substrings."""
    members: dict[SubstringRule, list[int]] = {}
    for row, rule in enumerate(_rules_of(instances, tokens)):
        members.setdefault(rule, []).append(row)
    for rule, rows in members.items():
        support = int(instances.low[rows].sum())
        if support >= least:
            yield LikelyRule(rule=rule, support=support, wide_support=len(rows))


def _rules_of(instances: Instances, tokens: Tokens) -> Iterator[SubstringRule]:
    """The two substrings of each instance, as `shrinking` would have them."""
    sides = [
        _texts(tokens, tokens.offsets[url] + instances.prefix, tokens.offsets[1:][url] - instances.suffix)
        for url in (instances.a, instances.b)
    ]
    anchors = (instances.prefix == 0).tolist(), (instances.suffix == 0).tolist()
    for one, other, start, end in zip(*sides, *anchors, strict=True):
        (_, alpha), (_, beta) = (one, other) if one > other else (other, one)
        yield SubstringRule(alpha, beta, start, end)


def _texts(tokens: Tokens, begin: Array, end: Array) -> list[tuple[int, str]]:
    """What is between *begin* and *end*, each with the number of its tokens."""
    counts = end - begin
    ends = np.cumsum(counts)
    places = np.repeat(begin - (ends - counts), counts) + np.arange(int(counts.sum()))
    texts = [tokens.vocabulary[number] for number in tokens.ids[places].tolist()]
    return [
        (count, "".join(texts[last - count : last]))
        for count, last in zip(counts.tolist(), ends.tolist(), strict=True)
    ]
