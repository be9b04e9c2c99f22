"""The law of `tests/webs/law.py` on some of the webs that ``python -m benchmarks.webs`` looks at; and that it finds bugs."""

from __future__ import annotations

import pytest

from tests.webs.drawing import web
from tests.webs.law import breaks
from tests.webs.planted import planted
from tests.webs.shrinking import shrunk

pytestmark = pytest.mark.once

#: Bugs, each with a web that shows it. More of them: ``python -m benchmarks.webs --bug "heirs off"``.
SHOWN_BY = [
    ("redirect guard off", 105),
    ("canaries off", 32),
    ("heirs off", 21),
    ("login guard off", 138),
    ("giving back off", 89),
]

#: Webs on which contents were once lost.
BROKEN_BEFORE = (918, 21_259, 21_389)


def test_no_content_is_lost_where_it_once_was():
    assert [number for number in BROKEN_BEFORE if breaks(web(number))] == []


@pytest.mark.parametrize("first", range(0, 175, 25))
def test_no_content_is_lost(first):
    assert [number for number in range(first, first + 25) if breaks(web(number))] == []


@pytest.mark.parametrize(("bug", "number"), SHOWN_BY)
def test_a_planted_bug_is_found(bug, number):
    with planted(bug):
        assert breaks(web(number))


def test_what_breaks_the_law_is_made_small():
    bug, number = SHOWN_BY[0]
    with planted(bug):
        small = shrunk(web(number), breaks)
        assert breaks(small)
    assert not breaks(small)
    assert len(small.answers) <= 3
    assert len(small.rules) == 1
