from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.states import Event, Status, after

events = st.lists(st.sampled_from(Event), max_size=12)


def told(happened: list[Event]) -> list[Status | None]:
    states: list[Status | None] = [None]
    for event in happened:
        states.append(after(states[-1], event))
    return states


@given(events)
def test_a_rule_comes_into_force_by_proof_or_by_a_person(happened):
    states = told(happened)
    for before, event, now in zip(states[:-1], happened, states[1:], strict=True):
        if now is Status.VALID and before is not Status.VALID:
            assert event in (Event.PROVED, Event.SWITCHED_ON)


@given(events)
def test_what_is_contradicted_or_switched_off_is_not_in_force(happened):
    for event, now in zip(happened, told(happened)[1:], strict=True):
        assert event not in (Event.CONTRADICTED, Event.SWITCHED_OFF, Event.DOUBTED) or now is not Status.VALID


@given(events)
def test_what_a_person_switched_off_a_person_alone_switches_on(happened):
    states = told(happened)
    for before, event, now in zip(states[:-1], happened, states[1:], strict=True):
        if before is Status.DISABLED and now is not Status.DISABLED:
            assert event is Event.SWITCHED_ON
