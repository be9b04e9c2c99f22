"""The spider that fetches what trials ask for, with the project's own settings and manners.

Its requests bypass our own canonizing and every cache: a validation answered from a cache that is keyed by
what it is to prove would prove anything. A host's first request goes alone: Scrapy lets requests past a
robots.txt that is still being fetched.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from scrapy_dust.dust.judging import Fetched
from scrapy_dust.text.sketch import describe
from scrapy_dust.trials.site_trials import SiteTrials

#: What marks a request as ours: not canonized, not cached, not recorded in the crawl log.
TRIAL_META = {"dust": False, "dont_cache": True, "dust_trial": True}


class TrialSpider(Spider):
    """Runs until every site's trials are finished or the budget is spent."""

    name = "dust-trials"

    def __init__(
        self,
        trials: Sequence[SiteTrials],
        budget: int,
        on_progress: Callable[[TrialSpider], None],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.trials, self.budget = trials, budget
        self.fetches = 0
        self._on_progress = on_progress
        self._open: set[str] = set()  # hosts whose first request was answered
        self._held: dict[str, list[Request]] = {}  # host → what waits for its first answer

    async def start(self) -> AsyncIterator[Request]:
        # Sites take turns, so that none spends the budget of the others.
        asking = [(site, self._requests(site, site.wanted())) for site in self.trials]
        while asking:
            for site, requests in list(asking):
                request = next(requests, None)
                if request is None:
                    asking.remove((site, requests))
                else:
                    yield request

    def _requests(self, site: SiteTrials, urls: Iterable[str]) -> Iterator[Request]:
        """Requests for *urls*, as far as the budget and a host's opening allow."""
        for url in urls:
            if self.fetches >= self.budget:
                return
            self.fetches += 1
            request = Request(
                url,
                callback=self.answered,
                errback=self.failed,
                dont_filter=True,
                meta=dict(TRIAL_META),
                cb_kwargs={"site": site, "asked": url},
            )
            host = urlsplit(url).netloc
            if host in self._held:
                self._held[host].append(request)
                continue
            if host not in self._open:
                self._held[host] = []
            yield request

    def answered(self, response: Response, site: SiteTrials, asked: str) -> Iterator[Request]:
        return self._go_on(site, fetched(response, asked))

    def failed(self, failure: Failure) -> Iterator[Request]:
        request: Request = failure.request  # type: ignore[attr-defined]
        asked = request.cb_kwargs["asked"]
        error = failure.value
        if isinstance(error, HttpError):
            page = Fetched(asked, error.response.url, error.response.status)
        else:
            page = Fetched(asked, asked, None)
        return self._go_on(request.cb_kwargs["site"], page)

    def _go_on(self, site: SiteTrials, page: Fetched) -> Iterator[Request]:
        host = urlsplit(page.url).netloc
        self._open.add(host)
        yield from self._held.pop(host, ())
        yield from self._requests(site, site.answer(page))
        yield from self._requests(site, site.wanted())
        self._on_progress(self)


def fetched(response: Response, asked: str) -> Fetched:
    """The answer, as far as it matters for a judgement."""
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    page = describe(response.body, content_type, None, response.url)
    return Fetched(asked, response.url, response.status, page.text_digest, page.title, page.shingles)
