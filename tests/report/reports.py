"""Reports that are made up."""

from __future__ import annotations

from collections import Counter

from scrapy_dust.report.gathering import Funnel, PastCrawl, Report
from scrapy_dust.report.pairs import PairShown
from scrapy_dust.report.rules_shown import RuleShown
from scrapy_dust.report.savings import Remaining, Savings
from scrapy_dust.rule_book import rule_id
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute

SITE = "a.example"
EVIL = '</script><script>document.title="taken"</script><img src=x onerror=\'document.title="taken"\'>&lt;"\u2028'


def shown(site, rule, **other):
    values = {
        "id": rule_id(site, rule),
        "site": site,
        "text": str(rule),
        "kind": rule.family,
        "status": "valid",
        "doubt": 0.1,
        "saves": 3,
        "bytes": 3000,
        "support": 9,
        "same": 12,
        "different": 0,
        "unanswered": 0,
        "open": 1,
        "from_log": 5,
        "contents": 4,
        "fetches": 7,
        "merges": 30,
        "wrong": 1,
        "unseen": 0.05,
        "waits": "",
        "validated": "2026-11-18",
        "reason": None,
        "comment": None,
        "examples": (
            PairShown(
                ("http://a.example/?sid=1&id=2", "http://a.example/?id=2"),
                ("A title", "A title"),
                ("4 of 4 hashes of their texts agree.",),
                ("One page of words", "One page of other words"),
            ),
        ),
    }
    return RuleShown(**values | other)


def report(rules_by_site, *more, past=(), pairs=()):
    """Of rules in force, and *more* that are shown beside them."""
    rules = [shown(site, rule) for site, rules in rules_by_site.items() for rule in rules]
    savings = {site: Savings(100, 70, 10**6, 3 * 10**5, Counter(), Counter()) for site in rules_by_site}
    return Report(
        day="2026-11-18",
        logs=("crawl.jsonl",),
        passes=10,
        rules=[*rules, *more],
        in_force=rules_by_site,
        funnel=Funnel(100, 90, 40, 3, 5, 45, 20, 10, 15, 4, 200),
        savings=savings,
        left=[PairShown(pair) for pair in pairs],
        remaining={site: Remaining(2, Counter(), 2, tuple(pairs)) for site in rules_by_site},
        lost_at_most=2,
        past=[PastCrawl(*one) for one in past],
    )


def many(count):
    """As many rules on a hundred sites."""
    by_site = {}
    for number in range(count):
        rule = (
            Rule.of(DropParameter(f"p{number}")) if number % 3 else Rule.of(Substitute(f"/v{number}/", "/"))
        )
        by_site.setdefault(f"s{number % 100}.example", []).append(rule)
    return report(by_site)
