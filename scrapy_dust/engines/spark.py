"""Mining on Spark: logs are read and sites mined where Spark has its workers; what is found comes back here.

Spark's own configuration says where that is (``spark-defaults.conf``, ``spark-submit``, ``PYSPARK_SUBMIT_ARGS``);
without any, this machine. Workers need a Python with scrapy-dust in it. What they do is `spark_tasks`.

Spark's types end here: only this module imports it, and only when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_dust.crawl_log.detection import FORMATS
from scrapy_dust.crawl_log.sources import COMPRESSED, Source, one_per_crawl, sources_of
from scrapy_dust.crawl_log.stores import RemoteFile, is_uri
from scrapy_dust.dust.edits.pooling import Pool
from scrapy_dust.errors import CrawlLogError, EngineError
from scrapy_dust.settings import DustSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from scrapy_dust.engines.local import Mined
    from scrapy_dust.engines.spark_tasks import LogFile, Seen

_PARQUET, _LINES = frozenset({"parquet", "cc-index"}), frozenset({"dust", "jsonl"})
_ENDS = {".parquet": "parquet", ".jsonl": "dust", ".ndjson": "jsonl"}
#: Sites differ in size, so each core gets several parts of them, one after the other.
_PARTS_A_CORE = 4
_OPTIONS = {
    # Times of logs are in UTC, wherever a worker stands.
    "spark.sql.session.timeZone": "UTC",
    # All visits of a site are one table, and may be more than 2 GB.
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
    # Parts are made as many as are wanted: what a site costs is not told by its bytes.
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.maxResultSize": "0",
}


@dataclass(frozen=True, slots=True)
class Found:
    """What came back."""

    files: tuple[Path | RemoteFile, ...]  #: in the order they were read
    seen: Seen
    mined: Sequence[Mined]  #: the largest site first


def read_and_mine(
    names: Sequence[str],
    settings: DustSettings,
    pool: Pool,
    *,
    log_format: str = "auto",
    host: str | None = None,
    redirects_count: bool = False,
) -> Found:
    """What `local.mine_site` finds in each site of these logs. Raises `CrawlLogError` and `EngineError`.

    *pool*: what all sites have shown of edits; each site is mined with that of the others.
    """
    with _session() as session, _told_in_a_sentence():
        from scrapy_dust.engines import spark_tasks as tasks  # noqa: PLC0415  pyarrow, which is an extra

        sources = _sources(session, names)
        files = {
            tasks.bare(_uri(source)): tasks.LogFile(place, str(source.path), source.named)
            for place, source in enumerate(sources)
        }
        chunks = _chunks(session, sources, files, log_format, host)

        def mine(table: Any) -> Any:
            return tasks.mine_group(table, settings, pool, redirects_count=redirects_count)

        parts = max(_PARTS_A_CORE * session.sparkContext.defaultParallelism, chunks.rdd.getNumPartitions())
        by_site = chunks.repartition(parts, "site").groupBy("site")
        seen, mined = tasks.results(by_site.applyInArrow(mine, tasks.MINED).collect())
    if seen.error is not None:
        raise CrawlLogError(*seen.error)
    if not seen.records:
        raise CrawlLogError(
            names[0], "its logs have no record that can be read. Check that they are the right ones."
        )
    return Found(tuple(source.path for source in sources), seen, mined)


def _sources(session: SparkSession, names: Sequence[str]) -> list[Source]:
    """As this machine would read them. URIs are Spark's own, which knows storage that fsspec does not."""
    found: dict[str, Source] = {}
    for name in names:
        for source in _remote(session, name) if is_uri(name) else sources_of([name]):
            found.setdefault(str(source.path), source)
    return one_per_crawl(list(found.values()))


def _remote(session: SparkSession, uri: str) -> list[Source]:
    listed = session.read.format("binaryFile").option("recursiveFileLookup", "true").load(uri).inputFiles()
    files = sorted(map(RemoteFile, listed), key=lambda file: (file.name, file))
    named = len(files) == 1 and files[0].name == uri.rpartition("/")[2]
    return [Source(file, named) for file in files if named or _format_of(file.name) is not None]


