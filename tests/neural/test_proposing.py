"""What a network maps together becomes edits, and what becomes of those that are not true."""

from __future__ import annotations

import pytest

from benchmarks.table3 import SITE, log_of_cases
from scrapy_dust.believe.campaign import Campaign
from scrapy_dust.believe.candidates import Candidate
from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.engines.local import trial_params
from scrapy_dust.neural.distilling import proposals_of
from scrapy_dust.neural.proposing import likely_edits
from scrapy_dust.rules.paths import MapSegments
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of

LOG = log_of_cases(40)
URLS = [page.url for page in LOG.pages]
CONTENTS = {page.url: page.text_digest for page in LOG.pages}

#: Networks, as what they say of a URL: case 2 of the paper's table 3, which is true, and case 5, which is made up.
TRUE = {url: url.rstrip("/").replace("/questions/", "/q/") if url.endswith("/") else url for url in URLS}
MADE_UP = {url: url.replace("/t/prev/", "/q/") for url in URLS}


def verdicts(rules):
    campaign = Campaign(
        [Candidate((rule,), 40) for rule in rules],
        LogEvidence(LOG, URLS),
        trial_params(DustSettings(), log_only=True),
        site=SITE,
        site_of=site_of,
    )
    assert campaign.next_probe() is None
    return {one.rule: one.verdict for one in campaign.decisions}


def test_what_is_true_is_proposed_and_admitted():
    edits = likely_edits(TRUE, CONTENTS, 3)
    questions = [url for url in URLS if "/questions/" in url and url.endswith("/")]
    makes_it = [one.rule for one in edits if all(one.rule.apply(url) == TRUE[url] for url in questions)]
    assert makes_it
    assert all(one.support == 40 for one in edits if one.rule in makes_it)
    assert Verdict.VALID in verdicts(makes_it).values()


def test_what_stands_in_a_database_is_not_proposed():
    assert any(url != key for url, key in MADE_UP.items())
    assert proposals_of(MADE_UP)
    assert likely_edits(MADE_UP, CONTENTS, 3) == []


def test_if_it_were_proposed_admission_would_keep_it_out():
    made_up = Rule((MapSegments(("t", "prev"), ("q",)),))
    previous = next(url for url in URLS if "/t/prev/" in url)
    assert made_up.apply(previous) == MADE_UP[previous]
    assert verdicts([made_up]) == {made_up: Verdict.REFUTED}
    everything = [one.edit for one in proposals_of(MADE_UP)]
    assert [rule for rule, verdict in verdicts(everything).items() if verdict is Verdict.VALID] == []


@pytest.mark.parametrize("least", [41, 1000])
def test_less_than_was_asked_for_is_not_proposed(least):
    assert likely_edits(TRUE, CONTENTS, least) == []
