"""Events of a journal, as values and as lines of JSON.

Keys and kinds of events that this version does not know are passed over:
a journal is read by versions older and newer than its writer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from json.encoder import encode_basestring_ascii as quoted
from typing import NamedTuple


class What(StrEnum):
    """The kinds of events in a journal."""

    SUPPRESSED = "suppressed"  #: it was not fetched, because of rules
    PUT_LAST = "put last"  #: it is fetched after all else, because of its form
    RETURNED = "returned"  #: it was given back to the spider after all
    TESTED = "tested"  #: it was fetched to test rules, and compared with its keeper
    SUSPENDED = "suspended"  #: a rule was, because of it


class Event(NamedTuple):
    """One line of a journal."""

    what: What
    at: str  #: ISO time, UTC
    url: str
    rules: tuple[str, ...] = ()  #: ids
    key: str | None = None  #: the canonical form
    keeper: str | None = None  #: what was fetched instead
    note: str | None = None  #: why it was returned, or what the test showed
    #: All that is needed to make the request again, beside its URL; None: the request cannot be made again.
    request: Mapping[str, object] | None = None
    lacks: tuple[str, ...] = ()  #: parts of the request that a journal cannot hold


def now() -> str:
    """The present time as a journal writes it."""
    second, milliseconds = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{_second(second)}.{milliseconds:03}Z"


@lru_cache(maxsize=1)
def _second(since_1970: int) -> str:
    """The time *since_1970*, in seconds, as text. The result is remembered, since a crawl suppresses hundreds of URLs a second."""
    return datetime.fromtimestamp(since_1970, UTC).replace(tzinfo=None).isoformat()


def to_record(event: Event) -> dict[str, object]:
    """*event* as a JSON object without its empty fields."""
    what, at, url, rules, key, keeper, note, request, lacks = event
    record: dict[str, object] = {"what": str(what), "at": at, "url": url}
    texts = (("key", key), ("keeper", keeper), ("note", note), ("request", request))
    record |= {name: value for name, value in texts if value is not None}
    if rules:
        record["rules"] = list(rules)
    if lacks:
        record["lacks"] = list(lacks)
    return record


def as_line(event: Event, request: str) -> str:
    """*event* as JSON, the same object as `to_record` gives, in a quarter of the time. *request*: the request as JSON."""
    what, at, url, rules, key, keeper, note, _, lacks = event
    line = f'{{"what":"{what}","at":{quoted(at)},"url":{quoted(url)}'
    if key is not None:
        line += f',"key":{quoted(key)}'
    if keeper is not None:
        line += f',"keeper":{quoted(keeper)}'
    if note is not None:
        line += f',"note":{quoted(note)}'
    if request != "null":
        line += f',"request":{request}'
    if rules:
        line += f',"rules":[{",".join(map(quoted, rules))}]'
    return f'{line},"lacks":[{",".join(map(quoted, lacks))}]}}' if lacks else f"{line}}}"


def from_record(record: object) -> Event | None:
    """The event of a JSON object; None for a kind that this version does not know. Raises `ValueError` for all else."""
    if not isinstance(record, dict):
        raise ValueError("not an object")
    try:
        what = What(str(record.get("what")))
    except ValueError:
        return None
    request = record.get("request")
    if request is not None and not isinstance(request, dict):
        raise ValueError("'request' must be an object")
    at, url = _text(record, "at"), _text(record, "url")
    key, keeper, note = (
        None if record.get(name) is None else _text(record, name) for name in ("key", "keeper", "note")
    )
    rules, lacks = _texts(record, "rules"), _texts(record, "lacks")
    return Event(what, at, url, rules, key, keeper, note, request, lacks)


def _text(record: Mapping[str, object], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name!r} must be a string")
    return value


def _texts(record: Mapping[str, object], name: str) -> tuple[str, ...]:
    values = record.get(name, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{name!r} must be a list of strings")
    return tuple(values)
