"""Decides during a crawl whether a rule on probation is proved: counts what confirms and what contradicts the rule.

A rule on probation suppresses nothing. The URLs that it would suppress are fetched, and compared with a page of the
class into which the rule would put them. Contents are counted, as in `unseen_loss`; for a rule about one page alone, URLs
are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scrapy_dust.believe.admission import Case, admitted
from scrapy_dust.believe.unseen_loss import Witnesses, law_share, unseen_bound
from scrapy_dust.believe.validation import MOST_SHARE, MOST_SILENT
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule

#: So many contents are remembered of a rule; and so many pairs of one content are compared, of the only one so many.
CONTENTS, PAIRS, PAIRS_OF_ONE = 1000, 5, 300
#: Aspects that are remembered of a rule.
_ASPECTS = 200
#: Of so many rules at work on a URL each is looked at alone.
_ALONE = 8
#: Sets of rules that are kept ready.
_READY = 100


@dataclass(slots=True)
class Proof:
    """The evidence that a crawl has gathered about one rule on probation."""

    #: That are the same by the rule alone, by name, with pairs of URLs.
    contents: dict[int, int] = field(default_factory=dict)
    #: The same, by several rules that are on probation.
    together: dict[int, int] = field(default_factory=dict)
    #: The same of URLs with one aspect (`reach`).
    where: dict[str, dict[int, int]] = field(default_factory=dict)
    wrong: int = 0  #: pairs of different pages that the rule alone is to blame for
    silent: int = 0  #: pairs that say nothing
    unsure: int = 0  #: pairs that look different, and were not looked at again
    #: Pairs of different pages for which one of several rules is to blame, by the others' names.
    shared: Counter[str] = field(default_factory=Counter)

    def count_same(self, content: int, aspects: Iterable[str] = (), *, alone: bool = True) -> None:
        """Count a pair that shows *content* twice. *aspects*: labels that describe the changed URL; *alone*: no other
        rule took part.
        """
        contents = self.contents if alone else self.together
        if content not in contents and len(contents) >= CONTENTS:
            return
        contents[content] = contents.get(content, 0) + 1
        for aspect in aspects:
            if aspect in self.where or len(self.where) < _ASPECTS:
                here = self.where.setdefault(aspect, {})
                here[content] = here.get(content, 0) + 1

    def discard(self, contents: Iterable[int]) -> None:
        """Discard *contents*, which turned out to be no pages: a login wall, say."""
        for content in contents:
            self.silent += self.contents.pop(content, 0) + self.together.pop(content, 0)
            for here in self.where.values():
                here.pop(content, None)

    @property
    def reach(self) -> dict[str, int]:
        """How many contents (or URLs of one page) confirm the rule, by aspect: a label that describes URLs."""
        is_one = len(self.all_contents) == 1
        found = {aspect: sum(here.values()) if is_one else len(here) for aspect, here in self.where.items()}
        return {aspect: count for aspect, count in found.items() if count}

    def wants(self, content: int) -> bool:
        """Whether one more pair with *content* would add evidence."""
        known = self.all_contents
        is_only = known.keys() <= {content}
        return known.get(content, 0) < (PAIRS_OF_ONE if is_only else PAIRS) and not self.is_silent

    @property
    def all_contents(self) -> dict[int, int]:
        """All contents that confirmed the rule, alone or together with other rules, each with the number of its pairs."""
        if not self.together:
            return self.contents
        more = {content: self.contents.get(content, 0) + pairs for content, pairs in self.together.items()}
        return {**self.contents, **more}

    @property
    def pairs(self) -> int:
        """The number of pairs that showed the same page."""
        return sum(self.contents.values()) + sum(self.together.values())

    @property
    def is_silent(self) -> bool:
        """Whether nearly all comparisons had no result, so that no more are made."""
        return self.silent >= MOST_SILENT and self.silent > MOST_SHARE * (self.silent + self.pairs)

    def is_refuted(self, max_loss: float) -> bool:
        """Whether different pages refute the rule, by the same standard as in validation."""
        return self.wrong > max_loss * (self.pairs + self.wrong)

    def risk_bound(self, rule: Rule) -> float:
        """Upper bound of the share of URLs to come that the rule merges wrongly. A possible difference counts as one.

        If the rule alone has not shown enough, its evidence together with other rules counts too.
        """
        against = self.wrong + self.unsure
        return min(
            _risk_bound(rule, self.contents, against),
            _risk_bound(rule, self.all_contents, against + self.shared.total()),
        )

    def case(self, rule: Rule) -> Case:
        """The evidence for *rule* in the form that `admission` compares."""
        beyond = self.silent + self.unsure
        looked = self.pairs + self.wrong
        return Case(rule, self.pairs, looked + beyond, looked, self.wrong, beyond=beyond)


def _risk_bound(rule: Rule, contents: Mapping[int, int], against: int) -> float:
    """Upper bound of the share of wrong merges to come. *contents*: how many pairs with each content confirm *rule*;
    *against*: how many contradict it.
    """
    # What one page shows says nothing of the rule on others, whatever rules of its kind do elsewhere.
    laws = law_share(rule.families) if len(contents) > 1 else 0.0
    return unseen_bound(Witnesses(len(contents), sum(contents.values()), against), laws)


def proved_rules(proofs: Mapping[Rule, Proof], pages: int, max_risk: float, max_loss: float) -> list[Rule]:
    """The rules that may be in force: each risks little enough, and all together lose few enough of a site's *pages*."""
    cases = [proof.case(rule) for rule, proof in proofs.items() if proof.risk_bound(rule) <= max_risk]
    tried = sum(bool(proof.all_contents) for proof in proofs.values())
    return [case.rule for case in admitted(cases, max_loss * pages, tried)]


