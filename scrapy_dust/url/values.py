"""Classes of values: what kind of text stands in a place of a URL."""

from __future__ import annotations

import re

_CLASSES = (
    ("empty", re.compile(r"")),
    ("digits", re.compile(r"[0-9]+")),
    ("uuid", re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")),
    ("date", re.compile(r"(?:19|20)[0-9]{2}-?[01][0-9]-?[0-3][0-9](?:T.*)?")),
    ("hex", re.compile(r"(?=.*[0-9])[0-9a-fA-F]{6,}")),
    ("word", re.compile(r"[A-Za-z]+")),
    ("name", re.compile(r"[A-Za-z0-9_]+")),
    ("slug", re.compile(r"[\w.~-]+")),
    ("path", re.compile(r"[!/].*", re.DOTALL)),
)


def class_of(value: str | None) -> str:
    """The class of *value*: the first class that fits, the narrow classes first."""
    if value is None:
        return "none"
    return next((name for name, pattern in _CLASSES if pattern.fullmatch(value)), "text")


def is_id(value: str) -> bool:
    """Whether *value* is an id that a machine made for one thing, and that tells a person nothing."""
    return class_of(value) in ("uuid", "hex")
