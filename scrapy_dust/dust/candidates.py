"""What is worth a trial: what the papers' phases found, and edits, in the order to try it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scrapy_dust.dust.edits.mining import LikelyEdit
from scrapy_dust.dust.rules import LikelyParameter, LikelyRule, Rule, SubstringRule


@dataclass(frozen=True, slots=True)
class Candidate:
    """Rules of which the first valid one is taken: a pair's two directions, a parameter's two rules."""

    rules: tuple[Rule, ...]
    support: int
    accepted: bool = False  #: in the rule book already
    narrows: bool = False  #: where it is refuted, it may hold under a guard
    wider: Rule | None = None  #: the refuted rule that it is a part of
    tries: int = 1  #: parts among which it was chosen
    #: The learner of edits has admitted it by what the log shows, so that without fetches so many contents are enough; None: it
    #: has not, and as many are needed as it would ask.
    enough: int | None = None


def candidates_of(
    likely: Iterable[LikelyRule],
    parameters: Iterable[LikelyParameter],
    accepted: Iterable[tuple[Rule, int]] = (),
    edits: Iterable[LikelyEdit] = (),
) -> list[Candidate]:
    """What is worth a trial, in the order to try it: accepted rules, then by descending support."""
    found = [Candidate((one.rule, one.rule.reversed()), one.support) for one in likely]
    found += [Candidate(one.rules, one.support) for one in parameters]
    found += [
        Candidate(_directions(one.rule), one.support, narrows=True, enough=1 if one.weighed else None)
        for one in edits
    ]
    known = [Candidate((rule,), support, accepted=True) for rule, support in accepted]
    return known + sorted(found, key=lambda one: -one.support)


def _directions(rule: Rule) -> tuple[Rule, ...]:
    # Edits lead to the smaller of two forms; only the papers' rules mean both directions.
    return (rule, rule.reversed()) if isinstance(rule, SubstringRule) else (rule,)
