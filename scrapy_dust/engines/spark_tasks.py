"""The work of Spark's workers: rows of logs become visits by site, and the visits of a site are mined.

Pure functions over Arrow batches, without Spark. A site is mined with the same `side_by_side.Miner` as on this
machine, and its visits are sorted into the order of the logs before. So it does not matter how rows came to workers,
nor how often one of them had to begin anew.

    rows ──▶ chunks: site, place in the logs, visits ──▶ by site: sorted, without repeats, mined

Other findings about the logs, such as lines that could not be read, take the same way under a site without a name.
"""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from scrapy_dust.crawl_log.format_readers import ReaderOptions
from scrapy_dust.crawl_log.parquet import Layout, records_of
from scrapy_dust.crawl_log.place_names import names_in
from scrapy_dust.crawl_log.reader import NAMED, BadLine, Reading, as_visit
from scrapy_dust.crawl_log.remote_logs import RemoteFile
from scrapy_dust.crawl_log.sources import Source
from scrapy_dust.crawl_log.visit_fields import Unreadable
from scrapy_dust.engines.local import Mined
from scrapy_dust.engines.side_by_side import Miner, small_sites_together
from scrapy_dust.errors import CrawlLogError
from scrapy_dust.page.volatile import Volatile
from scrapy_dust.propose.edits.pooling import Pool
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import is_below, site_of
from scrapy_dust.visits.pages import Visit, without_repeats

#: As Spark writes schemas.
CHUNKS = "site string, file int, row long, content binary"
MINED = "site string, visits long, content binary"
#: Columns that are added to a log's own.
FILE, ROW = "_dust_file", "_dust_row"

_CHUNK_SCHEMA = pa.schema(
    [("site", pa.large_string()), ("file", pa.int32()), ("row", pa.int64()), ("content", pa.large_binary())]
)
_MINED_SCHEMA = pa.schema(
    [("site", pa.large_string()), ("visits", pa.int64()), ("content", pa.large_binary())]
)
#: No site is called so.
_NO_SITE = ""


class LogFile(NamedTuple):
    """A file that is read."""

    place: int  #: among the files
    path: str  #: as a user is told of it
    named: bool  #: by the user, and not only found in a folder


@dataclass(frozen=True, slots=True)
class Seen:
    """Findings about logs beside their visits: unreadable lines and the like."""

    records: int = 0
    passed_over: int = 0  #: lines that show no page
    unreadable: int = 0
    named: tuple[BadLine, ...] = ()  #: the first of them
    latest: str = ""  #: when the newest record was made, as it says
    error: tuple[str, str] | None = None  #: of a file that is no log: its path, and why
    names: Mapping[int, str] = field(default_factory=dict)  #: of the places that units stand at

    def __add__(self, other: Seen) -> Seen:
        """The findings of both, counted together."""
        return Seen(
            self.records + other.records,
            self.passed_over + other.passed_over,
            self.unreadable + other.unreadable,
            (self.named + other.named)[:NAMED],
            max(self.latest, other.latest),
            self.error or other.error,
            {**self.names, **other.names},
        )


def bare(uri: str) -> str:
    """The name of a file in one spelling, since Spark percent-encodes names, and puts a scheme before local files."""
    scheme, colon, path = uri.partition(":")
    return unquote("/" + path.lstrip("/")) if colon and scheme == "file" else unquote(uri)


def chunks_of_rows(
    batches: Iterable[pa.RecordBatch], files: Mapping[str, LogFile], layout: Layout, host: str | None
) -> Iterator[pa.RecordBatch]:
    """The visits in a table's rows. Each row says in which file, and where in that file, it stands."""
    for batch in batches:
        paths, rows = (batch.column(name).to_pylist() for name in (FILE, ROW))
        found = _Chunks(host)
        for path, row, record in zip(paths, rows, records_of(batch, layout), strict=True):
            file = files[bare(path)]
            try:
                found.add(file.place, row, as_visit(record)[0])
                if places := record.get("places"):
                    found.names.update(names_in(str(places)))
            except Unreadable as bad:
                found.add_seen(
                    file.place, row, Seen(unreadable=1, named=(BadLine(file.path, row + 1, str(bad)),))
                )
        yield found.batch()


def chunks_of_files(
    batches: Iterable[pa.RecordBatch], files: Mapping[str, LogFile], log_format: str, host: str | None
) -> Iterator[pa.RecordBatch]:
    """The visits in whole files of lines."""
    for batch in batches:
        for path, content in zip(
            *(batch.column(name).to_pylist() for name in ("path", "content")), strict=True
        ):
            file, found = files[bare(path)], _Chunks(host)
            source = Source(_Loaded(file.path, content), file.named)
            reading = Reading((source,), log_format, ReaderOptions())
            error = None
            try:
                for row, visit in enumerate(reading):
                    found.add(file.place, row, visit)
            except CrawlLogError as wrong:
                # A file of which nothing is said is no error beside others.
                error = (wrong.path, wrong.reason) if file.named or reading.unreadable_count else None
            rest = Seen(
                0,
                reading.passed_over,
                reading.unreadable_count,
                tuple(reading.unreadable),
                "",
                error,
                reading.names,
            )
            found.add_seen(file.place, reading.records, rest)
            yield found.batch()


