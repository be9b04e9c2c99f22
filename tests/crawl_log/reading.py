"""What the tests of log formats share: content becomes a file, and the file is read."""

from __future__ import annotations

from pathlib import Path

from scrapy_dust.crawl_log import Reading, read_visits
from scrapy_dust.visits.pages import Visit


def read(
    folder: Path, *lines: str | bytes, name: str = "some.log", **options: str
) -> tuple[list[Visit], Reading]:
    path = folder / name
    path.write_bytes(b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines))
    reading = read_visits(path, **options)
    return list(reading), reading


def urls(visits: list[Visit]) -> list[str]:
    return [visit.url for visit in visits]


def bad_lines(reading: Reading) -> list[int]:
    return [bad.line for bad in reading.unreadable]
