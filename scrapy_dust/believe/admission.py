"""Decides which valid rules may be in force together without losing more URLs than allowed (the end of phase 4).

A rule merges a known number of the log's URLs. The log or a fetch has proved most of these merges; some of the others
may be wrong. `betting.py` bounds how many are, for one sample and for the samples of all rules together. Rules are
admitted in the order of how little stays unproved for what they save, as long as the sum of what they may lose is
allowed. Merges that cannot be tested (pages that change at each fetch, URLs that must not be fetched) count as wrong
as often as the others may be.

The bounds hold at 95 %, and are widened by how many rules were tried for each one admitted: of many bad rules some
pass by chance (Xu, Wang, Ramdas, 2022: e-BY, by which of the bounds stated at most 5 % are false on average, however
the rules were selected).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from scrapy_dust.believe.betting import BoundedPopulations, Sample, most_wrong_together
from scrapy_dust.believe.validation import MOST_SHARE, MOST_SILENT, Pair
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.outcomes import Outcome

DOUBT = 0.05
#: So many cases fewer are hoped for one by one, where not all can be taken in; then half as many each time.
_STEPS = 4
#: So often a pair is looked at again that did not say: a site that is busy may answer later.
_AGAIN = 2


@dataclass(frozen=True, slots=True)
class Bounds:
    """Upper bounds, at 95 %, of what a rule may lose."""

    merges: int  #: URLs of the log that the rule gives the key of another one
    unproved: int  #: of those, the ones that nobody looked at
    wrong: int  #: of all of them, at most so many show another page than the one that is kept
    unseen: float  #: at most this share of such URLs that no log has shown is wrong, if they are like those it has


Samples = Sequence[Sample]
View = Callable[["Case"], Samples]


@dataclass(slots=True, eq=False)
class Case:
    """The merges of one rule (URLs of the log that get the key of another URL by the rule), and what is known of them."""

    rule: Rule
    saves: int
    merges: int
    looked: int = 0  #: of what the log leaves open
    wrong: int = 0  #: of those, shown to be different pages
    left: list[Pair] = field(default_factory=list)  #: still to look at, last first
    again: list[Pair] = field(default_factory=list)  #: did not say, and may say another time
    beyond: int = 0  #: did not say, time and again
    waiting: set[Pair] = field(default_factory=set)
    #: Merge nothing in the log, and may be looked at to prove the rule.
    made_up: list[Pair] = field(default_factory=list)
    proving: set[Pair] = field(default_factory=set)  #: of those, handed out
    _tries: Counter[Pair] = field(default_factory=Counter)

    @property
    def unproved(self) -> int:
        """The number of merges (URLs that get another URL's key) that no log and no fetch has shown to be right."""
        return len(self.left) + len(self.again) + len(self.waiting) + self.beyond

    def samples_now(self) -> Samples:
        """The rule's merges as random samples, by the outcomes that are known now."""
        return self._samples(0, len(self.again) + self.beyond)

    def samples_soon(self) -> Samples:
        """The rule's merges as random samples, if all pairs that are being fetched turn out the same."""
        return self._samples(len(self.waiting), len(self.again) + self.beyond)

    def samples_at_best(self) -> Samples:
        """The rule's merges as random samples, if all pairs that may still be fetched turn out the same."""
        if self._fetches_show_too_little:
            return self.samples_soon()
        return self._samples(len(self.waiting) + len(self.left), self.beyond)

    def _samples(self, hoped: int, silent: int) -> Samples:
        """Two samples: of the merges that the log left open, and of all merges, of which *silent* cannot be tested.

        *hoped* pairs that nobody has fetched are counted as tested, and as right.
        """
        to_come = len(self.left) + len(self.waiting)
        within = Sample(self.looked + to_come, self.looked + hoped, self.wrong)
        told = Sample(self.merges - to_come, self.merges - to_come - silent, self.wrong)
        return [sample for sample in ((within, told) if silent else (within,)) if sample.most]

    @property
    def can_be_asked(self) -> bool:
        """Whether a pair is left that may be fetched."""
        return bool(self.left or self.again) and not self._fetches_show_too_little

    @property
    def _fetches_show_too_little(self) -> bool:
        """Whether too many fetches for the rule could not be judged, so that more would be wasted."""
        silent = self._tries.total()
        return silent >= MOST_SILENT and silent > MOST_SHARE * (silent + self.looked)

    def hand_out(self) -> Pair:
        """Take out the next pair to fetch, which is under way until its outcome is recorded."""
        if not (self.left or self.again):
            self.proving.add(self.made_up[-1])
            return self.made_up.pop()
        pair = self.left.pop() if self.left else self.again.pop(0)
        self.waiting.add(pair)
        return pair

    def wait_for(self, handed_out: Iterable[Pair]) -> None:
        """Count the pairs *handed_out*, which the rule's trial is fetching already, as under way."""
        handed_out = set(handed_out)
        self.waiting.update(handed_out.intersection(self.left))
        self.made_up = [pair for pair in self.made_up if pair not in handed_out]
        self.left = [pair for pair in self.left if pair not in self.waiting]

    def is_waiting_for(self, pair: Pair) -> bool:
        """Whether *pair* was handed out and has no outcome yet."""
        return pair in self.waiting or pair in self.proving

    def record(self, pair: Pair, outcome: Outcome) -> None:
        """Take the *outcome* of *pair*. A pair that was not handed out here changes nothing."""
        self.proving.discard(pair)
        if pair not in self.waiting:
            return
        self.waiting.discard(pair)
        if outcome is Outcome.UNKNOWN:
            self._tries[pair] += 1
            if self._tries[pair] <= _AGAIN:
                self.again.append(pair)
            else:
                self.beyond += 1
        else:
            self.looked += 1
            self.wrong += outcome is Outcome.DIFFERENT


def case_of(rule: Rule, saves: int, merged: Sequence[Pair]) -> Case:
    """The `Case` of a *rule* that saves *saves* URLs. *merged*: the pairs that the rule merges, in the order to draw
    them.
    """
    pairs = [pair for pair in merged if not pair.made_up]
    case = Case(rule, saves, len(pairs))
    case.made_up = [pair for pair in reversed(merged) if pair.made_up and not pair.looked_at]
    for pair in reversed(pairs):
        if pair.looked_at and pair.known is Outcome.UNKNOWN:
            case.again.append(pair)
        elif pair.looked_at:
            case.looked += 1
            case.wrong += pair.known is Outcome.DIFFERENT
        elif pair.known in (None, Outcome.DIFFERENT):
            case.left.append(pair)
    return case


def admitted(cases: Sequence[Case], allowed: float, tried: int, view: View = Case.samples_now) -> list[Case]:
    """The rules to put in force, as cases: the best saving for its risk first, as long as no more than *allowed* URLs
    may be lost.

    *tried*: how many rules were put on trial to find these.
    """
    for least in numbers_to_admit(len(cases)):
        taken = _cases_within_loss(cases, allowed, doubt_for(least, tried), view)
        if len(taken) >= least:
            return taken
    return []


def numbers_to_admit(number: int) -> Iterator[int]:
    """The numbers of rules that `admitted` tries to put in force, in this order: *number* and the next lower ones, then
    halves.

    Bounds are wider where fewer rules are put in force.
    """
    yield from range(number, max(0, number - _STEPS), -1)
    number -= _STEPS
    while number > 0:
        yield number
        number //= 2


def next_to_prove(cases: Sequence[Case], allowed: float, tried: int) -> Case | None:
    """The rule of which a pair should be fetched now, so that a rule can be put in force; None if no fetch would help,
    or outcomes are under way.

    The first rule in line that is not in force is helped by testing the weakest among it and those before it.
    """
    soon = admitted(cases, allowed, tried, Case.samples_soon)
    at_best = admitted(cases, allowed, tried, Case.samples_at_best)
    for case in sorted_by_risk([case for case in at_best if case not in soon]):
        weak = [one for one in (*soon, case) if one.can_be_asked]
        if weak:
            return min(weak, key=lambda one: one.looked / (one.looked + one.unproved))
    return None


def doubt_for(taken: int, tried: int) -> float:
    """The error probability for each bound, so that 95 % of the bounds stated hold. *taken* of *tried* rules are put in
    force.
    """
    return DOUBT * min(1.0, max(taken, 1) / max(tried, 1))


def sorted_by_risk(cases: Sequence[Case]) -> list[Case]:
    """*cases* sorted: those with the fewest unproved merges for each URL saved come first."""
    return sorted(cases, key=lambda case: (bool(case.samples_now()), case.unproved / max(case.saves, 1)))


def _cases_within_loss(cases: Sequence[Case], allowed: float, doubt: float, view: View) -> list[Case]:
    """The cases, best first, that together lose at most *allowed* URLs, but for a probability of *doubt*."""
    together = BoundedPopulations(doubt, allowed)
    return [case for case in sorted_by_risk(cases) if together.add(view(case))]


def lost_together(cases: Sequence[Case], doubt: float, view: View = Case.samples_now) -> int:
    """Upper bound of the number of the log's URLs that all these rules together suppress wrongly."""
    return most_wrong_together((sample for case in cases for sample in view(case)), doubt)


def bounds_of(case: Case, unseen: float, taken: int, tried: int) -> Bounds:
    """Upper bounds of what the rule of *case* may lose. *unseen*: the result of `unseen_bound`."""
    wrong = lost_together([case], doubt_for(taken, tried))
    return Bounds(case.merges, case.unproved, wrong, unseen)
