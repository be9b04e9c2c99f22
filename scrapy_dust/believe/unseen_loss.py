"""How much a rule may lose of URLs that nobody has seen: an upper bound at 95 % of the share of wrong merges.

Evidence is counted in contents, not in pairs, since many pairs of one content say little more than one. A URL to come
shows a known content or a new one, and only contents tell about new ones. How often a new one comes, the share of
contents among the pairs says (Good and Turing). If all pairs show one page, its URLs are counted.

A rule that has held n times is a law of its site, or an accident that holds at an unknown rate. No law is known to
hold for ever: elsewhere one merge in some hundreds of such rules was wrong, so no bound is smaller than what so many
observations more would prove. The share of laws
among rules of its family elsewhere says how much doubt is left: the bound rests on that as far as it is calibrated,
which `python -m benchmarks.calibration` tests with contents that had no part in it. Without a family, 150 contents
prove 2 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from scrapy_dust.propose.edits.edit_weighing import PRIORS

#: The bound is too small with this probability at most.
DOUBT = 0.05
#: No family is believed more than this to be one of laws: what it has shown, it has shown on few sites.
_MOST_LAWS = 0.6
_UNKNOWN_FAMILY = 0.1
#: For so many merges that nobody had seen, rules in force have held on other sites: of 6,063 of the replay 15 were wrong.
_LAWS_HELD = 400
#: Cells in which rates are counted.
_CELLS = 4096


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The evidence for a rule: how many contents and pairs confirm it, and how many pairs contradict it."""

    contents: int  #: that were seen to be the same under several of its URLs
    pairs: int  #: of URLs that show them
    wrong: int = 0  #: pairs of different pages


NO_WITNESSES = Witnesses(0, 0)


def law_share(families: Iterable[str]) -> float:
    """The share of rules of these *families* (kinds of rules) that never fail on other sites; of several, the lowest
    share.
    """
    return min((_MOST_LAWS, *(PRIORS.get(family, _UNKNOWN_FAMILY) for family in families)))


def unseen_bound(seen: Witnesses, laws: float = 0.0) -> float:
    """Upper bound of the share of wrong merges among URLs to come, if these are like those that were *seen*.

    *laws*: the share of rules of the same kind that never fail on other sites, as `law_share` gives it.
    """
    if not seen.contents:
        return 1.0
    of_new = _bound(seen.contents, seen.wrong, laws)
    pairs = max(seen.pairs, seen.contents)
    new = seen.contents / pairs
    accident = new * of_new + (1 - new) * min(of_new, _bound(pairs, seen.wrong, laws))
    return max(accident, -math.expm1(math.log(DOUBT) / (_LAWS_HELD + pairs)))


@lru_cache(maxsize=1024)
def contents_to_prove(bound: float, laws: float) -> int:
    """The number of contents, each seen under two URLs and none wrong, that shows the share of wrong merges to be at most *bound*.
    *laws*: as `law_share` gives it.
    """
    needed = 1
    while _bound(needed, 0, laws) > bound:
        needed += 1
    return needed


@lru_cache(maxsize=4096)
def _bound(held: int, failed: int, laws: float) -> float:
    """The rate of failures that is exceeded with a probability of `DOUBT`, after *held* successes and *failed*
    failures.

    Before any observation, the rate of an accident may be anything. *laws*: the share of rules that never fail.
    """
    rates = (np.arange(_CELLS) + 0.5) / _CELLS
    accident = (1 - laws) / _CELLS * np.exp(failed * np.log(rates) + held * np.log1p(-rates))
    law = laws if not failed else 0.0
    total = law + accident.sum()
    if not total:
        return 1.0
    beyond = np.cumsum(accident[::-1])[::-1] / total
    within = np.flatnonzero(beyond <= DOUBT)
    return float(within[0]) / _CELLS if len(within) else 1.0
