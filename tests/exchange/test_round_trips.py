"""What goes out comes back and gives the same keys, or is named as what could not be said."""

from __future__ import annotations

import pytest

from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.guards import Condition
from scrapy_dust.dust.edits.queries import DropParameter, KeepParameters
from scrapy_dust.dust.edits.spellings import DropWww
from scrapy_dust.dust.rules import ParameterRule, SubstringRule
from scrapy_dust.exchange import EXPORTS, IMPORTS, exported, imported
from scrapy_dust.exchange.expressions import substitutions
from scrapy_dust.rule_book import Entry
from scrapy_dust.sites import site_of
from tests.exchange.generated import SITES, some_rules, some_urls

# Takes seconds, and is the same on every Python.
pytestmark = pytest.mark.once

BOTH_WAYS = [name for name in EXPORTS if name in IMPORTS]
URLS = list(some_urls(1, 10_000))
EDITS = [
    Edit((DropWww(),)),
    Edit((KeepParameters(frozenset({"id"})),), (Condition("/1", "story"),)),
    Edit(
        (DropParameter("ref"),), (Condition("host", "www.a.example"), Condition("ext", "html", holds=False))
    ),
]
ENTRIES = {site: [Entry(rule) for rule in some_rules(seed, 40)] for seed, site in enumerate(SITES)}
ENTRIES["a.example"] += map(Entry, EDITS)


def all_rules(entries=ENTRIES):
    return [(site, entry.rule) for site in sorted(entries) for entry in entries[site]]


def keys(rules):
    by_site = {}
    for site, rule in rules:
        by_site.setdefault(site, []).append(rule)
    canonize = Canonizer(by_site, site_of).canonize
    return [canonize(url) for url in URLS]


def unsaid_of(found):
    return {what for what, _ in found.unsaid}


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_what_goes_out_comes_back_with_the_same_keys_and_the_rest_is_counted(name):
    out = exported(ENTRIES, name)
    back = imported("file", out.text.encode(), (), name)
    assert not back.unsaid
    said = [(site, rule) for site, rule in all_rules() if f"{site}: {rule}" not in unsaid_of(out)]
    assert len(said) + len(out.unsaid) == len(all_rules())
    assert list(back.rules) == said
    assert said
    assert keys(back.rules) == keys(said)


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_the_format_of_what_goes_out_is_known_when_it_comes_back(name):
    out = exported(ENTRIES, name)
    suffix = {"csv": ".csv"}.get(name, "")
    assert imported(f"file{suffix}", out.text.encode(), ()) == imported("file", out.text.encode(), (), name)


def test_what_can_be_said_is_said():
    """A format that says nothing would come back unharmed too."""
    counts = {name: len(all_rules()) - len(exported(ENTRIES, name).unsaid) for name in EXPORTS}
    left_out = [r for _, r in all_rules() if isinstance(r, ParameterRule) and r.value is None]
    assert counts["json"] == counts["csv"] + len(EDITS) == len(all_rules())
    assert counts["dud"] == len(left_out)
    assert counts["clean-param"] > 0.8 * len(left_out) - 3
    assert counts["regex"] > 0.6 * len(all_rules())
    assert counts["nginx"] > 0.5 * len(all_rules())


@pytest.mark.parametrize("site", SITES)
def test_expressions_do_what_the_rule_does(site):
    """As Nutch applies them: all, again and again, until nothing changes."""
    for rule in some_rules(7, 60):
        made = substitutions(site, rule)
        if isinstance(made, str):
            continue
        patterns = [(re_of(one.pattern), python_replacement(one.replacement)) for one in made]
        canonize = Canonizer({site: [rule]}, site_of).canonize
        for url in URLS[:400]:
            assert settled(patterns, url) == canonize(url), (rule, url, made)


def re_of(pattern):
    import re  # noqa: PLC0415

    return re.compile(pattern)


def python_replacement(pieces):
    return lambda match: "".join(match[piece] if isinstance(piece, int) else piece for piece in pieces)


def settled(patterns, url):
    for _ in range(10):
        before = url
        for pattern, replacement in patterns:
            url = pattern.sub(replacement, url)
        if url == before:
            return url
    raise AssertionError("comes to no end")


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (SubstringRule("/", "-"), "it would lead away from the site"),
        (SubstringRule("x", "x/x"), "what it makes has again what it replaces"),
        (ParameterRule("l", "a/b"), "the value has a character that separates parameters"),
    ],
)
def test_what_no_expression_says_is_refused_with_the_reason(rule, why):
    assert substitutions("a.example", rule) == why
