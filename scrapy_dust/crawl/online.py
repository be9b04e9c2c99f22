"""``DUST_LEARN = "online"``: puts rules that a process learns beside the crawl into force in the crawl.

The process reads the crawl's log and says which rules hold (`online/process.py`); `rules_into_force` puts these rules into
force.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.asyncio import create_looping_call

from scrapy_dust.crawl.canaries import Canary
from scrapy_dust.crawl.components import CrawlLogger, listen
from scrapy_dust.crawl.dupefilter import DustDupeFilter
from scrapy_dust.crawl.held_requests import Patience, Turn
from scrapy_dust.crawl.log_middleware import CrawlLogMiddleware
from scrapy_dust.crawl.recorder import start_beside
from scrapy_dust.crawl.refetching import Refetching
from scrapy_dust.crawl.requests import LAST, LET_THROUGH, follows_rules
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.crawl_log import log_dir
from scrapy_dust.online import messages
from scrapy_dust.online.gate import Gate, Step
from scrapy_dust.online.messages import Compared, Decided, Finding
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.stats import Stat

#: Seconds between two readings of the process's messages.
_EVERY = 0.05
#: How much the priority of a request that decides a rule is raised above requests queued with it.
_EARLY = 1

#: In a request's meta, internal: it waits for a look; it is fetched early, since it decides a rule.
_WAITS, _DECIDES = "_dust_waits", "_dust_decides"


class LearnerBeside:
    """Starts the process that learns beside one crawl, and exchanges messages with it."""

    def __init__(self, begin: messages.Begin) -> None:
        self._process = start_beside("scrapy_dust.online.process")
        self._heard, self._to_tell = bytearray(), bytearray()
        self.send(begin)

    def send(self, message: object) -> None:
        """Send *message* to the process, now or as soon as the pipe has room."""
        self._to_tell += messages.to_message(message)
        self._send_waiting()

    def received(self) -> Iterator[object]:
        """The messages that the process has sent since the last call."""
        self._send_waiting()
        assert self._process.stdout is not None
        with suppress(BlockingIOError):
            while data := os.read(self._process.stdout.fileno(), 1 << 16):
                self._heard += data
        yield from messages.messages_in(self._heard)

    def _send_waiting(self) -> None:
        """Write to the pipe as much of the waiting messages as it has room for."""
        assert self._process.stdin is not None
        try:
            # None: the pipe is full.
            while self._to_tell and (taken := self._process.stdin.write(self._to_tell)) is not None:
                del self._to_tell[:taken]
        except OSError:  # it has ended
            self._to_tell.clear()

    @property
    def exit_status(self) -> int | None:
        """The exit status of the process; None while it runs."""
        return self._process.poll()

    def close(self) -> None:
        """End the process."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.kill()
        self._process.wait()


