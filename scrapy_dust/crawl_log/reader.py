"""Reads crawl logs as visits, one at a time: our own, and logs of other crawlers, servers and archives.

A line that cannot be read is counted and reported, and reading goes on; a line that shows no page is counted. A file
is an error if none of its lines can be read, since it is probably not a log of that format, or if it does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from scrapy_dust.crawl_log.accesses import Base, HostUnknown
from scrapy_dust.crawl_log.compaction import file_with_records
from scrapy_dust.crawl_log.format_detection import (
    FORMATS,
    HEAD_BYTES,
    HEAD_LINES,
    READERS,
    advice_on_conversion,
    format_of,
)
from scrapy_dust.crawl_log.format_readers import Log, Outcome, ReaderOptions, Record, Torn
from scrapy_dust.crawl_log.log_formats import matcher_of
from scrapy_dust.crawl_log.place_names import names_in
from scrapy_dust.crawl_log.remote_logs import RemoteFile
from scrapy_dust.crawl_log.sources import CutShort, Source, lines_of, sources_of
from scrapy_dust.crawl_log.visit_fields import Known, Unreadable, version_of, visit_of
from scrapy_dust.errors import CrawlLogError
from scrapy_dust.page import SKETCH_VERSION
from scrapy_dust.sites import site_of
from scrapy_dust.visits.pages import Visit

#: Of the unreadable lines, so many are named; all are counted.
NAMED = 20


class BadLine(NamedTuple):
    """A line that could not be read."""

    path: str
    line: int
    reason: str


class Reading:
    """The visits of some logs. Each iteration reads the logs anew, and the counts are those of the last one."""

    def __init__(self, sources: tuple[Source, ...], log_format: str, told: ReaderOptions) -> None:
        self.files = tuple(source.path for source in sources)  #: in the order they are read
        self._sources = sources
        self._format = log_format
        self._told = told
        self._first_bad: BadLine | None = None  #: of the file that is being read
        self._reset_counts()

    def _reset_counts(self) -> None:
        self.records = 0  #: visits
        #: Lines that were read and show no page: other methods than GET, what was not fetched.
        self.passed_over = 0
        self.unreadable: list[BadLine] = []  #: the first of them
        self.unreadable_count = 0
        self.torn = 0  #: files whose last line was still being written
        self.foreign_sketches = 0  #: records whose sketch was made by another version, and was left out
        self.names: dict[int, str] = {}  #: of the places that units stand at
        self._contents: dict[str, Record] = {}  #: by the digests of archived payloads
        self._known: Known = {}  #: what records have said

    def __iter__(self) -> Iterator[Visit]:
        """The visits of the log. Raises `CrawlLogError` after the visits that could be read."""
        self._reset_counts()
        for source in self._sources:
            read, self._first_bad = self.records + self.passed_over, None
            yield from self._visits_of_file(source)
            nothing = self.records + self.passed_over == read
            if nothing and (source.named or self._first_bad):
                raise CrawlLogError(str(source.path), _why_nothing(self._first_bad))
        if not self.records:
            raise CrawlLogError(str(self.files[0].parent), self._why_no_page())

    def _visits_of_file(self, source: Source) -> Iterator[Visit]:
        """The visits of one file. A file that is cut short ends with a bad line."""
        path, number = str(source.path), 0
        try:
            for number, outcome in self._outcomes_of_file(file_with_records(source.path)):
                visit = self._visit_of_outcome(path, number, outcome)
                if visit is not None:
                    self.records += 1
                    yield visit
        except CutShort as cut:
            self._note_bad_line(path, number + 1, str(cut))

    def _visit_of_outcome(self, path: str, number: int, outcome: Outcome) -> Visit | None:
        """The visit that a line holds by its *outcome*; None, and counted, where it holds none."""
        if outcome is None:
            self.passed_over += 1
            return None
        try:
            if isinstance(outcome, Unreadable):
                raise outcome
            visit, foreign = as_visit(outcome, self._known)
            if places := outcome.get("places"):
                self.names.update(names_in(str(places)))
        except HostUnknown as unknown:
            raise CrawlLogError(
                path, f"{unknown}. Say which site it is of with --base-url https://HOST."
            ) from None
        except Torn:
            self.torn += 1
            return None
        except Unreadable as bad:
            self._note_bad_line(path, number, str(bad))
            return None
        self.foreign_sketches += foreign
        return visit

    def _outcomes_of_file(self, path: Path | RemoteFile) -> Iterator[tuple[int, Outcome]]:
        """The result of reading each line, in the format that the user gave or that the first lines show."""
        lines = enumerate(lines_of(path), start=1)
        head: list[tuple[int, bytes]] = []
        cut = None
        try:
            size = 0
            for line in lines:
                head.append(line)
                size += len(line[1])
                if len(head) >= HEAD_LINES or size >= HEAD_BYTES:
                    break
        except CutShort as early:
            cut = early
        first = tuple(line for _, line in head)
        said = advice_on_conversion(first)
        if said is not None:
            raise CrawlLogError(str(path), said)
        name = format_of(path.name, first) if self._format == "auto" else self._format
        if name == "dust" and first and first[0].startswith(b"PAR1"):
            name = "parquet"  # what becomes of our own log
        # A list that is finished has no line that is still being written.
        growing = self._format != "jsonl"
        again = chain(head, lines) if cut is None else _raise_after(head, cut)
        return READERS[name](Log(path, first, again, self._told, self._contents, may_be_growing=growing))

    def _note_bad_line(self, path: str, number: int, reason: str) -> None:
        """Count a line that could not be read; the first few are remembered."""
        bad = BadLine(path, number, reason)
        self._first_bad = self._first_bad or bad
        self.unreadable_count += 1
        if self.unreadable_count <= NAMED:
            self.unreadable.append(bad)

    def _why_no_page(self) -> str:
        """A sentence that says why the logs have no visit."""
        if self.unreadable:
            bad = self.unreadable[0]
            return (
                f"its logs show no page; {self.unreadable_count} of their lines cannot be read (line {bad.line}: {bad.reason}). "
                "Check that the lines are whole, and name their --format."
            )
        if self.passed_over:
            return "its logs have no request that shows a page. Check that they are the right ones."
        return "its logs have no record yet. Crawl first."


def as_visit(record: Record, known: Known | None = None) -> tuple[Visit, bool]:
    """The visit that *record* describes, and whether its sketch was left out because another version
    made it. Raises `Unreadable`. *known*: see `visit_of`.
    """
    visit = visit_of(record, known)
    if version_of(record) in {None, SKETCH_VERSION} or visit.sketch is None:
        return visit, False
    return replace(visit, sketch=None), True


def read_visits(
    sources: str | Path | Iterable[str | Path],
    format: str = "auto",  # noqa: A002
    *,
    base_url: str | None = None,
    log_format: str | None = None,
    ignore: Sequence[str] = (),
) -> Reading:
    """The visits of files, of all logs below folders, and of globs, compressed or not.

    *format*: one of `FORMATS`; ``auto`` looks. *base_url*: where the requests of a log went that does not say
    it. *log_format*: what stands after Apache's ``LogFormat`` or nginx's ``log_format``, for access logs that
    are neither Common nor Combined. *ignore*: CSS selectors of elements of archived pages that do not count. Raises `CrawlLogError` for what is not there, `ValueError` for a format
    that is not read.
    """
    told = replace(checked_options(format, base_url, log_format), ignore=tuple(ignore))
    names = [sources] if isinstance(sources, (str, Path)) else list(sources)
    if not names:
        raise ValueError("no crawl log is named.")
    return Reading(sources_of(names), "combined" if log_format else format, told)


def checked_options(format: str, base_url: str | None, log_format: str | None) -> ReaderOptions:  # noqa: A002
    """The options for `read_visits`. Raises `ValueError` for a wrong value, before any log is read."""
    if format not in FORMATS:
        raise ValueError(f"format {format!r} is not read by this version, which reads {', '.join(FORMATS)}.")
    if log_format is not None:
        if format not in ("auto", "combined", "common"):
            raise ValueError(f"a log format of its own is for access logs, not for format {format!r}.")
        matcher_of(log_format)
    return ReaderOptions(None if base_url is None else Base.of(base_url), log_format)


class VisitsBySite(dict[str, list[Visit]]):
    """Visits by site, in the order of the log. Sites stand in the order in which they first came."""

    without_site = 0  #: visits of what is no http(s) URL


def visits_by_site(visits: Iterable[Visit]) -> VisitsBySite:
    """The *visits* sorted by site, and the number of those without a site."""
    found = VisitsBySite()
    for visit in visits:
        site = site_of(visit.url)
        if site is None:
            found.without_site += 1
        else:
            found.setdefault(site, []).append(visit)
    return found


def _raise_after(lines: Iterable[tuple[int, bytes]], cut: CutShort) -> Iterator[tuple[int, bytes]]:
    """The *lines*, then the error *cut*."""
    yield from lines
    raise cut


def _why_nothing(bad: BadLine | None) -> str:
    """A sentence that says why a file has no record. *bad*: its first bad line."""
    if bad is None:
        return "there is no record in it. Check that it is the right file."
    return (
        f"none of its lines is a record (line {bad.line}: {bad.reason}). "
        "Name a log with one JSON object a line, or a CSV file with a column 'url', or its --format."
    )
