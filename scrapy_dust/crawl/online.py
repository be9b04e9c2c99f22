"""``DUST_LEARN = "online"``: what is learned beside the crawl comes into force in it.

A process reads the crawl's log and says which rules hold (`online/process.py`). When a site gets rules, the URLs that
it has shown pages under are keyed by them, a slice at a time so that the crawl never waits, and only these: what
failed, or has no answer yet, stands for no class. What is still in the queue was keyed otherwise; it is asked about
again when its turn comes, and suppressed, kept and given back like anything that rules suppress.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.utils.asyncio import create_looping_call

from scrapy_dust.crawl.log_middleware import CrawlLogMiddleware
from scrapy_dust.crawl.requests import LET_THROUGH, follows_rules
from scrapy_dust.crawl.trapping import Trapping
from scrapy_dust.crawl_log import log_dir
from scrapy_dust.online.gate import Gate, Step
from scrapy_dust.online.messages import Begin, Finding, Refuted, messages_in, to_message
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_dust.crawl.dupefilter import DustDupeFilter
    from scrapy_dust.crawl.rules import CrawlRules
    from scrapy_dust.dust.rules import Rule
    from scrapy_dust.settings import DustSettings

logger = logging.getLogger(__name__)

#: Seconds between two times that answers are listened for; and how many of them are spent on keys.
_EVERY, _SLICE = 0.05, 0.008
#: URLs that showed pages, of all sites; of others a class is fetched once more.
_REMEMBERED = 500_000
#: What waits does so below all that spiders ask for themselves.
WAITING = -1_000_000
#: What decides a rule comes a little before what was queued with it.
_EARLY = 1

#: In a request's meta, internal: it waits.
_WAITS = "_dust_waits"


class Online:
    """Of one crawl whose rules are enforced."""

    def __init__(self, crawler: Crawler, rules: CrawlRules, dupefilter: DustDupeFilter) -> None:
        self._crawler, self._rules, self._dupefilter = crawler, rules, dupefilter
        self._process: subprocess.Popen[bytes] | None = None
        self._gave_up = False
        self._heard = bytearray()
        self._shown: OrderedDict[str, dict[str, None]] = OrderedDict()  #: URLs that showed pages, by site
        self._count = 0
        self._gates: dict[str, Gate] = {}
        self._learned: dict[str, set[Rule]] = {}
        self._told: set[str] = set()  #: ids of rules that turned out to be false, which the process knows of
        self._work: OrderedDict[str, Iterator[None]] = OrderedDict()  #: keys to be made
        assert dupefilter.suppressions is not None
        dupefilter.let_through = self._place
        self._trapping = Trapping(crawler, dupefilter.suppressions, rules.settings.trap_limit)
        self._listening = create_looping_call(self._listen)
        crawler.signals.connect(self._response_received, signal=signals.response_received)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)
        crawler.signals.connect(self._engine_stopped, signal=signals.engine_stopped)
        self._listening.start(_EVERY, now=False)

    def mark(self, request: Request) -> None:
        """*request* comes to be queued, if it is no duplicate."""
        request.meta.pop(_WAITS, None)  # copied from the request before
        request.meta.pop(LET_THROUGH, None)
        if not request.dont_filter and follows_rules(request):
            request.meta[LET_THROUGH] = [self._crawler.request_fingerprinter.fingerprint(request).hex()]

    def _place(self, request: Request) -> None:
        """Give *request*, which is no duplicate, its place in the queue: last where it waits."""
        if LET_THROUGH not in request.meta:
            return
        step = self._step(request)
        if step is Step.WAIT or self._trapping.is_last(request):
            self._put_last(request)
        elif step is Step.EARLY:
            request.priority += _EARLY

    def refused(self, request: Request) -> Request | None:
        """*request* is not queued, as a duplicate. What is in its stead: itself, if only a trap had it before."""
        return self._trapping.refused(request)

    def may_go(self, request: Request) -> bool | None:
        """Whether *request*, whose turn has come, is fetched. None: it is to be queued again, and waits."""
        waited = request.meta.pop(_WAITS, False)
        if waited:
            request.dont_filter = False
            request.priority -= WAITING
        if request.dont_filter:
            return True
        if self._concerns(request) and not self._dupefilter.is_still_wanted(request):
            return False
        if not waited and (self._step(request) is Step.WAIT or self._trapping.is_last(request)):
            self._put_last(request)
            request.dont_filter = True  # it has passed the dupefilter
            return None
        return not self._trapping.is_capped(request)

    def _concerns(self, request: Request) -> bool:
        site = self._rules.site_of(request.url)
        return site is not None and site in self._gates and follows_rules(request)

    def _step(self, request: Request) -> Step:
        if not self._concerns(request):
            return Step.FETCH
        return self._gates[self._rules.site_of(request.url) or ""].likely_step(request.url)

    def _put_last(self, request: Request) -> None:
        request.priority += WAITING
        request.meta[_WAITS] = True
        self._crawler.stats.inc_value(Stat.WAITED.value)

    def _response_received(self, response: Response, request: Request, spider: Spider) -> None:
        if not 200 <= response.status < 300 or not follows_rules(request):
            return
        site = self._rules.site_of(request.url)
        if site is None:
            return
        self._trapping.response_received(response, request)
        shown = self._shown.setdefault(site, {})
        if request.url not in shown:
            self._count += 1
        shown[request.url] = None
        self._shown.move_to_end(site)
        if site in self._gates:
            self._gates[site].let_through(request.url)
            self._dupefilter.showed_page(request)
        while self._count > _REMEMBERED and len(self._shown) > 1:
            _, forgotten = self._shown.popitem(last=False)
            self._count -= len(forgotten)

    def _listen(self) -> None:
        if self._process is None:
            self._begin()
            return
        assert self._process.stdout is not None
        try:
            while data := os.read(self._process.stdout.fileno(), 1 << 16):
                self._heard += data
        except BlockingIOError:
            pass
        for message in messages_in(self._heard):
            if isinstance(message, Finding):
                self._take(message)
        if self._process.poll() is not None and not self._gave_up:
            self._gave_up = True
            logger.warning(
                "The process that learns has ended (%(code)s): this crawl goes on with the rules it has.",
                {"code": self._process.returncode},
                extra={"spider": self._crawler.spider},
            )
        self._go_on()

    def _begin(self) -> None:
        log = self._crawler.get_downloader_middleware(CrawlLogMiddleware)
        if not isinstance(log, CrawlLogMiddleware) or log.path is None:
            return  # nothing recorded yet
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "scrapy_dust.online.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env=environment,
        )
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        state = log_dir(self._rules.settings.dir).parent
        self._tell(Begin(str(log.path), _plain(self._rules.settings), str(state)))

    def _tell(self, message: object) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(to_message(message))

    def _take(self, finding: Finding) -> None:
        """Put into force what is new. Rules stay until one of their pages speaks against them."""
        site, suspended = finding.site, self._dupefilter.suspended
        for identity in finding.refuted:
            if identity not in suspended and identity in self._ids(site):
                self._dupefilter.take_back(site, identity)
        for rule in self._learned.get(site, set()):
            identity = rule_id(site, rule)
            if identity in suspended and identity not in self._told:
                self._told.add(identity)
                self._tell(Refuted(site, rule))
        usable = [rule for rule in finding.rules if rule_id(site, rule) not in suspended]
        known = self._rules.canonizer.rules(site)
        new = [rule for rule in usable if rule not in known]
        gate = self._gates.setdefault(site, Gate(site, self._rules.site_of, self._rules.settings.passes))
        if new:
            self._learned.setdefault(site, set()).update(new)
            self._rules.put(site, (*known, *new))
            self._crawler.stats.set_value(
                Stat.LEARNED.value, sum(len(rules) for rules in self._learned.values())
            )
            self._say(site, new)
        gate.change(self._rules.canonizer.rules(site), finding.likely, ())
        self._work[site] = self._keys(site, gate)

    def _ids(self, site: str) -> set[str]:
        return {rule_id(site, rule) for rule in self._learned.get(site, set())}

    def _say(self, site: str, new: list[Rule]) -> None:
        for rule in new:
            logger.info(
                "Learned: %(rule)s [%(id)s] of %(site)s holds, and is in force from now on.",
                {"rule": rule, "id": rule_id(site, rule), "site": site},
                extra={"spider": self._crawler.spider},
            )

    def _keys(self, site: str, gate: Gate) -> Iterator[None]:
        """Make known the classes of all that was shown."""
        for url in list(self._shown.get(site, {})):
            gate.let_through(url)
            self._dupefilter.showed_page(Request(url))
            yield

    def _go_on(self) -> None:
        until = time.monotonic() + _SLICE
        while self._work and time.monotonic() < until:
            site = next(iter(self._work))
            if next(self._work[site], self) is self:
                del self._work[site]

    def _spider_closed(self) -> None:
        if self._listening.running:
            self._listening.stop()

    def _engine_stopped(self) -> None:
        if self._process is None:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.kill()
        self._process.wait()


def _plain(settings: DustSettings) -> DustSettings:
    """*settings* without classes of the project's, which another process may not be able to import."""
    names = [one.name for one in fields(settings) if one.name.startswith("fallback_")]
    nothing: dict[str, Any] = dict.fromkeys(names)
    return replace(settings, **nothing)
