"""Detection of a log's format by its first lines, and the reader of each format.

A file that says itself what it is (WARC, Parquet, ``#Fields``, a CDX header, a CSV header) is believed. Else
each format is asked how many of the first lines it reads, and the one with the most is taken: a garbled line or
two at the beginning do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from scrapy_dust.crawl_log import (
    access_json,
    access_logs,
    cdx,
    heritrix,
    interchange,
    nutch,
    parquet,
    w3c,
    warc,
)
from scrapy_dust.crawl_log.format_readers import Log, Numbered
from scrapy_dust.crawl_log.proxy_logs import PROXIES, Lines
from scrapy_dust.crawl_log.sources import COMPRESSED
from scrapy_dust.crawl_log.visit_fields import Unreadable

READERS: Mapping[str, Callable[[Log], Iterator[Numbered]]] = {
    "dust": interchange.read_json,
    "jsonl": interchange.read_json,
    "csv": interchange.read_csv,
    "parquet": parquet.read,
    "combined": access_logs.read,
    "common": access_logs.read,
    "access-json": access_json.read,
    **{name: partial(access_logs.read_proxy_log, name) for name in PROXIES},
    "traefik": access_logs.read_traefik_log,
    "w3c": w3c.read,
    "cdx": cdx.read_cdx,
    "cdxj": cdx.read_cdxj,
    "cc-index": partial(parquet.read, log_format="cc-index"),
    "warc": warc.read,
    "heritrix": heritrix.read,
    "nutch": nutch.read,
}
FORMATS = ("auto", *READERS)
#: So much of a file is looked at, at most.
HEAD_LINES = 50
HEAD_BYTES = 1 << 20

_CDX = re.compile(r"\S+ \d{14} \S*:\S+ \S+ (?:\d{3}|-) \S+(?: \S+){1,5}\Z")
_CDXJ = re.compile(r"\S+ \d{4,17} \{|!OpenWayback-CDXJ")
_HERITRIX = re.compile(r"(?:\d{17}|\d{4}-\d\d-\d\dT\S+Z) +-?\d+ +(?:\d+|-) \S+:\S* ")
_W3C = re.compile(r"#fields:", re.IGNORECASE)


_CONVERTED = (
    (re.compile(rb"PK\x03\x04"), "is a zip file. Unzip it; of a WACZ, name the folder 'archive' in it."),
    (re.compile(rb"\x04\x22\x4d\x18"), "is packed with lz4, which is not read. Unpack it with `lz4 -d`."),
    (
        re.compile(rb"filedesc://"),
        "is an ARC file, which is not read. `pip install warcio` and `warcio recompress FILE.arc.gz FILE.warc.gz` convert it.",
    ),
)


def advice_on_conversion(head: Sequence[bytes]) -> str | None:
    """Advice on how to convert a file that no reader reads; None for all other files."""
    first = head[0] if head else b""
    return next((said for begins, said in _CONVERTED if begins.match(first)), None)


def format_of(name: str, head: Sequence[bytes]) -> str:
    """The format of a file with this name and these first lines.

    ``dust`` where nothing fits: its reader then says what is wrong.
    """
    first = head[0] if head else b""
    if first.startswith(b"PAR1"):
        return "parquet"
    if first.startswith(b"WARC/"):
        return "warc"
    name = COMPRESSED.sub("", name.lower())
    lines = [line.decode("utf-8", "replace").removeprefix("\ufeff").strip("\r\n") for line in head]
    lines = [line for line in lines if line.strip()]
    if name.endswith((".csv", ".tsv")):
        return "csv"
    if any(map(_W3C.match, lines)):
        return "w3c"
    if lines and (lines[0][1:5] == "CDX " or lines[0].startswith("CDX ")):
        return "cdx"
    said = name.endswith((".jsonl", ".ndjson"))
    if lines and not said and interchange.is_header(lines[0]):
        return "csv"
    asked = ("dust", "access-json") if said else tuple(_COUNTS)
    counts = {reader: _COUNTS[reader](lines) for reader in asked}
    best = max(counts, key=lambda reader: counts[reader])
    return best if counts[best] else "dust"


def _count_json(lines: Sequence[str], *, accesses: bool) -> int:
    """The number of lines that are JSON objects of an access log (*accesses*), or of a crawl log."""
    count = 0
    for line in lines:
        if line.lstrip().startswith("{"):
            try:
                count += access_json.is_access(interchange.parse_object(line.strip())) == accesses
            except Unreadable:
                count += not accesses
    return count


def _count_matching(pattern: re.Pattern[str]) -> Callable[[Sequence[str]], int]:
    """A function that counts the lines that *pattern* matches."""
    return lambda lines: sum(pattern.match(line) is not None for line in lines)


def _count_lines_of(proxy: Lines) -> Callable[[Sequence[str]], int]:
    """A function that counts the lines that *proxy* can read."""
    return lambda lines: sum(proxy.match(line) is not None for line in lines)


_COUNTS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "dust": lambda lines: _count_json(lines, accesses=False),
    "access-json": lambda lines: _count_json(lines, accesses=True),
    "combined": lambda lines: access_logs.best_known_format(lines)[1],
    **{name: _count_lines_of(proxy) for name, proxy in PROXIES.items()},
    "cdxj": _count_matching(_CDXJ),
    "cdx": _count_matching(_CDX),
    "heritrix": _count_matching(_HERITRIX),
    # A record of it has ten lines.
    "nutch": lambda lines: 10 * _count_matching(nutch.BEGINS)(lines),
}