def _uri(source: Source) -> str:
    return str(source.path) if isinstance(source.path, RemoteFile) else str(source.path.absolute())


def _format_of(name: str) -> str | None:
    bare = COMPRESSED.sub("", name.lower())
    return next((found for end, found in _ENDS.items() if bare.endswith(end)), None)


def _chunks(
    session: SparkSession,
    sources: Iterable[Source],
    files: Mapping[str, LogFile],
    log_format: str,
    host: str | None,
) -> DataFrame:
    """Of all logs. Tables of the same columns are read together."""
    lines: dict[str, list[str]] = {}
    tables: dict[tuple[str, ...], list[str]] = {}
    for source in sources:
        name = log_format if log_format != "auto" else _format_of(source.path.name)
        if name in _PARQUET:
            columns = session.read.parquet(_uri(source)).columns
            tables.setdefault(tuple(columns), []).append(_uri(source))
        elif name in _LINES:
            lines.setdefault(str(name), []).append(_uri(source))
        else:
            raise EngineError(
                f"{source.path}: Spark reads crawl logs as JSON lines or Parquet, and Common Crawl's columnar index "
                f"({', '.join(one for one in FORMATS if one in _PARQUET | _LINES)}). Mine other logs with --engine local."
            )
    frames = [
        _of_tables(session, columns, paths, files, log_format, host) for columns, paths in tables.items()
    ]
    frames += [_of_lines(session, name, paths, files, host) for name, paths in lines.items()]
    return reduce(lambda one, other: one.unionAll(other), frames)


def _of_tables(
    session: SparkSession,
    columns: Sequence[str],
    paths: Sequence[str],
    files: Mapping[str, LogFile],
    log_format: str,
    host: str | None,
) -> DataFrame:
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
        return tasks.chunks_of_rows(batches, files, layout, host)

    return rows.mapInArrow(chunks, tasks.CHUNKS)


def _of_lines(
    session: SparkSession, name: str, paths: Sequence[str], files: Mapping[str, LogFile], host: str | None
) -> DataFrame:
    from scrapy_dust.engines import spark_tasks as tasks  # noqa: PLC0415

    whole = session.read.format("binaryFile").load(list(paths)).select("path", "content")

    def chunks(batches: Iterator[Any]) -> Iterator[Any]:
        return tasks.chunks_of_files(batches, files, name, host)

    return whole.mapInArrow(chunks, tasks.CHUNKS)


@contextmanager
def _session() -> Iterator[SparkSession]:
    """The one that is there, or one that ends with this."""
    try:
        import pandas  # noqa: F401, PLC0415  Spark's Arrow functions ask for it.
        import pyarrow  # noqa: F401, PLC0415
        from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError as error:
        raise EngineError(
            f"--engine spark needs {error.name}, which is not installed. Run `pip install scrapy-dust[spark]`."
        ) from None
    before = SparkSession.getActiveSession()
    if before is not None:
        yield before.newSession()
        return
    try:
        session = SparkSession.builder.appName("scrapy dustmine").config(map=_OPTIONS).getOrCreate()
    except PySparkRuntimeError as error:
        raise EngineError(
            f"Spark did not start ({_said(error)}). It needs Java 17 or newer; set JAVA_HOME."
        ) from None
    try:
        session.sparkContext.setLogLevel("ERROR")
        yield session
    finally:
        session.stop()


@contextmanager
def _told_in_a_sentence() -> Iterator[None]:
    from py4j.protocol import Py4JError  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise EngineError(f"Spark could not do it: {_said(error)}. Its log has more.") from error


def _said(error: Exception) -> str:
    """The last line that says something: of a worker's traceback, the error."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith(("at ", "JVM stacktrace", "File "))]
    return (told[-1] if told else type(error).__name__).rstrip(".")[:300]
