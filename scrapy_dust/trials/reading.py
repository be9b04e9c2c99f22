"""Reads logs and sorts their records by site, for all hosts or for one; collects lines that cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from scrapy_dust.crawl_log.log_names import log_name
from scrapy_dust.crawl_log.reader import BadLine, read_visits
from scrapy_dust.crawl_log.remote_logs import RemoteFile
from scrapy_dust.engines.figures import Figures
from scrapy_dust.engines.gathering import gather
from scrapy_dust.neural.training_state import Epoch
from scrapy_dust.rule_book.shards import Shard
from scrapy_dust.sites import is_below, netloc_of, site_of
from scrapy_dust.visits.pages import Visit

#: Hosts passed over that are remembered, where a user asks for one host.
_OTHERS_KEPT = 1000


class Reporter:
    """The events of a run that can be watched. This base class ignores them."""

    def reading(self, visits: int) -> None:
        """So many records, *visits*, have been read."""

    def mined(self, mined: Figures) -> None:
        """One site has been mined, or taken over."""

    def training(self, site: str, epoch: Epoch, most: int) -> None:
        """A network has finished an *epoch* of training on a site, of at most *most*."""

    def probing(self, fetches: int, budget: int, decided: int, remaining: int) -> None:
        """The state of validation: fetches spent of the budget, rules decided, candidates left."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where records come from: the logs, and which of their sites."""

    paths: Sequence[str]
    format: str = "auto"
    host: str | None = None  #: only this host and those below it
    base_url: str | None = None  #: where requests went of which an access log does not say it
    log_format: str | None = None  #: of access logs, as the server's configuration has it
    shard: Shard | None = None  #: only its sites
    ignore: Sequence[str] = ()  #: CSS selectors of elements of archived pages that do not count


@dataclass(frozen=True, slots=True)
class Read:
    """The records of logs, by site."""

    visits: Mapping[str, Sequence[Visit]]
    logs: tuple[str, ...]  #: the names of the files, as a rule book calls them
    unreadable: int
    named: Sequence[str]  #: the first unreadable lines, with where and why
    passed_over: int  #: lines that show no page
    latest: float = 0.0  #: when the newest record was made, in seconds; 0: the logs do not say
    files: Sequence[Path | RemoteFile] = ()
    names: Mapping[int, str] = field(default_factory=dict)  #: of the places that units stand at
    other_hosts: tuple[str, ...] = ()  #: some of those that were passed by, where one host was asked for
    without_site: int = 0  #: records whose URL is no http(s) URL with a host
    of_other_shards: int = 0  #: records of sites that other shards mine


def read(source: Source, reporter: Reporter, *, most: int | None = None) -> Read:
    """Read *source*. Raises `CrawlLogError` if a log cannot be read at all. *most*: bytes of memory that records may take."""
    reading = read_visits(
        source.paths,
        source.format,
        base_url=source.base_url,
        log_format=source.log_format,
        ignore=source.ignore,
    )
    times, hosts = _Times(), _HostFilter(source.host, source.shard)
    by_site = gather(hosts.of(times.of(_counted_aloud(reading, reporter))), most)
    named = unreadable_in_words(reading.unreadable)
    logs = tuple(dict.fromkeys(log_name(file.name) for file in reading.files))
    return Read(
        by_site,
        logs,
        reading.unreadable_count,
        named,
        reading.passed_over,
        times.latest(),
        reading.files,
        reading.names,
        tuple(hosts.others),
        hosts.without_site,
        hosts.of_others,
    )


def unreadable_in_words(unreadable: Iterable[BadLine]) -> list[str]:
    """A line of text for each line that could not be read."""
    return [f"{line.path}, line {line.line}: {line.reason}" for line in unreadable]


def _counted_aloud(visits: Iterable[Visit], reporter: Reporter) -> Iterator[Visit]:
    """*visits* unchanged, while *reporter* is told now and then how many have passed."""
    for number, visit in enumerate(visits, start=1):
        yield visit
        if number % 20_000 == 0:
            reporter.reading(number)


class _Times:
    """Finds the time of the newest record while records pass."""

    def __init__(self) -> None:
        self._newest = ""

    def of(self, visits: Iterable[Visit]) -> Iterator[Visit]:
        """Give *visits* on unchanged, and note the time of the newest."""
        for visit in visits:
            if visit.fetched_at is not None and visit.fetched_at > self._newest:
                self._newest = visit.fetched_at
            yield visit

    def latest(self) -> float:
        """The time of the newest record given on so far, in seconds since 1970."""
        return seconds_of(self._newest)


def seconds_of(moment: str) -> float:
    """A log's time in seconds; 0 if the text is no time."""
    try:
        newest = datetime.fromisoformat(moment)
    except ValueError:
        return 0.0
    return (newest if newest.tzinfo is not None else newest.replace(tzinfo=UTC)).timestamp()


class _HostFilter:
    """Passes on the records of one host and its subdomains, or of the sites of a *shard*; without both, of all hosts."""

    def __init__(self, host: str | None, shard: Shard | None) -> None:
        self._wanted = None if host is None else host.lower()
        self._is_mine = cache(shard.has) if shard is not None else None
        self.others: dict[str, None] = {}  #: hosts that were passed by, the first of them
        self.without_site = 0  #: visits of what is no http(s) URL with a host
        self.of_others = 0  #: visits of sites of other shards

    def of(self, visits: Iterable[Visit]) -> Iterator[Visit]:
        """The records among *visits* that are of the wanted host or of hosts below it."""
        for visit in visits:
            site = site_of(visit.url)
            if site is None:
                self.without_site += 1
            elif self._is_mine is not None and not self._is_mine(site):
                self.of_others += 1
            elif self._wanted is None or self._is_wanted_host(visit.url):
                yield visit

    def _is_wanted_host(self, url: str) -> bool:
        """Whether *url* is of the wanted host or below it; else the host is noted among the others."""
        if self._wanted is not None and is_below(url, self._wanted):
            return True
        if len(self.others) < _OTHERS_KEPT:
            self.others[netloc_of(url)] = None
        return False
