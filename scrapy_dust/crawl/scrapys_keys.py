"""Computes the fingerprint of Scrapy's own fingerprinter for a request with any URL, faster than Scrapy does.

Scrapy makes a JSON encoder for each request, and needs a request object for each URL. The text that Scrapy hashes is
known and hardly varies, so this module puts it together as a string. That holds for the versions of Scrapy that were
compared, and for requests whose meta does not matter to the fingerprinter. For all others Scrapy itself is called.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha1
from json.encoder import encode_basestring_ascii

import scrapy
from scrapy import Request
from scrapy.utils.request import RequestFingerprinter
from w3lib.url import canonicalize_url, safe_url_string

#: Versions of Scrapy whose `scrapy.utils.request.fingerprint` was read. A test compares the keys.
COMPARED = ((2, 19),)


def are_known(fingerprinter: object) -> bool:
    """Whether `scrapys_key` gives the same keys as *fingerprinter*."""
    return type(fingerprinter) is RequestFingerprinter and scrapy.version_info[:2] in COMPARED


def scrapys_key(request: Request, url: str) -> bytes:
    """The fingerprint that Scrapy gives *request* if its URL is *url*. *url* must look as a request stores it."""
    canonical, body, method = encode_basestring_ascii(canonical_url(url)), request.body, request.method
    if body or method != "GET":
        told = f'"body": "{body.hex()}", "headers": {{}}, "method": {encode_basestring_ascii(method)}'
    else:
        told = '"body": "", "headers": {}, "method": "GET"'
    return sha1(f'{{{told}, "url": {canonical}}}'.encode(), usedforsecurity=False).digest()


# Nothing to decode or to make lower case, no port that may be spelled otherwise, no dot segments; and parameters with
# one equals sign each. (A semicolon separates parameters for some versions of w3lib.)
_NAME, _VALUE = r"[A-Za-z0-9._~-]++", r"[A-Za-z0-9._~!$'()*,/:?@-]*+"
_PLAIN = re.compile(
    r"(https?://[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*+(?::(?:[1-5][0-9]{4}|[1-9][0-9]{0,3}))?(?:/(?!\.)[A-Za-z0-9._~,:@!&=+-]*+)++)"
    rf"(?:\?({_NAME}={_VALUE}(?:&{_NAME}={_VALUE})*+))?"
)
_TO_QUOTE = re.compile(r"[!$'()*,/:?@]")
_QUOTED = str.maketrans({character: f"%{ord(character):02X}" for character in "!$'()*,/:?@"})


def canonical_url(url: str, *, keep_fragments: bool = False) -> str:
    """*url* as `canonicalize_url` of w3lib returns it; for most URLs in less time."""
    plain = _PLAIN.fullmatch(url) if _is_known_w3lib() else None
    if plain is None:
        return canonicalize_url(url, keep_fragments=keep_fragments)
    return _canonical_plain_url(plain, url)


@cache
def _is_known_w3lib() -> bool:
    """Whether the installed w3lib canonizes like the versions that were compared. If not, w3lib is called for every URL."""
    marks = "".join(map(chr, _QUOTED))
    samples = (
        "http://a-1.test:8080/B/c.d_e~f,g:h@i!j&k=l+m-n",
        f"https://a.test/~b/?z={marks}&Y=2&y=&y=1.0~_-&0={marks[::-1]}&y=0",
        *(f"http://a.test/?a={mark}" for mark in marks),
    )
    plain = ((_PLAIN.fullmatch(sample), sample) for sample in samples)
    return all(
        match and _canonical_plain_url(match, sample) == canonicalize_url(sample) for match, sample in plain
    )


def _canonical_plain_url(plain: re.Match[str], url: str) -> str:
    """*url*, which *plain* matches, with its parameters sorted and quoted as w3lib does."""
    before, query = plain.groups()
    if query is None:
        return url
    if "&" in query:
        # By name, then by value: each name ends with what is less than any of its characters.
        parameters = sorted(query.replace("=", "\0").split("&"))
        query = "&".join(parameters).replace("\0", "=")
    return f"{before}?{query.translate(_QUOTED) if _TO_QUOTE.search(query) else query}"


# `safe_url_string` leaves such a URL as it is.
_SAFE = re.compile(r"https?://[a-z0-9.-]+/[A-Za-z0-9/._~=&;,+:@%!-]*(?:\?[A-Za-z0-9/._~=&?;,+:@%!-]+)?")


def url_in_request(url: str, encoding: str) -> str:
    """*url* as a request stores it. Raises `ValueError` where a request does."""
    if _SAFE.fullmatch(url):
        return url
    safe = safe_url_string(url, encoding)
    if "://" not in safe:
        raise ValueError(f"Missing scheme in request url: {safe}")
    return safe
