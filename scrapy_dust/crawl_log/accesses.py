"""Makes the record of a page from one request in a web server's log.

- Only GET shows a page: other methods, requests that were never answered, and lines that are no request at all (a TLS
  handshake on a plain port, ``-``) are passed over.
- Only a 200 has the page's size. 304 says that the page is still there and 206 sends a part of it: both are pages of
  unknown size. Servers log the bytes they sent, so an answer that was compressed on the way, or broken off, shows as
  another size of the same URL.
- A URL is made of the bytes that the client sent; characters that may not stand in a URL are percent-encoded.
- Robots' requests are kept: their URLs are as much the site's as those of people.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from math import nan
from urllib.parse import quote, urlsplit

from scrapy_dust.crawl_log.visit_fields import Unreadable

#: The server, or its proxy, gave no answer to this client: 408 request timeout, 444 closed, 460 and 499
#: client closed, 494 to 497 nginx on the connection itself. Nothing is said of the page.
NO_ANSWER = frozenset({"-", "-1", "", "0", "000", "408", "444", "460", "494", "495", "496", "497", "499"})
_PORTS = {"http": "80", "https": "443"}
_LAST_PORT = 65535
_HOST = re.compile(r"(?:\[[0-9a-f:.]+\]|[\w.-]*[a-z0-9][\w.-]*)\Z", re.ASCII)
_NETLOC_ENDS = re.compile(r"[/?#]")
_PLAIN = re.compile(r"[!#-;=?-\[\]_a-z~]*\Z")
_SAFE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"<>\\^`{|}')


class HostUnknown(Unreadable):
    """The format has no field for the host, and no base URL was given."""


@dataclass(frozen=True, slots=True)
class Base:
    """The scheme and host of requests in a log that does not name them."""

    scheme: str
    netloc: str
    prefix: str  #: before each path

    @classmethod
    def of(cls, url: str) -> Base:
        """The `Base` that *url*, the option ``--base-url``, names. Raises `ValueError`."""
        try:
            parts = urlsplit(url)
            is_base = parts.scheme in _PORTS and parts.hostname and not parts.query and not parts.fragment
            is_base = is_base and parts.port != 0
        except ValueError:  # a port or an address that cannot be
            is_base = False
        if not is_base:
            raise ValueError(f"--base-url must be like https://www.example.org, got {url!r}.")
        return cls(parts.scheme, parts.netloc.rpartition("@")[2].lower(), parts.path.rstrip("/"))


def record_of_access(said: Mapping[str, str], base: Base | None) -> dict[str, object] | None:
    """The record of a request; None for a request that shows no page. Raises `Unreadable`.

    *said* has ``request`` or ``method`` with ``target``, or ``path`` and ``query``; and, as far as the log has
    them, ``status``, ``size``, ``host``, ``port``, ``scheme``, ``time``, ``redirect_to``, ``content_type``.
    """
    method, target = _method_and_target(said)
    status = said.get("status", "200")
    # 1xx is what came before an answer: another protocol than HTTP.
    if method != "GET" or status in NO_ANSWER or status.startswith("1"):
        return None
    url = _url_of_request(target, said, base)
    if url is None:
        return None
    record: dict[str, object] = {"url": url, "status": 200 if status in ("200", "304") else status}
    size = said.get("size", "-")
    if status == "200" and size != "-":
        record["size"] = size
    for name in ("redirect_to", "content_type"):
        value = said.get(name, "-")
        if value not in ("-", ""):
            record[name] = _without_implied_port(value) if name == "redirect_to" else value
    if "time" in said:
        record["fetched_at"] = iso_time(said["time"])
    return record


def _without_implied_port(target: str) -> str:
    """*target*, where a redirect leads, written as the URL of a request is: some servers name the port that the scheme implies."""
    try:
        found = None if target.startswith("/") else _url_of_request(target, {}, None)
    except Unreadable:
        found = None
    return target if found is None else found


def _method_and_target(said: Mapping[str, str]) -> tuple[str, str]:
    """The method and the target of a request, from whichever fields the log has."""
    request = said.get("request")
    if request is not None:
        return split_request(request)
    target = said.get("target")
    if target is None:
        query = said.get("query", "").removeprefix("?")
        target = said.get("path", "") + (f"?{query}" if query not in ("", "-") else "")
    return said.get("method", "GET").upper(), target


@lru_cache(maxsize=4096)
def split_request(line: str) -> tuple[str, str]:
    """The method and the target of a request line. By mistake, a target may have spaces."""
    method, _, rest = line.partition(" ")
    target, _, version = rest.rpartition(" ")
    # HTTP/0.9 has no version.
    return method, (target if target and version.startswith("HTTP/") else rest).strip()


def _url_of_request(target: str, said: Mapping[str, str], base: Base | None) -> str | None:
    """The URL that a request for *target* asked for; None where it is no http(s) URL. *said*: the other fields of the
    line.
    """
    if target.startswith("/"):
        origin = _origin(said.get("host"), said.get("port"), said.get("scheme"), base)
        return origin and origin + _percent_encoded(target)
    scheme, mark, rest = target.partition("://")
    # The absolute form, as proxies are asked, says itself where it goes.
    if not mark or scheme.lower() not in _PORTS:
        return None
    netloc = _NETLOC_ENDS.split(rest, maxsplit=1)[0]
    path = rest[len(netloc) :]
    origin = _origin(netloc.rpartition("@")[2], None, scheme, None)
    return origin and origin + _percent_encoded(path if path.startswith("/") else f"/{path}")


@lru_cache(maxsize=4096)
def _origin(host: str | None, port: str | None, scheme: str | None, base: Base | None) -> str | None:
    """The beginning of a request's URL: scheme, host and port, and the path of the base URL; None for schemes that show
    no page. Raises `Unreadable`.
    """
    scheme = scheme.lower() if scheme and scheme != "-" else None
    if scheme not in (None, "http", "https"):
        return None  # A WebSocket shows no page.
    name, port = _host_and_port(host, port)
    if not name:
        if base is not None:
            return f"{base.scheme}://{base.netloc}{base.prefix}"
        if host is None:
            raise HostUnknown("its requests name no host")
        raise Unreadable("it names no host")
    if not _HOST.match(name):
        raise Unreadable(f"{name[:40]!r} is no host")
    if port and int(port[:6]) > _LAST_PORT:
        raise Unreadable(f"{port[:40]!r} is no port")
    if base is not None:
        return f"{scheme or base.scheme}://{name}{base.prefix}"
    scheme = scheme or ("https" if port == "443" else "http")
    return f"{scheme}://{name}" + (f":{port}" if port and port != _PORTS[scheme] else "")


def _host_and_port(host: str | None, port: str | None) -> tuple[str, str | None]:
    """The host in lower case, empty if unknown, and the port that either field names."""
    name, colon, own_port = (host or "").lower().rpartition(":")
    if not colon or own_port.endswith("]"):
        name, own_port = (host or "").lower(), ""
    # nginx has a server of no name as "_".
    name = "" if name in ("-", "_") else name.rstrip(".")
    return name, next(filter(None, map(_plain_port, (own_port, port))), None)


def _plain_port(port: str | None) -> str:
    """*port* without leading zeros; empty where it is no port."""
    return port.lstrip("0") if port and port.isascii() and port.isdigit() else ""


@lru_cache(maxsize=4096)
def _percent_encoded(target: str) -> str:
    if _PLAIN.match(target):
        return target
    return quote(
        target.encode("utf-8", "surrogatepass" if _has_lone_surrogates(target) else "surrogateescape"), _SAFE
    )


def _has_lone_surrogates(text: str) -> bool:
    r"""Whether *text* has half a character, such as JSON's ``\ud800``, which stands for no byte."""
    return any(0xD800 <= ord(letter) <= 0xDFFF and not 0xDC80 <= ord(letter) <= 0xDCFF for letter in text)


_MONTHS = {
    name: number for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)
}
_CLF = re.compile(r"(\d\d?)/(\w{3})/(\d{4})[: ](\d\d:\d\d:\d\d)(?:\.\d+)?(?: ([+-]\d{4}))?\Z", re.ASCII)


@lru_cache(maxsize=256)
def iso_time(said: str) -> str | None:
    """The time that a server wrote, as ISO 8601 in UTC; None where it cannot be told. Without offset it is UTC."""
    clf = _CLF.match(said)
    try:
        if clf:
            day, month, year, time, offset = clf.groups()
            when = datetime.fromisoformat(
                f"{year}-{_MONTHS[month]:02}-{int(day):02}T{time}{offset or '+0000'}"
            )
        elif said.replace(".", "", 1).isdigit():
            seconds = float(said)
            # Some count milliseconds, or nanoseconds.
            unit = next((unit for unit in (1, 1e3, 1e6, 1e9) if seconds / unit <= 1e11), nan)
            when = datetime.fromtimestamp(seconds / unit, UTC)
        else:
            when = datetime.fromisoformat(said)
            when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return when.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, KeyError, OverflowError, OSError):
        return None
