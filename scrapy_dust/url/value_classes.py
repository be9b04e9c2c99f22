"""Classes of values: what kind of text stands in a place of a URL."""

from __future__ import annotations

import re
from functools import lru_cache

#: Letters and digits in turn: `article12` is no id, nor is `20th`.
MIXED_ID = re.compile(r"(?=[A-Za-z0-9]{8})(?:[A-Za-z]+[0-9]+[A-Za-z]|[0-9]+[A-Za-z]+[0-9])[A-Za-z0-9]*")
_IN_HEXADECIMAL = re.compile(r"(?=[0-9]*[A-Fa-f])(?=[A-Fa-f]*[0-9])[0-9A-Fa-f]{6,}")
_ALPHANUMERIC = re.compile(r"[A-Za-z0-9]+")
_CLOCK = re.compile(r"=[0-9]{9,}")

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


def value_class(value: str | None) -> str:
    """The kind of text that *value* is, such as digits, a date or a word; the first one that fits, narrow ones first."""
    if value is None:
        return "none"
    return next((name for name, pattern in _CLASSES if pattern.fullmatch(value)), "text")


def is_id(value: str) -> bool:
    """Whether *value* is an id that a machine made for one thing, and that tells a person nothing."""
    return value_class(value) in ("uuid", "hex")


@lru_cache(maxsize=4096)
def has_id(part: str) -> bool:
    """Whether *part* of a path, or the value of a parameter, contains an id, such as `(S(4f2a90b1c3))`."""
    return any(
        MIXED_ID.fullmatch(run) or _IN_HEXADECIMAL.fullmatch(run) for run in _ALPHANUMERIC.findall(part)
    )


def may_be_token(part: str) -> bool:
    """Whether *part* of a URL, a segment or a parameter, may be made for one answer: it contains an id or a time."""
    return has_id(part) or _CLOCK.search(part) is not None


#: Ids are not cut shorter: two ids may have fewer characters in common by accident.
SHORTEST_ID = 6
_HEXADECIMAL = re.compile(r"(?=.*[0-9])(?=.*[a-fA-F])[0-9a-fA-F]{7,}")


def shortened(value: str, length: int) -> str:
    """The first *length* characters of a hexadecimal id; any other value as it is."""
    return value[:length] if len(value) > length and _HEXADECIMAL.fullmatch(value) else value


def is_cut(value: str, short: str) -> bool:
    """Whether *short* is the hexadecimal id *value* cut to its first characters."""
    return len(short) >= SHORTEST_ID and value != short and shortened(value, len(short)) == short


def check_length(what: str, length: int) -> None:
    """Raise `ValueError` if *length* characters are too few to tell ids apart; the message names *what* has this
    length.
    """
    if length < SHORTEST_ID:
        raise ValueError(f"'length' of {what!r} must be {SHORTEST_ID} at least, got {length}")
