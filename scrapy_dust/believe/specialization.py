"""After a trial has refuted an edit, proposes the same edit under guards that nothing seen so far contradicts.

The log leaves open where an edit holds; fetches show it. A decision tree over both (`narrowing.py`) gives guards
under which no two different pages were merged. Among many guards one looks good by accident: a guard chosen among n
must be proved with a doubt n times smaller, and by pairs that it merges itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from scrapy_dust.believe.candidates import Candidate
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.validation import Pair
from scrapy_dust.propose.edits.classes import Effect, Merge
from scrapy_dust.propose.edits.narrowing import Truths, leaves
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.outcomes import Outcome

#: How often guards are looked for anew, after a narrower edit was refuted too.
_ROUNDS = 3
#: Guards of one tree that are tried, those first that hold for most.
_GUARDS = 4


class Specialization:
    """The edits on trial, and the outcomes of their pairs."""

    def __init__(self, evidence: LogEvidence) -> None:
        self._evidence = evidence
        self._pairs: dict[Rule, Sequence[tuple[str, str]]] = {}  # by the widest rule
        self._rounds: Counter[Rule] = Counter()
        self._proposed: set[Rule] = set()

    def note_opened(self, candidate: Candidate, rule: Rule, pairs: Iterable[Pair]) -> None:
        """Remember that *rule*, of *candidate*, goes on trial with *pairs*."""
        if candidate.narrows and candidate.wider is None:
            self._pairs[rule] = [(pair.url, pair.target) for pair in pairs]

    def replacements_for(self, candidate: Candidate, rule: Rule) -> list[Candidate]:
        """Candidates to try in the place of *rule*, which merged different pages."""
        widest = candidate.wider or rule
        if not candidate.narrows or self._rounds[widest] >= _ROUNDS:
            return []
        self._rounds[widest] += 1
        effect = self._effect_of_outcomes(widest)
        if not effect.good:
            return []
        found: list[Candidate] = []
        for leaf in sorted(leaves(effect, Truths()), key=lambda leaf: (len(leaf.guard), str(leaf.guard))):
            narrower = widest.under_guard(leaf.guard)
            if narrower not in self._proposed and len(found) < _GUARDS:
                self._proposed.add(narrower)
                found.append(replace(candidate, rules=(narrower,), wider=widest, tries=leaf.tries))
        return found

    def _effect_of_outcomes(self, rule: Rule) -> Effect:
        """The merges of *rule* that fetches or the log have decided: right ones and wrong ones."""
        good, bad = [], []
        for url, target in self._pairs.get(rule, ()):
            pair = self._evidence.pair(url, target)
            content = pair.content or url
            if pair.known is Outcome.SAME:
                good.append(Merge(target, (url,), 2, frozenset((content,))))
            elif pair.known is Outcome.DIFFERENT:
                bad.append(Merge(target, (url,), 2, frozenset((content, f"other than {content}"))))
        return Effect({}, tuple(good), tuple(bad))
