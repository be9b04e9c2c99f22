"""Phase 4, all rules of a site: a `Campaign` puts them on trial one after the other.

WWW'07 figure 4 (Validate): by descending support, shrinking direction first, the other only if that fails,
and a rule that refines a valid one is dropped unfetched. (The thesis' figure 5.4, line 13, adds the rule in
the direction that failed; WWW'07 is right.) Deviations:

- Parameter rules take their place by support among the others.
- A rule under which no two classes of the log's URLs would merge that are not one class already is dropped
  unfetched: the rules accepted before it say all it says. This subsumes refinement where the log shows it.
- A pair of different pages refutes a rule in both directions, since either would give them one key.
- Rules accepted earlier, by other logs, keep their place; they are tried again only where this log raises a
  suspicion against them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.evidence import Classes, LogEvidence
from scrapy_dust.dust.judging import Outcome
from scrapy_dust.dust.rules import LikelyParameter, LikelyRule, Rule, SubstringRule, pair_refines
from scrapy_dust.dust.validation import Pair, Tally, Trial, TrialParams, Verdict


@dataclass(frozen=True, slots=True)
class Candidate:
    """Rules of which the first valid one is taken: a pair's two directions, a parameter's two rules."""

    rules: tuple[Rule, ...]
    support: int
    accepted: bool = False  #: in the rule book already


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


@dataclass(frozen=True, slots=True)
class Probe:
    """A pair to be looked at, for a rule."""

    rule: Rule
    pair: Pair


def candidates_of(
    likely: Iterable[LikelyRule],
    parameters: Iterable[LikelyParameter],
    accepted: Iterable[tuple[Rule, int]] = (),
) -> list[Candidate]:
    """What is worth a trial, in the order to try it: accepted rules, then by descending support."""
    found = [Candidate((one.rule, one.rule.reversed()), one.support) for one in likely]
    found += [Candidate(one.rules, one.support) for one in parameters]
    known = [Candidate((rule,), support, accepted=True) for rule, support in accepted]
    return known + sorted(found, key=lambda one: -one.support)


@dataclass(slots=True)
class _OnTrial:
    rule: Rule
    candidate: Candidate
    trial: Trial
    moved: dict[str, str]
    examples: dict[Outcome, list[tuple[str, str]]] = field(default_factory=dict)
    fetches: int = 0


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
        self.decisions: list[Decision] = []
        self.redundant: list[Candidate] = []
        self._queue = list(reversed(candidates))
        self._directions: list[tuple[Candidate, Rule]] = []  # of the candidate being tried, still to try
        self._evidence, self._params, self._passes = evidence, params, passes
        self._site_of = site_of
        self._settled = set(settled)  # rules not to be tried, or not again
        self._accepted: list[Rule] = []
        self._classes: Classes | None = None
        self._current: _OnTrial | None = None

    @property
    def finished(self) -> bool:
        return not self._queue and not self._directions and self._current is None

    @property
    def remaining(self) -> int:
        """Candidates that nothing is known of yet, the one on trial included."""
        return len(self._queue) + (self._current is not None)

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
        return None

    def record(self, probe: Probe, outcome: Outcome, content: str | None = None, fetches: int = 0) -> None:
        """The answer to *probe*. One that comes after its trial has ended changes nothing."""
        current = self._current
        if current is None or current.rule != probe.rule:
            return
        current.fetches += fetches
        current.examples.setdefault(outcome, []).append((probe.pair.url, probe.pair.target))
        current.trial.record(probe.pair, outcome, content)

    def _open_next(self) -> bool:
        """Put the next rule that has something to say on trial; False when there is none."""
        if self._classes is None:
            self._classes = Classes(self._evidence, self._canonizer())
        while self._directions or self._queue:
            if not self._directions:
                candidate = self._queue.pop()
                self._directions = [(candidate, rule) for rule in reversed(candidate.rules)]
            candidate, rule = self._directions.pop()
            if rule in self._settled or (not candidate.accepted and self._refines_accepted(rule)):
                continue
            self._settled.add(rule)
            moved = self._classes.moved(rule, self._canonizer(rule))
            if not candidate.accepted and self._classes.saved(moved) <= 0:
                self._directions = []
                self.redundant.append(candidate)
                continue
            pairs = [pair for pair in self._classes.merged(moved) if pair.known is not Outcome.UNKNOWN]
            if candidate.accepted and all(pair.known is not Outcome.DIFFERENT for pair in pairs):
                pairs = [pair for pair in pairs if pair.known is Outcome.SAME]
            agreeing = [(pair.url, pair.target) for pair in pairs if pair.known is Outcome.SAME]
            self._current = _OnTrial(rule, candidate, Trial(pairs, self._params), moved)
            self._current.examples[Outcome.SAME] = agreeing[:3]
            return True
        return False

    def _canonizer(self, *more: Rule) -> Canonizer:
        return Canonizer({self.site: [*self._accepted, *more]}, self._site_of, self._passes)

    def _refines_accepted(self, rule: Rule) -> bool:
        if rule in self._accepted:
            return True
        return isinstance(rule, SubstringRule) and any(
            isinstance(other, SubstringRule) and pair_refines(rule, other) for other in self._accepted
        )

    def _close(self, current: _OnTrial) -> None:
        classes, verdict, tally = self._classes, current.trial.verdict, current.trial.tally
        assert classes is not None
        assert verdict is not None
        self._current = None
        said = (Outcome.DIFFERENT, Outcome.UNFETCHABLE) if verdict is Verdict.REFUTED else (Outcome.SAME,)
        examples = tuple(pair for outcome in said for pair in current.examples.get(outcome, ()))[:3]
        self.decisions.append(
            Decision(
                rule=current.rule,
                verdict=verdict,
                support=current.candidate.support,
                tally=tally,
                saves=classes.saved(current.moved),
                examples=examples,
                fetches=current.fetches,
            )
        )
        # What earlier logs proved is not undone by a log that has nothing to say.
        stands = current.candidate.accepted and verdict is Verdict.UNDECIDED
        if verdict is Verdict.VALID or stands:
            self._accepted.append(current.rule)
            classes.accept(current.rule, current.moved, self._canonizer())
            self._directions = []
        elif tally.contradictions:
            self._directions = []
