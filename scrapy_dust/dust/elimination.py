"""Phase 2: drop the likely rules that say nothing new.

Every rule given comes back exactly once, kept or dropped. Redundancy is judged from rules and their support
alone; this phase never sees a page.

WWW'07 §5.2, figure 2. A rule dropped remembers the one that made it redundant. Deviation in means, not in
result: the paper compares each rule with up to MW rules below it. What a rule refines is found by stripping
the context its two sides share and looking up what remains, so the work follows the refinements there are,
not the size of the window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scrapy_dust.dust.rules import LikelyRule, SubstringRule, anchored
from scrapy_dust.dust.tokens import tokenize


@dataclass(frozen=True, slots=True, kw_only=True)
class EliminationParams:
    max_relative_deficiency: float = 0.05  #: MRD
    max_absolute_deficiency: int = 1  #: MAD
    max_window: int = 1100  #: MW

    def is_close(self, support: int, smaller: int) -> bool:
        """Figure 2, line 5: whether a rule of *smaller* support is still inside the window."""
        return support - smaller <= max(self.max_relative_deficiency * support, self.max_absolute_deficiency)


@dataclass(frozen=True, slots=True)
class Dropped:
    rule: LikelyRule
    because: LikelyRule  #: of nearly the same support: narrower, or in its turn dropped for one that is


@dataclass(frozen=True, slots=True)
class Elimination:
    kept: tuple[LikelyRule, ...]  #: by descending support under T_low, then α, then β
    dropped: tuple[Dropped, ...]


def eliminate_redundant(likely: Sequence[LikelyRule], params: EliminationParams) -> Elimination:
    """Split *likely* into the rules worth validating and the redundant ones."""
    rules = sorted(likely, key=lambda one: (-one.wide_support, *anchored(one.rule)))
    supports = [one.wide_support for one in rules]
    wider, narrower = _refinements(rules)
    because: dict[int, int] = {}
    for i, support in enumerate(supports):
        if i in because:
            continue
        last = min(i + params.max_window, len(rules) - 1)
        # The first rule in the window that refines this one ends the window (figure 2, lines 8–10). The
        # inner loop does not skip rules that were eliminated before: they still eliminate others.
        refining = narrower[i]
        if refining is not None and (refining > last or not params.is_close(support, supports[refining])):
            refining = None
        for j in wider.get(i, ()):
            if j <= last and (refining is None or j < refining) and params.is_close(support, supports[j]):
                because.setdefault(j, i)
        if refining is not None:
            because[i] = refining
    kept = (one for i, one in enumerate(rules) if i not in because)
    return Elimination(
        kept=tuple(sorted(kept, key=lambda one: (-one.support, *anchored(one.rule)))),
        dropped=tuple(Dropped(rules[i], rules[j]) for i, j in sorted(because.items())),
    )


Pair = tuple[tuple[str, ...], tuple[str, ...]]

# The anchors as tokens: no URL token has more than one character that is not a letter or digit.
_START, _END = "^^", "$$"


def _refinements(rules: Sequence[LikelyRule]) -> tuple[dict[int, list[int]], list[int | None]]:
    """For each rule, by positions, what figure 2 may look at: those behind it that it refines, and the first one behind it
    that refines it.
    """
    position = {_pair(one.rule): i for i, one in enumerate(rules)}
    find = position.get
    wider: dict[int, list[int]] = {}
    narrower: list[int | None] = [None] * len(rules)
    for pair, i in position.items():
        # The longer side stays the longer one; which of two of equal length is in front may depend on what was
        # stripped.
        may_turn = len(pair[0]) == len(pair[1])
        for stripped in _stripped(pair):
            j = find(stripped)
            if j is None and may_turn:
                j = find((stripped[1], stripped[0]))
            if j is None:
                continue
            if j > i:
                # The wider rule seldom has less support.
                wider.setdefault(i, []).append(j)
            elif narrower[j] is None:
                narrower[j] = i
    return {i: sorted(set(positions)) for i, positions in wider.items()}, narrower


def _pair(rule: SubstringRule) -> Pair:
    """Its two sides, not the shorter one first."""
    head, tail = (_START,) * rule.start, (_END,) * rule.end
    alpha, beta = (*head, *tokenize(rule.alpha), *tail), (*head, *tokenize(rule.beta), *tail)
    return (beta, alpha) if len(beta) > len(alpha) else (alpha, beta)


def _stripped(pair: Pair) -> Iterator[Pair]:
    """Every pair that *pair* refines (Lemma 5.3): without some of the context on its two ends.

    Where α' = γαδ and β' = γβδ, γ is a common prefix of the two and δ a common suffix.
    """
    alpha, beta = pair
    len_alpha, len_beta = len(alpha), len(beta)
    shorter = min(len_alpha, len_beta)
    left = _common(alpha, beta)
    right = _common(alpha[::-1], beta[::-1])
    for gamma in range(min(left, shorter) + 1):
        for delta in range(min(right, shorter - gamma) + 1):
            if gamma or delta:
                yield alpha[gamma : len_alpha - delta], beta[gamma : len_beta - delta]


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest common prefix."""
    length = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        length += 1
    return length
