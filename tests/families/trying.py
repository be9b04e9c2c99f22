"""Generated sites as `dustmine` tries rules on them: the log is drawn, and fetches are answered by hand, without a network."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime

from scrapy.http import Headers, HtmlResponse, XmlResponse

from scrapy_dust.believe.validation import Verdict
from scrapy_dust.judge.answers import Fetched
from scrapy_dust.page.sketch import describe
from scrapy_dust.page.units import pack
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.trials.answers import fetched, unanswered
from scrapy_dust.trials.learning import mine, prepare
from scrapy_dust.trials.reading import Reporter
from scrapy_dust.visits.pages import Visit
from tests.crawl.site import Answer
from tests.families.drafting import Fetch, Web
from tests.families.logged import HOST, drawn
from tests.families.running import joined, wrongly

#: When the log was made.
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


@dataclass(frozen=True)
class Tried:
    """What validation found of one site."""

    fetches: int
    aliases: int  #: URLs beyond one of each page
    joined: int  #: of these, how many the rules take for the page they are
    wrongly: int  #: pages that the rules take for another page


class _Serving:
    """The site, which takes a second for each answer."""

    def __init__(self, web: Web, seed: str) -> None:
        self._web, self._chance, self._times = web, random.Random(seed), Counter[str]()
        self.now = _BEGAN

    def answer(self, path: str) -> Answer | None:
        self.now += 1
        page = self._web.pages.get(path)
        if page is None:
            return None
        self._times[path] += 1
        return page.show(Fetch(random.Random(self._chance.getrandbits(64)), self._times[path]))

    def visit(self, path: str) -> Visit:
        answer, url = self.answer(path), HOST + path
        assert answer is not None
        said = describe(answer.body, answer.headers.get("Content-Type"), None, url)
        assert said.units is not None
        when = datetime.fromtimestamp(self.now, UTC).isoformat()
        units, digest = pack(said.units), said.text_digest
        return Visit(url, answer.status, text_digest=digest, sketch=said.sketch, units=units, fetched_at=when)

    def fetch(self, url: str) -> Fetched:
        answer = self.answer(url.removeprefix(HOST))
        if answer is None:
            return _at(unanswered(url, 404), self.now)
        is_xml = "xml" in answer.headers.get("Content-Type", "")
        made = (XmlResponse if is_xml else HtmlResponse)(
            url, body=answer.body, headers=Headers(answer.headers)
        )
        return _at(fetched(made, url), self.now)


def _at(page: Fetched, now: float) -> Fetched:
    return Fetched(
        page.url, page.final_url, page.status, page.shown, page.text_digest, page.sketch, page.marks, now
    )


def tried(family: str, seed: int = 0) -> Tried:
    """What validation finds on the site that *family* draws from *seed*; every page has to answer with status 200."""
    web = drawn(family, seed)
    serving = _Serving(web, f"{family} {seed}")
    order = random.Random(seed).sample(list(web.pages), len(web.pages))
    visits = [serving.visit(path) for path in order]
    site = HOST.partition("://")[2]
    mined = mine({site: visits}, DustSettings(), Reporter())
    trials = list(prepare(mined, RuleBook(), Verdicts(), DustSettings()))
    fetches, rules = 0, []
    for one in trials:
        wanted = one.wanted()
        while wanted:
            fetches += 1
            wanted += one.answer(serving.fetch(wanted.pop(0)))
        one.campaign.believe_the_log()
        rules += [told.rule for told in one.campaign.decisions if told.verdict is Verdict.VALID]
    canonizer = Canonizer({site: rules}, site_of)
    keys = {path: canonizer.canonize(HOST + path) for path in web.pages}
    aliases = web.aliases()
    return Tried(fetches, sum(len(paths) - 1 for paths in aliases), joined(keys, aliases), wrongly(keys, web))
