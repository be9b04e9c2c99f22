"""Substitutions that a pair of URLs suggests, where the two differ in one run of tokens."""

from __future__ import annotations

from collections.abc import Iterator

from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.url.parts import Parts
from scrapy_dust.url.tokens import tokenize

_LONGEST = 35  #: tokens of a substring: S in the paper


class _Read(Substitute):
    """A substitution that belongs to a family, which says how soon it is believed."""

    __slots__ = ()

    def as_written(self) -> Substitute:
        """The substitution as a rule book has it, without the learner's knowledge of where it was found."""
        return Substitute(self.alpha, self.beta, self.start, self.end)


class OfDirectories(_Read):
    """A substitution in a part of the path that names directories."""

    __slots__ = ()
    family = "path substring"


class OfNames(_Read):
    """A substitution anywhere else."""

    __slots__ = ()
    family = "substring"


def substitutions(one: Parts, other: Parts) -> Iterator[Substitute]:
    """Substitutions with just enough context to find the place, and with one token more."""
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
    kind = OfDirectories if "/" in "".join(a[len(a) - tail :]).partition("?")[0] else OfNames
    for more in (0, 1):
        left, right = max(head - more, 0), max(tail - more, 0)
        alpha, beta = ("".join(tokens[left : len(tokens) - right]) for tokens in (a, b))
        if alpha:
            yield kind(alpha, beta, end=right == 0)
