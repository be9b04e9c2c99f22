"""The interface of readers of log formats.

A reader takes a `Log` and yields, in the log's order, the number of a line (or record, or row) with an
`Outcome`. It never stops at a line it cannot read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scrapy_dust.crawl_log.accesses import Base, HostUnknown
from scrapy_dust.crawl_log.remote_logs import RemoteFile
from scrapy_dust.crawl_log.sources import MAX_LINE
from scrapy_dust.crawl_log.visit_fields import Unreadable

Record = Mapping[str, object]
#: The fields of a record; None: read, and passed over because it shows no page; or why it cannot be read.
Outcome = Record | Unreadable | None
Numbered = tuple[int, Outcome]


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """The user's options about logs, beside their names: base URL, log format and the like."""

    base: Base | None = None  #: where requests went of which the log does not say it
    log_format: str | None = None  #: as the server's configuration has it
    ignore: tuple[str, ...] = ()  #: CSS selectors of elements of archived pages that do not count


@dataclass(frozen=True, slots=True)
class Log:
    """One log file that is being read."""

    path: Path | RemoteFile
    head: tuple[bytes, ...]  #: its first lines, to tell the format by
    lines: Iterator[tuple[int, bytes]]  #: all of them, numbered from 1, with their ends
    told: ReaderOptions
    contents: dict[str, Record]  #: what archived payloads say, by their digests, of the files before it too
    may_be_growing: bool = True  #: its last line may have been cut


class Torn(Unreadable):
    """The last line of a log that is being written, or whose writer was killed."""


def parse_lines(log: Log, parse: Callable[[str], Record | None]) -> Iterator[Numbered]:
    """The result of *parse* for each line that is not blank. *parse* may raise `Unreadable`."""
    for number, line in log.lines:
        try:
            text = decode_leniently(line)
            if text:
                yield number, parse(text)
        except Unreadable as bad:
            yield number, torn_if_cut(bad, line, log)


def torn_if_cut(bad: Unreadable, line: bytes, log: Log) -> Unreadable:
    """*bad* as `Torn` if the line may be one that is still being written."""
    # A line of which only the host is not known was read to its end.
    whole = line.endswith(b"\n") or len(line) > MAX_LINE or isinstance(bad, HostUnknown)
    return bad if whole or not log.may_be_growing else Torn(str(bad))


def decode_strictly(line: bytes) -> str:
    """*line* as text. Raises `Unreadable` for bytes that are not UTF-8."""
    if len(line) > MAX_LINE:
        raise Unreadable(f"longer than {MAX_LINE >> 20} MB")
    try:
        return line.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8") from None


def decode_leniently(line: bytes) -> str:
    """*line* as text, for servers that log the bytes that clients sent. Bytes that are not UTF-8 become surrogates."""
    if len(line) > MAX_LINE:
        raise Unreadable(f"longer than {MAX_LINE >> 20} MB")
    return line.decode("utf-8", "surrogateescape").removeprefix("\ufeff").strip("\r\n \0")
