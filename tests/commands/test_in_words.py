from __future__ import annotations

from scrapy_dust.believe.decisions import Decision
from scrapy_dust.believe.unseen_loss import Witnesses
from scrapy_dust.believe.validation import Tally, Verdict
from scrapy_dust.commands.in_words import in_words
from scrapy_dust.page.site_template import NO_TEMPLATE
from scrapy_dust.page.volatile import Volatile
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.trials.ended import Ended


def decision(name: str, verdict: Verdict, saves: int, contents: int) -> Decision:
    seen = Witnesses(contents, contents)
    return Decision(Rule.of(DropParameter(name)), verdict, saves, Tally(), saves, (), witnesses=seen)


def test_a_run_says_what_no_longer_matters_what_that_spares_and_what_is_still_open():
    decisions = [decision(f"p{n}", Verdict.VALID, n, 50) for n in range(1, 8)]
    decisions.append(decision("view", Verdict.PROBATION, 9, 3))
    told = list(in_words(decisions, [], pages=56))
    assert (
        told[0]
        == "URLs that differ only in this are one page now: the parameters p7, p6, p5, p4, p3 and 2 more."
    )
    assert told[1] == "The rules save 28 of the 56 URLs of these logs (50%)."
    assert "1 rule on probation, seen" in told[2]
    assert "seen on 3 pages: little evidence" in told[2]
    assert len(told) == 3


def test_a_run_that_finds_nothing_says_why():
    (none,) = in_words([], [], pages=9)
    assert none.startswith("No rule was found")
    (refuted,) = in_words([decision("page", Verdict.REFUTED, 9, 0)], [], pages=9)
    assert refuted == "No rule is in force: 1 of 1 rule tried merged different pages."
    decisions = [decision("page", Verdict.REFUTED, 9, 0), decision("sid", Verdict.UNDECIDED, 9, 5)]
    (both,) = in_words(decisions, [], pages=9)
    assert "1 of 2 rules tried merged different pages, the other 1 seen on too few pages." in both
    (few,) = in_words(decisions[1:], [], pages=9)
    assert few == "No rule is in force: 1 rule seen on too few pages. A longer log says more."


def test_where_nothing_could_be_fetched_a_run_names_what_fetches_would_decide():
    decisions = [decision("page", Verdict.REFUTED, 9, 0), decision("sid", Verdict.UNDECIDED, 9, 5)]
    no_fetches = (0, 0, None, (), False, True, True, 0, None, None)
    trials = [Ended("shop.test", decisions, *no_fetches, Volatile(), {}, NO_TEMPLATE, ())]
    still_open, none = in_words(decisions, trials, pages=9)
    assert "whether 1 rule would merge different pages, such as sid=*" in still_open
    assert none == "No rule is in force: 1 of 2 rules tried merged different pages."
