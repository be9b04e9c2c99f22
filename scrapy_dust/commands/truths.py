"""A log together with its truth: the content that each URL shows."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path

from scrapy_dust.commands.progress import Counting
from scrapy_dust.crawl_log import read_visits
from scrapy_dust.crawl_log.remote_logs import RemoteFile
from scrapy_dust.crawl_log.sources import CutShort, lines_of
from scrapy_dust.errors import CrawlLogError
from scrapy_dust.learners.evaluation import Truth, content_by_text
from scrapy_dust.learners.labelling import labels_by_simhash
from scrapy_dust.sites import site_of
from scrapy_dust.visits.pages import Visit

_SHORT = {"exact": "cluster_exact", "strict": "cluster_strict"}
_BY_TEXT = "text_digest"
#: The paper's clusters, which no line of a log has.
BY_SIMHASH = "simhash"
_OF_VISITS = frozenset(field.name for field in fields(Visit))


@dataclass(frozen=True, slots=True)
class Examined:
    """A log and its truth."""

    visits: Mapping[str, Sequence[Visit]]  #: by site
    truth: Truth
    field: str  #: what the truth was read from
    unreadable: int


def examine(logs: Sequence[str], truth: str | None) -> Examined:
    """Read *logs* with the truth about each URL: the content named by the field *truth*; by default ``cluster_exact``
    where the logs have it, else the digest of the text.

    Raises `CrawlLogError` for what cannot be read, and where no line has the field that was asked for.
    """
    reading = read_visits(logs)
    by_site: dict[str, list[Visit]] = {}
    for visit in Counting(sys.stderr, "Reading").of(reading):
        site = site_of(visit.url)
        if site is not None:
            by_site.setdefault(site, []).append(visit)
    if truth == BY_SIMHASH:
        return Examined(by_site, labels_by_simhash(by_site), BY_SIMHASH, reading.unreadable_count)
    field = _SHORT.get(truth or "exact", truth or "")
    found: Truth = {} if field in _OF_VISITS else _truth_of_lines(reading.files, field)
    if not found and (truth is None or field == _BY_TEXT):
        field = _BY_TEXT
        found = {url: one for of_site in by_site.values() for url, one in content_by_text(of_site).items()}
    elif field in _OF_VISITS:
        found = _truth_of_visits(by_site, field)
    if not found:
        raise CrawlLogError(
            ", ".join(logs),
            f"no line has {field!r}. {_suggested_field(truth)} Name a field that says what a URL shows.".replace(
                "  ", " "
            ),
        )
    return Examined(by_site, found, field, reading.unreadable_count)


def _suggested_field(truth: str | None) -> str:
    """A question that names the field that was probably meant by *truth*; empty where none is near."""
    near = difflib.get_close_matches(truth or "", [*_SHORT, *_SHORT.values(), *_OF_VISITS], n=1)
    return f"Did you mean {near[0]!r}?" if near and near[0] != truth else ""


def _truth_of_visits(by_site: Mapping[str, Sequence[Visit]], field: str) -> Truth:
    """The first value of *field* that the visits of each URL have."""
    found: dict[str, Hashable] = {}
    for of_site in by_site.values():
        for visit in of_site:
            value = getattr(visit, field)
            if value is not None:
                found.setdefault(visit.url, value)
    return found


def _truth_of_lines(files: Sequence[Path | RemoteFile], field: str) -> Truth:
    """The value of a field for each URL whose JSON line has the field."""
    found: dict[str, Hashable] = {}
    for file in files:
        for line in _lines(file):
            if field.encode() not in line:
                continue
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and isinstance(record.get("url"), str):
                value = record.get(field)
                if isinstance(value, (int, str)):
                    found.setdefault(record["url"], value)
    return found


def _lines(file: Path | RemoteFile) -> Iterator[bytes]:
    """The lines of *file*, up to where it may be cut short."""
    # Where it is cut short, the reader has said so.
    with suppress(CutShort):
        yield from lines_of(file)
