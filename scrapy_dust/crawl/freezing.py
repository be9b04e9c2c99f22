"""Suppressed requests at rest: as Scrapy's disk queues keep them, and as a journal can show them.

A journal is read by people and by later crawls, so it has names of callbacks and plain values only, and neither
cookies nor credentials. What it leaves out it names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scrapy import Request

if TYPE_CHECKING:
    from scrapy import Spider

#: In meta, and of one fetch alone: a request made anew must not have them.
_PASSING = frozenset(
    {"redirect_times", "redirect_ttl", "redirect_urls", "redirect_reasons", "retry_times", "download_latency"}
)
_SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})


def frozen(request: Request, spider: Spider) -> dict[str, Any]:
    """Raises `ValueError` where the callback or errback is no method of the spider."""
    return request.to_dict(spider=spider)


def shown(request: Request, frozen: Mapping[str, Any] | None) -> tuple[dict[str, object], tuple[str, ...]]:
    """What a journal says of *request* beside its URL, and what it cannot say.

    *frozen* is None where there is no name for a callback or errback.
    """
    said: dict[str, object] = {}
    lacks: list[str] = []
    for name in ("callback", "errback"):
        if frozen is not None and frozen[name] is not None:
            said[name] = frozen[name]
        elif getattr(request, name) is not None:
            lacks.append(name)
    if request.priority:
        said["priority"] = request.priority
    if request.method != "GET":
        said["method"] = request.method
    meta = {name: value for name, value in request.meta.items() if not _is_passing(name)}
    for name, values in (
        ("meta", meta),
        ("cb_kwargs", request.cb_kwargs),
        ("headers", _headers(request, lacks)),
    ):
        if values:
            said[name] = _plain(name, values, lacks)
    if request.flags:
        said["flags"] = [str(flag) for flag in request.flags]
    lacks += [name for name in ("cookies", "body") if getattr(request, name)]
    return {name: value for name, value in said.items() if value != {}}, tuple(lacks)


def made_again(url: str, said: Mapping[str, object], spider: Spider) -> Request:
    """The request that a journal shows; with the spider's default callback where it has no such method any more."""
    given: dict[str, Any] = dict(said)
    for name in ("callback", "errback"):
        method = getattr(spider, str(given.pop(name, "")), None)
        if callable(method):
            given[name] = method
    known = {name: given[name] for name in _ATTRIBUTES if name in given}
    return Request(url, **known)


_ATTRIBUTES = ("callback", "errback", "method", "headers", "meta", "priority", "flags", "cb_kwargs")


def _is_passing(name: object) -> bool:
    return name in _PASSING or str(name).startswith("_")


def _headers(request: Request, lacks: list[str]) -> dict[str, object]:
    said: dict[str, object] = {}
    for name, values in request.headers.items():
        header = name.decode("latin-1")
        if header.lower() in _SECRET_HEADERS:
            lacks.append(f"headers.{header}")
        else:
            said[header] = [value.decode("latin-1") for value in values]
    return said


def _plain(where: str, values: Mapping[Any, object], lacks: list[str]) -> dict[str, object]:
    said: dict[str, object] = {}
    for name, value in values.items():
        if isinstance(name, str) and _is_plain(value) and not (name == "proxy" and "@" in str(value)):
            said[name] = value
        else:
            lacks.append(f"{where}.{name}")
    return said


def _is_plain(value: object) -> bool:
    """Whether JSON gives it back as it is."""
    if value is None or isinstance(value, (str, int, float)):
        return True
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError, RecursionError):
        return False
