"""Mines logs on Spark: workers read logs and mine sites; the results come back here.

Spark's own configuration says where the workers are (``spark-defaults.conf``, ``spark-submit``,
``PYSPARK_SUBMIT_ARGS``); without any, this machine. Workers need a Python with scrapy-dust. Their work is in
`spark_tasks`.

Only this module and `spark_session` import Spark, and only when it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from scrapy_dust.crawl_log.format_detection import FORMATS
from scrapy_dust.crawl_log.remote_logs import RemoteFile, is_uri
from scrapy_dust.crawl_log.sources import COMPRESSED, Source, one_per_crawl, sources_of
from scrapy_dust.engines.spark_session import last_line_of, session_of, told_in_a_sentence
from scrapy_dust.errors import CrawlLogError, EngineError
from scrapy_dust.page.volatile import Volatile
from scrapy_dust.propose.edits.pooling import Pool
from scrapy_dust.settings import DustSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from scrapy_dust.engines.local import Mined
    from scrapy_dust.engines.spark_tasks import LogFile, Seen

_PARQUET, _LINES = frozenset({"parquet", "cc-index"}), frozenset({"dust", "jsonl"})
_ENDS = {".parquet": "parquet", ".jsonl": "dust", ".ndjson": "jsonl"}
#: Sites differ in size, so each core gets several parts of them, one after the other.
_PARTS_A_CORE = 4


@dataclass(frozen=True, slots=True)
class Found:
    """The results that came back from Spark."""

    files: tuple[Path | RemoteFile, ...]  #: in the order they were read
    seen: Seen
    mined: Sequence[Mined]  #: the largest site first


def read_and_mine(
    names: Sequence[str],
    settings: DustSettings,
    pool: Pool,
    volatile: Mapping[str, Volatile] = MappingProxyType({}),
    *,
    log_format: str = "auto",
    host: str | None = None,
    redirects_count: bool = False,
) -> Found:
    """Read logs and mine each site as `side_by_side.Miner` does. Raises `CrawlLogError` and `EngineError`.

    *pool*: evidence of all sites about edits; each site is mined with that of the others. *volatile*: by site, places
    that are known to change at each fetch.
    """
    with session_of() as session, told_in_a_sentence():
        from scrapy_dust.engines import spark_tasks as tasks  # noqa: PLC0415  pyarrow, which is an extra

        sources = _sources(session, names)
        files = {
            tasks.bare(_uri(source)): tasks.LogFile(place, str(source.path), source.named)
            for place, source in enumerate(sources)
        }
        chunks = _chunks(session, sources, files, log_format, host)

        known = dict(volatile)

        def mine(batches: Iterator[Any]) -> Iterator[Any]:
            """Mine the sites in *batches*, on a worker."""
            return tasks.mine_sites(batches, settings, pool, known, redirects_count=redirects_count)

        parts = max(_PARTS_A_CORE * session.sparkContext.defaultParallelism, chunks.rdd.getNumPartitions())
        by_site = chunks.repartition(parts, "site").sortWithinPartitions("site", "file", "row")
        seen, mined = tasks.results(by_site.mapInArrow(mine, tasks.MINED).collect())
    if seen.error is not None:
        raise CrawlLogError(*seen.error)
    if not seen.records:
        raise CrawlLogError(
            names[0], "its logs have no record that can be read. Check that they are the right ones."
        )
    return Found(tuple(source.path for source in sources), seen, mined)


def _sources(session: SparkSession, names: Sequence[str]) -> list[Source]:
    """The logs, in the order in which this machine would read them. Spark knows more kinds of storage for URIs."""
    found: dict[str, Source] = {}
    for name in names:
        for source in _remote_sources(session, name) if is_uri(name) else sources_of([name]):
            found.setdefault(str(source.path), source)
    return one_per_crawl(list(found.values()))


def _remote_sources(session: SparkSession, uri: str) -> list[Source]:
    """The logs below *uri*, as Spark lists them."""
    listed = session.read.format("binaryFile").option("recursiveFileLookup", "true").load(uri).inputFiles()
    files = sorted(map(RemoteFile, listed), key=lambda file: (file.name, file))
    named = len(files) == 1 and files[0].name == uri.rpartition("/")[2]
    return [Source(file, named) for file in files if named or _format_of(file.name) is not None]


def _uri(source: Source) -> str:
    """The name by which Spark finds the file of *source*."""
    return str(source.path) if isinstance(source.path, RemoteFile) else str(source.path.absolute())


def _format_of(name: str) -> str | None:
    """The log format that the end of a file's *name* says; None if it says none."""
    bare = COMPRESSED.sub("", name.lower())
    return next((found for end, found in _ENDS.items() if bare.endswith(end)), None)


