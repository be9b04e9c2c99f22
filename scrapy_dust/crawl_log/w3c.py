"""W3C extended logs: IIS, and CloudFront with tabs between its fields.

``#Fields:`` says what the lines below it hold, and may come again with others. IIS logs the path decoded; it
is encoded again as far as it must be. CloudFront encodes the percent signs of a URL once more; that is undone.
"""

from __future__ import annotations

from collections.abc import Iterator

from scrapy_dust.crawl_log.accesses import Base, record_of_access
from scrapy_dust.crawl_log.fields import Unreadable
from scrapy_dust.crawl_log.lines import Log, Numbered, Record, by_line

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
_CLOUDFRONT = frozenset({"x-edge-location", "x-host-header", "x-edge-result-type"})


def read(log: Log) -> Iterator[Numbered]:
    return by_line(log, _Lines(log.told.base).parse)


class _Lines:
    """The lines of one log, read under the last ``#Fields:``."""

    def __init__(self, base: Base | None) -> None:
        self._base = base
        self._fields: list[str] = []
        self._is_cloudfront = False

    def parse(self, line: str) -> Record | None:
        if line.startswith("#"):
            name, _, rest = line.partition(":")
            if name.lower() == "#fields":
                self._fields = rest.lower().split()
                self._is_cloudfront = bool(_CLOUDFRONT & set(self._fields))
            return None
        if not self._fields:
            raise Unreadable("no '#Fields:' before it")
        values = line.split("\t" if "\t" in line else None)
        if len(values) != len(self._fields):
            raise Unreadable(f"{len(values)} values for {len(self._fields)} '#Fields'")
        return record_of_access(self._said(dict(zip(self._fields, values, strict=True))), self._base)

    def _said(self, values: dict[str, str]) -> dict[str, str]:
        said = {ours: values[theirs] for theirs, ours in _NAMES.items() if values.get(theirs, "-") != "-"}
        if "path" not in said and "target" not in said:
            raise Unreadable("no 'cs-uri-stem'")
        if not said.get("scheme", "http").lower().startswith(("http", "ws")) or "/" in said.get("scheme", ""):
            del said["scheme"]
        if "host" not in said and not {"cs-host", "cs(host)", "x-host-header"}.isdisjoint(values):
            said["host"] = "-"
        if "date" in values and "time" in values:
            said["time"] = f"{values['date']}T{values['time']}"
        if self._is_cloudfront:
            said |= {name: said[name].replace("%25", "%") for name in ("path", "query") if name in said}
        return said
