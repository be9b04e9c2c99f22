"""Validates rules (phase 4) as printed: WWW'07 figure 3 (ValidateRule) and figure 4 (Validate), and nothing else.

`DUST_VALIDATION_TEST = "paper"` asks for it. There is no loss budget and no bound, the log is no evidence, and a
counterexample is one of εN, whatever it would lose. Line 13 of the thesis' figure 5.4 adds a rule in the direction
that failed; figure 4 of WWW'07 is right, and is followed.

The figures leave some questions open, which are settled as follows:

- URLs are drawn with replacement, among those that the rule changes. The result of a fetched pair counts again when the
  pair is drawn again.
- If no URL that the rule changes can be fetched, figure 3 would draw for ever: the rule is undecided.
- With ε = 0 or 1 figure 3 accepts every rule unseen. Here a rule still needs an example to be accepted, and a
  counterexample to be refuted.
- Parameter rules and edits are each validated by figure 3 alone (thesis, section 5.4), in their place by support.
- A fetch that manners forbid (`trials/limits.py`) counts as a fetch of u that failed.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from scrapy_dust.believe.campaign import Probe
from scrapy_dust.believe.candidates import Candidate
from scrapy_dust.believe.decisions import Decision, Notes
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.validation import Pair, Tally, Verdict
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.word_index import WordIndex
from scrapy_dust.stopping import Poll, never_stop
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Page

#: Gives one of several URLs, by chance. Each rule has its own.
Draw = Callable[[Sequence[str]], str]
Known = dict[tuple[str, str], Outcome]


@dataclass(frozen=True, slots=True)
class LiteralParams:
    """The parameters of figure 3, with the paper's names."""

    count: int = 100  #: N
    threshold: float = 0.05  #: ε
    matches: int = 4  #: shingles of a sketch's four that must be equal for two pages to be similar
    log_only: bool = False  #: nothing is fetched: the log's sketches stand for the pages

    @property
    def needed(self) -> int:
        """The number of examples that make a rule valid: (1 − ε)N at least."""
        return max(1, math.ceil((1 - Fraction(str(self.threshold))) * self.count))

    @property
    def too_many(self) -> int:
        """The number of counterexamples that refute a rule: εN at least."""
        return max(1, math.ceil(Fraction(str(self.threshold)) * self.count))


class LiteralTrial:
    """Figure 3 for one rule. *pairs*: u and v as they are drawn. *known*: outcomes of pairs; the trial adds to them."""

    def __init__(self, pairs: Iterator[Pair], params: LiteralParams, known: Known | None = None) -> None:
        self._pairs, self._needed, self._too_many = pairs, params.needed, params.too_many
        self._known: Known = {} if known is None else known
        self._drawn: deque[Pair] = deque()  # in their order, not counted yet
        self._waiting: set[Pair] = set()
        self._outcomes: Counter[Outcome] = Counter()
        self._contents: set[str] = set()
        self.verdict: Verdict | None = None

    @property
    def tally(self) -> Tally:
        """The outcomes counted so far."""
        of = self._outcomes
        return Tally(
            of[Outcome.SAME],
            self._counterexamples,
            of[Outcome.DIFFERENT],
            of[Outcome.UNKNOWN],
            contents=len(self._contents),
        )

    @property
    def _counterexamples(self) -> int:
        """The number of pairs that were different, or whose target does not answer."""
        return self._outcomes[Outcome.DIFFERENT] + self._outcomes[Outcome.UNFETCHABLE]

    def next_pair(self) -> Pair | None:
        """A pair to fetch now; None if there is a verdict, or only outcomes to wait for.

        No more pairs are under way than a verdict takes at least, so that none is fetched in vain.
        """
        while self.verdict is None and len(self._drawn) < self._outcomes_needed():
            pair = next(self._pairs, None)
            if pair is None:
                if not self._drawn:
                    self.verdict = Verdict.UNDECIDED
                return None
            self._drawn.append(pair)
            if (pair.url, pair.target) not in self._known and pair not in self._waiting:
                self._waiting.add(pair)
                return pair
            self._count()
        return None

    def record(self, pair: Pair, outcome: Outcome, content: str | None = None) -> None:
        """Take the *outcome* of *pair*. *content*: the digest of the text that both show."""
        self._waiting.discard(pair)
        self._known[pair.url, pair.target] = outcome
        if content is not None and outcome is Outcome.SAME:
            self._contents.add(content)
        self._count()

    def _outcomes_needed(self) -> int:
        """The least number of further outcomes after which there may be a verdict."""
        return min(self._needed - self._outcomes[Outcome.SAME], self._too_many - self._counterexamples)

    def _count(self) -> None:
        """Count the known outcomes, in the order in which pairs were drawn."""
        while self._drawn and self.verdict is None:
            outcome = self._known.get((self._drawn[0].url, self._drawn[0].target))
            if outcome is None:
                return
            self._drawn.popleft()
            self._outcomes[outcome] += 1
            if self._counterexamples >= self._too_many:
                self.verdict = Verdict.REFUTED
            elif self._outcomes[Outcome.SAME] >= self._needed:
                self.verdict = Verdict.VALID


