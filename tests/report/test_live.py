"""The live report as a file. A browser looks at it in tests/e2e/test_live_report.py."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256

import pytest

from scrapy_dust.report.live import Card, Form, InForce, Waiting, html_of_live
from scrapy_dust.rules.grouping import Kind
from tests.report.lives import BEGAN, live
from tests.report.reports import EVIL
from tests.report.test_page import Page


def text_of(live):
    return html_of_live(live).decode()


def test_the_share_saved_is_of_all_requests_that_are_known():
    assert "<strong>40 %</strong>" in text_of(live())
    assert "100 requests" in text_of(live())


def test_in_shadow_mode_what_would_be_saved_is_part_of_what_is_sent_or_waits():
    assert "<strong>67 %</strong>" in text_of(live(mode="shadow"))
    assert "20 requests" in text_of(live(mode="shadow"))


def test_in_shadow_mode_no_more_than_all_is_saved_where_nobody_can_count_the_queue():
    assert "<strong>100 %</strong>" in text_of(live(mode="shadow", queued=0, saved=90))


def test_a_worker_says_that_it_shows_itself_alone():
    assert "one worker of several, host-12-ab: its own numbers" in text_of(live(worker="host-12-ab"))
    assert "worker" not in text_of(live())


def test_a_crawl_that_has_ended_says_how_long_it_took_and_asks_for_no_more_news():
    page = Page(html_of_live(live(ended="finished", written=BEGAN + timedelta(minutes=5))))
    assert "after 5 min (finished)" in text_of(live(ended="finished", written=BEGAN + timedelta(minutes=5)))
    (shown,) = [attributes for _, attributes in page.tags if attributes.get("id") == "live"]
    assert "data-ended" in shown


def test_what_cannot_be_counted_is_no_zero():
    assert ">–<" in text_of(live())


def test_rules_beyond_what_one_looks_at_are_counted():
    many = live(
        in_force={Kind.PARAMETERS: ([InForce(f"p{n}", n, 1) for n in range(24)], 30)},
        on_probation=[Card(f"{n:08}", "a.example", f"p{n}", "why", "on probation") for n in range(20)],
        forms=[Form(f"http://a.example/{n}", "trap", "why", 1) for n in range(31)],
    )
    assert "p23" in text_of(many)
    assert "and 6 more" in text_of(many)
    assert "And 8 more." in text_of(many)
    assert "And 1 more form." in text_of(many)


def test_only_its_own_script_and_style_have_an_effect():
    page = Page(html_of_live(live()))
    (policy,) = [tag["content"] for _, tag in page.tags if tag.get("http-equiv") == "Content-Security-Policy"]
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        digest = b64encode(sha256(page.texts[tag, None].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("field", ["spider", "worker", "ended", "facts", "causes", "rule", "form", "waiting"])
def test_what_a_site_wrote_is_text(field):
    card = Card(EVIL, EVIL, EVIL, EVIL, "refuted")
    told = {
        "facts": {"facts": [EVIL]},
        "causes": {"causes": [("rules", EVIL, 1)]},
        "rule": {
            "on_probation": [card],
            "decided": [card],
            "in_force": {Kind.VALUES: ([InForce(EVIL, 1, 1)], 1)},
        },
        "form": {"forms": [Form(EVIL, EVIL, EVIL, 1)]},
        "waiting": {"waiting": [Waiting(EVIL, EVIL, 1)]},
    }.get(field, {field: EVIL})
    plain, evil = html_of_live(live()), html_of_live(replace(live(), **told))
    assert b"<img" not in evil
    assert evil.count(b"<script") == plain.count(b"<script") == 1
