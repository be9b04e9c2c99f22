"""Phase 5: the canonizer, which makes the key of a URL's class.

Paper §5.4, thesis figure 5.5: all rules are applied in order, again and again, until a pass changes nothing or the
passes are used up. Deviations:

- if the passes do not suffice (rules that feed each other), the URL stays as it is: an unfinished form
  would be a key that depends on the form one started with;
- a form that has left the site, or is no URL of it any more, is not taken either;
- the order is the rules' own, and not the one in which they were found.

So `Canonizer.canonize` is idempotent, and the identity for URLs of sites without rules. All learning, testing,
applying and explaining of rules uses this one function.

Rules are prepared (`site_rules`) when the first URL of their site comes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

from scrapy_dust.rules import site_rules
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.site_rules import SiteRules
from scrapy_dust.rules.text_index import TextIndex

#: Raised by one whenever the same rules would give another key, so that old keys are never mixed with new ones.
CANONIZER_VERSION = 2


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that changed a URL, with the URL before and after."""

    rule: Rule
    before: str
    after: str


class Walk(NamedTuple):
    """The forms of a URL on the way to its key, and the rules that made them."""

    key: str
    steps: Sequence[site_rules.Step]
    ends: bool  #: whether the rules come to an end


class Canonizer:
    """The rules of all sites, ready to make keys. *site_of* tells the site of a URL, or None."""

    def __init__(
        self,
        rules: Mapping[str, Sequence[Rule]],
        site_of: Callable[[str], str | None],
        passes: int = 10,
    ) -> None:
        self._rules = {site: of_site for site, of_site in rules.items() if of_site}
        self._ready: dict[str | None, SiteRules] = {}
        self._texts = TextIndex()
        self._site_of = site_of
        self._passes = passes

    def __bool__(self) -> bool:
        return bool(self._rules)

    def canonize(self, url: str) -> str:
        """The key of *url*'s class. The key looks like a URL, and cannot always be fetched."""
        site = self._site_of(url)
        rules = self._ready.get(site) or self._prepared_rules(site)
        if rules is None:
            return url
        places = rules.places(url)
        if not places:
            return url
        return self.key_from(url, rules.settle(url, places))

    def key_and_rules(self, url: str) -> tuple[str, tuple[Rule, ...], str | None]:
        """The key of *url*, the rules that changed the URL on the way, and the URL's site."""
        site = self._site_of(url)
        rules = self._ready.get(site) or self._prepared_rules(site)
        places = () if rules is None else rules.places(url)
        if rules is None or not places:
            return url, (), site
        steps: list[site_rules.Step] = []
        form = rules.settle(url, places, steps)
        if form is None or form == url or self._site_of(form) != site:
            return url, (), site
        if len(steps) == 1:
            return form, (steps[0][0],), site
        # A rule is hashed slowly, and each is one object.
        return form, tuple({id(rule): rule for rule, _, _ in steps}.values()), site

    def covers(self, url: str) -> bool:
        """Whether there is a rule for the site of *url*."""
        return self._site_of(url) in self._rules

    def rules(self, site: str) -> Sequence[Rule]:
        """The rules of *site*."""
        return self._rules.get(site, ())

    def put(self, site: str, rules: Sequence[Rule]) -> None:
        """Replace the rules of *site* by *rules*."""
        self._rules[site] = tuple(rules)
        self._ready.pop(site, None)

    def drop(self, site: str, rule: Rule) -> None:
        """Remove *rule* from the rules of *site*."""
        self._rules[site] = tuple(one for one in self._rules.get(site, ()) if one != rule)
        self._ready.pop(site, None)

    def with_only(self, site: str, rules: Collection[Rule]) -> Canonizer:
        """A canonizer with these rules of *site* and no others."""
        of_site = tuple(rule for rule in self._rules.get(site, ()) if rule in rules)
        return Canonizer({site: of_site}, self._site_of, self._passes)

    def with_rules(self, site: str, rules: Sequence[Rule]) -> Canonizer:
        """A canonizer with *rules* of *site* in the place of all others."""
        return Canonizer({site: rules}, self._site_of, self._passes)

    def with_rule(self, site: str, rule: Rule) -> Canonizer:
        """This canonizer with one more *rule* of *site*. Both share the index of all other rules."""
        found = copy(self)
        found._rules = {**self._rules, site: (*self._rules.get(site, ()), rule)}
        ready = self._prepared_rules(site)
        found._ready = {} if ready is None else {site: ready.with_rule(rule)}
        return found

    def forms(self, url: str) -> tuple[str, ...]:
        """*url* and every form of it on the way to its key, even if the last form is not taken as key.

        A further rule that changes none of these forms does not change the URL's key.
        """
        _, steps = self._key_and_steps(url)
        return (url, *(after for _, _, after in steps))

    def walk(self, url: str) -> Walk:
        """The key of *url* and each step on the way, also where the rules come to no end and the key is *url* itself."""
        form, steps = self._key_and_steps(url)
        return Walk(self.key_from(url, form), steps, form is not None)

    def key_from(self, url: str, form: str | None) -> str:
        """The key of *url* if the rules make *form* of it: *form*, or *url* itself if *form* is None or has left the site."""
        if form is None or form == url:
            return url
        return form if self._site_of(form) == self._site_of(url) else url

    def site_rules_for(self, url: str) -> SiteRules | None:
        """The prepared rules of the site of *url*; None if there are none."""
        return self._prepared_rules(self._site_of(url))

    def explain(self, url: str) -> tuple[Step, ...]:
        """The rules that change *url* on the way to its key, step by step; empty where it is its own key."""
        form, steps = self._key_and_steps(url)
        is_taken = form not in (None, url) and self._site_of(str(form)) == self._site_of(url)
        return tuple(Step(*step) for step in steps) if is_taken else ()

    def _key_and_steps(self, url: str) -> tuple[str | None, list[site_rules.Step]]:
        """The form that the rules make of *url*, None if they come to no end, and each step on the way."""
        steps: list[site_rules.Step] = []
        rules = self._prepared_rules(self._site_of(url))
        return (url if rules is None else rules.settle(url, steps=steps)), steps

    def _prepared_rules(self, site: str | None) -> SiteRules | None:
        """The rules of *site* in their index, which is made when first asked for; None if *site* has no rules."""
        of_site = self._rules.get(site) if site is not None else None
        if site is None or of_site is None:
            return None
        if site not in self._ready:
            self._ready[site] = SiteRules(site, of_site, self._texts, self._passes)
        return self._ready[site]
