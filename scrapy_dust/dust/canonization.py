"""Phase 5: a URL becomes the key of its class.

Paper §5.4, thesis figure 5.5: all rules are applied in order, again and again, until a pass changes nothing
or the passes are used up. Deviations:

- where the passes do not suffice (rules that feed each other), the URL stays as it is: an unfinished form
  would be a key that depends on where one started;
- a form that left the site, or is no URL of it any more, is not taken either;
- in a pass, parameter rules come before substring rules: what makes a path of a query leaves no parameters.

So `Canonizer.canonize` is idempotent, and the identity for URLs of sites without rules.

Rules are made ready (`site_rules`; `mixed_rules` where a site has edits) when the first URL of their site comes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from scrapy_dust.dust import site_rules
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.mixed_rules import MixedRules
from scrapy_dust.dust.rules import Rule, SubstringRule
from scrapy_dust.dust.site_rules import SiteRules, Texts

#: Raised by one whenever the same rules would give another key, so that old keys are never mixed with new ones.
CANONIZER_VERSION = 1

#: The same of edits, and of what they do beside other rules: keys of sites that have some.
EDITS_VERSION = 1


@dataclass(frozen=True, slots=True)
class Step:
    """One rule at work."""

    rule: Rule
    before: str
    after: str


class Canonizer:
    """Rules, ready to be applied. *site_of* tells the site of a URL, or None where there is none."""

    def __init__(
        self,
        rules: Mapping[str, Sequence[Rule]],
        site_of: Callable[[str], str | None],
        passes: int = 10,
    ) -> None:
        self._rules = {site: of_site for site, of_site in rules.items() if of_site}
        self._ready: dict[str | None, SiteRules | MixedRules] = {}
        self._texts = Texts()
        self._site_of = site_of
        self._passes = passes

    def __bool__(self) -> bool:
        return bool(self._rules)

    def canonize(self, url: str) -> str:
        """The key of *url*'s class: a URL, not necessarily one that can be fetched."""
        site = self._site_of(url)
        rules = self._ready.get(site) or self._make_ready(site)
        if rules is None:
            return url
        candidates = rules.candidates(url)
        if not candidates:
            return url
        form, is_settled = rules.apply(url, candidates, self._passes)
        return form if is_settled and (form == url or self._site_of(form) == site) else url

    def covers(self, url: str) -> bool:
        """Whether any rule speaks of *url*'s site."""
        return self._site_of(url) in self._rules

    def rules(self, site: str) -> Sequence[Rule]:
        return self._rules.get(site, ())

    def put(self, site: str, rules: Sequence[Rule]) -> None:
        """Go on with these of *site*, and no others."""
        self._rules[site] = tuple(rules)
        self._ready.pop(site, None)

    def drop(self, site: str, rule: Rule) -> None:
        """Go on as if *rule* had never been there."""
        self._rules[site] = tuple(one for one in self._rules.get(site, ()) if one != rule)
        self._ready.pop(site, None)

    def only(self, site: str, rules: Collection[Rule]) -> Canonizer:
        """With these of *site*'s rules, and no others."""
        of_site = tuple(rule for rule in self._rules.get(site, ()) if rule in rules)
        return Canonizer({site: of_site}, self._site_of, self._passes)

    def forms(self, url: str) -> tuple[str, ...]:
        """*url* and all that the rules make of it on the way, whether the last of it is taken or not.

        A further rule that changes none of these changes nothing about the URL's key.
        """
        return (url, *(after for _, _, after in self._steps(url)))

    def explain(self, url: str) -> tuple[Step, ...]:
        """Each rule that changed something on the way to `canonize`; empty where the URL is its own key."""
        if self.canonize(url) == url:
            return ()
        return tuple(Step(*step) for step in self._steps(url))

    def _steps(self, url: str) -> list[site_rules.Step]:
        steps: list[site_rules.Step] = []
        rules = self._make_ready(self._site_of(url))
        if rules is not None:
            rules.apply(url, rules.candidates(url), self._passes, steps)
        return steps

    def _make_ready(self, site: str | None) -> SiteRules | MixedRules | None:
        of_site = self._rules.get(site) if site is not None else None
        if site is None or of_site is None:
            return None
        if site not in self._ready:
            self._ready[site] = _made_ready(site, of_site, self._texts)
        return self._ready[site]


def _made_ready(site: str, rules: Sequence[Rule], texts: Texts) -> SiteRules | MixedRules:
    edits = [rule for rule in rules if isinstance(rule, Edit)]
    if not edits:
        return SiteRules(site, _in_order(rules), texts)
    plain = [rule for rule in rules if not isinstance(rule, Edit)]
    return MixedRules(site, _in_order(plain), edits, texts)


def _in_order(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    return tuple(sorted(rules, key=lambda rule: isinstance(rule, SubstringRule)))
