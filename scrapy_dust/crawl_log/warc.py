"""Readers of web archives (WARC 0.17 to 1.1), plain or compressed, which describe pages as our own crawl
would.

Records are framed by their own lengths, so that a damaged one costs no more than itself: what stands where a
record should begin is one unreadable stretch, and reading goes on at the next ``WARC/1.…`` line. Numbers are
those of records. A revisit says what the record with the same payload digest said, if that came before it;
else its digest stands for what it said.

What answers a POST shows no page. The method stands in the record of the request, before the answer or after it, and
`http_methods` brings the two together.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import datetime
from email.parser import BytesHeaderParser
from pathlib import Path
from typing import BinaryIO

from scrapy_dust.crawl_log.cdx import plain_digest
from scrapy_dust.crawl_log.format_readers import Log, Numbered, Outcome, Record, Torn
from scrapy_dust.crawl_log.http_methods import Headers, Method, only_of_gets
from scrapy_dust.crawl_log.payloads import payload_of
from scrapy_dust.crawl_log.records import record_of_page
from scrapy_dust.crawl_log.remote_logs import RemoteFile
from scrapy_dust.crawl_log.sources import open_unpacked
from scrapy_dust.crawl_log.visit_fields import Unreadable
from scrapy_dust.page.reading import first_words
from scrapy_dust.page.sketch import describe

#: A longer block is not looked into.
MAX_BLOCK = 64 * 1024 * 1024
#: Payloads that are remembered for later revisits, some 50 MB.
MAX_REMEMBERED = 50_000
_LONGEST_HEAD = 1024 * 1024
_BEGINS = re.compile(rb"WARC/\d\.\d+\r?\n\Z")
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? +(\d{3})")
#: What a revisit takes over from the page it refers to.
_CONTENT = (
    *("size", "sketch", "sketch_version", "digest", "text_digest", "simhash", "title", "outlinks"),
    *("units", "units_total", "units_partial", "units_version"),
)
_TYPES = frozenset({"response", "resource", "revisit"})


def read(log: Log) -> Iterator[Numbered]:
    """The records of a web archive."""
    return only_of_gets(_records(log))


def _records(log: Log) -> Iterator[tuple[int, Headers, Outcome | Method]]:
    """The number, the headers and the outcome of each record of an archive."""
    with open_unpacked(log.path) as stream:
        number, lost = 0, False
        while line := stream.readline(_LONGEST_HEAD):
            if _BEGINS.match(line):
                number, lost = number + 1, False
                headers = _read_headers(stream)
                yield number, headers or {}, _outcome_of_record(stream, headers, log)
            elif line.strip() and not lost:
                lost = True
                yield number + 1, {}, Unreadable("no WARC record begins where one should")


def _outcome_of_record(stream: BinaryIO, headers: Headers | None, log: Log) -> Outcome | Method:
    """The outcome of the record at which *stream* stands, after its *headers*; of a request, its method."""
    if headers is None:
        return Torn("the archive ends in the head of a record")
    length = headers.get("content-length", "")
    if not length.isascii() or not length.isdigit():
        return Unreadable(f"'Content-Length' is {length[:20]!r}")
    block, rest = _read_block(stream, int(length))
    if block is None:
        return Torn("the archive ends in a record")
    if headers.get("warc-type", "").lower() == "request":
        return Method(block.partition(b" ")[0].decode("latin-1"))
    try:
        return _record_of_answer(headers, block, log, whole=not rest)
    except Unreadable as bad:
        return bad


def _read_block(stream: BinaryIO, length: int) -> tuple[bytes | None, int]:
    """The beginning of a record's block, and the length of the rest; None where the archive ends in the block."""
    block = stream.read(min(length, MAX_BLOCK))
    rest = length - len(block)
    if rest and (len(block) < MAX_BLOCK or not _skip(stream, rest)):
        return None, rest
    return block, rest


