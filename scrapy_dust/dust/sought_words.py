"""Which edits of a site may change a URL, told from the URL's words, however many edits there are.

As `site_rules` has it for plain rules. What edits and guards name stands between separators in a URL: a segment, a
parameter's name or value, a host. So a word of such a name is a word of the URL, whole. What is only a part of a
segment (how it ends, the text beside a capture) gives those of its words that have a separator on each side.
An edit of which nothing is known is one to ask for every URL.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.guards import Condition
from scrapy_dust.dust.edits.operation import Operation
from scrapy_dust.dust.edits.paths import DropLast, MapSegments, MapSuffix
from scrapy_dust.dust.edits.queries import AnyValue, CutValue, DropParameter, MapValue
from scrapy_dust.dust.edits.rewriting import Rewrite
from scrapy_dust.dust.edits.spellings import MapHost
from scrapy_dust.dust.edits.substituting import Substitute
from scrapy_dust.dust.site_rules import COMMON, Word, words_of

#: What they look for is all that stands between two separators, or several such texts.
_OF_WHOLE_TEXTS = (AnyValue, CutValue, DropLast, DropParameter, MapHost, MapSegments, MapValue, Substitute)
_FIRST_WORD, _LAST_WORD = re.compile("^[0-9A-Za-z]+"), re.compile("[0-9A-Za-z]+$")


class SoughtWords:
    """Words → the places of the *edits* of *site* to ask for a URL that has them."""

    def __init__(self, site: str, edits: Sequence[Edit]) -> None:
        common = {*COMMON, *words_of(site)}
        needed = [_alternatives(edit) for edit in edits]
        count = Counter(word for each in needed for words in each for word in set(words))
        by_word: defaultdict[Word, list[int]] = defaultdict(list)
        for place, each in enumerate(needed):
            for words in each:
                rarest = min(words, key=lambda word: (word in common, count[word], -len(word), word))
                by_word[rarest].append(place)
        self._by_word = {word: tuple(places) for word, places in by_word.items()}
        self._always = tuple(place for place, each in enumerate(needed) if not each)

    def places(self, url: str) -> Sequence[int]:
        """Of the edits that may change *url*, ascending. No other does."""
        found = [*self._always]
        for places in filter(None, map(self._by_word.get, words_of(url))):
            found += places
        return sorted(set(found)) if len(found) > len(self._always) else self._always


def asked_for(condition: Condition) -> str:
    """A text that every URL has of which *condition* is true."""
    name, value = condition.name, condition.value
    if not condition.holds or name in ("depth", "shape", "#:"):
        return ""
    if name[0] == "?":
        return name[1:-1] if name[-1] == ":" else max(name[1:], value or "", key=len)
    return value or ""


def _alternatives(edit: Edit) -> list[list[Word]]:
    """Lists of words; a URL that *edit* changes has all words of one of them. None: nothing is known."""
    guarded = [word for condition in edit.guard for word in words_of(asked_for(condition))]
    each = [guarded + _whole_words(operation) for operation in edit.operations]
    return each if all(each) else []


def _whole_words(operation: Operation) -> list[Word]:
    if isinstance(operation, _OF_WHOLE_TEXTS):
        return words_of(operation.needle)
    if isinstance(operation, MapSuffix):
        return words_of(_FIRST_WORD.sub("", operation.suffix))
    if isinstance(operation, Rewrite):
        return _words_between(piece for piece in operation.form if isinstance(piece, str))
    return []


def _words_between(texts: Iterable[str]) -> list[Word]:
    return [word for text in texts for word in words_of(_LAST_WORD.sub("", _FIRST_WORD.sub("", text)))]
