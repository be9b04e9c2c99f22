"""The interface of learners: a learner reads the training part of a site's log, and returns a function from
URLs to keys.

A learner sees the training part of a log alone: URLs, what the pages were like, where redirects went. What it
gives back is a key function: of the URLs with one key a crawler fetches the first. Whatever string it is
asked about, the function answers, and always the same. Key functions that several learners give back are here as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of
from scrapy_dust.visits.pages import SiteLog

Form = TypeVar("Form")

#: Times that rules are applied to what they made.
PASSES = 10


@dataclass(frozen=True, slots=True)
class Learned:
    """The keys and rules that a learner made from one site's log."""

    key: Callable[[str], str]
    rules: tuple[str, ...] = ()  #: as a person reads them; none where nothing was learned


class Learner(Protocol):
    """The interface of a method with its parameters."""

    @property
    def name(self) -> str:
        """The name of the method in tables."""

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Learn from *log*, the training part of the log of *site*."""


def key_unchanged(url: str) -> str:
    """The key function of a method that has learned nothing: each URL is its own key."""
    return url


@dataclass(frozen=True, slots=True)
class FixedKeys:
    """A method that learns nothing: *of* makes the key of each URL."""

    name: str
    of: Callable[[str], str] = key_unchanged

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Learn nothing."""
        return Learned(self.of)


def learned_by_rules(site: str, rules: Sequence[Rule], passes: int = PASSES) -> Learned:
    """The keys that *rules* of our language make of the URLs of *site*."""
    if not rules:
        return Learned(key_unchanged)
    return Learned(Canonizer({site: rules}, site_of, passes).canonize, tuple(map(str, rules)))


def apply_until_settled(first: Form, once: Callable[[Form], Form]) -> Form:
    """*first* after *once*, again and again until nothing changes; *first* itself where that comes to no end."""
    form = first
    for _ in range(PASSES):
        following = once(form)
        if following == form:
            return form
        form = following
    return first
