"""Instances of rules: pairs of URLs of a log that differ in one place alone, with the two substrings that stand there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scrapy_dust.propose.dustbuster.shared_affixes import Array, Numbers
from scrapy_dust.propose.dustbuster.token_arrays import Tokens
from scrapy_dust.rules.substitution import Substitute

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Instances:
    """The instance table IT of figure 1, or a part of it."""

    a: Numbers  #: URL number
    b: Numbers  #: URL number
    prefix: Numbers  #: tokens of the envelope before the substrings
    suffix: Numbers  #: and after them
    low: Bools  #: whether it counts under T_low
    wide: Bools  #: and under T_high

    def __len__(self) -> int:
        return len(self.a)

    def rows(self, chosen: Bools | Array) -> Instances:
        """The instances at the positions *chosen*."""
        return Instances(*(getattr(self, name)[chosen] for name in self.__slots__))


def one_table(parts: Iterable[Instances]) -> Instances:
    """The instances of all *parts* in one table."""
    found = list(parts)
    if not found:
        none = np.zeros(0, dtype=np.int32)
        return Instances(none, none, none, none, none.astype(np.bool_), none.astype(np.bool_))
    return Instances(
        *(np.concatenate([getattr(part, name) for part in found]) for name in Instances.__slots__)
    )


def rules_of(instances: Instances, tokens: Tokens) -> Iterator[Substitute]:
    """The rule that each instance shows, in the direction of `shrinking`."""
    sides = [
        _texts_between(
            tokens, tokens.offsets[url] + instances.prefix, tokens.offsets[1:][url] - instances.suffix
        )
        for url in (instances.a, instances.b)
    ]
    anchors = (instances.prefix == 0).tolist(), (instances.suffix == 0).tolist()
    for one, other, start, end in zip(*sides, *anchors, strict=True):
        (_, alpha), (_, beta) = (one, other) if one > other else (other, one)
        yield Substitute(alpha, beta, start, end)


def _texts_between(tokens: Tokens, begin: Array, end: Array) -> Sequence[tuple[int, str]]:
    """The text of the tokens from *begin* to *end* of each instance, with its number of tokens."""
    counts = end - begin
    ends = np.cumsum(counts)
    places = np.repeat(begin - (ends - counts), counts) + np.arange(int(counts.sum()))
    texts = [tokens.vocabulary[number] for number in tokens.ids[places].tolist()]
    return [
        (count, "".join(texts[last - count : last]))
        for count, last in zip(counts.tolist(), ends.tolist(), strict=True)
    ]
