"""Reads Heritrix's ``crawl.log``: one line for each URI that was tried.

Negative statuses are Heritrix's own: -1 to -49 say that no answer came; those below are of URIs that were not
asked for (robots.txt, scope, quota). Sizes are those of the content, digests are its SHA-1.
"""

from __future__ import annotations

from collections.abc import Iterator

from scrapy_dust.crawl_log.accesses import iso_time
from scrapy_dust.crawl_log.cdx import iso_time_of_14_digits, plain_digest
from scrapy_dust.crawl_log.format_readers import Log, Numbered, Record, parse_lines
from scrapy_dust.crawl_log.visit_fields import Unreadable

_NOT_ASKED = -50


def read(log: Log) -> Iterator[Numbered]:
    """The records of a ``crawl.log``."""
    return parse_lines(log, parse)


def parse(line: str) -> Record | None:
    """The record of one line; None for a URI that was not fetched."""
    # Time, status, size, URI, path, referrer, type, thread, when and how long, digest, source, annotations.
    values = line.split(None, 11)
    if len(values) < 10:
        raise Unreadable(f"{len(values)} fields, fewer than 10")
    time, said, size, url, _, _, mime, _, _, digest, *_ = values
    try:
        status = int(said)
    except ValueError:
        raise Unreadable(f"{said[:20]!r} is no status") from None
    fetched_at = iso_time_of_14_digits(time) if time.isdigit() else iso_time(time)
    if fetched_at is None:
        raise Unreadable(f"{time[:30]!r} is no time")
    if not url.lower().startswith(("http://", "https://")) or status <= _NOT_ASKED or status == 0:
        return None
    record: dict[str, object] = {"url": url, "fetched_at": fetched_at}
    if status < 0:
        return record | {"error": f"Heritrix status {status}"}
    record["status"] = status
    if status == 200 and size != "-":
        record["size"] = size
    if mime not in ("-", "unknown"):
        record["content_type"] = mime
    if digest != "-":
        record["digest"] = plain_digest(digest)
    return record
