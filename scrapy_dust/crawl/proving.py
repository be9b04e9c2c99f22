"""What a crawl does so that its rules stay true: what `DustDupeFilter` asks and tells about each URL that they filter.

Canaries are sent, rules that turn out to be false are suspended, and whatever was suppressed can be given back.
After a suspension keys change: a key that stands for one page may have been another's before. Of such a site a URL
is a duplicate only if it was asked for itself, or if what was fetched for its key has that key still.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from scrapy import Request

from scrapy_dust.crawl.canaries import Canaries
from scrapy_dust.crawl.journal import Suppressions
from scrapy_dust.crawl.suspension import REPLACED, Suspension, any_rule_of
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from scrapy.crawler import Crawler

    from scrapy_dust.crawl.filtering import Behind, Filtering
    from scrapy_dust.crawl.rules import CrawlRules
    from scrapy_dust.dust.rules import Rule

#: Whether rules have still to show themselves in the part of the site where a URL is.
NewGround: TypeAlias = "Callable[[str, Iterable[Rule]], bool]"

#: In a JOBDIR: the rules that were suspended since it was begun, by id, with their sites; and those in doubt.
PROVING_FILE = "dust-proving.json"


class Proving:
    """Of one crawl whose rules are enforced. *register* makes a request known as fetched, under the key it has now."""

    def __init__(
        self,
        crawler: Crawler,
        rules: CrawlRules,
        filtering: Filtering,
        jobdir: str | None,
        register: Callable[[Request], None],
    ) -> None:
        self._crawler, self._rules, self._filtering = crawler, rules, filtering
        self._record = None if jobdir is None else Path(jobdir, PROVING_FILE)
        self._register = register
        self.suppressions = Suppressions(crawler, rules.settings, jobdir)
        self._suspension = Suspension(crawler, rules, filtering, self.suppressions, self._out_of_force)
        self.canaries = Canaries(crawler, rules, self._suspension.concluded)
        self.is_new_ground: NewGround | None = None  #: where rules are learned while the crawl goes on
        self._suspension.is_judging = self.canaries.are_being_judged

    def open(self) -> None:
        """Go on with a job: what was suspended stays so, and what it suppressed is still to be given back."""
        if self._record is not None and self._record.exists():
            known = json.loads(self._record.read_text("ascii"))
            self._suspension.unproved.update(known["unproved"])
            for identity, site in known["suspended"].items():
                self._suspension.go_on_without(site, identity)

    def save(self) -> None:
        """Write down what a pause must not forget."""
        suspended, unproved = self._suspension.suspended, self._suspension.unproved
        if self._record is not None and (suspended or unproved or self._record.exists()):
            said = {"suspended": suspended, "unproved": sorted(unproved)}
            self._record.write_text(json.dumps(said), "ascii")

    @property
    def suspended(self) -> Mapping[str, str]:
        """Ids of rules that turned out to be false, with their sites."""
        return self._suspension.suspended

    def announce_to(self, told: Callable[[str, str], None]) -> None:
        """*told* is told the site and id of each rule that is suspended here."""
        self._suspension.announce = told

    def suspended_elsewhere(self, suspended: Mapping[str, str]) -> bool:
        """Go on without rules that another worker found to be false: ids with sites. Whether any is new."""
        new = {
            identity: site
            for identity, site in suspended.items()
            if identity not in self._suspension.suspended
        }
        for identity, site in new.items():
            self._suspension.go_on_without(site, identity)
        return bool(new)

    def may_be_canary(self, url: str) -> bool:
        """Whether *url* is fetched as it is in case it turns out to be a duplicate."""
        return self.canaries.are_chosen(url) or self._suspension.are_unproved(url, self._rules.canonize(url))

    def becomes_canary(self, request: Request, key: bytes, *, early: bool) -> bool:
        """Whether *request*, which rules would suppress, is fetched to test them; *early*: its keeper has not come."""
        if not self.canaries.are_chosen(request.url):
            is_asked = self._suspension.unproved or self.is_new_ground is not None
            by = self._filtering.behind(request.url, key) if is_asked else ()
            if self._suspension.unproved.isdisjoint(identity for identity, _ in by) and not self._is_new(
                request.url, by
            ):
                return False
        keeper = self._filtering.keeper(key)
        self.canaries.send(request, key, keeper, early=early)
        if (
            keeper is None
        ):  # another worker's, or one of before a pause: the next canary is compared with this one
            self._filtering.fetched(request, key)
        self._crawler.stats.inc_value(Stat.CANARIES.value)
        return True

    def _is_new(self, url: str, by: Sequence[Behind]) -> bool:
        return self.is_new_ground is not None and self.is_new_ground(url, [rule for _, rule in by])

    def suppress(self, request: Request, key: bytes) -> bool:
        """*request* is suppressed. False: it cannot be kept for the case that this is wrong, and is let through."""
        ids = tuple(identity for identity, _ in self._filtering.behind(request.url, key))
        canonical, keeper = self._rules.canonize(request.url), self._filtering.keeper(key)
        # Of a keeper that is not known nobody can say which rules made its key: any of the site's.
        also = () if keeper is not None else (any_rule_of(self._rules.site_of(request.url) or ""),)
        if not self.suppressions.add(request, canonical, ids, keeper, also):
            return False
        self._filtering.count(request, key)
        return True

    def replace(self, written: Request, key: bytes) -> None:
        """The canonical URL is fetched in the place of *written*, which is given back if a rule between them is false."""
        ids = tuple(identity for identity, _ in self._filtering.behind(written.url, key))
        canonical = self._rules.canonize(written.url)
        if not self.suppressions.add(written, canonical, ids, self._filtering.keeper(key), (REPLACED,)):
            self._suspension.offer(written)

    def fetched_after_all(self, request: Request) -> None:
        """*request* was suppressed, and is let through since what stood for its class brought no page."""
        self.suppressions.fetched_after_all(request.url)

    def is_another_page(self, request: Request, key: bytes) -> bool:
        """Whether *request*, never asked for, may be seen only because its key was another page's before."""
        site = self._rules.site_of(request.url)
        if site not in self._rules.learned and site not in self._suspension.suspended.values():
            return False
        keeper = self._filtering.keeper(key)
        return keeper is None or self._rules.canonize(keeper) != self._rules.canonize(request.url)

    def _out_of_force(self, site: str, rule: Rule, also_fetched: list[str]) -> None:
        urls = self._filtering.fetched_because_of(site, rule) + also_fetched
        self._rules.suspend(site, rule)
        # What was fetched and is linked again is no new page.
        for url in urls:
            self._register(Request(url))
        self.save()
