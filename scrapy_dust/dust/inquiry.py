"""One pair, found out: which pages to ask for, one after the other, and what they say in the end.

Who fetches is not its business: `inquire` yields what it wants, and is sent the answer.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from scrapy_dust.dust.judging import Fetched, Judge, Known, is_like
from scrapy_dust.dust.outcomes import Outcome

#: Seconds in which a page is not expected to become another one.
_SAME_TIME = 3600.0


@dataclass(frozen=True, slots=True)
class Ask:
    """A page that an inquiry wants."""

    url: str
    again: bool = False  #: a new fetch, even if the page is at hand
    beside: bool = False  #: not this page, but what the site answers beside it where nothing can be


def inquire(
    url: str,
    target: str,
    judge: Judge,
    known: Known | None = None,
    known_target: Known | None = None,
    *,
    both_linked: bool = False,
    thorough: bool = False,
) -> Generator[Ask, Fetched, Outcome]:
    """Find out what the pair says, with as few fetches as it takes: one where the log knows *url*'s text.

    A difference counts only when the log or a control fetch shows that *url* is not different from itself, and when the
    site does not answer likewise for what cannot exist beside a target that a rule made up.
    *both_linked*: a crawl meets both. Then a page and a "not found" with status 200 are different: the page
    would be lost if the other were fetched first, for nobody sees it fail.
    *thorough*: pairs like this one are the same in general. Then more than a few words must be different, and *target*
    is to be no other page at a second look, either.
    """
    there = yield Ask(target)
    if not there.answered:
        return Outcome.UNKNOWN if there.is_refusal and there.status != 500 else Outcome.UNFETCHABLE
    if judge.is_in_the_way(there, known_target):
        return Outcome.UNKNOWN
    if there.final_url == url and target != url and not judge.is_nothing(there):
        return Outcome.SAME
    if known is not None and known.text_digest == there.text_digest and not judge.is_nothing(there):
        return Outcome.SAME
    here = yield Ask(url)
    if not here.answered or judge.is_in_the_way(here, known):
        return Outcome.UNKNOWN
    if both_linked and judge.is_nothing(here) is not judge.is_nothing(there):
        return Outcome.DIFFERENT
    outcome = judge.compare(here, there)
    if outcome is not Outcome.DIFFERENT:
        return outcome
    return (yield from _confirm(here, there, judge, known, known_target, both_linked, thorough))


def _confirm(
    here: Fetched,
    there: Fetched,
    judge: Judge,
    known: Known | None,
    known_target: Known | None,
    both_linked: bool,
    thorough: bool,
) -> Generator[Ask, Fetched, Outcome]:
    """What stays of a difference when its pages are looked at again."""
    url, target = here.url, there.url
    # Where the crawl has seen the very same text, that is the control; but not for a target fetched on another day.
    seen_before = _is_what_was_seen(here, known) and here.at >= there.at - _SAME_TIME
    control = here if seen_before else (yield Ask(url, again=True))
    if not control.answered or judge.compare(here, control) is not Outcome.SAME:
        return Outcome.UNKNOWN
    if not both_linked and is_like(there, (yield Ask(target, beside=True))):
        # Either a "not found" of this part of the site alone, or a page that any name leads to.
        return Outcome.UNKNOWN
    if thorough and judge.differ_in_one_place(here, there):
        return Outcome.UNKNOWN
    if thorough and not _is_what_was_seen(there, known_target):
        again = yield Ask(target, again=True)
        if not again.answered or judge.compare(there, again) is not Outcome.SAME:
            return Outcome.UNKNOWN
    return judge.compare(control, there)


def _is_what_was_seen(page: Fetched, known: Known | None) -> bool:
    return known is not None and known.text_digest == page.text_digest
