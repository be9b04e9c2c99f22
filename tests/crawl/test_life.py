"""The table of a class's life: whatever happens in whatever order, no URL that waits is forgotten."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs import generate
from scrapy_dust.crawl import life
from scrapy_dust.crawl.life import CLASSES, URLS, Class, Effect, Event, Fate, State

URL = st.integers(0, 3)
EVENTS = st.one_of(
    st.builds(lambda url: lambda of: (life.let_through(of, url), ()), URL),
    st.builds(lambda url, busy: lambda of: life.no_page(of, url, is_busy=busy), URL, st.booleans()),
    st.sampled_from(
        [
            life.page_taken,
            life.yielded_nothing,
            life.overdue,
            life.spider_idle,
            lambda of: life.redirected_away(of, b"there"),
        ]
    ),
    st.just(lambda of: (life.with_waiting(of), ())),
)


@given(st.lists(EVENTS, max_size=30))
def test_what_waits_is_fetched_when_nothing_stands_any_more_or_the_page_is_there(events):
    of = life.UNKNOWN
    for event in events:
        before = of
        of, effects = event(of)
        lost_all = before.standing and not of.standing
        if lost_all and of.state not in (State.SETTLED, State.RESTING):
            assert {Effect.FETCH_NEXT, Effect.FETCH_LATER} & set(effects)
    if of.state is not State.SETTLED:
        again, effects = life.spider_idle(of)
        assert of.state is State.UNKNOWN or Effect.FETCH_NEXT in effects
        assert again.standing == ()


@given(st.lists(EVENTS, max_size=30))
def test_a_class_that_has_its_page_is_opened_again_only_where_a_callback_made_nothing_of_it(events):
    of = life.SETTLED
    for event in events:
        if event is life.yielded_nothing:
            continue
        of, _ = event(of)
        assert of.state is State.SETTLED


@given(st.lists(EVENTS, max_size=30), st.integers(-3, 3), st.integers(0, 5))
def test_a_url_waits_only_while_another_one_stands_or_rests(events, priority, depth):
    of = life.UNKNOWN
    for event in events:
        of, _ = event(of)
    found = life.fate_of(of, priority, depth, is_fetched=False)
    assert (found is Fate.SUPPRESSED) <= (of.state is State.SETTLED)
    if found is Fate.WAITS:
        assert of.standing or of.state is State.RESTING
        assert priority <= of.priority or not of.standing
        assert depth >= of.depth


@pytest.mark.parametrize("state", [State.STANDING, State.CONFIRMING])
def test_a_more_urgent_url_waits_for_one_that_is_fetched_but_not_for_one_in_the_queue(state):
    of = Class(state, (7,), priority=1)
    assert life.fate_of(of, 2, None, is_fetched=False) is Fate.STANDS
    assert life.fate_of(of, 2, None, is_fetched=True) is Fate.WAITS
    assert life.fate_of(of._replace(depth=3), 0, 2, is_fetched=True) is Fate.STANDS


def test_every_state_and_every_fate_is_in_the_tables():
    assert {state for state, _ in CLASSES} == set(State)
    assert {event for _, event in CLASSES} == set(Event)
    named = {fate for fate, _ in URLS} | set(URLS.values())
    assert named == set(Fate)


def test_the_diagrams_in_the_docs_are_those_of_the_tables():
    page = (generate.HERE / "crawling.md").read_text("utf-8")
    assert page == generate.page_with_tables("crawling.md")
