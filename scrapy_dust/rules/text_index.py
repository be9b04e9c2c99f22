"""The index of rules: words of a URL by which rules are looked up, and texts without which no rule changes
a URL.

A word is a run of letters and digits. What a rule names stands between separators in a URL, so a word of a name is a whole
word of the URL. One word of each rule, the rarest, is looked up, or two in a row, where several rules would share the one;
a URL costs one pass that finds its words, however many rules there are. Rules that share what is looked up are told apart
by their texts. Where a URL has not even the shortest of several such texts, of which the one is part of the other, it has
none of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import partial, reduce
from itertools import pairwise

from scrapy_dust.rules.operation import Need
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.url_words import Word

#: A word by which a rule is looked up, or two in a row.
Key = Word | tuple[Word, Word]
#: A rule: a text without which it changes no URL, and its place.
Sought = tuple[str, int]

#: In the URLs of most sites. Only speed depends on it.
COMMON = (b"http", b"https", b"www")

#: Rules that share a word without having to be looked up by two; and that are compared with each other.
_FEW, _MANY = 4, 256

#: Texts that are looked for where a URL has a word: each more is as much time, and a reason less to look further.
_FEW_TEXTS = 8


class TextIndex:
    """An index for the rules of all sites that were met: words to look up, and texts of which a URL must
    have one.

    A site's own index is looked into only for words whose texts are in a URL. So most URLs touch none of it; and of
    this one index, what the URLs of all sites have in common stays at hand, however many sites and rules there are.
    """

    def __init__(self) -> None:
        self._one: dict[str, str] = {}
        self._rules: dict[Rule, Rule] = {}
        self._of_key: dict[Key, tuple[Key, str, tuple[str, ...]]] = {}
        #: For a key: the key itself, a text, and other texts, one of which a URL must have; None where no rule has the key.
        self.of_key = self._of_key.get

    def shared_literal(self, literal: str) -> str:
        """The one object that stands for all texts equal to *literal*, so that equal texts take memory once."""
        return self._one.setdefault(literal, literal)

    def shared_rule(self, rule: Rule) -> Rule:
        """The one object that stands for all rules equal to *rule*, so that equal rules take memory once."""
        return self._rules.setdefault(rule, rule)

    def add(self, key: Key, literals: Iterable[str]) -> Key:
        """Note the *literals* of the rules that are looked up by *key*. Returns the first of all equal keys."""
        known, *_ = there = self._of_key.get(key, (key,))
        texts = before = (there[1], *there[2]) if len(there) == 3 else ()
        word = (key if isinstance(key, bytes) else key[0]).decode()
        for literal in sorted(literals, key=len):
            texts = _texts_covering(texts, literal, word)
        if texts != before:
            first, *others = map(self.shared_literal, texts)
            self._of_key[known] = (known, first, tuple(others))
        return known


def _texts_covering(texts: tuple[str, ...], literal: str, word: str) -> tuple[str, ...]:
    """A few texts, all with *word*, such that a URL which contains *literal* or one of *texts* contains one of them."""
    if has_one(literal, texts):
        return texts
    texts = (*(text for text in texts if literal not in text), literal)
    return texts if len(texts) <= _FEW_TEXTS else (reduce(partial(_common_text, word), texts),)


def has_one(url: str, texts: Iterable[str]) -> bool:
    """Whether *url* contains any of *texts*."""
    for text in texts:  # noqa: SIM110 - a generator would take twice as long
        if text in url:
            return True
    return False


def _common_text(word: str, one: str, other: str) -> str:
    """A text that *one* and *other* contain, and that contains *word*."""
    if one in other:
        return one
    at, there = one.index(word), other.index(word)
    left, right = _common_prefix(one[:at][::-1], other[:there][::-1]), _common_prefix(one[at:], other[there:])
    return one[at - left : at + right]


def _common_prefix(one: str, other: str) -> int:
    """The number of characters at the beginning of *one* and *other* that are equal."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def by_shortest_text(rules: Sequence[Sought]) -> tuple[tuple[str, int, tuple[Sought, ...]], ...]:
    """*rules* in groups, each a text, the place of its rule, and the rules whose texts contain that text: a URL
    without the text needs no look at the group.
    """
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


def by_rarest_word(
    rules: Sequence[Rule], common: set[Word]
) -> tuple[dict[Key, list[Sought]], tuple[int, ...]]:
    """The rules by the rarest word, or pair of words, of the texts that they need, and the places of the rules
    without words.

    Rarest: not in *common*, then in the fewest rules, then the longest.
    """
    always = tuple(place for place, rule in enumerate(rules) if not all(map(_all_words, rule.needs)))
    asked: list[tuple[int, Sequence[Need]]] = [
        (place, needs)
        for place, rule in enumerate(rules)
        if all(map(_all_words, rule.needs))
        for needs in rule.needs
    ]
    count = Counter(word for _, needs in asked for word in set(_all_words(needs)))
    chosen: defaultdict[Key, list[tuple[int, Sequence[Need]]]] = defaultdict(list)
    for place, needs in asked:
        rarest = min(_all_words(needs), key=lambda word: (word in common, count[word], -len(word), word))
        chosen[rarest].append((place, needs))
    _look_up_by_two(chosen, common)
    found: defaultdict[Key, list[Sought]] = defaultdict(list)
    for key, those in chosen.items():
        for place, needs in those:
            found[key].append((_longest_text_with(key, needs), place))
    return {key: list(dict.fromkeys(of_key)) for key, of_key in found.items()}, always


def _look_up_by_two(chosen: dict[Key, list[tuple[int, Sequence[Need]]]], common: set[Word]) -> None:
    """Look up rules that share a common word by two words in a row, if their texts have two. Changes *chosen*."""
    shared = [key for key, those in chosen.items() if len(those) > _FEW or key in common]
    pairs = Counter(
        pair for key in shared for _, needs in chosen[key] for pair in set(_all_word_pairs(needs))
    )
    for key in shared:
        for place, needs in chosen.pop(key):
            in_a_row = _all_word_pairs(needs)
            rarest = min(in_a_row, key=lambda pair: (pairs[pair], pair)) if in_a_row else key
            chosen[rarest].append((place, needs))


def _all_words(needs: Iterable[Need]) -> list[Word]:
    """The words of all texts in *needs*."""
    return [word for _, words in needs for word in words]


def _all_word_pairs(needs: Iterable[Need]) -> list[tuple[Word, Word]]:
    """The pairs of neighbours among the words of each text in *needs*."""
    return [pair for _, words in needs for pair in pairwise(words)]


def _longest_text_with(key: Key, needs: Iterable[Need]) -> str:
    """The longest of a rule's texts, *needs*, that contains *key*."""
    having = (
        text for text, words in needs if (key in words if isinstance(key, bytes) else key in pairwise(words))
    )
    return max(having, key=len)
