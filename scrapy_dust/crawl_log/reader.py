"""Crawl logs as visits, one at a time: our own, and others' in the same fields, as JSON lines or CSV.

A line that cannot be read is counted and named, and the next one is read. A file of which no line can be
read is an error, for it is not what its reader took it for; so is one that is not there.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from scrapy_dust.crawl_log.fields import Unreadable, version_of, visit_of
from scrapy_dust.crawl_log.sources import MAX_LINE, Cut, Source, lines_of, sources_of
from scrapy_dust.dust.pages import Visit
from scrapy_dust.errors import CrawlLogError
from scrapy_dust.sites import site_of
from scrapy_dust.text import SKETCH_VERSION

Record = Mapping[str, object]

FORMATS = ("auto", "dust", "jsonl", "csv")
#: Of the unreadable lines, so many are named; all are counted.
NAMED = 20


class BadLine(NamedTuple):
    """A line that could not be read."""

    path: str
    line: int
    reason: str


class Reading:
    """The visits of some logs. Each iteration reads them anew; the counts are those of the last one, so far."""

    def __init__(self, sources: tuple[Source, ...], log_format: str) -> None:
        self.files = tuple(source.path for source in sources)  #: in the order they are read
        self._sources = sources
        self._format = log_format
        self._first_bad: BadLine | None = None  #: of the file that is being read
        self._clear()

    def _clear(self) -> None:
        self.records = 0  #: visits
        self.unreadable: list[BadLine] = []  #: the first of them
        self.unreadable_count = 0
        self.torn = 0  #: files whose last line was still being written
        self.foreign_sketches = 0  #: records whose sketch was made by another version, and was left out

    def __iter__(self) -> Iterator[Visit]:
        """Raises `CrawlLogError`, after the visits that came before."""
        self._clear()
        for source in self._sources:
            records, self._first_bad = self.records, None
            yield from self._visits(source)
            if self.records == records and (source.named or self._first_bad):
                raise CrawlLogError(str(source.path), _why_nothing(self._first_bad))
        if not self.records:
            raise CrawlLogError(str(self.files[0].parent), "its logs have no record yet. Crawl first.")

    def _visits(self, source: Source) -> Iterator[Visit]:
        lines = self._numbered(source.path)
        first = next(lines, (0, b""))
        lines = chain([first], lines)
        path = str(source.path)
        if _is_csv(source.path, first[1], self._format):
            records = self._from_csv(path, lines)
        else:
            records = self._from_json(path, lines)
        for number, record in records:
            try:
                visit = visit_of(record)
                foreign = version_of(record) not in {None, SKETCH_VERSION}
            except Unreadable as bad:
                self._bad(path, number, str(bad))
                continue
            if foreign and visit.sketch is not None:
                self.foreign_sketches += 1
                visit = replace(visit, sketch=None)
            self.records += 1
            yield visit

    def _numbered(self, path: Path) -> Iterator[tuple[int, bytes]]:
        number = 0
        try:
            for number, line in enumerate(lines_of(path), start=1):
                yield number, line
        except Cut as cut:
            self._bad(str(path), number + 1, str(cut))

    def _from_json(self, path: str, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, Record]]:
        for number, line in lines:
            try:
                text = _decoded(line).strip()
                if text:
                    yield number, _parsed(text)
            except Unreadable as bad:
                # The end of a log that is being written, or was when the machine stopped.
                if line.endswith(b"\n") or len(line) > MAX_LINE or self._format == "jsonl":
                    self._bad(path, number, str(bad))
                else:
                    self.torn += 1

    def _from_csv(self, path: str, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, Record]]:
        at = 0

        def texts() -> Iterator[str]:
            nonlocal at
            for at, line in lines:
                try:
                    yield _decoded(line)
                except Unreadable as bad:
                    self._bad(path, at, str(bad))

        # The parser asks for as many lines as a row has.
        text = texts()
        header = next(text, "")
        delimiter = _delimiter(header)
        names = [name.strip().lower() for name in next(csv.reader([header], delimiter=delimiter), [])]
        if "url" not in names:
            raise CrawlLogError(
                path, "its first line has no column 'url'. Name the columns in the first line."
            )
        rows = csv.reader(text, delimiter=delimiter)
        while True:
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                self._bad(path, at, f"not CSV: {error}")
                continue
            if len(cells) == len(names):
                yield at, dict(zip(names, cells, strict=True))
            elif cells:
                self._bad(path, at, f"{len(cells)} cells under a header of {len(names)}")

    def _bad(self, path: str, number: int, reason: str) -> None:
        bad = BadLine(path, number, reason)
        self._first_bad = self._first_bad or bad
        self.unreadable_count += 1
        if self.unreadable_count <= NAMED:
            self.unreadable.append(bad)


def read_visits(sources: str | Path | Iterable[str | Path], format: str = "auto") -> Reading:  # noqa: A002
    """The visits of files, of all logs below folders, and of globs, gzipped or not.

    *format*: ``dust`` and ``jsonl`` are one object a line, the first of which may end in the middle of a line;
    ``csv`` has its columns' names in the first line; ``auto`` looks. Raises `CrawlLogError` for what is not
    there, `ValueError` for a format that is not read.
    """
    if format not in FORMATS:
        raise ValueError(f"format {format!r} is not read by this version, which reads {', '.join(FORMATS)}.")
    names = [sources] if isinstance(sources, (str, Path)) else list(sources)
    if not names:
        raise ValueError("no crawl log is named.")
    return Reading(sources_of(names), format)


class VisitsBySite(dict[str, list[Visit]]):
    """Visits in the order of the log, by site; sites in the order they first came."""

    without_site = 0  #: visits of what is no http(s) URL


def visits_by_site(visits: Iterable[Visit]) -> VisitsBySite:
    found = VisitsBySite()
    for visit in visits:
        site = site_of(visit.url)
        if site is None:
            found.without_site += 1
        else:
            found.setdefault(site, []).append(visit)
    return found


_parse = json.JSONDecoder().raw_decode


def _decoded(line: bytes) -> str:
    if len(line) > MAX_LINE:
        raise Unreadable(f"longer than {MAX_LINE >> 20} MB")
    try:
        return line.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8") from None


def _parsed(text: str) -> Record:
    if not text.startswith("{"):
        raise Unreadable("not a JSON object")
    try:
        record, end = _parse(text)
    except json.JSONDecodeError as error:
        raise Unreadable(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON that can be read: {error}") from None
    if end != len(text):
        raise Unreadable(f"more than one JSON value, from character {end + 1}")
    found: Record = record
    return found


def _is_csv(path: Path, first_line: bytes, log_format: str) -> bool:
    if log_format != "auto":
        return log_format == "csv"
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".csv", ".tsv", ".jsonl", ".ndjson")):
        return name.endswith((".csv", ".tsv"))
    header = first_line.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    cells = header.lower().split(_delimiter(header))
    return not header.startswith("{") and "url" in [cell.strip().strip('"') for cell in cells]


def _why_nothing(bad: BadLine | None) -> str:
    if bad is None:
        return "there is no record in it. Check that it is the right file."
    return (
        f"none of its lines is a record (line {bad.line}: {bad.reason}). "
        "Name a log with one JSON object a line, or a CSV file with a column 'url'."
    )


def _delimiter(header: str) -> str:
    return next((mark for mark in "\t;" if mark in header and "," not in header), ",")
