"""Turns one record of a log, from JSON or CSV, into a `Visit`, or says why it is none.

All values are checked here: types, possible sizes, possible statuses. Numbers may come as strings, as in CSV; an
empty string counts as missing, like None; unknown fields are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

from scrapy_dust.page import UNITS_VERSION
from scrapy_dust.page.places import PACKED
from scrapy_dust.visits.pages import NOTHING_TAKEN, PackedUnits, Visit

#: A longer list is no sketch, and would make those of all pages as wide.
MAX_SKETCH = 1024
_LARGEST = 2**63 - 1
_TEXTS = (
    "digest text_digest simhash title content_type redirect_to canonical fetched_at rendered duplicate_of no_vary_search"
).split()
_TEXT_TYPES = frozenset({str, type(None)})

#: Values by themselves.
Known = dict[Any, Any]


class Unreadable(Exception):
    """A line that is no record, with the reason."""


def visit_of(record: Mapping[str, Any], known: Known | None = None) -> Visit:
    """The visit that *record* describes. Raises `Unreadable`.

    *known*: values of other records, to which those of this one are added, so that equal values are in memory once.
    """
    known = {} if known is None else known
    url = record.get("url")
    if not isinstance(url, str) or not url or url.isspace():
        raise Unreadable("no 'url'" if url is None else f"'url' is {_quoted(url)}, not a URL")
    status = _whole_number(record, "status")
    if status is not None and status > 999:
        raise Unreadable(f"'status' is {status}, not an HTTP status")
    # A log has a million lines: all texts are checked at once, and looked at one by one only if one is none.
    texts = tuple(map(record.get, _TEXTS))
    if not _TEXT_TYPES.issuperset(map(type, texts)):
        raise Unreadable(_error_of_text(texts))
    (
        digest,
        text_digest,
        simhash,
        title,
        content_type,
        redirect_to,
        canonical,
        fetched_at,
        rendered,
        keeper,
        no_vary_search,
    ) = texts
    size, sketch, units = _size_range(record), _sketch(record), _known_units(_units(record, "units"), known)
    return Visit(
        url=url,
        status=status,
        size=known.setdefault(size, size),
        sketch=known.setdefault(sketch, sketch),
        digest=digest or None,
        text_digest=known.setdefault(text_digest, text_digest) or None,
        simhash=simhash or None,
        title=title or None,
        content_type=known.setdefault(content_type, content_type) or None,
        redirect_to=_absolute_url(url, redirect_to) if redirect_to else None,
        canonical=_absolute_url(url, canonical) if canonical else None,
        outlinks=_whole_number(record, "outlinks"),
        fetched_at=fetched_at or None,
        failed=status is None and bool(record.get("error")),
        rendered=rendered or None,
        duplicate_of=keeper or None,
        no_vary_search=no_vary_search or None,
        units=units,
        taken=NOTHING_TAKEN if record.get("nothing_taken") else _units(record, "taken"),
        items=_units(record, "items"),
    )


def _known_units(units: PackedUnits | None, known: Known) -> PackedUnits | None:
    """The one object that stands for all *units* equal to these, found by their total: a hash of all takes longer."""
    if units is None:
        return None
    same: PackedUnits = known.setdefault(units.total, units)
    return same if same.content == units.content and same.whole == units.whole else units


def _units(record: Mapping[str, Any], name: str) -> PackedUnits | None:
    """The units (what a spider may take from a page) in the field *name*; None if there are none, or another version
    made them.
    """
    content = record.get(name)
    if content is None or content == "" or _whole_number(record, "units_version") != UNITS_VERSION:
        return None
    total = str(record.get(f"{name}_total"))
    try:
        packed = PackedUnits(
            bytes(content, "ascii"), int(total, 16), whole=not _boolean_field(record, f"{name}_partial")
        )
    except (TypeError, ValueError):
        packed = None
    if packed is None or not PACKED.fullmatch(packed.content):
        raise Unreadable(
            f"{name!r} is {_quoted(content)}, no units, or {f'{name}_total'!r} no hexadecimal digits"
        )
    return packed


def _boolean_field(record: Mapping[str, object], name: str) -> bool:
    return str(record.get(name)).lower() in {"true", "1"}


def version_of(record: Mapping[str, Any]) -> int | None:
    """The version of the record's sketch; None where the record does not say it. Raises `Unreadable`."""
    return _whole_number(record, "sketch_version")


def _error_of_text(texts: Sequence[object]) -> str:
    """The message about the first of the fields of text whose value is no text. *texts*: the values of all."""
    name, value = next(pair for pair in zip(_TEXTS, texts, strict=True) if type(pair[1]) not in _TEXT_TYPES)
    return f"{name!r} is {_quoted(value)}, not a string"


def _whole_number(record: Mapping[str, object], name: str) -> int | None:
    """The integer in the field *name*; None where the field is missing or empty. Raises `Unreadable`."""
    value = record.get(name)
    if type(value) is int and 0 <= value <= _LARGEST:
        return value
    if value is None or value == "":
        return None
    return _number(value, name)


def _number(value: object, name: str) -> int:
    """The integer in *value*: a number, a string, or the float of a column with gaps. Raises `Unreadable`, which names
    the field *name*.
    """
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        try:
            number = float(value) if "." in str(value) else int(value)
            if 0 <= number <= _LARGEST and number == int(number):
                return int(number)
        except (ValueError, OverflowError):
            pass
    raise Unreadable(f"{name!r} is {_quoted(value)}, not a whole number")


def _size_range(record: Mapping[str, object]) -> tuple[int, int] | None:
    """The least and the greatest size that *record* gives its answer; None where it gives none. Raises `Unreadable`."""
    value = record.get("size")
    if type(value) is int and 0 <= value <= _LARGEST:
        return value, value
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _parse_list("size", value)
    if isinstance(value, list):
        if len(value) == 2:
            least, most = (_number(part, "size") for part in value)
            if least <= most:
                return least, most
        raise Unreadable(f"'size' is {_quoted(value)}, neither bytes nor [min, max]")
    if value is None or value == "":
        return None
    size = _number(value, "size")
    return size, size


def _sketch(record: Mapping[str, object]) -> tuple[int, ...] | None:
    """The sketch in *record*; None where it has none. Raises `Unreadable`."""
    value = record.get("sketch")
    if value is None or value == "":
        return None
    if isinstance(value, str):
        value = _parse_list("sketch", value)
    if not isinstance(value, list) or not set(map(type, value)) <= {int}:
        raise Unreadable(f"'sketch' is {_quoted(value)}, not a list of integers")
    if len(value) > MAX_SKETCH:
        raise Unreadable(f"'sketch' has {len(value)} hashes, more than {MAX_SKETCH}")
    return tuple(value) or None


def _parse_list(name: str, cell: str) -> list[object]:
    """The list in a cell: JSON, or numbers between spaces."""
    try:
        if cell.lstrip().startswith("["):
            found = json.loads(cell)
            return found if isinstance(found, list) else [found]
        return [int(part) for part in cell.split()]
    except (ValueError, RecursionError):
        raise Unreadable(f"{name!r} is {_quoted(cell)}, not a list of integers") from None


def _absolute_url(url: str, target: str) -> str | None:
    """The absolute URL that *target*, a ``Location`` header in the answer to *url*, means."""
    if "://" in target:
        return target
    try:
        return urljoin(url, target)
    except ValueError:
        return None


def _quoted(value: object) -> str:
    """*value* as a message shows it: as a literal of at most 60 characters."""
    said = repr(value[:40] if isinstance(value, (str, list)) else value)
    return said if len(said) <= 60 else said[:57] + "…"
