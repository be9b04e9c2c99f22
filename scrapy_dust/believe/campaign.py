"""Validates all rules of a site (phase 4): a `Campaign` puts one after the other on trial, and accepts those that hold.

WWW'07 figure 4 (Validate): by descending support, shrinking direction first, the other only if that fails, and a rule
that refines a valid one is dropped unfetched. (The thesis' figure 5.4, line 13, adds the rule in the direction that
failed; WWW'07 is right.) Deviations:

- Parameter rules take their place by support among the others. Rules with too few pages to be proved come last.
- A rule that merges no URLs of the log beyond what the accepted rules merge is dropped unfetched. This subsumes
  refinement where the log shows it.
- An edit that different pages refute is tried again under guards that keep these pages apart (`specialization.py`).
- A pair of different pages refutes a rule in both directions, since either would give them one key.
- Rules that earlier logs had accepted keep their place; they are tried again only if this log raises a suspicion.
- A rule that passes its trial is admitted only if all admitted rules together are shown to lose no more than `max_loss`
  of the log's URLs (`admission.py`). More pairs are fetched for that, where they decide most.
- If an accepted rule falls then, everything starts anew without it, since the trials of other rules rest on it. The
  results of fetches are remembered, so that none is made twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from scrapy_dust.believe.accepted_rules import AcceptedRules, PassedRule
from scrapy_dust.believe.admission import (
    Bounds,
    Case,
    bounds_of,
    case_of,
    doubt_for,
    lost_together,
    next_to_prove,
)
from scrapy_dust.believe.candidates import Candidate, provable_first, worth_a_trial
from scrapy_dust.believe.decisions import Decision, Notes
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.keyed_urls import KeyedUrls, may_put_marks
from scrapy_dust.believe.log_only import params_for_log_only
from scrapy_dust.believe.silence import Silence
from scrapy_dust.believe.specialization import Specialization
from scrapy_dust.believe.unseen_loss import Witnesses, law_share, unseen_bound
from scrapy_dust.believe.validation import Pair, Trial, TrialParams, Verdict, first_few
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.word_index import WordIndex
from scrapy_dust.stopping import Poll, Stopped, never_stop
from scrapy_dust.visits.outcomes import Outcome

#: Rules that are looked at again beside the others, those that save most.
_TOGETHER = 8


@dataclass(frozen=True, slots=True)
class Probe:
    """A pair to fetch, and the rule for which."""

    rule: Rule
    pair: Pair


@dataclass(slots=True)
class _OnTrial:
    """The rule on trial, the candidate that it belongs to, and the URLs that it moves to other keys."""

    rule: Rule
    candidate: Candidate
    trial: Trial
    moved: dict[str, str]
    pairs: Sequence[Pair]  #: as the log knows them
    saves: int


class Campaign:
    """The trials of one site's rules. Ask `next_probe`, answer with `record`, until `finished`."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        evidence: LogEvidence,
        params: TrialParams,
        *,
        site: str,
        site_of: Callable[[str], str | None],
        passes: int = 10,
        settled: Iterable[Rule] = (),
        poll: Poll = never_stop,
    ) -> None:
        """A campaign for the *candidates* of one *site*, with the *evidence* of the log. *poll* is called now and
        then, and may raise `Stopped`; decisions made before stay.
        """
        self.site = site
        worthy = worth_a_trial(candidates, params.least_saving * len(evidence.urls))
        self._candidates = provable_first(worthy, params.max_risk)
        self._evidence, self._params, self._passes = evidence, params, passes
        self._site_of, self._poll = site_of, poll
        self._settled = frozenset(settled)  # rules not to be tried, or not again
        self._over: dict[Rule, Decision] = {}  # refuted or undecided
        self._fallen: set[Rule] = set()  # refuted in both directions
        self._notes = Notes(evidence)
        self._specialization = Specialization(evidence)
        self._index = WordIndex(evidence.urls)
        self._silence = Silence()
        self.is_cut_short = False  #: it was ended before all was decided
        self._start_anew()

    def _start_anew(self) -> None:
        """Put the campaign at its beginning: no rule tried, none accepted."""
        self.redundant: list[Candidate] = []
        self._queue = list(reversed(self._candidates))
        self._directions: list[tuple[Candidate, Rule]] = []  # of the candidate being tried, still to try
        self._tried: set[Rule] = set()
        self._accepted: list[Rule] = []
        self._of_accepted = self._canonizer_for(())
        self._passed: dict[Rule, PassedRule] = {}
        self._classes: KeyedUrls | None = None
        self._current: _OnTrial | None = None
        self._seen_together = False
        self._spare: _OnTrial | None = None  # would do as a key, but what it makes up does not exist
        self._forget_conclusions()

    def _forget_conclusions(self) -> None:
        """Drop conclusions that may no longer hold, since an outcome has come."""
        self._standing: list[Case] | None = None
        self._told: list[Decision] | None = None
        self._weakest: tuple[Case | None] | None = None

    @property
    def allowed(self) -> float:
        """How many URLs of the log may be lost. A number below one can be shown only by testing all."""
        share = self._params.max_loss
        return max(1.0, share * len(self._evidence.urls)) if share else 0.0

    @property
    def finished(self) -> bool:
        """Whether all trials are over and no outcome is under way."""
        return (
            self._trials_over
            and not self._blocking_case()
            and not any(passed.case.waiting or passed.case.proving for passed in self._passed.values())
        )

    @property
    def _trials_over(self) -> bool:
        """Whether no rule is on trial, or waits for its trial."""
        return not (self._queue or self._directions or self._current or self._spare)

    @property
    def remaining(self) -> int:
        """The number of candidates without a verdict, the one on trial included."""
        return len(self._queue) + (self._current is not None)

    @property
    def decided(self) -> int:
        """The number of rules that have been on trial so far."""
        return len(self._over) + len(self._passed)

    @property
    def decisions(self) -> list[Decision]:
        """The results of the trials if nothing more is learned: rules that passed and may not be in force are on
        probation.
        """
        if self._told is None:
            cases, tried = self._cases_in_force(), self.decided
            taken = {
                case.rule: bounds_of(case, self._passed[case.rule].unseen, len(cases), tried)
                for case in cases
            }
            passed = (self._decision(rule, taken.get(rule)) for rule in self._passed)
            self._told = [*self._over.values(), *passed]
        return self._told

    @property
    def lost_at_most(self) -> int:
        """Upper bound, at 95 %, of the URLs of the log that the valid rules together suppress wrongly."""
        cases = self._cases_in_force()
        return lost_together(cases, doubt_for(len(cases), self.decided)) if cases else 0

    def key_with(self, rule: Rule) -> Callable[[str], str]:
        """The function that gives a URL its key by the rules accepted so far and *rule*."""
        return self._canonizer_with(rule).canonize

    @property
    def silent(self) -> Sequence[str]:
        """The path templates whose pages no fetch could judge, so that no more of them are fetched."""
        return self._silence.templates

    def offer(self, more: Iterable[Candidate]) -> None:
        """Try *more* candidates, after all others."""
        new = [one for one in more if one not in self._candidates]
        self._candidates = [*self._candidates, *new]
        self._queue[:0] = reversed(new)

    def next_probe(self) -> Probe | None:
        """A pair to fetch now; None when finished, or while outcomes of earlier probes are under way."""
        while (probe := self._choose_probe()) is not None and self._silence.is_silent(probe.pair.url):
            self.record(probe, Outcome.UNKNOWN)
        return probe

    def _choose_probe(self) -> Probe | None:
        """The next pair to fetch: for the rule on trial; after all trials, for a rule that keeps others from coming
        into force.
        """
        while self._current is not None or self._open_next():
            assert self._current is not None
            pair = self._current.trial.next_pair()
            if pair is not None:
                return Probe(self._current.rule, pair)
            verdict = self._current.trial.verdict
            if verdict is None:
                return None
            self._end_trial(self._current, verdict)
        case = self._blocking_case()
        if case is None:
            return None
        self._weakest = None
        return Probe(case.rule, case.hand_out())

    def record(
        self, probe: Probe, outcome: Outcome, content: str | None = None, fetches: int = 0, why: str = ""
    ) -> None:
        """Take the *outcome* of *probe*. If its rule was refuted meanwhile, the outcome is remembered and changes
        nothing.

        *why*: where the two pages differ.
        """
        rule, pair = probe.rule, probe.pair
        self._forget_conclusions()
        self._notes.note_fetch(rule, pair, outcome, fetches, why)
        if fetches:
            self._silence.count(pair.url, outcome)
            if pair.made_up:
                self._silence.count_made_up(pair.target, rule.families, outcome)
        self._evidence.learn(pair.url, pair.target, outcome)
        current, passed = self._current, self._passed.get(rule)
        if current is not None and current.rule == rule:
            current.trial.record(pair, outcome, content)
        elif passed is not None and passed.case.is_waiting_for(pair):
            passed.record(pair, outcome, content)
            if passed.case.wrong > self._params.max_loss * passed.case.merges:
                self._take_back(rule, passed)

    def _open_next(self) -> bool:
        """Put the next rule that says something new on trial. False if there is none."""
        if self._classes is None:
            self._classes = self._urls_by_key(self._accepted)
        while self._directions or self._queue or self._spare:
            if not self._directions:
                if self._spare is not None:
                    self._accept_passed(self._spare)
                    continue
                candidate = self._queue.pop()
                self._directions = [(candidate, rule) for rule in reversed(candidate.rules)]
            candidate, rule = self._directions.pop()
            if self._needs_no_trial(rule) or (not candidate.accepted and self._refines_accepted(rule)):
                continue
            self._tried.add(rule)
            canonizer = self._canonizer_with(rule)
            is_new = candidate.accepted or self._classes.says_something_new(rule, canonizer)
            moved = self._classes.moved_urls(rule, canonizer) if is_new else {}
            saves = self._classes.classes_saved(moved)
            if not candidate.accepted and saves <= 0:
                self._directions = []
                if self._spare is None:
                    self.redundant.append(candidate)
                continue
            pairs = self._pairs_to_test(self._classes, rule, moved)
            if candidate.accepted and all(pair.known is not Outcome.DIFFERENT for pair in pairs):
                # Nor is it asked again for what they proved.
                pairs = [replace(pair, by_redirect=False) for pair in pairs if pair.known is Outcome.SAME]
            self._notes.note_known(rule, pairs, Outcome.SAME)
            if self._params.log_only:
                # Where the log alone decides, what it shows to be different is what a rule is refuted by.
                self._notes.note_known(rule, pairs, Outcome.DIFFERENT)
            self._specialization.note_opened(candidate, rule, pairs)
            params = self._params_for(candidate, rule, pairs, saves)
            trial = Trial(pairs if self._may_be_proved(rule, pairs) else first_few(pairs), params)
            self._current = _OnTrial(rule, candidate, trial, moved, pairs, saves)
            return True
        return False

    def _params_for(self, candidate: Candidate, rule: Rule, pairs: Sequence[Pair], saves: int) -> TrialParams:
        """The parameters of the trial of *rule*: with less doubt if its candidate is one of several tries, or for the
        log alone.
        """
        params = replace(self._params, doubt=self._params.doubt / candidate.tries)
        return self._params_for_log_only(params, candidate, rule, pairs, saves) if params.log_only else params

    def _may_be_proved(self, rule: Rule, pairs: Sequence[Pair]) -> bool:
        """Whether *rule* would be in force if all *pairs* turned out the same. If not, fetches would be wasted."""
        if self._params.log_only:
            return True
        contents = {pair.content or pair.url for pair in pairs}
        at_best = unseen_bound(Witnesses(len(contents), len(pairs)), law_share(rule.families))
        return at_best <= self._params.max_risk

    def _params_for_log_only(
        self, params: TrialParams, candidate: Candidate, rule: Rule, pairs: Sequence[Pair], saves: int
    ) -> TrialParams:
        """The parameters of a trial in which the log alone decides on *rule*, which merges *pairs*."""
        elsewhere = partial(self._evidence.shows_elsewhere, canonizer=self._canonizer_with(rule))
        return params_for_log_only(params, candidate, rule, pairs, saves, elsewhere)

    def _log_believes(self, current: _OnTrial) -> bool:
        """Whether the log alone would accept the rule on trial, of which fetches showed too little."""
        if current.trial.tally.contradictions:
            return False
        params = replace(self._params, doubt=self._params.doubt / current.candidate.tries)
        params = self._params_for_log_only(
            params, current.candidate, current.rule, current.pairs, current.saves
        )
        return Trial(current.pairs, params).verdict is Verdict.VALID

    def believe_the_log(self) -> None:
        """Make no more fetches, and judge the undecided rules by the log alone."""
        if self._params.log_only:
            return
        self.is_cut_short = not self.finished
        self._params = replace(self._params, log_only=True)
        if self._current is not None:
            self._end_trial(self._current, Verdict.UNDECIDED)
        self.next_probe()

    def _needs_no_trial(self, rule: Rule) -> bool:
        """Whether *rule* was decided before: by a person, by its trial, or by pages that refuted a rule like it."""
        return any(rule in known for known in (self._settled, self._over, self._fallen, self._tried))

    def _canonizer_with(self, rule: Rule) -> Canonizer:
        """The canonizer of the rules accepted so far and *rule*."""
        return self._of_accepted.with_rule(self.site, rule)

    def _canonizer_for(self, rules: Sequence[Rule]) -> Canonizer:
        return Canonizer({self.site: rules}, self._site_of, self._passes)

    def _refines_accepted(self, rule: Rule) -> bool:
        """Whether *rule* makes a part of the changes that an accepted rule makes, and no others."""
        return any(rule.refines(other) for other in self._accepted)

    def _end_trial(self, current: _OnTrial, verdict: Verdict) -> None:
        """Draw the conclusion from a trial that ended with *verdict*: accept the rule, keep it beside its reverse, or
        drop it.
        """
        rule, candidate, tally = current.rule, current.candidate, current.trial.tally
        self._current = None
        self._forget_conclusions()
        if verdict is Verdict.VALID and self._directions and tally.dead >= self._params.threshold:
            self._spare = current
        elif verdict is Verdict.VALID:
            spare = self._spare
            better = spare is not None and spare.trial.tally.dead < tally.dead
            self._accept_passed(spare if spare is not None and better else current)
        elif verdict is Verdict.UNDECIDED and not candidate.accepted and self._log_believes(current):
            self._accept_passed(current)
        else:
            self._over[rule] = self._notes.decision(rule, candidate, verdict, tally, current.saves)
            if candidate.accepted and verdict is Verdict.UNDECIDED:
                # What earlier logs proved is not undone by a log that has nothing to say.
                self._add_to_accepted(current)
            elif tally.contradictions:
                self._fallen.update(candidate.rules)
                self._directions, self._spare = [], None
                self._queue += reversed(self._narrower_candidates(candidate, rule))

    def _narrower_candidates(self, candidate: Candidate, rule: Rule) -> list[Candidate]:
        """The refuted *rule* under guards that no fetch has contradicted, as candidates to try in its place."""
        if self._params.log_only:
            return []  # the learner has looked for guards in the log already
        found = self._specialization.replacements_for(candidate, rule)
        self._candidates = [*self._candidates, *found]
        return found

    def _accept_passed(self, current: _OnTrial) -> None:
        """Accept a rule that passed its trial: trials of later rules build on it, until pages contradict it."""
        assert self._classes is not None
        merged = self._pairs_to_test(self._classes, current.rule, current.moved)
        case = case_of(current.rule, current.saves, merged)
        case.wait_for(current.trial.waiting)
        self._add_to_accepted(current)
        self._passed[current.rule] = PassedRule(
            current.candidate, current.trial.tally, case, current.trial.texts.copy()
        )

    def _add_to_accepted(self, current: _OnTrial) -> None:
        """Add a rule to the accepted ones, and give the log's URLs the keys that they have with it."""
        assert self._classes is not None
        self._classes.accept(current.rule, current.moved, self._canonizer_with(current.rule))
        self._accepted.append(current.rule)
        self._of_accepted = self._canonizer_with(current.rule)
        self._seen_together = False
        self._directions, self._spare = [], None
        self._forget_conclusions()

    def _blocking_case(self) -> Case | None:
        """The rule that keeps others from coming into force: a pair of it should be fetched next."""
        if self._params.log_only or not self._trials_over:
            return None
        if self._weakest is None:
            standing = self._accepted_now()
            # What is not proved of pages that nobody has seen comes into force by nothing that is looked at for it here.
            proved = [passed.case for passed in self._passed.values() if standing.is_proved(passed)]
            weakest = next_to_prove(proved, self.allowed, self.decided)
            self._weakest = (weakest or standing.next_to_prove(),)
        return self._weakest[0]

    def _take_back(self, rule: Rule, passed: PassedRule) -> None:
        """Take back *rule*, which had passed its trial: a page would be lost by it."""
        self._over[rule] = self._notes.decision(
            rule, passed.candidate, Verdict.REFUTED, passed.total, passed.case.saves
        )
        self._fallen.update(passed.candidate.rules)
        self._narrower_candidates(passed.candidate, rule)
        self._start_anew()

    def _cases_in_force(self) -> list[Case]:
        """The cases of all rules that may be in force together."""
        if self._standing is None:
            try:
                self._standing = self._accepted_now().cases_in_force(self.allowed, self.decided)
            except Stopped:
                self._standing = []  # to be found out another time
        return self._standing

    def _count_merges_together(self) -> None:
        """Count what rules that are not proved merge beside the other rules, as far as the log or a fetch has shown that.

        A rule that was tried before the others may then merge more contents than in its trial.
        """
        if self._seen_together or not self._trials_over:
            return
        self._seen_together = True
        risk, last = self._params.max_risk, self._accepted[-1:]
        open_ones = [
            (rule, passed)
            for rule, passed in self._passed.items()
            if not passed.candidate.accepted and [rule] != last and passed.unseen > risk
        ]
        open_ones.sort(key=lambda one: -one[1].case.saves)
        for rule, passed in open_ones[:_TOGETHER]:
            keyed = self._urls_by_key([one for one in self._accepted if one != rule])
            moved = keyed.moved_urls(rule, self._canonizer_for(self._accepted))
            passed.take_pairs(self._pairs_to_test(keyed, rule, moved))

    def _accepted_now(self) -> AcceptedRules:
        """The accepted rules, with all that is known of what they merge together."""
        self._count_merges_together()
        risk = self._params.max_risk
        return AcceptedRules(
            self._accepted, self._passed, self._urls_by_key, self._canonizer_for, self._pairs_to_test, risk
        )

    def _urls_by_key(self, rules: Sequence[Rule]) -> KeyedUrls:
        """The URLs of the log by the keys that *rules* give them."""
        return KeyedUrls(self._evidence, self._canonizer_for(rules), self._index, self._poll)

    def _pairs_to_test(self, keyed: KeyedUrls, rule: Rule, moved: dict[str, str]) -> list[Pair]:
        """The pairs that *rule* merges when URLs move to the keys in *moved*, but for URLs made up by rules where the
        site has never answered such URLs.
        """
        pairs = keyed.pairs_to_test(rule, moved, marks=any(map(may_put_marks, (*self._accepted, rule))))
        nowhere, families = self._silence.made_up_is_missing, rule.families
        return [
            pair for pair in pairs if pair.looked_at or not (pair.made_up and nowhere(pair.target, families))
        ]

    def _decision(self, rule: Rule, bounds: Bounds | None) -> Decision:
        """The decision on a rule that passed its trial; with *bounds* if the rule is in force too."""
        passed = self._passed[rule]
        stays = Verdict.UNDECIDED if passed.candidate.accepted else Verdict.PROBATION
        verdict = stays if bounds is None else Verdict.VALID
        told = self._notes.decision(rule, passed.candidate, verdict, passed.total, passed.case.saves)
        return replace(told, bounds=bounds, witnesses=passed.witnesses)
