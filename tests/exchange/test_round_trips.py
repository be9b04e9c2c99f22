"""What goes out comes back and gives the same keys, or is named as what could not be said."""

from __future__ import annotations

import re

import pytest

from scrapy_dust.exchange import EXPORTS, IMPORTS, exported, imported
from scrapy_dust.exchange.expressions import expressions_of, rule_of
from scrapy_dust.exchange.transfer import BY_AMPERSAND, name_left_out
from scrapy_dust.rule_book import Entry
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.queries import KeepParameters
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.spellings import DropWww
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.sites import site_of
from tests.exchange.generated import SITES, some_rules, some_urls

# Takes seconds, and is the same on every Python.
pytestmark = pytest.mark.once

BY_NAME = ("dud", "clean-param", "no-vary-search")
VALUELESS = re.compile(r"[?&][^=&#]*(?:[&#]|$)")
BOTH_WAYS = [name for name in EXPORTS if name in IMPORTS]
URLS = list(some_urls(1, 10_000))
EDITS = [
    Rule((DropWww(),)),
    Rule((KeepParameters(frozenset({"id"})),), (Condition("/1", "story"),)),
    Rule(
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
    assert said
    if name in BY_NAME:
        # What comes back reaches as far as the format says: not to ; and to parameters without a value.
        assert [name_left_out(rule) for _, rule in back.rules] == [rule.dropped_parameter for _, rule in said]
        plain = [at for at, url in enumerate(URLS) if ";" not in url and not VALUELESS.search(url)]
        ours, theirs = keys(said), keys(back.rules)
        assert [theirs[at] for at in plain] == [ours[at] for at in plain]
        assert len(plain) > 5000
    else:
        assert list(back.rules) == said
        assert keys(back.rules) == keys(said)


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_the_format_of_what_goes_out_is_known_when_it_comes_back(name):
    out = exported(ENTRIES, name)
    suffix = {"csv": ".csv"}.get(name, "")
    assert imported(f"file{suffix}", out.text.encode(), ()) == imported("file", out.text.encode(), (), name)


def test_what_can_be_said_is_said():
    """A format that says nothing would come back unharmed too."""
    counts = {name: len(all_rules()) - len(exported(ENTRIES, name).unsaid) for name in EXPORTS}
    left_out = [r for _, r in all_rules() if r.dropped_parameter is not None]
    assert counts["json"] == counts["csv"] + len(EDITS) == len(all_rules())
    assert counts["dud"] == len(left_out)
    assert counts["clean-param"] > 0.8 * len(left_out) - 3
    assert counts["regex"] > 0.6 * len(all_rules())
    assert counts["nginx"] > 0.5 * len(all_rules())


@pytest.mark.parametrize("site", SITES)
def test_expressions_do_what_the_rule_does(site):
    """As Nutch applies them: all, again and again, until nothing changes."""
    for rule in some_rules(7, 60):
        made = expressions_of(site, rule)
        if isinstance(made, str):
            continue
        patterns = [(re_of(one.pattern), python_replacement(one.replacement)) for one in made]
        canonize = Canonizer({site: [rule]}, site_of).canonize
        for url in URLS[:400]:
            assert settled(patterns, url) == canonize(url), (rule, url, made)


def test_expressions_of_an_imported_parameter_do_what_it_does_and_come_back():
    rule = Rule.of(DropParameter("sid"), where=(BY_AMPERSAND,))
    made = expressions_of("a.example", rule)
    assert [rule_of(one) for one in made] == [("a.example", rule)] * 3
    patterns = [(re_of(one.pattern), python_replacement(one.replacement)) for one in made]
    canonize = Canonizer({"a.example": [rule]}, site_of).canonize
    for query in (
        "sid=1",
        "sid",
        "a=1&sid=2",
        "sid=1&a=1",
        "sid&sid=2&a",
        "a=1;sid=2",
        "sid=1;b=2&a=1",
        "a&sid=1;b",
        "sid=1;b",
    ):
        for end in ("", "#top"):
            url = f"http://a.example/p?{query}{end}"
            assert settled(patterns, url) == canonize(url), url


def re_of(pattern):
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
        (Rule.of(Substitute("/", "-")), "it would lead away from the site"),
        (
            Rule.of(Substitute("x", "x/x")),
            "the replacement contains the replaced text, so it would never end",
        ),
        (Rule.of(SetParameter("l", "a/b")), "the value has a character that separates parameters"),
    ],
)
def test_what_no_expression_says_is_refused_with_the_reason(rule, why):
    assert expressions_of("a.example", rule) == why
