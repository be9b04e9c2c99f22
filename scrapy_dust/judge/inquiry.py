"""Judges one pair of URLs: which pages to fetch, one after the other, and what the answers prove.

An inquiry fetches nothing itself: `inquire` yields the page that it wants, and is sent the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from scrapy_dust.believe.paper_validation import sketches_agree
from scrapy_dust.judge.answers import Fetched, Known
from scrapy_dust.judge.judging import SAME_TIME, Judge
from scrapy_dust.page.compare import Same, Verdict
from scrapy_dust.visits.outcomes import Outcome

#: How often at most two pages are fetched again that differ where other texts change at each fetch, and may do so by chance; and how
#: often in a row they must differ in the same. Of words that half of the answers have, one in a thousand passes for one that lasts.
_ROUNDS, _UNCHANGED = 12, 5


@dataclass(frozen=True, slots=True)
class Ask:
    """A page that an inquiry wants."""

    url: str
    again: bool = False  #: a new fetch, even if the page is at hand
    beside: bool = False  #: the page of a URL that cannot exist, beside this one
    elsewhere: bool = False  #: the page of a URL that cannot exist, in a part of the site that cannot exist
    stateless: bool = False  #: a new fetch as well, by somebody whom the site has not met


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of an inquiry."""

    outcome: Outcome
    why: str = ""  #: where the pages differ, or why nothing can be told; a sentence without its end


Inquiry = Generator[Ask, Fetched, Finding]
_OUTCOMES = {Same.SAME: Outcome.SAME, Same.DIFFERENT: Outcome.DIFFERENT, Same.UNKNOWN: Outcome.UNKNOWN}


def inquire(
    url: str,
    target: str,
    judge: Judge,
    known: Known | None = None,
    known_target: Known | None = None,
    *,
    both_linked: bool = False,
    both_shown: bool = False,
    by_redirect: bool = False,
    key: Callable[[str], str] | None = None,
) -> Inquiry:
    """Judge the pair with as few fetches as possible: one if the log has the page of *url*, four as a rule, more where pages
    change at each fetch.

    A difference counts only if further fetches of both URLs confirm it, and if the site does not answer alike for a URL
    that cannot exist: beside a target that a rule made up, and beside a *url* that is not *known*. *both_linked*: a
    crawl meets both URLs. Then a page and a "not found" with status 200 are different: the page would be lost if the
    other URL were fetched first, since nobody sees that fetch fail. *both_shown*: a crawl has got a page from both URLs
    just now. Then the site's answer for a URL that cannot exist is no page only if the whole site gives it: any name
    beside an item's page may show the item. *by_redirect*: the log has nothing but a redirect. A redirect counts if it
    comes again without cookies: some sites redirect by a cookie or by the page one came from. *key*: gives the key of a
    URL by the rules in force and the rule on trial. Links to URLs of one key are one link.
    """
    if by_redirect:
        return (yield from _test_redirect(url, target, judge))
    finding = yield from _compare_both(url, target, judge, known, known_target, both_linked, both_shown, key)
    if finding.outcome is Outcome.SAME and known is not None and known_target is not None:
        contradicting = judge.contradicts(known, known_target, key)
        if contradicting is not None:
            return Finding(
                Outcome.DIFFERENT,
                f"{contradicting.why} in the log, and fetches do not see what the crawl saw",
            )
    return finding


def _compare_both(
    url: str,
    target: str,
    judge: Judge,
    known: Known | None,
    known_target: Known | None,
    both_linked: bool,
    both_shown: bool,
    key: Callable[[str], str] | None,
) -> Inquiry:
    """Fetch *target* and, where the log does not suffice, *url*, and find whether both show one page."""
    there = yield Ask(target)
    if not there.answered:
        outcome = Outcome.UNKNOWN if there.is_refusal and there.status != 500 else Outcome.UNFETCHABLE
        return Finding(outcome, f"{target} answered {there.status or 'nothing'}")
    if judge.is_in_the_way(there, known_target):
        return Finding(Outcome.UNKNOWN, f"{target} shows another page than in the log")
    if there.final_url == url and target != url and not judge.is_nothing(there):
        again = yield Ask(target, stateless=True)
        comes_again = again.final_url == url
        return Finding(
            Outcome.SAME if comes_again else Outcome.UNKNOWN,
            f"{target} redirects to {url}{'' if comes_again else ', but not without cookies'}",
        )
    if known is not None and (yield from _shows_known_page(there, known, known_target, judge, key)):
        return Finding(Outcome.SAME)
    here = yield Ask(url)
    if not here.answered or judge.is_in_the_way(here, known):
        return Finding(Outcome.UNKNOWN, f"{url} does not show its page")
    no_page = _missing_page(here, there, judge, both_linked=both_linked)
    if no_page is not None:
        return no_page
    verdict = judge.compare(here, there, target_again=judge.control(there, known_target), key=key)
    if not _may_be_revised(verdict):
        return _finding_of(verdict)
    return (yield from _confirm(here, there, judge, known, known_target, both_linked, both_shown, key))


