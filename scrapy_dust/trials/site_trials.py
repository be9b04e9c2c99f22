"""The trials of one site: which page to fetch next, and what its answer decides. No network here.

First a survey: the site's answers for URLs that cannot exist, its template, and the parts that change at each fetch.
If some parts change, or the log has answers that are no pages, the log is mined anew. Then the campaign's probes,
several at a time, each an inquiry that asks for one page after the other. A page that two inquiries want is fetched
once, and serves all later ones.

Answers are taken in the order in which they were requested, in whichever order they come, and an answer in the
journal from an earlier run counts as if it had just come. So an interrupted run that goes on decides what an
uninterrupted one does.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scrapy_dust.believe.campaign import Campaign, Probe
from scrapy_dust.believe.candidates import Candidate
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.paper_validation import LiteralCampaign
from scrapy_dust.believe.validation import Pair, Verdict
from scrapy_dust.crawl_log.hiding import is_hidden
from scrapy_dust.judge.answers import Fetched, Known
from scrapy_dust.judge.inquiry import Ask, Finding, Inquiry, fetch_both, inquire
from scrapy_dust.judge.judging import Judge
from scrapy_dust.page.compare import Answer
from scrapy_dust.page.knowledge import NOTHING_KNOWN, Knowledge
from scrapy_dust.page.places import Names
from scrapy_dust.page.site_log import LogComparison
from scrapy_dust.page.site_template import NO_TEMPLATE, SiteTemplate
from scrapy_dust.page.volatile import Volatile
from scrapy_dust.rules.rule import Rule
from scrapy_dust.stopping import Stopped
from scrapy_dust.trials.declarations import MOST
from scrapy_dust.trials.journal import ProbeJournal
from scrapy_dust.trials.limits import Limits
from scrapy_dust.trials.rest import Rest
from scrapy_dust.trials.surveying import Kind, SiteSurvey, Wanted, nonsense_beside, survey
from scrapy_dust.visits.outcomes import Outcome

#: Inquiries under way at a time.
_AT_A_TIME = 8
#: Answers kept for other inquiries.
_KEPT = 2000
#: Contents of most URLs that are compared with what the site shows for URLs that cannot exist.
_SHARED = 50


@dataclass(slots=True)
class _Inquiry:
    """A comparison of two pages under way: the steps to make, and the results so far."""

    probe: Probe
    steps: Inquiry
    fetches: int = 0
    content: str | None = None
    latest: float = 0.0  #: when the latest answer came


@dataclass(slots=True)
class _Errand:
    """One fetch, and the inquiry that wants it."""

    url: str
    survey: Wanted | None = None
    inquiries: list[_Inquiry] = field(default_factory=list)
    shared: bool = True  #: others may join
    beside: bool = False  #: it cannot exist
    stateless: bool = False  #: asked by somebody whom the site has not met
    page: Fetched | None = None


@dataclass(frozen=True, slots=True)
class SiteReading:
    """The campaign of a site's rules, and the knowledge of the site that its log gives for the campaign."""

    campaign: Campaign | LiteralCampaign
    evidence: LogEvidence
    comparing: LogComparison | None = None  #: the log's pages in units, where the log has them
    template: frozenset[int] = frozenset()  #: hashes of the log's sketches that all pages have
    #: There is nothing new to decide, so that the site need not be asked how it answers.
    is_at_rest: bool = False
    rest: Rest | None = None  #: when the site is at rest
    standing: int = 0  #: so many rules are in force and not on trial, since the site rests
    suspects: Sequence[str] = ()  #: URLs that may show pages which change at each fetch
    is_by_log: bool = False  #: nothing may be fetched: the log alone decides


