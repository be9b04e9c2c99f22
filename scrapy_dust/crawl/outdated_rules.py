"""Logs a line at the end of a crawl for each site whose rules seem out of date; see `believe.site_profile`."""

from __future__ import annotations

import xxhash
from scrapy import Request
from scrapy.crawler import Crawler

from scrapy_dust.believe.site_profile import Encounter, sentence_on_untestable
from scrapy_dust.crawl.components import CrawlLogger, listen
from scrapy_dust.crawl.requests import follows_rules
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.crawl_log import log_dir
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rule_book.profiles import known_profiles
from scrapy_dust.stats import Stat
from scrapy_dust.visits.outcomes import Outcome

#: The most URLs that are looked at of one site, and of all sites: that many are a sample.
_OF_A_SITE, _OF_ALL = 5000, 200_000


class Staleness:
    """Watches one crawl for rules that are out of date."""

    def __init__(self, crawler: Crawler, rules: CrawlRules) -> None:
        self._crawler, self._rules = crawler, rules
        profiles = known_profiles(log_dir(rules.settings.dir).parent)
        self._met = {site: Encounter(profiles[site]) for site in rules.sites if site in profiles}
        self._seen: set[int] = set()  #: hashes of URLs
        if self._met:
            listen(crawler, self._request_scheduled, self._response_received)

    def _request_scheduled(self, request: Request) -> None:
        # Sent for requests that the dupefilter then drops, too: those are what rules are for.
        met = self._met.get(self._rules.site_of(request.url) or "")
        if met is None or met.urls >= _OF_A_SITE or len(self._seen) >= _OF_ALL or not follows_rules(request):
            return
        seen = xxhash.xxh3_64_intdigest(request.url.encode("utf-8", "surrogatepass"))
        if seen not in self._seen:
            self._seen.add(seen)
            met.count_url(request.url, {identity for identity, _ in self._rules.explain(request.url)})

    def _response_received(self, request: Request) -> None:
        met = self._met.get(self._rules.site_of(request.url) or "")
        if met is not None and met.answered < _OF_A_SITE:
            met.count_answer(request.url)

    def warn(self) -> None:
        """Log a sentence for each site whose rules seem out of date, and one about canaries without result."""
        stale = 0
        for site, met in self._met.items():
            in_force = [rule_id(site, rule) for rule in self._rules.canonizer.rules(site)]
            signs = met.signs(in_force)
            stale += bool(signs)
            if signs:
                self._warn(f"The rules of {site} seem out of date: {'; '.join(signs)}.")
        stats = self._crawler.stats
        stats.set_value(Stat.STALE_SITES.value, stale)
        tests = {str(one): stats.get_value(f"{Stat.CANARIES}/{one}", 0) for one in Outcome}
        if unsaid := sentence_on_untestable(tests):
            self._warn(f"{unsaid[0].upper()}{unsaid[1:]}: rules that cannot be tested may be out of date.")

    def _warn(self, sentence: str) -> None:
        CrawlLogger(__name__, self._crawler).warning("%s `scrapy dustmine` tests them anew.", sentence)
