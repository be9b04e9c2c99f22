"""What a crawl log says of one request: the interchange format's fields, and a few of our own.

What is not known is left out. Ours are ``sketch_version``, ``minhash``, ``words``, ``language``, ``error`` and
whatever more the caller knows: ``wire_size`` in bytes, ``latency`` in seconds, ``flags``,
``rendered``, ``duplicate_of``, ``duplicate_by``, ``referrer``, ``no_vary_search``.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scrapy_dust.text import SKETCH_VERSION

if TYPE_CHECKING:
    from scrapy_dust.text.sketch import PageText

Record = dict[str, object]


def record_of_page(
    url: str, status: int, text: PageText, *, size: int, fetched_at: datetime, **more: object
) -> Record:
    """An answer with a body, an error's too."""
    return record_of_answer(url, status, size=size, fetched_at=fetched_at, **more) | said_of(text)


def record_of_answer(url: str, status: int, *, size: int, fetched_at: datetime, **more: object) -> Record:
    """The same before its body is described."""
    return _known({"url": url, "status": status, "size": size, "fetched_at": _time(fetched_at)}, more)


def said_of(text: PageText) -> Record:
    """What the body of an answer says."""
    # numpy, which a crawl need not load whose pages are described beside it
    from scrapy_dust.text.minhash import to_text  # noqa: PLC0415

    return _known(
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
        {},
    )


def record_of_redirect(
    url: str, status: int, redirect_to: str, *, fetched_at: datetime, **more: object
) -> Record:
    """An answer that sends to *redirect_to*, an absolute URL."""
    return _known(
        {"url": url, "status": status, "redirect_to": redirect_to, "fetched_at": _time(fetched_at)}, more
    )


def record_of_copy(url: str, status: int, keeper: str, by: str, *, fetched_at: datetime) -> Record:
    """The page at *url* was found to be a copy of *keeper*'s; the answer itself has a record of its own."""
    return {
        "url": url,
        "status": status,
        "duplicate_of": keeper,
        "duplicate_by": by,
        "fetched_at": _time(fetched_at),
    }


def record_of_failure(url: str, error: str, *, fetched_at: datetime, **more: object) -> Record:
    """No answer came; *error* names what came instead."""
    return _known({"url": url, "error": error or "unknown", "fetched_at": _time(fetched_at)}, more)


def _known(record: Record, more: Record) -> Record:
    # Most are true, which is quicker to see.
    return {name: v for name, v in (record | more).items() if v or v not in (None, "", [], ())}


def _time(moment: datetime) -> str:
    in_utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return f"{in_utc.isoformat(timespec='milliseconds')[:-6]}Z"
