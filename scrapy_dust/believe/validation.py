"""Validates one rule (phase 4): a `Trial` hands out pairs to compare, takes the outcomes, and comes to a verdict.

A trial fetches nothing itself. The papers' own test is in `paper_validation.py`.

A trial bets against "at least ε of what this rule merges is wrong" (`betting.py`). The rule is valid once a rule of
which that is true would have come so far with a probability of at most `doubt`. The stakes start with what the log
has decided or, if the log has no contents, makes likely. Texts are counted, since pairs of one page are not
independent; and the rule's texts are a finite number, of which fewer and fewer are left. A target that does not
answer takes no page from anybody: it counts as tested, and is no example. `admission.py` decides how much may be lost
in all.

- URLs are drawn without replacement, in the order they are given (shuffle them before). When they run out,
  the rule is valid if the share of counterexamples is below ε and there are at least MS examples.
- Pairs that the log has decided count without a fetch, up to `per_content` for one and the same text.
- Pairs that the log suspects to differ are fetched first, up to `suspects`: nothing refutes a bad rule sooner.
- A redirect counts if it comes again: a few of the redirects in the log are fetched.
- A pair shown to be *different pages* would lose one of them. It refutes the rule as soon as the share of
  such pairs exceeds `max_loss`, long before ε does.
- However good the log's evidence, `open_probes` of the pairs that it leaves open are fetched, if there are any.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from scrapy_dust.believe.betting import Sample, evidence_against, looks_needed
from scrapy_dust.believe.likelihood import log_bet
from scrapy_dust.visits.outcomes import Outcome


class Verdict(StrEnum):
    """The result of a trial."""

    VALID = "valid"
    PROBATION = "probation"  #: it looks right, and too little is known to risk pages that nobody has seen
    REFUTED = "refuted"
    UNDECIDED = "undecided"  #: too little to go by


@dataclass(slots=True, unsafe_hash=True)
class Pair:
    """Two URLs that a rule would give one key."""

    url: str
    target: str
    #: what is known: SAME, DIFFERENT (in the log: a suspicion), UNFETCHABLE; None: nothing yet
    known: Outcome | None = None
    content: str | None = None  #: the digest that pairs of the same page share
    made_up: bool = False  #: no URL of the log led to *target*: nothing is merged as yet
    looked_at: bool = False  #: *known* is what a fetch said, not the log
    ratio: float | None = None  #: how many times likelier what the log shows is, if they are one page
    texts_differ: bool = False  #: in the log, and may be nearly equal all the same
    is_untold: bool = (
        False  #: they differ, and all that the log has of both pages does not tell whether that matters
    )
    by_redirect: bool = False  #: a redirect of the log is all that says that they are the same


#: A pair that is so unlikely to be one page is looked at before others.
_UNLIKELY = 0.05
#: Sizes and the like are never more than this part of the evidence that a rule needs.
_MOST_BY_SIZES = 0.5
#: Fetched pairs that cannot count, and the share of all that were fetched, from which on a rule is given up.
MOST_SILENT, MOST_SHARE = 20, 0.75
#: Pairs of which a redirect is all that is known that are looked at, whatever else speaks for the rule.
_REDIRECTS = 3
#: Of pairs that the log suspects to differ, and of those that it leaves open: so many are looked at of a rule that all of them
#: together would not prove.
_FEW = 4
#: The share of pairs that may stay suspected to differ: some pages change at each fetch, on most sites.
_DOUBT = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialParams:
    """The parameters of trials, with the paper's names where it has one."""

    count: int = 100  #: N
    threshold: float = 0.05  #: ε
    doubt: float = 0.01  #: the probability to accept a rule of which at least ε is wrong
    min_support: int = 3  #: MS: examples that a rule needs where the URLs run out
    max_loss: float = 0.001  #: share of pairs that may be shown to be different pages
    least_saving: float = 0.001  #: share of a site's URLs that a rule must spare to earn its line in the book
    per_content: int = 10  #: pairs of one text that count, of those the log decided
    suspects: int = 20  #: pairs suspected to differ that are looked at, at most
    open_probes: int = 10  #: pairs left open by the log that are tried, however good its evidence
    #: upper bound on the share of merges to come that are wrong, from which on a rule is in force; 1: whatever it is
    max_risk: float = 1.0
    log_only: bool = False  #: nothing can be fetched: suspicions count as true, other open pairs as nothing


@dataclass(frozen=True, slots=True)
class Tally:
    """The outcomes of a rule's pairs, counted."""

    positive: int = 0
    negative: int = 0  #: unfetchable or different
    contradictions: int = 0  #: different
    unknown: int = 0
    from_log: int = 0  #: positives that cost no fetch
    contents: int = 0  #: different texts among the positives

    @property
    def dead(self) -> float:
        """The share of fetched targets that do not answer; from ε on, figure 3 would refuse the rule."""
        dead = self.negative - self.contradictions
        return dead / max(1, self.positive - self.from_log + dead)


