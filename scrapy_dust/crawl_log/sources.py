"""Finds the log files that a user names (folders, globs, compressed files, URIs), and reads their lines."""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from scrapy_dust.crawl_log.log_names import crawl_name, is_own_name, rank_in_crawl
from scrapy_dust.crawl_log.remote_logs import RemoteFile, is_uri, remote_files
from scrapy_dust.errors import CrawlLogError

#: A longer line is not read: no record is.
MAX_LINE = 16 * 1024 * 1024
_SUFFIXES = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".cdx", ".cdxj", ".warc")
#: At the end of a file's name, for what `opened` undoes.
COMPRESSED = re.compile(r"\.(?:gz|bz2|xz|zst)\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """A log file to read, and whether the user named it."""

    path: Path | RemoteFile
    named: bool  #: by the user, and not only found in a folder


def sources_of(names: Iterable[str | Path]) -> tuple[Source, ...]:
    """All files that *names* stand for, each once, those of a folder in order. Raises `CrawlLogError`."""
    found: dict[str, Source] = {}
    for name in names:
        for source in _sources_at_uri(str(name)) if is_uri(name) else _sources_of(Path(name)):
            found.setdefault(str(source.path), source)
    return tuple(one_per_crawl(list(found.values())))


def one_per_crawl(sources: list[Source]) -> list[Source]:
    """*sources* with one file for each crawl, also where a crash left two."""
    ranks: dict[str, tuple[bool, int]] = {}
    for source in sources:
        if is_own_name(source.path.name):
            crawl = crawl_name(source.path.name)
            ranks[crawl] = min(_rank(source), ranks.get(crawl, (True, 9)))
    return [one for one in sources if _rank(one) == ranks.get(crawl_name(one.path.name), _rank(one))]


def _rank(source: Source) -> tuple[bool, int]:
    """The key by which files of one crawl are sorted: those on this machine first, of these the one that is surely
    complete.
    """
    return isinstance(source.path, RemoteFile), rank_in_crawl(source.path.name)


def _sources_at_uri(uri: str) -> list[Source]:
    below = remote_files(uri)
    if len(below) == 1 and below[0].name == uri.rpartition("/")[2]:
        return [Source(below[0], named=True)]
    logs = [file for file in below if _is_log(file)]
    if not logs:
        raise CrawlLogError(uri, "no log is there. Crawl first, or check the URI.")
    return [Source(file, named=False) for file in sorted(logs, key=lambda file: (file.name, file))]


def _sources_of(path: Path) -> list[Source]:
    """The files that *path* stands for: itself, the logs in a folder, or all that a glob matches."""
    if path.is_dir():
        return _sources_in_folder(path)
    if path.exists():
        return [Source(path, named=True)]
    if not glob.has_magic(str(path)):
        raise CrawlLogError(str(path), "there is no such file. Check the name of the log.")
    matching = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207  Not below one.
    if not matching:
        raise CrawlLogError(str(path), "no file has a name like this. Check the name of the log.")
    return [source for match in matching for source in _sources_of(match)]


#: Folders beside the logs in a ``DUST_DIR``, whose files tell of URLs that were not fetched.
_BESIDE = frozenset({"journal", "requeue"})


def _sources_in_folder(path: Path) -> list[Source]:
    beside = _BESIDE if (path / "logs").is_dir() else frozenset()
    logs = [file for file in _files_below(path, beside) if _is_log(file) and file.is_file()]
    if not logs and not os.access(path, os.R_OK | os.X_OK):
        raise CrawlLogError(str(path), "this folder cannot be read. Check its permissions.")
    if not logs:
        raise CrawlLogError(
            str(path), f"no log is in this folder (no {', '.join(_SUFFIXES)}). Crawl first, or name a file."
        )
    # Our own logs are named by the time they began, whatever spider's folder they are in.
    return [Source(file, named=False) for file in sorted(logs, key=lambda file: (file.name, file))]


def _files_below(folder: Path, beside: Container[str]) -> Iterator[Path]:
    """The files below *folder*, without its folders *beside*. Folders that cannot be read, or are gone, are left out."""
    for name, folders, names in os.walk(folder):
        if Path(name) == folder:
            folders[:] = [one for one in folders if one not in beside]
        yield from (Path(name, one) for one in names)


def _is_log(file: Path | RemoteFile) -> bool:
    """Whether the name of *file* ends as those of logs do."""
    return not file.name.startswith(".") and COMPRESSED.sub("", file.name.lower()).endswith(_SUFFIXES)


class CutShort(Exception):
    """An error: the rest of a compressed file cannot be read."""


def lines_of(path: Path | RemoteFile) -> Iterator[bytes]:
    """The lines of a file, with their ends. A line longer than `MAX_LINE` is cut, to a beginning that is still too
    long.

    Raises `CrawlLogError`, and `CutShort` where a compressed stream breaks off.
    """
    with open_unpacked(path) as stream:
        yield from _lines(stream)


@contextmanager
def open_unpacked(path: Path | RemoteFile) -> Iterator[BinaryIO]:
    """The bytes of *path*, unpacked if its first bytes say that they are packed. Raises as `lines_of` does."""
    packing = "compressed"
    try:
        with path.open("rb") as raw:
            packing, unpack = _packing_of(raw.peek(8)[:8])
            yield raw if unpack is None else io.BufferedReader(_Unpacked(unpack(raw)), 1 << 18)
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, _zstd_error()) as error:
        raise CutShort(f"the {packing} stream is damaged from here on: {error}") from error
    except OSError as error:
        # Of a damaged bzip2 stream the library says so without a number.
        if packing == "bzip2" and error.errno is None:
            raise CutShort(f"the {packing} stream is damaged from here on: {error}") from error
        raise CrawlLogError(
            str(path), f"cannot be read: {error.strerror or error}. Check the file."
        ) from error


class _Unpacked(io.RawIOBase):
    """A reader that gives all that could be unpacked before an error; the libraries' ``read`` would lose that."""

    def __init__(self, packed: gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile) -> None:
        self._packed = packed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._packed.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _packing_of(begins: bytes) -> tuple[str, Callable[[Any], Any] | None]:
    """The name of the compression of a file that *begins* so, and the function that unpacks; None if none is known."""
    if begins.startswith(b"\x1f\x8b"):
        return "gzip", lambda raw: gzip.GzipFile(fileobj=raw)
    if re.match(rb"BZh[1-9]1AY&", begins):
        return "bzip2", bz2.BZ2File
    if begins.startswith(b"\xfd7zXZ\0"):
        return "xz", lzma.LZMAFile
    if begins.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd", _zstd().ZstdFile
    if begins.startswith(b"\x5d\x2a\x4d\x18"):
        return "zstd", _zstd_with_dictionary
    return "compressed", None


def _zstd() -> Any:
    """The module for Zstandard: of the standard library from 3.14 on, before that the one that Scrapy brings."""
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


#: Theirs have 100 KB.
_LONGEST_DICTIONARY = 16 * 1024 * 1024


def _zstd_with_dictionary(raw: BinaryIO) -> Any:
    """The unpacked stream of a WARC packed with zstd, whose dictionary for all records stands at its beginning."""
    zstd = _zstd()
    length = int.from_bytes(raw.read(8)[4:8], "little")
    dictionary = raw.read(min(length, _LONGEST_DICTIONARY))
    if dictionary.startswith(b"\x28\xb5\x2f\xfd"):
        dictionary = zstd.ZstdDecompressor().decompress(dictionary, _LONGEST_DICTIONARY)
    try:
        return zstd.ZstdFile(raw, zstd_dict=zstd.ZstdDict(dictionary))
    except ValueError as error:
        raise zstd.ZstdError(f"its dictionary is none ({error})") from None


def _zstd_error() -> type[Exception]:
    found: type[Exception] = _zstd().ZstdError
    return found


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of *stream*. A line that is too long is cut to a beginning that is still too long."""
    read = partial(stream.readline, MAX_LINE + 1)
    for line in iter(read, b""):
        yield line
        rest = line
        while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
            rest = read()