def words_in(path: Path | RemoteFile, wanted: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """The URL and the first words of each *wanted* page in an archive; none where the file is no archive."""
    with open_unpacked(path) as stream:
        line = stream.readline(_LONGEST_HEAD)
        while line and (_BEGINS.match(line) or not line.strip()):
            if line.strip():
                found = _words_of_record(stream, wanted)
                if found is not None:
                    yield found
            line = stream.readline(_LONGEST_HEAD)


def _words_of_record(stream: BinaryIO, wanted: Collection[str]) -> tuple[str, list[str]] | None:
    """The URL and the first words of the page in the next record of *stream*; None where it has none of the *wanted*
    pages.
    """
    headers = _read_headers(stream) or {}
    length = headers.get("content-length", "")
    block, _ = _read_block(stream, int(length)) if length.isascii() and length.isdigit() else (None, 0)
    url = headers.get("warc-target-uri", "").strip("<>")
    if block is None or url not in wanted or headers.get("warc-type", "").lower() != "response":
        return None
    try:
        status, http, payload = _http_answer(block)
    except Unreadable:
        return None
    body = payload_of(payload, http)
    if status != 200 or body is None:
        return None
    return url, first_words(body, http.get("content-type") or None, None, url)


def _read_headers(stream: BinaryIO) -> Headers | None:
    """The headers of the next record of *stream*; None where the archive ends in them."""
    lines: list[bytes] = []
    left = _LONGEST_HEAD
    while left > 0 and (line := stream.readline(left)):
        if not line.strip():
            return _parse_headers(b"".join(lines))
        lines.append(line)
        left -= len(line)
    return None


def _parse_headers(lines: bytes) -> Headers:
    """Headers by their names in lower case; of a repeated header the first."""
    found: dict[str, str] = {}
    for name, value in BytesHeaderParser().parsebytes(lines).items():
        found.setdefault(name.lower(), str(value).strip())
    return found


def _skip(stream: BinaryIO, count: int) -> bool:
    """Pass over *count* bytes. False where the archive ends before."""
    while count > 0:
        piece = stream.read(min(count, 1 << 20))
        if not piece:
            return False
        count -= len(piece)
    return True


def _record_of_answer(headers: Headers, block: bytes, log: Log, *, whole: bool) -> Record | None:
    """The crawl log's record of an archived answer; None where the archive's record is about no page. *whole*: *block*
    was read to its end.
    """
    kind = headers.get("warc-type", "").lower()
    # wget writes <…>.
    url = headers.get("warc-target-uri", "").strip("<>")
    if kind not in _TYPES or not url.lower().startswith(("http://", "https://")):
        return None
    try:
        fetched_at = datetime.fromisoformat(headers.get("warc-date", ""))
    except ValueError:
        raise Unreadable(f"'WARC-Date' is {headers.get('warc-date', '')[:30]!r}") from None
    http: Headers = {"content-type": headers.get("content-type", "")}
    status, payload = 200, block
    if kind != "resource" and (block or kind == "response"):
        status, http, payload = _http_answer(block)
    known: dict[str, object] = {"url": url, "status": 200 if status == 304 else status}
    known["fetched_at"] = fetched_at.isoformat()
    if status // 100 == 3 and http.get("location"):
        known["redirect_to"] = http["location"]
    # What was cut off, by us or by who recorded it, cannot be compared with what was not.
    if status // 100 in (3, 4, 5) or status == 206 or not whole or "warc-truncated" in headers:
        return known
    digest = headers.get("warc-payload-digest", "")
    if kind == "revisit":
        known.update(log.contents.get(digest) or {"digest": plain_digest(digest) or None})
        return known
    body = payload_of(payload, http)
    if body is None:
        return known
    content_type = http.get("content-type") or None
    text = describe(body, content_type, None, url, ignore=log.told.ignore)
    said = {"content_type": content_type, "no_vary_search": http.get("no-vary-search")}
    page = record_of_page(url, status, text, size=len(body), fetched_at=fetched_at, **said)
    if digest and len(log.contents) < MAX_REMEMBERED:
        log.contents[digest] = {name: page[name] for name in _CONTENT if name in page}
    return page


def _http_answer(block: bytes) -> tuple[int, Headers, bytes]:
    """The status, headers and payload of a recorded HTTP answer."""
    first = _STATUS.match(block)
    if not first:
        raise Unreadable("no HTTP status line in it")
    ends = [(at, len(mark)) for mark in (b"\r\n\r\n", b"\n\n") if (at := block.find(mark)) >= 0]
    at, length = min(ends, default=(len(block), 0))
    return int(first[1]), _parse_headers(block[block.find(b"\n") + 1 : at + length]), block[at + length :]
