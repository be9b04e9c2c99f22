"""Holds the trials of sites that a run can afford to ask, and lets the logs of all other sites go.

A site of which nothing is left to ask has its end at once. Sites take turns, and of the sites that want to be asked no more
than the run has fetches come to a turn. So no more need be held: the log decides the rules of the others, for now.
"""

from __future__ import annotations

from collections.abc import Iterable

from scrapy_dust.stopping import Poll, never_stop
from scrapy_dust.trials.ended import Ended, ended
from scrapy_dust.trials.site_trials import SiteTrials


def afforded(
    trials: Iterable[SiteTrials], budget: int, poll: Poll = never_stop
) -> tuple[list[SiteTrials], list[Ended]]:
    """The *trials* that fetch, at most as many as there are fetches in *budget*, and the ends of the others, which
    the log decides.
    """
    asked, over = list[SiteTrials](), list[Ended]()
    for site in trials:
        site.begin()
        poll()
        if not site.finished and len(asked) < budget:
            asked.append(site)
            continue
        site.campaign.believe_the_log()
        over.append(ended(site))
    return asked, over
