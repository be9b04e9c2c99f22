"""Entries of a rule book: a rule, its status, and the evidence for it.

All values are checked when an entry is made, so that every entry written can be read again.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from functools import lru_cache
from hashlib import blake2b

from scrapy_dust.believe.states import Status as Status  # noqa: PLC0414  For those who know the book.
from scrapy_dust.rules.json_rules import check_rule, content_of
from scrapy_dust.rules.rule import Rule

Examples = tuple[tuple[str, str], ...]

#: So many pairs of URLs an entry shows to those who review it.
EXAMPLES_KEPT = 3

#: So many names of logs are remembered, to tell whether a log is counted already.
LOGS_KEPT = 10

#: So many aspects are remembered of what URLs a rule was seen to hold for are like, those with the most contents.
SHOWN_KEPT = 60

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The counts and bounds that speak for a rule and against it."""

    support: int = 0  #: instances in the log that showed most of them
    positive: int = 0  #: pairs that show the same page
    negative: int = 0  #: pairs of which one cannot be fetched, or that show different pages
    unknown: int = 0  #: pairs that prove nothing
    contradictions: int = 0  #: pairs that show different pages: the rule would lose one
    log_same: int = 0  #: of the positive ones, those that a log decided without a fetch
    contents: int = 0  #: distinct texts among the positive ones, in the log that showed most of them
    fetches: int = 0  #: spent on this rule
    merges: int = 0  #: URLs that got the key of another one, in the log that showed most of them
    #: at 95 %, an upper bound of the share of those that show another page; None: not computed
    loss_bound: float | None = None
    #: the same of such URLs that no log has shown, if they are like those that logs have
    unseen_bound: float | None = None
    #: How far the rule was seen to hold (`believe/reach.py`), with the contents that bear it out there; nothing: everywhere.
    shown: tuple[tuple[str, int], ...] = ()
    examples: Examples = ()  #: a URL, and the URL that the rule makes of it
    first_validated: str | None = None  #: ISO date
    last_validated: str | None = None  #: ISO date
    logs: tuple[str, ...] = ()  #: names of the logs counted here, the latest last

    def __post_init__(self) -> None:
        for name in COUNTS:
            if getattr(self, name) < 0:
                raise ValueError(f"{name!r} must not be negative, got {getattr(self, name)!r}")
        for name in BOUNDS:
            bound = getattr(self, name)
            if bound is not None and not (math.isfinite(bound) and 0 <= bound <= 1):
                raise ValueError(f"{name!r} must be a number from 0 to 1, or null, got {bound!r}")
        for name in ("first_validated", "last_validated"):
            check_date(name, getattr(self, name))

    @property
    def unanswered(self) -> int:
        """The pairs whose second URL did not answer. A rule with many is good for keys, and not for rewriting."""
        return max(0, self.negative - self.contradictions)


#: The evidence that is bounds, in the order of a rule book.
BOUNDS = ("loss_bound", "unseen_bound")

#: The evidence that is counts, in the order of a rule book.
COUNTS = tuple(spec.name for spec in fields(Evidence) if spec.type == "int")


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule of one site, as it stands in a rule book."""

    rule: Rule
    status: Status = Status.VALID
    evidence: Evidence = field(default_factory=Evidence)
    reason: str | None = None  #: why it is not valid
    comment: str | None = None  #: a person's, never touched
    #: Keys of the entry and of its evidence that this version does not know; they are written back.
    extra: Mapping[str, object] = field(default_factory=dict, hash=False)
    evidence_extra: Mapping[str, object] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_rule(self.rule)


def most_shown(shown: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """The reach *shown* in the form of a rule book: the aspects with most contents."""
    most = sorted(shown.items(), key=lambda one: (-one[1], one[0]))[:SHOWN_KEPT]
    return tuple(sorted(most))


@lru_cache(maxsize=4096)
def rule_id(site: str, rule: Rule) -> str:
    """The name of a rule for people: 8 hex digits that depend on the site and the rule alone."""
    content = json.dumps([site, *content_of(rule)])
    return blake2b(content.encode(), digest_size=4).hexdigest()


def check_date(name: str, value: str | None) -> None:
    """Raise `ValueError` unless *value* is a date such as 2026-11-18, or None."""
    if value is None:
        return
    try:
        if _DATE.fullmatch(value):
            date.fromisoformat(value)
            return
    except ValueError:
        pass
    raise ValueError(f"{name!r} must be a date such as '2026-11-18', got {value!r}")
