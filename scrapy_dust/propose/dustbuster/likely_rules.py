"""The results of phases 1 to 3: likely rules and likely parameters."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute


@dataclass(frozen=True, slots=True)
class LikelyRule:
    """A pair (α, β) that phases 1 and 2 found, as the shrinking rule α → β: see `shrinking`."""

    rule: Substitute
    support: int  #: instances, with buckets up to T_low
    wide_support: int  #: instances, with buckets up to T_high; what elimination compares


@dataclass(frozen=True, slots=True)
class LikelyParameter:
    """A parameter that phase 3 found, with its two candidate rules in the order to try them."""

    rules: tuple[Rule, ...]
    support: int  #: likely similar pairs of URLs that differ in this parameter alone
