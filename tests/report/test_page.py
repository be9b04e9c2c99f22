"""The page as a file: what is in it, and what is not. A browser looks at it in tests/e2e/test_report.py."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

from scrapy_dust.dust.rules import ParameterRule
from scrapy_dust.report import html_of
from scrapy_dust.report.pairs import PairShown
from tests.report.reports import EVIL, SITE, report, shown

SID = ParameterRule("sid")


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
        ParameterRule("x"),
        text=EVIL,
        reason=EVIL,
        comment=EVIL,
        examples=(PairShown((EVIL, EVIL), (EVIL, EVIL), (EVIL,), (EVIL, EVIL)),),
        stratum=EVIL,
    )
    return html_of(report({SITE: [SID]}, evil, past=[(EVIL, EVIL, 3, 1, 1)], pairs=[(EVIL, EVIL)]), EVIL)


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
    plain, evil = Page(html_of(report({SITE: [SID]}), "t")), Page(hostile())
    known = {(tag, *sorted(attributes)) for tag, attributes in plain.tags} | {("div", "data-pair")}
    known |= {
        ("tr",),
        ("td",),
        ("td", "class"),
        ("th", "scope"),
        ("rect", "class", "height", "rx", "width", "x", "y"),
    }
    known |= {
        ("div", "aria-label", "class", "role", "tabindex"),
        ("svg", "aria-hidden", "height", "viewbox", "width"),
    }
    assert {(tag, *sorted(attributes)) for tag, attributes in evil.tags} <= known
    assert json.loads(evil.texts["script", "data"])["rules"][1]["text"] == EVIL


def test_half_characters_of_a_log_do_no_harm():
    html = html_of(report({SITE: [SID]}, shown(SITE, SID, text="\ud800", id="x")), "\ud800")
    assert json.loads(Page(html).texts["script", "data"])["rules"][1]["text"] == "\ud800"


def test_every_place_of_the_template_is_filled():
    assert not re.search(rb"\{\{\w+\}\}", html_of(report({SITE: [SID]}), "a site"))
    assert b"{{title}}" in html_of(report({SITE: [SID]}), "{{title}}")
