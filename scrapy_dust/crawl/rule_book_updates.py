"""Writes into the rule book what a crawl has found out about its rules.

If the rule book cannot be written, for example at a URI, a sentence says so for each rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

from scrapy.crawler import Crawler
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

from scrapy_dust.believe.watch import Standing, Watch
from scrapy_dust.crawl.components import CrawlLogger
from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book.book import RuleBook, update
from scrapy_dust.rule_book.entries import Entry, Evidence, Status, most_shown
from scrapy_dust.rule_book.safe_files import in_project
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings

if TYPE_CHECKING:
    from scrapy_dust.believe.probation_proof import Proof

#: Canaries that show the same page, after which a rule's evidence is of today.
RENEWED = 3

Found = tuple[str, Entry]  # with its site


class Updates:
    """Writes what one crawl finds out *about* its rules into their books, in a thread. *by*: the kind of test."""

    def __init__(
        self, crawler: Crawler, settings: DustSettings, log: CrawlLogger, by: str, about: str
    ) -> None:
        self._crawler, self._settings, self._log, self._by, self._about = crawler, settings, log, by, about
        self._writing: list[Deferred[None]] = []

    @property
    def crawl_name(self) -> str:
        """The name of this crawl, under which a rule book lists the crawl's evidence."""
        begun = self._crawler.stats.get_value("start_time")
        assert self._crawler.spider is not None
        return f"{self._by}{self._crawler.spider.name}, {begun:%Y-%m-%d %H:%M:%S}"

    def write(self, found: Sequence[Found]) -> None:
        """Begin to write *found*."""
        self._writing.append(deferred_from_coro(self._write(found)))

    async def finish(self, found: Sequence[Found]) -> None:
        """Wait until all is written, and write *found*."""
        for begun in self._writing:
            await maybe_deferred_to_future(begun)
        self._writing.clear()
        if found:
            await self._write(found)

    async def _write(self, found: Sequence[Found]) -> None:
        settings = self._settings
        for untold in await run_in_thread(write_entries, settings.rules, found, settings.max_age):
            self._log.warning(
                "The next crawl will not know what this one found out about %s: %s", self._about, untold
            )


def watched_entry(
    site: str,
    rule: Rule,
    watch: Watch,
    crawl: str,
    reason: str | None,
    shown: Mapping[str, int] = MappingProxyType({}),
) -> Found:
    """The book's entry for the evidence in *watch*. *crawl*: a name to count evidence once. *shown*: the rule's reach."""
    fresh = watch.same >= RENEWED or watch.standing is not Standing.TRUSTED
    evidence = Evidence(
        positive=watch.same,
        negative=watch.different,
        contradictions=watch.different,
        unknown=watch.unknown,
        fetches=watch.same + watch.different + watch.unknown,
        last_validated=datetime.now(UTC).date().isoformat() if fresh else None,
        shown=most_shown(shown),
        logs=(crawl,),
    )
    against = Status.REFUTED if watch.different else Status.SUSPENDED
    status = Status.VALID if reason is None else against
    return site, Entry(rule, status, evidence, reason)


def decided_entry(
    rule: Rule, proof: Proof, before: Mapping[str, int], status: Status, reason: str | None, crawl: str
) -> Entry:
    """The entry for a rule on probation that the crawl *crawl* has tested. *before*: the reach known before."""
    evidence = Evidence(
        positive=max(0, proof.pairs - before["same"]),
        negative=proof.wrong,
        contradictions=proof.wrong,
        unknown=max(0, proof.silent - before["silent"]),
        contents=len(proof.all_contents),
        unseen_bound=round(proof.risk_bound(rule), 4),
        shown=most_shown(proof.reach),
        last_validated=datetime.now(UTC).date().isoformat(),
        logs=(crawl,),
    )
    return Entry(rule, status, evidence, reason)


def write_entries(paths: Sequence[str], found: Sequence[Found], max_age: int) -> list[str]:
    """Write *found* into the books at *paths*. Returns a sentence for each rule that could not be written."""
    untold = []
    left = list(found)
    for path in map(in_project, paths):
        here = _entries_in(path, left)
        if here:
            try:
                update(path, lambda book, here=here: _book_with(book, here, max_age))  # type: ignore[misc]
            except RuleBookError as error:
                untold.append(str(error))
            left = [one for one in left if one not in here]
    return untold


def _entries_in(path: str, found: Sequence[Found]) -> list[Found]:
    """The entries of *found* whose rule is in the book at *path*."""
    try:
        book = RuleBook.load([path])
    except RuleBookError:
        return []
    return [
        (site, entry) for site, entry in found if any(one.rule == entry.rule for one in book.entries(site))
    ]


def _book_with(book: RuleBook, found: Sequence[Found], max_age: int) -> RuleBook:
    """*book* with those entries of *found* that say something new."""
    for site, entry in found:
        known = {one.rule: one for one in book.entries(site)}.get(entry.rule)
        if known is None or known.status in (Status.REFUTED, Status.DISABLED):
            continue
        is_news = known.status is not Status.VALID or entry.status is not Status.VALID
        is_news |= entry.evidence.shown != known.evidence.shown and bool(entry.evidence.shown)
        if is_news or entry.evidence.contradictions or _is_old(known, max_age):
            book = book.merge(site, [entry])
    return book


def _is_old(entry: Entry, max_age: int) -> bool:
    """Whether the evidence of *entry* is so old that the book should say that a crawl has confirmed the rule."""
    last = entry.evidence.last_validated
    if last is None or not max_age:
        return False
    return last <= (datetime.now(UTC).date() - timedelta(days=max(1, max_age // 4))).isoformat()
