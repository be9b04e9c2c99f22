"""Reads Nutch's crawl database as ``nutch readdb … -dump`` writes it: a few lines per URL.

The signature (MD5 of the content, or of its text's profile) serves as digest: Nutch itself takes URLs of one
signature for duplicates. URLs that were never fetched are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scrapy_dust.crawl_log.format_readers import Log, Numbered, Outcome, decode_leniently, torn_if_cut
from scrapy_dust.crawl_log.visit_fields import Unreadable

#: The line that begins a record: the URL, a tab, the version of the record.
BEGINS = re.compile(r"(\S+)\tVersion: \d+\Z")
_STATUS = re.compile(r"Status: \d+ \((\w+)\)\Z")
_SIGNATURE = re.compile(r"Signature: ([0-9A-Fa-f]+)\Z")
_MOVED = re.compile(r"_pst_[=:].*?moved\(\d+\)[^:]*: (https?://\S+)")
_TYPE = re.compile(r"\s*Content-Type[=:] ?(\S+)")
_KNOWN = (
    "Fetch time:",
    "Modified time:",
    "Retries since fetch:",
    "Retry interval:",
    "Score:",
    "Signature:",
    "Metadata:",
)
_PAGES = frozenset({"db_fetched", "db_notmodified", "db_duplicate"})
_REDIRECTS = {"db_redir_temp": 302, "db_redir_perm": 301}


def read(log: Log) -> Iterator[Numbered]:
    """The records of a Nutch dump, each with the number of its first line. An unreadable record is one bad line."""
    begun: tuple[int, list[str]] | None = None
    for number, raw in log.lines:
        try:
            line = decode_leniently(raw)
        except Unreadable as bad:
            yield number, bad
            continue
        if BEGINS.match(line):
            yield from _record_of_lines(begun)
            begun = number, [line]
        elif begun is not None and (line.startswith((*_KNOWN, "Status:", " ", "\t")) or "_pst_" in line):
            begun[1].append(line)
        elif line.strip():
            yield from _record_of_lines(begun)
            begun = None
            yield number, torn_if_cut(Unreadable("not a line of a Nutch crawl database"), raw, log)
    yield from _record_of_lines(begun)


def _record_of_lines(begun: tuple[int, list[str]] | None) -> Iterator[Numbered]:
    """The record of the lines collected so far, with the number of the first one; nothing if there are none."""
    if begun is not None:
        yield begun[0], _parse_record(begun[1])


def _parse_record(lines: list[str]) -> Outcome:
    """The record of a URL's lines; None for a URL that was never fetched."""
    first = BEGINS.match(lines[0])
    assert first
    status = next((found[1] for line in lines if (found := _STATUS.match(line))), None)
    if status is None:
        return Unreadable("a record without a status")
    record: dict[str, object] = {"url": first[1]}
    if status in _PAGES:
        record["status"] = 200
    elif status in _REDIRECTS:
        record["status"] = _REDIRECTS[status]
    elif status == "db_gone":
        record["error"] = "gone, as Nutch has it"
    else:
        return None
    for name, pattern in (("digest", _SIGNATURE), ("content_type", _TYPE), ("redirect_to", _MOVED)):
        found = next((found for line in lines if (found := pattern.search(line))), None)
        if found is not None and (name == "redirect_to") == (status in _REDIRECTS):
            record[name] = found[1]
    return record
