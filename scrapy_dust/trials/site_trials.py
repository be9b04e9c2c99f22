"""The trials of one site: which page is wanted next, and what to make of an answer. No network here.

First a survey: what the site answers for URLs that cannot exist, and what its template looks like. Then the
campaign's probes, several at a time, each an inquiry that asks for one page after the other. A page that two
inquiries want is asked for once, and one that was fetched serves all that want it later.

Answers are taken in the order in which they were asked for, in whichever order they come, and an answer that the
journal has from an earlier run is taken as if it had just come. So a run that was interrupted and goes on decides
what an uninterrupted one does.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scrapy_dust.crawl_log.hiding import is_hidden
from scrapy_dust.dust.campaign import Campaign, Probe
from scrapy_dust.dust.candidates import Candidate
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.evidence import LogEvidence
from scrapy_dust.dust.inquiry import Ask, inquire
from scrapy_dust.dust.judging import Fetched, Judge, Known, Outcome
from scrapy_dust.dust.validation import Verdict
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.trials.declarations import MOST
from scrapy_dust.trials.journal import ProbeJournal
from scrapy_dust.trials.limits import Limits
from scrapy_dust.trials.surveying import Kind, SiteSurvey, Wanted, nonsense_beside, survey

#: Inquiries under way at a time.
_AT_A_TIME = 8
#: Answers kept for other inquiries.
_KEPT = 2000


@dataclass(slots=True)
class _Inquiry:
    probe: Probe
    steps: Generator[Ask, Fetched, Outcome]
    fetches: int = 0
    content: str | None = None
    latest: float = 0.0  #: when the latest answer came


@dataclass(slots=True)
class _Errand:
    """One fetch, and who wants it."""

    url: str
    survey: Wanted | None = None
    inquiries: list[_Inquiry] = field(default_factory=list)
    shared: bool = True  #: others may join
    beside: bool = False  #: it cannot exist
    page: Fetched | None = None


class SiteTrials:
    """Ask `wanted` for the URLs to fetch now, and give each answer to `answer`, until `finished`."""

    def __init__(
        self,
        campaign: Campaign,
        evidence: LogEvidence,
        never_probe: Iterable[str] = (),
        *,
        template: frozenset[int] = frozenset(),
        renderers: Mapping[str, str] | None = None,
        journal: ProbeJournal | None = None,
        not_before: float = 0.0,
        at_rest: bool = False,
        rest: Callable[[RuleBook, Verdicts], str] | None = None,
        standing: int = 0,
    ) -> None:
        """*template*: see `Judge`. *renderers*: the browser that made a page, for URLs of the log that had one.

        *not_before*: older answers of the journal are not taken. *at_rest*: there is nothing new to decide, so
        that the site need not be asked how it answers. *rest*: see `rest_of`; *standing*: so many rules are in force
        and not on trial, since the site rests.
        """
        self.rest, self.standing = rest, standing
        self.campaign = campaign
        self.limits = Limits(campaign.site, evidence.urls, never_probe)
        self.given_up: str | None = None  #: why the site is not asked any more
        self._evidence = evidence
        self._journal = journal if journal is not None else ProbeJournal()
        self._not_before = not_before
        self._judge = Judge(template)
        self._survey = SiteSurvey(self._judge, () if at_rest or campaign.finished else self._surveyed())
        self._errands: deque[_Errand] = deque()  # in the order to take them
        self._open: dict[str, deque[_Errand]] = {}  # to be answered by the site
        self._to_send: list[str] = []
        self._kept: OrderedDict[str, Fetched] = OrderedDict()
        self._under_way = 0
        self._declared: set[Edit] = set()
        self._renderers = renderers or {}
        by_count = Counter(self._renderers.get(url) for url in evidence.urls)
        self._renderer = max(by_count, key=lambda one: by_count[one], default=None)

    @property
    def site(self) -> str:
        return self.campaign.site

    @property
    def urls(self) -> Sequence[str]:
        """Those of the log that showed a page, in no order."""
        return self._evidence.urls

    @property
    def finished(self) -> bool:
        """Whether nothing more is wanted, now or later."""
        if self.given_up is not None:
            return True
        return not (self._survey.to_ask or self._errands) and self.campaign.finished

    @property
    def is_settled(self) -> bool:
        """Whether all is decided, so that a second run would learn nothing."""
        undecided = any(one.verdict is Verdict.UNDECIDED for one in self.campaign.decisions)
        return self.finished and self.given_up is None and not undecided

    def give_up(self, reason: str) -> None:
        """Ask no more; what is not decided stays so."""
        self.given_up = self.given_up or reason

    def declared(self, edits: Iterable[Edit]) -> None:
        """The site says that these hold: they are tried last, and have to prove what others have to."""
        new = [one for one in dict.fromkeys(edits) if one not in self._declared]
        new = new[: MOST - len(self._declared)]
        self._declared.update(new)
        self.campaign.offer(Candidate((one,), support=0, narrows=True) for one in new)

    def renderer(self, url: str) -> str | None:
        """The browser that the crawl had *url* from; of a URL that it did not have, what it used most."""
        return self._renderers.get(url) if self.limits.has(url) else self._renderer

    def wanted(self) -> list[str]:
        """URLs to fetch now, none of which was given out before."""
        self._advance()
        urls, self._to_send = self._to_send, []
        return urls

    def answer(self, page: Fetched) -> list[str]:
        """Take in what `page.url` answered; gives the URLs that are wanted because of it."""
        errands = self._open[page.url]
        errands.popleft().page = page
        if not errands:
            del self._open[page.url]
        # What says nothing of the page is asked again by the next run.
        if not page.is_refusal:
            self._journal.add(page, self.renderer(page.url))
        return self.wanted()

    def _advance(self) -> None:
        while self.given_up is None:
            self._top_up()
            if not self._errands or self._errands[0].page is None:
                return
            self._take(self._errands.popleft())

    def _top_up(self) -> None:
        """Ask for as much as may be under way; the campaign begins when the survey is over."""
        while self._survey.to_ask:
            wanted = self._survey.to_ask.popleft()
            self._run(_Errand(wanted.url, survey=wanted))
        while self._under_way < _AT_A_TIME and self._survey.over:
            probe = self.campaign.next_probe()
            if probe is None:
                return
            self._begin(probe)

    def _run(self, errand: _Errand, since: float = 0.0) -> None:
        """Put *errand* in line. An answer in the journal that came after *since* spares a fetch."""
        self._errands.append(errand)
        since = max(since, self._not_before)
        errand.page = self._journal.take(errand.url, self.renderer(errand.url), since=since)
        if errand.page is None:
            self._open.setdefault(errand.url, deque()).append(errand)
            self._to_send.append(errand.url)

    def _take(self, errand: _Errand) -> None:
        page = errand.page
        assert page is not None
        if errand.survey is not None:
            self._survey.learn(errand.survey, page, self._known(page.url))
            self._keep(page)
        elif not errand.beside:
            self._judge.learn(page, self._known(page.url))
        self._evidence.nothing = self._judge.nothing_digests
        for number, inquiry in enumerate(errand.inquiries):
            inquiry.fetches += number == 0
            self._continue(inquiry, page)

    def _surveyed(self) -> Iterator[Wanted]:
        urls = [url for url in self._evidence.urls if not is_hidden(url) and url not in self.limits.actions]
        texts = {url: digest for url in urls if (digest := self._evidence.digest(url)) is not None}
        for wanted in survey(urls, texts):
            if wanted.kind is Kind.PAGE or wanted.url not in self.limits.actions:
                yield wanted

    def _keep(self, page: Fetched) -> None:
        self._kept.pop(page.url, None)
        if page.is_refusal:
            return  # whoever wants it later may have more luck
        self._kept[page.url] = page
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def _known(self, url: str) -> Known | None:
        page = self._evidence.page_of(url)
        return None if page is None else Known(self._evidence.digest(url), page.sketch, page.size)

    def _begin(self, probe: Probe) -> None:
        pair = probe.pair
        if not self.limits.may_compare(pair.url, pair.target):
            self.campaign.record(probe, Outcome.UNKNOWN)
            return
        self._under_way += 1
        known, there = self._known(pair.url), self._known(pair.target)
        steps = inquire(
            pair.url,
            pair.target,
            self._judge,
            known,
            there,
            both_linked=there is not None,
            thorough=self.campaign.is_against_many(probe),
        )
        self._step(_Inquiry(probe, steps), next(steps))

    def _continue(self, inquiry: _Inquiry, page: Fetched) -> None:
        self._keep(page)
        inquiry.latest = max(inquiry.latest, page.at)
        if page.answered and page.url == inquiry.probe.pair.target:
            inquiry.content = page.text_digest
        try:
            ask = inquiry.steps.send(page)
        except StopIteration as end:
            self._under_way -= 1
            self.campaign.record(inquiry.probe, end.value, inquiry.content, inquiry.fetches)
            return
        self._step(inquiry, ask)

    def _step(self, inquiry: _Inquiry, ask: Ask) -> None:
        url = nonsense_beside(ask.url) if ask.beside else ask.url
        if ask.beside and url in self.limits.actions:
            self._continue(inquiry, Fetched(url, url, None))
            return
        kept = None if ask.again else self._kept.get(url)
        if kept is not None:
            self._continue(inquiry, kept)
            return
        same = (one for one in self._errands if one.url == url and one.shared and one.survey is None)
        under_way = None if ask.again else next(same, None)
        if under_way is not None:
            under_way.inquiries.append(inquiry)
            return
        # A control that came before what it is to control would say nothing.
        errand = _Errand(url, inquiries=[inquiry], shared=not ask.again, beside=ask.beside)
        self._run(errand, since=inquiry.latest if ask.again else 0.0)
