"""Reads URL lists, the format in which programs exchange logs: JSON lines or CSV, with the fields of
`docs/crawl-log.md`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator

from scrapy_dust.crawl_log.format_readers import Log, Numbered, Record, decode_strictly, torn_if_cut
from scrapy_dust.crawl_log.visit_fields import Unreadable
from scrapy_dust.errors import CrawlLogError

_parse = json.JSONDecoder().raw_decode


def read_json(log: Log) -> Iterator[Numbered]:
    """The records of a file of JSON lines."""
    for number, line in log.lines:
        try:
            text = decode_strictly(line).strip()
            if text:
                yield number, parse_object(text)
        except Unreadable as bad:
            yield number, torn_if_cut(bad, line, log)


def read_csv(log: Log) -> Iterator[Numbered]:
    """The lines of a CSV file. Raises `CrawlLogError` where the first line does not name the columns."""
    at = 0
    bad: list[Numbered] = []

    def texts() -> Iterator[str]:
        """The lines as text. Lines that are not UTF-8 are put into *bad*."""
        nonlocal at
        for at, line in log.lines:
            try:
                yield decode_strictly(line)
            except Unreadable as one:
                bad.append((at, one))

    # The parser asks for as many lines as a row has.
    text = texts()
    header = next(text, "")
    names, delimiter = _column_names(header), delimiter_of(header)
    if "url" not in names:
        raise CrawlLogError(
            str(log.path), "its first line has no column 'url'. Name the columns in the first line."
        )
    rows = csv.reader(text, delimiter=delimiter)
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            bad.append((at, Unreadable(f"not CSV: {error}")))
            cells = []
        yield from bad
        bad.clear()
        if cells is None:
            return
        if len(cells) == len(names):
            yield at, dict(zip(names, cells, strict=True))
        elif cells:
            yield at, Unreadable(f"{len(cells)} cells under a header of {len(names)}")


def _column_names(header: str) -> list[str]:
    try:
        return [
            name.strip().lower() for name in next(csv.reader([header], delimiter=delimiter_of(header)), [])
        ]
    except csv.Error:
        return []


def parse_object(text: str) -> Record:
    """The one JSON object in *text*. Raises `Unreadable`."""
    if not text.startswith("{"):
        raise Unreadable("not a JSON object")
    try:
        record, end = _parse(text)
    except json.JSONDecodeError as error:
        raise Unreadable(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON that can be read: {error}") from None
    if end != len(text):
        raise Unreadable(f"more than one JSON value, from character {end + 1}")
    found: Record = record
    return found


def is_header(line: str) -> bool:
    """Whether *line* names the columns of a URL list."""
    text = line.removeprefix("\ufeff").strip()
    cells = text.lower().split(delimiter_of(text))
    return not text.startswith("{") and "url" in [cell.strip().strip('"') for cell in cells]


def delimiter_of(header: str) -> str:
    """The character between the columns of a CSV file with this *header*."""
    return next((mark for mark in "\t;" if mark in header and "," not in header), ",")
