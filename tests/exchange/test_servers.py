"""What is written for nginx and Apache, read again by a program that knows of either only what is used here."""

from __future__ import annotations

import re

import pytest

from scrapy_dust.exchange import exported
from scrapy_dust.rule_book import Entry, Evidence
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.sites import site_of
from tests.exchange.generated import SITES, some_rules, some_urls

URLS = [url.partition("#")[0] for url in some_urls(3, 60)]  # no server sees a fragment


def said(name, site, rule):
    """The text for one rule; None where it cannot be said."""
    found = exported({site: [Entry(rule)]}, name)
    return None if found.unsaid else found.text


def by_nginx(text, url):
    """The value of the last variable: maps of one expression each, in the order they stand."""
    values = {}
    for line in text.splitlines():
        if match := re.fullmatch(
            r'map (\S+) (\S+) \{ default (\S+); "~((?:\\.|[^"\\])*)" "((?:\\.|[^"\\])*)"; \}', line
        ):
            before, after, default, pattern, value = match.groups()
            assert before == default
            given = values.setdefault(before, url)
            found = re.search(unescaped(pattern), given)
            made = unescaped(value)
            values[after] = (
                re.sub(r"\$(\d)", lambda group, found=found: found[int(group[1])], made) if found else given
            )
            last = after
    return values[last]


def unescaped(text):
    return re.sub(r"""\\(["'\\])""", r"\1", text)


def by_apache(text, url):
    lines = iter(text.splitlines())
    for line in lines:
        if match := re.fullmatch(r'RewriteCond %\{ENV:DUST_URL\} "(.*)"', line):
            rule = re.fullmatch(r'RewriteRule \^ "-" \[E=DUST_URL:([^,\]"]*)\]', next(lines))
            found = re.search(match[1], url)
            if found and rule:  # the last ones compute nothing
                url = re.sub(
                    r"\\(.)|%(\d)",
                    lambda one, found=found: one[1] or found[int(one[2])],
                    rule[1],
                )
    return url


@pytest.mark.once
def test_nginx_and_apache_compute_the_key():
    """Two rounds are written: a URL that has a thing more often comes to its key by redirects, one after the other."""
    tried = {"nginx": 0, "apache": 0}
    for site in SITES:
        for rule in some_rules(11, 40):
            canonize = Canonizer({site: [rule]}, site_of).canonize
            for name, compute in (("nginx", by_nginx), ("apache", by_apache)):
                text = said(name, site, rule)
                if text is None:
                    continue
                tried[name] += 1
                for url in URLS:
                    made = url
                    for _ in range(4):
                        made = compute(text, made)
                    assert made == canonize(url), (name, rule, url)
    assert min(tried.values()) > 60


def test_nobody_is_sent_to_a_url_that_did_not_answer():
    rule = some_rules(11, 1)[0]
    for name in ("nginx", "apache"):
        found = exported({"a.example": [Entry(rule, evidence=Evidence(positive=3, negative=2))]}, name)
        assert (found.text, [one.why for one in found.unsaid]) == (
            "",
            ["a URL that it leads to did not answer, so nobody may be sent there"],
        )
