"""Records of a crawl log: the fields of the interchange format, and some of our own.

What is not known is left out. Ours are ``sketch_version``, ``minhash``, ``words``, ``language``, ``units`` with
``units_total``, ``units_partial`` and ``units_version``, ``places``, ``error`` and whatever more the caller knows: ``wire_size`` in bytes, ``latency`` in seconds, ``flags``,
``rendered``, ``duplicate_of``, ``duplicate_by``, ``taken`` with ``taken_total`` and ``taken_partial``, ``nothing_taken``, ``items`` with
``items_total`` and ``items_partial``, ``referrer``, ``no_vary_search``.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scrapy_dust.crawl_log.place_names import Naming
from scrapy_dust.page import SKETCH_VERSION, UNITS_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_dust.page.sketch import PageText
    from scrapy_dust.page.units import Units

Record = dict[str, object]

#: The fields with what a callback took from a page: items and requests as units, or values of items alone.
TAKEN, ITEMS = "taken", "items"


def record_of_page(
    url: str, status: int, text: PageText, *, size: int, fetched_at: datetime, **more: object
) -> Record:
    """The record of an answer with a body, also of an error."""
    return record_of_answer(url, status, size=size, fetched_at=fetched_at, **more) | fields_of(text, Naming())


def record_of_answer(url: str, status: int, *, size: int, fetched_at: datetime, **more: object) -> Record:
    """The record of an answer, before its body is described."""
    return _without_unknown(
        {"url": url, "status": status, "size": size, "fetched_at": _utc_time(fetched_at)}, more
    )


def fields_of(text: PageText, naming: Naming) -> Record:
    """The fields that describe the body of an answer. *naming*: the names that the log file has written already."""
    # numpy, which a crawl need not load whose pages are described beside it
    from scrapy_dust.page.minhash import to_text  # noqa: PLC0415

    return _without_unknown(
        {
            "sketch": list(text.sketch),
            "sketch_version": SKETCH_VERSION,
            "digest": text.digest,
            "text_digest": text.text_digest,
            "simhash": text.simhash,
            "minhash": to_text(text.minhash),
            "title": text.title,
            "canonical": text.canonical,
            "outlinks": text.outlinks,
            "words": text.words,
            "language": text.language,
        },
        {} if text.units is None else _unit_fields(text.units, naming.new_names(text.names)),
    )


def _unit_fields(units: Units, places: str, most: int | None = None) -> Record:
    """The fields that hold *units*, at most *most* of them. *places*: the names of their places that the log does not
    have yet.
    """
    from scrapy_dust.page.units import MAX_LOGGED, pack  # noqa: PLC0415  As above.

    packed = pack(units, most or MAX_LOGGED)
    return {
        "units": packed.content.decode("ascii"),
        "units_total": f"{packed.total:016x}",
        "units_partial": not packed.whole or None,
        "units_version": UNITS_VERSION,
        "places": places,
    }


def record_of_redirect(
    url: str, status: int, redirect_to: str, *, fetched_at: datetime, **more: object
) -> Record:
    """The record of an answer that redirects to *redirect_to*, an absolute URL."""
    return _without_unknown(
        {"url": url, "status": status, "redirect_to": redirect_to, "fetched_at": _utc_time(fetched_at)}, more
    )


def record_of_copy(url: str, status: int, keeper: str, by: str, *, fetched_at: datetime) -> Record:
    """A record that the page at *url* is a copy of that of *keeper*. The answer has a record of its own."""
    return {
        "url": url,
        "status": status,
        "duplicate_of": keeper,
        "duplicate_by": by,
        "fetched_at": _utc_time(fetched_at),
    }


def record_of_taken(
    url: str, status: int, taken: Record, nothing: str | None, *, fetched_at: datetime
) -> Record:
    """A record of what a callback took from the page at *url*, or of the reason why it took nothing.

    The answer has a record of its own. *taken*: ``units``, each a place times 2**32 and a value, and ``names`` of the
    places, until `with_taken_packed`.
    """
    return _without_unknown(
        {"url": url, "status": status, "fetched_at": _utc_time(fetched_at)},
        {TAKEN: taken or None, "nothing_taken": nothing},
    )


def record_of_items(url: str, items: Record) -> Record:
    """A record of the values in the items that a callback took from the page at *url*. *items*: as in `record_of_taken`."""
    return {"url": url, ITEMS: items}


def with_taken_packed(record: Mapping[str, Any], naming: Naming) -> Record:
    """*record*, which `record_of_taken` or `record_of_items` made, as a log has it. *naming*: the names that the log has
    already.
    """
    from scrapy_dust.page.units import MAX_LOGGED, MAX_UNITS, units_of  # noqa: PLC0415  numpy, as above.

    field, most = (TAKEN, MAX_UNITS) if TAKEN in record else (ITEMS, MAX_LOGGED)
    taken = record[field]
    packed = _unit_fields(units_of(taken["units"]), naming.new_names(dict(taken["names"])), most)
    renamed = {
        name.replace("units", field) if name != "units_version" else name: v for name, v in packed.items()
    }
    return _without_unknown({name: value for name, value in record.items() if name != field}, renamed)


def record_of_failure(url: str, error: str, *, fetched_at: datetime, **more: object) -> Record:
    """The record of a request without an answer; *error* names the failure."""
    return _without_unknown(
        {"url": url, "error": error or "unknown", "fetched_at": _utc_time(fetched_at)}, more
    )


def _without_unknown(record: Record, more: Record) -> Record:
    """The fields of both, without those that are None or empty."""
    # Most are true, which is quicker to see.
    return {name: v for name, v in (record | more).items() if v or v not in (None, "", [], ())}


def _utc_time(moment: datetime) -> str:
    in_utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return f"{in_utc.isoformat(timespec='milliseconds')[:-6]}Z"
