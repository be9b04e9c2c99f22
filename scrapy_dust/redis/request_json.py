"""Turns requests into JSON and back, also with bytes, tuples and sets, which JSON does not have.

Nothing that another machine has written is unpickled. A request that JSON cannot hold (a callback that is no method
of its spider, an object of the project's own in its meta) is not altered to fit.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import Any

from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

_PLAIN = frozenset({str, int, float, bool, type(None)})


def freeze(request: Request, spider: Spider) -> str | None:
    """*request* as JSON, for other workers; None where JSON cannot hold it."""
    try:
        return to_json(request.to_dict(spider=spider))
    except (TypeError, ValueError, AttributeError, RecursionError):
        return None


def thaw(frozen: str | bytes, spider: Spider) -> Request:
    """The request that `freeze` wrote. Raises `ValueError` for anything else."""
    try:
        return request_from_dict(from_json(frozen), spider=spider)
    except (AttributeError, ImportError, KeyError, NameError, TypeError) as error:
        raise ValueError(f"no request of this spider ({error})") from None


def to_json(value: object) -> str:
    """*value* as JSON. Raises `TypeError` for a value that would not come back as it is."""
    return json.dumps(_tagged(value), separators=(",", ":"))


def from_json(text: str | bytes) -> Any:
    """The value that `to_json` wrote. Raises `ValueError` for anything else."""
    try:
        return _untagged(json.loads(text))
    except (AttributeError, RecursionError, TypeError) as error:
        raise ValueError(f"not what another worker writes ({error})") from None


def _tagged(value: Any) -> Any:
    """A value as JSON, an object of one key where JSON lacks the type: ``b`` bytes, ``t`` a tuple, ``s`` a set, ``d`` a
    dict, ``p`` a dict with other keys than strings.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is list:
        return [_tagged(part) for part in value]
    if kind is dict:
        if all(type(key) is str for key in value):
            return {"d": {key: _tagged(part) for key, part in value.items()}}
        return {"p": [[_tagged(key), _tagged(part)] for key, part in value.items()]}
    if kind is bytes:
        return {"b": b64encode(value).decode("ascii")}
    if kind is tuple:
        return {"t": [_tagged(part) for part in value]}
    if kind is set:
        return {"s": sorted((_tagged(part) for part in value), key=repr)}
    raise TypeError(f"{value!r} is no plain value")


def _untagged(told: Any) -> Any:
    """The value of which `_tagged` made *told*."""
    if isinstance(told, list):
        return [_untagged(part) for part in told]
    if not isinstance(told, dict):
        return told
    ((kind, of),) = told.items()
    if kind == "d":
        return {key: _untagged(part) for key, part in of.items()}
    if kind == "p":
        return {_untagged(key): _untagged(part) for key, part in of}
    if kind == "b":
        return b64decode(of)
    parts = [_untagged(part) for part in of]
    return tuple(parts) if kind == "t" else set(parts)
