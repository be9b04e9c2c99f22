"""Compaction of logs whose crawls have ended: Parquet where pyarrow is installed, else gzipped JSON lines.

A log that somebody writes is never touched: its writer's lock says so, whatever its age. The new file appears
under its name when it is complete and on the disk, and only then the old one goes; where a crash left both,
the old one counts, and is compacted again.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from scrapy_dust.crawl_log import segments
from scrapy_dust.crawl_log.locks import lock_of_log
from scrapy_dust.crawl_log.log_names import crawl_name, is_own_name
from scrapy_dust.crawl_log.remote_logs import RemoteFile

GZIPPED, SEGMENT = ".jsonl.gz", ".parquet"


def compact(folder: Path) -> list[str]:
    """Compact all finished logs below *folder*. Returns a sentence for each log that could not be compacted."""
    failed = []
    for log in sorted(folder.rglob("*.jsonl")):
        if is_own_name(log.name):
            try:
                compact_log(log)
            except OSError as error:
                failed.append(f"{log} stays as it is: it could not be compacted ({error.strerror or error}).")
    return failed


def compact_log(log: Path) -> Path:
    """Compact *log*, and return the file that has its records now: *log* itself if it is being written, or
    is empty.

    Raises `OSError`, and then *log* is as it was.
    """
    return _replace_by_compacted(log, SEGMENT if segments.can_write() else GZIPPED)


def gzip_log(log: Path) -> Path:
    """Compress a log with gzip, and never as Parquet, since its lines may be no records of a crawl log."""
    return _replace_by_compacted(log, GZIPPED)


def _replace_by_compacted(log: Path, suffix: str) -> Path:
    """Write the records of *log* to a file with this *suffix*, and remove *log* once that file is complete. Returns the
    file that has the records now.
    """
    with lock_of_log(log) as ended:
        if not ended or not log.stat().st_size:
            return log
        segment = log.with_name(crawl_name(log.name) + suffix)
        beginning = segment.with_name(f".{segment.name}.new")
        try:
            complete = (
                _write_gzip(log, beginning)
                if segment.name.endswith(GZIPPED)
                else _write_columns(log, beginning)
            )
            if not complete:
                return log
            _sync_to_disk(beginning)
            beginning.replace(segment)
            _sync_to_disk(log.parent)
        finally:
            with suppress(OSError):
                beginning.unlink(missing_ok=True)
        log.unlink()
        return segment


def _write_columns(log: Path, segment: Path) -> bool:
    """Write the records of *log* as Parquet. False if the file does not have all of them."""
    _make_private(segment)
    return (written := segments.write(_records(log), segment)) > 0 and segments.rows_in(segment) == written


def _records(log: Path) -> Iterator[dict[str, Any]]:
    """The readable records of *log*; a last line that a crash cut short is left out."""
    with log.open("rb") as lines:
        for line in lines:
            with suppress(ValueError, RecursionError):
                record = json.loads(line)
                if isinstance(record, dict):
                    yield record


def _write_gzip(log: Path, segment: Path) -> bool:
    """Write *log* as gzipped lines. Always True: the file has all of them."""
    _make_private(segment)
    # The same log gives the same bytes: neither name nor time is in them.
    with (
        log.open("rb") as lines,
        segment.open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as zipped,
    ):
        shutil.copyfileobj(lines, zipped, 1 << 20)
    return True


def _make_private(path: Path) -> None:
    """Make *path* an empty file that only its owner may read."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))


def _sync_to_disk(path: Path) -> None:
    """Write *path* to the disk, so that it outlives a power cut. Some systems cannot do so for folders."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(descriptor)


def file_with_records(log: Path | RemoteFile) -> Path | RemoteFile:
    """The file that has the records of *log* now: *log* itself, or the compacted file that has replaced it."""
    if isinstance(log, RemoteFile) or log.exists() or not is_own_name(log.name):
        return log
    for suffix in (SEGMENT, GZIPPED):
        segment = log.with_name(crawl_name(log.name) + suffix)
        if segment.exists():
            return segment
    return log
