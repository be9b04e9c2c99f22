"""Phase 4, one rule: a `Trial` hands out pairs to look at, takes what they say, and comes to a verdict.

WWW'07 figure 3 (ValidateRule), without the fetching: who fetches is not its business. It ends with
positive ≥ (1 − ε)N or negative ≥ εN, as there. Deviations:

- URLs are drawn without replacement, in the order they are given (shuffle them before). Where they run out,
  the rule is valid if the share of counterexamples is below ε and there are at least MS examples.
- Pairs that the log has decided count without a fetch, up to `per_content` for one and the same text.
- Pairs that the log suspects to differ are looked at first, up to `suspects`: nothing refutes a bad rule sooner.
- A pair shown to be *different pages* would lose one of them. It refutes the rule as soon as the share of
  such pairs exceeds `max_loss`, long before ε does.
- However good the log's evidence, `open_probes` of the pairs that it leaves open are tried, if there are any.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from scrapy_dust.dust.judging import Outcome


class Verdict(StrEnum):
    VALID = "valid"
    REFUTED = "refuted"
    UNDECIDED = "undecided"  #: too little to go by


@dataclass(frozen=True, slots=True)
class Pair:
    """Two URLs that a rule would give one key."""

    url: str
    target: str
    known: Outcome | None = (
        None  #: what the log says: SAME, or DIFFERENT (a suspicion); None: it leaves it open
    )
    content: str | None = None  #: the digest that pairs of the same page share


#: The share of pairs that may stay suspected to differ: some pages change at each fetch, on most sites.
_DOUBT = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialParams:
    count: int = 100  #: N
    threshold: float = 0.05  #: ε
    min_support: int = 3  #: MS: examples that a rule needs where the URLs run out before N
    max_loss: float = 0.001  #: share of pairs that may be shown to be different pages
    per_content: int = 10  #: pairs of one text that count, of those the log decided
    suspects: int = 20  #: pairs suspected to differ that are looked at, at most
    open_probes: int = 10  #: pairs left open by the log that are tried, however good its evidence
    log_only: bool = False  #: nothing can be fetched: suspicions count as true, open pairs as nothing


@dataclass(frozen=True, slots=True)
class Tally:
    """What the pairs said."""

    positive: int = 0
    negative: int = 0  #: unfetchable or different
    contradictions: int = 0  #: different
    unknown: int = 0
    from_log: int = 0  #: positives that cost no fetch
    contents: int = 0  #: different texts among the positives


class Trial:
    """One rule on trial."""

    def __init__(self, pairs: Iterable[Pair], params: TrialParams) -> None:
        self._params = params
        self._suspects: list[Pair] = []
        self._open: list[Pair] = []
        self._waiting: dict[Pair, bool] = {}  # handed out, not answered → whether it is a suspect
        self._outcomes: Counter[Outcome] = Counter()
        self._contents: Counter[str] = Counter()
        self._from_log = self._open_answered = self._unresolved = 0
        for pair in pairs:
            if pair.known is Outcome.SAME:
                self._count_known(pair)
            elif pair.known is Outcome.DIFFERENT:
                self._suspects.append(pair)
            elif pair.known is None:
                self._open.append(pair)
        if params.log_only:
            self._outcomes[Outcome.DIFFERENT] = len(self._suspects)
            self._outcomes[Outcome.UNKNOWN] = len(self._open)
            self._suspects, self._open = [], []
        self._unlooked = max(0, len(self._suspects) - params.suspects)  # suspects that are never looked at
        self._suspects = self._suspects[: params.suspects][::-1]
        self._open.reverse()
        self._decided = self._decide()

    def _count_known(self, pair: Pair) -> None:
        content = pair.content or pair.url
        self._contents[content] += 1
        if self._contents[content] <= self._params.per_content:
            self._outcomes[Outcome.SAME] += 1
            self._from_log += 1

    @property
    def verdict(self) -> Verdict | None:
        """None while undecided. A verdict stays, whatever is recorded later."""
        return self._decided

    @property
    def tally(self) -> Tally:
        outcomes = self._outcomes
        return Tally(
            positive=outcomes[Outcome.SAME],
            negative=outcomes[Outcome.UNFETCHABLE] + outcomes[Outcome.DIFFERENT],
            contradictions=outcomes[Outcome.DIFFERENT],
            unknown=outcomes[Outcome.UNKNOWN],
            from_log=self._from_log,
            contents=len(self._contents),
        )

    def next_pair(self) -> Pair | None:
        """A pair to look at now; None when there is a verdict, or only pairs handed out already to wait for."""
        if self._decided is not None or len(self._waiting) >= self._still_needed():
            return None
        queue = self._suspects or self._open
        if not queue:
            return None
        self._waiting[queue[-1]] = queue is self._suspects
        return queue.pop()

    def record(self, pair: Pair, outcome: Outcome, content: str | None = None) -> None:
        """What *pair*, handed out before, turned out to say. *content* is the digest of the text both show."""
        suspect = self._waiting.pop(pair)
        self._open_answered += not suspect
        self._unresolved += suspect and outcome is Outcome.UNKNOWN
        self._outcomes[outcome] += 1
        if outcome is Outcome.SAME:
            self._contents[content or pair.content or pair.url] += 1
        if self._decided is None:
            self._decided = self._decide()

    def _still_needed(self) -> int:
        """How many pairs it takes to come to a verdict at best: never ask for more at a time."""
        params = self._params
        examples = params.count * (1 - params.threshold) - self._outcomes[Outcome.SAME]
        return max(1, math.ceil(max(examples, params.open_probes - self._open_answered)))

    def _decide(self) -> Verdict | None:
        params, tally = self._params, self.tally
        if tally.contradictions > params.max_loss * (tally.positive + tally.negative):
            return Verdict.REFUTED
        if tally.negative and tally.negative >= params.threshold * params.count:
            return Verdict.REFUTED
        if tally.positive >= (1 - params.threshold) * params.count and self._looked_far_enough():
            return Verdict.UNDECIDED if self._in_doubt() else Verdict.VALID
        if self._suspects or self._open or self._waiting:
            return None
        if tally.negative and tally.negative >= params.threshold * (tally.positive + tally.negative):
            return Verdict.REFUTED
        # Where hardly anything could be learned by fetching, pairs of one text must not stand for many.
        blind = params.log_only or tally.unknown > tally.positive
        enough = tally.contents if blind else tally.positive
        return Verdict.VALID if enough >= params.min_support and not self._in_doubt() else Verdict.UNDECIDED

    def _in_doubt(self) -> bool:
        """Whether suspicions stay that fetching did not settle: the site is down, or its pages always change.

        Those never looked at are taken for unsettled in the share of those that were.
        """
        looked_at = self._params.suspects
        unresolved = self._unresolved * (1 + self._unlooked / looked_at) if looked_at else self._unlooked
        return unresolved > _DOUBT * (self._outcomes[Outcome.SAME] + unresolved)

    def _looked_far_enough(self) -> bool:
        """Whether no suspicion is left, and enough of what the log leaves open was tried."""
        if self._suspects or any(self._waiting.values()):
            return False
        return self._open_answered >= self._params.open_probes or not (self._open or self._waiting)
