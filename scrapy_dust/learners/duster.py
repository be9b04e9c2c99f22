"""DUSTER: rules from the alignment of all URLs of a cluster (Rodrigues, Cristo, de Moura, da Silva, SPIRE 2013;
IEEE TKDE 27(8), 2015). Known from descriptions and from a public re-implementation, not from its text.

Phase 1 aligns up to ten URLs of a cluster and reads a rule off the consensus: what is the same in all is
copied, a place that varies gets one fixed token, what some URLs lack is left out. Letters and digits that are
the same in all stand for any. Rules that many clusters give are one rule. Phase 2 applies each rule to the
training log: URLs that get one form are its support, those of them that show another page than most are its
false positives. What is our choice:

- the host stays as it is where it is the same in all;
- a form's pages are compared by cluster; the re-implementation asks only whether each has any duplicate, and
  so passes rules that merge different pages;
- thresholds: a support of ten URLs, and SIGIR'17's 10 % of false positives;
- phase 2 looks at the whole training log, which is small, and not at a third of its own;
- rules with more support go first; the first that matches is applied, and again on what it made.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scrapy_dust.learners.alignment import Column, Consensus, consensus_of
from scrapy_dust.learners.clusters import clusters_of, duplicate_clusters
from scrapy_dust.learners.interface import Learned, apply_until_settled, key_unchanged
from scrapy_dust.visits.pages import SiteLog

# Possessive: nothing is tried twice, or a URL of many equal parts would take for ever.
_ANY = "[A-Za-z0-9]*+"
_OF_KIND = {"a": "[A-Za-z]++", "0": "[0-9]++"}
_HOST_ENDS = 3  # slashes
_MOST_ALTERNATIVES = 5


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, and the text that replaces its match."""

    context: str
    output: str

    def __str__(self) -> str:
        return f"{self.context} ⇒ {self.output}"


@dataclass(frozen=True, slots=True)
class Duster:
    """The learner of the paper, with its parameters."""

    most_aligned: int = 10  #: URLs of a cluster
    least_support: int = 10
    most_false: float = 0.1
    name: str = "duster"

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Read a rule off each cluster of *log*, and keep the rules that merge few different pages."""
        clusters = clusters_of(log)
        support = {}
        for pattern in self._candidate_patterns(duplicate_clusters(clusters)):
            saved = self._support_of(pattern, clusters)
            if saved:
                support[pattern] = saved
        rules = sorted(support, key=lambda one: (-support[one], str(one)))
        return Learned(PatternKeys(rules).key, tuple(map(str, rules))) if rules else Learned(key_unchanged)

    def _candidate_patterns(self, groups: Iterable[Sequence[str]]) -> list[Pattern]:
        """The rules read off *groups* of URLs of one page, if enough URLs gave the rule."""
        clusters: Counter[Pattern] = Counter()
        urls: Counter[Pattern] = Counter()
        for group in groups:
            pattern = pattern_of(consensus_of(group[: self.most_aligned]))
            clusters[pattern] += 1
            urls[pattern] += len(group)
        return [pattern for pattern in clusters if urls[pattern] >= self.least_support]

    def _support_of(self, pattern: Pattern, clusters: Mapping[str, Hashable]) -> int:
        """How many URLs get from *pattern* a form that others get too; 0 if too few, or too many show other pages."""
        forms: dict[str, Counter[Hashable]] = defaultdict(Counter)
        match = re.compile(pattern.context).fullmatch
        for url, cluster in clusters.items():
            found = match(url)
            if found is not None:
                forms[found.expand(pattern.output)][cluster] += 1
        shared = [pages for pages in forms.values() if pages.total() > 1]
        support = sum(pages.total() for pages in shared)
        wrong = sum(pages.total() - max(pages.values()) for pages in shared)
        return support if support >= self.least_support and wrong <= self.most_false * support else 0


class PatternKeys:
    """Makes keys of URLs by the rules of a site, in the order in which they are applied."""

    def __init__(self, rules: Iterable[Pattern]) -> None:
        self._rules = [(re.compile(rule.context), rule.output) for rule in rules]

    def key(self, url: str) -> str:
        """The key of *url*: the form that no rule changes, or *url* itself if there is none."""
        return apply_until_settled(url, self._apply_once)

    def _apply_once(self, url: str) -> str:
        """The form that the first rule which changes *url* makes of it; *url* itself if none does."""
        for context, output in self._rules:
            found = context.fullmatch(url)
            if found is not None:
                form = found.expand(output)
                if form != url:
                    return form
        return url


def pattern_of(consensus: Consensus) -> Pattern:
    """The rule that a cluster's *consensus* shows."""
    context: list[str] = []
    output: list[str] = []
    groups = slashes = 0
    for stretch in between_delimiters(consensus):
        same = all(is_invariant(column) for column in stretch)
        text = "".join(min(column.tokens) for column in stretch)
        slashes += same and text == "/"
        if same and (slashes < _HOST_ENDS or not text.isalnum()):
            context.append(re.escape(text))
            output.append(text.replace("\\", "\\\\"))
        elif same:
            groups += 1
            context.append(f"({_ANY})")
            output.append(f"\\g<{groups}>")
        else:
            groups = _write_varying(stretch, context, output, groups)
    return Pattern("".join(context), "".join(output))


def _write_varying(stretch: Iterable[Column], context: list[str], output: list[str], groups: int) -> int:
    """Add the columns of *stretch*, of which some vary, to *context* and *output*. *groups*: those so far; returns
    those now.
    """
    for column in stretch:
        if is_invariant(column) and column.kind in _OF_KIND:
            groups += 1
            context.append(f"({_OF_KIND[column.kind or '']})")
            output.append(f"\\g<{groups}>")
        else:
            context.append(alternatives(column))
            if not column.gap:
                output.append(min(column.tokens).replace("\\", "\\\\"))
    return groups


def is_invariant(column: Column) -> bool:
    """Whether all URLs have the same token in *column*."""
    return len(column.tokens) == 1 and not column.gap


def alternatives(column: Column) -> str:
    """A regular expression for the tokens of *column*."""
    if column.kind in _OF_KIND and len(column.tokens) > _MOST_ALTERNATIVES:
        one = _OF_KIND[column.kind or ""]
    else:
        one = "|".join(map(re.escape, sorted(column.tokens)))
    return f"(?:{one})?+" if column.gap else f"(?:{one})"


def between_delimiters(consensus: Consensus) -> Iterator[list[Column]]:
    """The columns of *consensus* in groups: each delimiter that all URLs share alone, and the columns between two."""
    stretch: list[Column] = []
    for column in consensus:
        if is_invariant(column) and column.kind not in _OF_KIND:
            if stretch:
                yield stretch
            yield [column]
            stretch = []
        else:
            stretch.append(column)
    if stretch:
        yield stretch