class KeysOnTrial:
    """The keys that URLs of one site would have if rules on probation were in force too.

    Each rule is applied alone, and all rules that change a URL together: if two parameters always come together,
    neither alone merges two URLs.
    """

    def __init__(
        self, site: str, in_force: Sequence[Rule], on_trial: Sequence[Rule], everywhere: Canonizer
    ) -> None:
        """The keys of a *site* by these rules. *everywhere*: a canonizer whose settings count here too."""
        self._site, self.rules = site, tuple(rule for rule in on_trial if rule not in in_force)
        self._by_id = {id(rule): rule for rule in self.rules}
        self._in_force = tuple(in_force)
        self._make = everywhere.with_rules
        self._all = self._make(site, (*in_force, *self.rules))
        self._some: dict[tuple[int, ...], Canonizer] = {}

    def forms(self, url: str) -> list[tuple[str, tuple[Rule, ...]]]:
        """The keys of *url* if rules on probation were in force, each with the rules that make it. The first key is by
        rules in force alone.
        """
        form, working, _ = self._all.key_and_rules(url)
        on = tuple(rule for rule in working if id(rule) in self._by_id)
        base = form if not on else self._canonizer_with(()).canonize(url)
        found: dict[str, tuple[Rule, ...]] = {base: ()}
        for rule in on[:_ALONE] if len(on) > 1 else ():
            found.setdefault(self._canonizer_with((rule,)).canonize(url), (rule,))
        found.setdefault(form, on)
        return list(found.items())

    def key_of(self, suspects: Sequence[Rule]) -> Callable[[str], str]:
        """A function that gives the key of a URL by the rules in force and *suspects*."""
        return self._canonizer_with(self._those_on_trial(suspects)).canonize

    def _those_on_trial(self, suspects: Sequence[Rule]) -> tuple[Rule, ...]:
        """The rules among *suspects* that are on trial, each once."""
        return tuple(dict.fromkeys(rule for rule in suspects if id(rule) in self._by_id))

    def rules_to_blame(self, url: str, other: str, suspects: Sequence[Rule]) -> tuple[Rule, ...]:
        """The rules on trial without which the two URLs would have different keys; none if they have different keys
        anyway.

        Rules in force are believed here; canaries test them.
        """
        on = self._those_on_trial(suspects)
        both = self._canonizer_with(on)
        key = both.canonize(url)
        if not on or both.canonize(other) != key:
            return ()
        without = {id(rule): self._canonizer_with(tuple(one for one in on if one is not rule)) for rule in on}
        needed = (rule for rule in on if without[id(rule)].canonize(url) != without[id(rule)].canonize(other))
        # Where each has a stand-in, any may be to blame, unless rules in force are enough.
        return tuple(needed) or (
            on if self._canonizer_with(()).canonize(url) != self._canonizer_with(()).canonize(other) else ()
        )

    def _canonizer_with(self, on: tuple[Rule, ...]) -> Canonizer:
        """The canonizer for the rules in force and the rules *on*, which are on trial."""
        name = tuple(map(id, on))
        if name not in self._some:
            if len(self._some) >= _READY:
                self._some.clear()
            self._some[name] = self._make(self._site, (*self._in_force, *on))
        return self._some[name]
