"""Follows what comes of each request, and what the spider makes of each answer.

A class has its page when an answer with a page of its own has come to the callback and the callback has ended well.
Every other end brings no page: an error, an exception, an answer that a middleware drops, an answer without content
or with a part of it, a callback that raises. Then the next URL of the class is fetched (`succession`). A request that leaves
no trace at all is noticed when the spider is idle.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DontCloseSpider, IgnoreRequest
from scrapy.http import Response
from xxhash import xxh3_128_digest

from scrapy_dust.crawl import life
from scrapy_dust.crawl.answer_records import DUPLICATE_OF
from scrapy_dust.crawl.components import listen
from scrapy_dust.crawl.outcome_middlewares import DustGivenMiddleware, DustOutcomeMiddleware
from scrapy_dust.crawl.requests import ASKED_BY, STANDS_FOR, is_rendered
from scrapy_dust.crawl.spider_answers import Answer, Callbacks, Doubt, Made, shows_page
from scrapy_dust.crawl.succession import Succession, classes_stood_for
from scrapy_dust.crawl.suspected_walls import Belief, NoItem, Walls
from scrapy_dust.sites import site_of

#: The most answers that wait for their requests to be judged. Of older answers, all requests count as new.
_UNJUDGED = 1000

#: A function that is called with each request whose page the spider has taken, and a doubt if the page brought nothing new.
Told = Callable[[Request, Doubt | None], None]


class Outcomes:
    """Follows the outcomes of the requests of one crawl. *name* gives the class of the page to which redirects led."""

    def __init__(self, crawler: Crawler, succession: Succession, name: Callable[[Request], bytes]) -> None:
        self._crawler, self.succession, self._name = crawler, succession, name
        #: Statuses of errors that may pass.
        self._passing = frozenset(map(int, crawler.settings.getlist("RETRY_HTTP_CODES")))
        self._sees_spider = False
        self.sees_items = False  #: whether items of callbacks are followed through the pipelines
        self.told: list[Told] = []
        #: Answers that are with the spider. An errback has none.
        self._given: WeakKeyDictionary[Response, Answer] = WeakKeyDictionary()
        #: Those of which requests are on their way to the dupefilter, by the number that these requests have in meta.
        self._unjudged: dict[int, Response] = {}
        self._count = 0  #: of such answers
        self.callbacks = Callbacks()
        self._walls = Walls()
        listen(crawler, self._spider_opened, self._response_received, self._request_dropped)
        listen(crawler, self._item_scraped, self._spider_idle)
        for lost in (signals.item_dropped, signals.item_error):
            crawler.signals.connect(self._item_lost, signal=lost)

    def request_judged(self, asked_by: int, *, is_new: bool) -> None:
        """Count one request of the answer with the number *asked_by* as let through (*is_new*), or filtered."""
        response = self._unjudged.get(asked_by)
        if response is not None and (answer := self._given.get(response)) is not None:
            answer.request_judged(is_new=is_new)
            self._decide_if_known(response, answer)

    def request_failed(self, request: Request, exception: Exception) -> None:
        """Let the classes of *request*, which ended in *exception*, fail, so that their next URLs are fetched."""
        if stands_for := classes_stood_for(request):
            busy = None if isinstance(exception, IgnoreRequest) else site_of(request.url)
            self.succession.conclude(stands_for, None, is_page=False, busy=busy)
            self.succession.fetch_due()

    def callback_begins(self, response: Response) -> None:
        """Begin to follow *response*, whose callback is about to be called."""
        self._given[response] = Answer(self.sees_items)

    def is_kept_back(self, response: Response) -> bool:
        """Whether a middleware kept *response* from the callback, so that it brought no page."""
        if response in self._given:
            return False
        if shows_page(response):  # else that is known since it came
            self.no_page(response)
        return True

    def callback_requested(self, response: Response, request: Request) -> None:
        """Count *request* among the requests that the callback for *response* has yielded."""
        answer, asker = self._given.get(response), response.request
        if answer is None or answer.has_more or asker is None:
            return
        if _asks_again(request, response):
            answer.asks_again = True
            if STANDS_FOR in asker.meta:
                request.meta[STANDS_FOR] = asker.meta[STANDS_FOR]
        else:
            answer.add_request(request)

    def _is_for_the_same(self, request: Request, asker: Request) -> bool:
        """Whether *request* can only bring the page that *asker* should have brought."""
        stands_for = classes_stood_for(asker)
        if not stands_for:
            return False
        try:
            return self._name(request) in dict(stands_for)
        except Exception:  # noqa: BLE001  Whatever the project's fingerprinter has against it, or the store.
            return False

    def callback_gave_item(self, response: Response) -> None:
        """Count an item that the callback for *response* has yielded, where the items' pipelines are not watched."""
        if (answer := self._given.get(response)) is not None:
            answer.has_more = answer.has_item = True

    def middlewares_passed(self, response: Response, one: object) -> None:
        """Wait for what becomes of *one*, an item or a request of *response* that all spider middlewares have let through."""
        answer = self._given.get(response)
        if answer is None:
            return
        if not isinstance(one, Request):
            answer.items += 1
        elif not (_asks_again(one, response) or answer.is_new or answer.has_more or answer.has_item):
            if not answer.number:
                self._count += 1
                answer.number = self._count
            # Some spiders yield one request twice, perhaps before it is judged for the first time.
            answer.unjudged += one.meta.get(ASKED_BY) != answer.number
            one.meta[ASKED_BY] = answer.number
            self._unjudged[answer.number] = response
            if len(self._unjudged) > _UNJUDGED:
                self._give_up_waiting(next(iter(self._unjudged)))

    def _give_up_waiting(self, number: int) -> None:
        """Wait no longer for the requests of the answer with this *number*: they count as new."""
        response = self._unjudged.pop(number, None)
        if response is not None and (answer := self._given.get(response)) is not None:
            answer.is_new = True
            self._decide_if_known(response, answer)

    def callback_ended(self, response: Response) -> None:
        """Decide about *response*, whose callback has ended without an exception, once its items and requests are judged."""
        if (answer := self._given.get(response)) is not None:
            answer.is_over = True
            self._decide_if_known(response, answer)

    def output_ended(self, response: Response) -> None:
        """Decide about *response*, whose output has passed all spider middlewares, once its items and requests are judged."""
        if (answer := self._given.get(response)) is not None:
            answer.is_through = True
            self._decide_if_known(response, answer)

    def callback_raised(self, response: Response, exception: Exception) -> None:
        """Decide about *response*, whose callback or a spider middleware has raised *exception*."""
        answer = self._given.pop(response, None)
        if answer is None:
            return
        self._unjudged.pop(answer.number, None)
        if not isinstance(exception, CloseSpider):
            self.no_page(response)
        elif answer.has_any or "partial" not in response.flags:
            self.page_taken(response, Made.NEW)
        # Else nobody knows what was missing: where the job goes on, the next URL has its turn.

    def _decide_if_known(self, response: Response, answer: Answer) -> None:
        """Decide about *response* if nothing more can change what the spider has made of it."""
        if not answer.is_known:
            return
        del self._given[response]
        self._unjudged.pop(answer.number, None)
        # Now that spider middlewares have seen them: a request's name is of what they have made of it.
        asker = response.request
        made = answer.best_made(lambda one: asker is None or not self._is_for_the_same(one, asker))
        if made is not None:
            self.page_taken(response, made)

    def page_taken(self, response: Response, made: Made) -> None:
        """Settle the classes of *response*, with which the spider is done, by the best that it has *made* of *response*."""
        request = response.request
        if request is None:
            return
        callback = self._callback_of(request)
        before = self.callbacks.note_best(callback, made)
        if made > Made.NOTHING and before is Made.NOTHING:
            self.succession.doubt(self._walls.classes_without_yield(callback))
        if made is Made.ITEM and before is not Made.ITEM:
            self.succession.doubt(self._walls.classes_without_yield(NoItem(callback)))
        makes_more = self.callbacks.has_made_more(callback, made)
        is_page = shows_page(response)
        if stands_for := classes_stood_for(request):
            landing = self._landing(request, response)
            belief = Belief.PAGE
            if is_page and DUPLICATE_OF not in request.meta:
                belief = self._believe(callback, response, stands_for[0][0], made)
            is_unsure = belief is Belief.UNSURE and makes_more and landing is None
            how = life.yielded_nothing if is_unsure else life.page_taken
            has_page = is_page and belief is not Belief.NONE
            self.succession.conclude(stands_for, landing, is_page=has_page, how=how)
            if landing is not None and belief is Belief.NONE:
                self.succession.note_no_landing(landing)
        if is_page and not makes_more:
            for told in self.told:
                told(request, None if made >= Made.NEW else (callback, made))
        self.succession.fetch_due()

    def _callback_of(self, request: Request) -> object:
        """The function that handles the answer to *request*, the same for each object of the spider."""
        function = request.callback
        if function is None and self._crawler.spider is not None:
            function = self._crawler.spider.parse
        return getattr(function, "__func__", function)

    def _believe(self, callback: object, response: Response, class_key: bytes, made: Made) -> Belief:
        """Whether *response* is believed to be a page, or a wall, after the callback has *made* so much of it."""
        if made < Made.NEW:
            return self._walls.note_nothing(callback if made is Made.NOTHING else NoItem(callback), class_key)
        answer = xxh3_128_digest(response.body)
        belief, doubted = self._walls.note_something(callback, answer, class_key, is_item=made is Made.ITEM)
        self.succession.doubt(doubted)
        return belief

    def no_page(self, response: Response) -> None:
        """Let the classes of *response* fail: it brought no page, or its callback raised an exception."""
        request = response.request
        if request is not None and (stands_for := classes_stood_for(request)):
            busy = site_of(response.url) if response.status in self._passing else None
            landing = self._landing(request, response)
            self.succession.conclude(stands_for, landing, is_page=False, busy=busy)
            self.succession.fetch_due()

    # -- what signals tell

    def _spider_opened(self) -> None:
        at_download = self._crawler.get_downloader_middleware(DustOutcomeMiddleware)
        at_spider = self._crawler.get_spider_middleware(DustOutcomeMiddleware)
        for middleware in (at_download, at_spider):
            if middleware is not None:
                middleware.outcomes = self
        self._sees_spider = at_spider is not None
        outermost = self._crawler.get_spider_middleware(DustGivenMiddleware)
        if outermost is not None:
            outermost.outcomes = self
        self.sees_items = outermost is not None

    def _response_received(self, response: Response, request: Request) -> None:
        for of, _ in classes_stood_for(request):
            self.succession.fetching.class_answered(of)
        if not shows_page(response):
            self.no_page(response)
            return
        self.succession.site_showed_page(response.url)
        if not self._sees_spider:
            self.page_taken(response, Made.NEW)

    def _request_dropped(self, request: Request) -> None:
        if ASKED_BY in request.meta:  # nobody has asked the dupefilter
            self.request_judged(request.meta.pop(ASKED_BY), is_new=False)

    def _item_scraped(self, response: object) -> None:
        self._note_item(response, is_lost=False)

    def _item_lost(self, response: object) -> None:
        self._note_item(response, is_lost=True)

    def _note_item(self, response: object, *, is_lost: bool) -> None:
        """Count an item of *response* that has left the pipelines, and decide about *response* if it was the last."""
        if isinstance(response, Response) and (answer := self._given.get(response)) is not None:
            answer.item_ended(is_lost=is_lost)
            self._decide_if_known(response, answer)

    def _spider_idle(self) -> None:
        for number in list(self._unjudged):
            self._give_up_waiting(number)
        if self.succession.spider_idle():
            raise DontCloseSpider

    def _landing(self, request: Request, response: Response) -> bytes | None:
        """The class of the page to which redirects led, Scrapy's or a browser's; None if there was no redirect."""
        if response.url != request.url and not is_rendered(request):
            with suppress(TypeError, ValueError):  # a subclass of Request that wants more, a URL that is none
                return self._name(request.replace(url=response.url))
        return self._name(request) if request.meta.get("redirect_urls") else None


def _asks_again(request: Request, response: Response) -> bool:
    """Whether *request*, which the callback for *response* has yielded, asks for the same URL once more."""
    return request.dont_filter and request.url == response.url
