"""Finds the HTTP methods of the answers in a web archive. The method stands in the request's record, beside the
answer's record.

``WARC-Concurrent-To`` of one of the two names the other; if neither has it, the two stand next to each other and are
about the same URL. Some programs write the request first, others the answer. In an archive without requests, all
answers count as answers to GET.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from scrapy_dust.crawl_log.format_readers import Numbered, Outcome
from scrapy_dust.crawl_log.sources import CutShort

Headers = Mapping[str, str]  #: names in lower case


class Method(str):
    """The method that one request record names."""

    __slots__ = ()


#: So many records an answer waits for its request, and a request for its answer.
_NEAR = 16
Asked = tuple[int, Headers, Method]
Answered = tuple[int, Headers, Outcome]


def only_of_gets(records: Iterable[tuple[int, Headers, Outcome | Method]]) -> Iterator[Numbered]:
    """The outcomes in their order, with None in the place of request records, and of answers to requests
    other than GET.

    Raises `CutShort` as *records* do, after what came before.
    """
    requests: deque[Asked] = deque(maxlen=2 * _NEAR)
    waiting: deque[Answered] = deque()
    cut = None
    try:
        for number, headers, outcome in records:
            if isinstance(outcome, Method):
                requests.append((number, headers, outcome))
            waiting.append((number, headers, None if isinstance(outcome, Method) else outcome))
            if len(waiting) > _NEAR:
                yield _outcome_if_get(waiting.popleft(), requests)
    except CutShort as broken:
        cut = broken
    for one in waiting:
        yield _outcome_if_get(one, requests)
    if cut is not None:
        raise cut


def _outcome_if_get(answer: Answered, requests: Iterable[Asked]) -> Numbered:
    """The *answer* with its outcome, or with None if one of *requests* says that its method was not GET."""
    number, headers, outcome = answer
    if isinstance(outcome, Mapping):
        method = next((asked[2] for asked in requests if _belong_together(asked, number, headers)), "GET")
        outcome = outcome if method.upper() == "GET" else None
    return number, outcome


def _belong_together(asked: Asked, number: int, answer: Headers) -> bool:
    """Whether the request record *asked* is that of the *answer* record, which has this *number* in the archive."""
    place, request, _ = asked
    ours, theirs = answer.get("warc-record-id"), request.get("warc-record-id")
    named, naming = answer.get("warc-concurrent-to"), request.get("warc-concurrent-to")
    if named or naming:
        return (named is not None and named == theirs) or (naming is not None and naming == ours)
    return abs(place - number) == 1 and request.get("warc-target-uri") == answer.get("warc-target-uri")
