"""Lists of suppressed URLs that the next crawl of a spider fetches.

A list waits in a file of its own until a crawl of the spider takes it; the file is removed when that crawl has come
to its end. If the crawl is killed, the next one gets the list, so a URL may be fetched twice, and none is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from scrapy_dust.crawl_log.locks import lock_of_log
from scrapy_dust.crawl_log.log_names import new_name
from scrapy_dust.crawl_log.writer import CrawlLogWriter
from scrapy_dust.journal.events import Event, What, to_record
from scrapy_dust.journal.journal_places import journals
from scrapy_dust.journal.reader import read


def suppressed_by(folder: Path, rules: Iterable[str]) -> Mapping[Path, Mapping[str, Event]]:
    """The URLs that *rules*, or forms, suppressed or put last and no crawl has given back, by the folder of their spider."""
    wanted = set(rules)
    marks = [rule.encode() for rule in wanted] + [What.RETURNED.encode(), What.TESTED.encode()]
    found: dict[Path, dict[str, Event]] = {}
    for segment, event in read(journals(folder), where=lambda line: any(mark in line for mark in marks)):
        of_spider = found.setdefault(segment.parent, {})
        if event.what in (What.SUPPRESSED, What.PUT_LAST) and wanted.intersection(event.rules):
            of_spider[event.url] = event
        elif event.what in (What.RETURNED, What.TESTED):
            of_spider.pop(event.url, None)
    return {spider: events for spider, events in found.items() if events}


def put(folder: Path, events: Iterable[Event]) -> Path:
    """Write a list of suppressed requests for the next crawl of the spider whose folder *folder* is. Returns its path."""
    path = folder / new_name(datetime.now(UTC))
    beginning = path.with_name(f".{path.name}.new")
    writer = CrawlLogWriter(beginning)
    for event in events:
        writer.write(to_record(event))
    writer.close()
    beginning.replace(path)
    return path


class Waiting:
    """The lists that wait for a spider, taken by one crawl. Other crawls do not get them meanwhile."""

    def __init__(self, folder: Path) -> None:
        self._held = []
        for path in sorted(folder.glob("[!.]*.jsonl")) if folder.is_dir() else ():
            hold = lock_of_log(path)
            if hold.__enter__():
                self._held.append((path, hold))
            else:
                hold.__exit__(None, None, None)

    def __bool__(self) -> bool:
        return bool(self._held)

    def events(self) -> Iterator[Event]:
        """The events of all lists."""
        yield from (event for _, event in read(path for path, _ in self._held))

    def close(self, *, done: bool) -> None:
        """Let go of the lists, and remove them if the crawl is *done*."""
        for path, hold in self._held:
            if done:
                with suppress(OSError):
                    path.unlink()
            hold.__exit__(None, None, None)
        self._held.clear()
