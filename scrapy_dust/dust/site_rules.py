"""The rules of one site, ready for many URLs: which of them can apply is seen from the URL's words.

A substring rule replaces whole tokens, and a parameter's name stands between separators. So a rule whose α or
name has a word (a run of letters and digits) changes only URLs that have this word among theirs, and a rule with
two words in a row only those that have the two in a row. One word of each rule, the rarest, is looked up, or two,
where several rules would share the one; a URL costs one pass that finds its words, however many rules there are.

Rules that share what is looked up are told apart by their texts: a rule changes only URLs that contain its α, or
its name with an equals sign. Where a URL has not even the shortest of several such texts, of which the one is
part of the other, it has none of them.

Nothing here decides what a rule does. Candidates are tried with the rule's own `apply`, in the rules' order,
and a rule that is passed over would have changed nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

from scrapy_dust.dust.rules import GROWTH, ParameterRule, Rule, SubstringRule

Step = tuple[Rule, str, str]
Word = bytes
#: What is looked up for a rule: a word, or two in a row.
Key = Word | tuple[Word, Word]

#: In the URLs of most sites. Only speed depends on it.
COMMON = (b"http", b"https", b"www")

#: Rules that share a word without having to be looked up by two; and that are compared with each other.
_FEW, _MANY = 4, 256

# Letters and digits stay, all else becomes a space. A regular expression takes four times as long.
_SPACED = bytes(byte if chr(byte).isascii() and chr(byte).isalnum() else 32 for byte in range(256))


def words_of(text: str) -> list[Word]:
    """The runs of ASCII letters and digits in *text*."""
    return text.encode("utf-8", "replace").translate(_SPACED).split()


class Texts:
    """Equal texts as one object: many sites have rules of the same words, and what they share stays at hand."""

    def __init__(self) -> None:
        self._one: dict[Key | str, Key | str] = {}

    def word(self, word: Key) -> Key:
        return self._one.setdefault(word, word)  # type: ignore[return-value]

    def literal(self, literal: str) -> str:
        return self._one.setdefault(literal, literal)  # type: ignore[return-value]


class SiteRules:
    """*rules* of *site*, in the order to apply them. *texts* are those of all sites."""

    def __init__(self, site: str, rules: Sequence[Rule], texts: Texts | None = None) -> None:
        texts = texts or Texts()
        self._rules = tuple(rules)
        #: What a URL must contain for the rule in this place to change it: quicker to see than to apply the rule.
        self._literals = tuple(texts.literal(_literal(rule)) for rule in self._rules)
        by_key = _by_rarest_key(self._rules, {*COMMON, *words_of(site)})
        #: Places of rules → those of further ones whose literals contain theirs.
        self._within: dict[int, tuple[int, ...]] = {}
        #: Key → the rules to look for where a URL has it, but for those in `_within`: literal and place of each.
        self._by_key = {
            texts.word(key): tuple((self._literals[place], place) for place in self._shortest(places))
            for key, places in by_key.items()
        }
        self._has_pairs = any(isinstance(key, tuple) for key in by_key)
        #: Without a word to look up (a slash at the end, say), tried on every URL.
        self._wordless = tuple(place for place, rule in enumerate(self._rules) if not _words_needed(rule))

    def candidates(self, url: str) -> Sequence[int]:
        """The places of the rules that may change *url* as it is, ascending; none where no rule applies to it."""
        candidates = self._with_words(url)
        if not self._wordless:
            return candidates
        return self._and_wordless(candidates) if candidates or self._begins_without_a_word(url) else ()

    def apply(
        self, url: str, candidates: Sequence[int], passes: int, steps: list[Step] | None = None
    ) -> tuple[str, bool]:
        """What the rules make of *url*, whose *candidates* are given, and whether a pass was reached that changed
        nothing. Each change is added to *steps*: the rule, the form before, and the form after.
        """
        form, longest = url, 2 * len(url) + GROWTH
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
                    if len(form) > longest:
                        return form, False
                    candidates = self._and_wordless(self._with_words(form))
                    at = bisect_right(candidates, place)
            if form == before:
                return form, True
        return form, False

    def _with_words(self, url: str) -> Sequence[int]:
        """The candidates among the rules with words."""
        words = words_of(url)
        keys: Iterable[Key] = chain(words, pairwise(words)) if self._has_pairs else words
        # What a look touches in memory is what it costs, where other sites were met since: of most words one place.
        sought = filter(None, map(self._by_key.get, keys))
        found = [rule[1] for rules in sought for rule in rules if rule[0] in url]
        if found and self._within:
            found += [further for place in found for further in self._within.get(place, ())]
        return sorted(set(found)) if len(found) > 1 else found

    def _and_wordless(self, candidates: Sequence[int]) -> Sequence[int]:
        return sorted((*candidates, *self._wordless)) if self._wordless else candidates

    def _begins_without_a_word(self, url: str) -> bool:
        return any(self._rules[place].apply(url) != url for place in self._wordless)

    def _shortest(self, places: Sequence[int]) -> tuple[int, ...]:
        """Those of *places* whose literals contain no other's; the others are put in `_within`."""
        if len(places) == 1 or len(places) > _MANY:
            return tuple(places)
        shortest: dict[int, list[int]] = {}
        for place in sorted(places, key=lambda place: len(self._literals[place])):
            literal = self._literals[place]
            part = next((other for other in shortest if self._literals[other] in literal), None)
            if part is None:
                shortest[place] = []
            else:
                shortest[part].append(place)
        self._within.update({place: tuple(others) for place, others in shortest.items() if others})
        return tuple(shortest)


def _by_rarest_key(rules: Sequence[Rule], common: set[Word]) -> dict[Key, list[int]]:
    """Rarest: not in *common*, then in the fewest rules, then the longest."""
    needed = [_words_needed(rule) for rule in rules]
    count = Counter(word for words in needed for word in set(words))
    chosen: defaultdict[Key, list[int]] = defaultdict(list)
    for place, words in enumerate(needed):
        if words:
            chosen[min(words, key=lambda word: (word in common, count[word], -len(word), word))].append(place)
    shared = [key for key, places in chosen.items() if len(places) > _FEW or key in common]
    pairs = Counter(pair for key in shared for place in chosen[key] for pair in set(pairwise(needed[place])))
    for key in shared:
        for place in chosen.pop(key):
            in_a_row = list(pairwise(needed[place]))
            rarest = min(in_a_row, key=lambda pair: (pairs[pair], pair)) if in_a_row else key
            chosen[rarest].append(place)
    return dict(chosen)


def _literal(rule: object) -> str:
    if isinstance(rule, SubstringRule):
        return rule.alpha
    return f"{rule.name}=" if isinstance(rule, ParameterRule) else ""


def _words_needed(rule: object) -> list[Word]:
    """Words, in a row, without which *rule* changes no URL; empty where none is known."""
    if isinstance(rule, SubstringRule):
        return words_of(rule.alpha)
    if isinstance(rule, ParameterRule):
        return words_of(rule.name)
    return []
