"""Applies the rules of one site in order, again and again, until nothing changes.

The order is the rules' own (`Rule.order`), so that the order in which rules were learned, or stand in a book, does
not matter. A URL on which the rules come to no end has no form; the form that they reach is stable.

The words of a URL show which rules can apply (`text_index`). This is only a shortcut: every rule found so is applied by
its own `apply`, and a rule that is skipped would have changed nothing.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from copy import copy
from itertools import chain, pairwise
from operator import attrgetter

from scrapy_dust.rules.json_rules import content_of
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.text_index import COMMON, Key, TextIndex, by_rarest_word, by_shortest_text, has_one
from scrapy_dust.rules.url_words import words_of

Step = tuple[Rule, str, str]

#: Characters by which a form may exceed twice the length of its URL. Beyond, the rules are given up: rules of a book
#: from strangers can double a URL at each pass, and would fill the memory within a few passes.
GROWTH = 10_000

#: An index is made anew when one rule in so many is not in it: each such rule is asked about each URL.
_LOOSE = 16

#: Words of a URL, from which on it is worth while to see which are the same: a path of /a/b/a/b/… asks no rule twice.
_REPEATING = 32


_order = attrgetter("order")


def in_order(rules: Iterable[Rule]) -> list[Rule]:
    """*rules* in the order in which they are applied, each once."""
    found = sorted(dict.fromkeys(rules), key=_order)
    if any(one.order == other.order for one, other in pairwise(found)):
        # Two that read alike: a parameter with the value * and one with any.
        found.sort(key=lambda rule: (rule.order, json.dumps(content_of(rule))))
    return found


class SiteRules:
    """The rules of *site*, applied in at most *passes* rounds. *texts*: the index of all sites."""

    __slots__ = (
        "_always",
        "_by_key",
        "_has_pairs",
        "_loose",
        "_of_key",
        "_passes",
        "_places_of_loose",
        "_site",
        "_texts",
        "rules",
    )

    def __init__(
        self, site: str, rules: Iterable[Rule], texts: TextIndex | None = None, passes: int = 10
    ) -> None:
        self._texts = texts or TextIndex()
        self._site = site
        self.rules = tuple(in_order(map(self._texts.shared_rule, rules)))
        self._passes = passes
        self._make_index()

    def _make_index(self) -> None:
        """Index all rules by words that every URL contains which they change."""
        texts = self._texts
        #: Rules that were added since, which the index does not have, and for each the number of rules before it that it has.
        self._loose: tuple[Rule, ...] = ()
        self._places_of_loose: tuple[int, ...] = ()
        sought, self._always = by_rarest_word(self.rules, {*COMMON, *words_of(self._site)})
        by_key = {
            key: [(texts.shared_literal(literal), place) for literal, place in those]
            for key, those in sought.items()
        }
        #: The rules to look for where a URL has the key.
        self._by_key = {
            texts.add(key, [literal for literal, _ in of_key]): by_shortest_text(of_key)
            for key, of_key in by_key.items()
        }
        self._of_key = texts.of_key
        self._has_pairs = any(isinstance(key, tuple) for key in by_key)

    def with_rule(self, rule: Rule) -> SiteRules:
        """These rules and *rule*. The index is shared, so that adding rules one by one costs each the same, however many there are."""
        at = bisect_left(self.rules, rule.order, key=_order)
        alike = self.rules[at : bisect_right(self.rules, rule.order, lo=at, key=_order)]
        if alike:
            return self if rule in alike else self._of_same_site((*self.rules, rule))
        if len(self._loose) > len(self.rules) // _LOOSE:
            self._make_index()
        found = copy(self)
        rule = self._texts.shared_rule(rule)
        found.rules = (*self.rules[:at], rule, *self.rules[at:])
        # Of the rules before it, so many are loose.
        number = bisect_left(self._loose, rule.order, key=_order)
        found._loose = (*self._loose[:number], rule, *self._loose[number:])
        found._places_of_loose = (
            *self._places_of_loose[:number],
            at - number,
            *self._places_of_loose[number:],
        )
        return found

    def _of_same_site(self, rules: Iterable[Rule]) -> SiteRules:
        """An object like this one for *rules* of the same site."""
        return SiteRules(self._site, rules, self._texts, self._passes)

    def places(self, url: str) -> Sequence[int]:
        """The places, ascending, of the rules that may change *url* as it is. No other rule changes it."""
        words = words_of(url)
        keys: Iterable[Key] = chain(words, pairwise(words)) if self._has_pairs else words
        if len(words) > _REPEATING:
            keys = dict.fromkeys(keys)
        # What a look touches in memory is what it costs, where other sites were met since: of most URLs, the index that
        # all sites share, and nothing of this one.
        found: list[int] = []
        for key, text, others in filter(None, map(self._of_key, keys)):
            if text in url or (others and has_one(url, others)):
                for literal, place, further in self._by_key.get(key, ()):
                    if literal in url:
                        found.append(place)
                        found += [place for literal, place in further if literal in url]
        if self._always or len(found) > 1:
            found = sorted({*found, *self._always})
        return self._add_loose_places(found, url) if self._loose else found

    def _add_loose_places(self, found: Sequence[int], url: str) -> Sequence[int]:
        """The places of all rules that may change *url*, where *found* are those of the rules that the index has."""
        places = self._places_of_loose
        loose = [places[number] + number for number, one in enumerate(self._loose) if one.may_change(url)]
        return sorted([*(place + bisect_right(places, place) for place in found), *loose])

    def key(self, url: str) -> str:
        """The form of *url* that no rule changes; *url* itself where the rules do not come to an end."""
        form = self.settle(url)
        return url if form is None else form

    def settle(
        self, url: str, places: Sequence[int] | None = None, steps: list[Step] | None = None
    ) -> str | None:
        """The form of *url* that no rule changes; None where the rules come to no end.

        *places* are the places of the rules that may change *url*, where they are known. Each change is added to
        *steps*.
        """
        found = self.places(url) if places is None else places
        rules, form, longest = self.rules, url, 2 * len(url) + GROWTH
        last = -1  # the place of the rule that did something last: those after it have seen the form
        for left in reversed(range(self._passes)):
            before, until, at = form, last, 0
            while at < len(found) and (form is not before or until < 0 or found[at] <= until):
                place = found[at]
                at += 1
                rule = rules[place]
                after = rule.apply(form)
                if after != form:
                    if steps is not None:
                        steps.append((rule, form, after))
                    form, last = after, place
                    if len(form) > longest:
                        return None
                    found = self.places(form)
                    at = bisect_right(found, place)
            if form == before or (left and not found):  # another pass would find nothing
                return form
        return None

    def step(self, form: str, place: int, times: int) -> tuple[str, int, int] | None:
        """One step of `settle`: the form that the first rule after *place* makes of *form*.

        *place* is that of the rule which made *form*, and *times* is how often all rules had been applied by then.
        The result says the same three things of the new form. The three come back as they were if no rule changes
        *form*; None if the rules come to no end, as those do that undo each other within a pass, of which `settle`
        gives what the pass leaves, as figure 5.5 does.
        """
        found = self.places(form)
        at = bisect_right(found, place)
        for number in found[at:]:
            after = self.rules[number].apply(form)
            if after != form:
                return after, number, times
        if times + 1 >= self._passes:
            return None
        for number in found[:at]:
            after = self.rules[number].apply(form)
            if after != form:
                return after, number, times + 1
        return form, place, times

    def touching(self, url: str) -> frozenset[Rule]:
        """The rules that change something on the way of *url* to its key, also where the way has no end."""
        steps: list[Step] = []
        self.settle(url, steps=steps)
        return frozenset(rule for rule, _, _ in steps)
