"""The records of a crawl log that one answer makes, or one request that got no answer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import urldefrag, urljoin

from scrapy import Request
from scrapy.http import Response, TextResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.python import global_object_name
from w3lib.url import safe_url_string

from scrapy_dust.crawl.requests import TRIAL, Renderer, canary_of, is_rendered, rendered_by, target_url
from scrapy_dust.crawl_log import records
from scrapy_dust.crawl_log.recording import Body
from scrapy_dust.page.item_values import ItemValues
from scrapy_dust.page.taking import Taken

Record = dict[str, object]
#: A record for the crawl log, and the body that is to be described in it.
Recorded = tuple[Record, Body | None]

#: In a request's meta: the URL under which the content of its page was seen first, and how it was known.
DUPLICATE_OF, DUPLICATE_BY = "dust_duplicate_of", "dust_duplicate_by"
#: Bytes of a header that a log keeps with each answer.
_LONGEST_HEADER = 1000
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


def yield_nothing(response: Response, **_: object) -> tuple[()]:
    """The callback of a page that is dropped as a copy: it yields nothing."""
    return ()


def is_recorded(request: Request) -> bool:
    """Whether the answer to *request* is recorded. Not for robots.txt, media, posted forms, nor HEAD.

    Answers to HEAD have no content, so all of them would count as one page.
    """
    return (
        (request.method == "GET" or is_rendered(request))
        and request.callback is not NO_CALLBACK
        and not request.meta.get(TRIAL)
        and request.url.startswith(("http://", "https://"))
    )


def is_redirect(response: Response) -> bool:
    """Whether *response* redirects to another URL."""
    return response.status in _REDIRECTS and "Location" in response.headers


def records_of_failure(request: Request, error: Exception) -> Iterator[Recorded]:
    """The record of *request*, which ended with *error* and without an answer."""
    name = global_object_name(type(error))
    rendered = rendered_by(request)
    url, marks = _requested_url(request, rendered), _fields_of_request(request, rendered)
    yield records.record_of_failure(url, name, fetched_at=datetime.now(UTC), **marks), None


def records_of_redirect(request: Request, response: Response) -> Iterator[Recorded]:
    """The record of a redirect."""
    location = urljoin(request.url, safe_url_string(response.headers["Location"] or b""))
    url, marks, now = urldefrag(request.url).url, _fields_of_request(request, None), datetime.now(UTC)
    yield records.record_of_redirect(url, response.status, location, fetched_at=now, **marks), None


def records_of_page(request: Request, response: Response, wire_size: int | None) -> Iterator[Recorded]:
    """The record of a page, or of an error's page; before it, records of the redirects that a browser followed."""
    meta, flags = request.meta, response.flags
    cached, fetched_at = "cached" in flags, _fetched_at(request)
    rendered = _renderer(request, response)
    asked, marks = _requested_url(request, rendered), _fields_of_request(request, rendered)
    url, body = page_url(request, response), body_of(request, response)
    # Out of the HTTP cache, where URLs of one class share an entry, it is simply the other URL's page.
    if url != asked and not cached:
        yield records.record_of_redirect(asked, 302, response.url, fetched_at=fetched_at, **marks), None
    latency = meta.get("download_latency")
    record = records.record_of_answer(
        url,
        response.status,
        size=len(body.content),
        fetched_at=fetched_at,
        content_type=body.content_type,
        wire_size=wire_size,
        latency=None if latency is None or cached else round(latency, 4),
        no_vary_search=_no_vary_search(response),
        flags=[*flags],
        **marks,
    )
    yield record, body


def _no_vary_search(response: Response) -> str | None:
    """The ``No-Vary-Search`` header: which parameters the server says do not matter."""
    if b"No-Vary-Search" not in response.headers:
        return None
    said = b", ".join(response.headers.getlist(b"No-Vary-Search"))
    return said.decode("latin-1") if len(said) <= _LONGEST_HEADER else None


def records_of_copy(request: Request, response: Response, keeper: str, by: str) -> Iterator[Recorded]:
    """A second record of a page: it names the page of which *response* is a copy, and the signature that was equal."""
    url, fetched_at = page_url(request, response), _fetched_at(request)
    yield records.record_of_copy(url, response.status, keeper, by, fetched_at=fetched_at), None


def records_of_taken(request: Request, response: Response, taken: Taken | None) -> Iterator[Recorded]:
    """A second record of a page: the items and requests that the callback took; None for *taken*: the callback failed."""
    url, nothing = page_url(request, response), None
    if taken is None:
        nothing = "failed"
    elif not taken.units:
        nothing = "dropped" if DUPLICATE_OF in request.meta else "nothing"
    said = {} if taken is None or nothing else {"units": taken.units, "names": list(taken.names.items())}
    record = records.record_of_taken(url, response.status, said, nothing, fetched_at=_fetched_at(request))
    yield record, None


def records_of_items(request: Request, response: Response, values: ItemValues) -> Iterator[Recorded]:
    """A second record of a page: the values of the items that the callback took."""
    said: Record = {"units": values.units, "names": list(values.names.items())}
    yield records.record_of_items(page_url(request, response), said), None


def page_url(request: Request, response: Response) -> str:
    """The URL of the page that came: where a browser followed redirects, not the URL of the request."""
    rendered, url = _renderer(request, response), response.url
    asked = _requested_url(request, rendered)
    if url == asked or urldefrag(url).url == urldefrag(asked).url:
        return asked
    return url if rendered else urldefrag(url).url


def body_of(request: Request, response: Response) -> Body:
    """The body of *response*, and its content type, encoding and URL, which describing the body needs."""
    rendered = _renderer(request, response)
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    # A renderer has decoded the page, and says how it encoded the result. With any other response Scrapy would
    # guess where nothing is declared: slowly, and with two copies of a page not always alike.
    encoding = response.encoding if rendered and isinstance(response, TextResponse) else None
    return Body(response.body, content_type, encoding)


def _renderer(request: Request, response: Response) -> Renderer | None:
    """The browser that rendered the page; None if no browser did."""
    rendered = rendered_by(request)
    if rendered == "playwright" and "cached" not in response.flags and rendered not in response.flags:
        return None  # its download handler is not installed
    return rendered


def _requested_url(request: Request, rendered: Renderer | None) -> str:
    """The URL whose page *request* asks for. The fragment stays only where a page's scripts may read it."""
    url = target_url(request)
    return url if rendered or "#" not in url else urldefrag(url).url


def _fields_of_request(request: Request, rendered: Renderer | None) -> Record:
    """The fields of a record that say how the page was asked for: the browser that rendered the page, and whether the request was
    a canary.
    """
    return {"rendered": rendered, "canary": canary_of(request) is not None or None}


def _fetched_at(request: Request) -> datetime:
    """The time of the answer to *request*; of a cached answer, the time when the cache stored it."""
    cached_at = request.meta.get("cache_timestamp")
    return datetime.now(UTC) if cached_at is None else datetime.fromtimestamp(cached_at, UTC)
