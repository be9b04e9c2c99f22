"""Weighs how far an edit is believed, by the log's evidence and by the record of edits of its family.

An edit is either a law of the site, or an accident: some pages happen to be equal. A law never fails; an accident
fails at a rate that a Beta distribution describes, uniform if nothing else is known. The more different contents an
edit has merged without a failure, the less likely it is an accident, and the less an accident with such a record
would still lose: `risk` is the product, per URL that the edit suppresses.

π, the share of laws in a family, is a prior belief that counts for `STRENGTH` edits; edits of the same log that have
been decided by evidence are counted with it (empirical Bayes). If other sites have shown how edits of the kind, or of
this very name, fare, that is the prior belief (`pooling.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from scrapy_dust.propose.edits.pooling import NOTHING_POOLED, Kinds, Pool

#: For how many decided edits of the log a prior belief counts.
STRENGTH = 8.0
_UNKNOWN_FAMILY = 0.3

#: Share of laws among edits that were seen to hold at least once, by family.
PRIORS: Mapping[str, float] = {
    "any segment": 0.1,
    "any value": 0.3,
    "case": 0.6,
    "cut id": 0.9,
    "cut value": 0.3,
    "decode": 0.9,
    "default value": 0.6,
    "drop segment": 0.3,
    "empty parameter": 0.7,
    "empty parameters": 0.7,
    "fragment": 0.9,
    "host alias": 0.7,
    "host spelling": 0.98,
    "identifier": 0.4,
    "index": 0.85,
    "one page": 0.5,
    "optional segments": 0.3,
    "order": 0.9,
    "parameter": 0.5,
    "path substring": 0.2,
    "query": 0.3,
    "repeated parameter": 0.85,
    "repeats": 0.6,
    "rewrite": 0.4,
    "scheme": 0.9,
    "segments": 0.2,
    "slash": 0.85,
    "substring": 0.3,
    "suffix": 0.5,
    "value": 0.3,
    "www": 0.9,
}

#: What is said of URLs of one path that all show one page is of a family of its own, whatever is done to them.
ONE_PAGE: Kinds = ("one page",)

#: Families that copied directories belong to: pages of one directory are one observation, and how often accidents
#: hold, of which most copied files are an example. Elsewhere it is one half.
COPIES: Mapping[str, float] = {
    "segments": 0.85,
    "optional segments": 0.85,
    "any segment": 0.85,
    "path substring": 0.85,
}


@dataclass(frozen=True, slots=True)
class Record:
    """How often an edit held and how often it failed."""

    held: int  #: contents, or URLs of one content, that bear it out; that by which it was found not included
    failed: int = 0  #: merges of different contents
    slab: tuple[float, float] | None = None  #: what accidents around it show; None: as those of its family
    tries: int = 1  #: guards among which its own was chosen


@dataclass(slots=True)
class _Seen:
    """The edits of a family that the log has decided."""

    decided: int = 0
    laws: int = 0
    shares: float = 0.0  #: sum over the others of how often they hold


@dataclass(slots=True)
class Beliefs:
    """Prior beliefs about families: from other sites, and from the log's own edits."""

    priors: Mapping[str, float] = field(default_factory=lambda: PRIORS)
    pool: Pool = NOTHING_POOLED
    _seen: dict[str, _Seen] = field(default_factory=dict)

    def law_share(self, edit: Sequence[Kinds]) -> float:
        """π, the probability that *edit* is a law; of several operations, the lowest one."""
        shares = []
        for kinds in edit:
            seen = self._seen.get(kinds[0], _Seen())
            prior = self.pool.law_share(kinds, self.priors.get(kinds[0], _UNKNOWN_FAMILY))
            shares.append((STRENGTH * prior + seen.laws) / (STRENGTH + seen.decided))
        return min(shares)

    def accident_prior(self, edit: Sequence[Kinds]) -> tuple[float, float]:
        """The prior belief about how often an accident of the family of *edit* holds; uniform at first."""
        holds = 0.0
        for one, *_ in edit:
            seen = self._seen.get(one, _Seen())
            prior = self.pool.holds(one, COPIES.get(one, 0.5))
            share = (_SHARES * prior + seen.shares) / (_SHARES + seen.decided - seen.laws)
            holds = max(holds, share)
        return 2 * holds, 2 * (1 - holds)

    def learn(self, records: Iterable[tuple[str, Record]]) -> None:
        """Learn from *records*, each of one edit with its family. Anything learned before is replaced."""
        self._seen = {}
        for family, record in records:
            if not record.failed and record.held < DECIDED:
                continue
            seen = self._seen.setdefault(family, _Seen())
            seen.decided += 1
            if record.failed:
                seen.shares += record.held / (record.held + record.failed)
            else:
                seen.laws += 1

    def risk(self, edit: Sequence[Kinds], record: Record) -> float:
        """The expected share of suppressed URLs that are lost, below 1."""
        a, b = slab = record.slab or self.accident_prior(edit)
        if record.failed:
            return (record.failed + b) / (record.held + record.failed + a + b)
        law = self.law_share(edit)
        accident = (1 - law) * record.tries * chance_of_accident(record.held, slab)
        return accident / (law + accident) * b / (a + b + record.held)


@cache
def contents_needed(families: tuple[str, ...], max_risk: float) -> int:
    """The contents for which an edit must have held without a failure to risk at most *max_risk*, if nothing else is known."""
    beliefs = Beliefs()
    needed = 1
    while beliefs.risk([(family,) for family in families], Record(needed)) > max_risk:
        needed += 1
    return needed


#: Contents under several URLs, without a failure, that decide an edit for the statistics of its family.
DECIDED = 4
#: For how many edits it counts that accidents may hold as well as fail.
_SHARES = 4.0


def chance_of_accident(held: int, slab: tuple[float, float]) -> float:
    """The probability that an accident holds *held* times in a row without a failure."""
    a, b = slab
    product = 1.0
    for step in range(held):
        product *= (a + step) / (a + b + step)
        if product < 1e-12:
            break
    return product
