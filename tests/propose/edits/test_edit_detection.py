"""Edits that a log suggests by the words of its pages, and leaves to trials."""

from __future__ import annotations

from scrapy_dust.propose.edits.edit_detection import detect_edits
from scrapy_dust.propose.edits.edit_learning import EditParams
from scrapy_dust.visits.pages import Page, SiteLog


def suggested(shown: dict[str, tuple[str, int]]) -> list[tuple[str, int, bool]]:
    """The edits for a log of URLs with what they show, and their words."""
    pages = [Page(url, text_digest=label, sketch=(words, 2, 3, 4)) for url, (label, words) in shown.items()]
    found = detect_edits(SiteLog(pages, {}), EditParams()).edits
    return [(str(one.rule), one.support, one.weighed) for one in found]


def hosts(words: int) -> dict[str, tuple[str, int]]:
    """Pages under two hosts, which link to pages of their own host; *words*: how many of them differ in words."""
    return {
        f"http://{host}s.test/{n}": (f"{host}{n}", n + 1000 * (host != "" and n < words))
        for n in range(20)
        for host in ("", "www.")
    }


def test_pages_of_two_hosts_that_differ_in_their_links_alone_are_left_to_a_trial() -> None:
    assert suggested(hosts(words=0)) == [("//www. → //", 20, False)]
    assert suggested(hosts(words=1)) == [("//www. → //", 19, False)]


def test_hosts_with_different_words_are_not() -> None:
    assert suggested(hosts(words=10)) == []
