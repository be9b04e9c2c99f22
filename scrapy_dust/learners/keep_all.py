"""KeepAll: every URL is a page of its own. SIGIR'17's floor, which both of its rule learners fell below."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_dust.dust.pages import SiteLog
from scrapy_dust.learners.learner import Learned, unchanged


@dataclass(frozen=True, slots=True)
class KeepAll:
    """A learner that learns nothing: each URL is its own key."""

    name: str = "keepall"

    def learn(self, site: str, log: SiteLog) -> Learned:
        return Learned(unchanged)