class Trial:
    """The trial of one rule."""

    def __init__(self, pairs: Iterable[Pair], params: TrialParams) -> None:
        self._params = params
        self._suspects: list[Pair] = []
        self._open: list[Pair] = []
        self._waiting: dict[Pair, bool] = {}  # handed out, not answered → whether it is a suspect
        self._outcomes: Counter[Outcome] = Counter()
        self._fetched: Counter[Outcome] = Counter()
        self._contents: Counter[str] = Counter()
        self._texts: set[str] = set()  # of all pairs of which something can be learned
        self._dead: set[str] = set()  # texts of pairs whose target does not answer
        self._from_log = self._open_answered = self._unresolved = 0
        self._made_up = Counter[bool]()  # answers to what the rule makes up: whether there was a page
        again: list[Pair] = []
        for pair in pairs:
            if pair.by_redirect and not params.log_only and len(again) < _REDIRECTS:
                again.append(pair)
                self._texts.add(_content_key(pair))
            else:
                self._sort_pair(pair)
        self._redirects_to_come = bool(again)  # none of them has come again so far
        if params.log_only:
            # Of texts that are nearly equal nobody will see which words differ: they may be other pages.
            differing = sum(pair.texts_differ and not pair.is_untold for pair in self._open)
            self._unresolved += sum(pair.is_untold for pair in self._open)
            self._outcomes[Outcome.DIFFERENT] += len(self._suspects) + differing
            self._outcomes[Outcome.UNKNOWN] += len(self._open) - differing
            self._suspects, self._open = [], []
        self._unlooked = max(0, len(self._suspects) - params.suspects)  # suspects that are never looked at
        self._suspects = [*again, *self._suspects[: params.suspects]][::-1]
        # What is merged already comes before what a rule makes up, and what is likely to refute it before both.
        self._open = sorted(self._open, key=lambda pair: (not _is_unlikely(pair), pair.made_up))[::-1]
        self._ratios = {_content_key(pair): pair.ratio for pair in self._open if pair.ratio}
        self._decided = self._decide()

    def _sort_pair(self, pair: Pair) -> None:
        """Count *pair* if the log has decided it. If not, put it with the pairs that the log suspects to differ, or
        leaves open.
        """
        if pair.known is Outcome.UNKNOWN:
            return
        self._texts.add(_content_key(pair))
        if pair.looked_at:
            assert pair.known is not None
            self._open_answered += 1
            self._count_fetched(pair, pair.known, pair.content)
        elif pair.known is Outcome.SAME:
            self._count_known(pair)
        elif pair.known is Outcome.DIFFERENT:
            self._suspects.append(pair)
        else:
            self._open.append(pair)

    def _count_known(self, pair: Pair) -> None:
        """Count a pair that is the same by the log; of one text, at most `per_content` pairs."""
        self._contents[_content_key(pair)] += 1
        if self._contents[_content_key(pair)] <= self._params.per_content:
            self._outcomes[Outcome.SAME] += 1
            self._from_log += 1

    @property
    def verdict(self) -> Verdict | None:
        """The verdict; None while undecided. A verdict stays: later evidence does not change it."""
        return self._decided

    @property
    def waiting(self) -> Collection[Pair]:
        """The pairs that were handed out and have no outcome yet."""
        return self._waiting.keys()

    @property
    def texts(self) -> Counter[str]:
        """How many pairs with equal pages show each text, by the digest of the text."""
        return self._contents

    @property
    def tally(self) -> Tally:
        """The outcomes counted so far."""
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
        """A pair to compare now; None if there is a verdict, or only outcomes to wait for."""
        if self._decided is not None or len(self._waiting) >= self._still_needed():
            return None
        queue = self._suspects or self._open
        if not queue or (queue[-1].made_up and self._tries_made_up()):
            return None
        self._waiting[queue[-1]] = queue is self._suspects
        return queue.pop()

    def record(self, pair: Pair, outcome: Outcome, content: str | None = None) -> None:
        """Take the *outcome* of *pair*, handed out before. *content*: the digest of the text that both show."""
        suspect = self._waiting.pop(pair)
        self._ratios.pop(_content_key(pair), None)
        self._open_answered += not suspect
        self._unresolved += suspect and outcome is Outcome.UNKNOWN
        self._redirects_to_come &= not (pair.by_redirect and outcome is Outcome.SAME)
        self._fetched[outcome] += 1
        self._count_fetched(pair, outcome, content)
        if self._says_nothing():
            self._unlooked += len(self._suspects)
            self._outcomes[Outcome.UNKNOWN] += len(self._open)
            self._suspects, self._open = [], []
        if self._decided is None:
            self._decided = self._decide()

    def _says_nothing(self) -> bool:
        """Whether further fetches would not help, since too many pairs that were fetched had no outcome."""
        silent = self._fetched[Outcome.UNKNOWN]
        return silent >= MOST_SILENT and silent > MOST_SHARE * self._fetched.total()

    def _count_fetched(self, pair: Pair, outcome: Outcome, content: str | None) -> None:
        """Count the *outcome* of a pair that was fetched."""
        self._outcomes[outcome] += 1
        if pair.made_up:
            self._made_up[outcome in (Outcome.SAME, Outcome.DIFFERENT)] += 1
        if outcome is Outcome.SAME:
            self._contents[pair.content or content or pair.url] += 1
        elif outcome is Outcome.UNFETCHABLE:
            self._dead.add(_content_key(pair))

    def _still_needed(self) -> int:
        """How many pairs a verdict takes at best: never hand out more at a time."""
        params = self._params
        sample, by_sizes = self._tested_texts(), math.exp(self._stake_by_sizes())
        doubt = min(1.0, params.doubt * by_sizes)
        examples = looks_needed(sample.population, self._least_suspected(), doubt) - sample.looked
        return max(1, math.ceil(max(examples, params.open_probes - self._open_answered)))

    def _tested_texts(self) -> Sample:
        """The texts that were tested so far, as a sample of all texts that the rule is about."""
        wrong = min(self._outcomes[Outcome.DIFFERENT], len(self._texts))
        right = len(self._dead.union(self._contents))
        return Sample(len(self._texts), min(right + wrong, len(self._texts)), wrong)

    def _least_suspected(self) -> int:
        """The number of wrong texts that the trial has to refute: the share ε of all, at least one."""
        return max(1, math.ceil(self._params.threshold * len(self._texts)))

    def _decide(self) -> Verdict | None:
        """The verdict by the outcomes so far; None while more are needed."""
        params, tally = self._params, self.tally
        if tally.contradictions > params.max_loss * (tally.positive + tally.negative):
            return Verdict.REFUTED
        against = tally.contradictions
        if against and against >= params.threshold * params.count:
            return Verdict.REFUTED
        if self._has_enough() and self._looked_far_enough():
            return Verdict.UNDECIDED if self._leaves_suspicions() else Verdict.VALID
        if self._suspects or self._waiting or (self._open and not self._leads_nowhere()):
            return None
        if against and against >= params.threshold * (tally.positive + tally.negative):
            return Verdict.REFUTED
        # Where hardly anything could be learned by fetching, pairs of one text must not stand for many.
        blind = params.log_only or tally.unknown > tally.positive
        enough = tally.contents if blind else tally.positive
        return (
            Verdict.VALID
            if enough >= params.min_support and not self._leaves_suspicions()
            else Verdict.UNDECIDED
        )

    def _has_enough(self) -> bool:
        """Whether the outcomes so far win the bet against a rule of which the share ε is wrong."""
        params, tally = self._params, self.tally
        if tally.contents < params.min_support:
            return False  # of so few texts none is left soon, and they may all say "not found"
        needed = -math.log(params.doubt) - self._stake_by_sizes()
        return evidence_against(self._tested_texts(), self._least_suspected()) >= needed

    def _stake_by_sizes(self) -> float:
        """The stake that pairs which nobody has fetched add to the bet, by the sizes that the log has of their pages."""
        won = log_bet(list(self._ratios.values()), self._params.threshold) if self._ratios else 0.0
        return max(0.0, min(won, _MOST_BY_SIZES * -math.log(self._params.doubt)))

    def _leads_nowhere(self) -> bool:
        """Whether no URL that the rule makes up exists, as far as was tried: then the rule merges nothing."""
        params = self._params
        if not self._open[-1].made_up:
            return False
        return not self._made_up[True] and self._made_up[False] >= params.open_probes

    def _tries_made_up(self) -> bool:
        """Whether enough URLs that the rule makes up are being fetched to tell whether any exists, and none has answered."""
        waiting = sum(pair.made_up for pair in self._waiting)
        return (
            bool(waiting)
            and not self._made_up[True]
            and self._made_up[False] + waiting >= self._params.open_probes
        )

    def _leaves_suspicions(self) -> bool:
        """Whether too many pairs that the log suspects to differ could not be judged: the site is down, or its pages
        always change.

        Suspicions that were never fetched count as unsettled in the share of those that were.
        """
        if self._redirects_to_come:
            return True
        looked_at = self._params.suspects
        unresolved = self._unresolved * (1 + self._unlooked / looked_at) if looked_at else self._unlooked
        return unresolved > _DOUBT * (self._outcomes[Outcome.SAME] + unresolved)

    def _looked_far_enough(self) -> bool:
        """Whether no suspicion is left, and enough pairs that the log leaves open were fetched."""
        if self._suspects or any(self._waiting.values()):
            return False
        return self._open_answered >= self._params.open_probes or not (self._open or self._waiting)


def first_few(pairs: Iterable[Pair]) -> list[Pair]:
    """The first of *pairs*, just enough to see whether a rule is plainly false."""
    few: list[Pair] = []
    left = {Outcome.DIFFERENT: _FEW, None: _FEW}
    for pair in pairs:
        if pair.looked_at or pair.known not in left:
            few.append(pair)
        elif left[pair.known]:
            left[pair.known] -= 1
            few.append(pair)
    return few


def _is_unlikely(pair: Pair) -> bool:
    """Whether the log makes it unlikely that both URLs show one page."""
    return pair.ratio is not None and pair.ratio < _UNLIKELY


def _content_key(pair: Pair) -> str:
    """A text that is equal for pairs with equal content; a pair of unknown content stands for itself."""
    return pair.content or pair.url
