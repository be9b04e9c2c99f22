"""The law: whatever the web, the rules and the order of answers, the contents fetched without us are fetched with us.

Excepted is what rules that were admitted though wrong say they may lose: contents that share a class with another
one, and what is found over them alone. And one class that alone is sent to a login, since nobody can tell that
from a page that has moved.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from tests.crawl.crawling import write_rules
from tests.webs.crawling import crawl
from tests.webs.model import SITE, Web, webs

pytestmark = pytest.mark.once


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
