"""Reads W3C extended logs: IIS, and CloudFront with tabs between its fields.

``#Fields:`` says what the lines below it hold, and may come again with others. IIS logs the path decoded; it
is encoded again as far as it must be. CloudFront encodes the percent signs of a URL once more; that is undone.
Values may stand in quotes (IIS Advanced Logging, Imperva, Oracle); a quote in them is written twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scrapy_dust.crawl_log.accesses import Base, record_of_access
from scrapy_dust.crawl_log.format_readers import Log, Numbered, Record, parse_lines
from scrapy_dust.crawl_log.visit_fields import Unreadable

_NAMES = {
    "cs-method": "method",
    "cs-uri": "target",
    "cs-uri-stem": "path",
    "cs-uri-query": "query",
    "sc-status": "status",
    "sc-bytes": "size",
    "cs(host)": "host",
    "cs-host": "host",
    # What the client asked for; the other two name CloudFront's distribution.
    "x-host-header": "host",
    "s-port": "port",
    "cs-protocol": "scheme",
    "sc-content-type": "content_type",
}
_HOST = re.compile(r"(?:[\w-]+\.)+[A-Za-z][\w-]*(?::\d+)?")
_QUOTED = re.compile(r'"(?:[^"]|"")*+"(?=\s|\Z)|\S+')
_CLOUDFRONT = frozenset({"x-edge-location", "x-host-header", "x-edge-result-type"})


def read(log: Log) -> Iterator[Numbered]:
    """The records of a W3C extended log."""
    return parse_lines(log, _Lines(log.told.base).parse)


class _Lines:
    """The lines of one log, read under the last ``#Fields:``."""

    def __init__(self, base: Base | None) -> None:
        self._base = base
        self._fields: list[str] = []
        self._is_cloudfront = False

    def parse(self, line: str) -> Record | None:
        """The record of one line; None for a directive."""
        if line.startswith("#"):
            name, _, rest = line.partition(":")
            if name.lower() == "#fields":
                self._fields = rest.lower().split()
                self._is_cloudfront = bool(_CLOUDFRONT & set(self._fields))
            return None
        if not self._fields:
            raise Unreadable("no '#Fields:' before it")
        values = _values_of(line)
        if len(values) != len(self._fields):
            raise Unreadable(f"{len(values)} values for {len(self._fields)} '#Fields'")
        return record_of_access(
            self._fields_of_request(dict(zip(self._fields, values, strict=True))), self._base
        )

    def _fields_of_request(self, values: dict[str, str]) -> dict[str, str]:
        """The fields of a request by our names. *values*: by the names of the log. Raises `Unreadable`."""
        said = {ours: values[theirs] for theirs, ours in _NAMES.items() if values.get(theirs, "-") != "-"}
        if "path" not in said and "target" not in said:
            raise Unreadable("no 'cs-uri-stem'")
        _take_out_host(said)
        if not said.get("scheme", "http").lower().startswith(("http", "ws")) or "/" in said.get("scheme", ""):
            del said["scheme"]
        if "host" not in said and not {"cs-host", "cs(host)", "x-host-header"}.isdisjoint(values):
            said["host"] = "-"
        if "date" in values and "time" in values:
            said["time"] = f"{values['date']}T{values['time']}"
        if self._is_cloudfront:
            said |= {name: said[name].replace("%25", "%") for name in ("path", "query") if name in said}
        return said


def _values_of(line: str) -> list[str]:
    """The values of a line: between tabs where the line has one, else between spaces outside of quotes."""
    if "\t" in line:
        return [_unquoted(value) for value in line.split("\t")]
    if '"' not in line:
        return line.split()
    return [_unquoted(value) for value in _QUOTED.findall(line)]


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1].replace('""', '"') or "-"
    return value


def _take_out_host(said: dict[str, str]) -> None:
    """Take the host, and a query, out of Imperva's ``cs-uri``, which has host and path; the fields in *said* are
    changed.
    """
    host, slash, path = said.get("target", "").partition("/")
    if slash and _HOST.fullmatch(host):
        said["host"], said["target"] = host, f"/{path}"
    query = said.get("query", "").removeprefix("?")
    if query and "target" in said and "?" not in said["target"]:
        said["target"] += f"?{query}"
