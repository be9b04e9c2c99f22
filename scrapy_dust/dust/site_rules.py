"""The rules of one site, ready for many URLs: which of them can apply is seen from the URL's words.

A substring rule replaces whole tokens, and a parameter's name stands between separators. So a rule whose α or
name has a word (a run of letters and digits) changes only URLs that have this word among theirs. One word of
each rule, the rarest, is looked up; a URL costs one pass that finds its words, however many rules there are.

What a rule makes of a URL has words of that URL and of β, or the value, and no others: where it applies, no
two words grow together. So the URL need not be looked at again after a rule has changed it.

Nothing here decides what a rule does. Candidates are tried with the rule's own `apply`, in the rules' order,
and a rule that is passed over would have changed nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

from scrapy_dust.dust.rules import ParameterRule, Rule, SubstringRule

Step = tuple[Rule, str, str]
Word = bytes

#: In the URLs of most sites. Only speed depends on it.
_COMMON = (b"http", b"https", b"www")

# Letters and digits stay, all else becomes a space. A regular expression takes four times as long.
_SPACED = bytes(byte if chr(byte).isascii() and chr(byte).isalnum() else 32 for byte in range(256))


def words_of(text: str) -> list[Word]:
    """The runs of ASCII letters and digits in *text*."""
    return text.encode("utf-8", "replace").translate(_SPACED).split()


class SiteRules:
    """*rules* of *site*, in the order to apply them."""

    def __init__(self, site: str, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        #: What a URL must contain for the rule in this place to change it: quicker to see than to apply the rule.
        self._literals = tuple(_literal(rule) for rule in self._rules)
        #: Word → the places of the rules to try where a URL has it.
        self._by_word = _by_rarest_word(self._rules, {*_COMMON, *words_of(site)})
        self._words = set(self._by_word)
        self._literals_by_word = {
            word: tuple(self._literals[place] for place in places) for word, places in self._by_word.items()
        }
        #: Without a word to look up (a slash at the end, say), tried on every URL.
        self._wordless = tuple(place for place, rule in enumerate(self._rules) if not _words_needed(rule))

    def candidates(self, url: str) -> Sequence[int]:
        """The places of the rules that may come to change *url*, ascending; none where no rule applies to it."""
        found = self._words.intersection(words_of(url))
        if not (self._begins_at(found, url) or (self._wordless and self._begins(url))):
            return ()
        if len(found) == 1 and not self._wordless:
            return self._by_word[found.pop()]
        return self._with(self._wordless, found)

    def _begins_at(self, words: set[Word], url: str) -> bool:
        for word in words:
            for literal in self._literals_by_word[word]:
                if literal in url:
                    return True
        return False

    def _begins(self, url: str) -> bool:
        return any(self._rules[place].apply(url) != url for place in self._wordless)

    def apply(
        self, url: str, candidates: Sequence[int], passes: int, steps: list[Step] | None = None
    ) -> tuple[str, bool]:
        """What the rules make of *url*, and whether a pass was reached that changed nothing.

        Each change is added to *steps*: the rule, the form before, and the form after.
        """
        form = url
        for _ in range(passes):
            before, at = form, 0
            while at < len(candidates):
                place = candidates[at]
                at += 1
                if self._literals[place] not in form:
                    continue
                rule = self._rules[place]
                after = rule.apply(form)
                if after != form:
                    if steps is not None:
                        steps.append((rule, form, after))
                    form = after
                    new = _words_made(rule, form)
                    if not self._words.isdisjoint(new):
                        candidates = self._with(candidates, new)
                        at = bisect_right(candidates, place)
            if form == before:
                return form, True
        return form, False

    def _with(self, candidates: Iterable[int], words: Iterable[Word]) -> list[int]:
        found = set(candidates)
        for word in self._words.intersection(words):
            found.update(self._by_word[word])
        return sorted(found)


def _by_rarest_word(rules: Sequence[Rule], common: set[Word]) -> dict[Word, tuple[int, ...]]:
    """Rarest: not in *common*, then in the fewest rules, then the longest."""
    needed = [_words_needed(rule) for rule in rules]
    count = Counter(word for words in needed for word in words)
    chosen: dict[Word, tuple[int, ...]] = {}
    for place, words in enumerate(needed):
        if words:
            word = min(words, key=lambda word: (word in common, count[word], -len(word), word))
            chosen[word] = (*chosen.get(word, ()), place)
    return chosen


def _literal(rule: object) -> str:
    if isinstance(rule, SubstringRule):
        return rule.alpha
    return f"{rule.name}=" if isinstance(rule, ParameterRule) else ""


def _words_needed(rule: object) -> set[Word]:
    """Words without which *rule* changes no URL; empty where none is known."""
    if isinstance(rule, SubstringRule):
        return set(words_of(rule.alpha))
    if isinstance(rule, ParameterRule):
        return set(words_of(rule.name))
    return set()


def _words_made(rule: object, form: str) -> list[Word]:
    """The words that *form*, just made by *rule*, can have and the form before had not."""
    if isinstance(rule, SubstringRule):
        return words_of(rule.beta)
    if isinstance(rule, ParameterRule):
        return words_of(rule.value) if rule.value else []
    return words_of(form)
