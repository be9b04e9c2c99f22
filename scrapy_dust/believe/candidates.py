"""Collects the rules that are worth a trial, from the papers' phases and from edits, in the order to try them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from scrapy_dust.believe.unseen_loss import Witnesses, law_share, unseen_bound
from scrapy_dust.propose.dustbuster.likely_rules import LikelyParameter, LikelyRule
from scrapy_dust.propose.edits.edit_detection import LikelyEdit
from scrapy_dust.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class Candidate:
    """Alternative rules of which the first valid one is accepted: two directions of a pair, or two rules for a parameter."""

    rules: tuple[Rule, ...]
    support: int
    saves: int = 0  #: URLs of the log that it would have spared, as far as the learner knows
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
    """The candidates in the order to try them: accepted rules, then edits that the log supports, then all others.

    Within each, rules that seem to save most come first. An edit says in one rule what substitutions say in many.
    """
    found = [Candidate(_with_reverse(Rule.of(one.rule)), one.support) for one in likely]
    found += [Candidate(one.rules, one.support) for one in parameters]
    found += [
        Candidate(
            _with_reverse(one.rule), one.support, one.saves, narrows=True, enough=1 if one.weighed else None
        )
        for one in edits
    ]
    known = [Candidate((rule,), support, accepted=True) for rule, support in accepted]
    return known + sorted(_one_per_rule(found), key=_trial_order)


def worth_a_trial(candidates: Iterable[Candidate], least: float) -> list[Candidate]:
    """*candidates* without those about a single id, and those that save fewer than *least* URLs.

    For some candidates the log does not show what they save; these stay.
    """
    return [
        one
        for one in candidates
        if one.accepted
        or (not one.rules[0].names_an_id and (not one.support or max(one.support, one.saves) >= least))
    ]


def _trial_order(one: Candidate) -> tuple[bool, int]:
    """The key to sort candidates by: edits without guards that the log supports come first, then rules that save most."""
    # Under a guard an edit says a part of what it might: what is left of it would be too little to prove the whole.
    says_it_in_one = one.enough is not None and not one.rules[0].guard
    return not says_it_in_one, -max(one.support, one.saves)


def provable_first(candidates: Iterable[Candidate], max_risk: float) -> list[Candidate]:
    """*candidates* reordered: accepted rules first, and last those with too few pages to be proved.

    If two rules say the same of a log, the one that is tried later has nothing new to say. So a rule that can be proved
    comes before one that cannot.
    """
    return sorted(candidates, key=lambda one: (not one.accepted, not _may_be_proved(one, max_risk)))


def _may_be_proved(one: Candidate, max_risk: float) -> bool:
    """Whether a rule of the candidate would risk little enough if all pages of its support confirmed it."""
    seen = Witnesses(one.support, one.support)
    return any(unseen_bound(seen, law_share(rule.families)) <= max_risk for rule in one.rules)


def _with_reverse(rule: Rule) -> tuple[Rule, ...]:
    """*rule*, and its reverse where that is worth a trial too."""
    # Only of the papers' rules both directions are meant; others lead to the smaller of two forms.
    return (rule,) if rule.reverse is None else (rule, rule.reverse)


def _one_per_rule(found: Iterable[Candidate]) -> Iterable[Candidate]:
    """One candidate for each rule, with the knowledge of all who proposed the rule."""
    by_rule: dict[Rule, Candidate] = {}
    for one in found:
        known = by_rule.get(one.rules[0])
        by_rule[one.rules[0]] = one if known is None else _joined(known, one)
    return by_rule.values()


def _joined(one: Candidate, other: Candidate) -> Candidate:
    """One candidate with the rules and the knowledge of both."""
    return replace(
        one,
        rules=tuple(dict.fromkeys((*one.rules, *other.rules))),
        support=max(one.support, other.support),
        narrows=one.narrows or other.narrows,
        enough=one.enough if other.enough is None else other.enough,
    )
