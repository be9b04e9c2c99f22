"""Makes keys as a Scrapy crawl does: Scrapy's fingerprints, with a learner's rules or without.

Scrapy's fingerprints are of `canonicalize_url`: parameters sorted, fragments left out, percent-codes spelled in one
way. Where rules are in force, the form that they give a URL is fingerprinted in the same way. So the log of a crawl
never shows two URLs that differ in that alone, and nobody needs to learn it; other lists of URLs have such pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

from w3lib.url import canonicalize_url

from scrapy_dust.learners.interface import Learned, Learner
from scrapy_dust.visits.pages import SiteLog


@dataclass(frozen=True, slots=True)
class InCrawl:
    """The keys of a crawl with the rules of another learner."""

    learner: Learner
    name: str

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Have the other learner learn from *log*, and make keys as a Scrapy crawl with its rules does."""
        return with_scrapy_keys(self.learner.learn(site, log))


def with_scrapy_keys(learned: Learned) -> Learned:
    """*learned* with the keys that Scrapy makes of the learned keys."""
    return Learned(lambda url: key_in_scrapy(learned.key(url)), learned.rules)


def key_in_scrapy(url: str) -> str:
    """The URL by which Scrapy's fingerprinter compares *url*."""
    try:
        return canonicalize_url(url)
    except ValueError:  # no URL, for the standard library
        return url