class Online:
    """Learning during one crawl whose rules are enforced."""

    def __init__(self, crawler: Crawler, rules: CrawlRules, dupefilter: DustDupeFilter) -> None:
        self._crawler, self._rules, self._dupefilter = crawler, rules, dupefilter
        self._log = CrawlLogger(__name__, crawler)
        self._process: LearnerBeside | None = None
        self._gave_up = False

        self._gates: dict[str, Gate] = {}
        self._told: set[str] = set()  #: ids of rules that turned out to be false, which the process knows of
        self._patience = Patience()
        self.waiting = 0  #: requests that a look may decide
        self._again = Refetching(crawler, self._record_again)
        assert dupefilter.enforcing is not None
        assert dupefilter.into_force is not None
        self._enforcing = dupefilter.enforcing
        self._into_force = dupefilter.into_force
        #: What the crawl, or the job before it was paused, has learned or proved.
        self._learned = self._into_force.learned
        #: Ids of rules that turned out to be false, with their sites.
        self._suspended = self._enforcing.proving.suspension.suspended
        dupefilter.let_through.append(self.let_through)
        self._canaries = self._enforcing.proving.canaries
        self._canaries.asks_log = self._asks
        self._listening = create_looping_call(self._take_messages)
        listen(crawler, self._response_received, self._spider_closed, self._engine_stopped)
        for site in rules.before.rules:
            self._use_likely(site, ())
        self._listening.start(_EVERY, now=False)

    def note_fingerprint(self, request: Request) -> None:
        """Note the fingerprint of *request* in its meta, before it is queued."""
        request.meta.pop(_WAITS, None)  # copied from the request before
        request.meta.pop(_DECIDES, None)
        request.meta.pop(LET_THROUGH, None)
        if not request.dont_filter and follows_rules(request):
            request.meta[LET_THROUGH] = [self._crawler.request_fingerprinter.fingerprint(request).hex()]

    def key_of(self, url: str) -> str:
        """The key of *url* by the rules in force and by likely ones."""
        gate = self._gates.get(self._rules.site_of(url) or "") if self._gates else None
        return self._rules.canonize(url) if gate is None else gate.likely_key(url)

    def decide_turn(self, request: Request) -> Turn:
        """Decide whether *request*, which has left the queue, is fetched, dropped, queued last or held back."""
        waited = _WAITS in request.meta
        if request.dont_filter and not waited:
            return Turn.GO
        gate = self._gate_of(request)
        if waited and gate is not None and self._is_held():
            request.dont_filter = True  # it has passed the dupefilter
            return Turn.HOLD
        if waited:
            # The job before may have counted it.
            del request.meta[_WAITS]
            self.waiting = max(0, self.waiting - 1)
            request.dont_filter = False
            request.priority -= LAST
        if not self._dupefilter.is_still_wanted(request):
            return Turn.DROP
        if not (waited or _DECIDES in request.meta) and self._puts_last(request, _likely_step(gate, request)):
            request.dont_filter = True
            return Turn.WAIT
        return Turn.GO

    def _is_held(self) -> bool:
        """Whether requests that come last are held back until the process has looked at the newest pages."""
        if self._process is None or self._gave_up:
            return False
        if self._patience.may_ask(self._again.pages, self.waiting):
            self._process.send(messages.Decide())
        return self._patience.is_holding()

    def let_through(self, request: Request) -> None:
        """Give *request*, which is no duplicate, its place in the queue: the last one if by a likely rule it repeats a page."""
        if LET_THROUGH not in request.meta:
            return
        step = _likely_step(self._gate_of(request), request)
        if not self._puts_last(request, step) and step is Step.EARLY:
            request.priority += _EARLY
            request.meta[_DECIDES] = True

    def _asks(self, canary: Canary) -> bool:
        """Ask the process how *canary* compares with its keeper. False if it cannot be asked."""
        if self._process is None or self._gave_up:
            return False
        self._process.send(messages.Compare(canary.url, canary.keeper))
        return True

    def _gate_of(self, request: Request) -> Gate | None:
        """The gate of the site of *request*; None if no likely rule can matter to *request*."""
        if not self._gates or LET_THROUGH not in request.meta:
            return None
        return self._gates.get(self._rules.site_of(request.url) or "")

    def _puts_last(self, request: Request, step: Step) -> bool:
        """Whether *request* is put after all other requests; if so, *request* is marked."""
        if step is not Step.WAIT:
            return False
        request.priority += LAST
        request.meta[_WAITS] = True
        self.waiting += 1
        self._crawler.stats.inc_value(Stat.WAITED.value)
        return True

    def _response_received(self, response: Response, request: Request) -> None:
        if not 200 <= response.status < 300 or not follows_rules(request):
            return
        if self._rules.site_of(request.url) is not None:
            self._again.remember(request)

    def _take_messages(self) -> None:
        """Act on the messages of the learning process. The first call starts the process."""
        if self._process is None:
            self._start_process()
            return
        for message in self._process.received():
            if isinstance(message, Finding):
                self._put_into_force(message)
            elif isinstance(message, Decided):
                self._patience.note_look()
            elif isinstance(message, Compared):
                self._canaries.told(message.canary, is_same=message.is_same)
                self._wake()
        if self._process.exit_status is not None and not self._gave_up:
            self._gave_up = True
            self._canaries.told_nothing()
            said = "The process that learns has ended (%s): this crawl goes on with the rules it has."
            self._log.warning(said, self._process.exit_status)
        if self._patience.is_over(self._again.pages, keys_made=self._into_force.is_made):
            self._wake()

    def _record_again(self, request: Request, response: Response) -> None:
        if (log := self._log_middleware()) is not None:
            log.add_again(request, response)

    def _log_middleware(self) -> CrawlLogMiddleware | None:
        log = self._crawler.get_downloader_middleware(CrawlLogMiddleware)
        return log if isinstance(log, CrawlLogMiddleware) else None

    def _start_process(self) -> None:
        log = self._log_middleware()
        if log is None or log.path is None:
            return  # nothing recorded yet
        state = log_dir(self._rules.settings.dir).parent
        before, settings = self._rules.before, _importable(self._rules.settings)
        if self._into_force.job is not None:
            self._into_force.job.add_log(str(log.path))
        self._process = LearnerBeside(
            messages.Begin(str(log.path), settings, str(state), before.logs, before.rules)
        )

    def _put_into_force(self, finding: Finding) -> None:
        """Put the new rules of *finding* into force. A rule stays in force until one of its pages speaks against it."""
        self._take_out_of_force(finding)
        site, known = finding.site, self._rules.canonizer.rules(finding.site)
        new = [one for one in finding.rules if one not in known and rule_id(site, one) not in self._suspended]
        if new and self._into_force.put(site, new):
            self._crawler.stats.inc_value(Stat.LEARNED.value, len(new))
            for rule in new:
                said = "Learned: %s [%s] of %s holds, and is in force from now on."
                self._log.info(said, rule, rule_id(site, rule), site)
        self._enforcing.proving.reach.limit(site, new, finding.held)
        self._use_likely(site, finding.likely, finding.led)
        self._again.fetch(finding.again, self.waiting)

    def _take_out_of_force(self, finding: Finding) -> None:
        """Take the rules out of force that the process refuted; tell the process of rules that the crawl refuted."""
        learned = {rule_id(finding.site, rule): rule for rule in self._learned.get(finding.site, ())}
        refuted = {identity: finding.site for identity in finding.refuted if identity in learned}
        self._enforcing.proving.suspended_elsewhere(refuted)
        for identity, rule in learned.items():
            if identity in self._suspended and identity not in self._told and self._process is not None:
                self._told.add(identity)
                self._process.send(messages.Refuted(finding.site, rule))

    def _use_likely(self, site: str, likely: Sequence[Rule], led: Sequence[Rule] = ()) -> None:
        """Tell by the *likely* rules of *site*, from now on, which requests come last; redirects declare those in *led*."""
        rules = self._rules.canonizer.rules(site)
        gate = self._gates.get(site)
        if gate is None:
            passes = self._rules.settings.passes
            gate = self._gates[site] = Gate(site, self._rules.site_of, passes, suppresses=False)
        elif gate.is_unchanged_by(rules, likely):
            gate.allow_more_early()
            return
        gate.change(rules, likely, (), led)
        self._into_force.make_keys(site, gate.let_through)

    def _wake(self) -> None:
        """Make the engine ask for the next request at once, not only in some seconds. Scrapy has no public way for it."""
        slot = getattr(self._crawler.engine, "_slot", None)
        if slot is not None:
            slot.nextcall.schedule()

    def _spider_closed(self) -> None:
        if self._listening.running:
            self._listening.stop()

    def _engine_stopped(self) -> None:
        if self._process is not None:
            self._process.close()


def _likely_step(gate: Gate | None, request: Request) -> Step:
    return Step.FETCH if gate is None else gate.likely_step(request.url)


def _importable(settings: DustSettings) -> DustSettings:
    """*settings* without classes of the project, which another process may not be able to import."""
    names = [one.name for one in fields(settings) if one.name.startswith("fallback_")]
    nothing: dict[str, Any] = dict.fromkeys(names)
    return replace(settings, **nothing)
