"""``DUST_LIVE_REPORT``: shows a crawl while it runs, as a page that is written anew every few seconds.

The page has the look of the report of `dustmine` (`report/live.py`). This module gathers its values from the parts of
the crawl, and changes none of them.
"""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from scrapy_dust.crawl.dupefilter import DustDupeFilter
from scrapy_dust.crawl.periodic_file import PeriodicFile
from scrapy_dust.crawl.scheduler import DustScheduler
from scrapy_dust.report.live import NAMES, Card, Form, InForce, Live, Waiting, html_of_live
from scrapy_dust.report.pieces import number
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rules.grouping import Kind, grouped_rules, name_of
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from scrapy_dust.crawl.probation import Open
    from scrapy_dust.crawl.rules import CrawlRules
    from scrapy_dust.rules.rule import Rule

#: Seconds between two pages.
EVERY = 3.0
#: The number of rules on probation that are worded; the page says how many more there are.
_WORDED = 12


class LiveReport:
    """The live report of one crawl. *path*: the file, as the setting has it."""

    def __init__(self, path: str, crawler: Crawler, rules: CrawlRules) -> None:
        self._crawler, self._rules = crawler, rules
        self._ended: str | None = None
        self._left: int | None = None  #: requests in the queue, when it could last be asked
        self._names: dict[Kind, list[tuple[str, list[str]]]] | None = None
        rules.changed.append(self._forget_rule_names)
        assert crawler.spider is not None
        scheduler = None if crawler.engine is None else crawler.engine.scheduler
        self._scheduler = scheduler
        dupefilter = getattr(scheduler, "df", None)
        self._dupefilter = dupefilter if isinstance(dupefilter, DustDupeFilter) else None
        name = quote(crawler.spider.name, safe="")
        file = Path(path.replace("%(spider)s", name))
        self.file = PeriodicFile(file, "DUST_LIVE_REPORT", self.page, EVERY, _other_names(file, name))

    def show_ended(self, reason: str) -> None:
        """Show the last numbers of the crawl, which has ended with *reason*."""
        self._ended = reason
        self.file.stop()

    def page(self) -> bytes:
        """The HTML page that shows the crawl as it is now."""
        return html_of_live(self.live())

    def live(self) -> Live:
        """The values that the page shows, as the crawl is now."""
        assert self._crawler.spider is not None
        stats = self._crawler.stats.get_stats()
        settings = self._rules.settings
        filtered = Stat.SHADOW_FILTERED if settings.mode == "shadow" else Stat.FILTERED
        began = stats.get("start_time") or datetime.now(UTC)
        return Live(
            spider=self._crawler.spider.name,
            worker=None if self._dupefilter is None else self._dupefilter.worker,
            began=began.astimezone(),
            written=datetime.now().astimezone(),
            every=EVERY,
            ended=self._ended,
            mode=settings.mode,
            sent=stats.get("downloader/request_count", 0),
            queued=self._queued() or 0,
            saved=max(stats.get(filtered, 0) - stats.get(Stat.HEIRS, 0), 0),
            facts=list(self._facts_in_words(stats)),
            causes=_causes_with_counts(stats),
            rules=sum(len(self._rules.canonizer.rules(site)) for site in self._sites()),
            in_force=self._rules_in_force(),
            on_probation=self._rules_on_probation(),
            decided=self._decided_rules(),
            waiting=self._waiting_requests(stats),
            forms=self._trap_forms(),
        )

    def _sites(self) -> set[str]:
        """The sites for which the rule book has rules, or this crawl has learned some."""
        return {*self._rules.sites, *self._rules.learned}

    def _facts_in_words(self, stats: dict[str, Any]) -> Iterator[str]:
        """Sentences that say how many rules are in force, how many answers came, and how tests of rules ended."""
        sites = [site for site in self._sites() if self._rules.canonizer.rules(site)]
        rules = sum(len(self._rules.canonizer.rules(site)) for site in sites)
        yield f"{number(rules, 'rule')} in force on {number(len(sites), 'site')}"
        pages = number(stats.get("response_received_count", 0), "answer")
        yield f"{pages} and {number(stats.get('item_scraped_count', 0), 'item')} so far"
        if tested := stats.get(Stat.CANARIES, 0):
            different = stats.get(f"{Stat.CANARIES}/different", 0)
            yield f"{number(tested, 'URL')} let through to test rules; {different:,} of them showed another page"
        if self._rules.shadowed:
            same, different = stats.get(Stat.SHADOW_SAME, 0), stats.get(Stat.SHADOW_DIFFERENT, 0)
            yield f"{number(same + different, 'page')} compared: {same:,} the same, {different:,} would have been lost"
        if returned := stats.get(Stat.RETURNED, 0):
            yield f"{number(returned, 'URL')} given back to the spider, since a rule is in doubt or suspended"

    # -- rules

    def _forget_rule_names(self) -> None:
        """Forget the names of the rules in force, since the rules have changed."""
        self._names = None

    def _rules_in_force(self) -> dict[Kind, tuple[list[InForce], int]]:
        """For each kind of rule, the rules in force that save most, and the number of all. A rule that several sites
        have counts once.
        """
        if self._names is None:
            self._names = _names_by_kind(
                {site: list(self._rules.canonizer.rules(site)) for site in sorted(self._sites())}
            )
        prefix = f"{Stat.SHADOW_FILTERED if self._rules.shadowed else Stat.FILTERED}/"
        stats = self._crawler.stats.get_stats().items()
        counts = {name.removeprefix(prefix): max(n, 0) for name, n in stats if name.startswith(prefix)}
        found = {}
        for kind, named in self._names.items():
            most = nlargest(NAMES, named, key=lambda one: sum(counts.get(identity, 0) for identity in one[1]))
            shown = [InForce(name, sum(counts.get(one, 0) for one in ids), len(ids)) for name, ids in most]
            found[kind] = shown, len(named)
        return found

    def _rules_on_probation(self) -> list[Card]:
        """A card for each rule on probation: a rule that suppresses nothing before this crawl has proved it."""
        probation = None if self._dupefilter is None else self._dupefilter.probation
        if probation is None:
            return []
        found = probation.open
        cards = [
            Card(one.id, one.site, str(one.rule), self._why_on_probation(one), "on probation")
            for one in found[:_WORDED]
        ]
        # Of the others only the number is shown.
        return cards + [Card(one.id, one.site, "", "", "on probation") for one in found[_WORDED:]]

    def _why_on_probation(self, one: Open) -> str:
        """A sentence that says why the rule *one* suppresses nothing yet."""
        pages = len(one.proof.all_contents)
        if one.proof.is_silent:
            return "Pages that it would merge cannot be compared here, so that this crawl does not decide it."
        against = one.proof.wrong + one.proof.unsure
        doubts = f" {number(against, 'pair')} looked different." if against else ""
        if not pages:
            return f"This crawl has not yet seen one page under two of its URLs.{doubts}"
        bound = one.proof.risk_bound(one.rule)
        return (
            f"Held on {number(pages, 'page')}.{doubts} For other URLs, up to {bound:.0%} of its merges may be wrong; "
            f"a rule is put in force at {self._rules.settings.max_risk:.0%}."
        )

    def _decided_rules(self) -> list[Card]:
        """A card for each rule that this crawl has proved, refuted or taken out of force, the latest first."""
        dupefilter = self._dupefilter
        found = []
        if dupefilter is not None and dupefilter.probation is not None:
            for one in dupefilter.probation.decided:
                why = (
                    f"Refuted: {one.why}."
                    if one.why
                    else "It was on probation, and is in force since this crawl."
                )
                found.append(Card(one.id, one.site, str(one.rule), why, "refuted" if one.why else "proved"))
        if dupefilter is not None and dupefilter.enforcing is not None:
            suspension = dupefilter.enforcing.proving.suspension
            for identity, ((site, rule), why) in suspension.against.items():
                status = "suspended" if identity in suspension.suspended else "in doubt"
                found.append(Card(identity, site, str(rule), f"It suppresses nothing now: {why}.", status))
        return found[::-1]

    # -- requests

    def _waiting_requests(self, stats: dict[str, Any]) -> list[Waiting]:
        """The number of requests that wait, for each thing that they wait for."""
        engine, scheduler = self._crawler.engine, self._scheduler
        active = 0 if self._ended is not None or engine is None else len(engine.downloader.active)
        found = [
            Waiting("in the queue", "their turn comes", self._queued()),
            Waiting("on their way", "the site answers", active),
        ]
        if self._dupefilter is not None and self._dupefilter.enforcing is not None:
            until = "the page has come under another URL; they are fetched only if it does not come"
            found.append(Waiting("duplicates of pages on their way", until, self._dupefilter.waiting))
        if isinstance(scheduler, DustScheduler) and scheduler.online is not None:
            until = "a likely rule has been looked at; they are part of the queue"
            found.append(Waiting("likely duplicates", until, scheduler.online.waiting))
        if isinstance(scheduler, DustScheduler) and scheduler.trapping is not None:
            last = sum(one.waiting for one in scheduler.trapping.put_last)
            until = "all others are fetched; they are part of the queue"
            found.append(Waiting("put last", until, last))
        return found

    def _queued(self) -> int | None:
        """The number of requests in the queue; None if nobody can count them."""
        if self._ended == "finished":
            return 0
        try:
            left = len(self._scheduler)  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001  Whatever a scheduler of the project's has against it.
            return self._left
        # A queue on the disk that is closed seems empty.
        if left or self._ended is None:
            self._left = left
        return self._left

    def _trap_forms(self) -> list[Form]:
        """The patterns of URLs that have brought nothing new: this crawl fetches them last, or no more."""
        trapping = self._scheduler.trapping if isinstance(self._scheduler, DustScheduler) else None
        if trapping is None:
            return []
        return [Form(one.form, one.id, one.why, one.waiting) for one in trapping.put_last] + [
            Form(form, "", "Nothing new comes any more: no more of them are fetched (DUST_TRAPS).", 0)
            for form in trapping.capped
        ]