def mine_sites(
    batches: Iterable[pa.RecordBatch],
    settings: DustSettings,
    pool: Pool,
    volatile: Mapping[str, Volatile] = MappingProxyType({}),
    *,
    redirects_count: bool,
) -> Iterator[pa.RecordBatch]:
    """Mine sites from all their chunks, sorted by site and place in the logs."""
    miner = Miner(settings, redirects_count, pool, volatile=dict(volatile))
    for some in small_sites_together(_visits_by_site(batches), lambda one: len(one[1])):
        sites = [(site, visits, 1.0) for site, visits, seen in some if seen is None]
        for (site, visits, _), mined in zip(sites, miner(sites), strict=True):
            yield _row(site, len(visits), mined)
        for _, _, seen in some:
            if seen is not None:
                yield _row(_NO_SITE, seen.records, seen)


def _visits_by_site(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, list[Visit], Seen | None]]:
    """The visits of each site, read from *batches*; findings about the logs come under a site without a name."""
    rows = (
        row
        for batch in batches
        for row in zip(*(batch.column(name).to_pylist() for name in ("site", "content")), strict=True)
    )
    for site, contents in groupby(rows, itemgetter(0)):
        parts = [pickle.loads(content) for _, content in contents]  # noqa: S301  Ours.
        if site == _NO_SITE:
            yield site, [], sum(parts, Seen())
        else:
            yield site, list(without_repeats(chain.from_iterable(parts))), None


def results(rows: Iterable[Sequence[Any]]) -> tuple[Seen, list[Mined]]:
    """The findings about the logs, and the results of all sites, the largest first, from the *rows* of `mine_sites`."""
    seen, mined = Seen(), []
    for site, visits, content in rows:
        one = pickle.loads(zlib.decompress(content))  # noqa: S301  Ours.
        if site == _NO_SITE:
            seen = one
        else:
            mined.append((-visits, site, one))
    return seen, [one for _, _, one in sorted(mined, key=lambda found: found[:2])]


def _row(site: str, visits: int, found: Seen | Mined) -> pa.RecordBatch:
    """The results of one site, or findings about logs, as a batch of one row."""
    content = zlib.compress(pickle.dumps(found, pickle.HIGHEST_PROTOCOL), 1)
    return pa.record_batch([[site], [visits], [content]], schema=_MINED_SCHEMA)


@dataclass(frozen=True, slots=True, order=True)
class _Loaded(RemoteFile):
    """A file that Spark has loaded from its storage."""

    content: bytes = b""

    def open(self, mode: str = "rb") -> io.BufferedReader:
        return io.BufferedReader(io.BytesIO(self.content))


class _Chunks:
    """Collects visits by site and file."""

    def __init__(self, host: str | None) -> None:
        self._host = host
        self._parts: dict[tuple[str, int], tuple[int, Any]] = {}
        self._records, self._latest, self._last = 0, "", (0, 0)
        self.names: dict[int, str] = {}  #: of the places that units stand at

    def add(self, file: int, row: int, visit: Visit) -> None:
        """Add *visit*, which stands at this *row* of this *file*."""
        self._records, self._last = self._records + 1, (file, row)
        if visit.fetched_at is not None and visit.fetched_at > self._latest:
            self._latest = visit.fetched_at
        site = site_of(visit.url) if self._host is None or is_below(visit.url, self._host) else None
        if site:
            self._parts.setdefault((site, file), (row, []))[1].append(visit)

    def add_seen(self, file: int, row: int, seen: Seen) -> None:
        """Add the findings *seen* about the *file*, from its row *row* on."""
        at, before = self._parts.get((_NO_SITE, file), (row, Seen()))
        self._parts[_NO_SITE, file] = at, before + seen

    def batch(self) -> pa.RecordBatch:
        """All that was added, as one Arrow batch."""
        if self._records:
            self.add_seen(*self._last, Seen(self._records, latest=self._latest, names=self.names))
        rows = [
            (site, file, row, pickle.dumps(part, pickle.HIGHEST_PROTOCOL))
            for (site, file), (row, part) in self._parts.items()
        ]
        columns = zip(*rows, strict=True) if rows else ((), (), (), ())
        return pa.record_batch([list(column) for column in columns], schema=_CHUNK_SCHEMA)