def _shows_known_page(
    there: Fetched, known: Known, known_target: Known | None, judge: Judge, key: Callable[[str], str] | None
) -> Generator[Ask, Fetched, bool]:
    """Whether *there*, the answer of one URL, shows the page *known* that the log has of the other. Fetches *there*
    again if only parts differ that change at each fetch.
    """
    if known.shown is None:
        return judge.is_known_page(there, known, key) and not judge.is_nothing(there)
    verdict = judge.compare_known(there, known, key, known_target)
    # With a control at hand, an answer of the other URL tells more than one more of this.
    if verdict is not None and verdict.is_where_more_changes and not judge.control(there, known_target):
        again = yield from _ask_again(there, None, judge)
        if again is not None:
            verdict = judge.compare_known(there, known, key, known_target, [again])
    return verdict is not None and verdict.same is Same.SAME


def fetch_both(url: str, target: str, matches: int) -> Inquiry:
    """Fetch both URLs, and compare their sketches, of which *matches* numbers must be equal: lines 7 to 12 of figure 3
    in WWW'07.
    """
    here = yield Ask(url)
    if not here.answered:
        return Finding(Outcome.UNKNOWN, f"{url} answered {here.status or 'nothing'}")
    there = yield Ask(target)
    if not there.answered:
        return Finding(Outcome.UNFETCHABLE, f"{target} answered {there.status or 'nothing'}")
    if here.sketch and there.sketch:
        similar = sketches_agree(here.sketch, there.sketch, matches)
    else:
        similar = here.text_digest == there.text_digest
    return Finding(Outcome.SAME) if similar else Finding(Outcome.DIFFERENT, "differ in their sketches")


def _missing_page(here: Fetched, there: Fetched, judge: Judge, *, both_linked: bool) -> Finding | None:
    """The finding where *here* or *there* is the site's "not found" or an empty page; None if both show a page."""
    if both_linked and judge.is_nothing(here) is not judge.is_nothing(there):
        return Finding(Outcome.DIFFERENT, "one of the two is the site's “not found”")
    if judge.is_nothing(here):
        return Finding(Outcome.UNKNOWN, f"{here.url} shows no page of its own")
    if judge.is_nothing(there):
        return Finding(Outcome.UNFETCHABLE, f"{there.url} shows no page of its own")
    return None


def _test_redirect(url: str, target: str, judge: Judge) -> Inquiry:
    """Fetch without cookies, and find whether the redirect between *url* and *target* that the log has comes again."""
    here = yield Ask(url, stateless=True)
    if not here.answered:
        return Finding(Outcome.UNKNOWN, f"{url} answered {here.status or 'nothing'}")
    if here.final_url == target:
        return Finding(Outcome.SAME, f"{url} redirects to {target}")
    there = yield Ask(target, stateless=True)
    if not there.answered:
        outcome = Outcome.UNKNOWN if there.is_refusal else Outcome.UNFETCHABLE
        return Finding(outcome, f"{target} answered {there.status or 'nothing'}")
    if here.final_url == there.final_url:
        return Finding(Outcome.SAME, f"both redirect to {there.final_url}")
    if judge.is_nothing(here) or judge.is_nothing(there):
        return Finding(Outcome.UNKNOWN, "one of them shows no page of its own")
    return _finding_of(judge.compare(here, there))


