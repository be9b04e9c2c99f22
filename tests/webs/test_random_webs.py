"""The law of `tests/webs/law.py` on some of the webs that ``python -m benchmarks.webs`` looks at; and that it finds bugs."""

from __future__ import annotations

import pytest

from scrapy_dust.rule_book import Status
from tests.webs.drawing import web
from tests.webs.law import breaks, finding
from tests.webs.planted import planted
from tests.webs.shrinking import shrunk

pytestmark = pytest.mark.once

#: Bugs, each with a web that shows it. More of them: ``python -m benchmarks.webs --bug "heirs off"``.
SHOWN_BY = [
    ("callbacks are one", 37),
    ("depths are one", 277),
    ("inner dupefilter overruled", 28),
    ("failures are pages", 37),
    ("any answer is a page", 65),
    ("what raises is a page", 98),
    ("heirs off", 37),
    ("login guard off", 128),
    ("strangers choose", 56),
    ("pauses forget", 76),
    ("canaries off", 278),
    ("giving back off", 99),
]

#: Webs on which items were once lost.
BROKEN_BEFORE = (33, 116, 139, 155, 30_175, 33_615, 33_675, 34_066, 35_138, 35_748)


def test_no_item_is_lost_where_it_once_was():
    assert [number for number in BROKEN_BEFORE if breaks(web(number))] == []


#: Webs on which items were once lost by rules that came into force in mid-crawl, after a page or two.
ON_PROBATION = (88, 228, 317)
SOON = {"status": Status.PROBATION, "DUST_MAX_RISK": 0.6, "DUST_MAX_LOSS": 0.3}


def test_no_item_is_lost_by_true_rules_that_a_crawl_proves():
    assert [number for number in ON_PROBATION if finding(web(number), **SOON).is_broken] == []


@pytest.mark.parametrize("first", range(0, 175, 25))
def test_no_item_is_lost(first):
    assert [number for number in range(first, first + 25) if breaks(web(number))] == []


@pytest.mark.parametrize(("bug", "number"), SHOWN_BY)
def test_a_planted_bug_is_found(bug, number):
    with planted(bug):
        assert breaks(web(number))


def test_what_breaks_the_law_is_made_small():
    bug, number = "heirs off", 37
    with planted(bug):
        small = shrunk(web(number), breaks)
        assert breaks(small)
    assert not breaks(small)
    assert len(small.answers) <= 4
    assert len(small.rules) == 1
