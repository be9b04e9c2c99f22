"""Tells whether a rule in force is still true, judged from a few of the URLs that it suppresses, as they come.

Each of these URLs is compared with the URL that was fetched instead. A rule that holds shows different pages for at
most a share of ``DUST_MAX_LOSS`` of its URLs; when a site changes, the share grows from some moment on, nobody knows
when or how much. An e-detector finds such a change (Shin, Ramdas and Rinaldo, *E-detectors: a nonparametric framework
for sequential change detection*, 2023): for each moment at which the change may have happened, the likelihood of the
outcomes since, under more loss against the tolerated one, and the sum of these (Shiryaev and Roberts). However long a
true rule is watched, it is suspended by mistake only once in ``1 / threshold`` outcomes on average.

The threshold is a tenth of the tolerated loss, so one difference alone does not suspend a rule, but two with little
between them do (three where much loss is tolerated). The first puts the rule in doubt; a rule in doubt should not be
applied.
"""

from __future__ import annotations

from enum import StrEnum

from scrapy_dust.visits.outcomes import Outcome

#: A tolerated loss out of these bounds is taken for the nearer one: no loss at all could never be told from little.
_LEAST, _MOST = 1e-4, 0.02
#: Suspended from this many times the inverse of the tolerated loss on.
_SUSPENDED = 10.0
#: No more in doubt when the evidence is back below so many times what nothing but agreement leads to.
_CLEARED = 1.5
#: In doubt and with so many comparisons that showed nothing, beyond those that showed the same, it stays unproved.
_OPEN = 20


class Standing(StrEnum):
    """How far a rule in force is trusted, by the outcomes of its tests."""

    TRUSTED = "trusted"
    DOUBTED = "doubted"
    REFUTED = "refuted"


class Watch:
    """Watches one rule in one crawl."""

    def __init__(self, max_loss: float) -> None:
        loss = min(max(max_loss, _LEAST), _MOST)
        self._limit = _SUSPENDED / loss
        # Shares of loss that a change may bring, evenly in size between the tolerated one and all.
        self._ratios = [
            (share / loss, (1 - share) / (1 - loss)) for share in (loss ** (2 / 3), loss ** (1 / 3), 1.0)
        ]
        # Where a long time of nothing but agreement leads to: the crawl's first outcomes are not its rule's.
        self._sums = [same / (1 - same) for _, same in self._ratios]
        self._clear = _CLEARED * self.evidence
        self._since_doubt = [0, 0]  # outcomes that showed the same, and nothing
        self.standing = Standing.TRUSTED
        self.same = self.different = self.unknown = 0

    @property
    def evidence(self) -> float:
        """The evidence against the rule: the e-detector's value."""
        return sum(self._sums) / len(self._sums)

    def record(self, outcome: Outcome) -> Standing:
        """Take one *outcome*. Returns the rule's standing; a refuted rule stays refuted."""
        if outcome is Outcome.SAME:
            self.same += 1
        elif outcome is Outcome.DIFFERENT:
            self.different += 1
        else:
            self.unknown += 1
        if outcome in (Outcome.SAME, Outcome.DIFFERENT):
            column = outcome is Outcome.SAME
            self._sums = [(s + 1) * r[column] for s, r in zip(self._sums, self._ratios, strict=True)]
        if self.standing is not Standing.REFUTED:
            self.standing = self._standing_after(outcome)
        return self.standing

    def _standing_after(self, outcome: Outcome) -> Standing:
        """How far the rule is trusted after *outcome*: a difference puts it in doubt, the same page clears it."""
        if self.evidence >= self._limit:
            return Standing.REFUTED
        if outcome is Outcome.DIFFERENT:
            self._since_doubt = [0, 0]
            return Standing.DOUBTED
        if self.standing is Standing.TRUSTED or self.evidence < self._clear:
            return Standing.TRUSTED
        self._since_doubt[outcome is not Outcome.SAME] += 1
        same, nothing = self._since_doubt
        # Pages that cannot be compared do not clear it, and doing without a rule is always allowed.
        return Standing.REFUTED if nothing >= _OPEN + same else Standing.DOUBTED
