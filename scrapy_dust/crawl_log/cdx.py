"""Reads indexes of web archives: CDX with 11, 10 or 9 fields or as its header says, and CDXJ as pywb and Common Crawl
write it.

An index has the digest of the payload, so equal contents are known. The length is that of the compressed record
and no size of a page. A line of mime type ``warc/revisit`` says that the content was there before: its digest
is that content's.

pywb writes the method of a request other than GET into the key, as ``__wb_method=post``: the answer shows no page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scrapy_dust.crawl_log.accesses import iso_time
from scrapy_dust.crawl_log.format_readers import Log, Numbered, Record, parse_lines
from scrapy_dust.crawl_log.interchange import parse_object
from scrapy_dust.crawl_log.visit_fields import Unreadable

#: By the number of fields, for what has no header; 7 is what CDX servers answer.
_WITHOUT_HEADER = {
    7: "N b a m s k S".split(),
    9: "N b a m s k r V g".split(),
    10: "N b a m s k r M V g".split(),
    11: "N b a m s k r M S V g".split(),
}
_NO_PAGE = frozenset({"warc/warcinfo", "text/dns", "application/warc-fields"})
_REVISIT = "warc/revisit"


def read_cdx(log: Log) -> Iterator[Numbered]:
    """The records of a CDX index."""
    return parse_lines(log, _Cdx().parse)


def read_cdxj(log: Log) -> Iterator[Numbered]:
    """The records of a CDXJ index."""
    return parse_lines(log, parse_cdxj)


class _Cdx:
    """A reader of the lines of one CDX index."""

    def __init__(self) -> None:
        self._fields: list[str] | None = None

    def parse(self, line: str) -> Record | None:
        """The record of one line; None for the header."""
        # The first character is the delimiter, mostly a space.
        if line[1:5] == "CDX " or line.startswith("CDX "):
            self._fields = line.split()[1:]
            return None
        values = line.split()
        fields = self._fields or _WITHOUT_HEADER.get(len(values))
        if fields is None or len(values) != len(fields):
            wanted = str(len(fields)) if fields else "7, 9, 10 or 11"
            raise Unreadable(f"{len(values)} fields, not {wanted}")
        said = dict(zip(fields, values, strict=True))
        if "a" not in said:
            raise Unreadable("the header has no field 'a', the original URL")
        if _is_of_other_method(said.get("N", "")):
            return None
        return record_of_capture(
            said["a"], said.get("b"), said.get("s"), said.get("k"), said.get("m"), said.get("r")
        )


def parse_cdxj(line: str) -> Record | None:
    """The record of one line; None for a header."""
    if line.startswith("!"):
        return None  # The header of OpenWayback's.
    parts = line.split(" ", 2)
    if len(parts) != 3 or not parts[2].startswith("{"):
        raise Unreadable("not a key, a time and a JSON object")
    fields = parse_object(parts[2])
    url = fields.get("url")
    if not isinstance(url, str):
        raise Unreadable("no 'url'")
    if _is_of_other_method(parts[0]) or str(fields.get("method", "GET")).upper() != "GET":
        return None
    return record_of_capture(
        url, parts[1], *(_text_field(fields, name) for name in ("status", "digest", "mime", "redirect"))
    )


def record_of_capture(
    url: str, time: str | None, status: str | None, digest: str | None, mime: str | None, redirect: str | None
) -> Record | None:
    """The record of one capture; None where the capture is no answer of a web server."""
    if not url.lower().startswith(("http://", "https://")) or mime in _NO_PAGE:
        return None
    known = {
        "status": status,
        "digest": plain_digest(digest),
        "content_type": None if mime in (_REVISIT, "unk") else mime,
        # A status of its own belongs to a redirect; some tools fill the field always.
        "redirect_to": redirect if status is None or status.startswith("3") else None,
        "fetched_at": iso_time_of_14_digits(time or ""),
    }
    return {"url": url} | {name: value for name, value in known.items() if value not in (None, "", "-")}


def _is_of_other_method(key: str) -> bool:
    """Whether the *key* of a capture says that the request was no GET."""
    return "__wb_method=" in key and "__wb_method=get" not in key.lower()


def plain_digest(digest: str | None) -> str | None:
    """*digest* without a leading ``sha1:``, which most indexes leave out."""
    return None if digest is None else digest.removeprefix("sha1:")


def iso_time_of_14_digits(digits: str) -> str | None:
    """The time that 14 digits mean, as ISO 8601."""
    if len(digits) < 14 or not digits.isdigit():
        return None
    return iso_time(
        f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}T{digits[8:10]}:{digits[10:12]}:{digits[12:14]}"
    )


def _text_field(fields: Mapping[str, object], name: str) -> str | None:
    """The value of the field *name* as text; None where there is none."""
    value = fields.get(name)
    return None if value is None or isinstance(value, (dict, list)) else str(value)
