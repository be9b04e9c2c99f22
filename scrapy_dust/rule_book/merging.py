"""What is known of a rule, and what was found now, become one entry.

A rule outlives the log that taught it: once it is in force, its aliases are no longer fetched, and the next log
cannot show it again. So nothing is ever forgotten because it was not found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from scrapy_dust.dust.rules import Rule, SubstringRule
from scrapy_dust.rule_book.entries import EXAMPLES_KEPT, LOGS_KEPT, Entry, Evidence, Status

T = TypeVar("T")

#: Each log counts its own pairs.
_ADDED = ("positive", "negative", "unknown", "contradictions", "log_same", "fetches")
#: Two logs of a site show mostly the same instances and contents, so their numbers do not add up.
_GREATEST = ("support", "contents", "merges")


def merge_entries(known: Iterable[Entry], found: Iterable[Entry]) -> tuple[Entry, ...]:
    """*known*, in their order, brought up to date by *found*, and after them the rules that are new.

    Those known keep their places, so that keys change as little as they can. What was refuted without ever
    having been in force is not taken up.
    """
    merged = {entry.rule: entry for entry in known}
    # Those refuted first: what opposes them is free to come in.
    for new in sorted(found, key=lambda entry: entry.status is not Status.SUSPENDED):
        old = merged.get(new.rule)
        if old is not None:
            merged[new.rule] = _update(old, new, opposed=_is_opposed(new.rule, merged))
        elif new.status is not Status.SUSPENDED and not _is_opposed(new.rule, merged):
            merged[new.rule] = new
    return tuple(merged.values())


def _is_opposed(rule: Rule, known: dict[Rule, Entry]) -> bool:
    """Whether the reverse of *rule* is in force, so that both would undo each other, or a person disabled it."""
    reverse = known.get(rule.reversed()) if isinstance(rule, SubstringRule) else None
    return reverse is not None and reverse.status in (Status.VALID, Status.DISABLED)


def _update(old: Entry, new: Entry, *, opposed: bool) -> Entry:
    status, reason = _status(old, new, opposed=opposed)
    return replace(
        old,
        status=status,
        reason=reason,
        evidence=merge_evidence(old.evidence, new.evidence),
        comment=old.comment if old.comment is not None else new.comment,
        extra={**new.extra, **old.extra},
        evidence_extra={**old.evidence_extra, **new.evidence_extra},
    )


def _status(old: Entry, new: Entry, *, opposed: bool) -> tuple[Status, str | None]:
    if old.status is Status.DISABLED:
        return old.status, old.reason
    if new.status is Status.DISABLED:
        return new.status, new.reason
    if new.status is Status.SUSPENDED:
        return new.status, new.reason or f"refuted on {new.evidence.last_validated or 'an unknown day'}"
    if new.status is Status.UNPROVEN or (old.status is Status.UNPROVEN and opposed):
        return old.status, old.reason
    if old.status is Status.SUSPENDED and (opposed or not _redeems(old.evidence, new.evidence)):
        return old.status, old.reason
    return Status.VALID, None


def _redeems(old: Evidence, new: Evidence) -> bool:
    """Whether *new* lifts a suspension: it contradicts nothing, and is not what was known when the rule was suspended."""
    if new.contradictions:
        return False
    return _is_other_log(old, new) or (new.last_validated or "") > (old.last_validated or "")


def _is_other_log(old: Evidence, new: Evidence) -> bool:
    return bool(new.logs) and not set(new.logs) & set(old.logs)


def merge_evidence(old: Evidence, new: Evidence) -> Evidence:
    """Both together. Counts add up when *new* is of another log; of the same log, the greater one stands."""
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
        examples=old.examples
        + _not_in(old.examples, new.examples)[: max(0, EXAMPLES_KEPT - len(old.examples))],
        first_validated=min(_dates(old.first_validated, new.first_validated), default=None),
        last_validated=max(_dates(old.last_validated, new.last_validated), default=None),
        logs=(_not_in(new.logs, old.logs) + new.logs)[-LOGS_KEPT:],
    )


def _dates(*dates: str | None) -> list[str]:
    return [date for date in dates if date is not None]


def _not_in(known: tuple[T, ...], others: tuple[T, ...]) -> tuple[T, ...]:
    return tuple(one for one in others if one not in known)
