"""Reads Parquet with named columns: our own segments, the interchange format's fields, Common Crawl's index.

Only functions import pyarrow here, which is an extra. Numbers are those of rows, from 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, BinaryIO, NamedTuple

from scrapy_dust.crawl_log import segments
from scrapy_dust.crawl_log.format_readers import Log, Numbered, Record
from scrapy_dust.crawl_log.visit_fields import Unreadable
from scrapy_dust.errors import CrawlLogError

#: Rows that are in memory at a time.
_ROWS = 4096
#: Of our own columns, those that mining does not ask for.
_UNUSED = frozenset(
    {"minhash", "wire_size", "latency", "words", "language", "flags", "duplicate_by", "canary"}
)
#: Common Crawl's names, flat as it publishes them, for those of the interchange format.
_CC_INDEX = {
    "url": "url",
    "fetch_status": "status",
    "fetch_redirect": "redirect_to",
    "fetch_time": "fetched_at",
    "content_digest": "digest",
    "content_mime_detected": "content_type",
    "content_truncated": "truncated",
}


class Layout(NamedTuple):
    """The meaning of a table's columns."""

    names: Mapping[str, str]  #: columns to look at → the names of the interchange format
    is_own: bool = False  #: it is one of our segments
    is_cc_index: bool = False


def layout_of(columns: Iterable[str], log_format: str = "auto") -> Layout | None:
    """The layout of a table with these columns; None where no column has URLs."""
    present = list(columns)
    names = _normalized_names(present)
    if log_format == "cc-index" or _is_cc_index(names):
        return Layout(_cc_index_names(present), is_cc_index=True) if _is_cc_index(names) else None
    if {segments.EXTRA, *segments.COLUMNS} - segments.LATER <= names.keys():
        return Layout({name: name for name in present if name not in _UNUSED}, is_own=True)
    return Layout(names) if "url" in names.values() else None


def records_of(batch: Any, layout: Layout) -> Iterator[Record]:
    """The records of some rows of a table with this layout."""
    if layout.is_own:
        return segments.records_of(batch, list(layout.names))
    rows = (_record(row, layout.names) for row in batch.select(list(layout.names)).to_pylist())
    return map(_without_truncated_digest, rows) if layout.is_cc_index else rows


def read(log: Log, log_format: str = "auto") -> Iterator[Numbered]:
    """The rows of a Parquet file. Raises `CrawlLogError` for another file, or without the columns of *log_format*."""
    with log.path.open("rb") as file:
        source = _open_table(log, file)
        columns = source.schema_arrow.names
        layout = layout_of(columns, log_format)
        if layout is None:
            raise CrawlLogError(str(log.path), _LACKING.get(log_format, _NO_URL))
        if layout.is_own and not segments.is_segment(source):
            layout = Layout(_normalized_names(columns))
        yield from _rows(source, layout)


_NO_URL = "it has no column 'url'. Name the columns as the crawl log does."
_LACKING = {"cc-index": "it has no 'url' and 'fetch_status', as Common Crawl's index has."}


def _normalized_names(columns: Iterable[str]) -> dict[str, str]:
    """The names of columns in lower case, by the names that the table has."""
    return {name: name.strip().lower() for name in columns}


def _is_cc_index(names: Mapping[str, str]) -> bool:
    """Whether columns of these names are those of Common Crawl's index."""
    return {"url", "fetch_status"} <= names.keys()


def _open_table(log: Log, file: BinaryIO) -> Any:
    """Open *file* as Parquet. Raises `CrawlLogError`."""
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise CrawlLogError(
            str(log.path), "needs pyarrow, which is not installed. Run `pip install scrapy-dust[parquet]`."
        ) from None
    try:
        # With pre_buffer the whole file would stay in memory.
        return pq.ParquetFile(file, pre_buffer=False)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CrawlLogError(
            str(log.path), f"no Parquet that can be read ({_reason(error)}). Check the file."
        ) from None


def _cc_index_names(columns: Iterable[str]) -> dict[str, str]:
    """Our names of the columns of Common Crawl's index, by the names that the table has."""
    present = set(columns)
    return {name: ours for name, ours in _CC_INDEX.items() if name in present}


def _without_truncated_digest(record: Record) -> Record:
    # The digest is that of the beginning only.
    beginning = {"truncated", "digest"} if record.get("truncated") is not None else {"truncated"}
    return {name: value for name, value in record.items() if name not in beginning}


def _rows(source: Any, layout: Layout) -> Iterator[Numbered]:
    """The records of all rows of *source*, with their numbers. Where the file is damaged, the rest is one unreadable
    row.
    """
    import pyarrow as pa  # noqa: PLC0415

    number = 0
    try:
        for batch in source.iter_batches(batch_size=_ROWS, columns=list(layout.names)):
            for number, record in enumerate(records_of(batch, layout), start=number + 1):  # noqa: B020
                yield number, record
    except (pa.ArrowException, OSError, ValueError) as error:
        yield number + 1, Unreadable(f"the file is damaged from here on: {_reason(error)}")


def _record(row: Mapping[str, Any], names: Mapping[str, str]) -> Record:
    """The record of a *row*. *names*: our names of its columns."""
    return {names[name]: _json_value(value) for name, value in row.items() if value is not None}


def _json_value(value: Any) -> object:
    """*value*, a cell of a table, as JSON would have it."""
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Decimal):  # unsigned numbers, as Spark reads them
        return int(value)
    # What has no value, in a column of floating point.
    return None if isinstance(value, float) and math.isnan(value) else value


def _reason(error: Exception) -> str:
    """The message of *error* on one line, cut to a sentence's length."""
    return " ".join(str(error).split())[:200].rstrip(".")
