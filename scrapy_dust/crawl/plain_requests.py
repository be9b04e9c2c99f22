"""Turns requests into plain values and back: every request that is kept anywhere is kept in this form.

Only the attributes that differ from a request's defaults are kept, and callbacks by the names of the spider's
methods. A request that cannot be kept in this form is not altered: it is fetched.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from typing import Any, NamedTuple

from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from scrapy_dust.crawl.requests import OF_ONE_FETCH

#: Attributes beside the URL and the callbacks, and what most requests have where that is not empty.
_BESIDE = tuple("headers method encoding meta body cookies priority dont_filter flags cb_kwargs".split())
_DEFAULTS = {"method": "GET", "encoding": "utf-8"}

#: Whether a request has no other attributes in this version of Scrapy.
_ARE_ALL = {"url", "callback", "errback", *_BESIDE}.issuperset(Request.attributes)


def _methods(request: Request, spider: Spider | None) -> dict[str, str | None]:
    """The names of *request*'s callback and errback, if it has any; None for one that is no method of *spider*."""
    both = ("callback", request.callback), ("errback", request.errback)
    return {name: method_of(function, spider) for name, function in both if function is not None}


def method_of(function: Callable[..., object], spider: Spider | None) -> str | None:
    """The name under which *spider* has *function* as a method or attribute; None if *spider* does not have it."""
    name = getattr(function, "__name__", None)
    if spider is None:
        return None
    if name is None or getattr(function, "__self__", None) is not spider:
        return next((own for own, value in vars(spider).items() if value is function), None)
    return str(name) if getattr(spider, name, None) == function else None


def bytes_beside_url(request: Request, spider: Spider | None) -> bytes | None:
    """All of *request* but its URL, as bytes for this crawl's own files; None: *request* cannot be kept."""
    told: dict[str, Any]
    try:
        if type(request) is Request and _ARE_ALL:
            told = {**_methods(request, spider)}
            if None in told.values():
                return None
            values = ((name, getattr(request, name)) for name in _BESIDE)
            told |= {name: value for name, value in values if value and value != _DEFAULTS.get(name)}
            if "headers" in told:
                told["headers"] = dict(told["headers"])
        else:
            told = request.to_dict(spider=spider)
            del told["url"]
        return pickle.dumps(told)
    except Exception:  # noqa: BLE001  Whatever an object in its meta has against being pickled.
        return None


def url_bytes(request: Request) -> bytes:
    """The URL of *request*, which rests after the bytes that `bytes_beside_url` gives."""
    return request.url.encode("utf-8", "surrogatepass")


def from_bytes(kept: bytes, spider: Spider | None) -> Request | None:
    """The request of which `bytes_beside_url` and `url_bytes` together are *kept*; None if *kept* cannot be read any more."""
    try:
        file = BytesIO(kept)
        told = pickle.load(file)  # noqa: S301  Written by this crawl, or in its JOBDIR.
        # A job may go on with a spider that was edited meanwhile; what has lost its callback has the default one.
        for name in ("callback", "errback"):
            if told.get(name) is not None and not hasattr(spider, told[name]):
                told[name] = None
        told["url"] = file.read().decode("utf-8", "surrogatepass")
        return request_from_dict(told, spider=spider)
    except Exception:  # noqa: BLE001  Whatever an object in its meta has against being made again.
        return None


class Manner(NamedTuple):
    """All of a request but its URL, in the forms in which it rests and is shown."""

    beside: bytes | None  #: what `bytes_beside_url` gives
    holds_objects: bool  #: that others may hold too
    said: dict[str, object]  #: what `shown_parts` gives, where that is asked for
    lacks: tuple[str, ...]


def manner_of(request: Request, spider: Spider | None, *, shows: bool = False) -> Manner:
    """The manner of *request*, which *shows* what a journal may have of it, or does not."""
    said, lacks = shown_parts(request, spider) if shows else ({}, ())
    return Manner(bytes_beside_url(request, spider), not is_as_good_as_its_copy(request), said, lacks)


#: The most manners that are remembered: those of more pages than bring their links at a time.
_MANNERS = 256


class Manners:
    """Remembers the manners of requests, as the links of a page hardly differ but in their URLs. *shows*: as in `manner_of`."""

    def __init__(self, *, shows: bool) -> None:
        self._shows = shows
        self._known: dict[tuple[object, ...] | None, Manner] = {}

    def manner_of(self, request: Request, spider: Spider | None) -> Manner:
        """The manner of *request*, which may have been made for a request that differs from *request* in its URL alone."""
        name: tuple[object, ...] | None = None
        try:
            if type(request) is Request and _ARE_ALL:
                beside = pickle.dumps(_attributes_beside_url(request))
                name = id(spider), request.callback, request.errback, beside
            known = self._known.get(name)
        except Exception:  # noqa: BLE001  As in `bytes_beside_url`; or a callback cannot be hashed.
            name = known = None
        if known is None:
            known = manner_of(request, spider, shows=self._shows)
            if name is not None and not known.holds_objects:  # else what was shown may change
                if len(self._known) >= _MANNERS:
                    self._known.clear()
                self._known[name] = known
        return known


