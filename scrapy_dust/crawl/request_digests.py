"""The parts of a request beside its URL: headers, cookies, a cookie jar, meta that chooses an answer, and values for its
callback.

A server may answer two requests for one URL with two pages, and a callback may make two things of one page. Only
headers and cookies that the spider sets count, since downloader middlewares add headers later. So the crawl notes a
digest of these values in the request's meta when it queues the request.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from typing import Any

from itemadapter import is_item
from scrapy import Request
from scrapy.http import Headers
from scrapy.settings import BaseSettings
from xxhash import xxh3_64_hexdigest

from scrapy_dust.crawl.plain_requests import are_plain, is_of_the_crawl, is_value
from scrapy_dust.crawl.requests import ALONE, ASKED, without_url

#: Headers that Scrapy sets, or that describe the crawler and not the page.
_NOT_OF_THE_PAGE = frozenset({b"Referer", b"User-Agent", b"Accept-Encoding", b"Proxy-Authorization"})

_META = "meta:"

#: Scrapy's keys of meta by which a callback gets another answer for one URL, each with the reason. Those that say how a request is
#: made (proxy, timeout, slot, retries) choose no answer.
_CHOOSING = {
    "dont_redirect": "the callback gets the redirect in the place of the page behind it",
    "handle_httpstatus_all": "the callback gets answers that are failures for others",
    "handle_httpstatus_list": "as above",
    "dont_merge_cookies": "the server does not see the cookies of the session",
}


class RequestDigests:
    """Notes in each request of a crawl a digest of its parts beside the URL. *by*: the setting ``DUST_CLASS_BY``."""

    def __init__(self, by: Sequence[str], settings: BaseSettings) -> None:
        self._by_headers, self._by_cookies = "any_headers" not in by, "any_cookies" not in by
        self._by_arguments = "cb_kwargs" in by
        self._by_meta = frozenset(name.removeprefix(_META) for name in by if name.startswith(_META))
        default = Headers(settings.getdict("DEFAULT_REQUEST_HEADERS"))
        self._usual = {name: default.getlist(name) for name in default}
        self._ignored = _NOT_OF_THE_PAGE
        if settings.getbool("COOKIES_ENABLED"):  # then Scrapy sets this header, whatever it was
            self._ignored |= {b"Cookie"}

    def note_digest(self, request: Request) -> None:
        """Note in the meta of *request* a digest of its headers, cookies and values for the callback.

        A redirect keeps the note of the request it came from.
        """
        meta = request.meta
        if meta.get("redirect_urls"):
            return
        meta.pop(ASKED, None)  # copied from the request before
        if self._has_url_alone(request, meta):
            return
        said, carried = self._parts_beside_url(request), self._callback_values(request)
        if carried is None:
            meta[ASKED] = ALONE
        elif said := [*said, *carried]:
            meta[ASKED] = xxh3_64_hexdigest(repr(said).encode("utf-8", "surrogatepass"))

    def _has_url_alone(self, request: Request, meta: dict[str, Any]) -> bool:
        """Whether *request* carries nothing beside its URL: true of nearly every request, and quick to see."""
        headers = request.headers
        return (
            (not headers or self._ignored.issuperset(headers))
            and are_plain(meta.values())
            and not (self._by_meta or request.cookies or request.cb_kwargs or "cookiejar" in meta)
            and _CHOOSING.keys().isdisjoint(meta)
        )

    def _parts_beside_url(self, request: Request) -> list[object]:
        """The headers, cookies and other values of *request* that may choose an answer."""
        said: list[object] = []
        headers = request.headers
        if self._by_headers and headers:
            said += sorted(
                (name, values)
                for name, values in headers.items()
                if name not in self._ignored and self._usual.get(name) != values
            )
        if self._by_cookies:
            jar = request.meta.get("cookiejar")
            said += [("cookies", request.cookies)] if request.cookies else []
            said += [("cookiejar", jar)] if jar is not None else []
        return said

    def _callback_values(self, request: Request) -> list[tuple[str, object]] | None:
        """The values that *request* passes on to its callback; None if one of them is an object that other callbacks
        may share.

        A shared object is an item that several pages complete. No other request can stand for such a request.
        """
        if not all(map(is_value, request.cb_kwargs.values())):
            return None
        said: dict[str, object] = dict(request.cb_kwargs) if self._by_arguments else {}
        for name, value in request.meta.items():
            if name in _CHOOSING and value in (False, None):
                continue
            counts = name in self._by_meta or name in _CHOOSING
            if not counts and (is_value(value) or is_of_the_crawl(name)):
                continue
            content = (
                value if is_value(value) else _comparable(without_url(value) if name == "splash" else value)
            )
            if content is None and value is not None:
                return None
            said[f"{_META}{name}"] = content
        return sorted(said.items())


def _comparable(value: object) -> bytes | None:
    """*value* in a form that can be compared, if it is made of plain containers; None for items and other objects."""
    if is_item(value) and not isinstance(value, dict):
        return None
    try:
        # A pickle also says which of its texts are one object.
        return json.dumps(value, sort_keys=True).encode()
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return pickle.dumps(value)
    except Exception:  # noqa: BLE001  An object of the project's may fail in any way.
        return None
