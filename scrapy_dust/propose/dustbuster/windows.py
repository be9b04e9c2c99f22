"""Drops rules that say the same of a log, because they are windows on one rule that is longer than S tokens.

Where URLs have more than S tokens in common around their difference, each window of S tokens is a rule, and none of
these refines another: phase 2 keeps them all (WWW'07, figure 2). One of them is enough for a trial, since all merge
the same URLs of the log; the others would cost as many trials again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scrapy_dust.propose.dustbuster.likely_rules import LikelyRule
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.rules.word_index import WordIndex
from scrapy_dust.url.tokens import tokenize

Instances = frozenset[tuple[str, str]]


def without_windows(rules: Iterable[LikelyRule], urls: Sequence[str], longest: int) -> list[LikelyRule]:
    """*rules* without repetitions: of the rules with *longest* tokens that have the same instances in *urls*, the
    first stays.
    """
    rules = list(rules)
    cut_off = {one for one in rules if _is_cut_off(one.rule, longest)}
    if len(cut_off) < 2:
        return rules
    index, listed = WordIndex(urls), frozenset(urls)
    seen: set[Instances] = set()
    kept: list[LikelyRule] = []
    for one in rules:
        if one in cut_off:
            instances = _pairs_made(Rule.of(one.rule), index, listed)
            if instances and instances in seen:
                continue
            seen.add(instances)
        kept.append(one)
    return kept


def _is_cut_off(rule: Substitute, longest: int) -> bool:
    """Whether a side of *rule* has *longest* tokens, so that the rule may be a window on a longer one."""
    anchors = rule.start + rule.end
    return max(len(tokenize(rule.alpha)), len(tokenize(rule.beta))) + anchors >= longest


def _pairs_made(rule: Rule, index: WordIndex, listed: frozenset[str]) -> Instances:
    """The pairs of listed URLs of which *rule* turns the first into the second."""
    touched = index.names_touched(rule)
    made = ((url, rule.apply(url)) for url in (listed if touched is None else touched))
    return frozenset(pair for pair in made if pair[0] != pair[1] and pair[1] in listed)
