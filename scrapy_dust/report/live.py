"""The live report: one crawl as a page, as far as the crawl has come.

The page shows a crawl that is still running, in the look of the report of a run of dustmine. A script in the page reads
the file again every few seconds and changes only what is new, so that scroll position and focus stay. Text that a site
wrote is escaped here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from html import escape

from scrapy_dust.report.pieces import (
    HEADINGS,
    asset,
    before_and_after,
    duration_in_words,
    facts_listed,
    number,
    percent,
    policy,
    table,
)
from scrapy_dust.rules.grouping import Kind

#: The number of rules under one heading.
NAMES = 24
#: The number of cards in one list, and of rows in one table.
_CARDS, _ROWS = 12, 30

_MODES = {
    "shadow": "Shadow mode: the crawl fetches what rules would suppress, and compares the pages.",
    "off": "Rules are off (DUST_MODE): the crawl is what it would be without scrapy-dust.",
}


@dataclass(frozen=True, slots=True)
class InForce:
    """A rule in force: its name under its heading, and the requests that it has a part in saving."""

    name: str
    saved: int
    sites: int


@dataclass(frozen=True, slots=True)
class Card:
    """A rule that is not in force, or not for sure, with the reason as a sentence."""

    id: str
    site: str
    rule: str
    why: str
    status: str  #: of the rule: on probation, in doubt, suspended, refuted or proved


@dataclass(frozen=True, slots=True)
class Waiting:
    """Requests that are not fetched yet: where they wait, and why. *count*: None if nobody can count them here."""

    where: str
    why: str
    count: int | None


@dataclass(frozen=True, slots=True)
class Form:
    """A form of URLs that comes last, with the number of its requests that wait; None: no more of them are fetched."""

    form: str
    id: str
    why: str
    waiting: int


@dataclass(frozen=True, slots=True)
class Live:
    """One crawl as far as it has come. All counts are those of this process."""

    spider: str
    worker: str | None  #: the name of this process among several that share one crawl
    began: datetime
    written: datetime
    every: float  #: seconds between two pages
    ended: str | None  #: why the crawl has ended; None: it runs
    mode: str  #: DUST_MODE
    sent: int  #: requests that were sent
    queued: int  #: requests that are not sent yet
    saved: int  #: requests that rules saved; in shadow mode, those that they would save
    facts: Sequence[str]
    causes: Sequence[tuple[str, str, int]]  #: why URLs were not fetched, in words, and how many
    rules: int  #: in force
    in_force: Mapping[Kind, tuple[Sequence[InForce], int]]  #: those that save most, and the number of all
    on_probation: Sequence[Card]
    decided: Sequence[Card]  #: rules that this crawl has proved or refuted, or has doubts about
    waiting: Sequence[Waiting]
    forms: Sequence[Form]


def html_of_live(live: Live) -> bytes:
    """The live report as the bytes of an HTML file."""
    parts = _frame() | {
        "title": escape(f"{live.spider}, live – scrapy-dust"),
        "heading": escape(live.spider),
        "subtitle": escape(_subtitle(live)),
        "state": escape(_state_in_words(live)),
        "written": str(round(live.written.timestamp() * 1000)),
        "every": str(round(live.every * 1000)),
        "ended": "" if live.ended is None else " data-ended",
        "hero": _hero(live),
        "causes": _causes_table(live),
        "in_force": _in_force(live),
        "probation": _cards(live.on_probation, "No rule is on probation."),
        "decided": _cards(live.decided, "This crawl has proved, refuted or doubted no rule."),
        "waiting": _waiting_table(live),
        "forms": _forms_table(live),
    }
    # In one pass: what stands in a part is never taken for a place of another.
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], asset("live.html"))
    return page.encode("utf-8", "xmlcharrefreplace")


@cache
def _frame() -> dict[str, str]:
    """The parts of the page that are the same for all crawls."""
    style, script = asset("page.css"), asset("live.js")
    # The page shows itself in a hidden frame, to read its file again.
    return {"style": style, "script": script, "policy": policy(style, script, "; frame-src 'self' file:")}


def _subtitle(live: Live) -> str:
    """The beginning of the crawl in words and, if several processes share the crawl, the name of this one."""
    worker = (
        f"; one worker of several, {live.worker}: its own numbers, not those of the others"
        if live.worker
        else ""
    )
    return f"Began {live.began:%Y-%m-%d %H:%M:%S}{worker}"


def _state_in_words(live: Live) -> str:
    taken = duration_in_words(round((live.written - live.began).total_seconds()))
    if live.ended is None:
        return f"Running for {taken}, as of {live.written:%H:%M:%S}."
    return f"Ended at {live.written:%H:%M:%S} after {taken} ({live.ended})."


def _hero(live: Live) -> str:
    """The share of requests saved as one large figure, with a bar before and a bar after."""
    is_shadow = live.mode == "shadow"
    known = live.sent + live.queued
    # In shadow mode all requests are sent; otherwise those that are saved never were in the queue.
    whole = max(known, live.saved) if is_shadow else known + live.saved
    verb = "would be saved" if is_shadow else "are saved"
    told = f"<p>{escape(_MODES[live.mode])}</p>" if live.mode in _MODES else ""
    return (
        f'<p class="figure"><strong>{percent(live.saved, whole)}</strong> <span>of the requests known so far {verb}</span></p>'
        f"{before_and_after(whole, whole - live.saved)}{told}{facts_listed(live.facts)}"
    )


def _causes_table(live: Live) -> str:
    """A table of the causes for which URLs were not fetched."""
    rows = [(cause, escape(why), f"{count:,}") for cause, why, count in live.causes if count]
    if not rows:
        return "<p>Nothing yet.</p>"
    return table("Not fetched, by cause", ("Cause", "What it means", "URLs"), rows, words=2)


def _in_force(live: Live) -> str:
    """The rules in force in words, under their headings, those that save most first."""
    if live.mode == "off":
        return "<p>Rules are off.</p>"
    if not live.rules:
        return "<p>No rule is in force yet.</p>"
    found = []
    for kind, (most, count) in live.in_force.items():
        more = f"<li>and {count - len(most):,} more</li>" if count > len(most) else ""
        found.append(
            f'<h3>{HEADINGS[kind]}</h3><ul class="chips">{"".join(map(_rule_chip, most))}{more}</ul>'
        )
    return (
        "<p>URLs that differ only in these are one page. Beside each name: the requests that it has a part in saving. "
        "<code>^</code> is the beginning of a URL, <code>$</code> its end, <code>*</code> any value.</p>"
        + "".join(found)
    )


def _rule_chip(one: InForce) -> str:
    """The name of a rule in force as an item of a list, with the requests that it has a part in saving."""
    where = f" on {one.sites} sites" if one.sites > 1 else ""
    return f'<li class="chip"><code>{escape(one.name)}</code> <span class="muted">{one.saved:,}{where}</span></li>'


def _cards(cards: Sequence[Card], none: str) -> str:
    """*cards* as a list; the sentence *none* if there are none."""
    if not cards:
        return f"<p>{none}</p>"
    items = "".join(
        f'<li class="card" data-key="{escape(one.id, quote=True)}"><p class="rule-text"><code>{escape(one.rule)}</code></p>'
        f'<p class="muted"><span class="badge {one.status.replace(" ", "-")}">{escape(one.status)}</span> '
        f"{escape(one.site)}, {escape(one.id)}</p><p>{escape(one.why)}</p></li>"
        for one in cards[:_CARDS]
    )
    more = f"<p>And {len(cards) - _CARDS:,} more.</p>" if len(cards) > _CARDS else ""
    return f'<ul class="cards">{items}</ul>{more}'


def _waiting_table(live: Live) -> str:
    """A table of the places where requests wait."""
    rows = [
        (escape(one.where), escape(one.why), "–" if one.count is None else f"{one.count:,}")
        for one in live.waiting
    ]
    return table("What waits", ("Where", "Until when", "Requests"), rows, words=2)


def _forms_table(live: Live) -> str:
    """The forms of URLs that come last, each with the reason."""
    if not live.forms:
        return "<p>No form of URLs is put last.</p>"
    rows = [
        (
            f'<span><code>{escape(one.form)}</code> <span class="muted">{escape(one.id)}</span></span>',
            escape(one.why),
            f"{one.waiting:,}",
        )
        for one in live.forms[:_ROWS]
    ]
    more = number(len(live.forms) - _ROWS, "more form")
    rest = f"<p>And {more}.</p>" if len(live.forms) > _ROWS else ""
    return table("Forms put last", ("Form", "Why", "Requests"), rows, words=2) + rest
