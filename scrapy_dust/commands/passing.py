"""Mined sites on their way to trials that need no fetches: what the end of a run tells of a site stays, and its log goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from scrapy_dust.engines.laps import Laps
from scrapy_dust.engines.local import Mined
from scrapy_dust.visits.pages import SiteLog


@dataclass(slots=True)
class Passing:
    """The sites that have passed, and the figures that the end of a run needs of them. *holds*: their logs are needed at the end, too."""

    clock: Laps
    holds: bool = False
    mined: list[Mined] = field(default_factory=list)
    pages: int = 0
    says_taken: bool = False  #: some log tells what a spider took

    def of(self, sites: Iterable[Mined]) -> Iterator[Mined]:
        """The *sites*, one after the other. The time until the next one is asked for is that of trials."""
        for one in sites:
            self.clock.lap("mine")
            self.mined.append(one if self.holds else without_log(one))
            self.pages += len(one.log.pages)
            self.says_taken = self.says_taken or any(page.core for page in one.log.pages)
            yield one
            self.clock.lap("validate")
        self.clock.lap("mine")


def without_log(mined: Mined) -> Mined:
    """*mined* with an empty log, for results that need none."""
    return replace(mined, log=SiteLog(()))
