"""Writes finished logs as Parquet, with the same fields under the same names, for programs that read columns.

A field that has a column but a value its column cannot say (a title with half a character, a size that is a
range) and a field that has none go into the column ``extra``, as JSON; so what is read back is what was written.
Only this module imports pyarrow, and only when a segment is written or read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

Record = Mapping[str, object]

EXTRA = "extra"
#: In the file's metadata, with the version of what is said here.
MARK = b"scrapy_dust.crawl_log"
VERSION = b"1"
#: Records in a row group, and in memory at a time.
_GROUP = 16_384
_LARGEST = 2**63
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _is_text(value: object) -> bool:
    """Whether *value* is a text that a Parquet column can hold."""
    if type(value) is not str:
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_int64(value: object) -> bool:
    """Whether *value* is an integer of 64 bits."""
    return type(value) is int and -_LARGEST <= value < _LARGEST


def _is_list_of(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    """A function that tells whether a value is a list of values for which *fits* is true."""
    return lambda value: type(value) is list and all(map(fits, value))


def _is_time(value: object) -> bool:
    """Whether *value* is a time in the log's form, which a column of milliseconds gives back unchanged."""
    try:
        return type(value) is str and _iso_time(_milliseconds(value)) == value
    except (ValueError, OverflowError):
        return False


def _milliseconds(moment: str) -> int:
    """The milliseconds from 1970 to *moment*, a time in the log's form."""
    return (datetime.fromisoformat(moment) - _EPOCH) // timedelta(milliseconds=1)


def _iso_time(milliseconds: int) -> str:
    """The time so many *milliseconds* after 1970, in the log's form."""
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


_TEXT, _WHOLE = "string", "int64"
#: Each column: its name, its type as Arrow calls it, and whether a value can stand in it.
COLUMNS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "url": (_TEXT, _is_text),
    "status": (_WHOLE, _is_int64),
    "size": (_WHOLE, _is_int64),
    "wire_size": (_WHOLE, _is_int64),
    "content_type": (_TEXT, _is_text),
    "fetched_at": ("timestamp[ms, tz=UTC]", _is_time),
    "latency": ("double", lambda value: type(value) is float),
    "redirect_to": (_TEXT, _is_text),
    "canonical": (_TEXT, _is_text),
    "title": (_TEXT, _is_text),
    "language": (_TEXT, _is_text),
    "words": (_WHOLE, _is_int64),
    "outlinks": (_WHOLE, _is_int64),
    "digest": (_TEXT, _is_text),
    "text_digest": (_TEXT, _is_text),
    "simhash": (_TEXT, _is_text),
    "minhash": (_TEXT, _is_text),
    "sketch": ("list<element: int64>", _is_list_of(_is_int64)),
    "sketch_version": (_WHOLE, _is_int64),
    "flags": ("list<element: string>", _is_list_of(_is_text)),
    "error": (_TEXT, _is_text),
    "rendered": (_TEXT, _is_text),
    "duplicate_of": (_TEXT, _is_text),
    "duplicate_by": (_TEXT, _is_text),
    "canary": ("bool", lambda value: type(value) is bool),
    "units": (_TEXT, _is_text),
    "units_total": (_TEXT, _is_text),
    "units_partial": ("bool", lambda value: type(value) is bool),
    "units_version": (_WHOLE, _is_int64),
    "places": (_TEXT, _is_text),
    "taken": (_TEXT, _is_text),
    "taken_total": (_TEXT, _is_text),
    "taken_partial": ("bool", lambda value: type(value) is bool),
    "nothing_taken": (_TEXT, _is_text),
    "items": (_TEXT, _is_text),
    "items_total": (_TEXT, _is_text),
    "items_partial": ("bool", lambda value: type(value) is bool),
}
#: Those that the first segments had not.
LATER = frozenset(
    {"units", "units_total", "units_partial", "units_version", "places"}
    | {"taken", "taken_total", "taken_partial", "nothing_taken"}
    | {"items", "items_total", "items_partial"}
)


def can_write() -> bool:
    """Whether pyarrow is installed."""
    try:
        import pyarrow.parquet  # noqa: F401, PLC0415
    except ImportError:
        return False
    return True


def write(records: Iterable[Record], path: Path) -> int:
    """Write *records* to *path*. Returns their number. It takes a second for 25,000 records."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema, written = _schema(), 0
    remaining = iter(records)
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        while group := list(islice(remaining, _GROUP)):
            file.write_table(_table(group, schema))
            written += len(group)
    return written


def is_segment(source: pq.ParquetFile) -> bool:
    """Whether *source* is a Parquet file that scrapy-dust wrote."""
    return MARK in (source.schema_arrow.metadata or {})


def records_of(batch: pa.RecordBatch, names: list[str]) -> Iterator[dict[str, Any]]:
    """The records of some rows, with the columns of these names."""
    for row in zip(*(_values_of_column(name, batch.column(name)) for name in names), strict=True):
        yield _record(names, row)


def rows_in(path: Path) -> int:
    """The number of records in a finished Parquet file. Its end can be read only if the file is finished."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    rows: int = pq.read_metadata(path).num_rows
    return rows


def _schema() -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415

    types = {
        _TEXT: pa.string(),
        _WHOLE: pa.int64(),
        "double": pa.float64(),
        "bool": pa.bool_(),
        "timestamp[ms, tz=UTC]": pa.timestamp("ms", "UTC"),
        "list<element: int64>": pa.list_(pa.int64()),
        "list<element: string>": pa.list_(pa.string()),
    }
    fields = [pa.field(name, types[kind]) for name, (kind, _) in COLUMNS.items()]
    return pa.schema([*fields, pa.field(EXTRA, pa.string())], metadata={MARK: VERSION})


def _table(records: list[Record], schema: pa.Schema) -> pa.Table:
    """The Parquet table of *records*. Values that their columns cannot hold go into the column ``extra``."""
    import pyarrow as pa  # noqa: PLC0415

    columns: dict[str, list[Any]] = {name: [] for name in schema.names}
    for record in records:
        rest = dict(record)
        for name, (_, fits) in COLUMNS.items():
            value = record.get(name)
            if value is not None and fits(value):
                del rest[name]
            else:
                value = None
            columns[name].append(value)
        columns[EXTRA].append(json.dumps(rest) if rest else None)
    columns["fetched_at"] = [None if said is None else _milliseconds(said) for said in columns["fetched_at"]]
    return pa.table(columns, schema=schema)


def _values_of_column(name: str, column: Any) -> list[Any]:
    """The values of the column *name*, as records have them."""
    import pyarrow as pa  # noqa: PLC0415

    if name == "sketch":
        # Four of them each: one list of all, cut into pieces, takes a tenth of the time.
        flat, at = column.values.to_numpy(zero_copy_only=False).tolist(), column.offsets.to_pylist()
        known = column.is_valid().to_pylist()
        return [flat[a:b] if k else None for a, b, k in zip(at, at[1:], known, strict=False)]
    if name == "fetched_at":
        moments = column.cast(pa.timestamp("ms", "UTC")).cast(pa.int64()).to_pylist()
        return [None if moment is None else _iso_time(moment) for moment in moments]
    values: list[Any] = column.to_pylist()
    return values


def _record(names: list[str], row: tuple[Any, ...]) -> dict[str, Any]:
    """The record of a *row* with columns of these *names*, and with the fields that the column ``extra`` has."""
    record = {name: value for name, value in zip(names, row, strict=True) if value is not None}
    extra = record.pop(EXTRA, None)
    if extra is not None:
        record.update(json.loads(extra))
    return record
