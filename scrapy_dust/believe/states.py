"""The states of a rule: one table of all that can happen to a rule, drawn in `docs/rule-book.md`.

A rule that looks right is on probation until it is proved. Only a valid rule is ever applied. A rule in doubt
suppresses nothing until it is proved anew, and a refuted rule comes back only by evidence of another day, or of a log
alone. A rule that a person has disabled can be enabled by a person alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Status(StrEnum):
    """The status of a rule in a rule book. Only a valid rule is ever applied."""

    PROBATION = "probation"  #: it looks right, or comes from elsewhere, and is not proved
    VALID = "valid"  #: in force
    SUSPENDED = "suspended"  #: in doubt
    REFUTED = "refuted"  #: different pages contradict it
    DISABLED = "disabled"  #: by a person


class Event(StrEnum):
    """The events that can happen to a rule."""

    LOOKS_RIGHT = "looks right"  #: it passed its trial, or comes from elsewhere
    PROVED = "is proved"  #: the bound on what it would merge wrongly is small enough
    DOUBTED = "is doubted"  #: too many answers cannot be judged
    CONTRADICTED = "is contradicted"  #: different pages
    SWITCHED_OFF = "is switched off"  #: by a person
    SWITCHED_ON = "is switched on"  #: by a person


_BY_A_PERSON = {Event.SWITCHED_OFF: Status.DISABLED, Event.SWITCHED_ON: Status.VALID}

#: None: a rule that was proposed, and is in no book.
TABLE: Mapping[Status | None, Mapping[Event, Status]] = {
    None: _BY_A_PERSON
    | {
        Event.LOOKS_RIGHT: Status.PROBATION,
        Event.PROVED: Status.VALID,
        Event.CONTRADICTED: Status.REFUTED,
    },
    Status.PROBATION: _BY_A_PERSON | {Event.PROVED: Status.VALID, Event.CONTRADICTED: Status.REFUTED},
    Status.VALID: _BY_A_PERSON | {Event.DOUBTED: Status.SUSPENDED, Event.CONTRADICTED: Status.REFUTED},
    Status.SUSPENDED: _BY_A_PERSON | {Event.PROVED: Status.VALID, Event.CONTRADICTED: Status.REFUTED},
    Status.REFUTED: _BY_A_PERSON | {Event.PROVED: Status.VALID},
    Status.DISABLED: {Event.SWITCHED_ON: Status.VALID},
}


def is_decided_by_crawls(status: Status) -> bool:
    """Whether a rule of *status* suppresses nothing, and crawls prove or contradict it.

    A crawl does not look for evidence that would bring back a refuted rule.
    """
    return Event.PROVED in TABLE[status] and Event.CONTRADICTED in TABLE[status]


def after(status: Status | None, event: Event) -> Status | None:
    """The status of a rule after *event*. If the table has no entry, *status* stays."""
    return TABLE[status].get(event, status)