def _chunks(
    session: SparkSession,
    sources: Iterable[Source],
    files: Mapping[str, LogFile],
    log_format: str,
    host: str | None,
) -> DataFrame:
    """The visits of all logs as chunks for `spark_tasks.mine_sites`. Tables with the same columns are read together."""
    columns = _Columns(session)
    lines: dict[str, list[str]] = {}
    tables: dict[tuple[str, ...], list[str]] = {}
    for source in sources:
        name = log_format if log_format != "auto" else _format_of(source.path.name)
        if name in _PARQUET:
            tables.setdefault(columns(source), []).append(_uri(source))
        elif name in _LINES:
            lines.setdefault(str(name), []).append(_uri(source))
        else:
            raise EngineError(
                f"{source.path}: Spark reads crawl logs as JSON lines or Parquet, and Common Crawl's columnar index "
                f"({', '.join(one for one in FORMATS if one in _PARQUET | _LINES)}). Mine other logs with --engine local."
            )
    frames = [
        _chunks_of_tables(session, columns, paths, files, log_format, host)
        for columns, paths in tables.items()
    ]
    frames += [_chunks_of_lines(session, name, paths, files, host) for name, paths in lines.items()]
    return reduce(lambda one, other: one.unionAll(other), frames)


class _Columns:
    """The names of a table's columns, asked once for each folder: Spark takes seconds for one answer."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._known: dict[RemoteFile, tuple[str, ...]] = {}

    def __call__(self, source: Source) -> tuple[str, ...]:
        """The names of the columns of the Parquet file *source*. Raises `CrawlLogError`."""
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415

        path = source.path
        if isinstance(path, RemoteFile):
            if path.parent not in self._known:
                self._known[path.parent] = tuple(self._session.read.parquet(path.uri).columns)
            return self._known[path.parent]
        try:
            return tuple(pq.read_schema(path).names)
        except (pa.ArrowException, OSError) as error:
            raise CrawlLogError(
                str(path), f"no Parquet that can be read ({last_line_of(error)}). Check the file."
            ) from None


def _chunks_of_tables(
    session: SparkSession,
    columns: Sequence[str],
    paths: Sequence[str],
    files: Mapping[str, LogFile],
    log_format: str,
    host: str | None,
) -> DataFrame:
    """The visits in the Parquet files *paths*, all of which have these *columns*."""
    from pyspark.sql import functions as F  # noqa: PLC0415

    from scrapy_dust.crawl_log.parquet import layout_of  # noqa: PLC0415
    from scrapy_dust.engines import spark_tasks as tasks  # noqa: PLC0415

    layout = layout_of(columns, log_format)
    if layout is None:
        raise CrawlLogError(paths[0], "it has no column 'url'. Name the columns as the crawl log does.")
    rows = session.read.parquet(*paths).select(
        *(F.col(f"`{name}`") for name in layout.names),
        F.col("_metadata.file_path").alias(tasks.FILE),
        F.col("_metadata.row_index").alias(tasks.ROW),
    )

    def chunks(batches: Iterator[Any]) -> Iterator[Any]:
        """The visits in the rows of *batches*, on a worker."""
        return tasks.chunks_of_rows(batches, files, layout, host)

    return rows.mapInArrow(chunks, tasks.CHUNKS)


def _chunks_of_lines(
    session: SparkSession, name: str, paths: Sequence[str], files: Mapping[str, LogFile], host: str | None
) -> DataFrame:
    """The visits in the files *paths* of JSON lines, in the format *name*."""
    from scrapy_dust.engines import spark_tasks as tasks  # noqa: PLC0415

    whole = session.read.format("binaryFile").load(list(paths)).select("path", "content")

    def chunks(batches: Iterator[Any]) -> Iterator[Any]:
        """The visits in the files of *batches*, on a worker."""
        return tasks.chunks_of_files(batches, files, name, host)

    return whole.mapInArrow(chunks, tasks.CHUNKS)
