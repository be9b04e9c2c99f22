"""Phase 2: drops the likely rules that say nothing new.

Every rule given comes back exactly once, kept or dropped. Redundancy is judged from rules and their support alone;
this phase never sees a page.

WWW'07 §5.2, figure 2. A dropped rule remembers the rule that made it redundant. The means differ from the paper, the
result does not: the paper compares each rule with up to MW rules below it. Here the rules that refine each other are
looked up (`refinement`), so the work follows the number of refinements, not the size of the window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scrapy_dust.propose.dustbuster.likely_rules import LikelyRule
from scrapy_dust.propose.dustbuster.refinement import refinements
from scrapy_dust.propose.dustbuster.shared_affixes import Array
from scrapy_dust.rules.substitution import anchored


@dataclass(frozen=True, slots=True, kw_only=True)
class EliminationParams:
    """The parameters of phase 2, with the paper's names."""

    max_relative_deficiency: float = 0.05  #: MRD
    max_absolute_deficiency: int = 1  #: MAD
    max_window: int = 1100  #: MW

    def allowed(self, support: Array) -> Array:
        """Figure 2, line 5: by how much a rule's *support* may exceed that of another rule in its window."""
        most = np.maximum(self.max_relative_deficiency * support, self.max_absolute_deficiency)
        allowed: Array = np.floor(most).astype(np.int64)
        return allowed


@dataclass(frozen=True, slots=True)
class Dropped:
    """A redundant rule, and the rule that made it redundant."""

    rule: LikelyRule
    because: LikelyRule  #: of nearly the same support: narrower, or in its turn dropped for one that is


@dataclass(frozen=True, slots=True)
class Elimination:
    """The result of phase 2."""

    kept: tuple[LikelyRule, ...]  #: by descending support under T_low, then α, then β
    dropped: tuple[Dropped, ...]


def eliminate_redundant(likely: Sequence[LikelyRule], params: EliminationParams) -> Elimination:
    """Split *likely*, no two of which have the same sides, into the rules worth validating and the redundant ones."""
    return eliminate_in_sites([likely], params)[0]


def eliminate_in_sites(
    sites: Sequence[Sequence[LikelyRule]], params: EliminationParams, *, hash_mask: int = 2**64 - 1
) -> list[Elimination]:
    """The results for each of several sites, as `eliminate_redundant` gives them.

    All sites are processed together: for small sites, the passes over arrays cost what they cost for one.
    *hash_mask*: as in `refinements`.
    """
    rules = [
        one
        for likely in sites
        for one in sorted(likely, key=lambda one: (-one.wide_support, *anchored(one.rule)))
    ]
    sizes = np.array([len(likely) for likely in sites], dtype=np.int64)
    ends = np.cumsum(sizes)
    narrow, wide = refinements(
        [one.rule for one in rules],
        np.repeat(np.arange(len(sizes)), sizes),
        _window_ends(np.array([one.wide_support for one in rules], dtype=np.int64), ends, params),
        hash_mask=hash_mask,
    )
    because = _dropped_because(narrow, wide)
    return [
        _elimination_of_site(rules, range(end - size, end), because)
        for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)
    ]


def _window_ends(support: Array, ends: Array, params: EliminationParams) -> Array:
    """For each rule, the last one that figure 2 compares with it: in its window, and with no far smaller support between."""
    least = support - params.allowed(support)
    last = np.arange(len(support)) + params.max_window
    begin = 0
    for end in ends.tolist():
        near = np.searchsorted(-support[begin:end], -least[begin:end], side="right") + (begin - 1)
        last[begin:end] = np.minimum(last[begin:end], near)
        begin = end
    return last


def _dropped_because(narrow: Array, wide: Array) -> dict[int, int]:
    """For each dropped rule, the rule that made it redundant; rules are given by position."""
    refining: dict[int, int] = {}  # the first one behind a rule that refines it
    wider: dict[int, list[int]] = {}
    for one, other in zip(narrow.tolist(), wide.tolist(), strict=True):
        if one > other:
            refining[other] = min(one, refining.get(other, one))
        else:
            # The wider rule seldom has less support.
            wider.setdefault(one, []).append(other)
    because: dict[int, int] = {}
    for i in sorted({*refining, *wider}):
        if i in because:
            continue
        # The first rule in the window that refines this one ends the window (figure 2, lines 8–10). The
        # inner loop does not skip rules that were eliminated before: they still eliminate others.
        end = refining.get(i)
        for j in wider.get(i, ()):
            if end is None or j < end:
                because.setdefault(j, i)
        if end is not None:
            because[i] = end
    return because


def _elimination_of_site(rules: Sequence[LikelyRule], site: range, because: Mapping[int, int]) -> Elimination:
    """The rules of one site, by their positions *site*, kept or dropped. *because*: see `_dropped_because`."""
    kept = (rules[i] for i in site if i not in because)
    return Elimination(
        kept=tuple(sorted(kept, key=lambda one: (-one.support, *anchored(one.rule)))),
        dropped=tuple(Dropped(rules[i], rules[because[i]]) for i in site if i in because),
    )
