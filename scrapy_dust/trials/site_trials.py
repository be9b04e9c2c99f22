"""The trials of one site: which page is wanted next, and what to make of an answer. No network here.

First a survey: what the site answers for URLs that cannot exist, and what its template looks like. Then the
campaign's probes, several at a time, each an inquiry that asks for one page after the other. A page that two
inquiries want is asked for once, and one that was fetched serves all that want it later.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import urlsplit

from scrapy_dust.crawl_log.hiding import is_hidden
from scrapy_dust.dust.campaign import Campaign, Probe
from scrapy_dust.dust.evidence import LogEvidence
from scrapy_dust.dust.judging import Ask, Fetched, Judge, Outcome, inquire
from scrapy_dust.sites import site_of

#: Pages of the log fetched to see the site's template.
_SURVEYED = 8
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


class SiteTrials:
    """Ask `wanted` for the URLs to fetch now, and give each answer to `answer`, until `finished`."""

    def __init__(self, campaign: Campaign, evidence: LogEvidence, never_probe: Iterable[str] = ()) -> None:
        self.campaign = campaign
        self._evidence = evidence
        self._judge = Judge()
        self._actions = re.compile("|".join(map(re.escape, never_probe)) or r"(?!)", re.IGNORECASE)
        urls = [url for url in evidence.urls if not is_hidden(url)]
        self._survey = deque(_survey(urls)) if not campaign.finished else deque()
        self._surveying: dict[str, bool] = {}  # asked for → whether it cannot exist
        self._waiting: dict[str, list[_Inquiry]] = {}  # asked for → who wants it
        self._kept: dict[str, Fetched] = {}
        self._under_way = 0

    @property
    def site(self) -> str:
        return self.campaign.site

    @property
    def finished(self) -> bool:
        """Whether nothing more is wanted, now or later."""
        return not (self._survey or self._surveying or self._waiting) and self.campaign.finished

    def wanted(self) -> list[str]:
        """URLs to fetch now, none of which was asked for and not answered yet."""
        urls: list[str] = []
        while self._survey:
            url, impossible = self._survey.popleft()
            self._surveying[url] = impossible
            urls.append(url)
        while not self._surveying and self._under_way < _AT_A_TIME:
            probe = self.campaign.next_probe()
            if probe is None:
                break
            urls += self._begin(probe)
        return urls

    def answer(self, page: Fetched) -> list[str]:
        """Take in what `page.url` answered; gives the URLs that are wanted because of it."""
        impossible = self._surveying.pop(page.url, None)
        if impossible is not None:
            self._learn_survey(page, impossible=impossible)
            return []
        self._judge.learn(page)
        urls: list[str] = []
        for number, inquiry in enumerate(self._waiting.pop(page.url)):
            inquiry.fetches += number == 0
            urls += self._continue(inquiry, page)
        return urls

    def _learn_survey(self, page: Fetched, *, impossible: bool) -> None:
        if impossible:
            self._judge.learn_nothing(page)
            self._evidence.nothing = self._judge.nothing_digests
        else:
            self._judge.learn(page)
            self._keep(page)

    def _keep(self, page: Fetched) -> None:
        self._kept.pop(page.url, None)
        self._kept[page.url] = page
        if len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]

    def _begin(self, probe: Probe) -> Iterator[str]:
        pair = probe.pair
        if not self._may_ask(pair.url, pair.target):
            self.campaign.record(probe, Outcome.UNKNOWN)
            return
        self._under_way += 1
        steps = inquire(
            pair.url,
            pair.target,
            self._evidence.digest(pair.url),
            self._judge,
            both_linked=self._evidence.page_of(pair.target) is not None,
        )
        yield from self._step(_Inquiry(probe, steps), next(steps))

    def _may_ask(self, url: str, target: str) -> bool:
        """Whether *target*, if a rule made it up, is safe to ask for: on the site, the scheme kept, no action.

        Of a URL with a value that the log hides the site knows nothing; asked for it, it would show us the door.
        """
        if is_hidden(url) or is_hidden(target):
            return False
        if self._evidence.page_of(target) is not None:
            return True
        made, seen = urlsplit(target), urlsplit(url)
        if made.scheme != seen.scheme or site_of(target) != self.site:
            return False
        return not self._actions.search(made.path) and not self._actions.search(made.query)

    def _continue(self, inquiry: _Inquiry, page: Fetched) -> Iterator[str]:
        self._keep(page)
        if page.answered and page.url == inquiry.probe.pair.target:
            inquiry.content = page.text_digest
        try:
            ask = inquiry.steps.send(page)
        except StopIteration as end:
            self._under_way -= 1
            self.campaign.record(inquiry.probe, end.value, inquiry.content, inquiry.fetches)
            return
        yield from self._step(inquiry, ask)

    def _step(self, inquiry: _Inquiry, ask: Ask) -> Iterator[str]:
        kept = None if ask.again else self._kept.get(ask.url)
        if kept is not None:
            yield from self._continue(inquiry, kept)
        elif ask.url in self._waiting:
            self._waiting[ask.url].append(inquiry)
        else:
            self._waiting[ask.url] = [inquiry]
            yield ask.url


def _survey(urls: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """URLs that cannot exist, on the hosts of the first pages and beside some of them; then those pages."""
    sample = urls[:_SURVEYED]
    nonsense = dict.fromkeys(made for url in sample[:4] for made in _nonsense_beside(url))
    yield from ((url, True) for url in list(nonsense)[:4])
    yield from ((url, False) for url in sample)


def _nonsense_beside(url: str) -> Iterator[str]:
    parts = urlsplit(url)
    word = blake2b(url.encode(), digest_size=8).hexdigest()
    folder, _, name = parts.path.rpartition("/")
    dot = name.rfind(".")
    yield f"{parts.scheme}://{parts.netloc}/{word}"
    yield f"{parts.scheme}://{parts.netloc}{folder}/{word}{name[dot:] if dot > 0 else ''}"
