"""Small logs whose DUST is known, for learners."""

from __future__ import annotations

from collections.abc import Iterable

from scrapy_dust.visits.pages import SiteLog, Visit, merge_visits

SITE = "a.example"


def page(url: str, content: int) -> Visit:
    """*url* as a page with *content*: equal numbers, equal text; different ones, no shingle in common."""
    sketch = tuple(content * 10 + place for place in range(4))
    return Visit(url, status=200, size=(1000 + content,) * 2, sketch=sketch, text_digest=f"text {content}")


def log_of(*groups: Iterable[str]) -> SiteLog:
    """A log in which the URLs of each group show one page, and those of different groups different ones."""
    return merge_visits(page(url, number) for number, urls in enumerate(groups) for url in urls)
