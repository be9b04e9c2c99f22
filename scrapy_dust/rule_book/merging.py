"""Merges the rules that a run has found into a rule book.

A rule outlives its log: once it is in force, its aliases are no longer fetched, and the next log cannot show it
again. So no rule is ever dropped because a run did not find it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from scrapy_dust.believe.states import Event, after
from scrapy_dust.rule_book.entries import EXAMPLES_KEPT, LOGS_KEPT, Entry, Evidence, Status, most_shown
from scrapy_dust.rules.rule import Rule

T = TypeVar("T")

#: Statuses with which a rule that the book does not have is not added.
_AGAINST = (Status.SUSPENDED, Status.REFUTED)

#: The event that befalls a rule when a run finds an entry with the status.
_EVENTS = {
    Status.PROBATION: Event.LOOKS_RIGHT,
    Status.VALID: Event.PROVED,
    Status.SUSPENDED: Event.DOUBTED,
    Status.REFUTED: Event.CONTRADICTED,
    Status.DISABLED: Event.SWITCHED_OFF,
}

#: Each log counts its own pairs.
_ADDED = ("positive", "negative", "unknown", "contradictions", "log_same", "fetches")
#: Two logs of a site show mostly the same instances and contents, so their numbers do not add up.
_GREATEST = ("support", "contents", "merges")


def merge_entries(known: Iterable[Entry], found: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries *known*, in their order, updated by *found*; new rules follow.

    Those known keep their places, so that keys change as little as they can. What was refuted without ever
    having been in force is not taken up.
    """
    merged = {entry.rule: entry for entry in known}
    # Those refuted first: what opposes them is free to come in.
    for new in sorted(found, key=lambda entry: entry.status not in _AGAINST):
        old = merged.get(new.rule)
        if old is not None:
            merged[new.rule] = _updated_entry(old, new, opposed=_is_opposed(new.rule, merged))
        elif new.status not in _AGAINST and not _is_opposed(new.rule, merged):
            merged[new.rule] = new
    return tuple(merged.values())


def _is_opposed(rule: Rule, known: dict[Rule, Entry]) -> bool:
    """Whether the reverse of *rule* is in force, so that both would undo each other, or a person disabled it."""
    reverse = None if rule.reverse is None else known.get(rule.reverse)
    return reverse is not None and reverse.status in (Status.VALID, Status.DISABLED)


def _updated_entry(old: Entry, new: Entry, *, opposed: bool) -> Entry:
    """*old* updated by *new*, which a run has found. *opposed*: see `_is_opposed`."""
    status, reason = _status_after(old, new, opposed=opposed)
    return replace(
        old,
        status=status,
        reason=reason,
        evidence=merge_evidence(old.evidence, new.evidence),
        comment=old.comment if old.comment is not None else new.comment,
        extra={**new.extra, **old.extra},
        evidence_extra={**old.evidence_extra, **new.evidence_extra},
    )


def _status_after(old: Entry, new: Entry, *, opposed: bool) -> tuple[Status, str | None]:
    """The status of the rule, and the reason for it, once a run has found *new*. *opposed*: see `_is_opposed`."""
    event = _EVENTS[new.status]
    if event is Event.PROVED and old.status is not Status.VALID:
        is_back = old.status not in _AGAINST or _brings_back(old.evidence, new.evidence)
        event = event if is_back and not opposed else Event.LOOKS_RIGHT
    status = after(old.status, event)
    assert status is not None  # what is in a book stays in it
    if status is Status.VALID:
        return status, None
    if status is old.status:
        return status, old.reason
    return status, new.reason or f"{status} on {new.evidence.last_validated or 'an unknown day'}"


def _brings_back(old: Evidence, new: Evidence) -> bool:
    """Whether *new* brings back a rule that was out of force: no contradiction, from another log or a later day."""
    if new.contradictions:
        return False
    return _is_other_log(old, new) or (new.last_validated or "") > (old.last_validated or "")


def _is_other_log(old: Evidence, new: Evidence) -> bool:
    """Whether *new* was counted on logs that *old* does not name."""
    return bool(new.logs) and not set(new.logs) & set(old.logs)


def merge_evidence(old: Evidence, new: Evidence) -> Evidence:
    """The sum of two pieces of evidence: counts add up if *new* is of another log, else the greater one stands."""
    other_log = _is_other_log(old, new)
    counts = {name: max(getattr(old, name), getattr(new, name)) for name in _GREATEST + _ADDED}
    if other_log:
        counts |= {name: getattr(old, name) + getattr(new, name) for name in _ADDED}
    newest = new if (new.last_validated or "") >= (old.last_validated or "") else old
    oldest = old if newest is new else new
    return Evidence(
        **counts,
        # Bounds that contradictions have taken away do not come back from older, better days.
        loss_bound=(oldest if newest.loss_bound is None and not newest.contradictions else newest).loss_bound,
        unseen_bound=(
            oldest if newest.unseen_bound is None and not newest.contradictions else newest
        ).unseen_bound,
        shown=most_shown(
            {
                aspect: max(dict(old.shown).get(aspect, 0), dict(new.shown).get(aspect, 0))
                for aspect, _ in (*old.shown, *new.shown)
            }
        ),
        examples=old.examples
        + _not_in(old.examples, new.examples)[: max(0, EXAMPLES_KEPT - len(old.examples))],
        first_validated=min(_known_dates(old.first_validated, new.first_validated), default=None),
        last_validated=max(_known_dates(old.last_validated, new.last_validated), default=None),
        logs=(_not_in(new.logs, old.logs) + new.logs)[-LOGS_KEPT:],
    )


def _known_dates(*dates: str | None) -> list[str]:
    return [date for date in dates if date is not None]


def _not_in(known: tuple[T, ...], others: tuple[T, ...]) -> tuple[T, ...]:
    """The members of *others* that are not in *known*."""
    return tuple(one for one in others if one not in known)
