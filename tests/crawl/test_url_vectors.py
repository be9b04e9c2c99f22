"""URLs that other people wrote down to try parsers with: WPT's ``urltestdata.json`` and w3lib's ``test_url.py``.

Neither is ours to hand on: put both into a folder, and name the folder in `DUST_URL_VECTORS`.
"""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest
from scrapy import Request, Spider
from scrapy.utils.request import RequestFingerprinter
from scrapy.utils.test import get_crawler

from scrapy_dust.crawl.fingerprinter import DustRequestFingerprinter
from scrapy_dust.exchange.transfer import BY_AMPERSAND
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.paths import DropIndex, DropSlash
from scrapy_dust.rules.queries import DropEmpty, SortParameters
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.spellings import DropWww, OneScheme
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.sites import site_of

FOLDER = os.environ.get("DUST_URL_VECTORS")
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="DUST_URL_VECTORS names no folder with urltestdata.json and test_url.py"
)
RULES = (
    Rule.of(DropParameter("a")),
    Rule.of(SetParameter("foo", "1")),
    Rule.of(DropParameter("id")),
    Rule.of(Substitute("/foo", "/bar")),
    Rule.of(Substitute("/index.html", "/", end=True)),
    Rule((DropWww(),)),
    Rule((DropSlash(),)),
    Rule((DropIndex(),)),
    Rule((OneScheme(),)),
    Rule((DropEmpty(),)),
    Rule((SortParameters(),)),
    Rule((DropParameter("b"),), (BY_AMPERSAND,)),
)


def parsed():
    """Of each vector of WPT the URL, and how WHATWG's parser writes it, where it is one."""
    entries = json.loads(Path(FOLDER, "urltestdata.json").read_text("utf-8"))
    for one in entries:
        if isinstance(one, dict) and "href" in one:
            url = one["input"] if "://" in one["input"] else None
            yield url or one["href"], one["href"]


def w3libs():
    """Every text of w3lib's tests that is a URL."""
    for node in ast.walk(ast.parse(Path(FOLDER, "test_url.py").read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "://" in node.value:
            yield node.value


def all_urls():
    return list(dict.fromkeys([*(url for pair in parsed() for url in pair), *w3libs()]))


def requests():
    for url in all_urls():
        try:
            yield Request(url)
        except ValueError:
            continue  # Scrapy's own word on what is no URL.


def test_without_rules_fingerprints_are_scrapys():
    crawler = get_crawler(Spider, {"DUST_RULES": []})
    ours, scrapys = DustRequestFingerprinter.from_crawler(crawler), RequestFingerprinter(crawler)
    made = list(requests())
    assert len(made) > 700
    assert all(ours.fingerprint(one) == scrapys.fingerprint(one) for one in made)


@pytest.mark.parametrize("rules", [*((rule,) for rule in RULES), RULES], ids=str)
def test_rules_merge_no_urls_that_a_browser_tells_apart_for_another_reason(rules):
    """What has one key has one key as a browser writes it: the URLs differ in what the rules leave out, and in nothing else."""
    canonize = canonizer(rules)
    written: dict[str, set[str]] = {}
    for url, href in parsed():
        if site_of(url) is not None and site_of(href) is not None:
            written.setdefault(canonize(url), set()).add(without_default_port(canonize(href)))
    assert {key: forms for key, forms in written.items() if len(forms) > 1} == {}


def test_the_rules_change_many_of_the_urls():
    canonize = canonizer(RULES)
    assert sum(canonize(url) != url for url in all_urls()) > 100


def without_default_port(url):
    """As a browser would write what `OneScheme` has made of https://foo:80/."""
    return url.replace(":80/", "/", 1) if url.startswith("http://") else url


def canonizer(rules):
    sites = {site for pair in parsed() for url in pair if (site := site_of(url))}
    return Canonizer(dict.fromkeys(sites, rules), site_of).canonize
