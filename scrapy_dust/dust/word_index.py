"""Which texts a rule may change, told from their words: a look at a few texts instead of at all of them.

`rules/site_rules.py` asks which rules may change a URL; this module asks the other way round. A rule names words
that every text has which the rule changes. The texts of the rarest of these words are looked at, and no others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.texts import COMMON
from scrapy_dust.rules.words import Word, words_of


class WordIndex:
    """Names by the words of their texts. A name stays where it was put, also when it has come to have another text."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        """*texts* are their own names."""
        self._names: dict[Word, list[str]] = {}
        for text in texts:
            self.add(text, text)

    def add(self, name: str, text: str) -> None:
        """*text* is one of the texts of *name*."""
        for word in set(words_of(text)):
            if word not in COMMON:
                self._names.setdefault(word, []).append(name)

    def touched_by(self, rule: Rule) -> Collection[str] | None:
        """The names of which a text may be changed by *rule*, in the order of `add`; None: it may be any."""
        found: dict[str, None] = {}
        for needs in rule.needs:
            names = self._rarest(word for _, words in needs for word in words)
            if names is None:
                return None
            found.update(dict.fromkeys(names))
        return found.keys()

    def _rarest(self, words: Iterable[Word]) -> Sequence[str] | None:
        having = [self._names.get(word, ()) for word in words if word not in COMMON]
        return min(having, key=len) if having else None
