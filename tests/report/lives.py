"""Live reports that are made up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from scrapy_dust.report.live import Card, Form, InForce, Live, Waiting
from scrapy_dust.rules.grouping import Kind

BEGAN = datetime(2026, 11, 19, 12, 0, 0, tzinfo=UTC)


def live(**other):
    """A crawl of a minute and a bit. *other*: fields that are not as here."""
    values = Live(
        spider="books",
        worker=None,
        began=BEGAN,
        written=BEGAN + timedelta(seconds=64),
        every=3.0,
        ended=None,
        mode="enforce",
        sent=40,
        queued=20,
        saved=40,
        facts=["2 rules in force on 1 site", "58 answers and 40 items so far"],
        causes=[("rules", "duplicates of a page", 40), ("traps", "nothing new comes", 0)],
        rules=2,
        in_force={Kind.PARAMETERS: ([InForce("sid", 38, 1)], 1)},
        on_probation=[
            Card("aaaaaaaa", "a.example", "ref=* → (left out)", "Held on 3 pages.", "on probation")
        ],
        decided=[Card("bbbbbbbb", "a.example", "q=* → (left out)", "Refuted: a and b differ.", "refuted")],
        waiting=[
            Waiting("in the queue", "their turn comes", 120),
            Waiting("on their way", "an answer", None),
        ],
        forms=[Form("http://a.example/cal/0/0", "trap-1a2b3c4d5e", "Pages brought nothing new.", 70)],
    )
    return replace(values, **other)
