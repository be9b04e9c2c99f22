"""What a method of telling duplicate URLs apart by their names is: it learns from a site's log, and gives keys.

A learner sees the training part of a log alone: URLs, what the pages were like, where redirects went. What it
gives back is a key function: of the URLs with one key a crawler fetches the first. Whatever string it is
asked about, the function answers, and always the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from scrapy_dust.dust.pages import SiteLog


@dataclass(frozen=True, slots=True)
class Learned:
    """What a learner made of one site's log."""

    key: Callable[[str], str]
    rules: tuple[str, ...] = ()  #: as a person reads them; none where nothing was learned


class Learner(Protocol):
    """A method, with its parameters."""

    @property
    def name(self) -> str: ...

    def learn(self, site: str, log: SiteLog) -> Learned: ...


def unchanged(url: str) -> str:
    """The key function of who has learned nothing."""
    return url
