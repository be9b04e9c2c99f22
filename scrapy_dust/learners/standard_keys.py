"""Normalizations that apply to every URL and need no learning.

`standard_key`: no fragment, one scheme, no ``www.``, no default port, no ``index.*``, no slash at the end,
parameters sorted (RFC 3986 §6 and Lee & Kim's extended normalizations, ICCSA 2005).

`surt_key`: the Internet Archive's keys, its AggressiveIACanonicalizer: all in lower case, without user, ``www``
with digits, default port, fragment, session ids and the slash at the end, parameters sorted; neither the
scheme counts. Written from descriptions of what it does: its order of steps and the percent-encoding that
it redoes are not reproduced.
"""

from __future__ import annotations

import re

from scrapy_dust.learners.url_components import parameters_of, parts_of, query_of

_INDEX = re.compile(r"/(?:index|default)\.[a-z]{2,5}$", re.IGNORECASE)
_DEFAULT_PORT = re.compile(r":(?:80|443)?$")
_SESSION_IN_PATH = re.compile(
    r";jsessionid=[0-9a-z.!_-]{32,}$|/\((?:[a-z]\([0-9a-z]{24}\))+\)(?=/[^?]+\.aspx$)", re.IGNORECASE
)
_SESSION_PARAMETER = re.compile(
    r"(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}|cfid=[^&]+&cftoken=[^&]+",
    re.IGNORECASE,
)


def standard_key(url: str) -> str:
    """*url* without scheme, ``www.``, default port, index file, last slash and fragment, its parameters sorted."""
    parts = parts_of(url)
    host = _DEFAULT_PORT.sub("", (parts.host or "").lower()).removeprefix("www.")
    path = _INDEX.sub("/", parts.path).rstrip("/")
    parameters = sorted(parameters_of(parts.query or ""), key=lambda pair: (pair[0], pair[1] or ""))
    return host + path + ("?" + query_of(parameters) if parameters else "")


def surt_key(url: str) -> str:
    """*url* in the form of the Internet Archive's keys: host turned round, in lower case, without session ids."""
    parts = parts_of(url.lower())
    host = _DEFAULT_PORT.sub("", (parts.host or "").rpartition("@")[2])
    host = re.sub(r"^www\d*\.", "", host)
    path = _SESSION_IN_PATH.sub("", parts.path)
    path = path if path == "/" else path.rstrip("/")
    query = _SESSION_PARAMETER.sub("", parts.query or "")
    pairs = sorted(pair for pair in query.split("&") if pair)
    turned = ",".join(reversed(host.split(".")))
    return f"{turned}){path or '/'}" + ("?" + "&".join(pairs) if pairs else "")
