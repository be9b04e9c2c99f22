"""Logs at a URI (``s3://bucket/dust``), through fsspec, which is loaded only for them.

An object store cannot append. So a crawl writes its log in a folder of this machine, and when it has ended the
log is moved there whole: under another name first, so that nobody reads half of it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

from scrapy_dust.errors import CrawlLogError


def is_uri(name: str | Path) -> bool:
    """Whether *name* is a URI."""
    return "://" in str(name)


@dataclass(frozen=True, slots=True, order=True)
class RemoteFile:
    """A file at a URI, with as much of `pathlib.Path` as reading and keeping logs needs."""

    uri: str

    @property
    def name(self) -> str:
        """The last part of the URI."""
        return self.uri.rpartition("/")[2]

    @property
    def parent(self) -> RemoteFile:
        """The folder of the file."""
        return RemoteFile(self.uri.rpartition("/")[0])

    def __str__(self) -> str:
        return self.uri

    def open(self, mode: str = "rb") -> io.BufferedReader:
        """Open the file. Raises `OSError`, and `CrawlLogError` where fsspec cannot reach it."""
        with errors_in_words(self.uri):
            store, path = _file_system(self.uri)
            return io.BufferedReader(store.open(path, mode))

    def size(self) -> int:
        """The size of the file in bytes."""
        with errors_in_words(self.uri):
            store, path = _file_system(self.uri)
            return int(store.size(path) or 0)

    def unlink(self) -> None:
        """Remove the file."""
        with errors_in_words(self.uri):
            store, path = _file_system(self.uri)
            store.rm_file(path)


def remote_files(uri: str) -> list[RemoteFile]:
    """All files below *uri*, or the file at *uri*, or the files that it matches."""
    with errors_in_words(uri):
        store, path = _file_system(uri)
        # A store may remember what it listed; others write there too.
        store.invalidate_cache()
        found = store.glob(path) if any(mark in path for mark in "*?[") else store.find(path)
        return [RemoteFile(store.unstrip_protocol(one)) for one in sorted(found) if not store.isdir(one)]


def move_in(local: Path, uri: str) -> None:
    """Move the file *local* to *uri*. Raises `OSError`, and then *local* is still there."""
    with errors_in_words(uri):
        store, path = _file_system(uri)
        folder, name = path.rpartition("/")[::2]
        store.makedirs(folder, exist_ok=True)
        beginning = f"{folder}/.{name}.new"
        store.put_file(str(local), beginning)
        store.mv(beginning, path)
    local.unlink()


def bytes_at(uri: str, content: bytes) -> bytes:
    """The bytes at *uri*. *content* is written there first if the file is missing."""
    with errors_in_words(uri):
        store, path = _file_system(uri)
        if not store.exists(path):
            store.makedirs(path.rpartition("/")[0], exist_ok=True)
            store.pipe_file(path, content)
            # Two may have come at once; the last one's stays.
            store.invalidate_cache()
        found: bytes = store.cat_file(path)
        return found


def uri_below(uri: str, *parts: str) -> str:
    """The URI of *parts* below *uri*."""
    scheme, _, path = uri.partition("://")
    return f"{scheme}://{str(PurePosixPath(path, *parts)) if path else '/'.join(parts)}"


def _file_system(uri: str) -> tuple[Any, str]:
    """The file system of fsspec that knows *uri*, and the path of *uri* there. Raises `CrawlLogError`."""
    try:
        fsspec = import_module("fsspec")
    except ImportError:
        raise CrawlLogError(
            uri, "needs fsspec, which is not installed. Run `pip install scrapy-dust[uri]`."
        ) from None
    found: tuple[Any, str] = fsspec.core.url_to_fs(uri)
    return found


@contextmanager
def errors_in_words(uri: str) -> Iterator[None]:
    """A block in which errors of fsspec's stores at *uri* become one sentence."""
    try:
        yield
    except (OSError, CrawlLogError):
        raise
    except Exception as error:  # noqa: BLE001  Each store's client has errors of its own, below no common one.
        said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise CrawlLogError(uri, f"fsspec cannot reach it ({said}). Check the URI.") from None
