"""Phase 4, all rules of a site: a `Campaign` puts them on trial one after the other, and takes in what holds.

WWW'07 figure 4 (Validate): by descending support, shrinking direction first, the other only if that fails,
and a rule that refines a valid one is dropped unfetched. (The thesis' figure 5.4, line 13, adds the rule in
the direction that failed; WWW'07 is right.) Deviations:

- Parameter rules take their place by support among the others.
- A rule under which no two classes of the log's URLs would merge that are not one class already is dropped
  unfetched: the rules accepted before it say all it says. This subsumes refinement where the log shows it.
- Where an edit is refuted by different pages, it is tried again under guards that keep them apart (`specialization.py`).
- A pair of different pages refutes a rule in both directions, since either would give them one key.
- Rules accepted earlier, by other logs, keep their place; they are tried again only where this log raises a
  suspicion against them.
- What passes its trial is admitted only as far as all of it together is shown to lose no more than `max_loss`
  of the log's URLs (`admission.py`). More pairs are looked at for that, where they decide most.
- If a rule falls then, everything starts anew without it, since what was asked of the others rests on it. What
  fetches said is remembered, so that none is made twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from scrapy_dust.dust.admission import (
    Bounds,
    Case,
    admitted,
    bounds_of,
    case_of,
    doubt_for,
    lost_together,
    next_to_prove,
)
from scrapy_dust.dust.candidates import Candidate
from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.learning import EditParams
from scrapy_dust.dust.edits.mining import families_of
from scrapy_dust.dust.edits.operation import ANY
from scrapy_dust.dust.edits.weighing import contents_needed
from scrapy_dust.dust.evidence import Classes, LogEvidence
from scrapy_dust.dust.judging import Outcome
from scrapy_dust.dust.rules import Rule, SubstringRule, pair_refines
from scrapy_dust.dust.specialization import Specialization
from scrapy_dust.dust.strata import in_strata, template_of
from scrapy_dust.dust.validation import Pair, Tally, Test, Trial, TrialParams, Verdict

#: Pairs of a rule and a path template that were the same, against which one that is not would be rare.
MANY = 50


@dataclass(frozen=True, slots=True)
class Decision:
    """How a trial ended."""

    rule: Rule
    verdict: Verdict
    support: int
    tally: Tally
    saves: int  #: URLs of the log that the rule would have spared
    examples: tuple[tuple[str, str], ...]  #: pairs that say what the verdict says
    fetches: int = 0
    bounds: Bounds | None = None  #: of a valid rule


@dataclass(frozen=True, slots=True)
class Probe:
    """A pair to be looked at, for a rule."""

    rule: Rule
    pair: Pair


@dataclass(slots=True)
class _OnTrial:
    rule: Rule
    candidate: Candidate
    trial: Trial
    moved: dict[str, str]


@dataclass(slots=True)
class _Passed:
    """A rule that passed its trial."""

    candidate: Candidate
    tally: Tally
    case: Case
    later: Counter[Outcome] = field(default_factory=Counter)  #: what was said since

    @property
    def total(self) -> Tally:
        later = self.later
        return replace(
            self.tally,
            positive=self.tally.positive + later[Outcome.SAME],
            negative=self.tally.negative + later[Outcome.UNFETCHABLE] + later[Outcome.DIFFERENT],
            contradictions=self.tally.contradictions + later[Outcome.DIFFERENT],
            unknown=self.tally.unknown + later[Outcome.UNKNOWN],
        )


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
    ) -> None:
        self.site = site
        self._candidates = candidates
        self._evidence, self._params, self._passes = evidence, params, passes
        self._site_of = site_of
        self._settled = frozenset(settled)  # rules not to be tried, or not again
        self._over: dict[Rule, Decision] = {}  # refuted or undecided
        self._fallen: set[Rule] = set()  # refuted in both directions
        self._examples: dict[Rule, dict[Outcome, list[tuple[str, str]]]] = {}
        self._fetches: Counter[Rule] = Counter()
        self._same: dict[Rule, Counter[str]] = {}  # pairs, by path template
        self._told: list[Decision] | None = None
        self._specialization = Specialization(evidence)
        self._begin()

    def _begin(self) -> None:
        self.redundant: list[Candidate] = []
        self._queue = list(reversed(self._candidates))
        self._directions: list[tuple[Candidate, Rule]] = []  # of the candidate being tried, still to try
        self._tried: set[Rule] = set()
        self._accepted: list[Rule] = []
        self._passed: dict[Rule, _Passed] = {}
        self._classes: Classes | None = None
        self._current: _OnTrial | None = None
        self._spare: _OnTrial | None = None  # would do as a key, but what it makes up does not exist

    @property
    def allowed(self) -> float:
        """How many URLs of the log may be lost. Less than one cannot be told from none, but by looking at all."""
        share = self._params.max_loss
        return max(1.0, share * len(self._evidence.urls)) if share else 0.0

    @property
    def finished(self) -> bool:
        return (
            self._trials_over
            and not self._in_the_way()
            and not any(passed.case.waiting for passed in self._passed.values())
        )

    @property
    def _trials_over(self) -> bool:
        return not (self._queue or self._directions or self._current or self._spare)

    @property
    def remaining(self) -> int:
        """Candidates that nothing is known of yet, the one on trial included."""
        return len(self._queue) + (self._current is not None)

    @property
    def decided(self) -> int:
        """Rules that have been on trial so far."""
        return len(self._over) + len(self._passed)

    @property
    def decisions(self) -> list[Decision]:
        """How the trials ended, as if nothing more were to be learned: what is not admitted is undecided."""
        if self._told is None:
            cases, tried = self._admitted(), self.decided
            taken = {
                case.rule: bounds_of(case, self._passed[case.rule].tally.contents, len(cases), tried)
                for case in cases
            }
            passed = (self._decision(rule, taken.get(rule)) for rule in self._passed)
            self._told = [*self._over.values(), *passed]
        return self._told

    @property
    def lost_at_most(self) -> int:
        """Upper bound, at 95 %, of the URLs of the log that the valid rules together suppress wrongly."""
        cases = self._admitted()
        return lost_together(cases, doubt_for(len(cases), self.decided)) if cases else 0

    def is_against_many(self, probe: Probe) -> bool:
        """Whether so many pairs of its kind are the same that it would be strange if this one were not."""
        return self._same[probe.rule][template_of(probe.pair.url)] >= MANY

    def offer(self, more: Iterable[Candidate]) -> None:
        """Try these after all others."""
        new = [one for one in more if one not in self._candidates]
        self._candidates = [*self._candidates, *new]
        self._queue[:0] = reversed(new)

    def next_probe(self) -> Probe | None:
        """A pair to look at now; None when finished, or while answers to earlier probes are to come."""
        while self._current is not None or self._open_next():
            assert self._current is not None
            pair = self._current.trial.next_pair()
            if pair is not None:
                return Probe(self._current.rule, pair)
            if self._current.trial.verdict is None:
                return None
            self._close(self._current)
        case = self._in_the_way()
        return None if case is None else Probe(case.rule, case.hand_out())

    def record(self, probe: Probe, outcome: Outcome, content: str | None = None, fetches: int = 0) -> None:
        """The answer to *probe*. One that comes after its rule has fallen is remembered, and changes nothing."""
        rule, pair, self._told = probe.rule, probe.pair, None
        self._fetches[rule] += fetches
        self._evidence.learn(pair.url, pair.target, outcome)
        self._examples.setdefault(rule, {}).setdefault(outcome, []).append((pair.url, pair.target))
        self._same[rule][template_of(pair.url)] += outcome is Outcome.SAME
        current, passed = self._current, self._passed.get(rule)
        if current is not None and current.rule == rule:
            current.trial.record(pair, outcome, content)
        elif passed is not None and pair in passed.case.waiting:
            passed.case.record(pair, outcome)
            passed.later[outcome] += 1
            if passed.case.wrong > self._params.max_loss * passed.case.merges:
                self._fell(rule, passed)

    def _open_next(self) -> bool:
        """Put the next rule that has something to say on trial; False when there is none."""
        if self._classes is None:
            self._classes = Classes(self._evidence, self._canonizer())
        while self._directions or self._queue or self._spare:
            if not self._directions:
                if self._spare is not None:
                    self._take(self._spare)
                    continue
                candidate = self._queue.pop()
                self._directions = [(candidate, rule) for rule in reversed(candidate.rules)]
            candidate, rule = self._directions.pop()
            if self._is_settled(rule) or (not candidate.accepted and self._refines_accepted(rule)):
                continue
            self._tried.add(rule)
            moved = self._classes.moved(rule, self._canonizer(rule))
            saves = self._classes.saved(moved)
            if not candidate.accepted and saves <= 0:
                self._directions = []
                if self._spare is None:
                    self.redundant.append(candidate)
                continue
            pairs = self._merged(self._classes, rule, moved)
            if candidate.accepted and all(pair.known is not Outcome.DIFFERENT for pair in pairs):
                pairs = [pair for pair in pairs if pair.known is Outcome.SAME]
            agreeing = [(pair.url, pair.target) for pair in pairs if pair.known is Outcome.SAME]
            self._examples.setdefault(rule, {}).setdefault(Outcome.SAME, agreeing[:3])
            self._same[rule] = Counter(template_of(url) for url, _ in agreeing)
            self._specialization.opened(candidate, rule, pairs)
            params = self._params_for(candidate, rule, pairs, saves)
            self._current = _OnTrial(rule, candidate, Trial(pairs, params), moved)
            return True
        return False

    def _params_for(self, candidate: Candidate, rule: Rule, pairs: Sequence[Pair], saves: int) -> TrialParams:
        """Where nothing can be fetched, an edit that was weighed by the log needs no more; others as much as it would have."""
        params = replace(self._params, doubt=self._params.doubt / candidate.tries)
        if not params.log_only or candidate.accepted:
            return params
        texts = {pair.content for pair in pairs if pair.known is Outcome.SAME} - {None}
        if candidate.enough is None:
            needed = contents_needed(families_of(rule), EditParams().max_risk)
            return replace(params, min_support=max(params.min_support, needed))
        if len(texts) > 1:
            return replace(params, min_support=candidate.enough)
        return replace(params, min_support=1) if self._is_one_page(texts, rule, saves) else params

    def _is_one_page(self, texts: Collection[str | None], rule: Rule, saves: int) -> bool:
        """Whether so many URLs showed one text that the next does too, and what shows it comes to one key.

        Of n URLs that all showed it, the n + 1st does not with a probability of 1 / (n + 2) (Laplace). What other URLs show
        too may be a wall in front of pages: a captcha, a login.
        """
        if len(texts) != 1 or 1 / (saves + 3) > EditParams().max_risk:
            return False
        (text,) = texts
        return text is not None and not self._evidence.shows_elsewhere(text, self._canonizer(rule))

    def _is_settled(self, rule: Rule) -> bool:
        return any(rule in known for known in (self._settled, self._over, self._fallen, self._tried))

    def _merged(self, classes: Classes, rule: Rule, moved: dict[str, str]) -> list[Pair]:
        """What *rule* makes one, in the order to draw it, without what shows no page under either URL."""
        marks = any(isinstance(one, Edit) and not one.leads_to_urls for one in (*self._accepted, rule))
        pairs = [
            pair
            for pair in classes.merged(moved)
            if (pair.looked_at or pair.known is not Outcome.UNKNOWN)
            # A key with a mark in it is no URL that a site could answer.
            and not (pair.made_up and marks and ANY in pair.target)
        ]
        return pairs if self._params.test is Test.PAPER else in_strata(pairs, str(rule))

    def _canonizer(self, *more: Rule) -> Canonizer:
        return self._canonizer_of([*self._accepted, *more])

    def _canonizer_of(self, rules: Sequence[Rule]) -> Canonizer:
        return Canonizer({self.site: rules}, self._site_of, self._passes)

    def _refines_accepted(self, rule: Rule) -> bool:
        if rule in self._accepted:
            return True
        return isinstance(rule, SubstringRule) and any(
            isinstance(other, SubstringRule) and pair_refines(rule, other) for other in self._accepted
        )

    def _close(self, current: _OnTrial) -> None:
        verdict, tally = current.trial.verdict, current.trial.tally
        rule, candidate = current.rule, current.candidate
        assert verdict is not None
        self._current = self._told = None
        if verdict is Verdict.VALID and self._directions and tally.dead >= self._params.threshold:
            self._spare = current
        elif verdict is Verdict.VALID:
            spare = self._spare
            better = spare is not None and spare.trial.tally.dead < tally.dead
            self._take(spare if spare is not None and better else current)
        else:
            self._over[rule] = self._decision_of(rule, candidate, verdict, tally, self._saves(current))
            if candidate.accepted and verdict is Verdict.UNDECIDED:
                # What earlier logs proved is not undone by a log that has nothing to say.
                self._accept(current)
            elif tally.contradictions:
                self._fallen.update(candidate.rules)
                self._directions, self._spare = [], None
                self._queue += reversed(self._narrower(candidate, rule))

    def _narrower(self, candidate: Candidate, rule: Rule) -> list[Candidate]:
        if self._params.log_only:
            return []  # the learner has looked for guards in the log already
        found = self._specialization.instead_of(candidate, rule)
        self._candidates = [*self._candidates, *found]
        return found

    def _saves(self, current: _OnTrial) -> int:
        assert self._classes is not None
        return self._classes.saved(current.moved)

    def _take(self, current: _OnTrial) -> None:
        """A rule that passed its trial is in force for those that come after it, until it falls."""
        assert self._classes is not None
        merged = self._merged(self._classes, current.rule, current.moved)
        case = case_of(current.rule, self._saves(current), merged)
        case.wait_for(current.trial.waiting)
        self._passed[current.rule] = _Passed(current.candidate, current.trial.tally, case)
        self._accept(current)

    def _accept(self, current: _OnTrial) -> None:
        assert self._classes is not None
        self._accepted.append(current.rule)
        self._classes.accept(current.rule, current.moved, self._canonizer())
        self._directions, self._spare, self._told = [], None, None

    def _in_the_way(self) -> Case | None:
        """The rule of which a pair should be looked at so that more can be admitted."""
        if self._params.log_only or not self._trials_over:
            return None
        cases = [passed.case for passed in self._passed.values()]
        return next_to_prove(cases, self.allowed, self.decided)

    def _fell(self, rule: Rule, passed: _Passed) -> None:
        """*rule* passed its trial, and lost a page afterwards."""
        self._over[rule] = self._decision_of(
            rule, passed.candidate, Verdict.REFUTED, passed.total, passed.case.saves
        )
        self._fallen.update(passed.candidate.rules)
        self._narrower(passed.candidate, rule)
        self._begin()

    def _admitted(self) -> list[Case]:
        """What may be in force, all of it together. What others merge is seen anew where one of them is left out."""
        cases = [passed.case for passed in self._passed.values()]
        while True:
            taken = admitted(cases, self.allowed, self.decided)
            if len(taken) == len(cases):
                return cases
            cases = self._cases_without({case.rule for case in cases} - {case.rule for case in taken})

    def _cases_without(self, left_out: set[Rule]) -> list[Case]:
        rules, cases = list[Rule](), list[Case]()
        classes = Classes(self._evidence, self._canonizer_of(rules))
        for rule in self._accepted:
            passed = self._passed.get(rule)
            if rule in left_out and passed is not None and not passed.candidate.accepted:
                continue
            canonizer = self._canonizer_of([*rules, rule])
            moved = classes.moved(rule, canonizer)
            if passed is not None and rule not in left_out:
                cases.append(case_of(rule, classes.saved(moved), self._merged(classes, rule, moved)))
            rules.append(rule)
            classes.accept(rule, moved, canonizer)
        return cases

    def _decision(self, rule: Rule, bounds: Bounds | None) -> Decision:
        """Of a rule that passed; with *bounds* where it is admitted too."""
        passed = self._passed[rule]
        verdict = Verdict.UNDECIDED if bounds is None else Verdict.VALID
        told = self._decision_of(rule, passed.candidate, verdict, passed.total, passed.case.saves)
        return replace(told, bounds=bounds)

    def _decision_of(
        self, rule: Rule, candidate: Candidate, verdict: Verdict, tally: Tally, saves: int
    ) -> Decision:
        said = (Outcome.DIFFERENT, Outcome.UNFETCHABLE) if verdict is Verdict.REFUTED else (Outcome.SAME,)
        seen = self._examples.get(rule, {})
        return Decision(
            rule=rule,
            verdict=verdict,
            support=candidate.support,
            tally=tally,
            saves=saves,
            examples=tuple(pair for outcome in said for pair in seen.get(outcome, ()))[:3],
            fetches=self._fetches[rule],
        )