def _attributes_beside_url(request: Request) -> list[object]:
    """All attributes of *request* but its URL and its callbacks. Headers as a plain dict, which is pickled faster."""
    headers = dict(request.headers) if request.headers else None
    said: list[object] = [request.method, request.encoding, headers, request.meta]
    said += [request.priority, request.dont_filter]
    if request.body or request.cookies or request.flags or request.cb_kwargs:
        said += [request.body, request.cookies, request.flags, request.cb_kwargs]
    return said


#: Types of values that never change, so that a copy is as good as the value.
_VALUES = frozenset({str, int, float, bool, bytes, type(None)})
_SIMPLE = (str, int, float, bytes, type(None))


def is_value(value: object) -> bool:
    """Whether *value* can be copied without a difference: it cannot change, and equals its copy."""
    # A selector's text is of a subclass of `str`.
    return isinstance(value, _SIMPLE) or (
        type(value) is tuple and all(isinstance(one, _SIMPLE) for one in value)
    )


def are_plain(values: Iterable[object]) -> bool:
    """Whether all *values* are of the plainest kinds; quick to see."""
    return _VALUES.issuperset(map(type, values))


def is_as_good_as_its_copy(request: Request) -> bool:
    """Whether the copy that `from_bytes` makes can replace *request*: *request* holds no object that others may hold too."""
    if type(request) is not Request or not are_plain(request.cb_kwargs.values()):
        return False
    meta = request.meta
    return are_plain(meta.values()) or all(
        type(value) in _VALUES or _is_ours(name) for name, value in meta.items()
    )


def is_of_the_crawl(name: object) -> bool:
    """Whether *name* is a key of meta that Scrapy or scrapy-dust sets for one fetch, so that spiders do not pass it on."""
    return name in _PASSING or _is_ours(name)


def _is_ours(name: object) -> bool:
    return isinstance(name, str) and name.startswith("_dust")


# -- in a journal, for people and for later crawls

#: In meta, and of one fetch alone: a request made anew must not have them.
_PASSING = OF_ONE_FETCH | {"download_latency"}
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})
_ATTRIBUTES = ("callback", "errback", "method", "headers", "meta", "priority", "flags", "cb_kwargs")


def shown_parts(request: Request, spider: Spider | None) -> tuple[dict[str, object], tuple[str, ...]]:
    """The parts of *request* that a journal may show beside its URL, and the names of those, such as cookies, that it lacks."""
    methods = _methods(request, spider)
    lacks = [name for name, method in methods.items() if method is None]
    known = request.meta.items()
    meta = {name: value for name, value in known if name not in _PASSING and not str(name).startswith("_")}
    said: dict[str, object] = {
        **methods,
        "priority": request.priority,
        "method": "" if request.method == "GET" else request.method,
        "meta": _shown_values("meta", meta, lacks),
        "cb_kwargs": _shown_values("cb_kwargs", request.cb_kwargs, lacks),
        "headers": _shown_headers(request, lacks),
        "flags": [str(flag) for flag in request.flags],
    }
    lacks += [name for name in ("cookies", "body") if getattr(request, name)]
    return {name: value for name, value in said.items() if value}, tuple(lacks)


def from_journal(url: str, said: Mapping[str, object], spider: Spider) -> Request:
    """The request to *url* that *said*, an entry of a journal, describes; with the default callback if its own is lost."""
    given: dict[str, Any] = dict(said)
    for name in ("callback", "errback"):
        method = getattr(spider, str(given.pop(name, "")), None)
        if callable(method):
            given[name] = method
    known = {name: given[name] for name in _ATTRIBUTES if name in given}
    return Request(url, **known)


def _shown_headers(request: Request, lacks: list[str]) -> dict[str, object]:
    """The headers of *request* that a journal may show. The names of the others are added to *lacks*."""
    said: dict[str, object] = {}
    for name, values in request.headers.items():
        header = name.decode("latin-1")
        if header.lower() in _SECRET_HEADERS:
            lacks.append(f"headers.{header}")
        else:
            said[header] = [value.decode("latin-1") for value in values]
    return said


def _shown_values(where: str, values: Mapping[Any, object], lacks: list[str]) -> dict[str, object]:
    """The *values* that a journal may show. The names of the others, below *where*, are added to *lacks*."""
    said: dict[str, object] = {}
    for name, value in values.items():
        if isinstance(name, str) and _is_plain(value) and not (name == "proxy" and "@" in str(value)):
            said[name] = value
        else:
            lacks.append(f"{where}.{name}")
    return said


def _is_plain(value: object) -> bool:
    """Whether *value* comes back unchanged from JSON."""
    if value is None or isinstance(value, (str, int, float)):
        return True
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError, RecursionError):
        return False
