"""The results of trials, with notes for people who read the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from scrapy_dust.believe.admission import Bounds
from scrapy_dust.believe.candidates import Candidate
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.reach import reach_shown_by
from scrapy_dust.believe.unseen_loss import NO_WITNESSES, Witnesses
from scrapy_dust.believe.validation import Pair, Tally, Verdict
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.outcomes import Outcome

#: Pairs of URLs that a decision shows; and those by which is told how far a rule was seen to hold.
_EXAMPLES, _PAIRS = 3, 2000


@dataclass(frozen=True, slots=True)
class Decision:
    """The result of one trial."""

    rule: Rule
    verdict: Verdict
    support: int
    tally: Tally
    saves: int  #: URLs of the log that the rule would have spared
    examples: tuple[tuple[str, str], ...]  #: pairs that say what the verdict says
    fetches: int = 0
    bounds: Bounds | None = None  #: of a valid rule
    why: str = ""  #: of a refuted rule: where the pages of an example differ, if that is known
    witnesses: Witnesses = NO_WITNESSES  #: of a rule that passed
    #: The same: how far it was seen to hold (`reach`).
    shown: Mapping[str, int] = field(default_factory=dict, hash=False)


class Notes:
    """The notes on each rule: its pairs, its fetches, and where pages differ."""

    def __init__(self, evidence: LogEvidence) -> None:
        self._evidence = evidence
        self._examples: dict[Rule, dict[Outcome, list[tuple[str, str]]]] = {}
        self._same: dict[Rule, list[tuple[str, str, str]]] = {}  #: pairs with what they show
        self._fetches: Counter[Rule] = Counter()
        self._why: dict[Rule, str] = {}  # where pages differ that a rule would merge

    def note_known(self, rule: Rule, pairs: Sequence[Pair], outcome: Outcome) -> None:
        """Note those of *pairs*, which *rule* merges, that have this *outcome* by the log alone."""
        saying = ((pair.url, pair.target) for pair in pairs if pair.known is outcome)
        self._examples.setdefault(rule, {}).setdefault(outcome, list(islice(saying, _EXAMPLES)))
        if outcome is Outcome.SAME:
            same = islice((pair for pair in pairs if pair.known is outcome), _PAIRS)
            self._same[rule] = [(pair.url, pair.target, pair.content or pair.target) for pair in same]

    def note_fetch(self, rule: Rule, pair: Pair, outcome: Outcome, fetches: int, why: str) -> None:
        """Note that a fetch of *pair* for *rule* had this *outcome*."""
        if why and outcome is Outcome.DIFFERENT:
            self._why.setdefault(rule, why)
        self._fetches[rule] += fetches
        if outcome is Outcome.SAME:
            self._same.setdefault(rule, []).append((pair.url, pair.target, pair.content or pair.target))
        self._examples.setdefault(rule, {}).setdefault(outcome, []).append((pair.url, pair.target))

    def decision(
        self, rule: Rule, candidate: Candidate, verdict: Verdict, tally: Tally, saves: int
    ) -> Decision:
        """The decision on *rule*, with its notes."""
        said = (Outcome.DIFFERENT, Outcome.UNFETCHABLE) if verdict is Verdict.REFUTED else (Outcome.SAME,)
        seen = self._examples.get(rule, {})
        examples = tuple(pair for outcome in said for pair in seen.get(outcome, ()))[:_EXAMPLES]
        return Decision(
            rule=rule,
            verdict=verdict,
            support=candidate.support,
            tally=tally,
            saves=saves,
            examples=examples,
            fetches=self._fetches[rule],
            why=self._why_refuted(rule, examples) if verdict is Verdict.REFUTED else "",
            shown={} if verdict is Verdict.REFUTED else reach_shown_by(rule, self._same.get(rule, ())),
        )

    def _why_refuted(self, rule: Rule, examples: Sequence[tuple[str, str]]) -> str:
        """The place where the pages of an example differ: as a fetch has shown, else by the log, for the first of *examples*."""
        if rule in self._why or not examples:
            return self._why.get(rule, "")
        outcome, why = self._evidence.compare(*examples[0])
        return why if outcome is Outcome.DIFFERENT else ""
