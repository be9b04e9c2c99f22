"""KeepAll: every URL is a page of its own. SIGIR'17's floor, which both of its rule learners fell below."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy_dust.learners.learner import Learned, unchanged
from scrapy_dust.visits.pages import SiteLog


@dataclass(frozen=True, slots=True)
class KeepAll:
    """A learner that learns nothing: each URL is its own key."""

    name: str = "keepall"

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Learn nothing: the key of a URL is the URL."""
        return Learned(unchanged)
