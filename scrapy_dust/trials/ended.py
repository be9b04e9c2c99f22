"""The end of one site's trials as a value: what was decided, and what later runs and crawls are told.

The trials themselves hold the site's log. So that a run on many sites need not hold all of their logs, the trials of a site
that only its log decides become such a value before the next site is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from scrapy_dust.believe.decisions import Decision
from scrapy_dust.page.places import Names
from scrapy_dust.page.site_template import NO_TEMPLATE, SiteTemplate
from scrapy_dust.page.volatile import NOTHING_VOLATILE, Volatile
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.trials.site_trials import SiteTrials

#: URLs by which a site is known again.
_PROFILED = 20_000


@dataclass(frozen=True, slots=True)
class Ended:
    """The decisions about one site's rules, and the knowledge of the site that is kept."""

    site: str
    decisions: Sequence[Decision] = ()
    remaining: int = 0  #: candidates without a verdict
    redundant: int = 0  #: candidates that say what accepted rules say
    lost_at_most: int | None = 0  #: URLs of the log, at 95 %; None: the papers' test has no bound
    silent: Sequence[str] = ()  #: path templates whose pages no fetch could judge
    is_cut_short: bool = False  #: the fetches ended before all was decided
    is_by_log: bool = False  #: nothing could be fetched
    is_settled: bool = False  #: a second run would learn nothing
    standing: int = 0  #: rules in force that were not on trial, since the site rests
    given_up: str | None = None  #: why the site was not asked any more
    rest: Callable[[RuleBook, Verdicts], str] | None = None  #: a digest of what was decided: see `Rest`
    volatile: Volatile = NOTHING_VOLATILE
    names: Names = field(default_factory=dict)  #: of the places in *volatile* and *template*
    template: SiteTemplate = NO_TEMPLATE
    urls: Sequence[
        str
    ] = ()  #: some of the log that showed a page, in no order; none: the site was taken over


def ended(site: SiteTrials) -> Ended:
    """The end of the trials of *site*, without the site's log."""
    campaign = site.campaign
    return Ended(
        site.site,
        tuple(campaign.decisions),
        campaign.remaining,
        len(campaign.redundant),
        campaign.lost_at_most,
        tuple(campaign.silent),
        campaign.is_cut_short,
        site.is_by_log,
        site.is_settled,
        site.standing,
        site.given_up,
        site.rest,
        site.volatile,
        site.names,
        site.template,
        tuple(site.urls[:_PROFILED]),
    )


def lost_at_most(trials: Iterable[Ended]) -> int | None:
    """Upper bound, at 95 % for each site, of wrongly suppressed URLs of the logs; None: the papers' test has no bound."""
    bounds = [site.lost_at_most for site in trials]
    return None if None in bounds else sum(bound or 0 for bound in bounds)
