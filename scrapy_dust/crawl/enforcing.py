"""Applies the rules in force to each request: fetch it, let it wait, or suppress it, as the tables in `life` say.

`DustDupeFilter` asks about each request and says whether the wrapped dupefilter has seen it. The store holds the
classes and the requests that wait; the meta of a request says for which classes the request stands.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from scrapy import Request
from scrapy.crawler import Crawler

from scrapy_dust.crawl import life
from scrapy_dust.crawl.canary_draw import Draw
from scrapy_dust.crawl.class_names import Meaning, Naming
from scrapy_dust.crawl.class_store import LocalStore
from scrapy_dust.crawl.life import Class, Fate, State
from scrapy_dust.crawl.proving import Proving
from scrapy_dust.crawl.request_outcomes import Outcomes
from scrapy_dust.crawl.requests import (
    CANARY,
    LINKED_BY,
    ORIGINAL_URL,
    STANDS_FOR,
    follows_rules,
    is_retry,
    redirect_chain,
    spider_request,
)
from scrapy_dust.crawl.returned_requests import Returning
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.crawl.succession import Succession, classes_stood_for
from scrapy_dust.crawl.suppressions import Suppressions
from scrapy_dust.stats import Stat


class Enforcing:
    """Applies the rules in force to the requests of one crawl."""

    def __init__(
        self,
        crawler: Crawler,
        rules: CrawlRules,
        naming: Naming,
        store: LocalStore,
        draw: Draw,
        *,
        lets_through_twice: bool,
    ) -> None:
        """*lets_through_twice*: the project's dupefilter may take two requests of one name for two."""
        self._lets_through_twice = lets_through_twice
        self._crawler, self._rules, self.naming, self._store = crawler, rules, naming, store
        self._traced, self._rules_of = rules.traced, rules.canonizer.rules
        self._sets_aside = bool(rules.left_alone or rules.set_aside)
        self._limits_depth = crawler.settings.getint("DEPTH_LIMIT") > 0
        self.returning = Returning(crawler)
        self.suppressions = Suppressions(crawler, rules, naming, store)
        self.proving = Proving(
            crawler, rules, naming, self.suppressions, self.returning, store, self._register_pages, draw
        )
        fetched = self.suppressions.note_fetched_after_all
        self.succession = Succession(
            crawler, store, self.returning, fetched, lets_through_twice=lets_through_twice
        )
        self.outcomes = Outcomes(crawler, self.succession, self._class_name)

    def site_of(self, request: Request) -> str | None:
        """The site whose rules apply to *request*; None if no rules do."""
        if not follows_rules(request):
            return None
        site = self._traced(request.url)[2]  # asked for soon, and remembered
        return site if site is not None and self._rules_of(site) else None

    def spider_request(self, request: Request) -> Request:
        """The request that the spider made: *request*, or the one in whose place *request* is fetched."""
        if ORIGINAL_URL not in request.meta:
            return request
        written = spider_request(request)
        # Meta is copied from request to request; only what has the same key can be meant.
        if written is None or self.naming.key(written) != self.naming.key(request):
            return request
        return written

    def suppresses(self, request: Request, site: str, *, is_itself: bool) -> bool:
        """Whether rules keep *request*, which the project's dupefilter lets through, from being fetched now.

        *is_itself*: the same request was fetched before, and the project wants it again.
        """
        meta = request.meta
        is_redirect = bool(meta.get("redirect_urls"))
        if CANARY in meta and not is_redirect:
            del meta[CANARY]  # copied from the request before
        of, known = self._class_of(request, site)
        if of is None or (self._sets_aside and self._rules.are_set_aside(request.url)):
            return self._let_through_alone(request)
        if is_itself and (asked := self.spider_request(request)) is not request:
            # Its class has had its turn; what the project wants again is the URL as it was written.
            self.returning.queue_later(iter((asked.replace(dont_filter=True),)))
            return True
        if is_itself or (is_redirect and self._is_inside(request)):
            return self._continue_redirect(request, of, known)
        depth = self._depth(request) if self._limits_depth else None
        fate = life.fate_of(known, request.priority, depth, is_fetched=of in self.succession.fetching)
        if fate is not Fate.STANDS:
            return self._is_spared(request, of, known, is_waiting=fate is Fate.WAITS)
        if known.state is State.FAILED:
            self._crawler.stats.inc_value(Stat.ALIASES_AFTER_FAILURE.value)
        return self._let_through(request, of)

    def fetch_waiting(self, request: Request, site: str) -> None:
        """Fetch *request*, which waited, now; it stands for its class, even beside another URL."""
        of, _ = self._class_of(request, site)
        if of is not None:
            self._let_through(request, of)

    def is_filtered_again(self, request: Request, site: str | None) -> bool:
        """Whether *request*, which was seen before, is filtered now.

        A redirect is let through if the request for the URL that it leads to was suppressed in its own class: else
        nobody would fetch the page. The suppressed request is released then, unless the project's dupefilter lets
        requests of one name through twice: then it may be another request, with a redirect of its own.
        """
        of = None if site is None else self._class_of(request, site)[0]
        own = self.naming.own(request)
        if of is not None and request.meta.get("redirect_urls"):
            known = self._store.get(of)
            stays = self._lets_through_twice
            if self._is_inside(request) and self._store.release(of, own, stays=stays):
                if not stays:
                    self.suppressions.note_returned_by_redirect(request)
                return self._continue_redirect(request, of, known)
        self.succession.chain_ended(request, of or own)
        return True

    def let_return(self, request: Request, site: str | None) -> None:
        """Let through *request*, a redirect back to a URL of its own chain, as after a cookie was set."""
        self._crawler.stats.inc_value(Stat.REDIRECTS_CONTINUED.value)
        of, known = (None, life.UNKNOWN) if site is None else self._class_of(request, site)
        if of is not None and known.state is not State.SETTLED:
            self.succession.admit(request, of, self._depth(request))

    def note_unfiltered(self, request: Request) -> bool:
        """Let *request*, which has ``dont_filter``, stand for its class. Returns whether rules apply to it."""
        site = None if is_retry(request) else self.site_of(request)
        of, known = (None, life.UNKNOWN) if site is None else self._class_of(request, site)
        if of is None:
            return False
        if known.state is State.SETTLED:
            request.meta.pop(STANDS_FOR, None)
        else:
            self._let_through(request, of)
        return True

    def is_known(self, request: Request, site: str) -> bool:
        """Whether any URL stands, or has stood, for the class of *request*."""
        return self._class_of(request, site)[1].state is not State.UNKNOWN

    # -- rules that change while the crawl goes on

    def note_page(self, url: str, handled: str | None, request: Request | None = None) -> None:
        """Settle the class of *url*, by the rules of now: *url* has brought a page."""
        site = self._rules.site_of(url)
        if site is not None and handled is not None:
            self._settle_class(request or Request(url), (site, handled, None))

    def is_still_wanted(self, request: Request) -> bool:
        """Whether *request*, let through earlier, should still be fetched under the rules of now."""
        site = self.site_of(request)
        of, known = (None, life.UNKNOWN) if site is None else self._class_of(request, site)
        if of is not None and known.state is State.SETTLED and self.proving.was_beyond(request):
            return not self._is_spared(request, of, known, is_waiting=False)
        before = classes_stood_for(request)
        if of is None or any(name == of for name, _ in before):
            return True
        # What stands for a class is in the queue still: whatever the class is by now, it has its page from another URL.
        if self.naming.keeper(of, known) == request.url:
            return True
        if known.state in (State.UNKNOWN, State.FAILED) or not self._is_spared(
            request, of, known, is_waiting=known.state is not State.SETTLED
        ):
            self._let_through(request, of)
            request.meta[STANDS_FOR] += [(name.hex(), url) for name, url in before]
            return True
        self.succession.note_replaced(request, before, of)
        return False

    def _register_pages(self, fetched: Iterable[tuple[str, Meaning]]) -> None:
        """Make known which URLs have brought pages, after rules have changed."""
        for url, meaning in fetched:
            with suppress(ValueError):
                self._settle_class(Request(url), meaning)

    def _settle_class(self, request: Request, meaning: Meaning) -> None:
        """Settle the class of *request*, handled as *meaning* says, since its URL has brought the page."""
        of = self.naming.class_with_meaning(request, meaning)
        written = self._store.get(of).keeper or self.naming.note_fetched(of, request.url)
        self._store.change(of, lambda known: life.page_taken(known._replace(keeper=written)))

    # -- what becomes of a request

    def _class_of(self, request: Request, site: str) -> tuple[bytes | None, Class]:
        """The class of *request*. A URL that only other sites link is a class of its own until its own site links it."""
        of = self.naming.class_of(request, site)
        if of is None:
            return None, life.UNKNOWN
        known = self._store.get(of)
        if known.state in (State.UNKNOWN, State.FAILED):
            meta = request.meta
            if LINKED_BY not in meta and "redirect_urls" not in meta:
                return of, known
            stranger = self.naming.linking_site(request, site)
            if stranger is not None:
                of = self.naming.class_of(request, site, stranger)
                known = life.UNKNOWN if of is None else self._store.get(of)
        return of, known

    def _class_name(self, request: Request) -> bytes:
        """The name of the class of *request*; the name of *request* itself where no rule applies."""
        site = self.site_of(request)
        of = None if site is None else self._class_of(request, site)[0]
        return self.naming.own(request) if of is None else of

    def _let_through_alone(self, request: Request) -> bool:
        """Let *request* through without a class of its own. It stands only for the classes that redirected to it."""
        if not request.meta.get("redirect_urls"):
            request.meta.pop(STANDS_FOR, None)
        return False

    def _is_inside(self, request: Request) -> bool:
        """Whether *request* is a redirect that stays in the class where it began."""
        if not request.meta.get("redirect_urls"):
            return False
        key = self.naming.key(request)
        return any(self.naming.key(earlier) == key for earlier in redirect_chain(request))

    def _continue_redirect(self, request: Request, class_key: bytes, known: Class) -> bool:
        """Let *request*, a redirect inside its class or a repetition, stand for the class. Always False."""
        if request.meta.get("redirect_urls"):
            self._crawler.stats.inc_value(Stat.REDIRECTS_CONTINUED.value)
        if known.state is State.SETTLED:
            return self._let_through_alone(request)
        self.succession.admit(request, class_key, self._depth(request))
        return False

    def _let_through(self, request: Request, class_key: bytes) -> bool:
        """Let *request* stand for its class, and keep the spider's own request, if that is another. Always False."""
        keeper = self.naming.note_fetched(class_key, request.url)
        self.succession.admit(request, class_key, self._depth(request), keeper)
        if ORIGINAL_URL not in request.meta:
            return False
        written = self.spider_request(request)
        if written is not request and not self.suppressions.replace(written, class_key):
            self.returning.queue_later(iter((written.replace(dont_filter=True),)))
        return False

    def _is_spared(self, request: Request, class_key: bytes, known: Class, *, is_waiting: bool) -> bool:
        """Whether *request* need not be fetched now: another URL of its class stands, or has brought the page."""
        if "redirect_urls" in request.meta:
            self.succession.chain_ended(request, class_key)
        asked = self.spider_request(request)
        behind = self.naming.merging_rules(asked.url, known)
        written = asked is request
        if self.proving.becomes_canary(asked, class_key, known, behind, early=is_waiting, as_written=written):
            if is_waiting:
                self.succession.admit(request, class_key, self._depth(request))
            else:
                request.meta.pop(STANDS_FOR, None)
            return False
        if self.suppressions.suppress(asked, class_key, known, behind, is_waiting=is_waiting):
            return True
        self._crawler.stats.inc_value(Stat.ALIASES_WITHOUT_ROOM.value)
        return self._let_through(request, class_key)

    @staticmethod
    def _depth(request: Request) -> int:
        depth = request.meta.get("depth", 0)
        return depth if isinstance(depth, int) else 0
