"""Trials of a site that is a function, on a server of this machine: the log is made up, the fetches are real."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from scrapy.settings import Settings

from scrapy_dust.believe.decisions import Decision
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.crawl_log.records import record_of_failure, record_of_page, record_of_redirect
from scrapy_dust.crawl_log.visit_fields import visit_of
from scrapy_dust.page.sketch import describe
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.interruption import Interruption
from scrapy_dust.trials.journal import ProbeJournal
from scrapy_dust.trials.learning import mine, prepare
from scrapy_dust.trials.reading import Reporter
from scrapy_dust.trials.run import run_trials_here
from scrapy_dust.trials.site_trials import SiteTrials
from scrapy_dust.trials.spending import Spent
from scrapy_dust.visits.pages import Visit
from tests.crawl.site import Answer, Site, Web

#: Of a crawl that is short and touches nothing but this machine.
QUIET: dict[str, Any] = {
    "TWISTED_REACTOR_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "LOG_ENABLED": False,
    "DNS_TIMEOUT": 5,
}


def prose(name: object, words: int = 60) -> str:
    """A text of its own for each name."""
    return " ".join(f"word{name}x{k}" for k in range(words))


def html(text: str, title: str = "t", head: str = "") -> Answer:
    body = f"<html><head><title>{title}</title>{head}</head><body><p>{text}</p></body></html>"
    return Answer(body.encode(), 200, {"Content-Type": "text/html; charset=utf-8"})


def log_of(site: Site, paths: Iterable[str], web: Web, *, host: str | None = None) -> list[Visit]:
    """What a crawl of *paths* would have recorded, had the site answered as *web* does."""
    visits = []
    for path in paths:
        url, answer, now = (
            site.url(path) if host is None else f"http://{host}{path}",
            web(path),
            datetime.now(UTC),
        )
        if not answer.status:
            record = record_of_failure(url, "gone", fetched_at=now)
        elif "Location" in answer.headers:
            record = record_of_redirect(
                url, answer.status, site.url(answer.headers["Location"]), fetched_at=now
            )
        else:
            text = describe(answer.body, answer.headers.get("Content-Type"), None, url)
            record = record_of_page(url, answer.status, text, size=len(answer.body), fetched_at=now)
        visits.append(visit_of(record))
    return visits


@dataclass(frozen=True)
class Tried:
    trials: Sequence[SiteTrials]
    spent: Spent

    @property
    def decisions(self) -> list[Decision]:
        return [decision for site in self.trials for decision in site.campaign.decisions]

    def rules(self, verdict: Verdict) -> set[str]:
        return {str(decision.rule) for decision in self.decisions if decision.verdict is verdict}

    @property
    def valid(self) -> set[str]:
        return self.rules(Verdict.VALID)

    @property
    def refuted(self) -> set[str]:
        return self.rules(Verdict.REFUTED)


def tried(
    visits: Mapping[str, Sequence[Visit]],
    project: Mapping[str, Any] | None = None,
    *,
    journal: ProbeJournal | None = None,
    book: RuleBook | None = None,
    verdicts: Verdicts | None = None,
    **dust: Any,
) -> Tried:
    """Mine *visits*, and validate with these settings of the project and of ours.

    Sites of tests are small: what they show is taken for enough, unless *dust* says otherwise.
    """
    settings = DustSettings(**{"validation_patience": 5.0, "max_risk": 1.0, **dust})
    mined = mine(visits, settings, Reporter())
    trials = list(prepare(mined, book or RuleBook(), verdicts or Verdicts(), settings, journal=journal))
    own = Settings({**QUIET, **(project or {})}, priority="project")
    spent = asyncio.run(run_trials_here(own, trials, settings, lambda running: None, Interruption()))
    return Tried(trials, spent)
