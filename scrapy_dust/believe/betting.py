"""How much a sample proves: bounds on how many of a finite number of things are wrong, wherever the sampling stops.

The test is a bet (Waudby-Smith, Ramdas, 2020: sampling without replacement; Shafer, 2021). Against "at least K of M
are wrong" stakes are laid on several smaller numbers, and each draw multiplies the stakes by how much likelier the
draw is under these numbers than under K. While K is true, the stakes do not grow on average, so that they reach 1/α
with a probability of at most α (Ville). So one may check after each draw, stop at any time, and go on later.

If nothing wrong is found, this is the exact hypergeometric test, except for the tenth of the stakes that is laid on
numbers other than none, or kept. Once all M were examined, nothing is left to chance.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: What is bet on, as parts of the number that is tested, and the share of the stakes.
_STAKES = ((0.0, 0.9), (0.125, 0.025), (0.25, 0.025), (0.5, 0.025), (1.0, 0.025))

_DEAREST = 80.0


@dataclass(frozen=True, slots=True)
class Sample:
    """A random sample of a population: how many were drawn, and how many of these were wrong."""

    population: int
    looked: int = 0
    wrong: int = 0

    @property
    def most(self) -> int:
        """The greatest number of things in the population that can still be wrong."""
        return self.population - self.looked + self.wrong


def evidence_against(sample: Sample, suspected: int) -> float:
    """The logarithm of the stakes won against "at least *suspected* of the population are wrong"."""
    if suspected > sample.most:
        return math.inf
    if suspected <= sample.wrong:
        return -math.inf
    return float(_evidence(sample)[suspected - sample.wrong])


def most_wrong_together(samples: Iterable[Sample], doubt: float) -> int:
    """The greatest sum of wrong ones over several populations: far less than the sum of their bounds.

    All stakes are laid one after the other, so that their product is a bet against a set of numbers. The sum of those
    not refuted is greatest where the next wrong one costs least.
    """
    together = BoundedPopulations(doubt, math.inf)
    together.add(samples)
    return together.bound


class BoundedPopulations:
    """Populations taken in one after the other, as long as at most *allowed* of them all can be wrong."""

    def __init__(self, doubt: float, allowed: float) -> None:
        self._stakes, self._allowed = -math.log(doubt), allowed
        self._free, self._lowest = 0, 0.0
        #: What each further wrong one costs, ascending; more than are allowed say nothing.
        self._steps: list[float] = []
        self.bound = 0  #: so many of them may be wrong, at most

    def add(self, samples: Iterable[Sample]) -> bool:
        """Add *samples*. If more than allowed could be wrong with them, change nothing and return False."""
        costs = [_costs_of_refuting(sample) for sample in samples]
        free = self._free + sum(cost.free for cost in costs)
        lowest = self._lowest + sum(cost.lowest for cost in costs)
        steps = sorted(chain(self._steps, *(cost.steps for cost in costs)))
        if self._allowed < len(steps):
            del steps[int(self._allowed) + 1 :]
        bound = free + bisect_left(list(accumulate(steps)), self._stakes - lowest)
        if bound > self._allowed:
            return False
        self._free, self._lowest, self._steps, self.bound = free, lowest, steps, bound
        return True


@dataclass(frozen=True, slots=True)
class _Costs:
    """How much evidence it takes to refute each number of wrong things in a population."""

    free: int  #: so many may be wrong at the lowest cost
    lowest: float  #: not positive
    steps: Sequence[float]  #: what each further one costs, ascending


@lru_cache(maxsize=4096)
def _costs_of_refuting(sample: Sample) -> _Costs:
    """How much evidence it takes to refute each number of wrong things in the population of *sample*; more of it for
    each further one.
    """
    if not sample.looked:
        return _Costs(sample.population, 0.0, ())
    evidence = _evidence(sample)
    # More than that no doubt can buy.
    hull = _convex_hull_below(evidence[: int(np.searchsorted(np.maximum.accumulate(evidence), _DEAREST)) + 1])
    least = int(len(hull) - 1 - np.argmin(hull[::-1]))
    return _Costs(sample.wrong + least, float(hull[least]), np.diff(hull[least:]).tolist())


@lru_cache(maxsize=4096)
def looks_needed(population: int, suspected: int, doubt: float) -> int:
    """How many things of *population* must be looked at, and all be right, to refute that *suspected* of them are
    wrong.
    """
    low, high = 0, population
    while low < high:
        middle = (low + high) // 2
        if evidence_against(Sample(population, middle), suspected) >= -math.log(doubt):
            high = middle
        else:
            low = middle + 1
    return low


@lru_cache(maxsize=4096)
def _evidence(sample: Sample) -> Floats:
    """For each number of wrong things from `wrong` to `most`, the logarithm of the stakes won against it."""
    tested = np.arange(sample.wrong, sample.most + 1)
    of_null = _likelihood(tested, sample)
    bets = np.array(
        [_likelihood(np.floor(part * tested), sample) + math.log(stake) for part, stake in _STAKES]
    )
    top = bets.max(axis=0)
    with np.errstate(invalid="ignore"):  # all stakes lost: -inf − -inf
        won = np.where(np.isneginf(top), top, top + np.log(np.exp(bets - top).sum(axis=0)))
    found: Floats = won - of_null
    found.setflags(write=False)
    return found


def _likelihood(wrong: npt.NDArray[Any], sample: Sample) -> Floats:
    """For each number of *wrong* things in the population, the logarithm of the probability to draw *sample*, but for a
    factor that all share.
    """
    tested = wrong.astype(np.int64)
    right = sample.population - tested
    possible = (tested >= sample.wrong) & (right >= sample.looked - sample.wrong)
    a = np.where(possible, tested, sample.wrong)
    b = np.where(possible, right, sample.looked - sample.wrong)
    logs = _log_factorials_up_to(sample.population)
    found = logs[a] - logs[a - sample.wrong] + logs[b] - logs[b - sample.looked + sample.wrong]
    return np.where(possible, found, -np.inf)


@lru_cache(maxsize=64)
def _log_factorials_up_to(most: int) -> Floats:
    return np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, most + 1)))))


def _convex_hull_below(values: Sequence[float] | Floats) -> Floats:
    """The greatest convex function below *values*."""
    corners: list[int] = []
    for i in range(len(values)):
        while len(corners) > 1:
            a, b = corners[-2:]
            if (values[b] - values[a]) * (i - a) < (values[i] - values[a]) * (b - a):
                break
            corners.pop()
        corners.append(i)
    found: Floats = np.interp(np.arange(len(values)), corners, [values[corner] for corner in corners])
    return found
