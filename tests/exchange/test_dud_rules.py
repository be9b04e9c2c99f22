"""The rules that come with duplicate-url-discarder, and its own canonizer as the judge."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import tldextract

from scrapy_dust.exchange import imported
from scrapy_dust.exchange.transfer import name_left_out
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.sites import site_of
from scrapy_dust.url.parts import parts_of

RULES = pytest.importorskip(
    "duplicate_url_discarder_rules", reason="duplicate-url-discarder-rules is not here"
)
CANONIZER = pytest.importorskip(
    "duplicate_url_discarder.url_canonicalizer", reason="needs duplicate-url-discarder"
)

pytestmark = pytest.mark.e2e


@pytest.fixture
def theirs(monkeypatch):
    # It would fetch the list of public suffixes.
    monkeypatch.setattr("url_matcher.util.tldextract.extract", tldextract.TLDExtract(suffix_list_urls=()))
    return CANONIZER.UrlCanonicalizer(RULES.RULE_PATHS)


@pytest.fixture(scope="module")
def all_rules():
    return [rule for path in sorted(RULES.RULE_PATHS) for rule in json.loads(Path(path).read_bytes())]


def test_their_rules_come_in_and_do_what_they_did(theirs, all_rules):
    found = imported("rules.json", json.dumps(all_rules).encode(), (), "dud")
    by_site = {}
    for site, rule in found.rules:
        by_site.setdefault(site, []).append(rule)
    assert len(all_rules) == 382
    # Left: an empty name, what is for all sites, www2., and the one that takes segments out of paths.
    assert (len(by_site), len(found.unsaid)) == (395, 5)
    canonize = Canonizer(by_site, site_of).canonize
    chance = random.Random(1)
    changed = 0
    for url in urls(all_rules, by_site, chance):
        key = canonize(url)
        # Of URLs with a parameter after a ; it is said at import that they stay.
        assert key == theirs.process_url(url) or (key == url and parts_of(url).separator == ";")
        changed += key != url
    assert changed > 7000


def urls(all_rules, by_site, chance):
    """10,000, each of which some rule for its site is about: what is for all sites, theirs does only where none is."""
    names = sorted(
        {name for rule in all_rules if rule["processor"] == "queryRemoval" for name in rule["args"] if name}
    )
    for _ in range(10_000):
        site = chance.choice(sorted(by_site))
        own = [name for rule in by_site[site] if (name := name_left_out(rule))] or ["ref", "th"]
        taken = chance.choices(own, k=chance.randint(0, 3)) + chance.choices(names, k=chance.randint(0, 2))
        taken += chance.choices(["id", "page", "x"], k=chance.randint(0, 2))
        chance.shuffle(taken)
        query = "&".join(
            name + chance.choice(("=1", "=a", "=", "=%20", "=a.b", "", "=1;b")) for name in taken
        )
        if query and chance.random() < 0.05:
            query += ";b=2"
        host, path = where(by_site[site], chance) or (
            chance.choice(("", "www.", "m.")) + site,
            chance.choice(("", "/", "/a", "/a/", "/index.html")),
        )
        yield f"{chance.choice(('http', 'https'))}://{host}{path}{'?' + query if query else ''}{chance.choice(('', '', '#top'))}"


def where(rules, chance):
    """A host and a path for which a guard holds, on sites of which only a part is meant."""
    guards = [{one.name: one.value for one in rule.guard} for rule in rules]
    guards = [guard for guard in guards if "host" in guard]
    fitting = [guard for guard in guards if "/2" not in guard]  # those are about segments too
    if not fitting:
        return None
    guard = chance.choice(fitting)
    return guard["host"], f"/{guard.get('/1', 'a')}/b"