def _confirm(
    here: Fetched,
    there: Fetched,
    judge: Judge,
    known: Known | None,
    known_target: Known | None,
    both_linked: bool,
    both_shown: bool,
    key: Callable[[str], str] | None,
) -> Inquiry:
    """Fetch both pages again, since they differ, and find whether they still do."""
    controls: list[Fetched] = []
    # Where the crawl has seen the very same page, the log is the control; not for a target fetched on another day.
    seen_before = known is not None and here.at >= there.at - SAME_TIME
    if known is not None and seen_before and judge.is_known_page(here, known, key):
        judge.learn_kept(here, known)
    else:
        again = yield from _ask_again(here, known, judge)
        if again is None:
            return Finding(Outcome.UNKNOWN, f"{here.url} did not show its page again")
        controls = [again]
    # That two pages are one, earlier answers show as well; that they are not, only answers of now.
    earlier = judge.earlier(there)
    if earlier and judge.compare(here, there, controls, earlier, key=key).same is Same.SAME:
        return Finding(Outcome.SAME, "nothing new on either")
    verdict = judge.compare(here, there, controls, key=key)
    if not _may_be_revised(verdict):
        return _finding_of(verdict)
    # A page of the log is known to be one; a page that a rule made up or that just came may be what any name shows:
    # a "not found" of this part of the site alone, or a page that any name leads to.
    for page in () if both_linked else (there, *((here,) if known is None else ())):
        if (yield from _any_name_shows(page, judge, everywhere=both_shown)):
            # A crawl may have another page of the class, where the target has none.
            is_target = both_shown and page is there
            outcome = Outcome.UNFETCHABLE if is_target else Outcome.UNKNOWN
            return Finding(outcome, f"any name beside {page.url} shows its page")
    return (yield from _in_rounds(here, there, judge, controls, known_target, key))


def _in_rounds(
    here: Fetched,
    there: Fetched,
    judge: Judge,
    controls: list[Fetched],
    known_target: Known | None,
    key: Callable[[str], str] | None,
) -> Inquiry:
    """Fetch both pages again and again, as long as they differ in what may differ by chance. *controls*: further answers to
    the URL of *here*.
    """
    target_controls: list[Fetched] = []
    unchanged, before = 0, None
    for number in range(_ROUNDS):
        # Where texts change at each fetch, two answers may differ from two others by chance.
        for page, known, answers in ((here, None, controls), (there, known_target, target_controls)):
            if page is there or number:
                again = yield from _ask_again(page, None if answers else known, judge)
                if again is None:
                    return Finding(Outcome.UNKNOWN, f"{page.url} did not show its page again")
                answers.append(again)
        verdict = judge.compare(here, there, controls, target_controls, key=key)
        only = verdict.only_a, verdict.only_b
        unchanged, before = unchanged + 1 if only == before else 0, only
        if not verdict.is_where_more_changes or unchanged == _UNCHANGED:
            break
    return _finding_of(verdict)


def _may_be_revised(verdict: Verdict) -> bool:
    """Whether further answers to both URLs may lead to another verdict than *verdict*."""
    return verdict.same is not Same.SAME and bool(verdict.only_a or verdict.only_b or verdict.is_unread)


def _any_name_shows(page: Fetched, judge: Judge, *, everywhere: bool) -> Generator[Ask, Fetched, bool]:
    """Fetch a URL beside *page* that cannot exist, and tell whether it shows *page* too. *everywhere*: such a URL in
    another part of the site must show *page* as well.
    """
    if not judge.is_like(page, (yield Ask(page.url, beside=True))):
        return False
    return not everywhere or judge.is_like(page, (yield Ask(page.url, elsewhere=True)))


def _ask_again(page: Fetched, known: Known | None, judge: Judge) -> Generator[Ask, Fetched, Fetched | None]:
    """One more answer to the URL of *page*, from the log if it is as good as a fetch; None if the page is gone."""
    for control in judge.control(page, known):
        return control
    again = yield Ask(page.url, again=True)
    if not again.answered or judge.is_nothing(again):
        return None
    judge.learn_again(page, again)
    return again


def _finding_of(verdict: Verdict) -> Finding:
    """The finding that a verdict of the judge leads to."""
    return Finding(_OUTCOMES[verdict.same], verdict.why)
