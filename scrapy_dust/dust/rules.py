"""The rule kinds, applying one, and when one refines another.

A rule is directed: it turns a URL into another that should show the same page. Rules are values: comparable,
hashable, and without any evidence in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.tokens import is_token_boundary, tokenize

#: Who is longer than twice its URL and this is no form that anybody meant: rules from a book that somebody sent can
#: double what they read, and would fill the memory within a few passes.
GROWTH = 10_000


@dataclass(frozen=True, slots=True)
class SubstringRule:
    """α → β over tokens (WWW'07, Definition 3.1)."""

    alpha: str
    beta: str
    start: bool = False  #: both sides begin with the anchor ``^``, which is not in the strings
    end: bool = False  #: both sides end with the anchor ``$``

    def apply(self, url: str) -> str:
        """*url* with the first occurrence of α replaced, or *url* itself where the rule does not apply.

        An occurrence is one of whole tokens, before and after: a rule about ``1`` leaves ``12`` alone.
        Deviation: an α that is empty and not anchored has no first place; such a rule applies nowhere.
        """
        alpha = self.alpha
        if self.start:
            if not url.startswith(alpha) or (self.end and len(url) != len(alpha)):
                return url
            at = 0
        elif self.end:
            if not url.endswith(alpha):
                return url
            at = len(url) - len(alpha)
        else:
            at = url.find(alpha) if alpha else -1
            while at >= 0 and not self._fits(url, at):
                at = url.find(alpha, at + 1)
        if at < 0 or not self._fits(url, at):
            return url
        return url[:at] + self.beta + url[at + len(alpha) :]

    def _fits(self, url: str, at: int) -> bool:
        end = at + len(self.alpha)
        left, right = url[at - 1 : at] if at else "", url[end : end + 1]
        return _stands_between(left, self.alpha, right) and _stands_between(left, self.beta, right)

    def reversed(self) -> SubstringRule:
        return SubstringRule(self.beta, self.alpha, self.start, self.end)

    def __str__(self) -> str:
        head, tail = "^" * self.start, "$" * self.end
        return f"{head}{self.alpha}{tail} → {head}{self.beta}{tail}"


def _stands_between(left: str, tokens: str, right: str) -> bool:
    if not tokens:
        return is_token_boundary(left, right)
    return is_token_boundary(left, tokens[0]) and is_token_boundary(tokens[-1], right)


class Parameter(NamedTuple):
    """One ``name=value`` in a URL."""

    name: str
    begin: int  #: where the name begins
    value_begin: int
    end: int  #: where the value ends


# Thesis §5.3: a name is preceded by ? or &, and followed by = and the value, up to & or the end. Beyond it:
# the same for ; (path parameters, and query strings such as Apache's ?C=N;O=D), where a ; that no name=
# follows belongs to the value; and a fragment ends the query.
_PATH_PARAMETER = re.compile(r"(?<=;)([^;=/?#&]+)=([^;/?#&]*)")
# A text without = is passed over as a whole: looking at it again from each ? in it is quadratic.
_QUERY_PARAMETER = re.compile(r"(?<=[?&;])([^&;=#]++)(?:=([^&;#]*(?:;(?![^&;=#]+=)[^&;#]*)*))?")


def parameters(url: str) -> Iterator[Parameter]:
    """The parameters of *url*, from left to right."""
    for match in _parameters(url):
        yield Parameter(match[1], match.start(1), match.start(2), match.end(2))


def _parameters(url: str) -> list[re.Match[str]]:
    stop = url.find("#") if "#" in url else len(url)
    question = url.find("?", 0, stop)
    in_query: list[re.Match[str]] = []
    if question >= 0:
        in_query = [match for match in _QUERY_PARAMETER.finditer(url, question, stop) if match[2] is not None]
    if ";" not in url:
        return in_query
    return [*_PATH_PARAMETER.finditer(url, 0, stop if question < 0 else question), *in_query]


def without(url: str, places: Sequence[Parameter]) -> str:
    """*url* with the parameters at *places*, from left to right, left out."""
    rest = _Rest(url)
    for place in reversed(places):
        rest.leave_out(place.begin, place.end)
    return rest.whole()


@dataclass(frozen=True, slots=True)
class ParameterRule:
    """A parameter's value does not matter (thesis §5.3): leave it out, or put one fixed value in its place."""

    name: str
    value: str | None = None  #: None: leave the parameter out

    def apply(self, url: str) -> str:
        """*url* with every parameter of this name left out, or set to the value."""
        if f"{self.name}=" not in url:
            return url
        found = [match for match in _parameters(url) if match[1] == self.name]
        # A book and a page that somebody made for each other: a long value, to be put in at thousands of places.
        if self.value is not None and len(found) > 1 and len(found) * len(self.value) > 2 * len(url) + GROWTH:
            return url
        rest = _Rest(url)
        for match in reversed(found):
            if self.value is not None:
                rest.put(self.value, match.start(2), match.end())
            else:
                rest.leave_out(match.start(), match.end())
        return rest.whole()

    def __str__(self) -> str:
        return f"{self.name}=* → " + ("(left out)" if self.value is None else f"{self.name}={self.value}")


class _Rest:
    """A URL that is changed from its end to its beginning, in time linear in it."""

    def __init__(self, url: str) -> None:
        self._url, self._end = url, len(url)
        self._pieces: list[str] = []  #: what follows the end, the last first; none is empty

    def put(self, text: str, begin: int, end: int) -> None:
        """*text* instead of what stands from *begin* to *end*."""
        self._keep_from(end)
        self._add(text)
        self._end = begin

    def leave_out(self, begin: int, end: int) -> None:
        """The parameter from *begin* to *end*, and one separator with it."""
        self._keep_from(end)
        self._end = begin
        if self._url[begin - 1] == "?" and self._pieces and self._pieces[-1][0] in "&;":
            self._add(self._pieces.pop()[1:])
        else:
            self._end -= 1

    def whole(self) -> str:
        return self._url[: self._end] + "".join(reversed(self._pieces))

    def _keep_from(self, begin: int) -> None:
        self._add(self._url[begin : self._end])

    def _add(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)


#: `Edit` is ours; the other two are the papers', and are called *plain*.
Rule = SubstringRule | ParameterRule | Edit


@dataclass(frozen=True, slots=True)
class LikelyRule:
    """A pair (α, β) that phases 1 and 2 found, as the shrinking rule α → β: see `shrinking`."""

    rule: SubstringRule
    support: int  #: instances, with buckets up to T_low
    wide_support: int  #: instances, with buckets up to T_high; what elimination compares


@dataclass(frozen=True, slots=True)
class LikelyParameter:
    """A parameter that phase 3 found, with its two candidate rules in the order to try them."""

    rules: tuple[ParameterRule, ...]
    support: int  #: likely similar pairs of URLs that differ in this parameter alone


def shrinking(rule: SubstringRule) -> SubstringRule:
    """*rule* or its reverse, whichever has α > β: longer in tokens or, of equal length, later in order."""
    alpha = (len(tokenize(rule.alpha)), rule.alpha)
    beta = (len(tokenize(rule.beta)), rule.beta)
    return rule if alpha > beta else rule.reversed()


def anchored(rule: SubstringRule) -> tuple[str, str, bool, bool]:
    """Both sides with their anchors, as rules are sorted; the flags tell an anchor from a literal ^ or $."""
    head, tail = "^" * rule.start, "$" * rule.end
    return head + rule.alpha + tail, head + rule.beta + tail, rule.start, rule.end


def refines(narrow: Rule, wide: Rule) -> bool:
    """Whether every instance of *narrow* is one of *wide*, in the same direction (WWW'07, Lemma 5.3)."""
    if not (isinstance(narrow, SubstringRule) and isinstance(wide, SubstringRule)):
        return narrow == wide
    if (wide.start and not narrow.start) or (wide.end and not narrow.end):
        return False
    a, b = tokenize(narrow.alpha), tokenize(narrow.beta)
    c, d = tokenize(wide.alpha), tokenize(wide.beta)
    spare = len(a) - len(c)
    if spare < 0 or len(b) - len(d) != spare:
        return False
    for left in range(spare + 1):
        right = spare - left
        if (left and wide.start) or (right and wide.end):
            continue
        if (
            a[left : len(a) - right] == c
            and b[left : len(b) - right] == d
            and a[:left] == b[:left]
            and a[len(a) - right :] == b[len(b) - right :]
        ):
            return True
    return False


def pair_refines(narrow: SubstringRule, wide: SubstringRule) -> bool:
    """`refines` for pairs, each of which stands for two rules: in one direction or the other."""
    return refines(narrow, wide) or refines(narrow, wide.reversed())
