"""Splits any string into the parts of a URL, and joins them again: the five parts of RFC 3986, with segments and
parameters.

The standard library's parser raises on some strings (``http://[``); a key function must answer for all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

# RFC 3986, appendix B.
_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


class Parts(NamedTuple):
    """A URL split for the learners. None stands for a missing part, an empty text for an empty one."""

    scheme: str | None
    host: str | None  #: with user and port
    path: str
    query: str | None
    fragment: str | None

    def __str__(self) -> str:
        return "".join(
            (
                "" if self.scheme is None else self.scheme + ":",
                "" if self.host is None else "//" + self.host,
                self.path,
                "" if self.query is None else "?" + self.query,
                "" if self.fragment is None else "#" + self.fragment,
            )
        )


def parts_of(url: str) -> Parts:
    """The parts of *url*, which may be any string."""
    match = _PARTS.fullmatch(url)
    assert match is not None  # the expression matches every string
    return Parts(*match.groups())


def parameters_of(query: str) -> list[tuple[str, str | None]]:
    """The names and values of parameters, as written; the value is None where there is no ``=``."""
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return [(name, value if equals else None) for name, equals, value in pairs]


def query_of(parameters: list[tuple[str, str | None]]) -> str:
    """The query with these *parameters*."""
    return "&".join(name if value is None else f"{name}={value}" for name, value in parameters)


#: A component's name: ``scheme``, ``host``, ``fragment``, ``p0`` for a path segment, ``?name`` for a parameter.
Components = Mapping[str, str]


def components_of(url: str) -> dict[str, str]:
    """*url* as a map from the names of its components to their values, as KDD'08 reads URLs.

    If a parameter comes twice, the second one is named ``?name#2``. A parameter without ``=`` has the value NUL, which no
    URL contains.
    """
    parts = parts_of(url)
    keys = {"scheme": parts.scheme or "", "host": parts.host or ""}
    for number, segment in enumerate(parts.path.split("/")[1:]):
        keys[f"p{number}"] = segment
    for name, value in parameters_of(parts.query or ""):
        keys[_free_name(keys, "?" + name)] = "\0" if value is None else value
    if parts.fragment is not None:
        keys["fragment"] = parts.fragment
    return keys


def _free_name(keys: Components, name: str) -> str:
    """The first of *name*, ``name#2``, ``name#3``… that is no key yet."""
    if name not in keys:
        return name
    number = 2
    while f"{name}#{number}" in keys:
        number += 1
    return f"{name}#{number}"


def url_of(keys: Components) -> str:
    """The URL with these components. Parameters are sorted by name, since a map has no order."""
    segments = sorted((int(key[1:]), value) for key, value in keys.items() if _is_segment(key))
    query = [
        (key[1:].partition("#")[0], None if value == "\0" else value)
        for key, value in sorted(keys.items())
        if key[0] == "?"
    ]
    return str(
        Parts(
            keys.get("scheme", ""),
            keys.get("host", ""),
            "".join("/" + value for _, value in segments),
            query_of(query) if query else None,
            keys.get("fragment"),
        )
    )


def _is_segment(key: str) -> bool:
    return key[0] == "p" and key[1:].isdecimal()
