"""From what a user names to files, and from files to lines: folders, globs, gzip."""

from __future__ import annotations

import glob
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from scrapy_dust.errors import CrawlLogError

#: A longer line is not read: no record is.
MAX_LINE = 16 * 1024 * 1024
_SUFFIXES = (".jsonl", ".ndjson", ".csv", ".tsv")


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read."""

    path: Path
    named: bool  #: by the user, and not only found in a folder


def sources_of(names: Iterable[str | Path]) -> tuple[Source, ...]:
    """All files, each once, those of a folder in the order of their names. Raises `CrawlLogError`."""
    found: dict[Path, Source] = {}
    for name in names:
        for source in _sources_of(Path(name)):
            found.setdefault(source.path, source)
    return tuple(found.values())


def _sources_of(path: Path) -> list[Source]:
    if path.is_dir():
        return _folder(path)
    if path.exists():
        return [Source(path, named=True)]
    if not glob.has_magic(str(path)):
        raise CrawlLogError(str(path), "there is no such file. Check the name of the log.")
    matching = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207  Not below one.
    if not matching:
        raise CrawlLogError(str(path), "no file has a name like this. Check the name of the log.")
    return [source for match in matching for source in _sources_of(match)]


def _folder(path: Path) -> list[Source]:
    logs = [file for file in path.rglob("*") if _is_log(file) and file.is_file()]
    if not logs:
        raise CrawlLogError(
            str(path), f"no log is in this folder (no {', '.join(_SUFFIXES)}). Crawl first, or name a file."
        )
    # Our own logs are named by the time they began, whatever spider's folder they are in.
    return [Source(file, named=False) for file in sorted(logs, key=lambda file: (file.name, file))]


def _is_log(file: Path) -> bool:
    return not file.name.startswith(".") and file.name.lower().removesuffix(".gz").endswith(_SUFFIXES)


class Cut(Exception):
    """The rest of a compressed file cannot be had; says why."""


def lines_of(path: Path) -> Iterator[bytes]:
    """Line by line, with their ends; of a line longer than `MAX_LINE` only what shows that it is.

    Raises `CrawlLogError`, and `Cut` where a gzip stream breaks off.
    """
    try:
        with path.open("rb") as raw:
            yield from _lines(_unzipped(raw))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Cut(f"the gzip stream is damaged from here on: {error}") from error
    except OSError as error:
        raise CrawlLogError(
            str(path), f"cannot be read: {error.strerror or error}. Check the file."
        ) from error


def _unzipped(raw: io.BufferedReader) -> BinaryIO:
    if raw.peek(2)[:2] != b"\x1f\x8b":
        return raw
    unzipped = gzip.GzipFile(fileobj=raw)
    return io.BufferedReader(cast("io.RawIOBase", unzipped), 1 << 18)


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    read = partial(stream.readline, MAX_LINE + 1)
    for line in iter(read, b""):
        yield line
        rest = line
        while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
            rest = read()
