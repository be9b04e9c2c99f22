"""How edits of each kind fared on other sites: by name of parameter, class of values, and family.

A new site has kinds of edits in common with others. How often edits of a kind were laws elsewhere is a prior belief,
from wide to narrow: for a family, a class of values in it, a name in it. Each level starts from the one above and is
corrected by what sites have shown; each site counts once, however large it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import fsum
from typing import Any, Literal

from scrapy_dust.rules.operation import Operation
from scrapy_dust.url.parts import parts_of
from scrapy_dust.url.value_classes import value_class

Kinds = tuple[str, ...]  #: of one operation, from wide to narrow; the first is its family


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of how the edits of one kind fared on one site."""

    laws: int = 0  #: edits that merged several contents, and never two different ones under one key
    accidents: int = 0  #: edits that did that, and also merged URLs that show one content
    shares: float = 0.0  #: sum over the accidents of how often they held
    held: int = 0  #: merges of URLs that show one content, of all of them
    failed: int = 0  #: merges of URLs that show different ones
    saved: float = 0.0  #: share of the site's URLs

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.laws + other.laws,
            self.accidents + other.accidents,
            self.shares + other.shares,
            self.held + other.held,
            self.failed + other.failed,
            self.saved + other.saved,
        )


Tallies = Mapping[str, Tally]  #: by kind


def kinds_of(operation: Operation, urls: Iterable[str] = ()) -> Kinds:
    """The kinds of *operation*. *urls*: some that it changes, which show the class of its values."""
    family = operation.family
    if operation.parameter is not None:
        value = operation.required_value
        kind = value_class(value) if value is not None else _most_frequent_class(urls, operation.parameter)
        return family, f"{family} of {kind}", f"{family} {operation.detail}"
    if operation.detail:
        return family, f"{family} {operation.detail}"
    return (family, str(operation)) if operation.is_universal else (family,)


#: URLs that are looked at for the class of a value.
_LOOKED_AT = 20


def _most_frequent_class(urls: Iterable[str], name: str) -> str:
    found = Counter(
        value_class(value)
        for _, url in zip(range(_LOOKED_AT), urls, strict=False)
        for value in _values(url, name)
    )
    return max(sorted(found), key=found.__getitem__) if found else "none"


def _values(url: str, name: str) -> list[str | None]:
    return parts_of(url).values(name)


#: For how many sites counts what the wider kind says. Of names, few sites say much.
_OF_FAMILY, _OF_KIND = 4.0, 2.0
#: Contents of one site that count where sites are summed up.
_OF_SITE = 20
#: Sites that must have had something to say of an edit before it is believed where nothing is known.
_SITES = 3


@dataclass(frozen=True, slots=True)
class Pool:
    """The evidence of all sites. Their order does not matter: sums are exact."""

    sites: Mapping[str, Tallies]

    def without(self, site: str) -> Pool:
        """The pool without *site*: a site is no prior evidence for itself."""
        return Pool({name: tallies for name, tallies in self.sites.items() if name != site})

    def __or__(self, other: Pool) -> Pool:
        """Both pools as one; for a site in both, the evidence of *other* counts."""
        return Pool({**self.sites, **other.sites})

    def _tallies_of(self, kind: str) -> Iterator[Tally]:
        return (tallies[kind] for tallies in self.sites.values() if kind in tallies)

    def law_share(self, kinds: Kinds, prior: float) -> float:
        """The share of laws for the narrowest kind. *prior*: for the family, before any site was seen."""
        share, strength = prior, _OF_FAMILY
        for kind in kinds:
            decided = [
                t.laws / (t.laws + t.accidents) for t in self._tallies_of(kind) if t.laws + t.accidents
            ]
            share = (strength * share + fsum(decided)) / (strength + len(decided))
            strength = _OF_KIND
        return share

    def holds(self, family: str, prior: float) -> float:
        """How often an accident of a family holds. *prior*: before any site was seen."""
        shares = [t.shares / t.accidents for t in self._tallies_of(family) if t.accidents]
        return (_OF_FAMILY * prior + fsum(shares)) / (_OF_FAMILY + len(shares))

    def risk_unseen(self, kind: str, most: float) -> float | None:
        """For an operation on every site, whose narrowest kind is *kind*: the share of pages that it loses.

        None if it is more than *most*, or if too few sites have shown anything.
        """
        found = [tally for tally in self._tallies_of(kind) if tally.held + tally.failed]
        if len(found) < _SITES:
            return None
        weights = [min(1.0, _OF_SITE / (tally.held + tally.failed)) for tally in found]
        held = fsum(w * tally.held for w, tally in zip(weights, found, strict=True))
        failed = fsum(w * tally.failed for w, tally in zip(weights, found, strict=True))
        risk = (failed + 1) / (held + failed + 2)
        return risk if risk <= most else None

    def cost_unseen(self, kind: str, risk: float, urls: int, saves: int, left: float) -> float | None:
        """How many of a site's *urls* an operation on every site may lose at this *risk*. *saves*: how many URLs the
        operation is seen to save there. None if the loss may be more than *left*.
        """
        share = fsum(t.saved for t in self._tallies_of(kind) if t.held + t.failed) / len(self.sites)
        cost = risk * max(share * urls, saves)
        return cost if cost <= left else None

    def answers(self, questions: Iterable[Question]) -> Answers:
        """The answers to *questions*."""
        return {one: getattr(Pool, one[0])(self, *one[1:]) for one in questions}


NOTHING_POOLED = Pool({})

#: The name of a function of `Pool`, and what it is given.
Question = tuple[Literal["law_share", "holds", "risk_unseen", "cost_unseen"], *tuple[Any, ...]]
Answers = Mapping[Question, float | None]


@dataclass(frozen=True, slots=True)
class Consulted(Pool):
    """A pool that notes its answers. Where another pool gives the same answers, the same edits are learned."""

    given: dict[Question, Any] = field(default_factory=dict)

    def law_share(self, kinds: Kinds, prior: float) -> float:
        """The answer of `Pool.law_share`, which is noted."""
        return float(self._answer(("law_share", kinds, prior)))

    def holds(self, family: str, prior: float) -> float:
        """The answer of `Pool.holds`, which is noted."""
        return float(self._answer(("holds", family, prior)))

    def risk_unseen(self, kind: str, most: float) -> float | None:
        """The answer of `Pool.risk_unseen`, which is noted."""
        found: float | None = self._answer(("risk_unseen", kind, most))
        return found

    def cost_unseen(self, kind: str, risk: float, urls: int, saves: int, left: float) -> float | None:
        """The answer of `Pool.cost_unseen`, which is noted."""
        found: float | None = self._answer(("cost_unseen", kind, risk, urls, saves, left))
        return found

    def _answer(self, question: Question) -> Any:
        """The pool's answer to *question*, asked once."""
        if question not in self.given:
            self.given.update(self.answers([question]))
        return self.given[question]