def _causes_with_counts(stats: dict[str, Any]) -> list[tuple[str, str, int]]:
    """The causes for which URLs were not fetched, or their pages not given to the spider: a name, a description and a
    number for each.
    """
    counts = Counter(
        rules=stats.get(Stat.FILTERED, 0) - stats.get(Stat.HEIRS, 0),
        known=stats.get(Stat.KNOWN_SKIPPED, 0),
        traps=stats.get(Stat.CAPPED, 0),
        copies=stats.get(Stat.COPIES_DROPPED, 0),
    )
    return [
        ("rules", "duplicates of a page that is fetched, or on its way", counts["rules"]),
        ("earlier crawls", "an earlier crawl has taken the page (DUST_KNOWN)", counts["known"]),
        ("traps", "nothing new comes any more where they lead (DUST_TRAPS)", counts["traps"]),
        ("copies", "fetched, and dropped as a copy of another page (DUST_CONTENT_DEDUP)", counts["copies"]),
    ]


def _names_by_kind(rules: dict[str, list[Rule]]) -> dict[Kind, list[tuple[str, list[str]]]]:
    """The rules of all sites by their kind: the short name of each rule, with the ids that it has on its sites."""
    ids: dict[Rule, list[str]] = {}
    for site, of_site in rules.items():
        for rule in of_site:
            ids.setdefault(rule, []).append(rule_id(site, rule))
    return {
        kind: [(name_of(rule), ids[rule]) for rule in of_kind] for kind, of_kind in grouped_rules(ids).items()
    }


def _other_names(file: Path, spider: str) -> Iterator[Path]:
    """Other names for *file*, where another crawl writes it already: with the spider's name, then with the process too."""
    yield file.with_name(f"{file.stem}-{spider}{file.suffix}")
    while True:
        yield file.with_name(f"{file.stem}-{spider}-{os.getpid()}-{secrets.token_hex(3)}{file.suffix}")
