"""The page as a file: what is in it, and what is not. A browser looks at it in tests/e2e/test_report.py."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

from scrapy_dust.report.page import html_of
from scrapy_dust.report.pairs import PairShown
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.report.reports import EVIL, SITE, report, shown

SID = Rule.of(DropParameter("sid"))


class Page(HTMLParser):
    """Tags with their attributes, and the texts of scripts and styles."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self._in = [], {}, None
        self.feed(html.decode())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in = (tag, dict(attrs).get("id")) if tag in ("script", "style") else None

    def handle_data(self, data):
        if self._in:
            self.texts[self._in] = self.texts.get(self._in, "") + data

    def handle_endtag(self, tag):
        self._in = None


def hostile():
    evil = shown(
        SITE,
        Rule.of(DropParameter("x")),
        text=EVIL,
        reason=EVIL,
        comment=EVIL,
        examples=(PairShown((EVIL, EVIL), (EVIL, EVIL), (EVIL,), (EVIL, EVIL)),),
        waits=EVIL,
        status="probation",
    )
    refuted = shown(SITE, Rule.of(DropParameter("y")), text=EVIL, status="refuted", reason=EVIL, examples=())
    return html_of(
        report({SITE: [SID]}, evil, refuted, past=[(EVIL, EVIL, 3, 1, 1)], pairs=[(EVIL, EVIL)]), EVIL
    )


def test_the_page_is_one_file_that_loads_nothing():
    page = Page(html_of(report({SITE: [SID]}), "a site"))
    assert not [tag for tag, _ in page.tags if tag in ("link", "iframe", "img", "base", "object")]
    names = {name for _, attributes in page.tags for name in attributes}
    assert not names & {"src", "srcset", "style", "onclick", "onload", "action"}
    assert {attributes["href"] for _, attributes in page.tags if "href" in attributes} == {"#rules"}
    assert "url(" not in page.texts["style", None]
    assert "@import" not in page.texts["style", None]


def test_the_policy_names_what_stands_there_and_nothing_else():
    page = Page(html_of(report({SITE: [SID]}), "a site"))
    (policy,) = [a["content"] for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    for name, key in (("script-src", ("script", None)), ("style-src", ("style", None))):
        digest = b64encode(sha256(page.texts[key].encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")


def test_what_sites_wrote_makes_no_tag_and_no_attribute():
    harmless = shown(SITE, Rule.of(DropParameter("x")), status="probation")
    like = report(
        {SITE: [SID]},
        harmless,
        past=[("spider", "day", 3, 1, 1)],
        pairs=[("http://a.example/", "http://a.example/1")],
    )
    plain, evil = Page(html_of(like, "t")), Page(hostile())
    known = {(tag, *sorted(attributes)) for tag, attributes in plain.tags}
    assert {(tag, *sorted(attributes)) for tag, attributes in evil.tags} <= known
    assert json.loads(evil.texts["script", "data"])["rules"][1]["text"] == EVIL


def test_the_page_says_in_words_what_is_saved_in_force_on_probation_and_refuted():
    waiting = shown(SITE, Rule.of(DropParameter("view")), status="probation", waits="Seen on 3 pages.")
    wrong = shown(SITE, Rule.of(DropParameter("id")), status="refuted", reason="pages differ in text `h1`")
    html = html_of(
        report({SITE: [SID, Rule.of(DropParameter("utm_source"))]}, waiting, wrong), "a site"
    ).decode()
    assert "<strong>30 %</strong>" in html
    assert "100 requests" in html
    assert "70 requests" in html
    assert "at most 2 pages of this log hidden wrongly (95 %)" in html
    names = re.findall(r'class="chip"[^>]*><code>(.*?)</code>', html)
    assert names == ["sid", "utm_source"]
    assert "Seen on 3 pages." in html
    assert "The pages differ in text `h1`." in html


def test_a_page_without_rules_says_so():
    html = html_of(report({SITE: []}), "a site").decode()
    assert "No rule is in force yet." in html
    assert "No rule is on probation." in html
    assert "No rule was refuted." in html


def test_half_characters_of_a_log_do_no_harm():
    html = html_of(report({SITE: [SID]}, shown(SITE, SID, text="\ud800", id="x")), "\ud800")
    assert json.loads(Page(html).texts["script", "data"])["rules"][1]["text"] == "\ud800"


def test_every_place_of_the_template_is_filled():
    assert not re.search(rb"\{\{\w+\}\}", html_of(report({SITE: [SID]}), "a site"))
    assert b"{{title}}" in html_of(report({SITE: [SID]}), "{{title}}")
