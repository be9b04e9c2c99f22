"""The errors that a user can mend. Attributes hold the data; the sentence is made from them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath


class DustError(Exception):
    """The base of all errors that come from the input or the environment, not from a bug of ours."""


class CrawlLogError(DustError):
    """A crawl log that cannot be read at all; single bad lines are counted, not raised."""

    def __init__(self, path: str, reason: str, line: int | None = None) -> None:
        self.path, self.reason, self.line = path, reason, line
        super().__init__(path, reason, line)

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{where}: {self.reason}"


class EngineError(DustError):
    """An engine, such as Spark, cannot mine here."""


class RuleBookError(DustError):
    """A rule book that cannot be read or written."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(path, reason)

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class SignatureStoreError(DustError):
    """A store of signatures that cannot be opened, read or written."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(path, reason)

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class ReportError(DustError):
    """A report that cannot be written."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(path, reason)

    def __str__(self) -> str:
        return (
            f"{self.path}: the report cannot be written ({self.reason}). Check the path and its permissions."
        )


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """In the block, an error that stops a crawl from starting ends the command ``scrapy`` with its sentence alone.

    Scrapy would print a traceback above the sentence. A program of the user's own that starts crawls gets the
    exception.
    """
    try:
        yield
    except (ValueError, DustError) as error:
        if PurePath(sys.argv[0]).stem != "scrapy" and PurePath(sys.argv[0]).parts[-2:] != (
            "scrapy",
            "__main__.py",
        ):
            raise
        raise SystemExit(f"scrapy-dust: {error}") from None
