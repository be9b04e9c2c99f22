"""Access logs that are JSON, one object a line: nginx with ``escape=json``, Caddy, Traefik, Google Cloud and others.

Nobody standardized the names, so those in use are known: case, ``_``, ``-`` and ``.`` do not count, and an
object inside the line (Caddy's ``request``) is looked into as if its members were the line's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial

from scrapy_dust.crawl_log.accesses import Base, record_of_access
from scrapy_dust.crawl_log.fields import Unreadable
from scrapy_dust.crawl_log.interchange import parsed
from scrapy_dust.crawl_log.lines import Log, Numbered, Record, by_line

#: What is asked for, and under which names it is found, the best first.
NAMES = {
    "request": ("request", "requestline"),
    "method": ("requestmethod", "method", "httpmethod", "verb"),
    "target": (
        *(
            "requesturi",
            "requesturl",
            "uri",
            "requestpath",
            "requesttarget",
            "target",
            "originalurl",
            "path",
            "url",
        ),
        *("request",),
    ),
    "query": ("args", "querystring", "requestquery", "query"),
    "status": (
        *("status", "statuscode", "responsestatus", "responsecode", "response"),
        *("downstreamstatus", "originstatus", "edgeresponsestatus"),
    ),
    "size": (
        *("bodybytessent", "responsebodybytes", "downstreamcontentsize", "edgeresponsebytes"),
        *("responsesize", "responsebytes", "bytessent", "bytes", "size"),
    ),
    "host": ("httphost", "requesthost", "clientrequesthost", "host", "vhost", "virtualhost", "servername"),
    "port": ("serverport", "requestport"),
    "scheme": ("scheme", "requestscheme", "clientrequestscheme", "xforwardedproto"),
    "time": (
        "timelocal",
        "timeiso8601",
        "timestamp",
        "time",
        "datetime",
        "starttimeutc",
        "startutc",
        "ts",
        "msec",
    ),
    "redirect_to": ("senthttplocation", "location"),
    "content_type": ("senthttpcontenttype", "responsecontenttype"),
}
_DROPPED = str.maketrans("", "", "_-. @")


def read(log: Log) -> Iterator[Numbered]:
    return by_line(log, partial(_record, log.told.base))


def is_access(record: Mapping[str, object]) -> bool:
    """A server's, and not of a URL list, whose records have a ``url`` and no method."""
    said = _said(record)
    asked = "request" in said or "target" in said
    if "url" in record:
        return asked and "method" in said and said.get("target", "/").startswith("/")
    return asked and ("request" in said or "method" in said or "status" in said)


def _record(base: Base | None, line: str) -> Record | None:
    said = _said(parsed(line))
    if "request" not in said and "target" not in said:
        raise Unreadable("no request in it, such as 'request' or 'request_uri'")
    return record_of_access(said, base)


def _said(record: Mapping[str, object]) -> dict[str, str]:
    flat = _flat(record)
    said = {ours: next((flat[name] for name in names if name in flat), None) for ours, names in NAMES.items()}
    found = {name: value for name, value in said.items() if value is not None}
    # "GET / HTTP/1.1", or, beside a verb, the target alone.
    if " " in found.get("request", ""):
        found.pop("target", None)
    else:
        found.pop("request", None)
    if "target" in found and found.get("query", "-") not in ("", "-") and "?" not in found["target"]:
        found["target"] += "?" + found["query"].removeprefix("?")
    return found


def _flat(record: Mapping[str, object]) -> dict[str, str]:
    flat: dict[str, str] = {}
    for inner in (value for value in record.values() if isinstance(value, dict)):
        flat.update(_scalars(inner))
    flat.update(_scalars(record))
    return flat


def _scalars(record: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in record.items():
        if isinstance(value, str):
            yield name.lower().translate(_DROPPED), value
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield name.lower().translate(_DROPPED), json.dumps(value)
