"""DustBuster's substring rules among the edits: where two URLs differ in one run of tokens, wherever that is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scrapy_dust.dust.edits.anatomy import Anatomy, anatomy_of
from scrapy_dust.dust.rules import SubstringRule
from scrapy_dust.dust.tokens import tokenize

_LONGEST = 35  #: tokens of a substring: S in the paper


@dataclass(frozen=True, slots=True)
class Substitute:
    rule: SubstringRule
    of_directory: bool = False  #: it was read off directories, not off what they hold
    rank = 20  # after all that knows parts: those have been looked at first

    @property
    def family(self) -> str:
        return "path substring" if self.of_directory else "substring"

    @property
    def needle(self) -> str:
        return self.rule.alpha

    def apply(self, url: Anatomy) -> Anatomy:
        text = url.url
        if self.rule.alpha not in text:
            return url
        changed = self.rule.apply(text)
        form = anatomy_of(changed)
        return form if changed != text and form.has_authority else url

    def __str__(self) -> str:
        return str(self.rule)


def substitutions(one: Anatomy, other: Anatomy) -> Iterator[Substitute]:
    """With as much around what differs as makes it findable, and with one token more."""
    here, there = sorted((one.url, other.url), key=lambda text: (-len(text), text))
    a, b = tokenize(here), tokenize(there)
    least = min(len(a), len(b))
    head = 0
    while head < least and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < least - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    if len(a) - head - tail > _LONGEST or head < 4:
        return  # what differs in the scheme or the host is not looked at here
    of_directory = "/" in "".join(a[len(a) - tail :]).partition("?")[0]
    for more in (0, 1):
        left, right = max(head - more, 0), max(tail - more, 0)
        alpha, beta = ("".join(tokens[left : len(tokens) - right]) for tokens in (a, b))
        if alpha:
            yield Substitute(SubstringRule(alpha, beta, end=right == 0), of_directory)
