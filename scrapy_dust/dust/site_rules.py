"""The rules of one site, ready for many URLs: which of them can apply is seen from the URL's words.

A substring rule replaces whole tokens, and a parameter's name stands between separators. So a rule whose α or
name has a word (a run of letters and digits) changes only URLs that have this word among theirs, and a rule with
two words in a row only those that have the two in a row. One word of each rule, the rarest, is looked up, or two,
where several rules would share the one; a URL costs one pass that finds its words, however many rules there are.

Rules that share what is looked up are told apart by their texts: a rule changes only URLs that contain its α, or
its name with an equals sign. Where a URL has not even the shortest of several such texts, of which the one is
part of the other, it has none of them.

What is looked up for the rules of all sites is in one index, with texts of which a URL must have one for any site's
rules to be asked (`Texts`). What a rule that does not apply costs is mostly memory that was not at hand.

Nothing here decides what a rule does. Candidates are tried with the rule's own `apply`, in the rules' order,
and a rule that is passed over would have changed nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import partial, reduce
from itertools import chain, pairwise

from scrapy_dust.dust.rules import GROWTH, ParameterRule, Rule, SubstringRule

Step = tuple[Rule, str, str]
Word = bytes
#: What is looked up for a rule: a word, or two in a row.
Key = Word | tuple[Word, Word]
#: A rule: a text without which it changes no URL, and its place.
Sought = tuple[str, int]

#: In the URLs of most sites. Only speed depends on it.
COMMON = (b"http", b"https", b"www")

#: Rules that share a word without having to be looked up by two; and that are compared with each other.
_FEW, _MANY = 4, 256
#: Words of a URL, from which on it is worth while to see which are the same: a path of /a/b/a/b/… asks no rule twice.
_REPEATING = 32

#: Texts that are looked for where a URL has a word: each more is as much time, and a reason less to look further.
_FEW_TEXTS = 8

# Letters and digits stay, all else becomes a space. A regular expression takes four times as long.
_SPACED = bytes(byte if chr(byte).isascii() and chr(byte).isalnum() else 32 for byte in range(256))


def words_of(text: str) -> list[Word]:
    """The runs of ASCII letters and digits in *text*."""
    return text.encode("utf-8", "replace").translate(_SPACED).split()


class Texts:
    """What is looked up for the rules of all sites that were met, and texts of which a URL must have one.

    A site's own index is looked into only for words whose texts are in a URL. So most URLs touch none of it; and of
    this one index, what the URLs of all sites have in common stays at hand, however many sites and rules there are.
    """

    def __init__(self) -> None:
        self._one: dict[str, str] = {}
        self._rules: dict[Rule, Rule] = {}
        self._of_key: dict[Key, tuple[Key, str, tuple[str, ...]]] = {}
        #: Of a key itself, a text and other texts, one of which a URL must have; None where no rule is looked up by it.
        self.of_key = self._of_key.get

    def literal(self, literal: str) -> str:
        """Equal texts as one object."""
        return self._one.setdefault(literal, literal)

    def rule(self, rule: Rule) -> Rule:
        """Equal rules as one object."""
        return self._rules.setdefault(rule, rule)

    def add(self, key: Key, literals: Iterable[str]) -> Key:
        """*literals* are those of rules that are looked up by *key*. Of equal keys, the first is returned."""
        known, *_ = there = self._of_key.get(key, (key,))
        texts = before = (there[1], *there[2]) if len(there) == 3 else ()
        word = (key if isinstance(key, bytes) else key[0]).decode()
        for literal in sorted(literals, key=len):
            texts = _also_of(texts, literal, word)
        if texts != before:
            first, *others = map(self.literal, texts)
            self._of_key[known] = (known, first, tuple(others))
        return known


def _also_of(texts: tuple[str, ...], literal: str, word: str) -> tuple[str, ...]:
    """A few texts, so that what contains *literal* or one of *texts*, which all have *word*, contains one of them."""
    if _has_one(literal, texts):
        return texts
    texts = (*(text for text in texts if literal not in text), literal)
    return texts if len(texts) <= _FEW_TEXTS else (reduce(partial(_in_both, word), texts),)


def _has_one(url: str, texts: Iterable[str]) -> bool:
    for text in texts:  # noqa: SIM110 - a generator would take twice as long
        if text in url:
            return True
    return False


def _in_both(word: str, one: str, other: str) -> str:
    """A text that has *word*, as both do, and is part of both."""
    if one in other:
        return one
    at, there = one.index(word), other.index(word)
    left, right = _alike(one[:at][::-1], other[:there][::-1]), _alike(one[at:], other[there:])
    return one[at - left : at + right]


def _alike(one: str, other: str) -> int:
    """How many characters are the same at the beginnings of both."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


class SiteRules:
    """*rules* of *site*, in the order to apply them. *texts* are those of all sites."""

    __slots__ = ("_by_key", "_has_pairs", "_of_key", "_rules", "_wordless")

    def __init__(self, site: str, rules: Sequence[Rule], texts: Texts | None = None) -> None:
        texts = texts or Texts()
        self._rules = tuple(map(texts.rule, rules))
        by_key = {
            key: [(texts.literal(_literal(self._rules[place])), place) for place in places]
            for key, places in _by_rarest_key(self._rules, {*COMMON, *words_of(site)}).items()
        }
        #: The rules to look for where a URL has the key.
        self._by_key = {
            texts.add(key, [literal for literal, _ in of_key]): _by_shortest(of_key)
            for key, of_key in by_key.items()
        }
        self._of_key = texts.of_key
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
        if len(words) > _REPEATING:
            keys = dict.fromkeys(keys)
        # What a look touches in memory is what it costs, where other sites were met since: of most URLs, the index that
        # all sites share, and nothing of this one.
        found: list[int] = []
        for key, text, others in filter(None, map(self._of_key, keys)):
            if text in url or (others and _has_one(url, others)):
                for literal, place, further in self._by_key.get(key, ()):
                    if literal in url:
                        found.append(place)
                        found += [place for literal, place in further if literal in url]
        return sorted(set(found)) if len(found) > 1 else found

    def _and_wordless(self, candidates: Sequence[int]) -> Sequence[int]:
        return sorted((*candidates, *self._wordless)) if self._wordless else candidates

    def _begins_without_a_word(self, url: str) -> bool:
        return any(self._rules[place].apply(url) != url for place in self._wordless)


def _by_shortest(rules: Sequence[Sought]) -> tuple[tuple[str, int, tuple[Sought, ...]], ...]:
    """Of *rules* those whose literals contain no other's, each with the others whose literals contain its own."""
    if len(rules) == 1 or len(rules) > _MANY:
        return tuple((*rule, ()) for rule in rules)
    shortest: dict[Sought, list[Sought]] = {}
    for rule in sorted(rules, key=lambda rule: len(rule[0])):
        part = next((other for other in shortest if other[0] in rule[0]), None)
        if part is None:
            shortest[rule] = []
        else:
            shortest[part].append(rule)
    return tuple((*rule, tuple(others)) for rule, others in shortest.items())


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