class SiteTrials:
    """Runs the trials of one site: fetch the URLs in `wanted`, give each answer to `answer`, until `finished`."""

    def __init__(
        self,
        reading: SiteReading,
        never_probe: Iterable[str] = (),
        *,
        renderers: Mapping[str, str] | None = None,
        journal: ProbeJournal | None = None,
        not_before: float = 0.0,
        anew: Callable[[Volatile, Collection[str]], SiteReading] | None = None,
    ) -> None:
        """The trials that *reading* names. *renderers*: the browser that made a page, for URLs of the log that had one.

        *not_before*: older answers of the journal are not taken. *anew* reads the log again when the survey has
        shown what changes at each fetch, and which URLs of the log show no page.
        """
        evidence = reading.evidence
        self._use_reading(reading)
        self.limits = Limits(self.campaign.site, evidence.urls, never_probe)
        self.given_up: str | None = None  #: why the site is not asked any more
        self._is_stopped = False  # somebody ends the run
        self._journal = journal if journal is not None else ProbeJournal()
        self._not_before, self._anew = not_before, anew
        self._judge = Judge(self._site_knowledge, reading.template, evidence.urls)
        nothing_to_ask = reading.is_at_rest or (self.campaign.finished and not reading.suspects)
        urls = [] if nothing_to_ask else [url for url in evidence.urls if self._may_be_surveyed(url)]
        self._survey = SiteSurvey(self._judge, self._survey_urls(urls, reading.suspects), urls)
        self._errands: deque[_Errand] = deque()  # in the order to take them
        self._open: dict[str, deque[_Errand]] = {}  # to be answered by the site
        self._to_send: list[str] = []
        self._stateless: Counter[str] = Counter()  # fetches to be made without cookies, by URL
        self._kept: OrderedDict[str, Fetched] = OrderedDict()
        self._under_way = 0
        self._has_begun = False
        self._declared: set[Rule] = set()
        self._renderers = renderers or {}
        by_count = Counter(self._renderers.get(url) for url in evidence.urls)
        self._renderer = max(by_count, key=lambda one: by_count[one], default=None)

    def _use_reading(self, reading: SiteReading) -> None:
        """Go by *reading*, the first one or one that was made after the survey."""
        self.campaign, self._evidence, self._comparing = reading.campaign, reading.evidence, reading.comparing
        self.rest, self.standing = reading.rest, reading.standing
        self.is_by_log = reading.is_by_log

    @property
    def _site_knowledge(self) -> Knowledge:
        """The knowledge by which two pages of the site are compared."""
        return NOTHING_KNOWN if self._comparing is None else self._comparing.knowledge

    @property
    def site(self) -> str:
        """The name of the site."""
        return self.campaign.site

    @property
    def volatile(self) -> Volatile:
        """The places that were seen to change from one fetch of a URL to the next."""
        return self._judge.learned

    @property
    def template(self) -> SiteTemplate:
        """The template of the site by which its rules were judged; of a site without fetches, the known one."""
        known = self._judge.knowledge
        return SiteTemplate(known.common, known.template, known.chrome) if self._kept else NO_TEMPLATE

    @property
    def names(self) -> Names:
        """The names of the places in `volatile` and `template`."""
        return self._judge.names

    @property
    def urls(self) -> Sequence[str]:
        """The URLs of the log that showed a page, in no order."""
        return self._evidence.urls

    @property
    def finished(self) -> bool:
        """Whether no more pages are wanted, now or later."""
        if self.given_up is not None or self._is_stopped:
            return True
        return not (self._survey.to_ask or self._errands) and self.campaign.finished

    @property
    def is_settled(self) -> bool:
        """Whether all is decided, so that a second run would learn nothing."""
        if self._is_stopped or self.given_up is not None or not self.finished or self.campaign.is_cut_short:
            return False
        return all(one.verdict is not Verdict.UNDECIDED for one in self.campaign.decisions)

    def give_up(self, reason: str) -> None:
        """Fetch no more. Undecided rules stay undecided."""
        self.given_up = self.given_up or reason

    def declared(self, edits: Iterable[Rule]) -> None:
        """Put the rules *edits*, which the site itself declares, on trial after all others. They have to prove as much."""
        new = [one for one in dict.fromkeys(edits) if one not in self._declared]
        new = new[: MOST - len(self._declared)]
        self._declared.update(new)
        self.campaign.offer(Candidate((one,), support=0, narrows=True) for one in new)

    def renderer(self, url: str) -> str | None:
        """The browser that rendered *url* for the crawl; for a URL that the crawl did not fetch, the one it used most."""
        return self._renderers.get(url) if self.limits.has(url) else self._renderer

    def begin(self) -> None:
        """Decide what needs no fetch, so that `finished` tells whether pages are wanted."""
        try:
            self._take_answers_in_order()
        except Stopped:
            self._is_stopped = True

    def wanted(self) -> list[str]:
        """URLs to fetch now, none of which was given out before."""
        self.begin()
        urls, self._to_send = self._to_send, []
        return [] if self._is_stopped else urls

    def is_stateless(self, url: str) -> bool:
        """Whether *url* is now fetched without cookies, as by a new visitor."""
        if not self._stateless[url]:
            return False
        self._stateless[url] -= 1
        return True

    def answer(self, page: Fetched) -> list[str]:
        """Take *page*, the answer of `page.url`. Returns the URLs that are wanted next."""
        errands = self._open[page.url]
        errands.popleft().page = page
        if not errands:
            del self._open[page.url]
        # What says nothing of the page is asked again by the next run.
        if not page.is_refusal:
            self._journal.add(page, self.renderer(page.url))
        return self.wanted()

    def _take_answers_in_order(self) -> None:
        """Take the answers that have come, in the order in which pages were asked for, and ask for more pages."""
        while self.given_up is None:
            self._top_up()
            if not self._errands or self._errands[0].page is None:
                return
            self._take_answer(self._errands.popleft())

    def _top_up(self) -> None:
        """Ask for as many further pages as may be under way at once; the campaign begins when the survey is over."""
        while self._survey.to_ask:
            wanted = self._survey.to_ask.popleft()
            self._get_answer(_Errand(wanted.url, survey=wanted))
        if self._survey.over and not self._has_begun:
            self._has_begun = True
            self._learn_from_survey()
        while self._under_way < _AT_A_TIME and self._survey.over:
            probe = self.campaign.next_probe()
            if probe is None:
                return
            self._begin_inquiry(probe)

    def _get_answer(self, errand: _Errand, since: float = 0.0) -> None:
        """Queue *errand*, and take its answer from the journal if one came after *since*; else the page will be fetched."""
        self._errands.append(errand)
        since = max(since, self._not_before)
        errand.page = self._journal.take(errand.url, self.renderer(errand.url), since=since)
        if errand.page is None:
            self._open.setdefault(errand.url, deque()).append(errand)
            self._stateless[errand.url] += errand.stateless
            self._to_send.append(errand.url)

    def _take_answer(self, errand: _Errand) -> None:
        """Give the page of *errand* to the survey, the judge and the inquiries that wait for it."""
        page = errand.page
        assert page is not None
        if errand.survey is not None:
            self._survey.learn(errand.survey, page, self._known_page(errand.survey.made_of or page.url))
            self._keep_answer(page)
        elif not errand.beside:
            self._judge.learn(page, self._known_page(page.url))
        for number, inquiry in enumerate(errand.inquiries):
            inquiry.fetches += number == 0
            self._continue_inquiry(inquiry, page)

    def _learn_from_survey(self) -> None:
        """Mine the log anew if some of its pages change at each fetch, or are no pages."""
        labels = frozenset(self._labels_of_nothing())
        nothing = [url for url in self._evidence.urls if self._evidence.digest(url) in labels]
        if self._anew is not None and (nothing or any(self._judge.learned.changes.values())):
            self._use_reading(self._anew(self._judge.learned, nothing))
            self._judge.take_up(self._site_knowledge)
        self._evidence.nothing = self._judge.nothing_digests | frozenset(self._labels_of_nothing())

    def _labels_of_nothing(self) -> Iterator[str]:
        """The labels of contents that several URLs of the log show, and that the site shows for impossible URLs too."""
        firsts: dict[str, str] = {}
        shared: Counter[str] = Counter()
        for url in self._evidence.urls:
            label = self._evidence.digest(url)
            if label is not None:
                firsts.setdefault(label, url)
                shared[label] += 1
        for label, count in shared.most_common(_SHARED):
            shown = self._shown_in_log(firsts[label])
            if count > 1 and shown is not None and self._judge.shows_nothing(shown):
                yield label

    def _survey_urls(self, urls: Sequence[str], suspects: Sequence[str]) -> Iterator[Wanted]:
        """The URLs of the survey that may be fetched. *suspects*: pages that may change at each fetch."""
        may_be_asked = frozenset(urls)
        texts = {url: digest for url in urls if (digest := self._evidence.digest(url)) is not None}
        for wanted in survey(urls, texts, [url for url in suspects if url in may_be_asked]):
            if wanted.kind is Kind.PAGE or wanted.url not in self.limits.actions:
                yield wanted

    def _may_be_surveyed(self, url: str) -> bool:
        """Whether a survey may ask for *url*: no value in it is hidden, and it looks like no action."""
        return not is_hidden(url) and url not in self.limits.actions

    def _keep_answer(self, page: Fetched) -> None:
        """Keep *page* for later inquiries, in the place of the oldest answer if there are too many; a refusal is not kept."""
        self._kept.pop(page.url, None)
        if page.is_refusal:
            return  # whoever wants it later may have more luck
        self._kept[page.url] = page
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def _known_page(self, url: str) -> Known | None:
        """The page of *url* as the log has it; None if the log has none."""
        page = self._evidence.page_of(url)
        if page is None:
            return None
        at = 0.0 if self._comparing is None else self._comparing.seconds(page.url)
        return Known(self._shown_in_log(url), self._evidence.digest(url), page.sketch, page.size, at)

    def _shown_in_log(self, url: str) -> Answer | None:
        """The page of *url* in units, as the log has it; None if the log has none."""
        page = self._evidence.page_of(url)
        return None if page is None or self._comparing is None else self._comparing.answer(page.url)

    def _begin_inquiry(self, probe: Probe) -> None:
        """Begin the comparison that *probe* asks for; a pair that must not be fetched counts as unknown."""
        pair = probe.pair
        if not self.limits.may_compare(pair.url, pair.target):
            self.campaign.record(probe, Outcome.UNKNOWN)
            return
        self._under_way += 1
        steps = self._inquiry_steps(self.campaign, probe)
        self._get_page(_Inquiry(probe, steps), next(steps))

    def _inquiry_steps(self, campaign: Campaign | LiteralCampaign, probe: Probe) -> Inquiry:
        """The steps that compare the pages of *probe*: those of the papers, or ours."""
        pair = probe.pair
        if isinstance(campaign, LiteralCampaign):
            return fetch_both(pair.url, pair.target, campaign.params.matches)
        known, there = self._known_page(pair.url), self._known_page(pair.target)
        return inquire(
            pair.url,
            pair.target,
            self._judge,
            known,
            there,
            both_linked=there is not None,
            by_redirect=pair.by_redirect,
            key=campaign.key_with(probe.rule),
        )

    def _continue_inquiry(self, inquiry: _Inquiry, page: Fetched) -> None:
        """Give *page* to *inquiry*, then get the next page, or record the outcome."""
        self._keep_answer(page)
        inquiry.latest = max(inquiry.latest, page.at)
        if page.answered and page.url == inquiry.probe.pair.target:
            inquiry.content = page.text_digest
        try:
            ask = inquiry.steps.send(page)
        except StopIteration as end:
            self._under_way -= 1
            found = self._unless_vetoed(inquiry.probe.pair, end.value)
            self.campaign.record(inquiry.probe, found.outcome, inquiry.content, inquiry.fetches, found.why)
            return
        self._get_page(inquiry, ask)

    def _unless_vetoed(self, pair: Pair, found: Finding) -> Finding:
        """*found*, unless the log shows that the spider took other items from the two pages of *pair*."""
        here, there = self._evidence.page_of(pair.url), self._evidence.page_of(pair.target)
        if found.outcome is not Outcome.SAME or self._comparing is None or here is None or there is None:
            return found
        veto = self._comparing.veto(here.url, there.url)
        return found if veto is None else Finding(Outcome.DIFFERENT, veto)

    def _get_page(self, inquiry: _Inquiry, ask: Ask) -> None:
        """Get the page that *inquiry* asks for: from the answers kept, from a fetch under way, or by a new fetch. A URL that is
        made up and looks like an action counts as unanswered.
        """
        url = nonsense_beside(ask.url) if ask.beside else ask.url
        if ask.beside and url in self.limits.actions:
            self._continue_inquiry(inquiry, Fetched(url, url, None))
            return
        is_new = ask.again or ask.stateless
        kept = None if is_new else self._kept.get(url)
        if kept is not None:
            self._continue_inquiry(inquiry, kept)
            return
        same = (one for one in self._errands if one.url == url and one.shared and one.survey is None)
        under_way = None if is_new else next(same, None)
        if under_way is not None:
            under_way.inquiries.append(inquiry)
            return
        # A control must be fetched after the page that it checks.
        errand = _Errand(
            url, inquiries=[inquiry], shared=not is_new, beside=ask.beside, stateless=ask.stateless
        )
        self._get_answer(errand, since=inquiry.latest if is_new else 0.0)
