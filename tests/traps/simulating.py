"""Crawls of generated sites without an engine: the scheduler, the dupefilter and what tells traps are real, the rest is a loop.

It takes a tenth of the time of a crawl, so that thousands of pages can be asked for.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from typing import Any

from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import HtmlResponse
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.test import get_crawler

from scrapy_dust.crawl.trapping import Trapping
from tests.traps.crawling import OURS, Crawled, Shopper
from tests.traps.sites import HOST, Site

#: The other queue asks the downloader how busy each host is.
QUEUE = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}
#: Requests that are fetched at a time.
AT_A_TIME = 8

_ITEM = re.compile(r'<h1 class="item">([^<]*)</h1>')
_LINK = re.compile(r'<a href="([^"]*)"')


class _Engine:
    """What asks for requests beside callbacks."""

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler

    def crawl(self, request: Request) -> None:
        self._scheduler.enqueue_request(request)


def simulate(site: Site, folder: Any, pages: int, **settings: Any) -> Crawled:
    """Up to so many *pages*; with us where *folder* is given, our folder of state."""
    ours = {} if folder is None else {**OURS, "DUST_DIR": str(folder)}
    crawled = Crawled()
    crawled.crawler = crawler = get_crawler(
        Shopper, {"DUST_LOG_ENABLED": False, "TWISTED_REACTOR_ENABLED": False, **QUEUE, **ours, **settings}
    )
    crawler.spider = Shopper.from_crawler(crawler, site=site, crawled=crawled)
    crawler.crawling = True
    scheduler = build_from_crawler(load_object(crawler.settings["SCHEDULER"]), crawler)
    crawler.engine = _Engine(scheduler)
    scheduler.open(crawler.spider)
    trapping: Trapping | None = getattr(scheduler, "trapping", None)
    scheduler.enqueue_request(Request(f"{HOST}/", dont_filter=True))
    _loop(site, scheduler, trapping, crawled, pages)
    closed = crawler.signals.send_catch_log_async(
        signals.spider_closed, spider=crawler.spider, reason="finished"
    )
    asyncio.run(closed)
    scheduler.close("finished")
    crawled.stats = crawler.stats.get_stats()
    return crawled


def _loop(site: Site, scheduler: Any, trapping: Trapping | None, crawled: Crawled, pages: int) -> None:
    fetching: deque[Request] = deque()
    while len(crawled.pages) < pages:
        while len(fetching) < AT_A_TIME and (request := scheduler.next_request()) is not None:
            fetching.append(request)
        if fetching:
            _fetch(site, fetching.popleft(), scheduler, trapping, crawled)
        elif not _goes_on(crawled):
            return


def _goes_on(crawled: Crawled) -> bool:
    assert crawled.crawler is not None
    said = crawled.crawler.signals.send_catch_log(
        signals.spider_idle, spider=crawled.crawler.spider, dont_log=DontCloseSpider
    )
    return any("DontCloseSpider" in repr(getattr(one, "value", one)) for _, one in said)


def _fetch(site: Site, request: Request, scheduler: Any, trapping: Trapping | None, crawled: Crawled) -> None:
    body = site.answer(request.url)
    status = 200 if body is not None else 404
    response = HtmlResponse(
        request.url, status, {"Content-Type": "text/html"}, (body or "").encode(), request=request
    )
    assert crawled.crawler is not None
    crawled.crawler.signals.send_catch_log(
        signals.response_received, response=response, request=request, spider=crawled.crawler.spider
    )
    if body is None:
        return
    crawled.pages.append(request.url)
    page = None if trapping is None else trapping.begins(response)
    for one in _made(body, request.url, crawled):
        if page is not None and trapping is not None:
            trapping.yielded(page, one)
        if isinstance(one, Request):
            scheduler.enqueue_request(one)
    if page is not None and trapping is not None:
        trapping.done(page, response)


def _made(body: str, url: str, crawled: Crawled) -> Any:
    for item in _ITEM.findall(body):
        crawled.items.setdefault(item, len(crawled.pages))
        yield {"name": item, "url": url}
    for link in _LINK.findall(body):
        yield Request(HOST + link.replace("&amp;", "&"))
