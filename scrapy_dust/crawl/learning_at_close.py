"""``DUST_LEARN = "close"``: mines the log of a crawl that has ended and validates its rules, before Scrapy exits.

Mining runs in a thread. Validation is a crawl of its own in the running event loop, with the settings of the crawl
that ended. A failure here is one line in the log; the crawl itself is over and safe.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from scrapy.crawler import Crawler
from scrapy.utils.asyncio import run_in_thread

from scrapy_dust.believe.validation import Verdict
from scrapy_dust.crawl.components import CrawlLogger
from scrapy_dust.crawl_log import log_dir, log_sources
from scrapy_dust.errors import CrawlLogError, DustError
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.safe_files import in_project
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.stopping import Poll, Stopped
from scrapy_dust.trials.affording import afforded
from scrapy_dust.trials.concluding import conclude
from scrapy_dust.trials.duration import warning
from scrapy_dust.trials.ended import Ended, ended
from scrapy_dust.trials.interruption import Interruption
from scrapy_dust.trials.journal import ProbeJournal, probes_path
from scrapy_dust.trials.learning import decided_from_log, mine, prepare
from scrapy_dust.trials.reading import Reporter, Source, read
from scrapy_dust.trials.run import run_trials_here
from scrapy_dust.trials.site_trials import SiteTrials
from scrapy_dust.trials.spending import Spent, progress_of
from scrapy_dust.trials.taking_over import taking_over

#: Seconds between two lines about progress.
_EVERY = 60.0


async def learn(crawler: Crawler, settings: DustSettings) -> None:
    """Mine the logs of the spider and put the proved rules into the rule book. Ctrl-C stops, and saves what is decided."""
    assert crawler.spider is not None
    log = CrawlLogger(__name__, crawler)
    state = log_dir(settings.dir).parent / "verdicts.json"
    try:
        with (
            Interruption() as interruption,
            ProbeJournal(probes_path(state), now=time.time(), ignore=settings.ignore) as journal,
        ):
            name, poll = crawler.spider.name, interruption.poll
            mined = interruption.computing()(partial(_mine, name, settings, state, journal, poll))
            trials, over, logs = await run_in_thread(mined)
            spent = await _validate(crawler, log, settings, trials, interruption)
            # Still ours: a signal that comes now has nothing left to end.
            decided = [*over, *await run_in_thread(lambda: [ended(site) for site in trials])]
            await run_in_thread(conclude, decided, settings, logs, state)
    except Stopped:
        log.info("Nothing learned: interrupted before any rule was tried.")
        return
    except (DustError, OSError) as error:
        log.error("Nothing learned: %s", error)
        return
    valid = sum(one.verdict is Verdict.VALID for site in decided for one in site.decisions)
    valid += sum(site.standing for site in decided)
    more = " Interrupted: the next time goes on from here." if spent.interrupted else ""
    said = "Learned: rules in force %d, fetches to prove them %d; the rule book is %s.%s"
    log.info(said, valid, spent.fetches, settings.rules[0], more)


async def _validate(
    crawler: Crawler,
    log: CrawlLogger,
    settings: DustSettings,
    trials: Sequence[SiteTrials],
    interruption: Interruption,
) -> Spent:
    if interruption.came or not trials:
        interruption.conclude()
        return Spent(0, interruption.came)
    if said := warning(crawler.settings, settings):
        log.info("%s Ctrl-C ends it, and DUST_VALIDATION_BUDGET = 0 goes without.", said)
    watched = progress_of(_ProgressLog(log))
    return await run_trials_here(crawler.settings.copy(), trials, settings, watched, interruption)


class _ProgressLog(Reporter):
    """Reports progress as lines of the crawl's log, one a minute."""

    def __init__(self, log: CrawlLogger) -> None:
        self._log, self._last = log, time.monotonic()

    def probing(self, fetches: int, budget: int, decided: int, remaining: int) -> None:
        if time.monotonic() - self._last < _EVERY:
            return
        self._last = time.monotonic()
        said = "Validating: %d rules decided, %d to go, %d of %d fetches."
        self._log.info(said, decided, remaining, fetches, budget)


def _mine(
    spider: str, settings: DustSettings, state: Path, journal: ProbeJournal, poll: Poll
) -> tuple[list[SiteTrials], list[Ended], Sequence[str]]:
    """Trials that need fetches; the ends of those that need none; and the names of the logs."""
    watched = Reporter()
    logs = log_sources(settings.dir, spider)
    if not logs:
        raise CrawlLogError(settings.dir or str(log_dir(None)), "this crawl has recorded nothing.")
    found = read(Source(logs), watched)
    book = RuleBook.load([in_project(path) for path in settings.rules])
    verdicts = Verdicts.load(state)
    is_by_log = not settings.validation_budget or settings.same == "items"
    taking = taking_over(state.parent, settings, book, verdicts, found.names, by_log=is_by_log, saves=True)

    def over() -> list[Ended]:
        return [] if taking is None else list(taking.ends.values())

    mined = mine(found.visits, settings, watched, found.names, state=state.parent, keep=True, taking=taking)
    if is_by_log:
        by_log = list(decided_from_log(mined, book, verdicts, settings, poll=poll, taking=taking))
        if not by_log:
            poll()
        return [], [*by_log, *over()], found.logs
    trials = prepare(
        mined, book, verdicts, settings, journal=journal, latest=found.latest, poll=poll, taking=taking
    )
    asked, others = afforded(trials, settings.validation_budget, poll)
    return asked, [*others, *over()], found.logs
