"""Scrapy's own commands with rules in force: none hangs, and each asks for the URL that was typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_dust.rule_book import Entry, RuleBook
from scrapy_dust.rule_book.entries import Evidence
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.site import page, serving
from tests.waiting import PATIENCE

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]

SPIDER = """
from scrapy import Spider

class Typed(Spider):
    name = "typed"

    def parse(self, response):
        yield {"got": response.url}
        yield response.follow("?sid=2")
"""


@pytest.fixture
def site():
    with serving(lambda path: page(words=path)) as found:
        yield found


@pytest.fixture
def scrapy(site, tmp_path):
    """Runs a command of Scrapy's with a rule that leaves `sid` out, and says what it printed."""
    seen = Evidence(examples=((site.url("/p?sid=x"), site.url("/p")),))
    book = RuleBook().with_site(site.name, [Entry(Rule.of(DropParameter("sid")), evidence=seen)])
    book.save(tmp_path / "rules.json")
    (tmp_path / "typed.py").write_text(SPIDER)
    (tmp_path / "project_settings.py").write_text("SPIDER_MODULES = ['typed']")
    settings = {
        "ADDONS": json.dumps({"scrapy_dust.Addon": 900}),
        "DUST_RULES": str(tmp_path / "rules.json"),
        "DUST_DIR": str(tmp_path / "dust"),
        "DUST_REWRITE": "1",
        "DUST_LOG_PROCESS": "0",
        "TELNETCONSOLE_ENABLED": "0",
        "REMOTE_CONTROL_ENABLED": "0",
    }

    def run(command: str, *arguments: str, **more: str) -> str:
        options = [part for name, value in (settings | more).items() for part in ("-s", f"{name}={value}")]
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "scrapy", command, *arguments, "-L", "ERROR", *options],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}",
                "SCRAPY_SETTINGS_MODULE": "project_settings",
            },
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("reactor", ["1", "0"], ids=["asyncio", "reactorless"])
def test_the_shell_fetches_what_was_typed_as_often_as_it_is_asked_to(site, scrapy, reactor):
    again = [f"fetch(Request({site.url(path)!r}))" for path in ("/p?sid=1", "/p?sid=2", "/p?sid=2")]
    last = f"fetch({site.url('/p?sid=3')!r})"
    # One expression is what the shell takes here.
    code = f"[{', '.join([*again, last, 'response.url'])}]"
    said = scrapy("shell", site.url("/p?sid=1"), "-c", code, TWISTED_REACTOR_ENABLED=reactor)
    assert site.url("/p?sid=3") in said
    assert [path[-1] for path in site.asked] == ["1", "1", "2", "2", "3"]


def test_fetch_prints_the_page_of_the_url_that_was_typed(site, scrapy):
    assert "/p?sid=1" in scrapy("fetch", site.url("/p?sid=1"))
    assert site.asked == ["/p?sid=1"]


def test_parse_shows_what_becomes_of_the_url_that_was_typed(site, scrapy):
    said = scrapy("parse", site.url("/p?sid=1"), "--spider", "typed", "--nocolour", "--depth", "2")
    assert site.url("/p?sid=1") in said
    # What is linked is the same page. The command wraps callbacks, and what cannot be put to rest is fetched.
    assert site.asked[0] == "/p?sid=1"
    assert set(site.asked) <= {"/p?sid=1", "/p?sid=2"}
