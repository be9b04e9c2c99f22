"""The law: whatever the web, the rules and the order of answers, the contents fetched without us are fetched with us.

Excepted is what rules that were admitted though wrong say they may lose: contents that share a class with another
one, and what is found over them alone. And one class that alone is sent to a login, since nobody can tell that
from a page that has moved.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, find, given, settings

from scrapy_dust.crawl.classes import WaitingClasses
from scrapy_dust.crawl.dupefilter import DustDupeFilter
from tests.crawl.crawling import write_rules
from tests.webs.crawling import crawl
from tests.webs.model import SITE, Web, webs


def lost(web: Web) -> set[str]:
    """Contents that had to be found, were found without us, and were not found with us."""
    without = crawl(web, DUST_MODE="off")
    with tempfile.TemporaryDirectory() as folder:
        book = write_rules(Path(folder, "rules.json"), {SITE: web.rules})
        found = crawl(web, DUST_DIR=folder, DUST_RULES=[book])
    assert without.reason == found.reason == "finished"
    gone = (without.contents & web.required()) - found.contents
    for one in gone & web.behind_the_login():
        return (without.contents & web.required(but={one})) - found.contents
    return gone


@given(webs())
def test_no_content_is_lost(web):
    assert lost(web) == set()


def without_the_guard(monkeypatch):
    monkeypatch.setattr(DustDupeFilter, "_continues", lambda *_: False)
    # It lets such a redirect through as well, when the URL that it came from has failed.
    monkeypatch.setattr(WaitingClasses, "may_stand", lambda *_: False)


def without_heirs(monkeypatch):
    monkeypatch.setattr(WaitingClasses, "fail", lambda *_: None)
    monkeypatch.setattr(WaitingClasses, "may_stand", lambda *_: False)


def without_a_look_at_idle_moments(monkeypatch):
    monkeypatch.setattr(WaitingClasses, "orphans", lambda _: iter(()))
    monkeypatch.setattr(WaitingClasses, "fail", lambda *_: None)


@pytest.mark.parametrize("broken", [without_the_guard, without_heirs, without_a_look_at_idle_moments])
def test_the_law_notices_a_dupefilter(broken, monkeypatch):
    broken(monkeypatch)
    chosen = settings(max_examples=500, phases=[Phase.generate], derandomize=True, database=None)
    assert lost(find(webs(wrong_rules=False), lost, settings=chosen))
