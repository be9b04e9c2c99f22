"""The interface of learners: a learner reads the training part of a site's log, and returns a function from
URLs to keys.

A learner sees the training part of a log alone: URLs, what the pages were like, where redirects went. What it
gives back is a key function: of the URLs with one key a crawler fetches the first. Whatever string it is
asked about, the function answers, and always the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from scrapy_dust.visits.pages import SiteLog


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


def unchanged(url: str) -> str:
    """The key function of a method that has learned nothing: each URL is its own key."""
    return url
