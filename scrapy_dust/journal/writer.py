"""Writes the journal of one crawl while it runs: lines of JSON, each handed to the operating system at once.

A crawl that is killed loses no line, as with the crawl log. When a segment is full, the next is begun, and a thread
gzips the full one. The last segment is gzipped when the crawl ends or, if it was killed, when the next crawl does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

from scrapy_dust.crawl_log.compaction import gzip_log
from scrapy_dust.crawl_log.hiding import Hider
from scrapy_dust.crawl_log.log_names import new_name
from scrapy_dust.crawl_log.retention import Keep, prune
from scrapy_dust.crawl_log.writer import CrawlLogWriter, as_json
from scrapy_dust.journal.events import Event, as_line, to_record
from scrapy_dust.journal.journal_places import journals

#: Bytes of a segment before it is gzipped, to a tenth of it.
SEGMENT_BYTES = 32 << 20


class Journal:
    """A journal, which begins with its first event. *folder*: the spider's; *hide* hides what logs must not show."""

    def __init__(self, folder: Path, hide: Callable[[], Hider | None] = lambda: None) -> None:
        self.folder = folder
        self.segment: Path | None = None  #: what is being written
        self._hider = hide
        self._hide: Hider | None = None
        self._writer: CrawlLogWriter | None = None
        self._written = 0
        self._packing: list[Thread] = []
        self._request: tuple[Mapping[str, object] | None, str] = None, "null"  #: the last one, and its JSON

    def write(self, event: Event) -> None:
        """Append *event*. Raises `OSError` where the disk does not take it; the next event may be taken again."""
        if self._writer is None:
            self._begin()
        assert self._writer is not None
        if self._hide is None:
            self._writer.write_line(as_line(event, self._request_of(event)))
        else:
            self._writer.write(_hidden(to_record(event), self._hide))
        self._written += 200 + 2 * len(event.url)
        if self._written > SEGMENT_BYTES:
            self._end()

    def _request_of(self, event: Event) -> str:
        """The request of *event* as JSON. The links of a page often share one object."""
        if event.request is not self._request[0]:
            self._request = event.request, as_json(event.request)
        return self._request[1]

    def close(self, keep: Keep | None = None) -> None:
        """Gzip the finished files, also those of crawls that were killed, and remove the files beyond the limit."""
        if self._writer is not None:
            self._end()
        for thread in self._packing:
            thread.join()
        self._packing.clear()
        if self.folder.is_dir():
            for segment in journals(self.folder):
                _pack(segment)
            if keep is not None:
                prune(journals(self.folder), keep)

    def _begin(self) -> None:
        """Begin a new segment."""
        self._hide = self._hider()
        self.segment = self.folder / new_name(datetime.now(UTC))
        self._writer, self._written = CrawlLogWriter(self.segment), 0

    def _end(self) -> None:
        """Close the segment, and gzip it in a thread."""
        assert self._writer is not None
        assert self.segment is not None
        self._writer.close()
        self._writer = None
        thread = Thread(target=_pack, args=(self.segment,), daemon=True)
        thread.start()
        self._packing.append(thread)


def _pack(segment: Path) -> None:
    """Gzip the file *segment*. If that fails, the file stays as it is, and can be read."""
    if segment.suffix == ".jsonl":
        try:
            gzip_log(segment)
        except OSError:
            return


def _hidden(record: dict[str, object], hide: Hider) -> dict[str, object]:
    """*record* without values that logs must hide. A request with such a value in its own URL cannot be made again."""
    said = {name: _without_secrets(value, hide) for name, value in record.items()}
    if said["url"] != record["url"]:
        said.pop("request", None)
        said["lacks"] = ["url"]
    return said


def _without_secrets(value: object, hide: Hider) -> object:
    """*value* with all strings in it hidden as *hide* says."""
    if isinstance(value, str):
        return hide.hide(value)
    if isinstance(value, dict):
        return {name: _without_secrets(inner, hide) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_secrets(inner, hide) for inner in value]
    return value
