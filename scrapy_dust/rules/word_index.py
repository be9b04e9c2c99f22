"""Finds by their words the texts that a rule may change: a look at a few texts instead of at all.

`rules/site_rules.py` finds the rules that may change a URL; this module finds the URLs for a rule. A rule names words
that every text has which the rule changes. Only the texts with the rarest of these words are looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.text_index import COMMON
from scrapy_dust.rules.url_words import Word, words_of


class WordIndex:
    """An index of names by the words of their texts. A name stays in its place when it gets another text."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        """An index of *texts* by their words. At first each text is its own name."""
        self._names: defaultdict[Word, list[str]] = defaultdict(list)
        for text in texts:
            self.add(text, text)

    def add(self, name: str, text: str) -> None:
        """Add *text* as one of the texts of *name*."""
        for word in {*words_of(text)}.difference(COMMON):
            self._names[word].append(name)

    def names_touched(self, rule: Rule) -> Collection[str] | None:
        """The names with a text that *rule* may change, in the order of `add`; None: the rule may change any text."""
        found: dict[str, None] = {}
        for needs in rule.needs:
            names = self._names_with_rarest(word for _, words in needs for word in words)
            if names is None:
                return None
            found.update(dict.fromkeys(names))
        return found.keys()

    def _names_with_rarest(self, words: Iterable[Word]) -> Sequence[str] | None:
        """The names whose texts have the rarest of *words*; None if all *words* are too common to be looked up."""
        having = [self._names.get(word, ()) for word in words if word not in COMMON]
        return min(having, key=len) if having else None
