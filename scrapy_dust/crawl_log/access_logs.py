"""Reads access logs of Apache, nginx and servers that write like them: Common, Combined, their variants, any format.

Access logs of proxies that have formats of their own are read too (`proxy_logs`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

from scrapy_dust.crawl_log import access_json
from scrapy_dust.crawl_log.accesses import Base, record_of_access
from scrapy_dust.crawl_log.format_readers import Log, Numbered, Record, decode_leniently, parse_lines
from scrapy_dust.crawl_log.log_formats import KNOWN, Matcher, matcher_of
from scrapy_dust.crawl_log.proxy_logs import PROXIES, Lines
from scrapy_dust.crawl_log.visit_fields import Unreadable

_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}


def read(log: Log) -> Iterator[Numbered]:
    """The records of a log in the format that the user gave, or in the known format that fits best."""
    told = log.told.log_format
    matcher = matcher_of(told) if told else best_known_format(decode_leniently(line) for line in log.head)[0]
    return parse_lines(log, partial(_record, matcher, log.told.base))


def read_proxy_log(name: str, log: Log) -> Iterator[Numbered]:
    """The records of the lines that the proxy *name* writes."""
    return parse_lines(log, partial(_record, PROXIES[name], log.told.base))


def read_traefik_log(log: Log) -> Iterator[Numbered]:
    """The records of Traefik, which writes Common lines with fields of its own, or JSON."""
    is_json = any(line.lstrip().startswith(b"{") for line in log.head[:1])
    return access_json.read(log) if is_json else read(log)


def best_known_format(head: Iterable[str]) -> tuple[Matcher, int]:
    """The known format that reads most of these lines, and the number of lines that it reads."""
    lines = list(head)
    counts = [sum(matcher.match(line) is not None for line in lines) for matcher in KNOWN]
    return KNOWN[counts.index(max(counts))], max(counts)


def _record(matcher: Matcher | Lines, base: Base | None, line: str) -> Record | None:
    """The record of the request in a *line* that *matcher* reads; None for a request that shows no page. Raises
    `Unreadable`.
    """
    said = matcher.match(line)
    if said is None:
        raise Unreadable("not a request as the other lines have it")
    if "\\" in line:
        said = {name: unescaped(value) for name, value in said.items()}
    return record_of_access(said, base)


def unescaped(value: str) -> str:
    r"""*value* without the escapes of Apache and nginx (``\x22``, ``\"``, ``\\``). Bytes above 127 become surrogates."""
    return _ESCAPE.sub(_character_of_escape, value) if "\\" in value else value


def _character_of_escape(escape: re.Match[str]) -> str:
    """The character that one *escape* stands for."""
    byte, unit, letter = escape.groups()
    if byte is not None:
        code = int(byte, 16)
        return chr(code) if code < 0x80 else chr(0xDC00 + code)
    return chr(int(unit, 16)) if unit is not None else _CONTROLS.get(letter, letter)
