"""Turns an item into a number that is equal for equal items, whatever the URL of their page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from xxhash import xxh3_64_intdigest

#: How deep an item is looked into; what is deeper is told by its text.
_DEPTH = 5


def digest_of(values: Mapping[str, object], url: str) -> int | None:
    """The number of an item; None if the item says nothing beside *url* and the time."""
    said = []
    for name, value in values.items():
        if isinstance(value, str):
            if _counts(value, url):
                said.append(f"{name}\0{value}")
        else:
            said += [f"{inner}\0{one}" for inner, one in _leaves(str(name), value, 1) if _counts(one, url)]
    return xxh3_64_intdigest("\n".join(sorted(said)).encode("utf-8", "surrogatepass")) if said else None


def _counts(value: object, url: str) -> bool:
    """Whether *value* says something: it is no time, and not the *url* of the page."""
    if value is None or isinstance(value, datetime):
        return False
    if not isinstance(value, str) or "://" not in value:
        return True
    return value.strip().partition("#")[0].rstrip("/") != url.rstrip("/")


def _leaves(name: str, value: object, depth: int) -> Iterator[tuple[str, object]]:
    """The plain values in *value*, however deep up to a limit, each with its name."""
    if depth < _DEPTH and isinstance(value, Mapping):
        for inner in value:
            yield from _leaves(f"{name}.{inner}", value[inner], depth + 1)
    elif depth < _DEPTH and isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        for inner in value:
            yield from _leaves(name, inner, depth + 1)
    else:
        yield name, value
