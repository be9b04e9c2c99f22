"""Reads journals, also files that were cut off when a crawl was killed or a disk was full.

A damaged line is skipped and counted; the lines behind it are read. A gzipped segment that ends too early is read up
to the break.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scrapy_dust.crawl_log.compaction import file_with_records
from scrapy_dust.crawl_log.sources import CutShort, lines_of
from scrapy_dust.errors import CrawlLogError
from scrapy_dust.journal.events import Event, from_record


@dataclass
class Counts:
    """The number of lines that a reader could not use."""

    unreadable: int = 0  #: lines, and files from some line on


def read(
    segments: Iterable[Path],
    counts: Counts | None = None,
    *,
    where: Callable[[bytes], bool] = lambda line: True,
) -> Iterator[tuple[Path, Event]]:
    """Each event with the file that it is from. Lines for which *where* is false are skipped."""
    counts = counts or Counts()
    for segment in segments:
        try:
            for line in _lines(segment):
                if line.strip() and where(line) and (event := _event(line, counts)) is not None:
                    yield segment, event
        except (CutShort, CrawlLogError):  # torn, or let go of meanwhile
            counts.unreadable += 1


def _lines(segment: Path) -> Iterator[bytes]:
    """The lines of *segment*, also if it is gzipped while it is being opened."""
    file = file_with_records(segment)
    try:
        yield from lines_of(file)
    except CrawlLogError:
        now = file_with_records(segment)
        if now == file:
            raise
        # It was gzipped just now.
        yield from lines_of(now)


def _event(line: bytes, counts: Counts) -> Event | None:
    try:
        return from_record(json.loads(line))
    except (ValueError, RecursionError):
        counts.unreadable += 1
        return None
