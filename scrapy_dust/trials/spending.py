"""The cost and the progress of a validation crawl."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from scrapy_dust.trials.reading import Reporter
    from scrapy_dust.trials.site_trials import SiteTrials


@dataclass(frozen=True, slots=True)
class Spent:
    """The cost of a validation crawl."""

    fetches: int
    interrupted: bool = False  #: somebody stopped it


class Running(Protocol):
    """A validation crawl under way."""

    trials: Sequence[SiteTrials]
    budget: int

    @property
    def fetches(self) -> int:
        """The number of fetches so far."""


OnProgress = Callable[[Running], None]

#: A URL, and the first words of its page.
OnText = Callable[[str, Sequence[str]], None]


def progress_of(reporter: Reporter) -> OnProgress:
    """A function that tells *reporter* how far a validation crawl has come."""

    def tell(running: Running) -> None:
        """Report the fetches of the crawl *running*, and how many rules are decided and left."""
        decided = sum(site.campaign.decided for site in running.trials)
        remaining = sum(site.campaign.remaining for site in running.trials)
        reporter.probing(running.fetches, running.budget, decided, remaining)

    return tell
