"""Decides which of the rules that passed their trials may be in force, all of them together.

A rule merges URLs: it gives them one key, so that one of them is fetched. Rules rest on each other: if one is left out,
others merge other URLs. So rules are admitted one after the other, the best first, and what each merges is computed
beside those admitted before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scrapy_dust.believe.admission import Case, admitted, case_of, doubt_for, numbers_to_admit, sorted_by_risk
from scrapy_dust.believe.betting import BoundedPopulations
from scrapy_dust.believe.candidates import Candidate
from scrapy_dust.believe.keyed_urls import KeyedUrls
from scrapy_dust.believe.unseen_loss import Witnesses, law_share, unseen_bound
from scrapy_dust.believe.validation import Pair, Tally
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.outcomes import Outcome

#: URLs that a rule makes up and that do not answer, more than those that do, after which no more are asked for.
_DEAD = 10


@dataclass(slots=True)
class PassedRule:
    """A rule that passed its trial."""

    candidate: Candidate
    tally: Tally
    case: Case
    texts: Counter[str]  #: pairs that are the same, by what they show
    later: Counter[Outcome] = field(default_factory=Counter)  #: what was said since

    def record(self, pair: Pair, outcome: Outcome, content: str | None) -> None:
        """Take the *outcome* of *pair*, which was fetched after the rule's trial had ended."""
        self.case.record(pair, outcome)
        self.later[outcome] += 1
        if outcome is Outcome.SAME:
            self.texts[pair.content or content or pair.url] += 1

    def take_pairs(self, pairs: Sequence[Pair]) -> None:
        """Count *pairs*, which the rule merges beside other rules, as evidence, as far as they are known to be the
        same.
        """
        if all(pair.known is not Outcome.DIFFERENT for pair in pairs):
            self.texts |= Counter(pair.content or pair.url for pair in pairs if pair.known is Outcome.SAME)

    @property
    def may_be_proved(self) -> bool:
        """Whether more fetches could prove the rule: pairs are left, and most URLs that the rule makes up exist."""
        if self.case.left:
            return self.case.can_be_asked
        total = self.total
        dead, fetched = total.negative - total.contradictions, total.positive - total.from_log
        return bool(self.case.made_up) and dead < _DEAD + fetched

    @property
    def witnesses(self) -> Witnesses:
        """How many contents and pairs confirm the rule."""
        return Witnesses(len(self.texts), self.texts.total(), self.total.contradictions)

    @property
    def unseen(self) -> float:
        """Upper bound, at 95 %, of the share of wrong merges among URLs to come."""
        return unseen_bound(self.witnesses, law_share(self.case.rule.families))

    def unseen_at_best(self) -> float:
        """The bound `unseen`, if all pairs that can still be fetched turn out the same."""
        pairs = [*self.case.left, *self.case.made_up]
        left = {pair.content or pair.url for pair in pairs}.difference(self.texts)
        seen = Witnesses(
            len(self.texts) + len(left), self.texts.total() + len(pairs), self.total.contradictions
        )
        return unseen_bound(seen, law_share(self.case.rule.families))

    @property
    def total(self) -> Tally:
        """The outcomes of the trial and of the fetches after it, counted together."""
        later = self.later
        return replace(
            self.tally,
            positive=self.tally.positive + later[Outcome.SAME],
            negative=self.tally.negative + later[Outcome.UNFETCHABLE] + later[Outcome.DIFFERENT],
            contradictions=self.tally.contradictions + later[Outcome.DIFFERENT],
            unknown=self.tally.unknown + later[Outcome.UNKNOWN],
        )


@dataclass(frozen=True, slots=True)
class AcceptedRules:
    """The accepted rules in their order, and which of these rules passed a trial of this campaign."""

    accepted: Sequence[Rule]
    passed: Mapping[Rule, PassedRule]
    keyed: Callable[[Sequence[Rule]], KeyedUrls]
    canonizer_of: Callable[[Sequence[Rule]], Canonizer]
    drawn: Callable[[KeyedUrls, Rule, dict[str, str]], list[Pair]]
    max_risk: float  #: see `TrialParams`

    def cases_in_force(self, allowed: float, tried: int) -> list[Case]:
        """The rules that may be in force together, if at most *allowed* URLs of the log may be lost. *tried*: how many
        rules were put on trial.
        """
        cases = [passed.case for passed in self.passed.values() if self.is_proved(passed)]
        found = admitted(cases, allowed, tried)
        if len(found) == len(self.passed):
            return found
        for least in numbers_to_admit(len(found)):
            found = self._admit_within(found, BoundedPopulations(doubt_for(least, tried), allowed))
            if len(found) >= least:
                break
        return found

    def is_proved(self, passed: PassedRule) -> bool:
        """Whether the risk for URLs that no log has shown is small enough. Rules that earlier logs proved stay proved."""
        return passed.candidate.accepted or passed.unseen <= self.max_risk

    def next_to_prove(self) -> Case | None:
        """The rule that saves most among those that more fetches could still prove."""
        open_ones = [
            passed for passed in self.passed.values() if passed.may_be_proved and not self.is_proved(passed)
        ]
        for passed in sorted(open_ones, key=lambda one: -one.case.saves):
            if passed.unseen_at_best() <= self.max_risk:
                return passed.case
        return None

    def _admit_within(self, cases: Sequence[Case], together: BoundedPopulations) -> list[Case]:
        """The rules among *cases*, best first, that lose no more than is allowed together with the rules already in force."""
        place = {rule: number for number, rule in enumerate(self.accepted)}
        tried = {case.rule for case in cases}
        rules = [rule for rule in self.accepted if rule not in tried and self._stays_in_force(rule)]
        keyed, found = self.keyed(rules), list[Case]()
        for rule in (case.rule for case in sorted_by_risk(cases)):
            canonizer = self.canonizer_of(sorted({*rules, rule}, key=place.__getitem__))
            moved = keyed.moved_urls(rule, canonizer)
            case = case_of(rule, keyed.classes_saved(moved), self.drawn(keyed, rule, moved))
            fits = together.add(case.samples_now())
            if fits:
                found.append(case)
            if fits or self._stays_in_force(rule):
                rules.append(rule)
                keyed.accept(rule, moved, canonizer)
        return found

    def _stays_in_force(self, rule: Rule) -> bool:
        """Whether *rule* stays in force unless this campaign refutes it."""
        passed = self.passed.get(rule)
        return passed is None or passed.candidate.accepted
