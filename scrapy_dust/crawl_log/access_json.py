"""Reads JSON access logs, one object a line: nginx with ``escape=json``, Caddy, Traefik, Cloudflare, Google Cloud.

No standard says how members are named, so the names in use are known here: case, ``_``, ``-`` and ``.`` do not count. The members of
an object inside the line (Caddy's ``request``) count as the line's. Headers are an object of their own, whose name
stands before theirs: ``resp_headers`` and ``Location`` are ``respheaderslocation``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial

from scrapy_dust.crawl_log.accesses import Base, record_of_access
from scrapy_dust.crawl_log.format_readers import Log, Numbered, Record, parse_lines
from scrapy_dust.crawl_log.interchange import parse_object
from scrapy_dust.crawl_log.visit_fields import Unreadable

#: What is asked for, and under which names it is found, the best first.
NAMES = {
    name: tuple(theirs.split())
    for name, theirs in {
        "request": "request requestline",
        "method": "requestmethod clientrequestmethod method httpmethod verb",
        "target": (
            "requesturi clientrequesturi requesturl uri requestpath requesttarget target originalurl path "
            "url request"
        ),
        "query": "args querystring requestquery query",
        "status": (
            "status statuscode responsestatus responsecode response downstreamstatus originstatus "
            "edgeresponsestatus"
        ),
        "size": (
            "bodybytessent responsebodybytes downstreamcontentsize edgeresponsebytes responsesize "
            "responsebytes bytessent bytes size"
        ),
        "host": "httphost requesthost clientrequesthost host vhost virtualhost servername",
        "port": "serverport requestport",
        "scheme": "scheme requestscheme clientrequestscheme",
        #: What shows that TLS was spoken: its version, or Caddy's object.
        "tls": "tls tlsversion sslprotocol clientsslprotocol",
        "forwarded": "headersxforwardedproto requestxforwardedproto xforwardedproto",
        "time": (
            "timelocal timeiso8601 timestamp time datetime starttimeutc startutc edgestarttimestamp ts msec"
        ),
        "redirect_to": (
            "senthttplocation respheaderslocation responseheaderslocation downstreamlocation location"
        ),
        "content_type": (
            "senthttpcontenttype respheaderscontenttype responseheaderscontenttype downstreamcontenttype "
            "responsecontenttype edgeresponsecontenttype"
        ),
    }.items()
}
_NO_TLS = frozenset({"", "-", "none"})
_DROPPED = str.maketrans("", "", "_-. @")


def read(log: Log) -> Iterator[Numbered]:
    """The records of a log of JSON lines."""
    return parse_lines(log, partial(_record, log.told.base))


def is_access(record: Mapping[str, object]) -> bool:
    """Whether a JSON record is from an access log. Records of a URL list have a ``url`` and no method."""
    said = _fields_of_access(record)
    asked = "request" in said or "target" in said
    if "url" in record:
        return asked and "method" in said and said.get("target", "/").startswith("/")
    return asked and ("request" in said or "method" in said or "status" in said)


def _record(base: Base | None, line: str) -> Record | None:
    """The record of the request in a *line* of JSON; None for a request that shows no page. Raises `Unreadable`."""
    said = _fields_of_access(parse_object(line))
    if "request" not in said and "target" not in said:
        raise Unreadable("no request in it, such as 'request' or 'request_uri'")
    return record_of_access(said, base)


def _fields_of_access(record: Mapping[str, object]) -> dict[str, str]:
    """The fields of a request by our names, whichever of their usual names *record* uses."""
    flat = _flattened(record)
    said = {ours: next((flat[name] for name in names if name in flat), None) for ours, names in NAMES.items()}
    found = {name: value for name, value in said.items() if value is not None}
    forwarded, tls = found.pop("forwarded", ""), found.pop("tls", "")
    if "scheme" not in found and _is_https(tls, forwarded):
        found["scheme"] = "https"
    # "GET / HTTP/1.1", or, beside a verb, the target alone.
    if " " in found.get("request", ""):
        found.pop("target", None)
    else:
        found.pop("request", None)
    if "target" in found and found.get("query", "-") not in ("", "-") and "?" not in found["target"]:
        found["target"] += "?" + found["query"].removeprefix("?")
    return found


def _is_https(tls: str, forwarded: str) -> bool:
    """Whether the request came over TLS. *forwarded* lists the proxies on the way; the client spoke to the first one."""
    return tls.lower() not in _NO_TLS or forwarded.partition(",")[0].strip().lower() == "https"


def _flattened(record: Mapping[str, object]) -> dict[str, str]:
    """The members of *record*, a JSON object, and of the objects inside it; if two members have one name, the outer one counts."""
    flat: dict[str, str] = {}
    for name, inner in record.items():
        if isinstance(inner, dict):
            flat.update(_headers(inner))
            flat.update(_scalars(inner, _prefix_of(name)))
    flat.update(_headers(record))
    flat.update(_scalars(record))
    return flat


def _headers(record: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The HTTP headers in *record*, and a member ``tls`` where the record has Caddy's object about TLS."""
    for name, inner in record.items():
        if isinstance(inner, dict):
            if _prefix_of(name):
                yield from _scalars(inner, _prefix_of(name))
            elif name.lower() == "tls":
                yield "tls", "yes"


def _prefix_of(name: str) -> str:
    """The text to put before the names in the object *name* when all objects of a record become one."""
    plain = name.lower().translate(_DROPPED)
    return plain if plain.endswith("headers") else ""


def _scalars(record: Mapping[str, object], before: str = "") -> Iterator[tuple[str, str]]:
    """The names and values in *record* that are plain; of a list, the first value, since a header may come several
    times. *before*: the text to put before each name.
    """
    for name, said in record.items():
        value = said[0] if isinstance(said, list) and said else said
        if isinstance(value, str):
            yield before + name.lower().translate(_DROPPED), value
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield before + name.lower().translate(_DROPPED), json.dumps(value)
