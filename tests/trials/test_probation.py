"""Rules from elsewhere, and what a site's answers declared, come into force or are refuted by what our own log shows.

Nothing is fetched here.
"""

from __future__ import annotations

from dataclasses import replace

from scrapy_dust.engines.local import mine_log
from scrapy_dust.page.site_log import site_log
from scrapy_dust.propose.dustbuster.elimination import Elimination
from scrapy_dust.rule_book import Entry, RuleBook, Status
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.concluding import with_decisions
from scrapy_dust.trials.learning import decided_from_log
from scrapy_dust.visits.pages import Visit

SITE = "a.example"
SID, PAGE, OTHER = (
    Rule.of(DropParameter("sid")),
    Rule.of(DropParameter("page")),
    Rule.of(DropParameter("other")),
)


def visits(says=None):
    """``sid`` says nothing, ``page`` says which page. *says*: what each answer declares of its parameters."""
    for n in range(40):
        for url, text in (
            (f"http://a.example/p{n}", f"text {n}"),
            (f"http://a.example/p{n}?sid={n}", f"text {n}"),
            (f"http://a.example/p{n}?page=2", f"other text {n}"),
        ):
            first = 8 * n + 4 * text.startswith("other")
            sketch = (first, first + 1, first + 2, first + 3)
            yield Visit(url, 200, (900, 900), sketch, digest=text, text_digest=text, no_vary_search=says)


def after_a_run(book, says=None):
    settings = DustSettings()
    mined = mine_log(SITE, site_log(visits(says)), settings)
    # As if the log had led to nothing: only what comes from elsewhere is tried.
    bare = replace(mined, likely=(), elimination=Elimination((), ()), parameters=(), edits=())
    trials = list(decided_from_log([bare], book, Verdicts(), settings))
    return with_decisions(book, trials, ["log"], "2026-11-18")


def test_what_the_log_proves_comes_into_force_and_what_it_contradicts_does_not():
    entries = [Entry(rule, Status.PROBATION, reason="imported") for rule in (SID, PAGE, OTHER)]
    before = RuleBook().with_site(SITE, entries)
    assert before.rules_by_site() == {}
    after = {entry.rule: entry for entry in after_a_run(before).entries(SITE)}
    assert (after[SID].status, after[SID].reason) == (Status.VALID, None)
    assert after[SID].evidence.positive > 0
    assert after[PAGE].status is Status.REFUTED
    assert after[OTHER] == entries[2]


def test_what_answers_declared_while_the_log_was_made_is_tried_and_proves_itself_as_others_do():
    after = after_a_run(RuleBook(), 'params=("sid" "page" "other")').entries(SITE)
    assert {str(entry.rule): entry.status for entry in after} == {
        "sid=* → (left out), where the host is a.example": Status.VALID
    }
    assert after_a_run(RuleBook()).entries(SITE) == ()
