"""What is learned of a site depends on its own records, whoever else is in the log."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dust.engines.gathering import gather
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.learning import mine
from scrapy_dust.trials.reading import Reporter
from tests.learners.logs import SITE, page

OWN = [
    page(url, number)
    for number in range(12)
    for url in (f"http://{SITE}/p?id={number}", f"http://{SITE}/p?id={number}&sid={number + 7}")
]
ELSEWHERE = st.tuples(
    st.sampled_from(["b.example", "c.example"]), st.sampled_from(["id", "sid"]), st.integers(0, 3)
).map(lambda drawn: f"http://{drawn[0]}/p?{drawn[1]}={drawn[2]}")


def mined_of(visits):
    (own,) = [
        one
        for one in mine(gather(iter(visits), None), DustSettings(), Reporter(), state=None)
        if one.site == SITE
    ]
    return own.likely, own.elimination, own.parameters, own.edits, own.tallies


ALONE = mined_of(OWN)


@settings(max_examples=15)
@given(others=st.lists(st.tuples(ELSEWHERE, st.integers(0, 3), st.integers(0, len(OWN))), max_size=40))
def test_records_of_other_sites_change_nothing(others):
    log = list(OWN)
    for url, content, place in others:
        log.insert(place, page(url, content))
    assert ALONE[3]
    assert mined_of(log) == ALONE
