"""Lists that users give to a command: URLs, and expectations about pairs of URLs."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, TextIO

from scrapy_dust.errors import DustError


class UrlListError(DustError):
    """A list that could not be read."""

    def __init__(self, path: str, reason: str, line: int | None = None) -> None:
        self.path, self.reason, self.line = path, reason, line
        super().__init__(path, reason, line)

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{where}: {self.reason}"


class Expectation(NamedTuple):
    """Two URLs that should have the same key, or different ones."""

    line: int
    a: str
    b: str
    same: bool


def read_urls(path: str) -> Iterator[str]:
    """The URLs of a file, or of stdin for ``-``, one a line. Blank lines are skipped."""
    with _opened(path) as stream:
        for line in stream:
            url = line.strip()
            if url:
                yield url


def read_expectations(path: str) -> Iterator[Expectation]:
    """The lines ``URL, URL, same|different`` of a CSV file, without blank lines and comments after ``#``."""
    with _opened(path) as stream:
        rows = csv.reader(stream, skipinitialspace=True, strict=True)
        try:
            for row in rows:
                cells = [cell.strip() for cell in row]
                if any(cells) and not cells[0].startswith("#"):
                    yield _expectation(path, rows.line_num, cells)
        except csv.Error as error:
            raise UrlListError(path, f"is no CSV ({error}). Mend the quotes.", rows.line_num) from None


def _expectation(path: str, line: int, cells: list[str]) -> Expectation:
    """The expectation in the *cells* of a line. Raises `UrlListError`."""
    match cells:
        case [a, b, ("same" | "different") as wanted]:
            return Expectation(line, a, b, wanted == "same")
    raise UrlListError(
        path,
        "must be 'URL, URL, same' or 'URL, URL, different'. Put a URL with a comma in double quotes.",
        line,
    )


@contextmanager
def _opened(path: str) -> Iterator[TextIO]:
    """The file as text, UTF-8 or not, from which its bytes can be made again."""
    try:
        if path == "-":
            yield io.TextIOWrapper(sys.stdin.buffer, "utf-8-sig", "surrogateescape")
            return
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as stream:  # noqa: PTH123
            yield stream
    except OSError as error:
        raise UrlListError(path, f"cannot be read ({error.strerror}). Check the path.") from None


def write_exactly() -> None:
    """Have stdout write the very bytes from which `_opened` has made a text."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
