"""Tells whether a site still looks like the one from which its rules were learned, judged by its URLs alone.

Canaries show that a rule has become false. They show nothing if a site has been rebuilt, so that no URL needs the
rules any more, or its URLs have parameters that no log has: then the rules are not false, but out of date. A
`Profile` describes the URLs of a log; at its end a crawl is compared with it. A crawl of another part of the site
must not look like another site, so only what is far from chance counts, and the only consequence is a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.url.parts import parts_of

#: More names of parameters than these are no sign of anything: the site makes them up.
MOST_NAMES = 200
#: Fewer URLs than these say nothing of a site.
_LEAST_URLS = 200
#: A rule that should have changed so many URLs, and has changed none, is no longer needed.
_EXPECTED = 20
#: Of the rules of which that was to be expected, so many must be unused.
_UNUSED_SHARE = 0.5
#: A site whose URLs have new parameters to this share has changed its ways.
_STRANGE_SHARE = 0.2
#: Names that are told.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Profile:
    """A description of the URLs of one site in a log."""

    urls: int
    names: frozenset[str]  #: of their parameters; none where there were too many
    uses: Mapping[str, int]  #: ids of the rules in force → how many of the URLs each changed
    has_names: bool = True  #: False: there were too many


def profile_of(urls: Iterable[str], canonizer: Canonizer, id_of: Callable[[Rule], str]) -> Profile:
    """The profile of *urls*. Reads *urls* once, and canonizes each."""
    count = 0
    names: set[str] = set()
    uses: Counter[str] = Counter()
    for count, url in enumerate(urls, start=1):  # noqa: B007  Told afterwards.
        if len(names) <= MOST_NAMES:
            names.update(names_in(url))
        uses.update({id_of(step.rule) for step in canonizer.explain(url)})
    has_names = len(names) <= MOST_NAMES
    return Profile(count, frozenset(names if has_names else ()), dict(uses), has_names)


def names_in(url: str) -> set[str]:
    """The names of the parameters of *url* that have a value."""
    return {name for name, value in parts_of(url).parameters if name and value is not None}


@dataclass(slots=True)
class Encounter:
    """The URLs of a site that a crawl meets, beside the site's *profile*."""

    profile: Profile
    urls: int = 0
    uses: Counter[str] = field(default_factory=Counter)
    answered: int = 0  #: URLs that were fetched, and so come into a log
    strange: int = 0  #: of these: with a parameter that no log had
    names: Counter[str] = field(default_factory=Counter)  #: of these

    def count_url(self, url: str, used: Iterable[str]) -> None:
        """Count *url*, which the rules with the ids *used* change. The same URL must not be given twice."""
        self.urls += 1
        self.uses.update(used)

    def count_answer(self, url: str) -> None:
        """Count *url*, which the site has answered. A URL that is never fetched, as where robots.txt forbids that, is in no log either."""
        self.answered += 1
        new = names_in(url) - self.profile.names if self.profile.has_names else set()
        self.strange += bool(new)
        if len(self.names) < MOST_NAMES:
            self.names.update(new)

    def signs(self, in_force: Iterable[str]) -> list[str]:
        """Signs that the site has changed, as clauses of a sentence. *in_force*: ids of its rules."""
        if min(self.urls, self.profile.urls) < _LEAST_URLS:
            return []
        return [*self._sign_of_unused_rules(in_force), *self._sign_of_new_parameters()]

    def _sign_of_unused_rules(self, in_force: Iterable[str]) -> Iterable[str]:
        """A clause that names the rules that should have changed URLs by now and have changed none."""
        share = self.urls / self.profile.urls
        expected = [one for one in in_force if self.profile.uses.get(one, 0) * share >= _EXPECTED]
        unused = [one for one in expected if not self.uses[one]]
        if unused and len(unused) >= _UNUSED_SHARE * len(expected):
            yield (
                f"{len(unused)} of {len(expected)} rules that should have changed {_EXPECTED} URLs or more "
                f"changed none ({_list_names(unused)})"
            )

    def _sign_of_new_parameters(self) -> Iterable[str]:
        """A clause that names the parameters of many URLs that no log has shown."""
        if self.answered >= _LEAST_URLS and self.strange >= _STRANGE_SHARE * self.answered:
            new = [name for name, _ in self.names.most_common()]
            yield f"{self.strange / self.answered:.0%} of its URLs have parameters that no log has shown ({_list_names(new)})"


def _list_names(names: list[str]) -> str:
    """The first few of *names*, and the number of the others."""
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def sentence_on_untestable(outcomes: Mapping[str, int]) -> str | None:
    """A sentence if most canaries could not be compared; else None. *outcomes*: how many canaries had each outcome."""
    sent = sum(outcomes.values())
    showed = outcomes.get("same", 0) + outcomes.get("different", 0)
    if sent < _EXPECTED or 2 * showed >= sent:
        return None
    return f"{sent - showed} of {sent} URLs fetched to test rules could not be compared"