@dataclass(slots=True)
class _OnTrial:
    rule: Rule
    candidate: Candidate
    trial: LiteralTrial
    saves: int


class LiteralCampaign:
    """Figure 4 for all rules of a site, with the interface of `Campaign`."""

    redundant: Sequence[Candidate]
    silent: Sequence[str] = ()
    lost_at_most = None  #: figure 4 bounds nothing

    def __init__(
        self,
        candidates: Iterable[Candidate],
        evidence: LogEvidence,
        params: LiteralParams,
        *,
        site: str,
        draw_for: Callable[[Rule], Draw],
        disabled: Iterable[Rule] = (),
        poll: Poll = never_stop,
    ) -> None:
        """A campaign for the log of *evidence*, the test list. Rules that a person has *disabled* are not tried."""
        self.site, self.params, self.is_cut_short = site, params, False
        self.decisions: list[Decision] = []
        self.redundant = self._eliminated = list[Candidate]()
        self._evidence, self._draw_for, self._poll = evidence, draw_for, poll
        self._disabled = frozenset(disabled)
        self._urls = frozenset(evidence.urls)
        self._place = {url: place for place, url in enumerate(evidence.urls)}
        self._index = WordIndex(evidence.urls)
        self._queue = deque(candidates)
        self._directions: deque[tuple[Candidate, Rule]] = deque()
        self._valid: list[Candidate] = []  # the pairs of which one direction is valid
        self._known: Known = {}
        self._notes = Notes(evidence)
        self._current: _OnTrial | None = None

    @property
    def finished(self) -> bool:
        """Whether all trials are over."""
        return not (self._current or self._directions or self._queue)

    @property
    def remaining(self) -> int:
        """The number of candidates without a verdict."""
        return len(self._queue) + (self._current is not None)

    @property
    def decided(self) -> int:
        """The number of rules that have been on trial so far."""
        return len(self.decisions)

    def offer(self, more: Iterable[Candidate]) -> None:
        """Do nothing: the figures know no rules that a site declares."""

    def believe_the_log(self) -> None:
        """Make no more fetches. Undecided rules stay undecided."""
        self.is_cut_short = not self.finished

    def next_probe(self) -> Probe | None:
        """A pair to fetch now; None when finished, or while outcomes of earlier probes are under way."""
        while (probe := self._choose_probe()) is not None and self.params.log_only:
            self.record(probe, self._outcome_in_log(probe.pair))
        return probe

    def _choose_probe(self) -> Probe | None:
        """The next pair to fetch for the rule on trial, after putting the next rule on trial where one has ended."""
        while self._current is not None or self._open_next():
            current = self._current
            assert current is not None
            pair = current.trial.next_pair()
            if pair is not None:
                return Probe(current.rule, pair)
            if current.trial.verdict is None:
                return None
            self._end_trial(current, current.trial.verdict)
        return None

    def record(
        self, probe: Probe, outcome: Outcome, content: str | None = None, fetches: int = 0, why: str = ""
    ) -> None:
        """Take the *outcome* of *probe*."""
        self._notes.note_fetch(probe.rule, probe.pair, outcome, fetches, why)
        current = self._current
        if current is not None and current.rule == probe.rule:
            current.trial.record(probe.pair, outcome, content)
        else:
            self._known[probe.pair.url, probe.pair.target] = outcome

    def _open_next(self) -> bool:
        """Put the next rule on trial that refines no valid one. False if there is none."""
        while self._directions or self._queue:
            self._poll()
            if not self._directions:
                candidate = self._queue.popleft()
                if self._refines_valid(candidate):  # figure 4, lines 4 to 9
                    self._eliminated.append(candidate)
                    continue
                self._directions.extend((candidate, rule) for rule in candidate.rules)
            candidate, rule = self._directions.popleft()
            if rule not in self._disabled:
                self._start_trial(candidate, rule)
                return True
        return False

    def _start_trial(self, candidate: Candidate, rule: Rule) -> None:
        """Put *rule*, a rule of *candidate*, on trial."""
        changed = self._changed_urls(rule)
        trial = LiteralTrial(self._drawn(rule, changed), self.params, self._known)
        saves = sum(target in self._urls for target in changed.values())
        self._current = _OnTrial(rule, candidate, trial, saves)

    def _changed_urls(self, rule: Rule) -> dict[str, str]:
        """The URLs of the test list that *rule* changes, each with the changed URL; without fetches, only those that
        the log can judge.
        """
        having = self._index.names_touched(rule)
        urls = self._evidence.urls if having is None else sorted(having, key=self._place.__getitem__)
        changed = {url: target for url in urls if (target := rule.apply(url)) != url}
        if not self.params.log_only:
            return changed
        return {url: target for url, target in changed.items() if self._evidence.page_of(target) is not None}

    def _drawn(self, rule: Rule, changed: Mapping[str, str]) -> Iterator[Pair]:
        """URLs drawn at random among those that *rule* changes, each with the changed URL, as long as one may be fetched."""
        failed, draw, urls = set[str](), self._draw_for(rule), list(changed)
        while len(failed) < len(urls):
            self._poll()
            url = draw(urls)
            if self._known.get((url, changed[url])) is Outcome.UNKNOWN:
                failed.add(url)
            else:
                yield Pair(url, changed[url])

    def _refines_valid(self, candidate: Candidate) -> bool:
        """Whether *candidate* refines a valid rule, in either direction."""
        (rule, *_), others = candidate.rules, (one.rules[0] for one in self._valid)
        return any(rule.refines(other) for other in others)

    def _end_trial(self, current: _OnTrial, verdict: Verdict) -> None:
        """Note the decision on the rule on trial. If it is valid, its reverse is not tried."""
        rule, candidate = current.rule, current.candidate
        self._current = None
        told = self._notes.decision(rule, candidate, verdict, current.trial.tally, current.saves)
        told = replace(told, shown={})  # what the paper believes of a rule, it believes everywhere
        self.decisions.append(told)
        if verdict is Verdict.VALID and rule.substitution is not None:
            self._valid.append(candidate)
            self._directions.clear()

    def _outcome_in_log(self, pair: Pair) -> Outcome:
        """The outcome of *pair* by the sketches that the log has of both pages."""
        here, there = self._evidence.page_of(pair.url), self._evidence.page_of(pair.target)
        if here is None or there is None:
            return Outcome.UNKNOWN
        similar = are_similar(here, there, self.params.matches)
        return Outcome.UNKNOWN if similar is None else Outcome.SAME if similar else Outcome.DIFFERENT


def are_similar(here: Page, there: Page, matches: int) -> bool | None:
    """Whether the sketches of two pages of a log agree, as DocSketch(u) = DocSketch(v) in the paper; None if the log
    has no sketches.
    """
    if here is there:
        return True
    if not here.sketch or not there.sketch:
        return None
    return sketches_agree(here.sketch, there.sketch, matches)


def sketches_agree(one: Sequence[int], other: Sequence[int], matches: int) -> bool:
    """Whether at least *matches* shingles of two sketches are equal, each with the one at its position."""
    return sum(a == b for a, b in zip(one, other, strict=False)) >= min(matches, len(one), len(other))
