"""The figures of each mined site, collected while the site goes to its trials, so that the site's log can be freed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from scrapy_dust.engines.figures import Figures, figures_of
from scrapy_dust.engines.laps import Laps
from scrapy_dust.engines.local import Mined
from scrapy_dust.visits.pages import SiteLog


@dataclass(slots=True)
class CollectedFigures:
    """The figures of the sites that have gone to their trials. *holds*: the end of the run needs the sites themselves,
    too.
    """

    clock: Laps
    holds: bool = False
    mined: list[Mined] = field(default_factory=list)
    figures: list[Figures] = field(default_factory=list)

    def collect(self, sites: Iterable[Mined]) -> Iterator[Mined]:
        """The *sites*, one after the other, while their figures are collected. The time until the next one is asked for
        is that of trials.
        """
        for one in sites:
            self.clock.lap("mine")
            self.figures.append(figures_of(one))
            self.mined.extend([one] if self.holds else [])
            yield one
            self.clock.lap("validate")
        self.clock.lap("mine")


def without_log(mined: Mined) -> Mined:
    """*mined* with an empty log, for results that need none."""
    return replace(mined, log=SiteLog(()))
